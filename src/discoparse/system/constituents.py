"""Constituents as transition systems see them: (label, yield) pairs, one label a yield; to and from trees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from discoparse.errors import DiscoparseError
from discoparse.transform.unary import chain_label, chain_labels, chains_of
from discoparse.tree import Constituent, Token, Tree, indexes


class ConstituentError(DiscoparseError, ValueError):
    """A set of constituents is not a tree with one label a yield."""


def tree_constituents(tree: Tree) -> frozenset[Constituent]:
    """The constituents of a tree; each chain of unary nodes is one constituent with one label.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> tree = parse_tree("(ROOT (S (NP (N 0=a)) (V 1=b)))")
    >>> sorted((label, sorted(s)) for label, s in tree_constituents(tree))
    [('NP', [0]), ('ROOT+S', [0, 1])]
    """
    return frozenset((chain_label(labels), frozenset(indexes(mask))) for labels, mask in chains_of(tree))


def constituents_tree(tokens: Sequence[Token], constituents: Iterable[Constituent]) -> Tree:
    """The tree with these constituents, unary chains expanded; the inverse of `tree_constituents`."""
    nodes = [(part, s) for label, s in constituents for part in chain_labels(label)]
    return Tree.from_constituents(tokens, nodes)


class Nesting:
    """Which constituent lies in which. Constituents are numbered; the whole sentence is number 0.

    >>> nesting = Nesting({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))})
    >>> nesting.labels, nesting.parents, nesting.lowest
    (['S', 'VP'], [None, 0], [1, 0, 1])
    """

    def __init__(self, constituents: Collection[Constituent]) -> None:
        largest_first = sorted(constituents, key=_size, reverse=True)
        if not largest_first or not largest_first[0][1]:
            raise ConstituentError("no constituents: a gold tree has at least one, over the whole sentence")
        sentence = largest_first[0][1]
        self.length = len(sentence)
        if min(sentence) != 0 or max(sentence) != self.length - 1:
            raise ConstituentError(f"{_show(largest_first[0])} is the largest: none is the whole sentence")
        self.labels = [label for label, _ in largest_first]
        self.yields = [s for _, s in largest_first]
        self.parents: list[int | None] = [None]
        self.lowest = [0] * self.length  # the smallest constituent over each token
        lowest = self.lowest
        for number in range(1, len(largest_first)):
            this, s = largest_first[number], self.yields[number]
            if not s <= sentence:
                raise ConstituentError(f"{_show(this)} is not in the sentence of {self.length} tokens")
            owners = {lowest[i] for i in s}
            if len(owners) != 1:
                raise ConstituentError(f"{_show(this)} is empty, or overlaps another without nesting in it")
            (parent,) = owners
            if len(self.yields[parent]) == len(s):
                other = _show(largest_first[parent])
                raise ConstituentError(f"{_show(this)} and {other} are a unary chain: collapse it first")
            self.parents.append(parent)
            for i in s:
                lowest[i] = number


def _size(constituent: Constituent) -> int:
    return len(constituent[1])


def _show(constituent: Constituent) -> str:
    return f"{constituent[0]} {sorted(constituent[1])}"
