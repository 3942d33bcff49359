"""Sentences and word forms in batches: batches by tokens, characters as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discoparse.neural.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def form_tensors(forms: Sequence[str], vocabulary: Vocabulary, device: torch.device) -> tuple[Tensor, Tensor]:
    """Character ids of word forms [U, L] and their lengths [U]."""
    import torch  # here: batches for the compiled network need none of it

    spelled = [vocabulary.character_ids(form) for form in forms]
    lengths = np.array([len(ids) for ids in spelled])
    table = np.zeros((len(forms), int(lengths.max())), dtype=np.int32)
    for row, ids in zip(table, spelled, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table).to(device), torch.from_numpy(lengths).to(device)


# Tokens of a batch with padding: large enough to keep the device busy, small enough for its caches or memory.
BATCH_TOKENS = {"cpu": 3072, "cuda": 32768}
BATCH_PIECES = {"cpu": 512, "cuda": 32768}  # with a pretrained encoder, whose layers are wide


def length_batches(lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Indexes of sentences of like length, shortest first, in batches; empty sentences are left out."""
    order = np.argsort(lengths, kind="stable")
    return by_budget(order[np.searchsorted(lengths[order], 1) :], lengths, budget)


def by_budget(order: np.ndarray, lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut sentences, sorted by length, into batches of at most `budget` tokens with padding (or one sentence)."""
    batches, start = [], 0
    sizes = lengths[order].tolist()  # numbers of Python's own are much quicker to look at one by one
    while start < len(order):
        longest = sizes[start]
        end = start + 1
        while end < len(order) and (end + 1 - start) * max(longest, sizes[end]) <= budget:
            longest = max(longest, sizes[end])
            end += 1
        batches.append(order[start:end])
        start = end
    return batches


def chunks(lengths: Sequence[int], rows: int, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of sentences, sorted by length, with so many rows each, of about `most` rows times tokens.

    >>> list(chunks([1, 2, 2, 5], rows=2, most=8))
    [(0, 2), (2, 3), (3, 4)]
    """
    start = longest = 0
    for end, length in enumerate([*lengths[1:], most + 1], 1):  # the last entry ends the last range
        longest = max(longest, lengths[end - 1], length)
        if (end + 1 - start) * rows * longest > most:
            yield start, end
            start, longest = end, 0
