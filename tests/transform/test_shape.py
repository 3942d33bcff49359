"""Punctuation, binarization and roots: the words stay, the tree stays a tree, and inverses are inverses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import trees

from discoparse.transform.pipeline import Transforms, transform_trees
from discoparse.transform.punctuation import is_punctuation, move_punctuation, remove_punctuation
from discoparse.transform.shape import binarize, ensure_root, remove_tokens, unbinarize
from discoparse.tree import Node, SecondaryEdge, Tree
from discoparse.treebank.discbracket import parse_tree

LABELS = ["S", "NP", "NP|<>", "NP|<=>", "|<>", "A|<==>"]


def moved(line: str) -> str:
    return str(move_punctuation(parse_tree(line)))


def check_is_tree(tree: Tree) -> None:
    """Every token has one parent, no node is empty, children stand in order."""
    leaves = [c for n in tree.preorder() for c in n.children if isinstance(c, int)]
    assert sorted(leaves) == list(range(len(tree)))
    assert all(n.children for n in tree.preorder())
    again = tree.copy()
    again.sort()
    assert again == tree


@given(trees(words=st.sampled_from(['"', "'", "-", "(", ")", "[", "]", "a", ",", "``", "''"]).map(str)))
def test_moving_punctuation_keeps_words_and_makes_trees(tree: Tree) -> None:
    before = tree.copy()
    result = move_punctuation(tree)
    assert tree == before
    check_is_tree(result)
    assert result.tokens == tree.tokens
    labels = [n.label for n in tree.preorder()]
    for node in result.preorder():
        labels.remove(node.label)  # no node is added


@given(trees())
def test_removing_punctuation_leaves_the_other_words(tree: Tree) -> None:
    rest = [token for token in tree.tokens if not is_punctuation(token)]
    result = remove_punctuation(tree)
    if result is None:
        assert rest == []
    else:
        check_is_tree(result)
        assert result.tokens == rest


def test_punctuation_goes_to_the_highest_phrase_that_starts_after_it() -> None:
    line = "(ROOT (S (A 0=a) (SBAR (NP (B 2=b)) (C 3=c)) (D 5=d)) ($, 1=,) ($, 4=,) ($. 6=.))"
    assert moved(line) == "(ROOT (S (A 0=a) ($, 1=,) (SBAR (NP (B 2=b)) (C 3=c)) ($, 4=,) (D 5=d)) ($. 6=.))"


def test_a_row_of_marks_goes_together() -> None:
    line = '(ROOT (S (A 0=a) (B 4=b)) ($, 1=,) ($[ 2=-) ($[ 3=") ($. 5=.))'
    assert moved(line) == '(ROOT (S (A 0=a) ($, 1=,) ($[ 2=-) ($[ 3=") (B 4=b)) ($. 5=.))'


def test_pairs_are_balanced() -> None:
    line = '(ROOT (S (A 2=a) (NP (B 4=b)) (C 6=c)) ($[ 0=") ($[ 1=#LRB#) ($[ 3=") ($[ 5=#RRB#))'
    assert moved(line) == ('(ROOT ($[ 0=") (S ($[ 1=#LRB#) (A 2=a) ($[ 3=") (NP (B 4=b)) ($[ 5=#RRB#) (C 6=c)))')
    assert moved('(ROOT (X (A 0=a) (NP ($[ 1=") (B 2=b))) ($[ 3="))') == (
        '(ROOT (X (A 0=a) (NP ($[ 1=") (B 2=b) ($[ 3="))))'
    )


def test_phrases_emptied_by_balancing_vanish() -> None:
    line = '(ROOT (X (A 0=a) (NP ($[ 1=") (B 2=b))) (Y (Z ($[ 3="))))'
    assert moved(line) == '(ROOT (X (A 0=a) (NP ($[ 1=") (B 2=b) ($[ 3="))))'


def test_words_of_the_root_and_lone_marks_stay() -> None:
    assert moved("(ROOT ($. 0=.))") == "(ROOT ($. 0=.))"
    assert moved("(ROOT (A 0=a) ($, 1=,) (S (B 2=b)))") == "(ROOT (A 0=a) ($, 1=,) (S (B 2=b)))"


def test_secondary_edges_to_removed_words_go() -> None:
    tree = parse_tree("(S (NP (A 0=a)) (VP (B 1=b) (C 2=c)))")
    noun, verb = tree.root.children
    tree.secondary_edges = [SecondaryEdge(0, verb), SecondaryEdge(noun, verb), SecondaryEdge(2, verb, "OA")]
    result = remove_tokens(tree, {0})
    assert result is not None
    assert [(e.child, e.label) for e in result.secondary_edges] == [(1, "OA")]


@given(trees(labels=LABELS))
def test_unbinarizing_inverts_binarizing(tree: Tree) -> None:
    tree.secondary_edges = [SecondaryEdge(0, node, "x") for node in tree.preorder()]
    binary = binarize(tree)
    assert all(len(n.children) <= 2 for n in binary.preorder())
    check_is_tree(binary)
    assert unbinarize(binary) == tree


def test_edge_to_an_added_node_goes_to_the_node_that_takes_its_children() -> None:
    tree = binarize(parse_tree("(NP (A 0=a) (B 1=b) (C 2=c))"))
    tree.secondary_edges = [SecondaryEdge(0, tree.root.children[1])]
    flat = unbinarize(tree)
    assert flat.secondary_edges[0].parent is flat.root


def test_root_is_renamed_or_added() -> None:
    assert str(ensure_root(parse_tree("(ROOT (S (A 0=a)))"), "VROOT")) == "(VROOT (S (A 0=a)))"
    assert str(ensure_root(parse_tree("(S (A 0=a))"), "VROOT")) == "(VROOT (S (A 0=a)))"
    assert str(ensure_root(parse_tree("(S (A 0=a))"), "S")) == "(S (A 0=a))"


def test_deep_trees_do_not_exhaust_the_stack() -> None:
    tree = parse_tree("(S (VP (A 0=a) (NP (C 2=c))) ($, 1=,) ($. 3=.))")
    for _ in range(3000):
        tree.root = Node("X", [tree.root])
    tree.root = Node("ROOT", [tree.root])
    there = Transforms(punct="move", traces="write", collapse_unaries=True, binarize=True)
    (written,) = transform_trees([tree], there)
    back = Transforms(traces="reattach", functions="remove", unbinarize=True, expand_unaries=True)
    (result,) = transform_trees([written], back)
    assert result.words == tree.words
    assert sum(1 for node in result.preorder() if node.label == "X") == 3000
