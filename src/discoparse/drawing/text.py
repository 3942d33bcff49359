"""Trees as text for the terminal, with box-drawing characters; long sentences go on in further panels below.

Branches of discontinuous nodes are heavy, and an edge that crosses branches stands in front of them: `━│━` is
a crossing, while `┬`, `┴` and `┼` always belong to one node. Rows are painted one by one, each only where its panel
is, so that memory does not grow with the area of the picture.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from discoparse.drawing.canvas import Row
from discoparse.drawing.hues import emphasis, hues
from discoparse.drawing.options import Options
from discoparse.drawing.panels import Bar, bars, fit_to_width, margin_widths, panel_ranges
from discoparse.drawing.picture import FUNCTION, GLOSS, TAG, Drawn, Line, Metric
from discoparse.files.widths import cells
from discoparse.tree import Tree

# Glyphs by the directions in which branches leave a cell: up 1, down 2, left 4, right 8.
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LIGHT = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
_HEAVY = " ╵╷│╸┙┑┥╺┕┍┝━┷┯┿"
_EDGE, _CONTINUED = "│", "┄"
CELLS = Metric(
    lambda text, role: cells(text), word_gap=2, label_gap=1, snap=1, space=1, dash=len(_CONTINUED), narrowest=8
)


def draw_text(tree: Tree, *, compare: Tree | None = None, **options: Any) -> str:
    """A tree as lines of text; with `compare`, a predicted tree below the gold one, differences marked.

    `options` are those of `Options`; the text is at most `width` columns wide, as far as single labels and words allow.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(draw_text(parse_tree("(S (VP (WP 0=what) (VB 3=do)) (MD 1=must) (PRP 2=we))")))
             S
           ┌─┼───┐
           │ VP  │
     ┍━━━━━│━┷━━━│━━━┑
     WP    MD   PRP  VB
    what  must   we  do
    """
    return text_picture(tree, compare, Options(**options))


def text_picture(tree: Tree, compare: Tree | None, options: Options) -> str:
    """The picture of `draw_text`."""
    picture = fit_to_width(tree, compare, options, CELLS, options.width)
    painters = [_Painter(drawn) for drawn in picture.drawn]
    blocks = []
    for start, end in panel_ranges(picture):
        lines = []
        for painter in painters:
            if painter.drawn.caption is not None:
                lines.append(f"{painter.drawn.caption}:")
            lines += painter.panel(start, end, options.color)
        blocks.append("\n".join(lines))
    if picture.differences is not None and options.legend:
        blocks.append(picture.differences.legend())
    return "\n\n".join(blocks)


class _Painter:
    """Paints a tree row by row. Rows are named by their level and their number there: on the levels of nodes first
    labels, below them branches; on that of the tokens first tags, below them words."""

    def __init__(self, drawn: Drawn) -> None:
        shape = drawn.shape
        self.drawn = drawn
        self._hues = hues(drawn, nested=3)
        self._bars: list[list[Bar]] = [[] for _ in shape.rows]
        for bar in bars(drawn):
            self._bars[shape.level[bar.node]].append(bar)
        self._passing = [sorted(level, key=drawn.axes.__getitem__) for level in shape.passing]
        self._label_rows = max((len(lines) for lines in drawn.heads[shape.n :]), default=0)
        self._head_rows = len(drawn.heads[0])
        self._roof_row = (0, self._head_rows - 1) if self._head_rows else (1, self._label_rows)  # right above the words

    def panel(self, start: int, end: int, color: bool) -> list[str]:
        """The lines of one panel, with the labels of branches that come from elsewhere at the margins."""
        all_bars = [bar for level in self._bars for bar in level]
        left, _ = margin_widths(all_bars, start, end, CELLS)
        beside = self._margins(all_bars, start, end)
        lines: list[str] = []
        previous = ""  # the line above, without colours
        for level, number in self._rows(start, end):
            row = self._paint(level, number, start, end)
            before, after = beside.get((level, number), ("", ""))
            before = " " * (left - cells(before)) + before
            text = f"{before}{row.text(False)}{after}".rstrip()
            idle = not text or (text == previous and set(text) <= {" ", _EDGE})
            if idle and not (level == 0 and number <= self._head_rows):  # only other panels need it
                continue
            previous = text
            lines.append(f"{before}{row.text(color)}{after}".rstrip())
        return lines

    def _margins(self, all_bars: list[Bar], start: int, end: int) -> dict[tuple[int, int], tuple[str, str]]:
        """What stands left and right of the rows of branches."""
        found: dict[tuple[int, int], tuple[str, str]] = {}
        for bar in all_bars:
            before, after = bar.margins(start, end)
            place = self._roof_row if bar.is_roof else (self.drawn.shape.level[bar.node], self._label_rows)
            left, right = found.get(place, ("", ""))  # one branch from the left, and another one to the right
            if before is not None:
                left += f"{before.label} {_CONTINUED}" if before.label else _CONTINUED
            if after is not None:
                right += f"{_CONTINUED} {after.label}" if after.label else _CONTINUED
            found[place] = left, right
        return found

    def _rows(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The rows of a panel from top to bottom; of levels on which it has nothing but passing edges, one in a row."""
        axes, idle = self.drawn.axes, False
        for level in range(self.drawn.shape.height, 0, -1):
            here = any(start <= axes[node] < end for node in self.drawn.shape.rows[level])
            if here or any(bar.low < end and bar.high >= start for bar in self._bars[level]):
                yield from ((level, number) for number in range(self._label_rows + 1))
                idle = False
            elif not idle:
                yield level, 0
                idle = True
        height = self._head_rows + max(len(foot.lines) for foot in self.drawn.feet)
        yield from ((0, number) for number in range(height))

    def _paint(self, level: int, number: int, start: int, end: int) -> Row:
        row, drawn = Row(start, end), self.drawn
        for element in drawn.shape.rows[level]:
            if start <= drawn.axes[element] < end and number < len(drawn.heads[element]):
                self._paint_head(row, element, drawn.heads[element][number])
        if level == 0:
            for foot in drawn.feet if number >= self._head_rows else ():
                middle = drawn.middle(foot)
                if start <= middle < end and number - self._head_rows < len(foot.lines):
                    line = foot.lines[number - self._head_rows]
                    first = middle - max(cells(line.text) - 1, 0) // 2  # a word may be nothing but combining marks
                    row.put(first, line.text, "quiet" if line.role == GLOSS else None)
        elif number == self._label_rows:
            for node in drawn.shape.rows[level]:
                if node not in drawn.shape.roofs:
                    self._paint_branches(row, node)
        for roof in drawn.shape.roofs:
            self._paint_roof(row, roof, (level, number))
        passing, place = self._passing[level], drawn.axes.__getitem__
        for element in passing[bisect_left(passing, start, key=place) : bisect_left(passing, end, key=place)]:
            row.put(place(element), _EDGE, self._style(drawn.shape.parent[element]))  # last: they stand in front
        return row

    def _paint_head(self, row: Row, element: int, line: Line) -> None:
        drawn, parent = self.drawn, self.drawn.shape.parent[element]
        style = self._style(element)
        if line.role == TAG:
            style = drawn.marks.get(element, "quiet")
        elif line.role == FUNCTION:
            style = "quiet"
        goes_on = line.role == FUNCTION or element >= drawn.shape.n
        if not line.text and goes_on and parent >= 0 and parent not in drawn.shape.roofs:
            row.put(drawn.axes[element], _EDGE, self._style(parent))  # the edge goes on
        row.put(drawn.axes[element] - (cells(line.text) - 1) // 2, line.text, style)

    def _paint_branches(self, row: Row, node: int) -> None:
        """The row below a label: a stem up, a bar, and a way down to every child."""
        drawn = self.drawn
        low, high = drawn.bar(node)
        directions = dict.fromkeys(range(low, high + 1), _LEFT | _RIGHT)
        directions[low] &= ~_LEFT
        directions[high] &= ~_RIGHT
        directions[drawn.axes[node]] |= _UP
        for child in drawn.shape.children[node]:
            directions[drawn.axes[child]] |= _DOWN
        glyphs = _HEAVY if drawn.shape.discontinuous[node] else _LIGHT
        row.put(low, "".join(glyphs[directions[column]] for column in range(low, high + 1)), self._style(node))

    def _paint_roof(self, row: Row, node: int, place: tuple[int, int]) -> None:
        """`╱──┴──╲` right above the words, and a stem from the label down to it."""
        drawn = self.drawn
        axis, (low, high) = drawn.axes[node], drawn.bar(node)
        if place == self._roof_row:
            glyphs = ["╱", *"─" * (high - low - 1), "╲"] if low < high else [_EDGE]
            if low < axis < high:
                glyphs[axis - low] = "┴"
            row.put(low, "".join(glyphs), self._style(node))
        elif place == (drawn.shape.level[node], self._label_rows) or (place[0] == 0 and place[1] < self._head_rows - 1):
            row.put(axis, _EDGE, self._style(node))

    def _style(self, node: int) -> str | None:
        """Of the label and the branches of a node."""
        return emphasis(self.drawn, self._hues, node)
