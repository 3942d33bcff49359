// Trees as the API gives them, with yields and children; and what a picture shows of one.

const VIRTUAL = new Set(["ROOT", "TOP", "VROOT", ""]);
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** A tree of the API: `nodes` with `children` (numbers of nodes, or ~number of a token) and `tokens`, their yields. */
export class Tree {
  constructor(data) {
    this.data = data;
    this.tokens = data.tokens;
    this.nodes = data.nodes.map((node, k) => ({ ...node, k, children: [], tokens: [] }));
    data.nodes.forEach((node, k) => node.parent !== null && this.nodes[node.parent].children.push(k));
    data.tokens.forEach((token, k) => this.nodes[token.parent].children.push(~k));
    for (const node of [...this.nodes].reverse()) { // children have higher numbers than their parents
      const below = node.children.flatMap((child) => (child < 0 ? [~child] : this.nodes[child].tokens));
      node.tokens = below.sort((a, b) => a - b);
      node.children.sort((a, b) => this.first(a) - this.first(b));
    }
  }

  /** The same words in a text: the id, the text and the places of the tokens are those of other data. */
  place({ id, text, tokens }) {
    this.tokens = this.tokens.map(({ span, ...token }, k) => (tokens[k].span ? { ...token, span: tokens[k].span } : token));
    const { text: _, ...data } = this.data;
    this.data = { ...data, id, ...(text === undefined ? {} : { text }), tokens: this.tokens };
    return this;
  }

  /** By yield: its tokens, and the labels of the nodes over just these, from the top down. */
  chains() {
    const chains = new Map();
    for (const { label, tokens } of this.nodes) { // parents come before their children
      const yieldKey = tokens.join(), chain = chains.get(yieldKey) ?? { tokens, labels: [] };
      chains.set(yieldKey, { ...chain, labels: [...chain.labels, label] });
    }
    return chains;
  }

  first(child) {
    return child < 0 ? ~child : this.nodes[child].tokens[0];
  }

  words() {
    return this.tokens.map((token) => token.word);
  }

  text(tokens) {
    let text = "";
    tokens.forEach((token, k) => {
      if (k) text += token === tokens[k - 1] + 1 ? " " : " … ";
      text += this.tokens[token].word;
    });
    return text;
  }

  isDiscontinuous(node) {
    return node.tokens.at(-1) - node.tokens[0] >= node.tokens.length;
  }

  /** Label and yield of a node as one string. */
  key(node) {
    return `${node.label} ${node.tokens.join(",")}`;
  }
}

/** What is drawn: leaves (words, or several under a roof) and nodes over them, from the lowest level up.
 *
 * A node stands above everything between its first and last word, also above what is in its gaps, so that its branches
 * run over that and not through it. */
export function viewOf(tree, options, collapsed = new Set()) {
  const hidden = new Set();
  if (!options.punctuation) {
    tree.tokens.forEach((token, k) => PUNCTUATION.test(token.word) && hidden.add(k));
    if (hidden.size === tree.tokens.length) hidden.clear();
  }
  const shown = (token) => !hidden.has(token);
  const leaves = [];
  const leafOf = new Map(); // token -> leaf
  const roofs = new Map(); // token -> the roof that it is under
  const mark = (node) => node.tokens.forEach((token) => roofs.set(token, node.k));
  for (const node of tree.nodes) { // parents first: the uppermost roof counts
    if (collapsed.has(node.k) && !node.tokens.some((token) => roofs.has(token))) mark(node);
  }
  tree.tokens.forEach((token, k) => {
    if (!shown(k)) return;
    const roof = roofs.get(k), last = leaves.at(-1);
    if (roof !== undefined && last?.roof === roof && tree.tokens.slice(last.tokens.at(-1) + 1, k).every((_, j) => hidden.has(last.tokens.at(-1) + 1 + j))) {
      last.tokens.push(k);
      last.words += ` ${token.word}`;
    } else {
      leaves.push({ leaf: true, tokens: [k], words: token.word, tag: roof === undefined ? token.tag : "", roof, level: 0, x: 0 });
    }
    leafOf.set(k, leaves.length - 1);
  });
  const items = [];
  const dropRoot = (node) => node.k === 0 && !options.root && VIRTUAL.has(node.label) && node.children.some((child) => child >= 0);
  for (const node of tree.nodes) {
    const visible = node.tokens.filter(shown);
    const underRoof = roofs.has(node.tokens[0]) && roofs.get(node.tokens[0]) !== node.k;
    if (!visible.length || underRoof || dropRoot(node)) continue;
    const own = [...new Set(visible.map((token) => leafOf.get(token)))];
    items.push({ node, k: node.k, leaves: own, first: own[0], last: own.at(-1), collapsed: roofs.get(node.tokens[0]) === node.k && collapsed.has(node.k), level: 0, x: 0, children: [] });
  }
  const depth = (item) => { let d = 0; for (let k = item.node.parent; k !== null; k = tree.nodes[k].parent) d += 1; return d; };
  const order = items.map((item) => [item, item.last - item.first, depth(item)]).sort((a, b) => a[1] - b[1] || a[0].first - b[0].first || b[2] - a[2]);
  const skyline = leaves.map(() => 0);
  for (const [item] of order) {
    item.level = 1 + Math.max(...skyline.slice(item.first, item.last + 1));
    skyline.fill(item.level, item.first, item.last + 1);
  }
  const byNode = new Map(items.map((item) => [item.k, item]));
  for (const item of items) {
    const above = item.node.parent === null ? undefined : byNode.get(item.node.parent);
    item.parent = above;
    above?.children.push(item);
  }
  leaves.forEach((leaf) => {
    const parent = leaf.roof !== undefined ? byNode.get(leaf.roof) : byNode.get(tree.tokens[leaf.tokens[0]].parent);
    leaf.parent = parent;
    parent?.children.push(leaf);
  });
  return { leaves, items: order.map(([item]) => item).sort((a, b) => a.level - b.level || a.first - b.first), height: Math.max(0, ...skyline) };
}
