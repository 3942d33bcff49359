// Correcting a sentence: words are selected, something is said about them, and it is parsed again.

import { model, postJson } from "./api.js";
import { Constraints } from "./constraints.js";
import { h } from "./dom.js";

export class Correcting {
  constructor(sentence, data) {
    this.sentence = sentence;
    this.selected = new Set();
    this.constraints = new Constraints();
    this.met = this.constraints.state; // that within which the tree on the page was parsed
    if (data) this.constraints = new Constraints(data);
  }

  /** Whether the tree on the page is not within all that was said. */
  get isBehind() {
    return this.constraints.now !== this.met.now;
  }

  // -- words --------------------------------------------------------------------------------------------------

  word(token, k) {
    return h("button", { type: "button", dataset: { token: k }, "aria-pressed": this.selected.has(k), onpointerdown: (event) => this.startDrag(event, k), onpointerenter: () => this.drag(k), onclick: (event) => event.detail === 0 && this.toggle(k) }, token.word);
  }

  select(tokens) {
    this.selected = new Set(tokens);
    for (const word of this.sentence.wordLine.querySelectorAll("button")) word.setAttribute("aria-pressed", this.selected.has(Number(word.dataset.token)));
  }

  startDrag(event, k) {
    event.target.releasePointerCapture?.(event.pointerId); // so that other words hear of a finger, too
    const before = [...this.selected], ended = new AbortController();
    const end = () => {
      ended.abort();
      this.dragging = undefined;
      this.sentence.renderPanel();
    };
    addEventListener("pointerup", end, { signal: ended.signal });
    addEventListener("pointercancel", () => { this.select(before); end(); }, { signal: ended.signal }); // the finger scrolls
    this.dragging = { adds: !this.selected.has(k) };
    this.drag(k);
  }

  drag(k) {
    if (!this.dragging) return;
    this.select(this.dragging.adds ? [...this.selected, k] : [...this.selected].filter((token) => token !== k));
  }

  toggle(k) {
    this.select(this.selected.has(k) ? [...this.selected].filter((token) => token !== k) : [...this.selected, k]);
    this.sentence.renderPanel();
  }

  // -- what is said about them --------------------------------------------------------------------------------

  async panel() {
    const { labels, tags } = await model(this.sentence.model);
    const { tree, own } = this.sentence, { constraints } = this;
    const tokens = [...this.selected].sort((a, b) => a - b);
    const choice = (name, values, now, change) => h("label", {}, `${name} `, h("select", { "aria-label": name, onchange: (event) => event.target.value && this.correct(() => change(event.target.value)) }, h("option", { value: "" }, "…"), ...values.map((value) => h("option", { value, selected: value === now }, value))));
    const over = tree.nodes.find((node) => node.tokens.join() === tokens.join());
    const buttons = tokens.length
      ? [
          h("button", { type: "button", class: "main", dataset: { do: "require" }, onclick: () => this.correct(() => constraints.require(tokens)) }, "These are a constituent"),
          h("button", { type: "button", dataset: { do: "forbid" }, onclick: () => this.correct(() => constraints.forbid(tokens)) }, "Not a constituent"),
          choice("Label", labels, over?.label, (label) => constraints.require(tokens, label)),
          tokens.length === 1 ? choice("Tag", tags, tree.tokens[tokens[0]].tag, (tag) => constraints.tag(tokens[0], tag)) : null,
        ]
      : [];
    const step = (name, symbol, can, call) => h("button", { type: "button", class: "quiet", "aria-label": name, title: name, disabled: !can, dataset: { do: name.toLowerCase() }, onclick: call }, symbol);
    const list = constraints.list(tree).map(([text, remove]) => h("li", { class: "chip" }, text, h("button", { type: "button", "aria-label": `Remove: ${text}`, onclick: () => this.apply(remove) }, "×")));
    const start = tree === own ? null : h("p", { class: "hint" }, "Corrections start from the tree that you chose: what sets it apart becomes corrections, too.");
    return h("div", { class: "correction" }, start, h("div", { class: "bar" }, ...buttons, h("span", { class: "grow" }), step("Undo", "↶", constraints.past.length, () => this.undo()), step("Redo", "↷", constraints.future.length, () => this.redo())), h("ul", { class: "chips", "aria-label": "Constraints" }, ...list));
  }

  /** Change something about the tree that is shown; if it was chosen, what sets it apart is a step of its own, before
   * all others: the chosen tree is still shown while the first of them is parsed. */
  correct(change) {
    const { tree, own } = this.sentence;
    this.apply(() => {
      const isKept = tree !== own && this.constraints.isEmpty && this.constraints.prefer(tree, own);
      return change() || isKept;
    });
  }

  undo() {
    this.apply(() => this.constraints.undo());
  }

  redo() {
    this.apply(() => this.constraints.redo());
  }

  apply(change) {
    const before = this.constraints.state;
    if (!change()) return;
    this.select([]);
    this.parse(before);
  }

  /** Parse within the constraints. Where that fails, they are what they were `before`; of several requests, only the
   * last counts. Constraints of a link, which nothing was before, stay until the server says that no tree can meet
   * them. `problem`: why there is another try. */
  async parse(before, problem) {
    const { constraints, sentence } = this, { state } = constraints;
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    let tree, said = problem;
    try {
      const answer = await postJson("parse", sentence.request(), own.signal);
      tree = answer.trees[0];
    } catch (error) {
      said ??= inWords(error.message);
      if (own !== this.running) return;
      const isRefused = error.status === 422;
      constraints.restore(before ?? (isRefused ? this.met : state));
      if (isRefused && this.isBehind) return this.parse(undefined, said); // a change before was not parsed yet
    }
    if (tree) this.met = state;
    sentence.parsedAgain(tree, said);
  }
}

/** An error of the server about the only sentence of a request, for people who see words and no numbers. */
export function inWords(message) {
  const text = message.replace(/^(?:the constraints of )?sentence 1 cannot be (?:met|parsed): /, "").replace(/ over the tokens [\d, ]+ (?=['"])/g, " over ");
  return text === message ? message : text[0].toUpperCase() + text.slice(1);
}
