"""How brackets, slashes and asterisks are spelled in words: as in running text, or as the Penn Treebank does it."""

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
_ESCAPABLE = re.compile(r"[\\/*]")


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


def unescape_word(word: str) -> str:
    r"""A word of the Penn Treebank without the backslashes that protect characters.

    >>> unescape_word(r"1\/2"), unescape_word("\\")
    ('1/2', '\\')
    """
    return re.sub(r"\\(.)", r"\1", word) if "\\" in word else word


def escape_word(word: str) -> str:
    r"""A word as the Penn Treebank writes it; one that is written so already stays.

    >>> escape_word("1/2"), escape_word("*"), escape_word("\\"), escape_word(r"1\/2")
    ('1\\/2', '\\*', '\\\\', '1\\/2')
    """
    if word == _ESCAPABLE.sub(r"\\\g<0>", unescape_word(word)):
        return word
    return _ESCAPABLE.sub(r"\\\g<0>", word)
