"""Trees with doubt: the greedy tree of each sentence, the probability of each of its parts, and what samples agree on.

The samples come from `torch_belief` (PyTorch) or from the compiled network.
Shapes as in `sampling`: B sentences, X distinct foci, L labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from discoparse.evaluation.parameters import standard_parameters
from discoparse.neural.calibration import Calibration
from discoparse.neural.codes import spell_code

_HALF = 0.5
UNSCORED = standard_parameters().delete_labels  # ROOT and the like
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


@dataclass(frozen=True)
class Foci:
    """What samples of B sentences say, on the host: X sets of tokens are the focus of some."""

    actions: list[list[int]]  # of each sentence's greedy derivation
    index: list[list[int]]  # the foci of its steps
    tree_probability: np.ndarray  # [B] of the greedy trees, raw
    tags: list[list[int]]
    tag_probabilities: list[list[float]]
    sentence: np.ndarray  # [X]
    share: np.ndarray  # [X] of the samples that have it
    gapped: np.ndarray  # [X] whether it is discontinuous
    code: np.ndarray  # [X] of the best label chain, and its probability given the focus
    code_probability: np.ndarray  # [X]
    expected: np.ndarray  # [X, L] nodes of each label on average, see `marginals.Marginals`
    mask: Callable[[int], int]  # a focus as a bit mask


def beliefs(found: Foci, names: Sequence[tuple[str, ...]], calibration: Calibration, least: float) -> Iterator[Belief]:
    """What is believed of each sentence; `names` are what the labeller's labels stand for, and `least` is as for
    `torch_belief.believe`."""
    reading = _Reading(found, names, calibration)
    shared = reading.shared(least) if least < 1 else {}
    trees = (found.tree_probability**calibration.tree_power).tolist()
    sizes = reading.expected_sizes().tolist()
    # The greedy derivations of all sentences in one row: arrays are looked up and computed with once, not for each.
    foci = np.array(list(chain.from_iterable(found.index)), dtype=np.int64)
    own = found.code[foci]
    codes, label_probabilities = own.tolist(), found.code_probability[foci].tolist()
    probabilities = reading.chain_probabilities(foci, own)
    end = 0
    for b, actions in enumerate(found.actions):
        start, end = end, end + len(found.index[b])
        yield Belief(
            actions,
            codes[start:end],
            label_probabilities[start:end],
            probabilities[start:end],
            found.tags[b],
            found.tag_probabilities[b],
            trees[b],
            sizes[b],
            shared.get(b, []),
        )


class _Reading:
    """Probabilities of labelled foci."""

    def __init__(self, found: Foci, names: Sequence[tuple[str, ...]], calibration: Calibration) -> None:
        self.found = found
        self.names = names
        self.calibration = calibration

    def expected_sizes(self) -> np.ndarray:
        """Constituents of a sample on average, those that are not scored left out [B]."""
        found = self.found
        nodes = np.array([0, *(sum(label not in UNSCORED for label in names) for names in self.names)])  # [L]
        return np.bincount(found.sentence, found.share * (found.expected @ nodes), minlength=len(found.index))

    def probabilities(self, foci: np.ndarray, labels: Sequence[int], below: Sequence[int] | int = 0) -> list[float]:
        """Of some foci with a label each, and so many nodes of the same label `below`: what is left of the expected
        number of such nodes is for the one above them."""
        found = self.found
        share = found.share[foci] * np.clip(found.expected[foci, labels] - below, 0, 1)
        return self.calibration.probability(share, found.gapped[foci]).tolist()

    def chain_probabilities(self, foci: np.ndarray, codes: np.ndarray) -> list[tuple[float, ...]]:
        """Of the nodes of the chain that each focus has, from the top down."""
        labelled = np.flatnonzero(codes)
        own = codes[labelled].tolist()
        spelled = {code: spell_code(code, len(self.names) + 1) for code in set(own)}
        # A label of the labeller may be a chain of nodes itself.
        sizes = {code: [len(self.names[label - 1]) for label in labels] for code, labels in spelled.items()}
        each = np.repeat(foci[labelled], [len(spelled[code]) for code in own])
        below = {
            code: [labels[k + 1 :].count(label) for k, label in enumerate(labels)] for code, labels in spelled.items()
        }
        labels = [label for code in own for label in spelled[code]]
        values = iter(self.probabilities(each, labels, [count for code in own for count in below[code]]))
        result: list[tuple[float, ...]] = [()] * len(codes)
        for step, code in zip(labelled.tolist(), own, strict=True):
            result[step] = tuple([value for size in sizes[code] for value in [next(values)] * size])
        return result

    def shared(self, least: float) -> dict[int, list[Weighted]]:
        """By sentence, all constituents that more than this share of the samples has, but for the whole sentence."""
        found = self.found
        share = found.share[:, None] * np.clip(found.expected, 0, 1)  # [X, L]
        largest = share[:, 1:].max(1)
        taken = largest > least
        taken[[foci[-1] for foci in found.index]] = False
        result: dict[int, list[Weighted]] = {}
        for focus in sorted(np.flatnonzero(taken).tolist(), key=lambda focus: -largest[focus]):
            best = spell_code(int(found.code[focus]), len(self.names) + 1)
            labels = _together(share[focus], best, least)
            mask, here = found.mask(focus), result.setdefault(int(found.sentence[focus]), [])
            for label, value in zip(labels, self.probabilities(np.full(len(labels), focus), labels), strict=True):
                here.extend((part, mask, value) for part in self.names[label - 1])
        return result


def _together(share: np.ndarray, best: Sequence[int], least: float) -> list[int]:
    """Of the labels of one focus with more than the `least` share [L], those that can stand above each other, from the
    top down; `best` is the most probable chain.

    Labels that more than half of the samples have are together in some. Others may exclude each other, so they only
    come alone or as parts of the best chain.

    >>> share = np.array([0.0, 0.2, 0.6, 0.4, 0.7])
    >>> _together(share, [4], 0.1), _together(share, [3, 4, 1], 0.1), _together(share[:2], [], 0.1)
    ([2, 4], [2, 4], [1])
    >>> _together(np.array([0.0, 0.2, 0.4, 0.3]), [1, 2], 0.1), _together(np.array([0.0, 0.2, 0.4, 0.3]), [3], 0.1)
    ([1, 2], [2])
    """
    found: list[int] = []
    for k in sorted(np.flatnonzero(share > least).tolist(), key=lambda k: -share[k]):
        if k and (share[k] > _HALF or not found or all(label in best for label in [k, *found])):
            found.append(k)
    return sorted(found, key=lambda k: best.index(k) if k in best else -1)


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
