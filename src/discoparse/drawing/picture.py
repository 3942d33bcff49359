"""A picture before it is painted, for text, SVG and TikZ alike: one or two trees, texts with places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from discoparse.drawing.compare import SIGNS, Differences
from discoparse.drawing.layout import Columns, Extent
from discoparse.drawing.options import Options
from discoparse.drawing.shape import Shape, shape_of
from discoparse.drawing.view import View, views_of
from discoparse.files.widths import visible
from discoparse.tree import Tree

# What a line of text is: measured, placed and painted accordingly.
FUNCTION, LABEL, TAG, WORD, GLOSS = "function", "label", "tag", "word", "gloss"

BreakWords = Callable[[str, str], list[str]]  # a text and its role to the lines that it takes


@dataclass(frozen=True)
class Metric:
    """How a kind of picture measures: width of a text in a role, and the room around words and labels."""

    width: Callable[[str, str], int]
    word_gap: int
    label_gap: int
    snap: int
    space: int  # between the words under a roof, and between a label at the margin and its branch
    dash: int  # length of the branch at the margin that goes on in another panel
    narrowest: int  # words are not broken into pieces shorter than this


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str
    role: str


@dataclass(frozen=True)
class Foot:
    """What is written under some tokens, mostly one: a word, perhaps in several lines, and its gloss."""

    first: int
    last: int
    lines: list[Line]


@dataclass(frozen=True)
class Drawn:
    """One tree with everything a painter needs, by element: texts, places, and marks of differences."""

    shape: Shape
    heads: list[list[Line]]  # label or tag of each element, below its function
    feet: list[Foot]  # from left to right
    extents: list[Extent]
    axes: list[int]
    marks: dict[int, str]
    caption: str | None = None

    def bar(self, node: int) -> tuple[int, int]:
        """Where the branches of a node begin and end: at its outermost children, or at the ends of their words."""
        children = self.shape.children[node]
        if node in self.shape.roofs:
            return self.left_edge(children[0]), self.right_edge(children[-1])
        axes = [self.axes[c] for c in children]
        return min(axes), max(axes)

    def left_edge(self, element: int) -> int:
        return self.axes[element] - self.extents[element][0]

    def right_edge(self, element: int) -> int:
        return self.axes[element] + self.extents[element][1]

    def middle(self, foot: Foot) -> int:
        """The axis of a word."""
        if foot.first == foot.last:
            return self.axes[foot.first]
        return (self.left_edge(foot.first) + self.right_edge(foot.last)) // 2

    def crossings(self, node: int) -> list[int]:
        """The elements whose edges pass through the branches of a node."""
        low, high = self.bar(node)
        return [e for e in self.shape.passing[self.shape.level[node]] if low < self.axes[e] < high]

    def owner(self, element: int) -> int:
        """The element itself; of a part of a roof over a gap, the node above, whose label and colour it shares."""
        is_part = element in self.shape.roofs and not self.shape.nodes[element - self.shape.n].label
        return self.shape.parent[element] if is_part else element

    def name(self, node: int) -> str:
        """The label of a node, or of the one whose part it is, as it is written."""
        return self.heads[self.owner(node)][-1].text


@dataclass(frozen=True)
class Picture:
    """Trees that share the columns of their words; `width` units wide, nothing to the left of 0."""

    drawn: list[Drawn]
    walls: list[int]
    width: int
    differences: Differences | None = None


def compose(
    tree: Tree,
    compare: Tree | None,
    options: Options,
    metric: Metric,
    cuts: Collection[int] = (),
    break_words: BreakWords = lambda text, role: [text],
) -> Picture:
    """Place everything. The picture will be cut before the tokens `cuts`, so no label may stand there."""
    views, differences = views_of(tree, compare, options)
    shapes = [shape_of(view) for view in views]
    marks: list[dict[int, str]] = [{} for _ in views]
    if differences is not None:
        for k, found in enumerate((differences.gold, differences.predicted)):
            numbers = {node: shapes[k].n + j for j, node in enumerate(shapes[k].nodes)}
            marks[k] = {e if isinstance(e, int) else numbers[e]: mark for e, mark in found.items()}
    heads = [_heads(*arguments, options) for arguments in zip(views, shapes, marks, strict=True)]
    feet = [_feet(view, break_words) for view in views]
    extents = [_extents(h, f, metric) for h, f in zip(heads, feet, strict=True)]
    n = shapes[0].n
    tokens = [
        (max(left for left, _ in same), max(right for _, right in same))
        for same in zip(*(e[:n] for e in extents), strict=True)
    ]
    gaps = [max(same) for same in zip(*(_gaps(s, f, metric) for s, f in zip(shapes, feet, strict=True)), strict=True)]
    columns = Columns(tokens, gaps, metric.label_gap, metric.snap, sorted(cuts))
    axes = [columns.add(shape, e) for shape, e in zip(shapes, extents, strict=True)]
    for shape, a, e in zip(shapes, axes, extents, strict=True):
        columns.relax(shape, a, e)
    left = min(x - reach[0] for a, e in zip(axes, extents, strict=True) for x, reach in zip(a, e, strict=True))
    right = max(x + reach[1] for a, e in zip(axes, extents, strict=True) for x, reach in zip(a, e, strict=True))
    axes = [[x - left for x in a] for a in axes]
    captions: Sequence[str | None] = (None,) if compare is None else ("gold", "predicted")
    drawn = [Drawn(*parts) for parts in zip(shapes, heads, feet, extents, axes, marks, captions, strict=True)]
    return Picture(drawn, [wall - left for wall in columns.walls], right - left + 1, differences)


def _heads(view: View, shape: Shape, marks: dict[int, str], options: Options) -> list[list[Line]]:
    """Function and tag or label of every element, from top to bottom."""
    heads = []
    tags = options.tags or any(element < shape.n for element in marks)
    for i, token in enumerate(view.tree.tokens):
        lines = [Line(visible(token.edge or ""), FUNCTION)] if options.functions else []
        heads.append([*lines, Line(_marked(token.tag, marks.get(i)), TAG)] if tags else lines)
    for k, node in enumerate(shape.nodes):
        lines = [Line(visible(node.edge or ""), FUNCTION)] if options.functions else []
        heads.append([*lines, Line(_marked(node.label, marks.get(shape.n + k)), LABEL)])
    return heads


def _feet(view: View, break_words: BreakWords) -> list[Foot]:
    """The words, broken into lines, and their glosses, which all begin on the same line."""
    broken = [break_words(visible(word.text), WORD) for word in view.words]
    height = max(map(len, broken))
    feet = []
    for word, pieces in zip(view.words, broken, strict=True):
        lines = [Line(piece, WORD) for piece in pieces]
        if word.gloss is not None:
            lines += [Line("", WORD)] * (height - len(pieces))
            lines += [Line(piece, GLOSS) for piece in break_words(visible(word.gloss), GLOSS)]
        feet.append(Foot(word.first, word.last, lines))
    return feet


def _marked(label: str, mark: str | None) -> str:
    return visible(label) if mark is None else SIGNS[mark] + visible(label)


def _extents(heads: list[list[Line]], feet: list[Foot], metric: Metric) -> list[Extent]:
    """How far the centred texts of every element reach to both sides of its axis, which takes one unit itself."""

    def width(lines: list[Line]) -> int:
        return max((metric.width(line.text, line.role) for line in lines), default=0)

    widths = [max(1, width(lines)) for lines in heads]
    for foot in feet:
        whole, parts = width(foot.lines), foot.last - foot.first + 1
        for k in range(parts):
            widths[foot.first + k] = max(widths[foot.first + k], whole * (k + 1) // parts - whole * k // parts)
    return [((width - 1) // 2, width // 2) for width in widths]


def _gaps(shape: Shape, feet: list[Foot], metric: Metric) -> list[int]:
    """The room after each token: little in one word and under a roof, none if its words are one line."""
    gaps = [metric.word_gap] * shape.n
    together = [*((shape.children[roof][0], shape.children[roof][-1]) for roof in shape.roofs)]
    together += ((foot.first, foot.last) for foot in feet)
    for first, last in together:
        gaps[first:last] = [metric.space] * (last - first)
    for foot in feet:
        if shape.parent[foot.first] in shape.roofs:
            gaps[foot.first : foot.last] = [0] * (foot.last - foot.first)
    return gaps
