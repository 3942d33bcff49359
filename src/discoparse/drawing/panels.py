"""Where to cut a picture that is wider than wanted, and what stands at the cuts.

Cuts run between words. A branch that is cut goes on in the next panel; in every panel that shows a part of a
branch but not the label of its node, the label is repeated at the margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from discoparse.drawing.options import Options
from discoparse.drawing.picture import LABEL, Drawn, Metric, Picture, compose
from discoparse.tree import Tree

_ROOF_COST = 3  # branches that may be cut before a roof is


class Margin(NamedTuple):
    """What stands beside a panel on the line of a branch: the branch goes on, perhaps below this label."""

    label: str


@dataclass(frozen=True)
class Bar:
    """The horizontal part of the branches of a node, from `low` to `high`, with its label at `axis`."""

    node: int
    low: int
    high: int
    axis: int
    name: str
    is_roof: bool

    def margins(self, start: int, end: int) -> tuple[Margin | None, Margin | None]:
        """What stands left and right of the columns `start` to `end` (exclusive)."""
        enters, leaves = self.low < start <= self.high, self.low < end <= self.high
        if start <= self.axis < end:
            return Margin("") if enters else None, Margin("") if leaves else None
        left = Margin(self.name) if enters else None
        return left, Margin("" if enters else self.name) if leaves else None


def bars(drawn: Drawn) -> list[Bar]:
    """The bars of all nodes whose branches are not a single line."""
    found = []
    for node in range(drawn.shape.n, len(drawn.axes)):
        low, high = drawn.bar(node)
        if low < high:
            found.append(Bar(node, low, high, drawn.axes[node], drawn.name(node), node in drawn.shape.roofs))
    return found


def panel_ranges(picture: Picture) -> Iterator[tuple[int, int]]:
    """First column and end of every panel; the wall between two panels belongs to neither."""
    start = 0
    for wall in picture.walls:
        yield start, wall
        start = wall + 1
    yield start, picture.width


def margin_width(margin: Margin | None, metric: Metric) -> int:
    """The room that a branch takes beside its panel."""
    if margin is None:
        return 0
    return metric.dash + (metric.space + metric.width(margin.label, LABEL) if margin.label else 0)


def margin_widths(all_bars: list[Bar], start: int, end: int, metric: Metric) -> tuple[int, int]:
    """The room that is needed left and right of a panel."""
    left = right = 0
    for bar in all_bars:
        if bar.low < end and bar.high >= start:
            before, after = bar.margins(start, end)
            left, right = max(left, margin_width(before, metric)), max(right, margin_width(after, metric))
    return left, right


def fit_to_width(tree: Tree, compare: Tree | None, options: Options, metric: Metric, width: int | None) -> Picture:
    """Lay a tree out, with cuts and broken words where it is wider than `width`."""
    picture = compose(tree, compare, options, metric)
    if width is None or picture.width <= width:
        return picture
    longest = max(metric.width(node.label, LABEL) for t in (tree, compare) if t is not None for node in t.preorder())
    room = max(metric.narrowest, width - 2 * (longest + metric.space + metric.dash))  # for a word, between two labels
    cuts: set[int] = set()
    while True:

        def break_words(text: str, role: str, room: int = room) -> list[str]:
            return break_word(text, role, metric, room)

        picture = compose(tree, compare, options, metric, cuts, break_words)
        new = _further_cuts(picture, cuts, metric, width)
        totals = (_total(_all_bars(picture), start, end, metric) for start, end in panel_ranges(picture))
        excess = max(totals) - width
        if not new and (excess <= 0 or room == metric.narrowest):
            return picture
        if not new:
            room = max(metric.narrowest, room - excess)
        cuts |= new


def break_word(word: str, role: str, metric: Metric, room: int) -> list[str]:
    """A word, or the words under a roof, in pieces that take at most `room`, broken at blanks where there are any."""
    pieces, used = [""], 0
    for character in word:
        size = metric.width(character, role)
        if used + size > room:
            line, blank, rest = pieces[-1].rpartition(" ")
            pieces[-1:] = [line, rest] if blank else [pieces[-1], ""]
            used = metric.width(pieces[-1], role)
            if character == " " and not pieces[-1]:
                continue
        pieces[-1] += character
        used += size
    return pieces


def _further_cuts(picture: Picture, cuts: set[int], metric: Metric, width: int) -> set[int]:
    """Tokens before which to cut the panels that are still too wide; none if all fit or cannot be divided."""
    all_bars = _all_bars(picture)
    lefts = _first_columns(picture)
    starts = [0, *sorted(cuts), len(lefts)]
    inside = {i for drawn in picture.drawn for foot in drawn.feet for i in range(foot.first + 1, foot.last + 1)}
    new: set[int] = set()
    for (start, end), first, last in zip(panel_ranges(picture), starts, starts[1:], strict=False):
        while _total(all_bars, start, end, metric) > width:
            possible = [k for k in range(first + 1, last) if k not in inside]
            if not possible:
                break
            near = [k for k in possible if lefts[k] - start <= width]
            fitting = [k for k in near if _total(all_bars, start, lefts[k], metric) <= width] or possible[:1]
            places = {k: lefts[k] for k in possible if k <= fitting[-1]}
            first = _best_cut(all_bars, places, start, end)
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
        cut = [bar for bar in all_bars if bar.low < column <= bar.high]
        return sum(_ROOF_COST if bar.is_roof else 1 for bar in cut), abs(column - target)

    return min(late_enough or places, key=cost)


def _all_bars(picture: Picture) -> list[Bar]:
    return [bar for drawn in picture.drawn for bar in bars(drawn)]


def _total(all_bars: list[Bar], start: int, end: int, metric: Metric) -> int:
    return end - start + sum(margin_widths(all_bars, start, end, metric))


def _first_columns(picture: Picture) -> list[int]:
    """Where the tokens begin."""
    columns = ([drawn.left_edge(i) for i in range(drawn.shape.n)] for drawn in picture.drawn)
    return [min(same) for same in zip(*columns, strict=True)]
