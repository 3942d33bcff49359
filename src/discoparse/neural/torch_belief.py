"""What the network believes of sentences, with PyTorch: samples, labels and probabilities for `belief`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.belief import Belief, Foci, beliefs
from discoparse.neural.calibration import Calibration
from discoparse.neural.draws import seeds_of
from discoparse.neural.marginals import Marginals, labeller_states, marginals
from discoparse.neural.network import Scorers
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import Derived, distinct_foci, sample
from discoparse.neural.scoring import FoldedScorers

if TYPE_CHECKING:
    from discoparse.neural.decisions import Words
    from discoparse.neural.decoder import Decoder


@torch.inference_mode()
def believe(
    decoder: Decoder, sentences: Sequence[Words], samples: int, calibration: Calibration, least: float = 1.0
) -> Iterator[tuple[int, Belief]]:
    """The indexes of sentences and what is believed of them; empty sentences are left out.

    With `least` below 1, `Belief.shared` has all constituents with a larger share of the samples. The compiled network
    does the work where there is one.
    """
    if decoder.compiled is not None:
        batches, encode = decoder.batches(sentences), decoder.encode_for_compiled
        yield from decoder.compiled.believe(sentences, samples, calibration, least, batches, encode)
        return
    parts = _started(decoder, sentences, samples, calibration)
    part = next(parts, None)
    while part is not None:
        chosen, foci = part.chosen.tolist(), part.foci()
        part = next(parts, None)  # a GPU samples while the host draws the conclusions
        yield from zip(chosen, beliefs(foci, decoder.vocabulary.labels, calibration, least), strict=True)


@dataclass(frozen=True)
class _Part:
    """B sentences whose samples are on their way."""

    scorers: Scorers
    folded: FoldedScorers
    temperature: float  # of the labeller
    chosen: np.ndarray  # [B] which sentences these are
    sizes: list[int]  # their lengths
    lengths: Tensor  # [B] the same
    tokens: Tensor  # [B, N, D]
    derived: Derived
    tags: Tensor  # [B, N] or more
    tag_probabilities: Tensor

    def foci(self) -> Foci:
        """What the samples say, once they have arrived."""
        samples = distinct_foci(self.derived)
        states = labeller_states(self.folded, self.tokens, self.lengths, samples)
        found = marginals(self.scorers, states, samples, self.temperature)
        return _foci(found, self.sizes, self.tags, self.tag_probabilities)


def _started(decoder: Decoder, sentences: Sequence[Words], samples: int, calibration: Calibration) -> Iterator[_Part]:
    """Parts of the sentences, each of them when a GPU has been told to sample."""
    network = decoder.network
    folded = decoder.fast_scorers or FoldedScorers.of(network.scorers)
    for chosen in decoder.batches(sentences):
        words = [sentences[k] for k in chosen]
        sizes, seeds = [len(own) for own in words], seeds_of(words)
        first, last, lengths = decoder.encode(words)
        probability, tag = (network.tag_scores(first, last) / calibration.tags).softmax(-1).max(-1)
        for start, end in decoder.chunks(sizes, samples + 1):
            own = slice(start, end)
            tokens = last[own, : max(sizes[own])]
            derived = sample(network.scorers, folded, tokens, lengths[own], samples, calibration.structure, seeds[own])
            yield _Part(
                network.scorers,
                folded,
                calibration.labels,
                chosen[own],
                sizes[own],
                lengths[own],
                tokens,
                derived,
                tag[own],
                probability[own],
            )


def _foci(found: Marginals, lengths: Sequence[int], tags: Tensor, tag_probabilities: Tensor) -> Foci:
    samples = found.samples
    copies = len(samples.action) // len(lengths)
    masks: dict[int, list[int]] = {}

    @cache
    def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Much to copy, and of use only where sets of tokens are asked for."""
        return _array(samples.row), _array(samples.step), _array(samples.action)

    def mask(focus: int) -> int:
        row, step, action = rows()
        own = int(row[focus])
        if own not in masks:
            masks[own] = yields(replay(action[own, : 2 * lengths[own // copies] - 1].tolist()))
        return masks[own][int(step[focus])]

    def lists(tensor: Tensor, ends: Sequence[int]) -> list[list[Any]]:
        """Rows [B, T or N], each up to its end."""
        return [row[:end] for row, end in zip(_array(tensor).tolist(), ends, strict=True)]

    steps = [2 * n - 1 for n in lengths]
    return Foci(
        lists(samples.action[::copies], steps),
        lists(samples.index[::copies], steps),
        _array(found.tree_probability),
        lists(tags, lengths),
        lists(tag_probabilities, lengths),
        _array(samples.sentence),
        _array(samples.share),
        _array(samples.positions[:, 2] <= samples.positions[:, 1]),  # nil is beyond all tokens
        _array(found.code),
        _array(found.code_probability),
        _array(found.expected),
        mask,
    )


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.cpu().numpy())
