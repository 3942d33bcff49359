// A treebank file as text: in the encoding that it declares, or else UTF-8; unpacked if it is packed by gzip.

const BEGINNINGS = [["gzip", [0x1f, 0x8b]], ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a]], ["zip", [0x50, 0x4b, 3, 4]], ["bzip2", [0x42, 0x5a, 0x68]], ["zstd", [0x28, 0xb5, 0x2f, 0xfd]]];
const MARKS = [["utf-8", [0xef, 0xbb, 0xbf]], ["utf-16le", [0xff, 0xfe]], ["utf-16be", [0xfe, 0xff]]];
const DECLARED = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']/;

/** The text of a file; an error says what is wrong with which file, and what to do. */
export async function textOf(file) {
  let bytes;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} cannot be read: is it a file, and still there?`);
  }
  const packed = beginning(bytes, BEGINNINGS);
  if (packed === "gzip") bytes = await unpacked(bytes, file.name);
  else if (packed) throw new Error(`${file.name} is packed by ${packed}: unpack it first.`);
  return decoded(bytes, file.name);
}

const beginning = (bytes, known) => known.find(([, start]) => start.every((byte, k) => bytes[k] === byte))?.[0];

async function unpacked(bytes, name) {
  try {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  } catch {
    throw new Error(`${name} begins like a gzip file, but is damaged: it cannot be unpacked.`);
  }
}

function decoded(bytes, name) {
  const mark = beginning(bytes, MARKS);
  const declared = mark ? undefined : DECLARED.exec(String.fromCharCode(...bytes.subarray(0, 512)))?.[1];
  let decoder;
  try {
    decoder = new TextDecoder(mark ?? declared ?? "utf-8", { fatal: true });
  } catch {
    throw new Error(`${name} declares the encoding ${declared}, which this browser does not know: convert the file to UTF-8 first.`);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    const what = mark ?? declared ? `declares the encoding ${mark ?? declared}, but is in another` : "is not in UTF-8";
    throw new Error(`${name} ${what}: convert it to UTF-8 first (discoparse convert --encoding reads others).`);
  }
}
