"""Is one way of training better than another, where both the seeds and the sentences might have been others?

The scores of two systems, each trained with several seeds, on the same sentences are a crossed design: sentences are
shared by all runs, seeds belong to one system each (equal seed numbers of two systems have nothing in common once
training differs). For a score that is a ratio of sums over sentences (F1, precision, recall), the score of seed s of
system o is, to first order,

    F(o, s) = m(o) + a(o, s) + mean over sentences i of [b(o, i) + e(o, s, i)]

with the effect a of the seed, b of the sentence, e of both together, each with mean 0. The difference D of the systems'
means over seeds then has the variance

    V = sum over o of [var a(o) / k(o) + var e(o) / (k(o) n)]  +  var [b(2) - b(1)] / n

for k seeds and n sentences. The sample variance of F over the seeds of o, divided by k, estimates the bracket. The
variance over sentences of the difference in means over seeds, divided by n, estimates the last term plus var e / (k n),
which is estimated from the residuals and taken off. D / sqrt(V) is compared with Student's t distribution; its degrees
of freedom come from Satterthwaite's approximation, with k - 1 for each system's seeds and n - 1 for the sentences.
Without variance over sentences this is Welch's t test of the scores of the seeds, and without variance over seeds it is
the paired t test over sentences.

Where systems differ in known respects, the scores of all their runs r may be taken to follow a linear model
F(r) = x(r) B, with the same variances in all systems (`linear_effect`). An effect c B is estimated by a weighted sum of
scores, whose variance has the same two sources: var a and var e come from the residuals of the model, so that what the
model does not explain counts as chance.

With few seeds, their scores may by luck be closer together than var e alone would have them, and then the interval is
narrower than one over sentences alone. Such tests are right on average, since t has few degrees of freedom then. To see
whether a result hangs on that luck, `cautious` tests take var a as 0 where it is estimated to be negative; they reject
too seldom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.evaluation.counts import Counts
from discoparse.evaluation.student import two_sided_p, two_sided_quantile

# Scores as ratios: 100 times a sum of counts over another.
_RATIOS = {
    "f1": (("matched", "matched"), ("gold", "predicted")),
    "precision": (("matched",), ("predicted",)),
    "recall": (("matched",), ("gold",)),
}
SEED_METRICS = (*_RATIOS, *(f"disc_{name}" for name in _RATIOS))


@dataclass(frozen=True)
class SeedComparison:
    """A difference of means over seeds, in points, with its uncertainty; second less first."""

    metric: str
    first: float
    second: float
    difference: float
    error: float  # standard error: the square root of the variance
    seed_share: float | None  # of the variance that is due to seeds; None without any variance
    freedom: float | None
    p: float | None
    interval: tuple[float, float] | None  # 95%
    seeds: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class SeedEffect:
    """What a change adds to a score, in points, with its uncertainty."""

    metric: str
    estimate: float
    error: float
    seed_share: float | None
    freedom: float | None
    p: float | None
    interval: tuple[float, float] | None  # 95%
    runs: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


# Standard error, share of the variance that is due to seeds, degrees of freedom, p and interval.
_Test = tuple[float, float | None, float | None, float | None, tuple[float, float] | None]


def compare_seeds(
    first: Sequence[np.ndarray],
    second: Sequence[np.ndarray],
    metrics: Sequence[str] = SEED_METRICS,
    cautious: bool = False,
) -> list[SeedComparison]:
    """Test the scores of two systems; for each of its seeds a system has the counts [sentence, count] of `Result`.

    Both need two seeds at least, since one says nothing about others.
    """
    if min(len(first), len(second)) < 2:
        raise DiscoparseError("a test over seeds needs two runs of each system at least")
    every = _stacked([*first, *second])
    return [_compare(metric, every[: len(first)], every[len(first) :], cautious) for metric in metrics]


def _stacked(runs: Sequence[np.ndarray]) -> np.ndarray:
    """Counts [run, sentence, count]."""
    if len({len(counts) for counts in runs}) > 1:
        raise DiscoparseError("runs over different numbers of sentences cannot be compared")
    return np.stack(runs)


def _compare(metric: str, first: np.ndarray, second: np.ndarray, cautious: bool) -> SeedComparison:
    (before, ours), (after, theirs) = (_scores_and_effects(metric, counts) for counts in (first, second))
    n = first.shape[1]
    least = [_residual_variance(effects) / len(effects) / n for effects in (ours, theirs)]
    both = sum(least)
    parts = []
    for scores, own in zip((before, after), least, strict=True):
        seeds = float(scores.var(ddof=1)) / len(scores)
        parts.append((max(seeds, own) if cautious else seeds, len(scores) - 1.0))
    parts.append(_over_sentences(theirs.mean(axis=0) - ours.mean(axis=0), both))
    difference = float(after.mean() - before.mean())
    test = _t_test(difference, parts)
    return SeedComparison(
        metric, float(before.mean()), float(after.mean()), difference, *test, (len(before), len(after))
    )


def linear_effect(
    runs: Sequence[np.ndarray],
    design: np.ndarray,
    effect: np.ndarray,
    metrics: Sequence[str] = SEED_METRICS,
    cautious: bool = False,
) -> list[SeedEffect]:
    """Estimate and test an effect [column] under a linear model of the runs' scores, `design` [run, column].

    None of the scores is estimated if the design does not determine the effect, or leaves nothing over for chance.
    """
    counts = _stacked(runs)
    solved = np.linalg.pinv(design)  # [column, run]
    left = len(design) - int(np.linalg.matrix_rank(design))  # degrees of freedom of the residuals
    weights = effect @ solved  # [run]
    if not left or not np.allclose(weights @ design, effect):
        return []
    residue = np.eye(len(design)) - design @ solved  # [run, run]
    size = float(weights @ weights)
    found = []
    for metric in metrics:
        scores, effects = _scores_and_effects(metric, counts)
        n = effects.shape[1]
        seeds = size * float(((residue @ scores) ** 2).sum()) / left
        both = size * float(((residue @ effects) ** 2).sum()) / (left * max(1, n - 1)) / n
        estimate = float(weights @ scores)
        parts = [(max(seeds, both) if cautious else seeds, float(left)), _over_sentences(weights @ effects, both)]
        found.append(SeedEffect(metric, estimate, *_t_test(estimate, parts), len(runs)))
    return found


def _over_sentences(apart: np.ndarray, both: float) -> tuple[float, float]:
    """The variance of a mean over sentences that is due to them alone, and its degrees of freedom; `both` is what seeds
    and sentences together add to it."""
    n = len(apart)
    return (max(0.0, float(apart.var(ddof=1)) / n - both) if n > 1 else 0.0), n - 1.0


def _t_test(difference: float, parts: Sequence[tuple[float, float]]) -> _Test:
    """From the parts of its variance, the last of which is due to sentences, with their degrees of freedom."""
    variance = sum(part for part, _ in parts)
    if variance > 1e-20:
        freedom = variance**2 / sum(part**2 / own for part, own in parts if part)
        margin = two_sided_quantile(0.05, freedom) * math.sqrt(variance)
        interval = (difference - margin, difference + margin)
        share = sum(part for part, _ in parts[:-1]) / variance
        return math.sqrt(variance), share, freedom, two_sided_p(difference / math.sqrt(variance), freedom), interval
    if abs(difference) < 1e-10:  # the same trees from all runs, but for rounding
        return 0.0, None, None, 1.0, (0.0, 0.0)
    return 0.0, None, None, None, None


def _scores_and_effects(metric: str, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores [seed] in percent, 0 where there is nothing to score, and what each sentence adds [seed, sentence].

    A ratio of sums M / T changes, to first order, by the mean over sentences of n (m - t M / T) / T.
    """
    prefix, name = ("disc_", metric[len("disc_") :]) if metric.startswith("disc_") else ("", metric)
    above, below = (
        counts[:, :, [Counts._fields.index(prefix + column) for column in columns]].sum(axis=2, dtype=np.float64)
        for columns in _RATIOS[name]
    )  # [seed, sentence] each
    total = np.maximum(below.sum(axis=1), 1.0)
    scores = 100 * above.sum(axis=1) / total
    effects = counts.shape[1] * (100 * above - scores[:, None] * below) / total[:, None]
    return scores, effects


def _residual_variance(effects: np.ndarray) -> float:
    """Of the effects of seed and sentence together, from effects [seed, sentence]."""
    seeds, sentences = effects.shape
    residuals = effects - effects.mean(axis=0)
    return float((residuals**2).sum()) / max(1, (seeds - 1) * (sentences - 1))
