// Two models on one text, or two treebank files: which sentences differ, and where.

import { postJson, postText } from "./api.js";
import { h } from "./dom.js";
import { draw } from "./picture.js";
import { Tree } from "./tree.js";
import { textOf } from "./treebank_file.js";

const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(1));

export function setUpCompare(place, models, page) {
  new Compare(place, models, page);
}

class Compare {
  constructor(place, models, page) {
    this.page = page;
    this.files = {};
    this.sentences = [];
    const select = (name, chosen) => h("select", { "aria-label": name, dataset: { model: name } }, ...models.map((model) => h("option", { value: model, selected: model === chosen }, model)));
    this.first = select("First model", models[0]);
    this.second = select("Second model", models[1] ?? models[0]);
    this.text = h("textarea", { rows: 2, "aria-label": "Text to compare two models on", placeholder: "Text to parse with both models …" });
    this.message = h("p", { class: "message", role: "status", "aria-live": "polite" });
    this.scores = h("div", { class: "scores" });
    this.list = h("ol", { class: "list", "aria-label": "Sentences" });
    this.shown = h("div", { class: "shown" });
    this.disc = h("input", { type: "checkbox", onchange: () => this.filter() });
    this.wrong = h("input", { type: "checkbox", onchange: () => this.filter() });
    this.label = h("select", { "aria-label": "Label", onchange: () => this.filter() });
    this.filters = h("div", { class: "bar filters", hidden: true }, h("label", {}, this.disc, " discontinuous only"), h("label", {}, this.wrong, " wrong only"), h("label", {}, "label ", this.label));
    this.results = h("div", {}, this.scores, this.filters, h("div", { class: "browser" }, this.list, this.shown));
    place.replaceChildren(
      h("div", { class: "two" },
        h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.models(); } }, h("h2", {}, "Two models"), this.text, h("div", { class: "bar" }, this.first, " against ", this.second, h("button", { class: "main" }, "Compare"))),
        h("div", { class: "card" }, h("h2", {}, "Two treebank files"), this.drop("gold", "Gold"), this.drop("predicted", "Predicted"), h("p", { class: "hint" }, "Any format that discoparse reads. The files go to this page’s own server and nowhere else."))),
      this.message,
      this.results,
    );
  }

  drop(side, name) {
    const chosen = () => {
      this.take(side, input.files[0], label);
      input.value = ""; // so that the same file can be chosen again when it was edited
    };
    const input = h("input", { type: "file", "aria-label": `${name} treebank`, onchange: chosen });
    const label = h("label", { class: "drop", ondragover: (event) => { event.preventDefault(); label.classList.add("over"); }, ondragleave: () => label.classList.remove("over"), ondrop: (event) => { event.preventDefault(); label.classList.remove("over"); this.take(side, event.dataTransfer.files[0], label); } }, h("strong", {}, name), h("span", {}, " drop a file here, or choose one"), input);
    return label;
  }

  async take(side, file, label) {
    if (!file) return;
    label.querySelector("span").textContent = ` ${file.name}`;
    this.files[side] = textOf(file);
    await this.run(async (signal) => {
      const [gold, predicted] = await Promise.all([this.files.gold, this.files.predicted]);
      if (gold === undefined || predicted === undefined) return this.say(`Now the ${gold === undefined ? "gold" : "predicted"} file.`);
      await this.evaluate(gold, predicted, ["gold", "predicted"], signal);
    });
  }

  async models() {
    const names = [this.first.value, this.second.value], text = this.text.value;
    await this.run(async (signal) => {
      if (!text.trim()) throw new Error("Give some text first.");
      this.say(`Parsing with ${names[0]} …`);
      const one = await postJson("parse", { text, model: names[0] }, signal);
      const tokens = one.trees.map((tree) => tree.tokens.map((token) => token.word));
      if (!tokens.length) throw new Error("There are no words in this text.");
      this.say(`Parsing with ${names[1]} …`);
      const other = await postJson("parse", { tokens, model: names[1] }, signal);
      await this.evaluate(one.trees, other.trees, names, signal);
    });
  }

  /** Compare anew: what is shown is that of before and fades, and where this fails, it goes. The last one counts. */
  async run(compare) {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.results.classList.add("stale");
    try {
      await compare(own.signal);
    } catch (error) {
      if (own !== this.running) return;
      this.clear();
      this.say(error.message, true);
    }
    if (own === this.running) this.results.classList.remove("stale");
  }

  clear() {
    this.sentences = [];
    this.filters.hidden = true;
    for (const part of [this.scores, this.list, this.shown]) part.replaceChildren();
  }

  async evaluate(gold, predicted, names, signal) {
    signal.throwIfAborted();
    this.say("Comparing …");
    const result = await postJson("evaluate", { gold, predicted, sentences: true }, signal);
    this.names = names;
    this.sentences = result.sentences;
    const all = result.all, cell = (value) => h("td", {}, number(value));
    this.scores.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...["", "precision", "recall", "F1", "exact"].map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, "all"), cell(all.precision), cell(all.recall), cell(all.f1), cell(all.exact_match)), h("tr", {}, h("th", { scope: "row" }, "discontinuous"), cell(all.disc.precision), cell(all.disc.recall), cell(all.disc.f1), cell(all.disc.exact_match)))));
    const labels = new Set(this.sentences.flatMap((one) => [one.gold, one.predicted].flatMap((tree) => tree?.nodes.map((node) => node.label) ?? [])));
    this.label.replaceChildren(h("option", { value: "" }, "any"), ...[...labels].sort().map((label) => h("option", {}, label)));
    this.filters.hidden = false;
    this.filter();
  }

  say(text, isError = false) {
    this.message.textContent = text;
    this.message.classList.toggle("error", isError);
  }

  filter() {
    const label = this.label.value;
    const has = (tree) => tree?.nodes.some((node) => node.label === label);
    const found = this.sentences.filter((one) => (!this.disc.checked || one.discontinuous) && (!this.wrong.checked || differs(one)) && (!label || has(one.gold) || has(one.predicted)));
    this.say(`${found.length} of ${this.sentences.length} sentences.`);
    this.list.replaceChildren(...found.map((one) => h("li", {}, h("button", { type: "button", class: differs(one) ? "differs" : "", onclick: () => this.show(one) }, h("span", { class: "badge" }, `${one.number}`), ` ${one.gold.tokens.map((token) => token.word).join(" ")} `, h("small", {}, differs(one) ? `F1 ${number(one.f1)}` : "same")))));
    found.length ? this.show(found[0]) : this.shown.replaceChildren();
  }

  show(one) {
    for (const item of this.list.children) item.firstChild.setAttribute("aria-current", item.firstChild.querySelector(".badge").textContent === String(one.number));
    const side = (name, data, marks) => h("figure", {}, h("figcaption", {}, name), data ? h("div", { class: "scroll" }, draw(new Tree(data), this.page.options, { marks, label: `${name}: sentence ${one.number}` })) : h("p", { class: "hint" }, "There is no tree."));
    const legend = h("p", { class: "legend" }, h("span", { class: "missing" }, "missing"), " ", h("span", { class: "spurious" }, "spurious"), " ", h("span", { class: "different" }, "different"));
    const save = h("button", { type: "button", onclick: () => this.saveSvg(one) }, "SVG of both");
    this.shown.replaceChildren(side(this.names[0], one.gold, one.marks?.gold), side(this.names[1], one.predicted, one.marks?.predicted), h("div", { class: "bar" }, legend, h("span", { class: "grow" }), one.predicted ? save : null));
  }

  async saveSvg(one) {
    try {
      const { save } = await import("./exporting.js");
      const text = await postText("draw", { tree: one.gold, compare: one.predicted, format: "svg" });
      save(new Blob([text], { type: "image/svg+xml" }), `sentence-${one.number}.svg`);
    } catch (error) {
      this.say(error.message, true);
    }
  }
}

const differs = (one) => !one.exact || !one.predicted || Object.keys(one.marks?.gold.tokens ?? {}).length > 0;
