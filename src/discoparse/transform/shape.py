"""The shape of a tree: its root, tokens and nodes that are removed, binary trees and back.

Binarization turns nodes with more than two children into right-branching chains, without loss: the nodes added below a
node `NP` are labelled `NP|<>`, and a label of the treebank that looks so is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from discoparse.tree import ROOT, Node, SecondaryEdge, Tree

_ADDED = "|<>"
_ESCAPABLE = re.compile(r"\|<=*>$")


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


def binarize(tree: Tree) -> Tree:
    """No node has more than two children; discontinuous trees stay what they are.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(binarize(parse_tree("(NP (A 0=a) (X (B 1=b) (C 3=c)) (D 2=d))")))
    (NP (A 0=a) (NP|<> (X (B 1=b) (C 3=c)) (D 2=d)))
    """
    tree = tree.copy()
    for node in list(tree.preorder()):
        added = node.label + _ADDED
        node.label = _ESCAPABLE.sub(lambda match: match[0][:-1] + "=>", node.label)
        upper = node
        while len(upper.children) > 2:
            lower = Node(added, upper.children[1:])
            upper.children = [upper.children[0], lower]
            upper = lower
    return tree


def unbinarize(tree: Tree) -> Tree:
    """Undo `binarize`; also for trees in which it left only some of its nodes.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(unbinarize(parse_tree("(NP (A 0=a) (NP|<> (X (B 1=b) (C 3=c)) (D 2=d)))")))
    (NP (A 0=a) (X (B 1=b) (C 3=c)) (D 2=d))
    """
    tree = tree.copy()
    absorbed: dict[Node, Node] = {}  # added nodes: the nodes that took their children
    for node in tree.preorder():
        children = list(reversed(node.children))
        node.children = []
        while children:
            child = children.pop()
            if isinstance(child, Node) and child.label.endswith(_ADDED):
                absorbed[child] = node
                children.extend(reversed(child.children))
            else:
                node.children.append(child)
        if _ESCAPABLE.search(node.label) and not node.label.endswith(_ADDED):
            node.label = node.label[:-2] + ">"
    for edge in tree.secondary_edges:
        if isinstance(edge.child, Node):
            edge.child = absorbed.get(edge.child, edge.child)
        if isinstance(edge.parent, Node):
            edge.parent = absorbed.get(edge.parent, edge.parent)
    tree.sort()
    return tree
