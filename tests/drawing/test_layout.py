"""The geometry of drawings: nothing overlaps, everything is connected, parents stand above children."""

from __future__ import annotations

import random
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import drawn_trees, trees

from discoparse.drawing.options import Options
from discoparse.drawing.panels import fit_to_width
from discoparse.drawing.picture import Metric, Picture, compose
from discoparse.drawing.shape import shape_of
from discoparse.drawing.sheet import PIXELS
from discoparse.drawing.text import CELLS
from discoparse.drawing.view import views_of
from discoparse.files.widths import advance, cells
from discoparse.tree import Token, Tree, gap_tokens
from discoparse.treebank import read_trees
from discoparse.treebank.discbracket import parse_tree

WIDE_LABELS = ["S", "NP", "ADJP-PRD-CLR", "X" * 17]


def check(picture: Picture, metric: Metric) -> None:
    """Everything that a picture promises."""
    for drawn in picture.drawn:
        shape, axes, extents = drawn.shape, drawn.axes, drawn.extents
        for element, (left, right) in enumerate(extents):
            assert axes[element] - left >= 0
            assert axes[element] + right < picture.width
            width = max((metric.width(line.text, line.role) for line in drawn.heads[element]), default=0)
            assert left + 1 + right >= width
        edge = -1
        for foot in drawn.feet:
            width = max(metric.width(line.text, line.role) for line in foot.lines)
            first = drawn.middle(foot) - (width - 1) // 2
            assert first > edge, "two words overlap"
            edge = first + width - 1
            assert drawn.left_edge(foot.first) <= first
            assert edge <= drawn.right_edge(foot.last)
        assert axes[: shape.n] == sorted(axes[: shape.n])
        for level, row in enumerate(shape.rows):
            in_order = sorted(row, key=lambda e: axes[e])
            for a, b in pairwise(in_order):
                assert axes[a] + extents[a][1] < axes[b] - extents[b][0], "two labels overlap"
            for label in row:
                for passing in shape.passing[level]:
                    distance = axes[passing] - axes[label]
                    room = metric.label_gap
                    assert distance > extents[label][1] + room or -distance > extents[label][0] + room, (
                        "an edge touches a label"
                    )
            lines = [axes[e] for e in shape.passing[level]]
            assert len(set(lines)) == len(lines), "two edges run on top of each other"
        for node in range(shape.n, len(axes)):
            low, high = drawn.bar(node)
            assert low <= axes[node] <= high, "a label does not stand over its children"
            assert all(shape.level[c] < shape.level[node] for c in shape.children[node])
            others = [e for e in shape.rows[shape.level[node]] if e != node]
            assert all(drawn.bar(e)[1] < low or high < drawn.bar(e)[0] for e in others), "two bars overlap"
        for roof in shape.roofs:
            low, high = drawn.bar(roof)
            tokens = shape.children[roof]
            assert tokens == list(range(tokens[0], tokens[-1] + 1)), "a roof over a gap"
            assert shape.level[roof] == 1
            assert not any(low <= axes[e] <= high for e in shape.passing[1]), "an edge runs through a roof"
        for wall in picture.walls:
            assert all(not axes[e] - extents[e][0] <= wall <= axes[e] + extents[e][1] for e in range(len(axes)))
            assert all(not drawn.left_edge(f.first) <= wall <= drawn.right_edge(f.last) for f in drawn.feet)


@settings(max_examples=300, deadline=None)
@given(trees(max_tokens=10, labels=WIDE_LABELS), st.sampled_from([CELLS, PIXELS.metric()]), st.booleans())
def test_nothing_overlaps(tree: Tree, metric: Metric, functions: bool) -> None:
    check(compose(tree, None, Options(functions=functions), metric), metric)


@settings(max_examples=400, deadline=None)
@given(drawn_trees(max_tokens=10), st.sampled_from([CELLS, PIXELS.metric()]))
def test_nothing_overlaps_whatever_is_shown(drawn: tuple[Tree, dict], metric: Metric) -> None:
    tree, options = drawn
    check(compose(tree, None, Options(**options), metric), metric)


@settings(max_examples=150, deadline=None)
@given(drawn_trees(max_tokens=9, labels=WIDE_LABELS), st.data())
def test_nothing_overlaps_in_comparisons_and_beside_cuts(drawn: tuple[Tree, dict], data: st.DataObject) -> None:
    tree, options = drawn
    other = Tree([Token(t.word, t.tag) for t in tree.tokens], data.draw(_root_over(len(tree))))
    other.sort()
    options = Options(**options | {"subtree": None})
    words = [view.words for view in views_of(tree, other, options)[0]]
    starts = set.intersection(*({word.first for word in same} for same in words)) - {0}
    cuts = data.draw(st.sets(st.sampled_from(sorted(starts)))) if starts else set()
    picture = compose(tree, other, options, CELLS, cuts)
    check(picture, CELLS)
    gold, predicted = picture.drawn
    n = gold.shape.n
    assert gold.axes[:n] == predicted.axes[:n], "the columns of the words differ"
    assert len(picture.walls) == len(cuts)


@settings(max_examples=200, deadline=None)
@given(drawn_trees(max_tokens=12), st.integers(10, 60))
def test_pictures_are_cut_between_words(drawn: tuple[Tree, dict], width: int) -> None:
    """Not within one that has several tokens, nor within the line of words under a roof."""
    tree, options = drawn
    check(fit_to_width(tree, None, Options(**options), CELLS, width), CELLS)


def _root_over(n: int) -> st.SearchStrategy:
    return trees(max_tokens=n).filter(lambda t: len(t) == n).map(lambda t: t.root)


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=9))
def test_nodes_stand_above_the_material_in_their_gaps(tree: Tree) -> None:
    """Otherwise the branches of a discontinuous node would run through what stands in its gap."""
    (view,), _ = views_of(tree, None, Options())
    tree, shape = view.tree, shape_of(view)
    yields = tree.yields()
    level = {node: shape.level[shape.n + k] for k, node in enumerate(shape.nodes)}
    for node, tokens in yields.items():
        gap = set(gap_tokens(tokens))
        assert all(level[other] < level[node] for other, inside in yields.items() if inside <= gap)


def test_labels_are_centred_where_there_is_room() -> None:
    tree = parse_tree("(S (NP (D 0=the) (N 1=dog)) (VP (V 2=saw) (NP (D 3=the) (N 4=cat))))")
    (drawn,) = compose(tree, None, Options(), PIXELS.metric()).drawn
    for node in range(drawn.shape.n, len(drawn.axes)):
        low, high = drawn.bar(node)
        assert drawn.axes[node] == (low + high) // 2


def test_a_very_long_and_deep_sentence_is_laid_out() -> None:
    """Depth is no limit, and 300 tokens with many gaps are laid out without conflicts."""
    chooser = random.Random(0)
    tokens = [Token(f"w{i}", "X") for i in range(300)]
    items: list[set[int]] = [{i} for i in range(300)]
    constituents = []
    while len(items) > 1:
        k = chooser.randrange(len(items) - 1)
        j = min(len(items) - 1, k + chooser.choice([1, 1, 1, 2]))
        items[k] |= items.pop(j)
        constituents.append(("XP", set(items[k])))
    check(compose(Tree.from_constituents(tokens, constituents), None, Options(), CELLS), CELLS)


@pytest.mark.parametrize("treebank", ["de_pcc", "nl_alpino"])
def test_real_trees_are_laid_out_without_overlaps(shared: Path, treebank: str) -> None:
    trees_of_file = read_trees(shared / "data" / treebank / "dev.discbracket.gz")
    drawn = 0
    for tree in islice((tree for tree in trees_of_file if tree.is_discontinuous), 60):
        for metric in (CELLS, PIXELS.metric()):
            check(compose(tree, None, Options(), metric), metric)
        drawn += 1
    assert drawn == 60


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("\u200bx", 1), ("ｶ", 1), ("한", 2)]
)
def test_cells_are_those_of_terminals(text: str, width: int) -> None:
    assert cells(text) == width


def test_estimated_widths_grow_with_the_text() -> None:
    assert 0 == advance("") < advance("i") < advance("n") < advance("日") < advance("日本")
    assert advance("é") == advance("e") == advance("e\u0301")
