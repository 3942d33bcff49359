"""Yields as bit masks, in which bit i is token i: their tokens, blocks and gaps."""

from __future__ import annotations

from collections.abc import Iterable


def indexes(mask: int) -> list[int]:
    """The token indexes in a bit mask, in order.

    >>> indexes(0b1001)
    [0, 3]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def blocks(mask: int) -> list[tuple[int, int]]:
    """The first and the last token of each contiguous block of a yield.

    >>> blocks(0b1011001)
    [(0, 0), (3, 4), (6, 6)]
    """
    found = []
    while mask:
        first = (mask & -mask).bit_length() - 1
        filled = mask + (1 << first)  # the carry runs to the end of the block
        end = (filled & -filled).bit_length() - 1
        found.append((first, end - 1))
        mask &= -1 << end
    return found


def gap_count(mask: int) -> int:
    """The number of gaps in a yield.

    >>> gap_count(0b1011001), gap_count(0b1110)
    (2, 0)
    """
    return (mask & ~(mask << 1)).bit_count() - 1  # starts of blocks, less one


def gap_tokens(s: Iterable[int]) -> list[int]:
    """The paper's gap of s: the tokens between its ends that are not in it (Section 3.2).

    >>> gap_tokens({1, 5, 6})
    [2, 3, 4]
    """
    members = set(s)
    return [i for i in range(min(members), max(members)) if i not in members]


def interleave(a: int, b: int) -> bool:
    """Whether tokens of disjoint yields a and b alternate at least a b a b (or b a b a).

    >>> interleave(0b0101, 0b1010), interleave(0b1001, 0b0110)
    (True, False)
    """
    turns, last = 0, None
    for i in indexes(a | b):
        owner = a >> i & 1
        if owner != last:
            turns, last = turns + 1, owner
    return turns > 3
