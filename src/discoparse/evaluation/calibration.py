"""Whether probabilities can be believed: of constituents with a probability of 0.8, are eight in ten right?

For every predicted constituent that is scored, its probability and whether it is right. From these: reliability (how
many are right in each tenth of the probabilities), the expected calibration error, and the area under the ROC curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.evaluation.brackets import Bracketer
from discoparse.evaluation.breakdown import matched_flags
from discoparse.evaluation.counts import f1_score
from discoparse.evaluation.result import Result
from discoparse.tree import Node, gap_count

BINS = 10
KINDS = ("probability", "label_probability")  # attributes of nodes
FEWEST = 20  # constituents of a group that has figures of its own


@dataclass(frozen=True)
class Judged:
    """A predicted constituent: how likely the parser held it, and whether it is right."""

    probability: float
    right: bool
    label: str
    gaps: int


def judge(result: Result, kind: str = "probability") -> list[Judged]:
    """All scored constituents of the predictions that have a probability of this kind."""
    judged = []
    for (_, label, mask), node, right in scored_nodes(result):
        value = _probability(node, kind)
        if value is not None:
            judged.append(Judged(value, right, label, gap_count(mask)))
    return judged


def scored_nodes(result: Result) -> Iterator[tuple[tuple[int, str, int], Node, bool]]:
    """All scored constituents of the predictions: the sentence's place, the label and the tokens that count, as a mask;
    the node; whether it is right."""
    bracketer = Bracketer(result.parameters)
    for number, sentence in enumerate(result.sentences):
        if sentence.predicted is None:
            continue
        found = bracketer.with_nodes(sentence.predicted, sentence.predicted_bits)
        flags = matched_flags(sentence.predicted_brackets, sentence.gold_brackets)
        for (label, mask, node), right in zip(found, flags, strict=True):
            yield (number, label, mask), node, right


def _probability(node: Node, kind: str) -> float | None:
    value: float | None = getattr(node, kind)
    return value


@dataclass(frozen=True)
class Bin:
    """The constituents with about the same probability."""

    count: int
    probability: float  # mean
    right: float  # share


@dataclass(frozen=True)
class Reliability:
    """How some probabilities compare with what was right."""

    count: int
    probability: float  # mean
    right: float  # share
    error: float  # expected calibration error
    auc: float | None  # None where all are right, or none
    bins: tuple[Bin, ...]  # those that are not empty, in order

    def to_json(self) -> dict[str, Any]:
        return {
            "constituents": self.count,
            "mean_probability": self.probability,
            "right": self.right,
            "ece": self.error,
            "auc": self.auc,
            "bins": [{"count": b.count, "probability": b.probability, "right": b.right} for b in self.bins],
        }


def reliability(judged: Sequence[Judged]) -> Reliability:
    """Figures of at least one constituent. The expected calibration error is the mean over all constituents of the
    difference between the mean probability and the share that is right in their bin, of ten of equal width.

    >>> found = reliability([Judged(0.9, True, "NP", 0), Judged(0.9, False, "NP", 0), Judged(0.2, False, "VP", 1)])
    >>> round(found.error, 3), found.auc
    (0.333, 0.75)
    """
    probability = np.array([one.probability for one in judged])
    right = np.array([one.right for one in judged], dtype=bool)
    places = np.minimum((probability * BINS).astype(int), BINS - 1)
    bins = []
    for place in range(BINS):
        inside = places == place
        if inside.any():
            bins.append(Bin(int(inside.sum()), float(probability[inside].mean()), float(right[inside].mean())))
    error = sum(b.count * abs(b.probability - b.right) for b in bins) / len(judged)
    mean, share = float(probability.mean()), float(right.mean())
    return Reliability(len(judged), mean, share, error, area(probability, right), tuple(bins))


def area(values: np.ndarray, right: np.ndarray) -> float | None:
    """The area under the ROC curve: how often something right has a higher value than something wrong; ties count half.

    >>> area(np.array([0.9, 0.8, 0.8, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    positive, negative = int(right.sum()), int((~right).sum())
    if not positive or not negative:
        return None
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # mean rank of the values that are equal
    return float((rank[place][right].sum() - positive * (positive + 1) / 2) / (positive * negative))


@dataclass(frozen=True)
class SentenceReliability:
    """Expected F1 of sentences against what they reach, and probabilities of whole trees; percentages and shares."""

    sentences: int
    expected_f1: float
    f1: float
    correlation: float | None  # between the two, over sentences
    probability: float | None  # mean, of the tree
    exact: float | None  # share of trees that are right

    def to_json(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "expected_f1": self.expected_f1,
            "f1": self.f1,
            "correlation": self.correlation,
            "mean_tree_probability": self.probability,
            "exact_match": self.exact,
        }


@dataclass(frozen=True)
class Calibrated:
    """Everything that `evaluate --calibration` shows."""

    kinds: dict[str, Reliability]  # all constituents, by kind of probability
    labels: dict[str, Reliability]
    gaps: dict[str, Reliability]
    sentences: SentenceReliability | None

    def to_json(self) -> dict[str, Any]:
        return {
            "all": {kind: found.to_json() for kind, found in self.kinds.items()},
            "by_label": {name: found.to_json() for name, found in self.labels.items()},
            "by_gap_degree": {name: found.to_json() for name, found in self.gaps.items()},
            "sentences": None if self.sentences is None else self.sentences.to_json(),
        }


def calibrate(result: Result) -> Calibrated:
    """The figures of a prediction with probabilities; by label and gap degree of the first kind that it has."""
    judged = {kind: found for kind in KINDS if (found := judge(result, kind))}
    if not judged:
        if result.sentences and not any(sentence.counts.predicted for sentence in result.sentences):
            raise DiscoparseError("the predicted trees have no constituents that are scored, so none can be calibrated")
        raise DiscoparseError(
            "the predicted trees have no probabilities: make them with `discoparse parse --probabilities N --to json`"
        )
    first = next(iter(judged.values()))
    return Calibrated(
        {kind: reliability(found) for kind, found in judged.items()},
        _grouped(first, lambda one: one.label, FEWEST),
        {"discontinuous": reliability(gapped)} | _grouped(first, lambda one: str(one.gaps), 1)
        if (gapped := [one for one in first if one.gaps])
        else _grouped(first, lambda one: str(one.gaps), 1),
        _sentences(result),
    )


def _grouped(judged: Iterable[Judged], name: Callable[[Judged], str], fewest: int) -> dict[str, Reliability]:
    """Figures by group, the largest first."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(name(one), []).append(one)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return {name: reliability(members) for name, members in ordered if len(members) >= fewest}


def _sentences(result: Result) -> SentenceReliability | None:
    pairs, trees = [], []
    for sentence in result.sentences:
        tree, counts = sentence.predicted, sentence.counts
        if tree is None or tree.expected_f1 is None:
            continue
        reached = f1_score(counts.matched, counts.gold, counts.predicted)
        if counts.gold == counts.predicted == 0:  # there is nothing to find, and nothing was found
            reached = 100.0
        pairs.append((100 * tree.expected_f1, reached or 0.0))
        if tree.probability is not None:
            trees.append((tree.probability, float(counts.exact)))
    if not pairs:
        return None
    expected, reached = np.array(pairs).T
    varied = len(pairs) > 1 and expected.std() > 0 and reached.std() > 0
    probability, exact = np.array(trees).mean(0).tolist() if trees else (None, None)
    return SentenceReliability(
        len(pairs),
        float(expected.mean()),
        float(reached.mean()),
        float(np.corrcoef(expected, reached)[0, 1]) if varied else None,
        probability,
        exact,
    )
