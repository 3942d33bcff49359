"""Trees of NLTK: conversion in both directions. Needs the package `nltk` (`pip install discoparse[nltk]`).

An `nltk.Tree` has its leaves in one order, so a discontinuous tree needs more than words. Here a leaf is a `Leaf`: a
string, the word, that also knows the position of its token (from 0). NLTK treats it as the word. Children are in the
order of their first token; `sorted(tree.leaves(), key=lambda leaf: leaf.position)` is the sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.tree import ROOT, Node, Token, Tree

if TYPE_CHECKING:
    import nltk


class Leaf(str):
    """A word in an `nltk.Tree` that knows its place in the sentence."""

    position: int

    def __new__(cls, word: str, position: int) -> Leaf:
        leaf = super().__new__(cls, word)
        leaf.position = position
        return leaf

    def __reduce__(self) -> tuple[Any, ...]:
        return Leaf, (str(self), self.position)


def to_nltk(tree: Tree) -> nltk.Tree:
    """The tree as an `nltk.Tree`: labels, tags as preterminals, leaves that know their position.

    >>> tree = Tree([Token("Wake", "VB"), Token("us", "PRP"), Token("up", "RP")],
    ...             Node("S", [Node("VP", [0, 2]), Node("NP", [1])]))
    >>> converted = to_nltk(tree)
    >>> print(converted)
    (S (VP (VB Wake) (RP up)) (NP (PRP us)))
    >>> [leaf.position for leaf in converted.leaves()]
    [0, 2, 1]
    >>> from_nltk(converted) == tree
    True
    """
    make = _nltk_tree()
    built: dict[Node, Any] = {}
    for node in tree.postorder():
        children = []
        for child in node.children:
            if isinstance(child, Node):
                children.append(built.pop(child))
            else:
                token = tree.tokens[child]
                children.append(make(token.tag, [Leaf(token.word, child)]))
        built[node] = make(node.label, children)
    return built[tree.root]


def from_nltk(tree: nltk.Tree) -> Tree:
    """The `Tree` of an `nltk.Tree` with tags above its words.

    Leaves made by `to_nltk` are ordered by their positions; other leaves keep their order.
    """
    kind = _nltk_tree()
    if not isinstance(tree, kind):
        raise UsageError(f"expected an nltk.Tree, not {type(tree).__name__}")
    if _is_preterminal(tree):
        tree = kind(ROOT, [tree])
    root = Node(str(tree.label()), [])
    leaves: list[tuple[Any, str]] = []  # words with their tags, as they come
    stack = [(root, iter(tree))]
    while stack:
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            if not node.children:
                raise DiscoparseError(f"the node {node.label} has no children")
            stack.pop()
        elif not isinstance(child, kind):
            raise DiscoparseError(f"the leaf {child!r} must stand alone under a part-of-speech tag")
        elif _is_preterminal(child):
            node.children.append(len(leaves))
            leaves.append((child[0], str(child.label())))
        else:
            inner = Node(str(child.label()), [])
            node.children.append(inner)
            stack.append((inner, iter(child)))
    return _in_order(root, leaves)


def _in_order(root: Node, leaves: list[tuple[Any, str]]) -> Tree:
    """Give the leaves their places in the sentence."""
    positions = [leaf.position for leaf, _ in leaves if isinstance(leaf, Leaf)]
    if positions and len(set(positions)) < len(leaves):
        raise DiscoparseError("some leaves of the tree share a position or have none, so the words have no order")
    order = sorted(range(len(leaves)), key=positions.__getitem__) if positions else range(len(leaves))
    tree = Tree([Token(str(word), tag) for word, tag in (leaves[k] for k in order)], root)
    place = {k: index for index, k in enumerate(order)}
    for node in tree.preorder():
        node.children = [child if isinstance(child, Node) else place[child] for child in node.children]
    tree.sort()
    return tree


def _is_preterminal(tree: Any) -> bool:
    return len(tree) == 1 and isinstance(tree[0], str)


def _nltk_tree() -> Any:
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError:
        raise UsageError("nltk is not installed: pip install 'discoparse[nltk]'") from None
    return NltkTree
