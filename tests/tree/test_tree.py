"""What users ask a tree: text and parent of a node, nodes by label, a table of rows; sets and copies of trees."""

from __future__ import annotations

import copy
import csv
import dataclasses
import gc
import io
import json
import pickle

import pytest
from hypothesis import given, settings
from rich_trees import rich_trees
from strategies import trees

from discoparse import Node, Token, Tree
from discoparse.treebank.jsontrees import tree_from_json


def wake_us_up() -> Tree:
    """`Wake us  up` as it was parsed, with two spaces, from the middle of a text."""
    tokens = [Token("Wake", "VB", span=(10, 14)), Token("us", "PRP", span=(15, 17)), Token("up", "RP", span=(19, 21))]
    tree = Tree(
        tokens,
        Node("S", [Node("VP", [0, 2], probability=0.5, label_probability=0.75), Node("NP", [1])], edge="--"),
        id="7",
    )
    tree.text = "Wake us  up"
    return tree


def test_a_relabelled_tree_cannot_vanish_from_a_set():
    """Trees can change, so they are not hashable; their keys are, and are equal exactly where the trees are."""
    tree = wake_us_up()
    with pytest.raises(TypeError, match="unhashable"):
        {tree}  # noqa: B018
    assert tree.copy().key() in {tree.key()}
    changed = tree.copy()
    changed.root.label = "SQ"
    assert changed != tree
    assert changed.key() not in {tree.key()}


@settings(deadline=None)
@given(trees())
def test_every_node_knows_its_parent_and_its_words(tree):
    """By whatever path it was reached, and however many blocks it has."""
    parents, yields = tree.parents(), tree.yields()
    for node in tree.preorder():
        assert node.parent is parents.get(node)
        assert node.text.replace(" … ", " ").split() == [tree.words[i] for i in sorted(yields[node])]
        assert node.text.count(" … ") == sum(i + 1 not in yields[node] for i in yields[node]) - 1


def test_the_text_of_a_node_is_that_of_the_source():
    tree = wake_us_up()
    assert tree.root.text == "Wake us  up"
    assert [node.text for node in tree.root.children] == ["Wake … up", "us"]
    cut = Tree(tree.tokens[1:], Node("S", [0, 1]), text=tree.text)  # its tokens no longer span the text
    assert cut.root.text == "us up"


def test_nodes_outlive_the_name_of_their_tree():
    found = wake_us_up().find("VP")
    gc.collect()
    assert (found[0].parent.label, found[0].text) == ("S", "Wake … up")


def test_nodes_follow_changes_of_their_tree():
    tree = wake_us_up()
    phrase, pronoun = tree.root.children
    tree.root.children = [Node("SQ", [phrase, pronoun])]
    assert phrase.parent.label == "SQ"
    with pytest.raises(ValueError, match="call its `sort`"):
        phrase.parent.parent  # noqa: B018
    tree.sort()
    assert phrase.parent.parent is tree.root
    phrase.parent.children.remove(pronoun)
    with pytest.raises(ValueError, match="no longer in the tree"):
        pronoun.parent  # noqa: B018
    with pytest.raises(ValueError, match="not in a tree"):
        Node("NP", [0]).text  # noqa: B018


@settings(deadline=None)
@given(trees())
def test_sorting_restores_the_order_of_children(tree):
    """Whatever order they were put in."""
    shuffled = tree.copy()
    for node in shuffled.preorder():
        node.children.reverse()
    shuffled.sort()
    assert shuffled == tree


def test_nodes_are_found_by_label():
    tree = Tree(
        [Token("very", "RB"), Token("old", "JJ"), Token("dogs", "NN")],
        Node("NP", [Node("AP", [0, 1]), Node("NP", [2])]),
    )
    assert [node.text for node in tree.find("NP")] == ["very old dogs", "dogs"]
    assert tree.find("JJ") == tree.find("np") == []
    tree.root = Node("S", [tree.root])
    (new,) = tree.find("S")
    assert (new.parent, new.text) == (None, "very old dogs")


@settings(deadline=None)
@given(rich_trees())
def test_records_hold_the_whole_tree_in_flat_rows(tree):
    """The tree can be built again from a CSV file of its rows, but for edges beside it and features."""
    rows = tree.to_records()
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)  # refuses columns that the first row does not have
    table.seek(0)
    assert len(list(csv.reader(table))) == 1 + len(rows)
    nodes = [row for row in rows if row["kind"] == "node"]
    words = [row for row in rows if row["kind"] == "token"]
    made = [Node(row["label"], [], row["edge"], row["morph"]) for row in nodes]
    for row, node in zip(nodes[1:], made[1:], strict=True):
        made[row["parent"]].children.append(node)
    for row in words:
        made[row["parent"]].children.append(row["number"])
    again = Tree(
        [Token(row["text"], row["label"], row["lemma"], row["morph"], row["edge"]) for row in words], made[0], tree.id
    )
    again.sort()
    bare = tree.copy()
    bare.comments, bare.secondary_edges = [], []
    for item in [*bare.preorder(), *bare.tokens]:
        item.features = {}
    assert again == bare


def test_rows_say_where_a_constituent_is():
    rows = wake_us_up().to_records()
    columns = ("id", "kind", "number", "parent", "label", "text", "first", "last", "tokens", "gaps", "probability")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("7", "node", 0, None, "S", "Wake us  up", 0, 2, 3, 0, None),
        ("7", "node", 1, 0, "VP", "Wake … up", 0, 2, 2, 1, 0.5),
        ("7", "node", 2, 0, "NP", "us", 1, 1, 1, 0, None),
        ("7", "token", 0, 1, "VB", "Wake", 0, 0, 1, 0, None),
        ("7", "token", 1, 2, "PRP", "us", 1, 1, 1, 0, None),
        ("7", "token", 2, 1, "RP", "up", 2, 2, 1, 0, None),
    ]
    assert [row["label_probability"] for row in rows] == [None, 0.75, None, None, None, None]


@settings(deadline=None)
@given(rich_trees())
def test_a_tree_as_json_is_the_tree(tree):
    again, _ = tree_from_json(json.loads(json.dumps(tree.to_json())))
    assert again == tree


def test_copies_of_a_single_node_are_in_no_tree():
    """And do not drag the tree along; neither does `asdict`."""
    tree = wake_us_up()
    for twin in (copy.deepcopy(tree.root), pickle.loads(pickle.dumps(tree.root))):
        assert [child.label for child in twin.children] == ["VP", "NP"]
        with pytest.raises(ValueError, match="not in a tree"):
            twin.parent  # noqa: B018
    assert dataclasses.asdict(tree.root)["children"][0]["children"] == [0, 2]
    for twin in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree)), tree.copy()):
        assert twin.root.children[0].parent is twin.root
