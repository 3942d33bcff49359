"""Fit the probabilities of a parser to a development set: temperatures by trying some, the rest by logistic regression.

What is fitted, and why that is enough, is in docs/guides/probabilities.md. Trying is what takes time, and a part of the
sentences tells temperatures apart; the map from shares to probabilities needs all of them, since few constituents are
discontinuous.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.evaluation import evaluate
from discoparse.evaluation.calibration import Judged, judge
from discoparse.model.model import replace_info
from discoparse.neural.calibration import RAW, Calibration, logit
from discoparse.parser.finding import load
from discoparse.tree import Tree

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser

STRUCTURE, LABELS = (0.6, 0.8, 1.0, 1.2), (1.0, 1.25, 1.5)  # temperatures that are tried
TAGS = tuple(0.5 * 1.1**k for k in range(25))
SAMPLES = 32
FEWEST, MOST = 20, 6000  # sentences: at least, and by default at most
TRIED = 1000  # of them, at most, for temperatures
_CAUTION = 1.0  # of the regression: how strongly it keeps to the defaults where there is little data


def calibrate(
    model: Path,
    gold: Sequence[Tree],
    device: str,
    threads: int | None = None,
    most: int = MOST,
    notice: Callable[[str], None] = lambda message: None,
) -> Calibration:
    """Fit the probabilities of a model, by its directory, to at most so many of these trees, evenly chosen, and keep
    what was found among its facts."""
    parser = load(model, device, threads)
    calibration = fit(parser, _some(gold, most), notice)
    assert parser.info is not None
    replace_info(model, dataclasses.replace(parser.info, calibration=calibration.to_json()))
    return calibration


def fit(parser: Parser, gold: Sequence[Tree], notice: Callable[[str], None] = lambda message: None) -> Calibration:
    """The calibration under which the parser's trees for these sentences have the highest likelihood of being as right
    as they are. `notice` is told of each step."""
    if len(gold) < FEWEST:
        raise DiscoparseError(f"{len(gold)} trees are too few to fit probabilities to: give at least {FEWEST}")
    before = parser.calibration
    some = _some(gold, TRIED)
    best: tuple[float, Calibration] | None = None
    try:
        for structure, labels in product(STRUCTURE, LABELS):
            tried = dataclasses.replace(RAW, structure=structure, labels=labels)
            loss, found = _fit_shares(parser, some, tried)
            notice(f"temperatures {structure:g} (structure) and {labels:g} (labels): loss {loss:.4f}")
            if best is None or loss < best[0]:
                best = loss, found
        assert best is not None
        calibration = best[1]
        if len(some) < len(gold):
            notice(f"probabilities at the best temperatures, from all {len(gold):,} sentences")
            chosen = dataclasses.replace(RAW, structure=calibration.structure, labels=calibration.labels)
            _, calibration = _fit_shares(parser, gold, chosen)
    finally:
        parser.calibration = before
    return dataclasses.replace(calibration, tags=fit_tags(parser, gold))


def _some(gold: Sequence[Tree], most: int) -> Sequence[Tree]:
    """At most so many of the trees, evenly chosen.

    >>> _some(range(7), 4), _some(range(7), 7), _some(range(0), 7)
    (range(0, 7, 2), range(0, 7), range(0, 0))
    >>> len(_some(range(25), 10))
    9
    """
    return gold[:: max(1, -(-len(gold) // most))]


def _fit_shares(parser: Parser, gold: Sequence[Tree], raw: Calibration) -> tuple[float, Calibration]:
    """The map from shares of samples at the temperatures of `raw` to probabilities, and its mean loss."""
    parser.calibration = raw
    trees = parser.parse_tokens([tree.words for tree in gold], probabilities=SAMPLES)
    result = evaluate(gold, trees)
    judged = judge(result)
    if not judged:
        raise DiscoparseError("the trees have no constituents to fit probabilities to")
    loss, mapped = fit_map(judged)
    exact = [bool(sentence.counts.exact) for sentence in result.sentences]
    power = fit_power([tree.probability or 0.0 for tree in trees], exact)
    return loss, dataclasses.replace(raw, **mapped, tree_power=power)


def fit_map(judged: Sequence[Judged]) -> tuple[float, dict[str, float]]:
    """Logistic regression of what is right on the raw shares: the mean loss, and the parameters of the map by name."""
    names = ("curve", "slope", "offset", "gap_slope", "gap_offset")
    centre = np.array([getattr(Calibration(), name) for name in names])
    z = logit(np.array([one.probability for one in judged]))
    gapped = np.array([one.gaps > 0 for one in judged], dtype=float)
    inputs = np.stack([z * z, z, np.ones_like(z), gapped * z, gapped], 1)  # [constituents, 5]
    right = np.array([one.right for one in judged], dtype=float)
    weights = centre.copy()
    for _ in range(30):  # Newton's method
        expected = _logistic(inputs @ weights)
        gradient = inputs.T @ (expected - right) + _CAUTION * (weights - centre)
        curvature = (inputs * (expected * (1 - expected))[:, None]).T @ inputs + _CAUTION * np.eye(len(names))
        weights -= np.linalg.solve(curvature, gradient)
    expected = np.clip(_logistic(inputs @ weights), 1e-6, 1 - 1e-6)
    loss = -np.mean(right * np.log(expected) + (1 - right) * np.log(1 - expected))
    return float(loss), {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def _logistic(z: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-z)), which overflows nowhere."""
    return (1 + np.tanh(z / 2)) / 2


def fit_power(probabilities: Sequence[float], exact: Sequence[bool]) -> float:
    """The power to which raw probabilities of whole trees must be raised to be as likely as trees are right."""
    raw, right = np.clip(probabilities, 1e-4, 1 - 1e-4), np.array(exact)

    def loss(power: float) -> float:
        value = np.clip(raw**power, 1e-9, 1 - 1e-9)
        return float(-np.where(right, np.log(value), np.log(1 - value)).sum())

    powers = 1.05 ** np.arange(-30, 60)
    return round(float(powers[np.argmin([loss(power) for power in powers])]), 4)


def fit_tags(parser: Parser, gold: Sequence[Tree]) -> float:
    """The temperature under which the gold tags are most likely."""
    losses = parser.decoder.tag_losses([tree.words for tree in gold], [tree.tags for tree in gold], TAGS)
    return round(TAGS[int(np.argmin(losses))], 4)
