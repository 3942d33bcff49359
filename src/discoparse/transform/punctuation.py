"""Punctuation: moved into the phrases it belongs to, exactly as disco-dop's `--punct=move` does, or removed.

Treebanks in the scheme of Negra attach punctuation to the root, where it makes most phrases discontinuous for
no linguistic reason. Moving it (van Cranenburgh, Scha and Bod 2016) is the usual preparation for parsing.
"""

from __future__ import annotations

from discoparse.transform.shape import remove_tokens
from discoparse.tree import Node, Token, Tree

# What counts as punctuation follows disco-dop, whose trees we must reproduce: general tags, then those of the
# Penn Treebank, Negra and Tiger, Alpino and Lassy, and the Grammatical Framework.
TAGS = frozenset([".", ",", ":", "'", "''", "`", "``", '"', "-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"]) | {
    "$,",
    "$.",
    "$[",
    "$(",
    "let",
    "LET[]",
    "SPEC[symb]",
    "TW[hoofd,vrij]",
    "COMMA",
    "PUNCT",
    "PAREN",
}
# A lone ' may be a possessive marker, so it is known by its tag only.
WORDS = frozenset('.,():-";?/!*&`[]<>{}|=«»·\xad\\') | {
    *("..", "...", "....", ".....", "......", "!!", "!!!", "??", "???", "''", "``", ",,"),
    *("--", "---", "----", "-LRB-", "-RRB-", "-LCB-", "-RCB-", "-LSB-", "-RSB-", "&bullet;"),
}
CLOSING = {'"': '"', "'": "'", "``": "''", "[": "]", "(": ")", "-LRB-": "-RRB-", "-LSB-": "-RSB-", "-": "-"}


def is_punctuation(token: Token) -> bool:
    """Whether the tag or the word says so.

    >>> is_punctuation(Token("'", "$(")), is_punctuation(Token("'", "POS")), is_punctuation(Token("?", "X"))
    (True, False, True)
    """
    return token.tag in TAGS or token.word in WORDS


def remove_punctuation(tree: Tree) -> Tree | None:
    """The tree without punctuation and the nodes that held nothing else; None when no word is left."""
    return remove_tokens(tree, {i for i, token in enumerate(tree.tokens) if is_punctuation(token)})


def move_punctuation(tree: Tree) -> Tree:
    """Move punctuation from the root to its neighbours, then bring pairs of quotes and brackets together.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(move_punctuation(parse_tree("(ROOT (S (A 0=a) (NP (B 2=b))) ($, 1=,) ($. 3=.))")))
    (ROOT (S (A 0=a) ($, 1=,) (NP (B 2=b))) ($. 3=.))
    """
    mover = _Mover(tree.copy())
    mover.lower_from_root()
    mover.balance_pairs()
    mover.tree.sort()
    return mover.tree


class _Mover:
    """A tree whose tokens change their parents; keeps parents and the current yields."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.parents = tree.parents()
        self.masks = tree.masks()

    def lower_from_root(self) -> None:
        """Attach each mark of the root to the highest phrase with a child that starts right after it."""
        root = self.tree.root
        marks = [c for c in root.children if isinstance(c, int) and is_punctuation(self.tree.tokens[c])]
        for mark in reversed(marks):
            if len(root.children) == 1 or mark + 1 == len(self.tree):
                continue
            child: Node | int = mark + 1
            parent = self.parents[child]
            while parent is not root and self.first(parent) == mark + 1:
                child, parent = parent, self.parents[parent]
            self.attach(mark, parent)

    def balance_pairs(self) -> None:
        """Where one mark of a pair borders on the phrase that holds the other, attach it there too."""
        opened: dict[str, int] = {}  # closing mark: where its opening mark stands
        for right, token in enumerate(self.tree.tokens):
            if token.tag not in TAGS:
                continue
            if token.word in opened:
                left = opened.pop(token.word)
                if self.last(self.parents[left]) == right - 1:
                    self.attach(right, self.parents[left])
                elif self.first(self.parents[right]) == left + 1:
                    self.attach(left, self.parents[right])
            elif token.word in CLOSING:
                opened[CLOSING[token.word]] = right

    def first(self, node: Node) -> int:
        mask = self.masks[node]
        return (mask & -mask).bit_length() - 1

    def last(self, node: Node) -> int:
        return self.masks[node].bit_length() - 1

    def attach(self, token: int, parent: Node) -> None:
        """Move a token to another parent; nodes that become empty are dropped."""
        old = self.parents[token]
        old.children.remove(token)
        while not old.children and old is not self.tree.root:
            above = self.parents.pop(old)
            above.children = [c for c in above.children if c is not old]
            old = above
        bit = 1 << token
        above_old: Node | None = old
        while above_old is not None:
            self.masks[above_old] &= ~bit
            above_old = self.parents.get(above_old)
        parent.children.append(token)
        self.parents[token] = parent
        above_new: Node | None = parent
        while above_new is not None:
            self.masks[above_new] |= bit
            above_new = self.parents.get(above_new)
