"""Where to cut a text picture that is wider than the terminal, and what to write at the cuts.

Cuts run between words. A branch that is cut goes on in the next panel; in every panel that shows a part of a
branch but not the label of its node, the label is repeated at the margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from discoparse.drawing.picture import LABEL, Content, Drawn, Metric, Picture, compose
from discoparse.files.widths import cell_width, cells
from discoparse.tree import Tree

CONTINUED = "┄"
_CELLS = Metric(lambda text, role: cells(text), word_gap=2, label_gap=1, snap=1)
_NARROWEST = 8  # words are not broken into pieces shorter than this


@dataclass(frozen=True)
class Bar:
    """The horizontal part of the branches of a node, from `low` to `high`, with its label at `axis`."""

    node: int
    level: int
    low: int
    high: int
    axis: int
    name: str

    def margins(self, start: int, end: int) -> tuple[str, str]:
        """What to write left and right of the columns `start` to `end` (exclusive) on the line of the bar."""
        enters, leaves = self.low < start <= self.high, self.low < end <= self.high
        if start <= self.axis < end:
            return CONTINUED * enters, CONTINUED * leaves
        left = f"{self.name} {CONTINUED}" if enters else ""
        return left, CONTINUED if enters and leaves else f"{CONTINUED} {self.name}" if leaves else ""


def bars(drawn: Drawn) -> list[Bar]:
    """The bars of all nodes that have more than one child."""
    found = []
    for node in range(drawn.shape.n, len(drawn.axes)):
        low, high = drawn.bar(node)
        if low < high:
            name = next(line.text for line in drawn.boxes[node] if line.role == LABEL)
            found.append(Bar(node, drawn.shape.level[node], low, high, drawn.axes[node], name))
    return found


def panel_ranges(picture: Picture) -> Iterator[tuple[int, int]]:
    """First column and end of every panel; the wall between two panels belongs to neither."""
    start = 0
    for wall in picture.walls:
        yield start, wall
        start = wall + 1
    yield start, picture.width


def margin_widths(all_bars: list[Bar], start: int, end: int) -> tuple[int, int]:
    """Columns needed left and right of a panel."""
    texts = [bar.margins(start, end) for bar in all_bars]
    return max((cells(left) for left, _ in texts), default=0), max((cells(right) for _, right in texts), default=0)


def fit_to_width(tree: Tree, compare: Tree | None, content: Content, width: int | None) -> Picture:
    """Lay a tree out for a terminal, with cuts and broken words where it is wider than `width`."""
    picture = compose(tree, compare, content, _CELLS)
    if width is None or picture.width <= width:
        return picture
    longest = max(cells(node.label) for t in (tree, compare) if t is not None for node in t.preorder())
    room = max(_NARROWEST, width - 2 * (longest + 2))  # for a word, between margins with labels
    cuts: set[int] = set()
    while True:
        picture = compose(tree, compare, content, _CELLS, cuts, partial(break_word, room=room))
        new = _further_cuts(picture, cuts, width)
        excess = max(_total(_all_bars(picture), start, end) for start, end in panel_ranges(picture)) - width
        if not new and (excess <= 0 or room == _NARROWEST):
            return picture
        if not new:
            room = max(_NARROWEST, room - excess)
        cuts |= new


def break_word(word: str, room: int) -> list[str]:
    """A word in pieces of at most `room` cells.

    >>> break_word("Donaudampfschiff", 6)
    ['Donaud', 'ampfsc', 'hiff']
    """
    pieces, used = [""], 0
    for character in word:
        size = cell_width(character)
        if used + size > room:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += size
    return pieces


def _further_cuts(picture: Picture, cuts: set[int], width: int) -> set[int]:
    """Tokens before which to cut the panels that are still too wide; none if all fit or cannot be divided."""
    all_bars = _all_bars(picture)
    lefts = _first_columns(picture)
    starts = [0, *sorted(cuts), len(lefts)]
    new: set[int] = set()
    for (start, end), first, last in zip(panel_ranges(picture), starts, starts[1:], strict=False):
        while last - first > 1 and _total(all_bars, start, end) > width:
            near = [k for k in range(first + 1, last) if lefts[k] - start <= width]
            fitting = [k for k in near if _total(all_bars, start, lefts[k]) <= width] or [first + 1]
            first = _best_cut(all_bars, {k: lefts[k] for k in range(first + 1, fitting[-1] + 1)}, start, end)
            start = lefts[first]
            new.add(first)
    return new


def _best_cut(all_bars: list[Bar], places: dict[int, int], start: int, end: int) -> int:
    """Of the tokens that may begin the next panel (with their columns), one that makes even panels and cuts
    few branches."""
    panels = -(-(end - start) // max(1, max(places.values()) - start))
    target = start + (end - start) // panels
    late_enough = {k: column for k, column in places.items() if column - start >= (target - start) * 3 // 4}

    def cost(token: int) -> tuple[int, int]:
        column = places[token]
        return sum(bar.low < column <= bar.high for bar in all_bars), abs(column - target)

    return min(late_enough or places, key=cost)


def _all_bars(picture: Picture) -> list[Bar]:
    return [bar for drawn in picture.drawn for bar in bars(drawn)]


def _total(all_bars: list[Bar], start: int, end: int) -> int:
    return end - start + sum(margin_widths(all_bars, start, end))


def _first_columns(picture: Picture) -> list[int]:
    """Where the tokens begin."""
    columns = (
        [axis - left for axis, (left, _) in zip(drawn.axes[: drawn.shape.n], extents, strict=False)]
        for drawn, extents in zip(picture.drawn, picture.extents, strict=True)
    )
    return [min(same) for same in zip(*columns, strict=True)]
