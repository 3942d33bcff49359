"""Trees as TikZ pictures, which need nothing but \\usepackage{tikz}."""

from __future__ import annotations

from typing import Any

from discoparse.drawing.options import Options
from discoparse.drawing.picture import FUNCTION, LABEL, TAG, WORD, Content, compose
from discoparse.drawing.sheet import COLOURS, POINTS, PlacedTree, Point, place
from discoparse.tree import Tree

_FONTS = {
    LABEL: r"\normalsize",
    WORD: r"\normalsize",
    TAG: r"\footnotesize",
    FUNCTION: r"\scriptsize\itshape",
}
# Glyphs that TeX takes for commands, or that its default fonts (OT1) lack or turn into something else.
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "-": "{-}", "'": "{'}", "`": "{`}",
    "?": "{?}", "!": "{!}", ",": "{,}", "−": "$-$", "≠": r"$\neq$", "·": r"$\cdot$",
}  # fmt: skip


def draw_tikz(tree: Tree, *, compare: Tree | None = None, **options: Any) -> str:
    """A tikzpicture environment; with `compare`, a predicted tree below the gold one, differences marked.

    `options` are those of `Options`; `width` scales the picture, its text included, to that many points.
    """
    return tikz_picture(tree, compare, Options(**options))


def tikz_picture(tree: Tree, compare: Tree | None, options: Options) -> str:
    """The picture of `draw_tikz`."""
    picture = compose(tree, compare, Content(options.functions, options.tags), POINTS.metric())
    placed, natural_width, height = place(picture, POINTS, options.style)
    scale = "" if options.width is None else f"scale={options.width / natural_width:.4f}, transform shape, "
    lines = [line for of_tree in placed for line in _tree(of_tree, options.highlight)]
    if picture.differences is not None:
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


def standalone(pictures: list[str]) -> str:
    """A LaTeX document with one picture a page."""
    head = "\\documentclass[tikz, border=4pt]{standalone}\n\\usepackage[T1]{fontenc}\n\\begin{document}"
    return "\n".join([head, *pictures, r"\end{document}", ""])


def escape(text: str) -> str:
    """`text` so that TeX prints it as it is.

    >>> escape("50% of R&D_x")
    '50\\\\% of R\\\\&D\\\\_x'
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


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
    for text in placed.texts:
        colour = "quiet" if text.role in (TAG, FUNCTION) else "ink"
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
