"""A sentence with one derivation as a row of numbers on the device: all that an update reads, in few shapes.

Sentences are padded to a shape, so that many share one CUDA graph. What is padded adds nothing to a loss: tags and
labels that are ignored, and pairs of a focus that decides nothing: the last of the sentence.

Shapes: N tokens, L characters of a token, F = 2N-1 foci, R pairs of a focus and one of its legal actions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from discoparse.training.corpus import Corpus
from discoparse.training.decision_store import Rows
from discoparse.training.objective import IGNORED

NO_TAG = -1


@dataclass(frozen=True)
class Shape:
    """The size of a padded sentence."""

    tokens: int
    characters: int
    pairs: int

    @classmethod
    def of(cls, tokens: int, characters: int, pairs: int) -> Shape:
        """The next shape that is used; each has at most half as much again as it needs, but for short sentences.

        >>> Shape.of(tokens=13, characters=9, pairs=70)
        Shape(tokens=16, characters=16, pairs=96)
        """
        return cls(_multiple(tokens, 4), 16 if characters <= 16 else _multiple(characters, 8), _doubling(pairs, 64))

    @property
    def foci(self) -> int:
        return 2 * self.tokens - 1

    @property
    def sizes(self) -> list[int]:
        """How many numbers each part of a row has, in the order of `SentenceRow`."""
        n = self.tokens
        return [n, n, n, n * self.characters, 1, 4 * self.foci, self.foci, self.foci, self.pairs, self.pairs]


def _multiple(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _doubling(number: int, least: int) -> int:
    """The next of least, 1.5 least, 2 least, 3 least, 4 least, ...

    >>> [_doubling(number, 64) for number in (5, 64, 65, 96, 97, 128, 129)]
    [64, 64, 96, 96, 128, 128, 192]
    """
    while least < number:
        if 3 * least >= 2 * number:
            return least * 3 // 2
        least *= 2
    return least


@dataclass
class SentenceRow:
    """The parts of a row, as views of it."""

    words: Tensor  # [N] ids
    tags: Tensor  # [N]
    form_lengths: Tensor  # [N]
    characters: Tensor  # [N, L] ids; here every token has a form of its own, even where two are alike
    lengths: Tensor  # [1] tokens of the sentence
    focus: Tensor  # [F, 4] as in `Decisions`
    label: Tensor  # [F] likewise
    best: Tensor  # [F] the pair that is the optimal action of a focus
    pair_focus: Tensor  # [R] as in `Decisions`
    pair_item: Tensor  # [R] likewise

    @classmethod
    def of(cls, row: Tensor, shape: Shape) -> SentenceRow:
        parts = list(row.split(shape.sizes))
        parts[3] = parts[3].view(shape.tokens, shape.characters)
        parts[5] = parts[5].view(shape.foci, 4)
        return cls(*parts)


class RowPacker:
    """Makes the rows of a corpus's sentences, for derivations with one optimal action at every step."""

    def __init__(self, corpus: Corpus, no_label: int) -> None:
        """`no_label` is the gold label of padding, which the loss ignores."""
        self.corpus = corpus
        self.no_label = no_label
        self.words = corpus.word_of_form.cpu().numpy()
        self.characters = corpus.characters.cpu().numpy()
        self.tags = np.split(corpus.tags.values.cpu().numpy(), corpus.tags.counts.cumsum()[:-1])

    def pack(self, sentence: int, decisions: Rows) -> tuple[Shape, np.ndarray]:
        """One sentence with a derivation of it."""
        corpus = self.corpus
        n = int(corpus.lengths[sentence])
        forms = corpus.host_forms[corpus.starts[sentence] :][:n]
        form_lengths = corpus.host_form_lengths[forms]
        foci, pairs = decisions
        shape = Shape.of(n, int(form_lengths.max()), len(pairs))
        row = np.zeros(sum(shape.sizes), dtype=np.int64)
        parts = np.split(row, np.cumsum(shape.sizes)[:-1])
        words, tags, lengths, characters, length, focus, label, best, pair_focus, pair_item = parts
        words[:n] = self.words[forms]
        tags[:] = NO_TAG
        tags[:n] = self.tags[sentence]
        lengths[:] = 1  # a recurrence over nothing has no last state
        lengths[:n] = form_lengths
        known = min(shape.characters, self.characters.shape[1])
        characters.reshape(shape.tokens, -1)[:n, :known] = self.characters[forms, :known]
        length[0] = n
        table = focus.reshape(shape.foci, 4)
        table[: len(foci)] = np.where(foci[:, :4] < 0, shape.tokens, foci[:, :4])
        label[:] = self.no_label
        label[: len(foci)] = foci[:, 4]
        wanted = pairs[:, 2] > 0
        best[:] = IGNORED
        best[pairs[wanted, 0]] = np.flatnonzero(wanted)
        pair_focus[:] = len(foci) - 1
        pair_focus[: len(pairs)] = pairs[:, 0]
        item = pairs[:, 1]
        pair_item[: len(pairs)] = np.where(item >= 0, item, shape.foci - 2 - item)
        return shape, row

    def upload(self, decisions: Iterable[tuple[int, Rows]]) -> dict[int, tuple[Shape, Tensor]]:
        """The rows of some sentences on the device."""
        packed = {sentence: self.pack(sentence, rows) for sentence, rows in decisions}
        if not packed:
            return {}
        values = torch.from_numpy(np.concatenate([row for _, row in packed.values()])).to(self.corpus.device)
        views = values.split([len(row) for _, row in packed.values()])
        return {k: (shape, view) for (k, (shape, _)), view in zip(packed.items(), views, strict=True)}
