"""Binarization: nodes with more than two children become right-branching chains, and back, without loss.

The nodes added below a node `NP` are labelled `NP|<>`; a label of the treebank that looks so is escaped.
"""

from __future__ import annotations

import re

from discoparse.tree import Node, Tree

_ADDED = "|<>"
_ESCAPABLE = re.compile(r"\|<=*>$")


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
