"""The horizontal half of a layout: where words and labels stand, so that no label touches anything else.

Levels are filled from the bottom. A label goes as near to the middle of its children as the labels and the
passing edges of its level allow; where there is no room between them, everything to the right moves aside.
Moving things apart never makes two of them meet, so the result is free of overlaps by construction. A last
sweep moves labels back towards the middle of their children. All coordinates are integers: cells of a
terminal, or units on paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from discoparse.drawing.shape import Shape

Extent = tuple[int, int]  # how far a box reaches to the left and to the right of its axis
FAR = 1 << 40
_SWEEPS = 3


class Obstacle(NamedTuple):
    """A label or an edge on the level of another label."""

    axis: int
    start: int
    end: int


@dataclass
class Columns:
    """What all trees of a picture share: the axes of the words, and walls where the picture will be cut."""

    tokens: list[Extent]
    gaps: list[int]  # free room after each token
    label_gap: int  # free room left and right of a label
    snap: int = 0  # a label stands over an inner child this near to the middle, which saves a jog in the edge
    cuts: Sequence[int] = ()  # a wall stands before each of these tokens
    walls: list[int] = field(default_factory=list)
    placed: list[list[int]] = field(default_factory=list)  # axes of the elements of each tree

    def __post_init__(self) -> None:
        start: list[int] = []
        edge = 0
        for i, (left, right) in enumerate(self.tokens):
            if i in self.cuts:
                self.walls.append(edge)
                edge += 1 + self.label_gap
            start.append(edge + left)
            edge = start[-1] + right + 1 + self.gaps[i]
        self.placed.append(start)

    def add(self, shape: Shape, extents: Sequence[Extent]) -> list[int]:
        """Place the nodes of a tree; the axes of all its elements, which later calls may still move apart."""
        axes = list(self.placed[0])
        self.placed.append(axes)
        for element in range(shape.n, len(shape.level)):
            axes.append(self._make_room(element, shape, axes, extents))
        return axes

    def relax(self, shape: Shape, axes: list[int], extents: Sequence[Extent]) -> None:
        """Move labels towards the middle of their children as far as nothing is in the way."""
        for _ in range(_SWEEPS):
            for element in range(shape.n, len(shape.level)):
                if len(shape.children[element]) > 1:
                    self._centre(element, shape, axes, extents)

    def _make_room(self, element: int, shape: Shape, axes: list[int], extents: Sequence[Extent]) -> int:
        """The axis for a label, after moving things aside if need be."""
        left, right = (reach + self.label_gap + 1 for reach in extents[element])
        low, high, ideal = self._wish(element, shape, axes, extents)
        # Cost, axis, the obstacle on the left, room to add after it, and on the right.
        best = (FAR, 0, 0, 0, 0)
        for a, b in pairwise(self._obstacles(element, shape, axes, extents, low, high)):
            first, last = max(low, a.end + left), min(high, b.start - right)
            if first <= last:
                axis = min(max(ideal, first), last)
                best = min(best, (abs(axis - ideal), axis, a.axis, 0, 0))
            elif max(low, a.axis + 1) <= min(high, b.axis - 1):
                axis = min(max(ideal, low, a.axis + 1), high, b.axis - 1)
                before, after = max(0, a.end + left - axis), max(0, axis + right - b.start)
                best = min(best, (3 * (before + after) + abs(axis - ideal), axis, a.axis, before, after))
        _, axis, wall, before, after = best
        self._move_right_of(wall, before)
        self._move_right_of(axis + before, after)
        return axis + before

    def _wish(self, element: int, shape: Shape, axes: list[int], extents: Sequence[Extent]) -> tuple[int, int, int]:
        """Axes of the leftmost and of the rightmost child, and where between them the label should be."""
        children = sorted(axes[c] for c in shape.children[element])
        if element in shape.roofs:  # in the middle of the words
            first, last = shape.children[element][0], shape.children[element][-1]
            return children[0], children[-1], (axes[first] - extents[first][0] + axes[last] + extents[last][1]) // 2
        middle = (children[0] + children[-1]) // 2
        nearest = min(children[1:-1], key=lambda axis: abs(axis - middle), default=middle)
        return children[0], children[-1], nearest if abs(nearest - middle) <= self.snap else middle

    def _move_right_of(self, position: int, amount: int) -> None:
        if amount == 0:
            return
        for axes in (*self.placed, self.walls):
            for i, axis in enumerate(axes):
                if axis > position:
                    axes[i] = axis + amount

    def _obstacles(
        self, element: int, shape: Shape, axes: list[int], extents: Sequence[Extent], low: int, high: int
    ) -> list[Obstacle]:
        """What stands on the level of `element` apart from itself between `low` and `high`, from left to right, with
        the nearest on either side; where nothing is, the edge of the world."""
        level = shape.level[element]
        before, after = Obstacle(-FAR, -FAR, -FAR), Obstacle(FAR, FAR, FAR)
        found = []
        for axis in chain((axes[e] for e in shape.passing[level]), self.walls):
            if low < axis < high:
                found.append(Obstacle(axis, axis, axis))
            elif before.axis < axis <= low:
                before = Obstacle(axis, axis, axis)
            elif high <= axis < after.axis:
                after = Obstacle(axis, axis, axis)
        for other in shape.rows[level]:
            if other != element and other < len(axes):
                axis = axes[other]
                label = Obstacle(axis, axis - extents[other][0], axis + extents[other][1])
                if low < axis < high:
                    found.append(label)
                elif before.axis < axis <= low:
                    before = label
                elif high <= axis < after.axis:
                    after = label
        return [before, *sorted(found), after]

    def _centre(self, element: int, shape: Shape, axes: list[int], extents: Sequence[Extent]) -> None:
        """Move one label, with the unary nodes above it, to the free place that is nearest to its middle."""
        low, high, ideal = self._wish(element, shape, axes, extents)
        here = axes[element]
        if ideal == here:
            return
        chain = [element]
        while (top := shape.parent[chain[-1]]) >= 0 and len(shape.children[top]) == 1:
            chain.append(top)
        for member in chain:
            left, right = (reach + self.label_gap + 1 for reach in extents[member])
            a, b = self._obstacles(member, shape, axes, extents, here, here)
            low, high = max(low, a.end + left), min(high, b.start - right)
            above = shape.parent[member]
            for level in range(shape.level[member] + 1, shape.level[above] if above >= 0 else 0):
                for other in shape.rows[level]:  # the edge upwards stays on its side of labels that it passes
                    if axes[other] < here:
                        low = max(low, axes[other] + extents[other][1] + self.label_gap + 1)
                    else:
                        high = min(high, axes[other] - extents[other][0] - self.label_gap - 1)
        if top >= 0:
            siblings = [axes[c] for c in shape.children[top] if c != chain[-1]]
            if axes[top] < min(siblings):  # the parent stays between its first and its last child
                high = min(high, axes[top])
            if axes[top] > max(siblings):
                low = max(low, axes[top])
        if low <= high:
            axis = min(max(ideal, low), high)
            for member in chain:
                axes[member] = axis
