"""Empty elements of bracketed treebanks: what counts as one, and trees without them."""

from __future__ import annotations

import re

from discoparse.transform.functions import is_penn_helsinki, join_label, split_label
from discoparse.transform.shape import remove_tokens
from discoparse.tree import Node, Token, Tree

EMPTY_TAG = "-NONE-"

# In the Penn-Helsinki treebanks empty elements stand directly in their phrase, `(NP-OB1 *T*-1)`, `(C 0)`, so
# that the word alone must tell; in the Penn Treebank `0` and `*` are also words. Keyaki has kinds in its own script.
_STARRED = re.compile(r"\*[^*\s]+\*(?:-\d+)?")
_EMPTY_WORD = re.compile(rf"0|\*(?:-\d+)?|{_STARRED.pattern}")
_LINE_BREAK_TAG = "LB"  # of signs; in FarPaHC it is also the tag of verbs
_MARKUP_WORD = re.compile(r"<.*>|\{[A-Z]+:.*\}")  # a word in braces alone is one that an editor has supplied
_TAG_INDEX = re.compile(r"(?<=.)-\d+$")

# These are never words, not even in fragments without a clause that would show the annotation scheme.
_CODE_TAG = "CODE"  # comments of the annotators
_INDEXED_TRACE = re.compile(r"\*(?:T|ICH|EXP|RNR)\*-\d+")


def has_empty(tree: Tree) -> bool:
    """Whether a tree has elements that are certainly empty, which a parser should not learn as words."""
    if any(token.tag == EMPTY_TAG or _INDEXED_TRACE.fullmatch(token.word) for token in tree.tokens):
        return True
    return any(_STARRED.fullmatch(token.word) for token in tree.tokens) and is_penn_helsinki(tree)


def without_index(tag: str) -> str:
    """A tag without its co-index."""
    return _TAG_INDEX.sub("", tag)


def spell_out_empty(tree: Tree) -> Tree:
    """The same tree with every empty element as a token tagged `-NONE-` inside its phrase.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(spell_out_empty(parse_tree("(IP-SUB (NP-SBJ 0=*T*-1) (VBPI 1=er))")))
    (IP-SUB (NP-SBJ (-NONE- 0=*T*-1)) (VBPI 1=er))
    """
    tree = tree.copy()
    helsinki = is_penn_helsinki(tree)
    for node in list(tree.preorder()):
        for k, child in enumerate(node.children):
            if isinstance(child, int) and _is_unmarked_empty(tree.tokens[child], helsinki):
                token = tree.tokens[child]
                node.children[k] = Node(token.tag, [child], token.edge)
                token.tag, token.edge = EMPTY_TAG, None
    return tree


def _is_unmarked_empty(token: Token, helsinki: bool) -> bool:
    """Whether a token without the tag of empty elements is one, or markup."""
    if token.tag == EMPTY_TAG:
        return False
    if token.tag == _CODE_TAG or _INDEXED_TRACE.fullmatch(token.word):
        return True
    if not helsinki:
        return False
    if token.tag == _LINE_BREAK_TAG and not any(map(str.isalnum, token.word)):
        return True
    if _MARKUP_WORD.fullmatch(token.word):
        return True
    return token.lemma is None and _EMPTY_WORD.fullmatch(token.word) is not None


def remove_empty(tree: Tree) -> Tree | None:
    """The tree without empty elements, the phrases that hold nothing else, and the co-indexes in labels;
    None when no word is left."""
    tree = spell_out_empty(tree)
    for node in tree.preorder():
        label = split_label(node.label)
        if label.coindex is not None:
            node.label = join_label(label.category, label.function)
    for token in tree.tokens:
        if token.tag != EMPTY_TAG:
            token.tag = without_index(token.tag)
    return remove_tokens(tree, {i for i, token in enumerate(tree.tokens) if token.tag == EMPTY_TAG})
