// The most probable trees of a sentence, to choose from.

import { h, percent } from "./dom.js";

export const MOST = 8;
const SHOWN = 3; // differences of a tree that are listed

const keys = (tree) => new Map(tree.nodes.map((node) => [tree.key(node), node]));

/** What one tree has and another does not: nodes, and tokens with other tags. */
export function differences(tree, other) {
  const known = keys(other);
  return {
    nodes: tree.nodes.filter((node) => !known.has(tree.key(node))),
    tokens: tree.tokens.flatMap((token, k) => (token.tag === other.tokens[k].tag ? [] : [k])),
  };
}

export function same(tree, other) {
  const { nodes, tokens } = differences(tree, other);
  return tree.nodes.length === other.nodes.length && !nodes.length && !tokens.length;
}

/** What became of a tree, in words: "1 new constituent, 2 gone, 1 other tag." */
export function changes(tree, before) {
  const { nodes, tokens } = differences(tree, before), gone = differences(before, tree).nodes;
  const plural = (all, one) => `${all.length} ${one}${all.length === 1 ? "" : "s"}`;
  const parts = [
    nodes.length ? plural(nodes, "new constituent") : "",
    gone.length ? (nodes.length ? `${gone.length} gone` : `${plural(gone, "constituent")} gone`) : "",
    tokens.length ? plural(tokens, "other tag") : "",
  ].filter(Boolean);
  return parts.length ? `${parts.join(", ")}.` : "Nothing changed.";
}

/** A list of trees; `choose(number)` is called for the one that is picked. `own` is the parser's tree, which may be
 * the last, without a rank, since greedy decisions need not lead to one of the best. */
export function chooser(trees, chosen, own, choose) {
  const name = `best-${crypto.getRandomValues(new Uint32Array(1))[0]}`; // one group of buttons for each sentence
  const row = (tree, k) => {
    const input = h("input", { type: "radio", name, checked: k === chosen, onchange: () => choose(k) });
    const { probability } = tree.data, ranked = probability !== undefined;
    const meter = h("meter", { min: 0, max: 1, value: probability ?? 0, "aria-hidden": "true" });
    return h("li", {}, h("label", {}, input, h("span", { class: "rank" }, ranked ? `${k + 1}.` : "…"), meter, h("span", { class: "chance" }, ranked ? percent(probability) : ""), h("span", { class: "what" }, describe(tree, own))));
  };
  return h("fieldset", { class: "best" }, h("legend", {}, "The most probable trees"), h("ol", {}, ...trees.map(row)));
}

function describe(tree, own) {
  if (same(tree, own)) return "the parser’s tree";
  const { nodes, tokens } = differences(tree, own), gone = differences(own, tree).nodes;
  const parts = [
    ...nodes.map((node) => `${node.label}: ${tree.text(node.tokens)}`),
    ...tokens.map((k) => `${tree.tokens[k].tag}: ${tree.tokens[k].word}`),
    ...gone.map((node) => `no ${node.label}: ${own.text(node.tokens)}`),
  ];
  const more = parts.length - SHOWN;
  return parts.slice(0, SHOWN).join(" · ") + (more > 0 ? ` · ${more} more` : "");
}
