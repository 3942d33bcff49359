"""Trees as text for the terminal, with box-drawing characters; long sentences go on in further panels below.

Branches of discontinuous nodes are heavy, and an edge that crosses branches stands in front of them: `━│━` is
a crossing, while `┬`, `┴` and `┼` always belong to one node.
"""

from __future__ import annotations

from typing import Any

from discoparse.drawing.canvas import Canvas
from discoparse.drawing.options import Options
from discoparse.drawing.panels import Bar, bars, fit_to_width, margin_widths, panel_ranges
from discoparse.drawing.picture import FUNCTION, LABEL, TAG, Content, Drawn
from discoparse.files.widths import cells
from discoparse.tree import Tree

# Glyphs by the directions in which branches leave a cell: up 1, down 2, left 4, right 8.
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LIGHT = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
_HEAVY = " ╵╷│╸┙┑┥╺┕┍┝━┷┯┿"


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
    picture = fit_to_width(tree, compare, Content(options.functions, options.tags), options.width)
    painted = [(_paint(drawn, picture.width), bars(drawn)) for drawn in picture.drawn]
    blocks = []
    for start, end in panel_ranges(picture):
        lines = []
        for drawn, (canvas, branches) in zip(picture.drawn, painted, strict=True):
            if drawn.caption is not None:
                lines.append(f"{drawn.caption}:")
            lines += _cut_out(drawn, canvas, branches, start, end, options.color)
        blocks.append("\n".join(lines))
    if picture.differences is not None:
        blocks.append(picture.differences.legend())
    return "\n\n".join(blocks)


def _label_lines(drawn: Drawn) -> int:
    """Lines of text that each level of nodes takes."""
    return len(drawn.boxes[-1])


def _label_row(drawn: Drawn, level: int) -> int:
    """The first row of a level; the row of branches lies below its labels."""
    return (drawn.shape.height - level) * (_label_lines(drawn) + 1)


def _bar_row(drawn: Drawn, level: int) -> int:
    return _label_row(drawn, level) + _label_lines(drawn)


def _paint(drawn: Drawn, width: int) -> Canvas:
    """The whole tree on one canvas."""
    shape, axes = drawn.shape, drawn.axes
    rows = _label_row(drawn, 0) + max(len(box) for box in drawn.boxes[: shape.n])
    canvas = Canvas(width, rows)
    for element, box in enumerate(drawn.boxes):
        for row, line in enumerate(box, _label_row(drawn, shape.level[element])):
            style = "quiet" if line.role in (FUNCTION, TAG) else None
            if line.role == LABEL:
                style = _style(drawn, element)
            elif line.role == TAG:
                style = drawn.marks.get(element, style)
            if line.role == FUNCTION and not line.text and shape.parent[element] >= 0:
                canvas.put(row, axes[element], "│", _style(drawn, shape.parent[element]))  # the edge goes on
            canvas.put(row, axes[element] - (cells(line.text) - 1) // 2, line.text, style)
    for node in range(shape.n, len(axes)):
        _paint_branches(canvas, drawn, node)
    for level in range(1, shape.height + 1):
        for element in shape.passing[level]:  # last, so that they stand in front
            for row in range(_label_row(drawn, level), _bar_row(drawn, level) + 1):
                canvas.put(row, axes[element], "│", _style(drawn, shape.parent[element]))
    return canvas


def _paint_branches(canvas: Canvas, drawn: Drawn, node: int) -> None:
    """The row below a label: a stem up, a bar, and a way down to every child."""
    low, high = drawn.bar(node)
    directions = dict.fromkeys(range(low, high + 1), _LEFT | _RIGHT)
    directions[low] &= ~_LEFT
    directions[high] &= ~_RIGHT
    directions[drawn.axes[node]] |= _UP
    for child in drawn.shape.children[node]:
        directions[drawn.axes[child]] |= _DOWN
    glyphs = _HEAVY if drawn.shape.discontinuous[node] else _LIGHT
    text = "".join(glyphs[directions[column]] for column in range(low, high + 1))
    canvas.put(_bar_row(drawn, drawn.shape.level[node]), low, text, _style(drawn, node))


def _style(drawn: Drawn, node: int) -> str | None:
    """Of the label and the branches of a node."""
    if drawn.caption is not None:  # in a comparison, colours show differences only
        return drawn.marks.get(node)
    return "discontinuous" if drawn.shape.discontinuous[node] else None


def _cut_out(drawn: Drawn, canvas: Canvas, branches: list[Bar], start: int, end: int, color: bool) -> list[str]:
    """The lines of one panel, with the labels of branches that come from elsewhere at the margins."""
    left, _ = margin_widths(branches, start, end)
    margins: dict[int, tuple[str, str]] = {}
    for bar in branches:
        row = _bar_row(drawn, bar.level)  # may have one branch from the left and another one to the right
        (left_text, right_text), (more_left, more_right) = margins.get(row, ("", "")), bar.margins(start, end)
        margins[row] = left_text + more_left, right_text + more_right
    words = _label_row(drawn, 0)
    further = words + min(len(box) for box in drawn.boxes[: drawn.shape.n])
    lines: list[str] = []
    previous = ""  # the line above, without colours
    for row in range(canvas.height):
        before, after = margins.get(row, ("", ""))
        before = " " * (left - cells(before)) + before
        text = f"{before}{canvas.line(row, start, end, False)}{after}".rstrip()
        idle = not text or (text == previous and set(text) <= {" ", "│"})
        if idle and not words <= row < further:  # a level, or lines of long words, that only other panels have
            continue
        previous = text
        lines.append(f"{before}{canvas.line(row, start, end, color)}{after}".rstrip())
    return lines
