"""How brackets are spelled in words: as in running text, and as the Penn Treebank writes them."""

from __future__ import annotations

import re

from discoparse.tree import Tree

_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "#LRB#": "(",
    "#RRB#": ")",
}
_PENN = re.compile("|".join(map(re.escape, _BRACKETS)))


def plain_word(word: str) -> str:
    """The word as it stands in running text, whichever way its brackets are spelled.

    >>> [plain_word(word) for word in ["-LRB-", "#RRB#", "a-LSB-1-RSB-", "-LRB"]]
    ['(', ')', 'a[1]', '-LRB']
    """
    return _PENN.sub(lambda found: _BRACKETS[found.group()], word) if "RB" in word or "B-" in word else word


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
