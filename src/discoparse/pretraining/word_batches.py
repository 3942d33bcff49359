"""Batches of sentences for the encoder of Section 3.1, and which of their words are hidden.

Shapes: B sentences of at most N tokens, U distinct word forms, K hidden words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.batching import form_tensors
from discoparse.neural.device import to_device
from discoparse.neural.network import Inputs
from discoparse.neural.vocabulary import Vocabulary
from discoparse.pretraining.corpus import TextCorpus
from discoparse.pretraining.recipe import WordRecipe

_SORTED = 100_000  # sentences that are sorted by length together: most of an epoch's order stays random


@dataclass(frozen=True)
class HiddenWords:
    """A batch with some of its words hidden."""

    inputs: Inputs
    hidden: Tensor  # [B, N]
    characters_hidden: Tensor  # [B, N]
    place: Tensor  # [K] in B x N
    form: Tensor  # [K] in the corpus
    tokens: int


class WordBatches:
    """The sentences of a corpus as batches; those that are too long are read in parts."""

    def __init__(
        self,
        corpus: TextCorpus,
        sentences: np.ndarray,  # [sentences] which of them
        forms: FormTables,
        recipe: WordRecipe,
    ) -> None:
        self.corpus, self.recipe, self.forms = corpus, recipe, forms
        self.starts, self.lengths = _parts(corpus.starts[sentences], corpus.lengths[sentences], recipe.longest)
        self.batches: list[np.ndarray] = []

    def shuffle(self, random: np.random.Generator) -> None:
        """New batches of sentences of like length."""
        order = random.permutation(len(self.lengths))
        self.batches = []
        for start in range(0, len(order), _SORTED):
            some = order[start : start + _SORTED]
            some = some[np.argsort(self.lengths[some], kind="stable")]
            self.batches += _cut(some, self.lengths[some], self.recipe.batch_tokens)
        random.shuffle(self.batches)

    def hide(self, number: int, random: np.random.Generator) -> HiddenWords:
        """A batch with some words hidden."""
        chosen = self.batches[number]
        lengths = self.lengths[chosen]
        width = int(lengths.max())
        position = np.arange(width)
        inside = position < lengths[:, None]  # [B, N]
        place = np.where(inside, self.starts[chosen][:, None] + position, 0)
        forms = np.where(inside, self.corpus.ids[place], 0)
        hidden = inside & _spans(inside.shape, self.recipe.hidden_share, self.recipe.span_length, random)
        characters = hidden & (random.random(inside.shape) < self.recipe.hidden_characters)
        device = self.forms.device
        flat = np.flatnonzero(hidden)
        return HiddenWords(
            self.forms.inputs(forms, lengths),
            to_device(hidden, device),
            to_device(characters, device),
            to_device(flat, device),
            to_device(forms.ravel()[flat].astype(np.int64), device),
            int(lengths.sum()),
        )


class FormTables:
    """The word forms of a corpus on a device."""

    def __init__(self, forms: Sequence[str], vocabulary: Vocabulary, device: torch.device) -> None:
        self.device = device
        characters, lengths = form_tensors(forms, vocabulary, torch.device("cpu"))
        self.host_lengths = lengths.numpy()
        self.characters = characters.to(torch.int16).to(device)  # [forms, L]
        self.lengths = lengths.to(device)
        self.words = torch.tensor([vocabulary.word_id(form) for form in forms], device=device)

    def inputs(self, forms: np.ndarray, lengths: np.ndarray) -> Inputs:
        """Sentences of forms [B, N] for the encoder; every distinct form once, short ones first."""
        distinct, places = np.unique(forms, return_inverse=True)
        order = np.argsort(self.host_lengths[distinct], kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        longest = int(self.host_lengths[distinct[order[-1]]])
        rows = to_device(distinct[order].astype(np.int64), self.device)  # [U]
        form = to_device(rank[places].reshape(forms.shape), self.device)  # [B, N]
        return Inputs(
            self.words[rows][form],
            form,
            self.characters[rows, :longest].long(),
            self.lengths[rows],
            to_device(lengths.astype(np.int64), self.device),
        )


def _parts(starts: np.ndarray, lengths: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of sentences, those of long ones in parts.

    >>> [part.tolist() for part in _parts(np.array([0, 5]), np.array([5, 2]), 2)]
    [[0, 2, 4, 5], [2, 2, 1, 2]]
    """
    parts = -(-lengths // longest)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.repeat(starts, parts) + part * longest, np.minimum(np.repeat(lengths, parts) - part * longest, longest)


def _cut(order: np.ndarray, sizes: np.ndarray, budget: int) -> list[np.ndarray]:
    """Sentences sorted by size in batches of at most `budget` tokens with padding, or of one sentence.

    As `by_budget`, in time that depends on the number of batches and not of sentences.

    >>> [batch.tolist() for batch in _cut(np.arange(5), np.array([1, 1, 2, 3, 9]), 6)]
    [[0, 1, 2], [3], [4]]
    """
    batches, start = [], 0
    while start < len(order):
        count = len(order) - start
        # The size with padding grows with the number of sentences: the first one that is too large ends the batch.
        fitting = bisect_left(range(1, count + 1), budget + 1, key=_padded(sizes[start:]))
        batches.append(order[start : start + max(1, fitting)])
        start += max(1, fitting)
    return batches


def _padded(sizes: np.ndarray) -> Callable[[int], int]:
    """The tokens of the first sentences with padding, by their number."""
    return lambda count: count * int(sizes[count - 1])


def _spans(shape: tuple[int, ...], share: float, mean_length: float, random: np.random.Generator) -> np.ndarray:
    """Hide about a `share` of the positions [B, N], in spans of `mean_length` positions on average."""
    if mean_length == 1:
        return random.random(shape) < share
    # A position is shown if none of the spans that start at it or before it reaches it: solved for the starts' share.
    starts = random.random(shape) < 1 - (1 - share) ** (1 / mean_length)
    position = np.arange(shape[1])
    end = np.where(starts, position + random.geometric(1 / mean_length, shape), 0)
    return np.maximum.accumulate(end, axis=1) > position
