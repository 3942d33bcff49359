"""Trees as SVG: self-contained, without scripts, scalable, and readable where edges cross."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape

from discoparse.drawing.compare import SIGNS
from discoparse.drawing.options import Options
from discoparse.drawing.picture import FUNCTION, GLOSS, LABEL, TAG
from discoparse.drawing.placing import place
from discoparse.drawing.sheet import COLOURS, PIXELS, PlacedEdge, PlacedTree, Point
from discoparse.files.widths import visible
from discoparse.tree import Tree

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_FONT_NAME = re.compile(r"[^\w .-]")  # what names of fonts do not have
_FLUID = 'style="max-width:100%;height:auto" '
_RADIUS = 5.0


@dataclass(frozen=True)
class Figure:
    """A finished picture that still has to be put on a page."""

    body: list[str]
    width: float
    height: float
    title: str


def draw_svg(tree: Tree, *, compare: Tree | None = None, **options: Any) -> str:
    """An SVG document; with `compare`, a predicted tree below the gold one, differences marked.

    `options` are those of `Options`; what is wider than `width` pixels goes on in further panels below.
    """
    wanted = Options(**options)
    return page([figure(tree, compare, wanted)], wanted)


def figure(tree: Tree, compare: Tree | None, options: Options, caption: str | None = None) -> Figure:
    """The picture of `draw_svg` for a `page`, with a caption above it if wanted."""
    picture = PIXELS.picture(tree, compare, options)
    placed, width, height = place(picture, PIXELS, options.style)
    body = [part for of_tree in placed for part in _tree(of_tree, options.highlight)]
    if picture.differences is not None and options.legend:
        body.append(_text(picture.differences.legend(), PIXELS.margin, height, TAG, "quiet", "start"))
        height += PIXELS.line(LABEL)
    if caption is not None:
        above = PIXELS.line(LABEL)
        body = [
            _text(caption, PIXELS.margin, above, TAG, "quiet", "start"),
            f'<g transform="translate(0 {_n(above)})">',
            *body,
            "</g>",
        ]
        height += above
    return Figure(body, width, height, visible(" ".join(tree.words)))


def page(figures: Sequence[Figure], options: Options, fluid: bool = True) -> str:
    """An SVG document with figures below each other; `fluid`: it shrinks to the width of the page that shows it."""
    scale = options.scale
    font = _FONT if options.font is None else f"'{_FONT_NAME.sub('', options.font)}', {_FONT}"
    width = max(f.width for f in figures)
    height = sum(f.height for f in figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width * scale)}" height="{_n(height * scale)}" '
        f'{_FLUID if fluid else ""}role="img" font-family="{font}" text-anchor="middle">',
        f"<title>{escape(' / '.join(f.title for f in figures))}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    y = 0.0
    for shown in figures:
        parts += [f'<g transform="translate(0 {_n(y)})">', *shown.body, "</g>"] if y else shown.body
        y += shown.height
    return "\n".join([*parts, "</svg>"])


def _tree(placed: PlacedTree, highlight: bool) -> list[str]:
    """Edges, then the stretches of edges that pass in front of others, then texts."""
    drawn = placed.drawn

    parts = []
    if drawn.caption is not None:
        y = placed.top - PIXELS.line(LABEL) / 2
        parts.append(_text(drawn.caption, PIXELS.margin, y, TAG, "quiet", "start"))
    parts.append('<g fill="none" stroke-width="1.3">')
    for node, edges in groupby(placed.edges, key=lambda edge: edge.parent):
        path = "".join(_path(edge.points) for edge in edges)  # one path, or shared stretches would look bolder
        parts.append(f'<path d="{path}" stroke="{_colour(placed.emphasis(node, highlight) or "edge")}"/>')
    for child, upper, lower in placed.bridges:
        line = f"M{_point(upper)}V{_n(lower[1])}"
        parts.append(f'<path d="{line}" stroke="#fff" stroke-width="6"/>')
        own = placed.emphasis(drawn.shape.parent[child], highlight) or "edge"
        parts.append(f'<path d="{line}" stroke="{_colour(own)}"/>')
    for roof in placed.roofs:
        parts.append(f'<path d="{_lines(roof.points)}" stroke="{_edge_colour(placed, roof, highlight)}"/>')
    for stub in placed.stubs:
        colour = _edge_colour(placed, stub, highlight)
        parts.append(f'<path d="{_lines(stub.points)}" stroke="{colour}" stroke-dasharray="2 2.5"/>')
    parts.append("</g>")
    for text in placed.texts:
        colour = "quiet" if text.role in (TAG, FUNCTION, GLOSS) else "ink"
        if text.role in (LABEL, TAG):
            colour = placed.emphasis(text.element, highlight) or colour
        parts.append(_text(text.text, text.x, text.y, text.role, colour))
    return parts


def _text(text: str, x: float, y: float, role: str, colour: str, anchor: str | None = None) -> str:
    """A text whose line has its middle at y."""
    size = PIXELS.fonts[role]
    style = f'font-size="{_n(size)}" fill="{_colour(colour)}"'
    if role == FUNCTION:
        style += ' font-style="italic"'
    if colour in SIGNS:
        style += ' font-weight="bold"'
    if anchor:
        style += f' text-anchor="{anchor}"'
    return f'<text x="{_n(x)}" y="{_n(y + size * 0.35)}" {style}>{escape(text)}</text>'


def _colour(name: str) -> str:
    return "#" + COLOURS[name].lower()


def _edge_colour(placed: PlacedTree, edge: PlacedEdge, highlight: bool) -> str:
    return _colour(placed.emphasis(edge.parent, highlight) or "edge")


def _lines(points: Sequence[Point]) -> str:
    """A line through `points`, closed if it ends where it begins."""
    closed = len(points) > 2 and points[0] == points[-1]
    return "M" + "L".join(map(_point, points[:-1] if closed else points)) + ("Z" if closed else "")


def _path(points: Sequence[Point]) -> str:
    """A line through `points` with rounded corners."""
    parts = [f"M{_point(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _towards(corner, before), _towards(corner, after)
        parts.append(f"L{_point(start)}Q{_point(corner)} {_point(end)}")
    parts.append(f"L{_point(points[-1])}")
    return "".join(parts)


def _towards(corner: Point, other: Point) -> Point:
    """Where the rounding of a corner begins on the way to `other`."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = (dx * dx + dy * dy) ** 0.5
    part = min(_RADIUS / length, 0.5) if length else 0.0
    return corner[0] + part * dx, corner[1] + part * dy


def _point(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(value: float) -> str:
    """A number as short as it can be.

    >>> _n(12.0), _n(1.26)
    ('12', '1.3')
    """
    return f"{value:.1f}".removesuffix(".0")
