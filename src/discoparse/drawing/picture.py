"""A picture before it is painted, for text, SVG and TikZ alike: one or two trees, texts with places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from discoparse.drawing.compare import SIGNS, Differences, compare_trees
from discoparse.drawing.layout import Columns, Extent
from discoparse.drawing.shape import Shape, shape_of
from discoparse.files.widths import visible
from discoparse.tree import Tree

# What a line of text in a box is: measured, placed and painted accordingly.
FUNCTION, LABEL, TAG, WORD = "function", "label", "tag", "word"


@dataclass(frozen=True)
class Content:
    """Which of the things that a treebank says are shown."""

    functions: bool = False
    tags: bool = True


@dataclass(frozen=True)
class Metric:
    """How a kind of picture measures: width of a text in a role, and the room around words and labels."""

    width: Callable[[str, str], int]
    word_gap: int
    label_gap: int
    snap: int


@dataclass(frozen=True)
class Line:
    """A line of text in a box."""

    text: str
    role: str


@dataclass(frozen=True)
class Drawn:
    """One tree with everything a painter needs: boxes, their axes, and marks of differences, by element."""

    shape: Shape
    boxes: list[list[Line]]
    axes: list[int]
    marks: dict[int, str]
    caption: str | None = None

    def bar(self, node: int) -> tuple[int, int]:
        """Axes of the leftmost and of the rightmost child of a node."""
        axes = [self.axes[c] for c in self.shape.children[node]]
        return min(axes), max(axes)

    def crossings(self, node: int) -> list[int]:
        """The elements whose edges pass through the branches of a node."""
        low, high = self.bar(node)
        return [e for e in self.shape.passing[self.shape.level[node]] if low < self.axes[e] < high]


@dataclass(frozen=True)
class Picture:
    """Trees that share the columns of their words; `width` units wide, nothing to the left of 0."""

    drawn: list[Drawn]
    extents: list[list[Extent]]
    walls: list[int]
    width: int
    differences: Differences | None = None


def compose(
    tree: Tree,
    compare: Tree | None,
    content: Content,
    metric: Metric,
    cuts: Collection[int] = (),
    break_words: Callable[[str], list[str]] = lambda word: [word],
) -> Picture:
    """Place everything. The picture will be cut before the tokens `cuts`, so no label may stand there."""
    differences = None if compare is None else compare_trees(tree, compare)
    trees = [tree] if compare is None else [tree, compare]
    shapes = [shape_of(t) for t in trees]
    marks: list[dict[int, str]] = [{} for _ in trees]
    if differences is not None:
        for k, found in enumerate((differences.gold, differences.predicted)):
            numbers = {node: shapes[k].n + j for j, node in enumerate(shapes[k].nodes)}
            marks[k] = {e if isinstance(e, int) else numbers[e]: mark for e, mark in found.items()}
    boxes = [_boxes(*arguments, content, break_words) for arguments in zip(trees, shapes, marks, strict=True)]
    extents = [[_extent(box, metric) for box in of_tree] for of_tree in boxes]
    tokens = [
        (max(left for left, _ in same), max(right for _, right in same))
        for same in zip(*(e[: len(tree)] for e in extents), strict=True)
    ]
    columns = Columns(tokens, metric.word_gap, metric.label_gap, metric.snap, sorted(cuts))
    axes = [columns.add(shape, e) for shape, e in zip(shapes, extents, strict=True)]
    for shape, a, e in zip(shapes, axes, extents, strict=True):
        columns.relax(shape, a, e)
    left = min(x - reach[0] for a, e in zip(axes, extents, strict=True) for x, reach in zip(a, e, strict=True))
    right = max(x + reach[1] for a, e in zip(axes, extents, strict=True) for x, reach in zip(a, e, strict=True))
    axes = [[x - left for x in a] for a in axes]
    captions: Sequence[str | None] = (None,) if compare is None else ("gold", "predicted")
    drawn = [Drawn(*parts) for parts in zip(shapes, boxes, axes, marks, captions, strict=True)]
    return Picture(drawn, extents, [wall - left for wall in columns.walls], right - left + 1, differences)


def _boxes(
    tree: Tree, shape: Shape, marks: dict[int, str], content: Content, break_words: Callable[[str], list[str]]
) -> list[list[Line]]:
    """The lines of text of every element, from top to bottom."""
    boxes = []
    tags = content.tags or any(element < shape.n for element in marks)
    for i, token in enumerate(tree.tokens):
        lines = [Line(visible(token.edge or ""), FUNCTION)] if content.functions else []
        if tags:
            lines.append(Line(_marked(token.tag, marks.get(i)), TAG))
        boxes.append(lines + [Line(piece, WORD) for piece in break_words(visible(token.word))])
    for k, node in enumerate(shape.nodes):
        lines = [Line(visible(node.edge or ""), FUNCTION)] if content.functions else []
        boxes.append([*lines, Line(_marked(node.label, marks.get(shape.n + k)), LABEL)])
    return boxes


def _marked(label: str, mark: str | None) -> str:
    return visible(label) if mark is None else SIGNS[mark] + visible(label)


def _extent(box: list[Line], metric: Metric) -> Extent:
    """How far a centred box of text reaches to both sides of its axis, which takes one unit itself."""
    width = max(1, *(metric.width(line.text, line.role) for line in box))
    return (width - 1) // 2, width // 2
