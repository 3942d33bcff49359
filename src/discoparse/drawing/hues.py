"""Colours for discontinuous nodes: where branches cross, or one such node stands below another, they differ."""

from __future__ import annotations

from discoparse.drawing.picture import Drawn

ACCENTS = 4  # colours that a kind of picture has for discontinuous nodes


def hues(drawn: Drawn, nested: int = 2) -> dict[int, int]:
    """Numbers for discontinuous nodes such that crossing branches differ, and `nested` nodes, each below the other."""
    shape = drawn.shape
    near: dict[int, set[int]] = {node: set() for node, gaps in enumerate(shape.discontinuous) if gaps}
    for node in near:
        others = [shape.parent[element] for element in drawn.crossings(node)]
        above = shape.parent[node]
        for _ in range(nested - 1):
            if above in near:
                others.append(above)
                above = shape.parent[above]
        for other in others:
            if other in near:
                near[node].add(other)
                near[other].add(node)
    found: dict[int, int] = {}
    for node in near:
        taken = {found[other] for other in near[node] if other in found}
        found[node] = next(hue for hue in range(len(near)) if hue not in taken)
    return found


def emphasis(drawn: Drawn, of_nodes: dict[int, int], element: int, highlight: bool = True) -> str | None:
    """The name of the colour that sets an element and its branches off, if any."""
    element = drawn.owner(element)
    if drawn.caption is not None:  # in a comparison, colours show differences only
        return drawn.marks.get(element)
    return f"accent{of_nodes[element] % ACCENTS}" if highlight and element in of_nodes else None
