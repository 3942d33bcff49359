// A sentence on the page: its words, its tree, and four ways to work with it: look, step, choose, correct.

import { model, postJson } from "./api.js";
import { changes, chooser, differences, MOST, same } from "./best.js";
import { Constraints } from "./constraints.js";
import { h, percent } from "./dom.js";
import { copy, exported, KINDS, save } from "./exporting.js";
import { draw, light } from "./picture.js";
import { stepper } from "./stepper.js";
import { Tree } from "./tree.js";

const MODES = [["look", "Look"], ["step", "Step"], ["choose", "Choose"], ["correct", "Correct"]];

export class Sentence {
  /** `page` has the options of the view, `link(sentence)` and `changed()`. */
  constructor(data, modelName, page, saved = {}) {
    this.page = page;
    this.model = modelName;
    this.tree = new Tree(data);
    this.own = this.tree; // the parser's; another of the best may be chosen
    this.constraints = new Constraints(saved.constraints);
    this.collapsed = new Set();
    this.selected = new Set();
    this.marks = {};
    this.mode = "look";
    this.build();
    this.render();
    if (!this.constraints.isEmpty) this.parseAgain(false);
    if (saved.best !== undefined) this.setMode("choose", saved.best).then(() => saved.mode && this.setMode(saved.mode));
    else if (saved.mode) this.setMode(saved.mode);
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
    const exports = KINDS.map(([kind, name, file]) => h("button", { type: "button", dataset: { export: kind }, onclick: (event) => this.export(kind, file, event) }, name));
    this.menu = h("details", { class: "menu" }, h("summary", {}, "Export"), h("div", { class: "sheet" }, ...exports, h("hr"), h("button", { type: "button", dataset: { export: "copy" }, onclick: () => this.copyBrackets() }, "Copy brackets"), h("button", { type: "button", dataset: { export: "link" }, onclick: () => this.copyLink() }, "Copy link")));
    this.element = h(
      "article",
      { class: "sentence", tabindex: -1, onkeydown: (event) => this.key(event) },
      h("h2", { class: "sr" }, `Sentence ${this.tree.data.id ?? ""}: ${this.tokens.join(" ")}`),
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

  /** Draw everything again. */
  render() {
    const on = { point: (item) => this.point(item), choose: (item) => this.choose(item) };
    this.svg = draw(this.tree, this.page.options, { collapsed: this.collapsed, marks: this.marks, on });
    this.stage.replaceChildren(this.svg);
    this.stage.hidden = this.mode === "step";
    this.text.replaceChildren(h("ul", {}, this.outline(this.tree.nodes[0])));
    this.renderWords();
    this.point(null);
  }

  outline(node) {
    const p = node.probability ?? node.label_probability;
    const chance = p === undefined ? "" : ` (${percent(p)})`;
    const children = node.children.map((child) => (child < 0 ? h("li", {}, `${this.tree.tokens[~child].word} `, h("small", {}, this.tree.tokens[~child].tag)) : this.outline(this.tree.nodes[child])));
    return h("li", {}, h("strong", {}, node.label), h("small", {}, chance), h("ul", {}, ...children));
  }

  renderWords() {
    const correcting = this.mode === "correct";
    const parts = this.tree.tokens.map((token, k) => {
      if (!correcting) return h("span", { dataset: { token: k } }, token.word);
      return h("button", { type: "button", dataset: { token: k }, "aria-pressed": this.selected.has(k), onpointerdown: (event) => this.startDrag(event, k), onpointerenter: (event) => this.drag(event, k), onclick: (event) => event.detail === 0 && this.toggle(k) }, token.word);
    });
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
      this.selected = new Set(item.node?.tokens ?? item.tokens);
      this.renderWords();
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
    this.selected.clear();
    for (const button of this.modeButtons) button.setAttribute("aria-pressed", button.dataset.mode === mode);
    this.element.dataset.mode = mode;
    if (mode !== "correct") this.marks = {};
    this.render();
    await this.renderPanel(chosen);
    this.page.changed();
  }

  async renderPanel(chosen) {
    if (this.mode === "look") return this.panel.replaceChildren();
    if (this.mode === "correct") return this.replacePanel(await this.correctionPanel());
    this.panel.replaceChildren(h("p", { class: "hint" }, "…"));
    const { mode } = this;
    try {
      const shown = mode === "choose" ? await this.choicePanel(chosen) : await this.stepPanel();
      if (this.mode === mode) this.panel.replaceChildren(...shown);
    } catch (error) {
      this.panel.replaceChildren(h("p", { class: "message error" }, error.message));
    }
  }

  async stepPanel() {
    const other = this.tree === this.own ? null : h("p", { class: "hint" }, "These steps lead to the parser’s own tree, not to the one that you chose.");
    return [other, await stepper(this.request(), this.page.options)].filter(Boolean);
  }

  // -- choosing -----------------------------------------------------------------------------------------------

  async choicePanel(chosen) {
    if (!this.constraints.isEmpty) return [h("p", { class: "hint" }, "The most probable trees are not available within constraints: remove these first (Correct).")];
    if (!this.best) {
      const answer = await postJson("parse", { tokens: [this.tokens], model: this.model, best: MOST });
      this.best = answer.trees.map((data) => this.adopted(data));
      if (!this.best.some((tree) => same(tree, this.own))) this.best.push(this.own);
    }
    const found = chosen ?? this.best.findIndex((tree) => same(tree, this.tree));
    if (this.best[found]) this.show(this.best[found]);
    return [chooser(this.best, found, this.own, (k) => { this.show(this.best[k]); this.page.changed(); })];
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
    const { id, text, tokens } = this.tree.data;
    const placed = data.tokens.map((token, k) => (tokens[k].span ? { ...token, span: tokens[k].span } : token));
    return new Tree({ ...data, id, ...(text === undefined ? {} : { text }), tokens: placed });
  }

  /** A new panel, with the focus where it was: on the same button, or on the sentence, so that keys still reach it. */
  replacePanel(panel) {
    const focused = this.panel.contains(document.activeElement) ? document.activeElement : null;
    this.panel.replaceChildren(panel);
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
    const sampled = new Tree(data), known = new Map(sampled.nodes.map((node) => [sampled.key(node), node.probability]));
    for (const tree of new Set([this.own, this.tree])) {
      for (const node of tree.nodes) node.probability = known.get(tree.key(node)) ?? node.probability;
    }
    this.text.replaceChildren(h("ul", {}, this.outline(this.tree.nodes[0])));
  }

  // -- correcting ---------------------------------------------------------------------------------------------

  startDrag(event, k) {
    event.target.releasePointerCapture?.(event.pointerId); // so that other words hear of a finger, too
    this.dragging = { adds: !this.selected.has(k) };
    this.drag(event, k);
    addEventListener("pointerup", () => { this.dragging = undefined; this.renderPanel(); }, { once: true });
  }

  drag(event, k) {
    if (!this.dragging) return;
    this.dragging.adds ? this.selected.add(k) : this.selected.delete(k);
    this.wordLine.querySelector(`[data-token="${k}"]`).setAttribute("aria-pressed", this.selected.has(k));
  }

  toggle(k) {
    this.selected.has(k) ? this.selected.delete(k) : this.selected.add(k);
    this.wordLine.querySelector(`[data-token="${k}"]`).setAttribute("aria-pressed", this.selected.has(k));
    this.renderPanel();
  }

  async correctionPanel() {
    const { labels, tags } = await model(this.model);
    const tokens = [...this.selected].sort((a, b) => a - b);
    const act = (change) => () => { change(); this.selected.clear(); this.parseAgain(true); };
    const choice = (name, values, now, change) => h("label", {}, `${name} `, h("select", { "aria-label": name, onchange: (event) => event.target.value && act(() => change(event.target.value))() }, h("option", { value: "" }, "…"), ...values.map((value) => h("option", { value, selected: value === now }, value))));
    const over = this.tree.nodes.find((node) => node.tokens.join() === tokens.join());
    const buttons = tokens.length
      ? [
          h("button", { type: "button", class: "main", dataset: { do: "require" }, onclick: act(() => this.constraints.require(tokens)) }, "These are a constituent"),
          h("button", { type: "button", dataset: { do: "forbid" }, onclick: act(() => this.constraints.forbid(tokens)) }, "Not a constituent"),
          choice("Label", labels, over?.label, (label) => this.constraints.require(tokens, label)),
          tokens.length === 1 ? choice("Tag", tags, this.tree.tokens[tokens[0]].tag, (tag) => this.constraints.tag(tokens[0], tag)) : null,
        ]
      : [];
    const undo = (name, symbol, can, call) => h("button", { type: "button", class: "quiet", "aria-label": name, title: name, disabled: !can, dataset: { do: name.toLowerCase() }, onclick: call }, symbol);
    const list = this.constraints.list(this.tree).map(([text, remove]) => h("li", { class: "chip" }, text, h("button", { type: "button", "aria-label": `Remove: ${text}`, onclick: () => { remove(); this.parseAgain(true); } }, "×")));
    return h("div", { class: "correction" }, h("div", { class: "bar" }, ...buttons, h("span", { class: "grow" }), undo("Undo", "↶", this.constraints.past.length, () => this.undo()), undo("Redo", "↷", this.constraints.future.length, () => this.redo())), h("ul", { class: "chips", "aria-label": "Constraints" }, ...list));
  }

  undo() {
    if (this.constraints.undo()) this.parseAgain(false);
  }

  redo() {
    if (this.constraints.redo()) this.parseAgain(false);
  }

  key(event) {
    if (this.mode !== "correct" || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    event.shiftKey ? this.redo() : this.undo();
  }

  /** Parse within the constraints, and mark what is new. A change that cannot be met is taken back. */
  async parseAgain(isChange) {
    try {
      const answer = await postJson("parse", this.request());
      const before = this.tree;
      this.own = this.adopted(answer.trees[0]);
      this.mark(this.own, before);
      this.note = changes(this.own, before);
      this.point(null);
      if (this.constraints.isEmpty) this.page.believe([this], this.model);
    } catch (error) {
      if (isChange) this.constraints.takeBack();
      this.note = error.message;
      this.point(null);
    }
    await this.renderPanel();
    this.page.changed();
  }

  // -- taking it along ----------------------------------------------------------------------------------------

  async export(kind, file, event) {
    this.menu.open = false;
    try {
      save(await exported(kind, this.tree, this.svg, this.page.options), file);
    } catch (error) {
      this.note = error.message;
      this.point(null);
    }
  }

  async copyBrackets() {
    this.menu.open = false;
    const blob = await exported("discbracket", this.tree, this.svg, this.page.options);
    await copy((await blob.text()).trim());
    this.say("Copied.");
  }

  async copyLink() {
    this.menu.open = false;
    await copy(this.page.link([this]));
    this.say("Link copied.");
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
