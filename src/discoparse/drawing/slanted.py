"""Straight slanted edges as in textbooks: from a label to each child, past other labels, crossing only what must cross.

Where a straight line to a child would touch another label or cross branches that do not cross in the tree, it goes
straight to a point above the child, as low as possible, and from there down. The lowest branches are drawn first, and
of one node the nearest child first. Then the steepest of these ways, which bends on the level below the node, is
always free: it crosses what the same branches cross with right angles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from discoparse.drawing.sheet import Point

Segment = tuple[Point, Point]
_STRIP = 50.0  # width of the parts of a sheet in which neighbours are looked for
_SLOPE = 0.3  # of the flattest branch, where there is room


class Box(NamedTuple):
    """The place of a label."""

    left: float
    top: float
    right: float
    bottom: float


class Router:
    """Finds ways for edges, lowest branches first, and remembers them."""

    def __init__(self, labels: Iterable[Box], apart: float) -> None:
        self._apart = apart  # how far edges of one node stay from each other's ends and bends
        self._boxes: dict[int, list[Box]] = defaultdict(list)  # by the strips of the sheet that they touch
        self._ways: dict[int, list[tuple[int, Segment]]] = defaultdict(list)  # node and segment, likewise
        for box in labels:
            for strip in _strips(box.left, box.right):
                self._boxes[strip].append(box)

    def route(
        self, node: int, start: Point, ends: Sequence[Point], may_cross: Callable[[int], bool]
    ) -> tuple[Point, ...]:
        """The way from a node, whose branches begin at `start`, to a child.

        `ends` has the child's place, then points above it on higher levels, in which the way may bend; the last one
        is always free. `may_cross` says of which nodes branches may be crossed.
        """
        place = next((end for end in ends[:-1] if self._is_free(node, (start, end), may_cross)), ends[-1])
        way = (start, place) if place == ends[0] else (start, place, ends[0])
        self.keep(node, way)
        return way

    def keep(self, node: int, way: Sequence[Point]) -> None:
        """Remember a way that later ones must not cross."""
        for segment in pairwise(way):
            for strip in _strips(segment[0][0], segment[1][0]):
                self._ways[strip].append((node, segment))

    def _is_free(self, node: int, line: Segment, may_cross: Callable[[int], bool]) -> bool:
        for strip in _strips(line[0][0], line[1][0]):
            if any(touches(line, box) for box in self._boxes[strip]):
                return False
            for other, segment in self._ways[strip]:
                if crosses(line, segment) and not may_cross(other):
                    return False
                near = min(distance(segment[1], line), distance(line[1], segment)) if other == node else self._apart
                if near < self._apart:
                    return False
        return True


def _strips(one: float, other: float) -> range:
    """The vertical strips of the sheet from one place to another."""
    return range(int(min(one, other) // _STRIP), int(max(one, other) // _STRIP) + 1)


def touches(line: Segment, box: Box) -> bool:
    """Whether a line that goes down enters a box.

    >>> touches(((0, 0), (10, 10)), Box(4, 4, 6, 6)), touches(((0, 0), (10, 10)), Box(6, 0, 8, 4))
    (True, False)
    """
    (x1, y1), (x2, y2) = line
    top, bottom = max(y1, box.top), min(y2, box.bottom)
    if top >= bottom:
        return False
    across = [x1 + (x2 - x1) * (y - y1) / (y2 - y1) for y in (top, bottom)]
    return max(across) > box.left and min(across) < box.right


def crosses(one: Segment, other: Segment) -> bool:
    """Whether two lines meet anywhere but in a common end.

    >>> crosses(((0, 0), (4, 4)), ((0, 4), (4, 0))), crosses(((0, 0), (4, 4)), ((0, 0), (0, 4)))
    (True, False)
    """
    if set(one) & set(other):
        return False
    if max(one[0][0], one[1][0]) < min(other[0][0], other[1][0]) or one[1][1] < other[0][1]:
        return False
    if max(other[0][0], other[1][0]) < min(one[0][0], one[1][0]) or other[1][1] < one[0][1]:
        return False
    return _turn(one, other[0]) * _turn(one, other[1]) <= 0 and _turn(other, one[0]) * _turn(other, one[1]) <= 0


def distance(point: Point, line: Segment) -> float:
    """From a point to the nearest one of a line.

    >>> distance((0, 5), ((-3, 0), (3, 0))), distance((7, 3), ((-3, 0), (3, 0)))
    (5.0, 5.0)
    """
    (x1, y1), (x2, y2) = line
    dx, dy = x2 - x1, y2 - y1
    along = ((point[0] - x1) * dx + (point[1] - y1) * dy) / (dx * dx + dy * dy)
    along = max(0.0, min(1.0, along))
    return hypot(point[0] - x1 - along * dx, point[1] - y1 - along * dy)


def _turn(line: Segment, point: Point) -> float:
    """On which side of a line a point lies: positive, negative, or 0 on it."""
    (x1, y1), (x2, y2) = line
    return (x2 - x1) * (point[1] - y1) - (y2 - y1) * (point[0] - x1)


def way_down(runs: Iterable[float], most: float) -> float:
    """How far down branches should go that run this far to the side, so that they stay apart.

    >>> way_down([100, -200], 50), way_down([10], 50)
    (50, 3.0)
    """
    return min(most, _SLOPE * max(map(abs, runs), default=0))
