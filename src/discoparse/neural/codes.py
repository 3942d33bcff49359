"""Unary chains of labels as one number each, and how long they may get."""

from __future__ import annotations

import math

from discoparse.neural.vocabulary import Vocabulary

# How many nodes of one yield and one label the labeller may put above each other: treebanks have no more.
MOST_ALIKE = 2


def longest_chain(labels: int) -> int:
    """How many nodes of one yield the labeller may stack: treebanks have at most five or six.

    >>> longest_chain(30), longest_chain(2**20)  # a chain's code must fit into 64 bits
    (6, 3)
    """
    return min(6, int(62 / math.log2(labels + 1)))


def spell_code(code: int, labels: int) -> tuple[int, ...]:
    """The label ids of a chain from the top down; its code has the lowest label as its lowest digit.

    >>> spell_code(7 + 3 * 100, 100)
    (3, 7)
    """
    digits = []
    while code:
        code, digit = divmod(code, labels)
        digits.append(digit)
    return tuple(reversed(digits))


class Chains(dict[int, tuple[str, ...]]):
    """Label chains from the top down by their codes (see `spell_code`), spelled on first use; empty for code 0."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.labels = vocabulary.labels

    def __missing__(self, code: int) -> tuple[str, ...]:
        ids = spell_code(code, len(self.labels) + 1)
        self[code] = tuple(name for k in ids for name in self.labels[k - 1])
        return self[code]
