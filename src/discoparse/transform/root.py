"""The root of a tree: one node of a given label over the whole sentence."""

from __future__ import annotations

from discoparse.tree import ROOT, Node, Tree


def ensure_root(tree: Tree, label: str = ROOT) -> Tree:
    """A tree whose root has this label: a virtual root `ROOT` is renamed, another root gets a node above it.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(ensure_root(parse_tree("(ROOT (A 0=a))"), "TOP"), ensure_root(parse_tree("(S (A 0=a))"), "TOP"))
    (TOP (A 0=a)) (TOP (S (A 0=a)))
    """
    tree = tree.copy()
    if tree.root.label == ROOT:
        tree.root.label = label
    elif tree.root.label != label:
        tree.root = Node(label, [tree.root])
    return tree
