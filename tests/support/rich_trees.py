"""Random trees with everything that a treebank may say about words and sentences; a check of soundness."""

from __future__ import annotations

from hypothesis import strategies as st
from strategies import AWKWARD_WORDS, trees

from discoparse.tree import Node, SecondaryEdge, Tree

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
PLAIN_VALUES = ["--", "SB", "HD", "a.b", "x-1", "Nom.Sg"]
TEXTS = st.one_of(
    st.sampled_from(["dog", "VROOT", "ROOT", "top", *AWKWARD_WORDS, "$(", "$[", "#LRB#", "-", "a-b"]),
    ANY_TEXT,
)
VALUES = st.one_of(st.none(), st.sampled_from(PLAIN_VALUES), ANY_TEXT)
NAMES = ["comment", "case", "num", "pos", "root", "id", "a b", "lemma", "pt", "word", "é", "frame"]
ROOT_NAMES = ["s.art_id", "graph.root", "graph.x", "sentence", "sentence.y", "metadata.text.z", "metadata.z"]
ROOT_NAMES += [
    "a b.c",
    "x",
    "editor",
    "date",
    "origin",
    "ID",
    "parser.cats",
    "alpino_ds.version",
    "alpino_ds.id",
    "alpino_ds.a",
    "s.id",
    "node.x",
]
ASPECTS = [
    "words",
    "tags",
    "labels",
    "lemmas",
    "morphs",
    "edges",
    "features",
    "root",
    "id",
    "comments",
    "secondary",
]


@st.composite
def rich_trees(draw) -> Tree:
    """A discontinuous tree with two or three aspects filled at random: few at a time, so that each is seen alone."""
    aspects = draw(st.sets(st.sampled_from(ASPECTS), max_size=3))
    tree = draw(trees(max_tokens=5))
    nodes = [node for node in tree.preorder() if node is not tree.root]
    features = st.dictionaries(st.sampled_from(NAMES), ANY_TEXT, max_size=2)
    for item in [*tree.tokens, *nodes]:
        if "morphs" in aspects:
            item.morph = draw(VALUES)
        if "edges" in aspects:
            item.edge = draw(VALUES)
        if "features" in aspects:
            item.features = draw(features)
    for token in tree.tokens:
        if "words" in aspects:
            token.word = draw(TEXTS)
        if "tags" in aspects:
            token.tag = draw(TEXTS)
        if "lemmas" in aspects:
            token.lemma = draw(VALUES)
    if "labels" in aspects:
        for node in [*nodes, tree.root]:
            node.label = draw(TEXTS)
    if "root" in aspects:
        tree.root.features = draw(st.dictionaries(st.sampled_from(ROOT_NAMES), ANY_TEXT, max_size=2))
        tree.root.edge, tree.root.morph = draw(VALUES), draw(VALUES)
    if "id" in aspects:
        tree.id = draw(st.one_of(st.sampled_from(["1", "s17", "corpus.3"]), ANY_TEXT))
    if "comments" in aspects:
        tree.comments = draw(st.lists(ANY_TEXT, max_size=2))
    if "secondary" in aspects:
        ends: list[Node | int] = [*range(len(tree)), *nodes, tree.root]
        for _ in range(draw(st.integers(1, 2))):
            edge = SecondaryEdge(draw(st.sampled_from(ends)), draw(st.sampled_from(ends)), draw(VALUES))
            tree.secondary_edges.append(edge)
    return tree


def check_sound(tree: Tree) -> None:
    """Every token has one place, nodes have children in order, secondary edges have their ends in the tree."""
    met: list[int] = []
    nodes: set[Node] = set()
    for node in tree.preorder():
        assert node not in nodes
        nodes.add(node)
        assert node.children
        met += [child for child in node.children if isinstance(child, int)]
    assert sorted(met) == list(range(len(tree.tokens)))
    for edge in tree.secondary_edges:
        assert all(isinstance(end, int) or end in nodes for end in (edge.child, edge.parent))
    again = tree.copy()
    again.sort()
    assert again == tree
