"""From a picture to its places on a sheet: panels below each other, texts, ways of edges, roofs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discoparse.drawing.hues import hues
from discoparse.drawing.options import ELBOW
from discoparse.drawing.panels import Bar, Margin, bars, margin_widths, panel_ranges
from discoparse.drawing.picture import FUNCTION, LABEL, Drawn, Line, Metric, Picture
from discoparse.drawing.sheet import TENTHS, PlacedEdge, PlacedText, PlacedTree, Point, Sizes
from discoparse.drawing.slanted import Box, Router, way_down

_PASSES = 2  # of slanted edges, until they are steep enough


def place(picture: Picture, sizes: Sizes, style: str) -> tuple[list[PlacedTree], float, float]:
    """The trees of a picture below each other, panel by panel, and the width and the height of it all."""
    placed: list[PlacedTree] = []
    metric = sizes.metric()
    all_bars = [bars(drawn) for drawn in picture.drawn]
    all_hues = [hues(drawn) for drawn in picture.drawn]
    top, width = sizes.margin, 0
    for start, end in panel_ranges(picture):
        margins = [margin_widths(of_tree, start, end, metric) for of_tree in all_bars]
        left, right = max(left for left, _ in margins), max(right for _, right in margins)
        width = max(width, left + end - start + right)
        for drawn, of_tree, colours in zip(picture.drawn, all_bars, all_hues, strict=True):
            if drawn.caption is not None:
                top += sizes.line(LABEL)
            panel = _Panel(drawn, of_tree, sizes, metric, style, start, end)
            placed.append(panel.placed(left, top, colours))
            top = placed[-1].bottom + 2 * sizes.margin
        top += sizes.line(LABEL)
    return placed, width / TENTHS + 2 * sizes.margin, placed[-1].bottom + sizes.margin


class _Panel:
    """The columns of a tree from `start` to `end`, or all of them."""

    def __init__(
        self, drawn: Drawn, of_tree: Sequence[Bar], sizes: Sizes, metric: Metric, style: str, start: int, end: int
    ) -> None:
        self.drawn, self.sizes, self.metric, self.style = drawn, sizes, metric, style
        self.start, self.end = start, end
        self.bars = {bar.node: bar for bar in of_tree if bar.low < end and bar.high >= start}
        self.inside = [start <= axis < end for axis in drawn.axes]
        self.nodes = [k for k in range(drawn.shape.n, len(drawn.axes)) if self.inside[k] or k in self.bars]
        labelled = {drawn.shape.level[node] for node in self.nodes if self.inside[node]}
        self.head_height = self._height(drawn.heads[0])
        # Of the levels that have something here: the height of their labels, and the way down to the next one.
        levels = {drawn.shape.level[node] for node in self.nodes}
        self.label_heights = {k: self._height(drawn.heads[-1]) if k in labelled else 0.0 for k in levels}
        self.ways_down = dict.fromkeys(levels, sizes.stem + sizes.drop)

    def _height(self, lines: Sequence[Line]) -> float:
        return sum(self.sizes.line(line.role) for line in lines)

    def placed(self, left: int, top: float, colours: dict[int, int]) -> PlacedTree:
        """The panel with its labels at the left margin, which takes `left`, from `top` downwards."""
        self.shift = self.sizes.margin - (self.start - left) / TENTHS
        parents = [node for node in self.nodes if node not in self.drawn.shape.roofs]
        self._set_levels(top)
        edges = list(self._elbows(parents) if self.style == ELBOW else self._slants(parents))
        if self.style != ELBOW:
            for _ in range(_PASSES):  # steeper where the first ways are too flat, which may open better ways
                self._make_steeper(edges)
                self._set_levels(top)
                edges = list(self._slants(parents))
        texts = list(self._texts())
        bottom = max(text.y + self.sizes.line(text.role) / 2 for text in texts)
        bridges = list(self._bridges(parents)) if self.style == ELBOW else []
        roofs = [edge for node in self.nodes if node in self.drawn.shape.roofs for edge in self._roof(node)]
        stubs: list[PlacedEdge] = []
        for node, bar in self.bars.items():
            for margin, side in zip(bar.margins(self.start, self.end), (-1, 1), strict=True):
                if margin is not None:
                    stub, label = self._stub(node, margin, side)
                    stubs.append(stub)
                    texts += label
        return PlacedTree(self.drawn, texts, edges, bridges, roofs, stubs, top, bottom, colours)

    def _set_levels(self, top: float) -> None:
        """Say where each level begins."""
        self.above = {}
        y = top
        for level in sorted(self.ways_down, reverse=True):
            self.above[level] = y
            y += self.label_heights[level] + self.ways_down[level]
        self.above[0] = y

    def _make_steeper(self, edges: Sequence[PlacedEdge]) -> None:
        """Give slanted edges more room on the level of their node where they are too flat."""
        runs: dict[int, list[float]] = {level: [] for level in self.ways_down}
        for edge in edges:
            level, ((x1, _), (x2, y2), *_) = self.drawn.shape.level[edge.parent], edge.points
            passed = sum(self.above[level] < y <= y2 for y in self.above.values())
            runs[level].append((x2 - x1) / max(1, passed))
        for level, of_level in runs.items():
            self.ways_down[level] = max(self.ways_down[level], way_down(of_level, self.sizes.tallest))

    def _x(self, column: int) -> float:
        return column / TENTHS + self.shift

    def _texts(self) -> Iterator[PlacedText]:
        drawn = self.drawn
        feet = {foot.first: foot for foot in drawn.feet}
        for element, axis in enumerate(drawn.axes):
            if self.inside[element]:
                y = self.above[drawn.shape.level[element]]
                yield from self._lines(drawn.heads[element], self._x(axis), y, element)
            if element in feet and self.start <= drawn.middle(feet[element]) < self.end:
                y = self.above[0] + self.head_height
                yield from self._lines(feet[element].lines, self._x(drawn.middle(feet[element])), y, element)

    def _lines(self, lines: Sequence[Line], x: float, y: float, element: int) -> Iterator[PlacedText]:
        for line in lines:
            height = self.sizes.line(line.role)
            yield PlacedText(line.text, line.role, x, y + height / 2, element)
            y += height

    # -- edges --------------------------------------------------------------------------------------------------

    def _begin(self, node: int) -> float:
        """Where the branches of a node begin, below its label."""
        level = self.drawn.shape.level[node]
        return self.above[level] + self.label_heights[level]

    def _bar_y(self, node: int) -> float:
        if self.style == ELBOW:
            return self._begin(node) + self.sizes.stem
        return self._begin(node) + self.ways_down[self.drawn.shape.level[node]] / 2

    def _end(self, element: int) -> Point:
        """Where the edge to an element ends, which goes on where no function, or no label, is written."""
        drawn, y = self.drawn, self.above[self.drawn.shape.level[element]]
        for line in drawn.heads[element]:
            if line.text or (line.role != FUNCTION and element < drawn.shape.n):
                break
            y += self.sizes.line(line.role)
        return self._x(drawn.axes[element]), y

    def _origin(self, node: int) -> Point:
        """Where the branches of a node come from: its label, or the margin on whose side the label is."""
        if self.inside[node]:
            return self._x(self.drawn.axes[node]), self._begin(node)
        return self._x(self.start if self.drawn.axes[node] < self.start else self.end), self._bar_y(node)

    def _exits(self, node: int) -> Iterator[Point]:
        """The margins through which branches of a node leave the panel, but not the one from which they come."""
        if node in self.bars:
            sides = zip(self.bars[node].margins(self.start, self.end), (self.start, self.end), strict=True)
            for margin, column in sides:
                if margin is not None and (self._x(column), self._bar_y(node)) != self._origin(node):
                    yield self._x(column), self._bar_y(node)

    def _elbows(self, parents: Sequence[int]) -> Iterator[PlacedEdge]:
        """Stem, bar and drop to every child, without bends where the way is straight."""
        for node in parents:
            start, bar = self._origin(node), self._bar_y(node)
            ends = [self._end(child) for child in self.drawn.shape.children[node] if self.inside[child]]
            for end in (*ends, *self._exits(node)):
                yield PlacedEdge(node, tuple(dict.fromkeys((start, (start[0], bar), (end[0], bar), end))))

    def _bridges(self, parents: Sequence[int]) -> Iterator[tuple[int, Point, Point]]:
        reach = self.sizes.stem * 0.45
        for node in parents:
            x, bar = self._x, self._bar_y(node)
            for other in self.drawn.crossings(node):
                if self.inside[other]:
                    axis = x(self.drawn.axes[other])
                    yield other, (axis, bar - reach), (axis, bar + reach)

    def _slants(self, parents: Sequence[int]) -> Iterator[PlacedEdge]:
        """Straight lines; see `slanted`."""
        drawn, shape = self.drawn, self.drawn.shape
        labels = (self._label_box(node) for node in self.nodes if self.inside[node])
        router = Router(labels, apart=self.sizes.label_gap)
        crossed = {node: set(drawn.crossings(node)) for node in self.nodes}
        for node in parents:
            start, level = self._origin(node), shape.level[node]
            children = [child for child in shape.children[node] if self.inside[child]]
            for child in sorted(children, key=lambda c: abs(self._x(drawn.axes[c]) - start[0])):
                x = self._x(drawn.axes[child])
                ends = [(x, self.above[k]) for k in sorted(self.above) if shape.level[child] <= k < level]
                way = router.route(node, start, ends, lambda other, c=child: c in crossed[other])  # type: ignore[misc]
                yield PlacedEdge(node, tuple(dict.fromkeys((*way, self._end(child)))))
            for end in self._exits(node):
                router.keep(node, (start, end))
                yield PlacedEdge(node, (start, end))

    def _label_box(self, node: int) -> Box:
        """The place of a label, with free room on both sides; an edge may end right above it and begin right below."""
        gap, drawn = self.sizes.label_gap, self.drawn
        left, right = self._x(drawn.left_edge(node)) - gap, self._x(drawn.right_edge(node)) + gap
        return Box(left, self.above[drawn.shape.level[node]], right, self._begin(node))

    # -- roofs and margins --------------------------------------------------------------------------------------

    def _roof(self, node: int) -> Iterator[PlacedEdge]:
        """A triangle, or those parts of it that are in the panel."""
        low, high = self.drawn.bar(node)
        base = self.above[0] + self.head_height
        apex = (self._x(self.drawn.axes[node]), self._begin(node))
        corners = (self._x(low), base), (self._x(high), base)
        if self.start <= low and high < self.end:
            yield PlacedEdge(node, (apex, *corners, apex))
            return
        for one, other in ((apex, corners[0]), (apex, corners[1]), corners):
            points = _clipped(one, other, self._x(self.start), self._x(self.end))
            if points:
                yield PlacedEdge(node, points)

    def _stub(self, node: int, margin: Margin, side: int) -> tuple[PlacedEdge, list[PlacedText]]:
        """A branch that goes on in another panel, with the label of its node if that is elsewhere."""
        x, y = self._x(self.start if side < 0 else self.end), self._bar_y(node)
        if node in self.drawn.shape.roofs:
            y = self.above[0] + self.head_height
        end = x + side * self.sizes.dash
        label = []
        if margin.label:
            away = self.sizes.space + self.metric.width(margin.label, LABEL) / TENTHS / 2
            label.append(PlacedText(margin.label, LABEL, end + side * away, y, node))
        return PlacedEdge(node, ((x, y), (end, y))), label


def _clipped(one: Point, other: Point, left: float, right: float) -> tuple[Point, ...]:
    """The part of a line between two verticals; empty if there is none."""
    (x1, y1), (x2, y2) = sorted((one, other))
    if x2 < left or x1 > right:
        return ()
    low, high = max(x1, left), min(x2, right)
    slope = (y2 - y1) / (x2 - x1) if x2 > x1 else 0.0
    return (low, y1 + slope * (low - x1)), (high, y1 + slope * (high - x1))
