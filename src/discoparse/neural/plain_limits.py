"""`limits_for` of many sentences at once, where constraints are plain: constituents, each with a label or none.

Looked at one by one, they take a third of the time that the host of a GPU has for a sentence. What is not plain, or
what may be wrong, is left to `limits_for`.

Shapes: S sentences with plain constraints, G required constituents of all of them, K tokens of all of these.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from discoparse.neural.limits import Limits
from discoparse.neural.vocabulary import Vocabulary
from discoparse.system.constraints import Constraints

_LONGEST = 63  # tokens: a set of them must fit into 64 bits, one of which is the sign
_MOST_PAIRS = 1 << 19  # of constituents of one sentence that are compared at once, which bounds the memory
_ANY: list[int] = []  # label ids, where any label will do


def plain_limits(
    constraints: Sequence[Constraints | None], sentences: Sequence[Sequence[str]], vocabulary: Vocabulary
) -> list[Limits | None]:
    """The limits of the sentences whose constraints are plain and can be met; None for the others."""
    found: list[Limits | None] = [None] * len(sentences)
    for part in _parts(constraints, list(map(len, sentences))):
        numbers, some, lengths = zip(*part, strict=True)
        for k, limits in zip(numbers, _limits(some, lengths, vocabulary), strict=True):
            found[k] = limits
    return found


def _parts(
    constraints: Sequence[Constraints | None], lengths: list[int]
) -> Iterator[list[tuple[int, Constraints, int]]]:
    """Sentences that may be plain, in parts with so few pairs of constituents that they fit into memory: the number of
    each, its constraints, and its length."""
    part, pairs = list[tuple[int, Constraints, int]](), 0
    for k, (one, length) in enumerate(zip(constraints, lengths, strict=True)):
        if one is None or not one.constituents or one.forbidden or one.tags or one.words is not None:
            continue
        count = len(one.constituents)
        if length <= _LONGEST and count < 2 * length:  # a tree has no more different ones
            part.append((k, one, length))
            pairs += count * count
        if pairs > _MOST_PAIRS:
            yield part
            part, pairs = [], 0
    if part:
        yield part


def _limits(constraints: Sequence[Constraints], lengths: Sequence[int], vocabulary: Vocabulary) -> list[Limits | None]:
    entries = [entry for one in constraints for entry in one.constituents]
    ids = [_label_ids(entry.label, vocabulary) if entry.labels is None else None for entry in entries]
    count, length = np.array([len(one.constituents) for one in constraints]), np.array(lengths)
    end = np.cumsum(count)
    sentence = np.repeat(np.arange(len(count)), count)  # [G]
    masks = _masks([entry.tokens for entry in entries], length[sentence])  # [G] 0 where tokens are none of the sentence
    wrong = (masks == 0) | np.array([labels is None for labels in ids])
    first, second = _pairs(end[sentence])
    mask, other = masks[first], masks[second]
    both = mask & other
    clash = (mask == other) | ((both != 0) & (both != mask) & (both != other))  # the same, or not nested
    wrong[first[clash]] = True
    left_out = np.logical_or.reduceat(wrong, end - count).tolist()  # [S]
    sets, found = masks.tolist(), list[Limits | None]()
    for out, stop, size, n in zip(left_out, end.tolist(), count.tolist(), lengths, strict=True):
        found.append(None if out else _of_sentence(n, sets[stop - size : stop], ids[stop - size : stop]))
    return found


def _label_ids(label: str | None, vocabulary: Vocabulary) -> list[int] | None:
    """None for a label that the model does not know."""
    return _ANY if label is None else vocabulary.ids_with.get(label)


def _masks(sets: Sequence[frozenset[int]], lengths: np.ndarray) -> np.ndarray:
    """Sets of tokens of sentences of some lengths [G] as bit masks [G]; 0 for an empty set or one with other tokens."""
    size = np.fromiter(map(len, sets), np.int64, len(sets))
    try:
        token = np.array(array("q", list(chain.from_iterable(sets))))  # [K]; refuses what is no integer
    except OverflowError:
        return np.zeros_like(size)
    owner = np.repeat(np.arange(len(sets)), size)  # [K]
    there = (token >= 0) & (token < lengths[owner])
    masks = np.zeros_like(size)
    np.bitwise_or.at(masks, owner, np.left_shift(1, np.where(there, token, 0)))
    masks[owner[~there]] = 0
    return masks


def _pairs(end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of entries of one sentence, where `end` [G] is the end of each entry's sentence.

    >>> [part.tolist() for part in _pairs(np.array([1, 4, 4, 4]))]
    [[1, 1, 2], [2, 3, 3]]
    """
    later = end - np.arange(1, len(end) + 1)  # entries that follow in the same sentence
    first = np.repeat(np.arange(len(end)), later)
    return first, first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)


def _of_sentence(length: int, sets: list[int], ids: list[list[int] | None]) -> Limits:
    everything, top = (1 << length) - 1, _ANY
    wanted = [one or _ANY for one in ids]
    if everything in sets:
        place = sets.index(everything)
        top = wanted.pop(place)
        del sets[place]
    return Limits(length, [everything, *sets], [0] * (len(sets) + 1), [top, *wanted], [], {})
