"""Random numbers for samples: a sentence has its own, whatever stands beside it in a batch, on whatever machine."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)  # this and the mixing below are SplitMix64's


def seeds_of(sentences: Sequence[Sequence[str]]) -> np.ndarray:
    """A number for each sentence [B], made from its words.

    >>> one, other, again = seeds_of([["a", "b"], ["ab"], ["a", "b"]])
    >>> one == again, one == other
    (np.True_, np.False_)
    """
    texts = ("\0".join(words).encode("utf-8", "surrogatepass") for words in sentences)
    return np.array([zlib.crc32(text) for text in texts], dtype=np.uint64)


def draws(seeds: np.ndarray, lengths: Sequence[int], samples: int) -> np.ndarray:
    """Numbers from 0 to less than 1, for each sentence a row of 2n-1 for every sample, one sentence after the other.

    More samples do not change the first ones.

    >>> some, more = (draws(np.array([7]), [2], count).reshape(count, 3) for count in (2, 5))
    >>> bool((some == more[:2]).all()), more.shape
    (True, (5, 3))
    """
    rows = np.arange(samples, dtype=np.uint64)[:, None] << np.uint64(32)
    counters = [(rows + np.arange(2 * n - 1, dtype=np.uint64)).ravel() for n in lengths]
    sizes = [len(counter) for counter in counters]
    mixed = _mix(np.repeat(seeds.astype(np.uint64), sizes) + _STEP * np.concatenate(counters))
    return (mixed >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)


def _mix(number: np.ndarray) -> np.ndarray:
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
