"""Unary chains collapse and expand without loss, whatever the labels and whatever hangs on the nodes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import trees

from discoparse.errors import DiscoparseError
from discoparse.transform.unary import FEATURE, chain_label, chain_labels, collapse_unaries, expand_unaries
from discoparse.tree import Node, SecondaryEdge, Tree
from discoparse.treebank.discbracket import parse_tree

AWKWARD_LABELS = ["S", "VP", "A+B", "+", "\\", "\\+", "", "a\\\\+b", "(", "é\n"]


@given(st.lists(st.one_of(st.text(), st.text("+\\a")), min_size=1))
def test_chain_labels_inverts_chain_label(labels: list[str]) -> None:
    assert chain_labels(chain_label(labels)) == tuple(labels)


@given(st.text().filter(lambda label: "+" not in label and "\\" not in label))
def test_ordinary_label_of_one_is_itself(label: str) -> None:
    assert chain_label([label]) == label


def test_chain_without_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one label"):
        chain_label([])


@st.composite
def annotated_trees(draw: st.DrawFn) -> Tree:
    """Trees whose nodes have edges, morphology, features and secondary edges, with long unary chains."""
    tree = draw(trees(labels=AWKWARD_LABELS))
    for node in list(tree.preorder()):
        for _ in range(draw(st.integers(0, 2))):
            node.children = [Node(draw(st.sampled_from(AWKWARD_LABELS)), node.children)]
    nodes = list(tree.preorder())
    for node in nodes:
        node.edge = draw(st.sampled_from([None, "SB", "HD"]))
        node.morph = draw(st.sampled_from([None, "Nom"]))
        node.features = draw(st.sampled_from([{}, {"x": "1"}, {FEATURE: "mine"}])).copy()
    ends = st.sampled_from([*nodes, *range(len(tree))])
    labels = st.sampled_from([None, "OA"])
    tree.secondary_edges = draw(st.lists(st.builds(SecondaryEdge, ends, ends, labels), max_size=3))
    return tree


@given(annotated_trees())
def test_expand_inverts_collapse(tree: Tree) -> None:
    before = tree.copy()
    collapsed = collapse_unaries(tree)
    assert tree == before, "the input must not change"
    assert not any(len(n.children) == 1 and isinstance(n.children[0], Node) for n in collapsed.preorder())
    assert len({id(n) for n in collapsed.preorder()} & {id(n) for n in tree.preorder()}) == 0
    assert expand_unaries(collapsed) == tree


def test_root_and_inner_chains_collapse() -> None:
    tree = parse_tree("(ROOT (S (NP (NP (PRP 0=she))) (VP (VBZ 1=sleeps))))")
    assert str(collapse_unaries(tree)) == "(ROOT+S (NP+NP (PRP 0=she)) (VP (VBZ 1=sleeps)))"


def test_predicted_labels_expand_without_a_record() -> None:
    tree = parse_tree("(ROOT+S (NP (PRP 0=she)) (VP+X (VBZ 1=sleeps)))")
    assert str(expand_unaries(tree)) == "(ROOT (S (NP (PRP 0=she)) (VP (X (VBZ 1=sleeps)))))"


def test_deep_chains_do_not_exhaust_the_stack() -> None:
    tree = parse_tree("(S (A 0=a))")
    for _ in range(5000):
        tree.root = Node("X", [tree.root])
    assert expand_unaries(collapse_unaries(tree)).constituents() == tree.constituents()


def test_foreign_feature_is_a_data_error() -> None:
    tree = parse_tree("(S (A 0=a))")
    tree.root.features[FEATURE] = "[1"
    with pytest.raises(DiscoparseError, match="not written by collapsing"):
        expand_unaries(tree)
