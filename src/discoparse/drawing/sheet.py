"""Sizes and colours of pictures on paper, for SVG and TikZ alike, and what stands there. y grows downwards."""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.drawing.compare import DIFFERENT, MISSING, SPURIOUS
from discoparse.drawing.hues import emphasis
from discoparse.drawing.options import Options
from discoparse.drawing.panels import fit_to_width
from discoparse.drawing.picture import FUNCTION, GLOSS, LABEL, TAG, WORD, Drawn, Metric, Picture
from discoparse.files.widths import advance
from discoparse.tree import Tree

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
TENTHS = 10  # layouts count in tenths of a unit

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
    space: float  # between words under a roof
    dash: float  # of a branch that goes on in another panel
    narrowest: float  # piece of a word
    tallest: float  # way down that slanted edges may get to be steep enough

    def line(self, role: str) -> float:
        """Height of a line of text."""
        return self.fonts[role] * 1.25

    def metric(self) -> Metric:
        def width(text: str, role: str) -> int:
            return round(advance(text) * self.fonts[role] * TENTHS / 1000)

        gaps = (self.word_gap, self.label_gap, self.stem, self.space, self.dash, self.narrowest)
        return Metric(width, *(round(gap * TENTHS) for gap in gaps))

    def picture(self, tree: Tree, compare: Tree | None, options: Options) -> Picture:
        """A picture in these sizes, with panels where it would be wider than wanted."""
        limit = None if options.width is None else options.width / options.scale - 2 * self.margin
        return fit_to_width(tree, compare, options, self.metric(), None if limit is None else round(limit * TENTHS))


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
    """From a node down to a child, or to the margin of a panel, or from there: a line through points."""

    parent: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class PlacedTree:
    """Texts and edges of one tree, or of a part of it that is a panel."""

    drawn: Drawn
    texts: list[PlacedText]
    edges: list[PlacedEdge]
    bridges: list[tuple[int, Point, Point]]  # child, and upper and lower end of where its edge crosses others
    roofs: list[PlacedEdge]
    stubs: list[PlacedEdge]  # where branches go on in another panel
    top: float
    bottom: float
    hues: dict[int, int]  # of discontinuous nodes

    def emphasis(self, element: int, highlight: bool) -> str | None:
        """The name of the colour that sets an element and its branches off, if any."""
        return emphasis(self.drawn, self.hues, element, highlight)


PIXELS = Sizes(
    {LABEL: 15, TAG: 12, WORD: 16, FUNCTION: 11, GLOSS: 13},
    word_gap=10,
    label_gap=5,
    stem=10,
    drop=14,
    margin=12,
    space=5,
    dash=12,
    narrowest=80,
    tallest=90,
)
POINTS = Sizes(
    {LABEL: 10, TAG: 8, WORD: 10, FUNCTION: 7, GLOSS: 9},
    word_gap=6,
    label_gap=3,
    stem=7,
    drop=9,
    margin=6,
    space=3.3,
    dash=8,
    narrowest=50,
    tallest=58,
)
