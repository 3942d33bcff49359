// Where everything stands: leaves side by side, nodes over the middle of their children, never on a line that passes.

export const SIZES = { word: 16, tag: 12, label: 15, gap: 16, level: 36, margin: 14 };
const FONT = 'Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif';
const pen = document.createElement("canvas").getContext("2d");

export function widthOf(text, size) {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/** Gives every leaf and node of a view its x and y; returns the size of the picture. */
export function place(view, options) {
  const { leaves, items, height } = view;
  let right = SIZES.margin;
  leaves.forEach((leaf, k) => {
    leaf.width = Math.max(widthOf(leaf.words, SIZES.word), options.tags && leaf.tag ? widthOf(leaf.tag, SIZES.tag) : 0, 8);
    for (const item of items) if (item.first === k && item.last === k) leaf.width = Math.max(leaf.width, widthOf(item.node.label, SIZES.label));
    leaf.x = right + leaf.width / 2;
    right += leaf.width + SIZES.gap;
  });
  const bottom = SIZES.margin + height * SIZES.level + SIZES.label / 2;
  for (const item of items) {
    item.width = widthOf(item.node.label, SIZES.label);
    const xs = item.children.map((child) => child.x);
    const low = item.children.length ? Math.min(...xs) : leaves[item.first].x, high = item.children.length ? Math.max(...xs) : leaves[item.last].x;
    item.bar = [low, high];
    const passing = [...leaves, ...items].filter((e) => e.level < item.level && (e.parent?.level ?? 0) > item.level).map((e) => e.x);
    const free = (x) => passing.every((p) => Math.abs(p - x) > item.width / 2 + 5);
    const middle = (low + high) / 2;
    item.x = middle;
    for (let away = 0; away <= (high - low) / 2 + item.width && !free(item.x); away += 3) {
      item.x = free(middle - away) ? middle - away : middle + away;
    }
    item.y = bottom - item.level * SIZES.level;
  }
  const tags = options.tags ? SIZES.tag * 1.5 : 0;
  for (const leaf of leaves) {
    leaf.y = bottom;
    leaf.tagY = bottom;
    leaf.wordY = bottom + (tags ? tags + 2 : 0);
  }
  const overhang = Math.max(0, ...items.map((item) => SIZES.margin / 2 - (item.x - item.width / 2)));
  if (overhang) for (const e of [...leaves, ...items]) { e.x += overhang; if (e.bar) e.bar = e.bar.map((x) => x + overhang); }
  const most = Math.max(right - SIZES.gap + overhang, ...items.map((item) => item.x + item.width / 2));
  return { width: most + SIZES.margin, height: bottom + (tags || 0) + SIZES.word + SIZES.margin };
}
