"""Spellings of words: brackets as the Penn Treebank writes them."""

from __future__ import annotations

from discoparse.tree import Tree


def penn_brackets(tree: Tree) -> Tree:
    """Write `(` and `)` in words as `-LRB-` and `-RRB-`, as in the files that the paper's authors made.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(penn_brackets(parse_tree("(X ($[ 0=#LRB#) (XY 1=b#RRB#))")))
    (X ($[ 0=-LRB-) (XY 1=b-RRB-))
    """
    tree = tree.copy()
    for token in tree.tokens:
        token.word = token.word.replace("(", "-LRB-").replace(")", "-RRB-")
    return tree
