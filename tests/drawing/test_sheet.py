"""Pictures on paper: straight and right-angled edges, roofs, panels; nothing is lost, and nothing is in the way."""

from __future__ import annotations

from itertools import combinations, islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import drawn_trees, trees

from discoparse.drawing.options import STYLES, Options
from discoparse.drawing.panels import panel_ranges
from discoparse.drawing.picture import FUNCTION, LABEL, TAG, WORD, Drawn, Picture
from discoparse.drawing.placing import place
from discoparse.drawing.sheet import PIXELS, PlacedText, PlacedTree, Point
from discoparse.drawing.slanted import Box, crosses, distance, touches
from discoparse.tree import Tree
from discoparse.treebank import read_trees
from discoparse.treebank.discbracket import parse_tree

NARROW = 330  # pixels


def placed(tree: Tree, **options) -> tuple[Picture, list[PlacedTree], float, float]:
    wanted = Options(**options)
    picture = PIXELS.picture(tree, None, wanted)
    return picture, *place(picture, PIXELS, wanted.style)


def width_of(text: PlacedText) -> float:
    return PIXELS.metric().width(text.text, text.role) / 10


def box_of(text: PlacedText) -> Box:
    """A little smaller than the line, since what is right above or below may touch it."""
    half, tall = width_of(text) / 2, PIXELS.line(text.role) / 2 - 0.1
    return Box(text.x - half, text.y - tall, text.x + half, text.y + tall)


def segments(panel: PlacedTree) -> list[tuple[int, Point, Point]]:
    """Node, upper and lower end of all straight parts of edges."""
    return [
        (edge.parent, *sorted(ends, key=lambda p: p[1]))
        for edge in [*panel.edges, *panel.stubs]
        for ends in pairwise(edge.points)
    ]


def check_panel(panel: PlacedTree, width: float, height: float) -> None:
    """No two texts overlap, and no edge or roof runs through a text."""
    boxes = [box_of(text) for text in panel.texts if text.text]
    for box in boxes:
        assert box.left >= 0
        assert box.right <= width + 0.1
        assert box.top >= 0
        assert box.bottom <= height
    for a, b in combinations(boxes, 2):
        assert a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top, "two texts overlap"
    lines = [*panel.edges, *panel.roofs, *panel.stubs]
    ends = [point for line in lines for point in line.points] + [end for _, *both in panel.bridges for end in both]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in ends), "something is drawn outside of the panel"
    for _, upper, lower in segments(panel):
        for box in boxes:
            inside = Box(box.left + 1, box.top + 1, box.right - 1, box.bottom - 1)
            if upper[1] == lower[1]:
                low, high = sorted((upper[0], lower[0]))
                assert not (inside.top < upper[1] < inside.bottom and low < inside.right and high > inside.left)
            else:
                assert not touches((upper, lower), inside), "an edge runs through a text"


def check_connected(picture: Picture, panels: list[PlacedTree]) -> None:
    """Every branch is there: to each child from its node, or from the margin where the node's label is repeated."""
    (drawn,) = picture.drawn
    shape = drawn.shape
    ranges = list(panel_ranges(picture))
    assert len(ranges) == len(panels)

    def panel_of(element: int) -> int:
        return next(k for k, (start, end) in enumerate(ranges) if start <= drawn.axes[element] < end)

    def x(element: int) -> float:
        return next(t.x for t in panels[panel_of(element)].texts if t.element == element and t.role in (LABEL, TAG))

    for node in range(shape.n, len(drawn.axes)):
        here = panel_of(node)
        for child in shape.children[node] if node not in shape.roofs else ():
            there = panel_of(child)
            edges = [e.points for e in panels[there].edges if e.parent == node]
            (way,) = [points for points in edges if points[-1][0] == pytest.approx(x(child)) and _is_end(points, edges)]
            heads = [
                t for t in panels[there].texts if t.element == child and t.role in (LABEL, TAG, FUNCTION) and t.text
            ]
            if heads:
                assert way[-1][1] == pytest.approx(heads[0].y - PIXELS.line(heads[0].role) / 2), (
                    "an edge ends too early"
                )
            if here == there:
                assert way[0][0] == pytest.approx(x(node))
                continue
            for panel in (panels[here], panels[there]):
                assert any(stub.parent == node for stub in panel.stubs), "a branch ends at the margin"
            (stub,) = [s for s in panels[there].stubs if s.parent == node and s.points[0] == way[0]]
            (label,) = [t for t in panels[there].texts if t.element == node]
            assert label.text == drawn.name(node)
            assert label.y == pytest.approx(stub.points[0][1])
    for (start, end), panel in zip(ranges, panels, strict=True):
        for node in {stub.parent for stub in panel.stubs if not start <= drawn.axes[stub.parent] < end}:
            (label,) = [t.text for t in panel.texts if t.element == node]
            assert label, "a branch from elsewhere has no name"
    words = [t.element for panel in panels for t in panel.texts if t.role == WORD and t.text]
    assert sorted(set(words)) == [foot.first for foot in drawn.feet if any(line.text for line in foot.lines)]


def _is_end(points: tuple[Point, ...], edges: list[tuple[Point, ...]]) -> bool:
    """Whether an edge goes down to a child, not to the margin, which is higher than any child."""
    return points[-1][1] > points[0][1] and (len(edges) == 1 or points[-1][1] > min(p[0][1] for p in edges))


def check_crossings(drawn: Drawn, panel: PlacedTree, slanted: bool) -> None:
    """Branches cross only where the tree says so."""
    crossed = {node: set(drawn.crossings(node)) for node in range(drawn.shape.n, len(drawn.axes))}
    for (a, *one), (b, *other) in combinations(segments(panel), 2):
        if a == b and not slanted:  # right-angled branches share stem and bar
            continue
        if properly_crosses(tuple(one), tuple(other)):
            children = drawn.shape.children
            assert a != b
            assert crossed[a] & set(children[b]) or crossed[b] & set(children[a]), "branches cross for no reason"


def properly_crosses(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two lines cross between their ends."""

    def side(line: tuple[Point, Point], point: Point) -> float:
        (x1, y1), (x2, y2) = line
        return (x2 - x1) * (point[1] - y1) - (y2 - y1) * (point[0] - x1)

    sides = [side(one, other[0]) * side(one, other[1]), side(other, one[0]) * side(other, one[1])]
    return max(sides) < -1e-6


@settings(max_examples=400, deadline=None)
@given(drawn_trees(max_tokens=10), st.sampled_from(STYLES), st.booleans())
def test_nothing_is_in_the_way_and_everything_connected(drawn: tuple[Tree, dict], style: str, narrow: bool) -> None:
    tree, options = drawn
    options |= {"style": style, "width": NARROW if narrow else None, "tags": True}
    picture, panels, width, height = placed(tree, **options)
    for panel in panels:
        check_panel(panel, width, height)
        check_crossings(picture.drawn[0], panel, style == "slanted")
    check_connected(picture, panels)
    if narrow and len(panels) == len(picture.walls) + 1 > 1:
        assert width <= NARROW + 0.1 or any(len(f.lines) > 1 for f in picture.drawn[0].feet)


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=10))
def test_slanted_edges_are_straight_where_they_can_be(tree: Tree) -> None:
    """At most one bend; none to a child on the next level; and the edges of a node keep apart."""
    picture, (panel,), *_ = placed(tree, style="slanted")
    level = picture.drawn[0].shape.level
    for edge in panel.edges:
        assert len(edge.points) <= 3
        if len(edge.points) == 3:
            assert edge.points[1][0] == edge.points[2][0], "after its bend an edge goes straight down"
            assert level[edge.parent] > 1
    for a, b in combinations(panel.edges, 2):
        if a.parent == b.parent:
            assert distance(a.points[1], (b.points[0], b.points[1])) > 1.5
            assert distance(b.points[1], (a.points[0], a.points[1])) > 1.5


def test_the_edges_of_continuous_trees_do_not_cross() -> None:
    """The top stands to the right of the phrase A: a straight line to the word before A would cut through it."""
    right = " ".join(f"(X {i}=word)" for i in range(5, 13))
    tree = parse_tree(f"(R (X 0=a) (A (X 1=word) (A (X 2=word) (A (X 3=word) (X 4=word)))) {right})")
    _, (panel,), *_ = placed(tree, style="slanted")
    assert any(len(edge.points) == 3 for edge in panel.edges)
    assert not any(properly_crosses((a, b), (c, d)) for (_, a, b), (_, c, d) in combinations(segments(panel), 2))


def test_wide_fans_get_more_room_below_their_node() -> None:
    few, many = (parse_tree("(S " + " ".join(f"(N {i}=word{i})" for i in range(n)) + ")") for n in (2, 14))
    heights = [placed(tree, style="slanted")[3] for tree in (few, many)]
    assert heights[1] > heights[0] + 40
    assert placed(few)[3] == placed(many)[3], "right-angled edges need no more"


def test_levels_without_a_label_take_less_height() -> None:
    tree = parse_tree("(S " + " ".join(f"(N {i}=word{i})" for i in range(20)) + ")")
    _, panels, *_ = placed(tree, width=400)
    heights = {panel.bottom - panel.top for panel in panels}
    assert heights == {max(heights), max(heights) - PIXELS.line(LABEL)}


def test_long_sentences_take_panels_instead_of_thousands_of_pixels(shared: Path) -> None:
    trees_of_file = read_trees(shared / "data" / "en_craft" / "dev.discbracket.gz")
    tree = next(tree for tree in trees_of_file if len(tree) >= 100)
    for style in STYLES:
        picture, panels, width, height = placed(tree, width=900, style=style)
        assert width <= 900
        assert len(panels) > 4
        for panel in panels:
            check_panel(panel, width, height)
        check_connected(picture, panels)
    assert placed(tree)[2] > 4000


@pytest.mark.parametrize("treebank", ["de_pcc", "nl_alpino", "is_icepahc", "en_craft"])
def test_real_trees_are_drawn_with_all_options(shared: Path, treebank: str) -> None:
    found = read_trees(shared / "data" / treebank / "dev.discbracket.gz")
    for tree in islice((t for t in found if t.is_discontinuous and len(t) < 35), 25):
        for options in (
            {"style": "slanted"},
            {"style": "slanted", "roof": ["NP", "PP"], "hide": ["root", "punct"]},
            {"roof": ["NP"], "width": 500, "surface": True, "gloss": tree.words},
            {"style": "slanted", "width": 500, "surface": True},
        ):
            picture, panels, width, height = placed(tree, **options)
            for panel in panels:
                check_panel(panel, width, height)
                check_crossings(picture.drawn[0], panel, options.get("style") == "slanted")
            check_connected(picture, panels)


def test_a_line_that_only_touches_the_end_of_another_does_not_cross() -> None:
    assert crosses(((0.0, 0.0), (10.0, 10.0)), ((0.0, 5.0), (10.0, 5.0)))
    assert not crosses(((0.0, 0.0), (10.0, 10.0)), ((0.0, 0.0), (10.0, 0.0)))
    assert not crosses(((0.0, 0.0), (4.0, 4.0)), ((0.0, 5.0), (10.0, 5.0)))
