// A derivation step by step: memory, focus and the words to come as sets, what was possible, and the tree so far.

import { postJson } from "./api.js";
import { h, percent } from "./dom.js";
import { draw, light, reveal } from "./picture.js";
import { Tree } from "./tree.js";

const SECONDS = 0.9; // for a step while it plays

/** The panel for a sentence, its `element`: `fields` are those of a request for its derivation. */
export async function stepper(fields, page) {
  return new Stepper(await postJson("derive", fields), page);
}

class Stepper {
  constructor(data, page) {
    this.page = page;
    this.rows = data.rows;
    this.words = data.words;
    this.tree = new Tree(data.tree);
    this.last = data.transitions;
    this.step = 0;
    this.chips = new Map(); // element of each item, by its first token
    this.build();
    this.draw();
  }

  /** Draw the tree, at the step that is shown. */
  draw() {
    this.picture = draw(this.tree, this.page.options, { label: "The tree so far" });
    this.stage.replaceChildren(this.picture);
    this.show(this.step);
  }

  build() {
    const button = (text, name, call) => h("button", { type: "button", "aria-label": name, title: name, onclick: call }, text);
    this.slider = h("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "Step", oninput: () => this.show(Number(this.slider.value)) });
    this.playing = button("▶", "Play", () => this.toggle());
    this.count = h("output", { class: "count" });
    this.said = h("p", { class: "said", role: "status", "aria-live": "polite" });
    this.memory = h("div", { class: "items", dataset: { area: "memory" } });
    this.focus = h("div", { class: "items", dataset: { area: "focus" } });
    this.buffer = h("div", { class: "items", dataset: { area: "buffer" } });
    this.stage = h("div", { class: "scroll" });
    this.choices = h("ol", { class: "choices" });
    const area = (name, what, element) => h("section", { class: "area", "aria-label": what }, h("h3", {}, name), element);
    this.element = h(
      "div",
      { class: "stepper", onkeydown: (event) => this.key(event) },
      h("div", { class: "bar controls" }, button("⇤", "To the start", () => this.show(0)), button("←", "One step back", () => this.show(this.step - 1)), this.playing, button("→", "One step on", () => this.show(this.step + 1)), button("⇥", "To the end", () => this.show(this.last)), this.slider, this.count),
      this.said,
      h("div", { class: "areas" }, area("Memory", "The memory, a set of items", this.memory), area("Focus", "The focus", this.focus), area("Words to come", "The buffer", this.buffer)),
      h("div", { class: "beside" }, this.stage, h("section", { class: "alternatives", "aria-label": "What was possible" }, h("h3", {}, "What was possible"), this.choices)),
    );
  }

  key(event) {
    if (event.target === this.slider) return;
    const change = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (change && !event.target.closest("svg")) {
      event.preventDefault();
      this.show(this.step + change);
    }
  }

  toggle() {
    if (this.timer) return this.pause();
    if (this.step === this.last) this.show(0);
    this.playing.textContent = "❚❚";
    this.playing.setAttribute("aria-label", "Pause");
    this.timer = setInterval(() => (this.element.isConnected && this.step < this.last ? this.show(this.step + 1) : this.pause()), SECONDS * 1000);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playing.textContent = "▶";
    this.playing.setAttribute("aria-label", "Play");
  }

  /** Show the configuration after so many steps: odd ones are structural actions, even ones label the focus. */
  show(step) {
    this.step = Math.max(0, Math.min(this.last, step));
    const number = Math.ceil(this.step / 2), row = this.rows[number], labelled = this.step % 2 === 0;
    this.slider.value = this.step;
    this.slider.setAttribute("aria-valuetext", `step ${this.step} of ${this.last}`);
    this.count.textContent = `${this.step} / ${this.last}`;
    this.moveItems(row);
    this.grow(number, labelled, row);
    this.said.replaceChildren(...this.describe(row, labelled));
    this.choices.replaceChildren(...this.possible(row, labelled));
    this.choices.parentElement.hidden = !this.choices.children.length;
  }

  describe(row, labelled) {
    if (!row.action) return ["Nothing has been read yet. Each step either changes the focus, or gives it a label."];
    const action = labelled ? row.label : row.action, chance = labelled ? row.label_probability : row.action_probability;
    return [h("strong", { class: "action" }, action), ` ${explain(action, row, this.words)} `, h("span", { class: "chance" }, percent(chance))];
  }

  possible(row, labelled) {
    const found = (labelled ? row.labels : row.actions) ?? [];
    return found.slice(0, 8).map((option) => {
      const name = option.action ?? option.label, taken = name === (labelled ? row.label : row.action);
      const words = option.item ? ` {${option.item.map((k) => this.words[k]).join(" ")}}` : "";
      const meter = h("meter", { min: 0, max: 1, value: option.probability, "aria-hidden": "true" });
      return h("li", { class: `${taken ? "taken" : ""}${option.allowed === false ? " excluded" : ""}` }, h("span", { class: "name" }, name, h("small", {}, words)), meter, h("span", { class: "chance" }, percent(option.probability)), option.allowed === false ? h("small", {}, "excluded") : null);
    });
  }

  /** The items where they are now; those that were elsewhere move there, if the reader likes movement. */
  moveItems(row) {
    const before = new Map([...this.chips].map(([key, chip]) => [key, chip.getBoundingClientRect()]));
    this.chips.clear();
    const chip = (item, kind) => {
      const element = h("span", { class: `item ${kind}` }, item.map((k) => this.words[k]).join(" "), kind === "coming" ? null : h("sub", {}, item[0]));
      this.chips.set(item.at(-1), element);
      return element;
    };
    const empty = () => h("span", { class: "none" }, "∅");
    const memory = row.memory.map((item) => chip(item, "held"));
    this.memory.replaceChildren(...(memory.length ? memory : [empty()]));
    this.memory.scrollTop = this.memory.scrollHeight;
    this.focus.replaceChildren(row.focus ? chip(row.focus, "focused") : empty());
    const buffer = row.buffer.map((k) => chip([k], "coming"));
    this.buffer.replaceChildren(...(buffer.length ? buffer : [empty()]));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const [key, element] of this.chips) {
      const from = before.get(key), to = element.getBoundingClientRect();
      if (!from || (from.x === to.x && from.y === to.y)) continue;
      element.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], { duration: 320, easing: "ease-out" });
    }
  }

  /** Nodes appear when their label was given. */
  grow(number, labelled, row) {
    const built = new Set(this.rows.slice(1, labelled ? number + 1 : number).filter((r) => r.label !== "NO-LABEL").map((r) => r.focus.join(",")));
    for (const node of this.tree.nodes) {
      const there = built.has(node.tokens.join(","));
      for (const part of this.picture.querySelectorAll(`[data-node="${node.k}"], [data-of="${node.k}"]`)) part.classList.toggle("future", !there);
    }
    for (const leaf of this.picture.querySelectorAll("g.leaf")) leaf.classList.toggle("unread", leaf.dataset.token.split(",").every((k) => row.buffer.includes(Number(k))));
    light(this.picture, row.focus ? { tokens: row.focus, k: -1 } : null);
    reveal(this.stage, this.picture.querySelectorAll("g.leaf.lit"));
  }
}

function explain(action, row, words) {
  if (action === "SH") return `shift: “${words[row.focus[0]]}” is the focus now, and what it was goes to the memory`;
  if (action.startsWith("COMB")) {
    const item = row.actions?.find((option) => option.action === action)?.item;
    return `combine ${item ? `“${item.map((k) => words[k]).join(" ")}”` : "an item"} of the memory with the focus`;
  }
  if (action === "NO-LABEL") return "the focus is not a constituent";
  return "the focus is a constituent with this label";
}
