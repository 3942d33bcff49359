// Trees and pictures as files, or on the clipboard.

import { postText } from "./api.js";
import { h } from "./dom.js";
import { asFile } from "./picture.js";

const PNG_SCALE = 3;
const MOST_WIDE = 32_767, MOST_PIXELS = 2 ** 27; // what browsers can draw at once

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
    const scale = Math.min(PNG_SCALE, MOST_WIDE / box.width, MOST_WIDE / box.height, Math.sqrt(MOST_PIXELS / box.width / box.height));
    const canvas = h("canvas", { width: Math.floor(box.width * scale), height: Math.floor(box.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = scale < 1 ? null : await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("This tree is too large for a PNG: use SVG, which can be of any size.");
    return blob;
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
    const area = h("textarea", { class: "offscreen" }), focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    focused.focus();
  }
}
