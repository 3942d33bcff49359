// A sentence on the page: its words, its tree, and four ways to work with it: look, step, choose, correct.

import { postJson } from "./api.js";
import { changes, chooser, differences, MOST, same } from "./best.js";
import { fit } from "./constraints.js";
import { Correcting } from "./correcting.js";
import { h, percent } from "./dom.js";
import { copy, exported, KINDS, save } from "./exporting.js";
import { draw, light, reveal } from "./picture.js";
import { stepper } from "./stepper.js";
import { Tree } from "./tree.js";

const MODES = [["look", "Look"], ["step", "Step"], ["choose", "Choose"], ["correct", "Correct"]];

export class Sentence {
  /** `page` has the options of the view, `link(sentence)`, `changed()` and `believe(sentences, model)`. */
  constructor(data, modelName, page, saved = {}) {
    this.page = page;
    this.model = modelName;
    this.tree = new Tree(data);
    this.own = this.tree; // the parser's; another of the best may be chosen
    const isFitting = saved.constraints === undefined || fit(saved.constraints, data.tokens.length);
    this.correcting = new Correcting(this, isFitting ? saved.constraints : undefined);
    this.collapsed = new Set();
    this.marks = {};
    this.mode = "look";
    this.build();
    this.render();
    if (this.correcting.isBehind) this.correcting.parse();
    const mode = MODES.some(([name]) => name === saved.mode) ? saved.mode : undefined;
    if (saved.best !== undefined) this.setMode("choose", saved.best).then(() => mode && this.setMode(mode));
    else if (mode) this.setMode(mode);
    if (!isFitting) this.say("The corrections of the link are about other words, and are left out.");
  }

  get constraints() {
    return this.correcting.constraints;
  }

  /** Whether there is more to it than what the parser said. */
  get isWorkedOn() {
    return this.tree !== this.own || this.constraints.past.length + this.constraints.future.length > 0 || !this.constraints.isEmpty;
  }

  /** The same words are in a text again, maybe elsewhere: `data` is the tree that the parser gives them there. */
  moveTo(data) {
    for (const tree of new Set([this.tree, this.own, ...(this.best ?? [])])) tree.place(data);
    this.heading.textContent = this.title();
    if (this.correcting.isBehind) this.correcting.parse();
  }

  title() {
    return `Sentence ${this.tree.data.id ?? ""}: ${this.tokens.join(" ")}`;
  }

  get tokens() {
    return this.tree.words();
  }

  build() {
    this.wordLine = h("p", { class: "words", role: "group", "aria-label": "Words" });
    this.info = h("p", { class: "info" }); // not read out: nodes have names that say the same
    this.told = h("p", { class: "sr", role: "status" });
    this.stage = h("div", { class: "scroll", tabindex: -1 });
    this.panel = h("div", { class: "panel" });
    this.text = h("div", { class: "as-text" });
    this.modeButtons = MODES.map(([mode, name]) => h("button", { type: "button", "aria-pressed": mode === "look", onclick: () => this.setMode(mode), dataset: { mode } }, name));
    const exports = KINDS.map(([kind, name, file]) => h("button", { type: "button", dataset: { export: kind }, onclick: () => this.export(kind, file) }, name));
    this.menu = h("details", { class: "menu" }, h("summary", {}, "Export"), h("div", { class: "sheet" }, ...exports, h("hr"), h("button", { type: "button", dataset: { export: "copy" }, onclick: () => this.copyBrackets() }, "Copy brackets"), h("button", { type: "button", dataset: { export: "link" }, onclick: () => this.copyLink() }, "Copy link")));
    this.heading = h("h2", { class: "sr" }, this.title());
    this.element = h(
      "article",
      { class: "sentence", tabindex: -1, onkeydown: (event) => this.key(event) },
      this.heading,
      h("div", { class: "bar head" }, h("div", { class: "modes", role: "group", "aria-label": "What to do" }, ...this.modeButtons), h("span", { class: "badge", title: "model" }, this.model), h("span", { class: "grow" }), this.menu),
      this.wordLine,
      this.info,
      this.told,
      this.stage,
      this.panel,
      h("details", { class: "text-tree" }, h("summary", {}, "The tree as text"), this.text),
    );
  }

  /** What just happened, for eyes and ears. */
  set note(text) {
    this.noted = text;
    this.told.textContent = text;
  }

  /** Draw everything again, with the focus where it was: on the same word, or on the sentence, so that keys still reach
   * it and not the browser's own undo. */
  render() {
    const focused = document.activeElement, isWord = this.wordLine.contains(focused), isInside = isWord || this.stage.contains(focused);
    const on = { point: (item) => this.point(item), choose: (item) => this.choose(item) };
    this.svg = draw(this.tree, this.page.options, { collapsed: this.collapsed, marks: this.marks, on });
    this.stage.replaceChildren(this.svg);
    this.stage.hidden = this.mode === "step";
    this.text.replaceChildren(h("ul", {}, this.outline(this.tree.nodes[0])));
    this.renderWords();
    this.point(null);
    const word = isWord && this.wordLine.querySelector(`button[data-token="${focused.dataset.token}"]`);
    if (isInside) (word || this.element).focus({ preventScroll: true });
  }

  /** The options of the view are others. */
  redraw() {
    this.render();
    this.stepper?.draw();
  }

  outline(node) {
    const p = node.probability ?? node.label_probability;
    const chance = p === undefined ? "" : ` (${percent(p)})`;
    const children = node.children.map((child) => (child < 0 ? h("li", {}, `${this.tree.tokens[~child].word} `, h("small", {}, this.tree.tokens[~child].tag)) : this.outline(this.tree.nodes[child])));
    return h("li", {}, h("strong", {}, node.label), h("small", {}, chance), h("ul", {}, ...children));
  }

  renderWords() {
    const correcting = this.mode === "correct";
    const parts = this.tree.tokens.map((token, k) => (correcting ? this.correcting.word(token, k) : h("span", { dataset: { token: k } }, token.word)));
    this.wordLine.replaceChildren(...parts.flatMap((part) => [part, " "]));
  }

  point(item) {
    const node = item?.node ?? (item ? { tokens: item.tokens, k: -1 } : null);
    light(this.svg, node);
    const lit = new Set(node?.tokens ?? []);
    for (const part of this.wordLine.querySelectorAll("[data-token]")) part.classList.toggle("lit", lit.has(Number(part.dataset.token)));
    if (!node) return this.info.replaceChildren(...[this.hint()].filter(Boolean));
    const gaps = item.node && this.tree.isDiscontinuous(node) ? " · discontinuous" : "";
    const chance = [["probability", node.probability], ["label", node.label_probability]].map(([name, p]) => (p === undefined ? "" : ` · ${name} ${percent(p)}`)).join("") + (item.node ? this.unknown() : "");
    this.info.replaceChildren(h("strong", {}, item.node ? node.label : item.tag || "words"), ` ${this.tree.text(node.tokens)}${gaps}${chance}`);
  }

  /** Why a constituent has no probability. */
  unknown() {
    return this.constraints.isEmpty ? "" : " · other probabilities are not available within constraints";
  }

  hint() {
    if (this.noted) return this.noted;
    if (this.mode === "choose") return "Pick a tree: what the parser’s tree does not have is marked.";
    if (this.mode === "correct") return "Drag over words, or click a node: then say what they are.";
    return this.mode === "step" ? "" : "Point at a node to see its words; click it to fold it into a roof.";
  }

  choose(item) {
    if (this.mode === "correct") {
      this.correcting.select(item.node?.tokens ?? item.tokens);
      this.renderPanel();
    } else if (item.node && item.k !== undefined) {
      this.collapsed.has(item.k) ? this.collapsed.delete(item.k) : this.collapsed.add(item.k);
      this.render();
      this.svg.querySelector(`[data-node="${item.k}"]`)?.focus();
    } else if (item.roof !== undefined) {
      this.collapsed.delete(item.roof);
      this.render();
    }
  }

  /** `chosen` is the number of one of the best trees, for the mode in which they are listed. */
  async setMode(mode, chosen) {
    this.mode = mode;
    this.note = "";
    this.correcting.select([]);
    for (const button of this.modeButtons) button.setAttribute("aria-pressed", button.dataset.mode === mode);
    this.element.dataset.mode = mode;
    if (mode !== "correct") this.marks = {};
    this.render();
    await this.renderPanel(chosen);
    this.page.changed();
  }

  async renderPanel(chosen) {
    const { mode } = this;
    if (mode === "look") return this.panel.replaceChildren();
    if (mode !== "correct" || !this.panel.querySelector(".correction")) this.panel.replaceChildren(h("p", { class: "hint" }, "…"));
    let shown;
    try {
      shown = mode === "choose" ? await this.choicePanel(chosen) : mode === "step" ? await this.stepPanel() : [await this.correcting.panel()];
    } catch (error) {
      shown = [h("p", { class: "message error" }, error.message)];
    }
    if (this.mode === mode) this.replacePanel(shown);
  }

  async stepPanel() {
    const other = this.tree === this.own ? null : h("p", { class: "hint" }, "These steps lead to the parser’s own tree, not to the one that you chose.");
    this.stepper = await stepper(this.request(), this.page);
    return [other, this.stepper.element].filter(Boolean);
  }

  // -- choosing -----------------------------------------------------------------------------------------------

  async choicePanel(chosen) {
    if (this.constraints.isEmpty) this.best ??= await this.bestTrees();
    if (!this.constraints.isEmpty) return [h("p", { class: "hint" }, "The most probable trees are not available within constraints: remove these first (Correct).")]; // these may be newer than the question
    const listed = this.best.some((tree) => same(tree, this.own)) ? this.best : [...this.best, this.own];
    const found = chosen ?? listed.findIndex((tree) => same(tree, this.tree));
    if (listed[found] && (chosen !== undefined || this.mode === "choose")) this.show(listed[found]);
    return [chooser(listed, found, this.own, (k) => { this.show(listed[k]); this.page.changed(); })];
  }

  async bestTrees() {
    const answer = await postJson("parse", { tokens: [this.tokens], model: this.model, best: MOST });
    return answer.trees.map((data) => this.adopted(data));
  }

  /** Show one of the best trees, and mark what the parser's own does not have. */
  show(tree) {
    this.mark(same(tree, this.own) ? this.own : tree, this.own);
  }

  /** Show a tree, and mark what another does not have. */
  mark(tree, other) {
    this.tree = tree;
    const { nodes, tokens } = differences(tree, other);
    this.marks = { nodes: Object.fromEntries(nodes.map((node) => [node.k, "changed"])), tokens: Object.fromEntries(tokens.map((k) => [k, "changed"])) };
    this.collapsed.clear();
    this.render();
  }

  /** A tree of the same words that the server gave, with what is known of the sentence: its id, its text, its places. */
  adopted(data) {
    return new Tree(data).place(this.tree.data);
  }

  /** A new panel, with the focus where it was: on the same button, or on the sentence, so that keys still reach it. */
  replacePanel(parts) {
    const focused = this.panel.contains(document.activeElement) ? document.activeElement : null;
    this.panel.replaceChildren(...parts);
    if (!focused) return;
    const same = focused.dataset.do && this.panel.querySelector(`[data-do="${focused.dataset.do}"]:not(:disabled)`);
    (same || this.element).focus();
  }

  request() {
    const constraints = this.constraints.toJson();
    return { tokens: [this.tokens], model: this.model, ...(constraints ? { constraints: [constraints] } : {}) };
  }

  /** Probabilities of whole constituents, which the server estimates by sampling; they come later than the tree. */
  believe(data) {
    if (!this.constraints.isEmpty) return;
    this.isBelieved = true;
    const sampled = new Tree(data), known = new Map(sampled.nodes.map((node) => [sampled.key(node), node.probability]));
    for (const tree of new Set([this.own, this.tree])) {
      for (const node of tree.nodes) node.probability = known.get(tree.key(node)) ?? node.probability;
    }
    this.text.replaceChildren(h("ul", {}, this.outline(this.tree.nodes[0])));
  }

  // -- correcting ---------------------------------------------------------------------------------------------

  key(event) {
    if (this.mode !== "correct" || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    event.shiftKey ? this.correcting.redo() : this.correcting.undo();
  }

  /** The answer to a correction: a tree, in which what is new is marked, or none. `said`: what went wrong. */
  async parsedAgain(data, said) {
    const before = this.tree;
    if (data) {
      this.own = this.adopted(data);
      this.mark(this.own, before);
      reveal(this.stage, this.svg.querySelectorAll(".changed"));
      if (this.constraints.isEmpty) this.page.believe([this], this.model);
    }
    this.stage.classList.toggle("stale", this.correcting.isBehind);
    this.say(said ?? changes(this.own, before));
    await this.renderPanel();
    this.page.changed();
  }

  // -- taking it along ----------------------------------------------------------------------------------------

  export(kind, file) {
    this.fromMenu(async () => save(await exported(kind, this.tree, this.svg, this.page.options), file));
  }

  copyBrackets() {
    this.fromMenu(async () => {
      const blob = await exported("discbracket", this.tree, this.svg, this.page.options);
      await copy((await blob.text()).trim());
      this.say("Copied.");
    });
  }

  copyLink() {
    this.fromMenu(async () => {
      await copy(this.page.link([this]));
      this.say("Link copied.");
    });
  }

  /** Close the menu and do what was chosen there. */
  async fromMenu(call) {
    this.menu.open = false;
    this.menu.querySelector("summary").focus();
    try {
      await call();
    } catch (error) {
      this.say(error.message);
    }
  }

  say(text) {
    this.note = text;
    this.point(null);
  }

  /** What a link must carry to show this again. */
  saved() {
    const constraints = this.constraints.toJson();
    const best = this.tree === this.own ? {} : { best: this.best.indexOf(this.tree) };
    return { ...(constraints ? { constraints } : {}), ...best, ...(this.mode === "look" ? {} : { mode: this.mode }) };
  }
}
