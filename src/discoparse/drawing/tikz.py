"""Trees as TikZ pictures, which need nothing but \\usepackage{tikz}."""

from __future__ import annotations

from typing import Any

from discoparse.drawing.latex import escape
from discoparse.drawing.options import Options
from discoparse.drawing.picture import FUNCTION, GLOSS, LABEL, TAG, WORD
from discoparse.drawing.placing import place
from discoparse.drawing.sheet import COLOURS, POINTS, PlacedTree, Point
from discoparse.tree import Tree

_FONTS = {
    LABEL: r"\normalsize",
    WORD: r"\normalsize",
    TAG: r"\footnotesize",
    FUNCTION: r"\scriptsize\itshape",
    GLOSS: r"\small",
}


def draw_tikz(tree: Tree, *, compare: Tree | None = None, **options: Any) -> str:
    """A tikzpicture environment; with `compare`, a predicted tree below the gold one, differences marked.

    `options` are those of `Options`; what is wider than `width` points goes on in further panels below.
    """
    return tikz_picture(tree, compare, Options(**options))


def tikz_picture(tree: Tree, compare: Tree | None, options: Options) -> str:
    """The picture of `draw_tikz`."""
    picture = POINTS.picture(tree, compare, options)
    placed, _, height = place(picture, POINTS, options.style)
    scale = "" if options.scale == 1 else f"scale={options.scale:.4f}, transform shape, "
    lines = [line for of_tree in placed for line in _tree(of_tree, options.highlight)]
    if picture.differences is not None and options.legend:
        lines.append(_node(picture.differences.legend(), POINTS.margin, height, TAG, "quiet", "base west"))
    body = "\n".join(lines)
    colours = [
        rf"  \definecolor{{disco{name}}}{{HTML}}{{{value}}}"
        for name, value in COLOURS.items()
        if f"disco{name}" in body
    ]
    begin = [
        rf"\begin{{tikzpicture}}[{scale}x=1pt, y=-1pt, line width=0.5pt,",
        "  every node/.style={inner sep=0pt, outer sep=0pt, anchor=base}]",
    ]
    return "\n".join([*begin, *colours, body, r"\end{tikzpicture}"])


def _tree(placed: PlacedTree, highlight: bool) -> list[str]:
    drawn = placed.drawn

    lines = []
    if drawn.caption is not None:
        y = placed.top - POINTS.line(LABEL) / 2
        lines.append(_node(drawn.caption, POINTS.margin, y, TAG, "quiet", "base west"))
    for edge in placed.edges:
        path = " -- ".join(map(_point, edge.points))
        lines.append(rf"  \draw[disco{placed.emphasis(edge.parent, highlight) or 'edge'}, rounded corners=3pt] {path};")
    for child, upper, lower in placed.bridges:
        path = f"{_point(upper)} -- {_point(lower)}"
        lines.append(rf"  \draw[white, line width=3pt] {path};")
        own = placed.emphasis(drawn.shape.parent[child], highlight) or "edge"
        lines.append(rf"  \draw[disco{own}] {path};")
    for roof in placed.roofs:
        closed = len(roof.points) > 2 and roof.points[0] == roof.points[-1]
        path = " -- ".join([*map(_point, roof.points[:-1]), "cycle" if closed else _point(roof.points[-1])])
        lines.append(rf"  \draw[disco{placed.emphasis(roof.parent, highlight) or 'edge'}] {path};")
    for stub in placed.stubs:
        path = " -- ".join(map(_point, stub.points))
        lines.append(rf"  \draw[disco{placed.emphasis(stub.parent, highlight) or 'edge'}, densely dotted] {path};")
    for text in placed.texts:
        colour = "quiet" if text.role in (TAG, FUNCTION, GLOSS) else "ink"
        if text.role in (LABEL, TAG):
            colour = placed.emphasis(text.element, highlight) or colour
        if text.text:
            lines.append(_node(text.text, text.x, text.y, text.role, colour))
    return lines


def _node(text: str, x: float, y: float, role: str, colour: str, anchor: str | None = None) -> str:
    """A text whose line has its middle at y."""
    baseline = y + POINTS.fonts[role] * 0.35
    options = f"text=disco{colour}, font={_FONTS[role]}" + (f", anchor={anchor}" if anchor else "")
    return rf"  \node[{options}] at {_point((x, baseline))} {{{escape(text)}}};"


def _point(point: Point) -> str:
    return f"({point[0]:.1f}, {point[1]:.1f})"
