"""Removing tokens from a tree, with the nodes that become empty."""

from __future__ import annotations

from collections.abc import Collection

from discoparse.tree import Node, SecondaryEdge, Tree


def remove_tokens(tree: Tree, dropped: Collection[int]) -> Tree | None:
    """The tree without these tokens, without the nodes left empty, and without secondary edges to either;
    None when no word is left.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(remove_tokens(parse_tree("(S (NP (A 0=a) (B 2=b)) (X (C 1=c)))"), {1}))
    (S (NP (A 0=a) (B 1=b)))
    """
    tree = tree.copy()
    kept = [index for index in range(len(tree)) if index not in dropped]
    numbers = {old: new for new, old in enumerate(kept)}
    if not kept:
        return None
    empty: set[Node] = set()
    for node in tree.postorder():
        children = (numbers.get(c) if isinstance(c, int) else c for c in node.children)
        node.children = [c for c in children if c is not None and c not in empty]
        if not node.children:
            empty.add(node)
    tree.tokens = [tree.tokens[index] for index in kept]

    edges = []
    for edge in tree.secondary_edges:
        child = numbers.get(edge.child) if isinstance(edge.child, int) else edge.child
        parent = numbers.get(edge.parent) if isinstance(edge.parent, int) else edge.parent
        if child is not None and parent is not None and child not in empty and parent not in empty:
            edges.append(SecondaryEdge(child, parent, edge.label))
    tree.secondary_edges = edges
    tree.sort()
    return tree
