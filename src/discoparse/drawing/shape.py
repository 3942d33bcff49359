"""The vertical half of a layout: on which level each node stands, and which edges pass a level.

Tokens are on level 0. A node stands above everything between its first and its last token, also above the
material in its gaps, so that its branches run over that material and not through it.
"""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.drawing.view import View
from discoparse.tree import Node, gap_count


@dataclass(frozen=True)
class Shape:
    """A tree as numbered elements: tokens 0..n-1, then nodes from the lowest level up, left to right."""

    n: int
    nodes: list[Node]  # nodes[k] is element n + k
    children: list[list[int]]  # of every element
    parent: list[int]  # of every element; -1 for the root, and for those right below a root that is not drawn
    level: list[int]  # of every element
    discontinuous: list[bool]  # of every element
    rows: list[list[int]]  # the elements on each level
    passing: list[list[int]]  # the elements below a level whose edge upwards passes it
    roofs: frozenset[int]  # nodes that are triangles over their tokens

    @property
    def height(self) -> int:
        """Number of levels above the tokens."""
        return len(self.rows) - 1


def shape_of(view: View) -> Shape:
    """Number the elements of a tree and give each a level."""
    tree = view.tree
    masks = tree.masks()
    if view.rootless:
        del masks[tree.root]
    levels = _levels(masks, len(tree))
    first = {node: (mask & -mask).bit_length() for node, mask in masks.items()}
    nodes = sorted(masks, key=lambda node: (levels[node], first[node]))
    n = len(tree)
    number = {node: n + k for k, node in enumerate(nodes)}
    children: list[list[int]] = [[] for _ in range(n)]
    parent = [-1] * (n + len(nodes))
    for node in nodes:
        members = [c if isinstance(c, int) else number[c] for c in node.children]
        children.append(members)
        for member in members:
            parent[member] = number[node]
    level = [0] * n + [levels[node] for node in nodes]
    rows: list[list[int]] = [[] for _ in range(max(level) + 1)]
    passing: list[list[int]] = [[] for _ in rows]
    for element, own in enumerate(level):
        rows[own].append(element)
        above = parent[element]
        for between in range(own + 1, level[above] if above >= 0 else 0):
            passing[between].append(element)
    discontinuous = [False] * n + [gap_count(masks[node]) > 0 for node in nodes]
    roofs = frozenset(number[node] for node in view.roofs)
    return Shape(n, nodes, children, parent, level, discontinuous, rows, passing, roofs)


def _levels(masks: dict[Node, int], n: int) -> dict[Node, int]:
    """Narrow nodes first, each one above the skyline between its first and its last token.

    Ordering by width puts children under parents (`masks` lists children first, which decides between equals)
    and the nodes in a gap under the node that has the gap.
    """

    def width_and_start(node: Node) -> tuple[int, int]:
        start = (masks[node] & -masks[node]).bit_length()
        return masks[node].bit_length() - start, start

    skyline = [0] * n
    levels: dict[Node, int] = {}
    for node in sorted(masks, key=width_and_start):
        mask = masks[node]
        start, end = (mask & -mask).bit_length() - 1, mask.bit_length()
        levels[node] = 1 + max(skyline[start:end])
        skyline[start:end] = [levels[node]] * (end - start)
    return levels
