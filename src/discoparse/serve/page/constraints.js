// What a user has said about a tree, with undo and redo.

const same = (a, b) => a.length === b.length && a.every((token, k) => token === b[k]);

export class Constraints {
  constructor(data = {}) {
    this.past = [];
    this.future = [];
    this.now = { constituents: data.constituents ?? [], forbidden: data.forbidden ?? [], tags: data.tags ?? {} };
  }

  get isEmpty() {
    return !this.now.constituents.length && !this.now.forbidden.length && !Object.keys(this.now.tags).length;
  }

  /** As the API takes them; null if there are none. */
  toJson() {
    return this.isEmpty ? null : this.now;
  }

  change(next) {
    this.past.push(this.now);
    this.future = [];
    this.now = { ...this.now, ...next };
  }

  /** The last change was refused: as if it had never been. */
  takeBack() {
    this.now = this.past.pop();
  }

  undo() {
    if (!this.past.length) return false;
    this.future.push(this.now);
    this.now = this.past.pop();
    return true;
  }

  redo() {
    if (!this.future.length) return false;
    this.past.push(this.now);
    this.now = this.future.pop();
    return true;
  }

  /** These tokens are a constituent; what was said about them before no longer holds. */
  require(tokens, label) {
    const entry = label ? { tokens, label } : { tokens };
    this.change({ constituents: [...this.without(tokens, "constituents"), entry], forbidden: this.without(tokens, "forbidden") });
  }

  forbid(tokens) {
    this.change({ constituents: this.without(tokens, "constituents"), forbidden: [...this.without(tokens, "forbidden"), tokens] });
  }

  tag(token, tag) {
    this.change({ tags: { ...this.now.tags, [token]: tag } });
  }

  without(tokens, kind) {
    return this.now[kind].filter((entry) => !same(entry.tokens ?? entry, tokens));
  }

  /** A sentence for each constraint, and how to remove it. */
  list(tree) {
    const { constituents, forbidden, tags } = this.now;
    return [
      ...constituents.map((entry) => [`${entry.label ?? "constituent"}: ${tree.text(entry.tokens)}`, () => this.change({ constituents: constituents.filter((e) => e !== entry) })]),
      ...forbidden.map((entry) => [`not a constituent: ${tree.text(entry)}`, () => this.change({ forbidden: forbidden.filter((e) => e !== entry) })]),
      ...Object.entries(tags).map(([token, tag]) => [`${tag}: ${tree.tokens[token].word}`, () => this.change({ tags: Object.fromEntries(Object.entries(tags).filter(([key]) => key !== token)) })]),
    ];
  }
}
