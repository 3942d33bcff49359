// The picture of a tree: SVG that can be pointed at, walked through with the arrow keys, and saved.

import { percent, s } from "./dom.js";
import { place, SIZES } from "./layout.js";
import { viewOf } from "./tree.js";

const HUES = 4;

/** Draws a tree. `on` has listeners: `point(node or leaf, or null)` and `choose(...)`; `marks` are classes by node and
 * token; `state(item)` may give further classes. */
export function draw(tree, options, { collapsed, on = {}, marks = {}, label } = {}) {
  const view = viewOf(tree, options, collapsed);
  const size = place(view, options);
  const hues = new Map();
  if (options.colours) view.items.filter((item) => tree.isDiscontinuous(item.node)).forEach((item, k) => hues.set(item.k, k % HUES));
  const hue = (item) => (item && hues.has(item.k) ? ` hue${hues.get(item.k)}` : "");
  const bars = s("g", { class: "edges" }), drops = s("g", { class: "edges" }), nodes = s("g");
  for (const item of view.items) (options.style === "slanted" ? slant : elbow)(item, hue(item), bars, drops);
  const elements = new Map();
  for (const item of view.items) {
    const text = s("text", { class: "label", x: item.x, y: item.y + 5 }, item.node.label);
    const box = s("rect", { class: "hit", x: item.x - item.width / 2 - 4, y: item.y - 12, width: item.width + 8, height: 24, rx: 5 });
    const name = `${item.node.label}${item.collapsed ? ", collapsed" : ""}: ${tree.text(item.node.tokens)}`;
    const group = s("g", { class: `node${hue(item)}${item.collapsed ? " collapsed" : ""} ${marks.nodes?.[item.k] ?? ""}`, role: "button", tabindex: -1, "aria-label": chance(item.node) ? `${name} (${chance(item.node)})` : name, dataset: { node: item.k } }, box, text);
    elements.set(item, group);
    nodes.append(group);
  }
  for (const leaf of view.leaves) {
    const parts = [];
    if (options.tags && leaf.tag) parts.push(s("text", { class: "tag", x: leaf.x, y: leaf.tagY + 5 }, leaf.tag));
    parts.push(s("text", { class: "word", x: leaf.x, y: leaf.wordY + 6 }, leaf.words));
    const box = s("rect", { class: "hit", x: leaf.x - leaf.width / 2 - 4, y: leaf.tagY - 10, width: leaf.width + 8, height: leaf.wordY - leaf.tagY + 24, rx: 5 });
    const marked = leaf.tokens.map((token) => marks.tokens?.[token] ?? "").join(" ");
    const group = s("g", { class: `leaf ${marked}`, role: "button", tabindex: -1, "aria-label": `${leaf.words}${leaf.tag ? `, ${leaf.tag}` : ""}`, dataset: { token: leaf.tokens.join(",") } }, box, ...parts);
    elements.set(leaf, group);
    nodes.append(group);
  }
  const { width, height } = size;
  const svg = s("svg", { class: "tree", viewBox: `0 0 ${round(width)} ${round(height)}`, width: round(width), height: round(height), role: "group", tabindex: -1, "aria-label": label ?? `Tree of: ${tree.text(tree.tokens.map((_, k) => k))}` }, bars, drops, nodes);
  listen(svg, view, elements, on);
  return svg;
}

const chance = (node) => { const p = node.probability ?? node.label_probability; return p === undefined ? "" : percent(p); };
const round = (x) => Math.round(x * 10) / 10;

function roof(child, item, into, hue) {
  const half = child.width / 2, top = item.y + 9, base = child.wordY - 12;
  into.append(s("path", { class: `edge roof${hue}`, d: `M${round(item.x)} ${top}L${round(child.x - half)} ${base}H${round(child.x + half)}Z`, "data-of": item.k }));
}

function elbow(item, hue, bars, drops) {
  const bar = item.y + 17, low = Math.min(item.x, ...item.children.map((c) => c.x)), high = Math.max(item.x, ...item.children.map((c) => c.x));
  if (item.collapsed) return item.children.forEach((child) => roof(child, item, bars, hue));
  const path = item.children.length === 1 && Math.abs(item.children[0].x - item.x) < 0.5 ? "" : `M${round(low)} ${bar}H${round(high)}`;
  bars.append(s("path", { class: `edge${hue}`, d: `M${round(item.x)} ${item.y + 9}V${bar}${path}`, "data-of": item.k }));
  for (const child of item.children) {
    const d = `V${topOf(child)}`;
    drops.append(s("path", { class: "halo", d: `M${round(child.x)} ${bar + 3}${d}`, "data-of": item.k }), s("path", { class: `edge${hue}`, d: `M${round(child.x)} ${bar}${d}`, "data-of": item.k }));
  }
}

function slant(item, hue, bars, drops) {
  for (const child of item.children) {
    if (item.collapsed) roof(child, item, bars, hue);
    else bars.append(s("path", { class: `edge${hue}`, d: `M${round(item.x)} ${item.y + 9}L${round(child.x)} ${topOf(child)}`, "data-of": item.k }));
  }
}

const topOf = (child) => round(child.leaf ? (child.tagY === child.wordY || !child.tag ? child.wordY - 11 : child.tagY - 8) : child.y - 10);

/** Pointing, choosing, and one tab stop for the whole picture: the arrow keys go from node to node. */
function listen(svg, view, elements, on) {
  const items = new Map([...elements].map(([item, element]) => [element, item]));
  const found = (event) => items.get(event.target.closest("g.node, g.leaf"));
  const point = (item) => on.point?.(item ?? null);
  svg.addEventListener("pointerover", (event) => point(found(event)));
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("focusin", (event) => point(found(event)));
  svg.addEventListener("focusout", () => point(null));
  svg.addEventListener("click", (event) => found(event) && on.choose?.(found(event)));
  // The picture itself has tabindex -1, since Chromium stops with Tab at every SVG element that listens to the focus.
  const top = view.items.at(-1) ?? view.leaves[0];
  elements.get(top)?.setAttribute("tabindex", 0);
  svg.addEventListener("keydown", (event) => {
    const item = found(event);
    if (!item) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      on.choose?.(item);
      return;
    }
    const siblings = item.parent ? [...item.parent.children].sort((a, b) => a.x - b.x) : [];
    const beside = siblings[siblings.indexOf(item) + (event.key === "ArrowRight" ? 1 : -1)];
    const next = { ArrowUp: item.parent, ArrowDown: item.children?.[0], ArrowLeft: beside, ArrowRight: beside }[event.key];
    if (!next) return;
    event.preventDefault();
    elements.get(item).setAttribute("tabindex", -1);
    elements.get(next).setAttribute("tabindex", 0);
    elements.get(next).focus();
  });
}

/** Lights up the yield of a node in its picture; null puts the light out. */
export function light(svg, node) {
  const tokens = new Set(node?.tokens ?? []);
  for (const element of svg.querySelectorAll("g.leaf")) {
    element.classList.toggle("lit", element.dataset.token.split(",").some((token) => tokens.has(Number(token))));
  }
  for (const element of svg.querySelectorAll("g.node")) element.classList.toggle("lit", Number(element.dataset.node) === node?.k);
}

/** Scrolls so that elements of a picture can be seen: all of them, or the last of those that are too far apart. */
export function reveal(scroller, elements) {
  if (!elements.length || scroller.scrollWidth <= scroller.clientWidth) return;
  const view = scroller.getBoundingClientRect(), boxes = [...elements].map((element) => element.getBoundingClientRect());
  const right = Math.max(...boxes.map((box) => box.right));
  const left = Math.max(Math.min(...boxes.map((box) => box.left)), right - view.width);
  if (left < view.left || right > view.right) scroller.scrollLeft += (left + right) / 2 - (view.left + view.right) / 2;
}

const PRINT = {
  "svg": { "font-family": "Helvetica, Arial, sans-serif", "text-anchor": "middle" },
  ".edge": { fill: "none", stroke: "#555555", "stroke-width": 1.3 },
  ".halo": { fill: "none", stroke: "#ffffff", "stroke-width": 6 },
  ".label": { "font-size": SIZES.label, fill: "#111111" },
  ".tag": { "font-size": SIZES.tag, fill: "#666666" },
  ".word": { "font-size": SIZES.word, fill: "#111111" },
};
const PRINT_HUES = ["#1a5fb4", "#a65300", "#0b7a75", "#8a2b6d"];

/** The picture as a file that stands alone, in the colours of print. */
export function asFile(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  for (const element of copy.querySelectorAll(".hit")) element.remove();
  for (const [selector, attributes] of Object.entries(PRINT)) {
    for (const element of selector === "svg" ? [copy] : copy.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
  PRINT_HUES.forEach((colour, k) => {
    for (const element of copy.querySelectorAll(`.edge.hue${k}`)) element.setAttribute("stroke", colour);
    for (const element of copy.querySelectorAll(`.node.hue${k} .label`)) element.setAttribute("fill", colour);
  });
  for (const element of [copy, ...copy.querySelectorAll("*")]) for (const name of ["class", "role", "tabindex", "aria-label", "data-node", "data-token", "data-of"]) element.removeAttribute(name);
  const paper = s("rect", { width: "100%", height: "100%", fill: "#ffffff" });
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}
