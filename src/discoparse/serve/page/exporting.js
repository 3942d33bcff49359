// Trees and pictures as files, or on the clipboard.

import { postText } from "./api.js";
import { h } from "./dom.js";
import { asFile } from "./picture.js";

const PNG_SCALE = 3;

export const KINDS = [
  ["svg", "SVG", "tree.svg"],
  ["png", "PNG", "tree.png"],
  ["tikz", "TikZ", "tree.tex"],
  ["discbracket", "Brackets", "tree.discbracket"],
  ["export", "Negra export", "tree.export"],
  ["tigerxml", "TIGER-XML", "tree.xml"],
  ["json", "JSON", "tree.json"],
];

/** A tree in a format, as a Blob. */
export async function exported(kind, tree, svg, options) {
  if (kind === "svg") return new Blob([asFile(svg)], { type: "image/svg+xml" });
  if (kind === "png") return png(asFile(svg), svg.viewBox.baseVal);
  const hide = [...(options.root ? [] : ["root"]), ...(options.punctuation ? [] : ["punct"])];
  const drawing = kind === "tikz" ? { style: options.style, tags: options.tags, highlight: options.colours, hide } : {};
  return new Blob([await postText("convert", { tree: tree.data, format: kind, ...drawing })], { type: "text/plain" });
}

async function png(source, box) {
  const url = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = h("canvas", { width: Math.ceil(box.width * PNG_SCALE), height: Math.ceil(box.height * PNG_SCALE) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Copies text, also where the page is not served securely. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "offscreen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
