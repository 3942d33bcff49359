"""Is one parser better than another on these sentences? Paired tests on the counts of every sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.evaluation.result import Result

SAMPLES, SEED = 10_000, 1
_CHUNK = 2_000_000  # random numbers drawn at once


@dataclass(frozen=True)
class Comparison:
    """The difference in a score between two parsers, in points, and two tests of it.

    `permutation_p`: approximate randomisation, two-sided: how often a difference as large arises when the two
    predictions of random sentences are swapped. `bootstrap_p` and the interval: sentences are drawn
    with replacement; twice the share of samples in which the other parser is ahead, and the central 95%.
    """

    metric: str
    first: float | None
    second: float | None
    difference: float
    permutation_p: float
    bootstrap_p: float
    interval: tuple[float, float]
    samples: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_results(first: Result, second: Result, samples: int = SAMPLES, seed: int = SEED) -> list[Comparison]:
    """Test F1 and discontinuous F1 of two evaluations of the same gold sentences: second less first."""
    if len(first.sentences) != len(second.sentences):
        raise DiscoparseError(
            f"results over {len(first.sentences)} and {len(second.sentences)} sentences cannot be compared"
        )
    scores = (
        ("f1", "", first.all.f1, second.all.f1),
        ("disc_f1", "disc_", first.all.disc.f1, second.all.disc.f1),
    )
    return [
        _test(metric, _table(first, prefix), _table(second, prefix), before, after, samples, seed)
        for metric, prefix, before, after in scores
    ]


def _table(result: Result, prefix: str) -> np.ndarray:
    """[sentence, (matched, gold + predicted)] of brackets."""
    matched, gold, predicted = (result.column(prefix + name) for name in ("matched", "gold", "predicted"))
    return np.stack([matched, gold + predicted], axis=1).astype(np.float64)


def _test(
    metric: str,
    first: np.ndarray,
    second: np.ndarray,
    before: float | None,
    after: float | None,
    samples: int,
    seed: int,
) -> Comparison:
    difference = float(_f1(second.sum(axis=0)) - _f1(first.sum(axis=0)))
    swapped = np.concatenate(list(_permuted(first, second, samples, np.random.default_rng([seed, 0]))))
    # Rounding must not decide whether a sample that equals the observation counts.
    extreme = int((np.abs(swapped) >= abs(difference) - 1e-9).sum())
    drawn = np.concatenate(list(_resampled(first, second, samples, np.random.default_rng([seed, 1]))))
    behind = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Comparison(
        metric,
        before,
        after,
        difference,
        permutation_p=(extreme + 1) / (samples + 1),
        bootstrap_p=min(1.0, 2 * (behind + 1) / (samples + 1)),
        interval=(float(low), float(high)),
        samples=samples,
        seed=seed,
    )


def _f1(sums: np.ndarray) -> np.ndarray:
    """F1 from (matched, gold + predicted) in the last axis, 0 where nothing matches."""
    return 200 * sums[..., 0] / np.maximum(sums[..., 1], 1)


def _permuted(first: np.ndarray, second: np.ndarray, samples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Differences after swapping the two predictions of random sentences."""
    change = second - first
    for size in _chunks(samples, len(first)):
        swap = rng.integers(0, 2, size=(size, len(first)), dtype=np.int8).astype(np.float64) @ change
        yield _f1(second.sum(axis=0) - swap) - _f1(first.sum(axis=0) + swap)


def _resampled(first: np.ndarray, second: np.ndarray, samples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Differences over sentences drawn with replacement."""
    n = len(first)
    for size in _chunks(samples, n):
        drawn = rng.integers(0, max(n, 1), size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        yield _f1(times @ second) - _f1(times @ first)


def _chunks(samples: int, n: int) -> Iterator[int]:
    most = max(1, _CHUNK // max(n, 1))
    for start in range(0, samples, most):
        yield min(most, samples - start)
