"""A picture on paper, for SVG and TikZ alike: sizes, heights, colours, paths of edges. y grows downwards."""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.drawing.compare import DIFFERENT, MISSING, SPURIOUS
from discoparse.drawing.options import ELBOW
from discoparse.drawing.picture import FUNCTION, LABEL, TAG, WORD, Drawn, Metric, Picture
from discoparse.files.widths import advance

# Dark enough for print, apart for the colour-blind by their lightness or by the signs of differences.
COLOURS = {
    "ink": "111111",
    "quiet": "666666",
    "edge": "555555",
    "accent0": "1A5FB4",
    "accent1": "B35900",
    "accent2": "0B7A75",
    "accent3": "8A2B6D",
    MISSING: "C01C28",
    SPURIOUS: "26763A",
    DIFFERENT: "9141AC",
}
_ACCENTS = 4
_TENTHS = 10  # layouts count in tenths of a unit

Point = tuple[float, float]


@dataclass(frozen=True)
class Sizes:
    """Font sizes by role, and distances, in units."""

    fonts: dict[str, float]
    word_gap: float
    label_gap: float
    stem: float  # from a label down to its bar
    drop: float  # from a bar down to the next level
    margin: float

    def line(self, role: str) -> float:
        """Height of a line of text."""
        return self.fonts[role] * 1.25

    def metric(self) -> Metric:
        def width(text: str, role: str) -> int:
            return round(advance(text) * self.fonts[role] * _TENTHS / 1000)

        gaps = (round(gap * _TENTHS) for gap in (self.word_gap, self.label_gap, self.stem))
        return Metric(width, *gaps)


@dataclass(frozen=True)
class PlacedText:
    """A line of text, centred on x; `y` is the middle of the line."""

    text: str
    role: str
    x: float
    y: float
    element: int


@dataclass(frozen=True)
class PlacedEdge:
    """From a node down to a child: stem, bar and drop, or stem, slant and drop."""

    parent: int
    child: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class PlacedTree:
    """Texts and edges of one tree; `bridges` are stretches of edges that pass in front of other branches."""

    drawn: Drawn
    texts: list[PlacedText]
    edges: list[PlacedEdge]
    bridges: list[tuple[int, Point, Point]]  # child, upper end, lower end
    top: float
    bottom: float
    hues: dict[int, int]  # of discontinuous nodes

    def emphasis(self, element: int, highlight: bool) -> str | None:
        """The name of the colour that sets an element and its branches off, if any."""
        if self.drawn.caption is not None:  # in a comparison, colours show differences only
            return self.drawn.marks.get(element)
        return f"accent{self.hues[element] % _ACCENTS}" if highlight and element in self.hues else None


def place(picture: Picture, sizes: Sizes, style: str) -> tuple[list[PlacedTree], float, float]:
    """The trees of a picture below each other, and the width and the height of it all."""
    trees = []
    top = sizes.margin
    for drawn in picture.drawn:
        if drawn.caption is not None:
            top += sizes.line(LABEL)
        trees.append(_place_tree(drawn, sizes, style, top))
        top = trees[-1].bottom + 2 * sizes.margin
    width = picture.width / _TENTHS + 2 * sizes.margin
    return trees, width, trees[-1].bottom + sizes.margin


def _place_tree(drawn: Drawn, sizes: Sizes, style: str, top: float) -> PlacedTree:
    shape = drawn.shape
    box = sum(sizes.line(line.role) for line in drawn.boxes[-1])
    pitch = box + sizes.stem + sizes.drop

    def above(element: int) -> float:
        return top + (shape.height - shape.level[element]) * pitch

    def end_of_edge(element: int) -> float:  # goes on where no function stands above the label
        first = drawn.boxes[element][0]
        return above(element) + (0 if first.text or first.role != FUNCTION else sizes.line(FUNCTION))

    x = [axis / _TENTHS + sizes.margin for axis in drawn.axes]
    texts = []
    bottom = top
    for element, lines in enumerate(drawn.boxes):
        y = above(element)
        for line in lines:
            height = sizes.line(line.role)
            texts.append(PlacedText(line.text, line.role, x[element], y + height / 2, element))
            y += height
        bottom = max(bottom, y)
    edges = []
    bridges = []
    for node in range(shape.n, len(x)):
        start = above(node) + box
        bar, end = start + sizes.stem, start + sizes.stem + sizes.drop
        for child in shape.children[node]:
            ends = ((x[node], start), (x[child], end_of_edge(child)))
            bends = ((x[node], bar), (x[child], bar)) if style == ELBOW else ((x[child], end),)
            points = tuple(dict.fromkeys((ends[0], *bends, ends[1])))  # without bends where the way is straight
            edges.append(PlacedEdge(node, child, points))
        reach = sizes.stem * 0.45
        for other in drawn.crossings(node):
            if style == ELBOW:
                bridges.append((other, (x[other], bar - reach), (x[other], bar + reach)))
            else:
                bridges.append((other, (x[other], start), (x[other], end)))
    return PlacedTree(drawn, texts, edges, bridges, top, bottom, _hues(drawn))


def _hues(drawn: Drawn) -> dict[int, int]:
    """Numbers for discontinuous nodes such that crossing branches differ, and parent and child differ."""
    shape = drawn.shape
    near: dict[int, set[int]] = {node: set() for node, gaps in enumerate(shape.discontinuous) if gaps}
    for node in near:
        for other in (shape.parent[node], *(shape.parent[element] for element in drawn.crossings(node))):
            if other in near:
                near[node].add(other)
                near[other].add(node)
    hues: dict[int, int] = {}
    for node in near:
        taken = {hues[other] for other in near[node] if other in hues}
        hues[node] = next(hue for hue in range(len(near)) if hue not in taken)
    return hues


PIXELS = Sizes({LABEL: 15, TAG: 12, WORD: 16, FUNCTION: 11}, word_gap=10, label_gap=5, stem=10, drop=14, margin=12)
POINTS = Sizes({LABEL: 10, TAG: 8, WORD: 10, FUNCTION: 7}, word_gap=6, label_gap=3, stem=7, drop=9, margin=6)
