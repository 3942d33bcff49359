"""What the network believes of sentences, with PyTorch: samples, labels and probabilities for `belief`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.belief import Belief, Foci, beliefs
from discoparse.neural.calibration import Calibration
from discoparse.neural.draws import seeds_of
from discoparse.neural.marginals import Marginals, labeller_states, marginals
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import sample
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
    network = decoder.network
    folded = decoder.fast_scorers or FoldedScorers.of(network.scorers)
    for chosen in decoder.batches(sentences):
        words = [sentences[k] for k in chosen]
        first, last, lengths = decoder.encode(words)
        seeds = seeds_of(words)
        tag_probability, tag = (network.tag_scores(first) / calibration.tags).softmax(-1).max(-1)
        for start, end in decoder.chunks(lengths.tolist(), samples + 1):
            some = lengths[start:end]
            tokens = last[start:end, : int(some.max())]
            found = sample(network.scorers, folded, tokens, some, samples, calibration.structure, seeds[start:end])
            states = labeller_states(folded, tokens, some, found)
            known = marginals(network.scorers, states, found, calibration.labels)
            foci = _foci(known, some.tolist(), tag[start:end], tag_probability[start:end])
            yield from zip(
                chosen[start:end].tolist(),
                beliefs(foci, decoder.vocabulary.labels, calibration, least),
                strict=True,
            )


def _foci(found: Marginals, lengths: Sequence[int], tags: Tensor, tag_probabilities: Tensor) -> Foci:
    samples = found.samples
    row, step, action = _array(samples.row), _array(samples.step), _array(samples.action)
    greedy = ~samples.sampled
    masks: dict[int, list[int]] = {}

    def mask(focus: int) -> int:
        own = int(row[focus])
        if own not in masks:
            masks[own] = yields(replay(action[own, : 2 * lengths[own * len(lengths) // len(action)] - 1].tolist()))
        return masks[own][int(step[focus])]

    return Foci(
        [slots[: 2 * n - 1] for slots, n in zip(samples.action[greedy].tolist(), lengths, strict=True)],
        [foci[: 2 * n - 1] for foci, n in zip(samples.index[greedy].tolist(), lengths, strict=True)],
        _array(found.tree_probability),
        [own[:n] for own, n in zip(tags.tolist(), lengths, strict=True)],
        [own[:n] for own, n in zip(tag_probabilities.tolist(), lengths, strict=True)],
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
