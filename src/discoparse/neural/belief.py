"""Trees with doubt: the greedy tree of each sentence, the probability of each of its parts, and what samples agree on.

Shapes as in `sampling`: B sentences, T structural steps, X distinct foci, L labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from discoparse.evaluation.parameters import standard_parameters
from discoparse.neural.calibration import Calibration
from discoparse.neural.codes import spell_code
from discoparse.neural.marginals import Marginals, labeller_states, marginals
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import sample
from discoparse.neural.scoring import FoldedScorers

if TYPE_CHECKING:
    from discoparse.neural.decisions import Words
    from discoparse.neural.decoder import Decoder

UNSCORED = standard_parameters().delete_labels  # ROOT and the like
_SEED = 19  # the same text gives the same samples
Weighted = tuple[str, int, float]  # a constituent: label, yield as a bit mask, probability


@dataclass(frozen=True)
class Belief:
    """What is believed of one sentence; lists have an entry for each of the 2n-1 steps, or for each token."""

    actions: list[int]  # of the greedy derivation, see `lockstep`
    codes: list[int]  # of its label chains
    label_probabilities: list[float]  # of these, given the focus
    probabilities: list[tuple[float, ...]]  # of the nodes of each chain, from the top down
    tags: list[int]
    tag_probabilities: list[float]
    probability: float  # of the whole tree
    expected_size: float  # constituents of a sampled tree on average, those that are not scored left out
    shared: list[Weighted]  # constituents in more than a given share of the samples, the largest share first


@torch.inference_mode()
def believe(
    decoder: Decoder, sentences: Sequence[Words], samples: int, calibration: Calibration, least: float = 1.0
) -> Iterator[tuple[int, Belief]]:
    """The indexes of sentences and what is believed of them; empty sentences are left out.

    With `least` below 1, `Belief.shared` has all constituents with a larger share of the samples.
    """
    network, device = decoder.network, decoder.device
    generator = torch.Generator(device).manual_seed(_SEED)
    folded = decoder.fast_scorers or FoldedScorers.of(network.scorers)
    for chosen in decoder.batches(sentences):
        first, last, lengths = decoder.encode([sentences[k] for k in chosen])
        tag_probability, tag = (network.tag_scores(first) / calibration.tags).softmax(-1).max(-1)
        tags, tag_probabilities = tag.tolist(), tag_probability.tolist()
        for start, end in decoder.chunks(lengths.tolist(), samples + 1):
            some = lengths[start:end]
            tokens = last[start:end, : int(some.max())]
            found = sample(network.scorers, folded, tokens, some, samples, calibration.structure, generator)
            states = labeller_states(folded, tokens, some, found)
            reading = _Reading(marginals(network.scorers, states, found, calibration.labels), decoder, calibration)
            for b, n in enumerate(some.tolist()):
                k = start + b
                yield int(chosen[k]), reading.belief(b, n, tags[k][:n], tag_probabilities[k][:n], least)


class _Reading:
    """The marginals of some sentences, on the host."""

    def __init__(self, found: Marginals, decoder: Decoder, calibration: Calibration) -> None:
        self.names = decoder.vocabulary.labels
        samples = found.samples
        greedy = ~samples.sampled
        self.action, self.index = _array(samples.action), _array(samples.index[greedy])
        self.code, self.code_probability = _array(found.code), _array(found.code_probability)
        self.sentence, self.whole = _array(samples.sentence), _array(samples.whole)
        self.row, self.step = _array(samples.row), _array(samples.step)
        self.share = _array(samples.share)[:, None] * np.clip(_array(found.expected), 0, 1)  # [X, L]
        gapped = _array(samples.positions[:, 2]) <= _array(samples.positions[:, 1])  # nil is beyond all tokens
        self.probability = calibration.probability(self.share, gapped[:, None])
        self.tree_probability = (found.tree_probability**calibration.tree_power).tolist()
        nodes = np.array([0, *(sum(label not in UNSCORED for label in chain) for chain in self.names)])  # [L]
        sizes = _array(samples.share) * (_array(found.expected) @ nodes)
        self.expected_size = np.bincount(self.sentence, sizes, minlength=len(self.index))  # [B] nodes of a sample
        self._masks: dict[int, list[int]] = {}

    def belief(
        self, sentence: int, length: int, tags: list[int], tag_probabilities: list[float], least: float
    ) -> Belief:
        """What is believed of one sentence of the batch."""
        steps = 2 * length - 1
        foci = self.index[sentence, :steps]
        codes = self.code[foci].tolist()
        copies = len(self.action) // len(self.index)
        probabilities: list[tuple[float, ...]] = []
        for focus, code in zip(foci.tolist(), codes, strict=True):
            ids = spell_code(code, len(self.names) + 1)
            # A label of the labeller may be a chain of nodes itself.
            values = [float(self.probability[focus, k]) for k in ids for _ in self.names[k - 1]]
            probabilities.append(tuple(values))
        return Belief(
            self.action[sentence * copies, :steps].tolist(),
            codes,
            self.code_probability[foci].tolist(),
            probabilities,
            tags,
            tag_probabilities,
            self.tree_probability[sentence],
            float(self.expected_size[sentence]),
            self._shared(sentence, length, least) if least < 1 else [],
        )

    def _shared(self, sentence: int, length: int, least: float) -> list[Weighted]:
        """All constituents that more than this share of the samples has, but for the whole sentence."""
        largest = self.share[:, 1:].max(1)
        (foci,) = np.nonzero((self.sentence == sentence) & (largest > least) & ~self.whole)
        found: list[Weighted] = []
        for focus in sorted(foci.tolist(), key=lambda focus: -largest[focus]):
            best = spell_code(int(self.code[focus]), len(self.names) + 1)
            labels = [k for k in np.flatnonzero(self.share[focus] > least).tolist() if k]
            for label in sorted(labels, key=lambda k: best.index(k) if k in best else -1):  # from the top down
                value, mask = float(self.probability[focus, label]), self._mask(focus, length)
                found.extend((part, mask, value) for part in self.names[label - 1])
        return found

    def _mask(self, focus: int, length: int) -> int:
        row = int(self.row[focus])
        if row not in self._masks:
            self._masks[row] = yields(replay(self.action[row, : 2 * length - 1].tolist()))
        return self._masks[row][int(self.step[focus])]


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.cpu().numpy())


def agreed(shared: Sequence[Weighted]) -> list[Weighted]:
    """Of constituents by decreasing weight, those that are compatible with all that were taken before.

    Constituents that more than half of the samples have are all taken: any two of them are together in some sample's
    tree, so they are compatible.

    >>> agreed([("NP", 0b011, 0.4), ("VP", 0b110, 0.3), ("N", 0b001, 0.2)])
    [('NP', 3, 0.4), ('N', 1, 0.2)]
    """
    taken: list[Weighted] = []
    for one in shared:
        if all(one[1] & mask in (0, one[1], mask) for _, mask, _ in taken):
            taken.append(one)
    return taken
