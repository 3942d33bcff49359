// What a user has said about a tree, with undo and redo.

const same = (a, b) => a.length === b.length && a.every((value, k) => value === b[k]);

export class Constraints {
  constructor(data = {}) {
    this.restore({ past: [], now: { constituents: data.constituents ?? [], forbidden: data.forbidden ?? [], tags: data.tags ?? {} }, future: [] });
  }

  /** All of it: nothing in here changes, so that it can be restored. */
  get state() {
    return { past: this.past, now: this.now, future: this.future };
  }

  restore({ past, now, future }) {
    this.past = past;
    this.now = now;
    this.future = future;
  }

  get isEmpty() {
    return !this.now.constituents.length && !this.now.forbidden.length && !Object.keys(this.now.tags).length;
  }

  /** As the API takes them; null if there are none. */
  toJson() {
    return this.isEmpty ? null : this.now;
  }

  // Each of these says whether anything is different now: a double click says the same thing twice.

  change(next) {
    const now = { ...this.now, ...next };
    if (JSON.stringify(now) === JSON.stringify(this.now)) return false;
    this.restore({ past: [...this.past, this.now], now, future: [] });
    return true;
  }

  undo() {
    if (!this.past.length) return false;
    this.restore({ past: this.past.slice(0, -1), now: this.past.at(-1), future: [...this.future, this.now] });
    return true;
  }

  redo() {
    if (!this.future.length) return false;
    this.restore({ past: [...this.past, this.now], now: this.future.at(-1), future: this.future.slice(0, -1) });
    return true;
  }

  /** These tokens are a constituent; what was said about them before no longer holds. */
  require(tokens, label) {
    const entry = label ? { tokens, label } : { tokens };
    return this.change({ constituents: [...this.without(tokens, "constituents"), entry], forbidden: this.without(tokens, "forbidden") });
  }

  forbid(tokens) {
    return this.change({ constituents: this.without(tokens, "constituents"), forbidden: [...this.without(tokens, "forbidden"), tokens] });
  }

  tag(token, tag) {
    return this.change({ tags: { ...this.now.tags, [token]: tag } });
  }

  /** A tree instead of another: what only it has must be there, and what only the other has must not. */
  prefer(tree, other) {
    const chains = tree.chains(), others = other.chains();
    const constituents = [...chains.values()].filter(({ tokens, labels }) => !same(labels, others.get(tokens.join())?.labels ?? []));
    const forbidden = [...others.values()].map(({ tokens }) => tokens).filter((tokens) => !chains.has(tokens.join()));
    const tags = Object.fromEntries(tree.tokens.flatMap(({ tag }, k) => (tag === other.tokens[k].tag ? [] : [[k, tag]])));
    return this.change({ constituents, forbidden, tags });
  }

  without(tokens, kind) {
    return this.now[kind].filter((entry) => !same(entry.tokens ?? entry, tokens));
  }

  /** A sentence for each constraint, and how to remove it. */
  list(tree) {
    const { constituents, forbidden, tags } = this.now;
    return [
      ...constituents.map((entry) => [`${entry.label ?? entry.labels?.join(" over ") ?? "constituent"}: ${tree.text(entry.tokens)}`, () => this.change({ constituents: constituents.filter((e) => e !== entry) })]),
      ...forbidden.map((entry) => [`not a constituent: ${tree.text(entry)}`, () => this.change({ forbidden: forbidden.filter((e) => e !== entry) })]),
      ...Object.entries(tags).map(([token, tag]) => [`${tag}: ${tree.tokens[token].word}`, () => this.change({ tags: Object.fromEntries(Object.entries(tags).filter(([key]) => key !== token)) })]),
    ];
  }
}

/** Whether data that a link brought are constraints on so many words. */
export function fit(data, length) {
  const isObject = (value) => typeof value === "object" && value !== null;
  const isToken = (k) => Number.isInteger(k) && k >= 0 && k < length;
  const isSet = (tokens) => Array.isArray(tokens) && tokens.length > 0 && tokens.every(isToken);
  const all = (list, fits) => list === undefined || (Array.isArray(list) && list.every(fits));
  return isObject(data) && all(data.constituents, (entry) => isObject(entry) && isSet(entry.tokens)) && all(data.forbidden, isSet) && (data.tags === undefined || (isObject(data.tags) && Object.keys(data.tags).every((key) => isToken(Number(key)))));
}
