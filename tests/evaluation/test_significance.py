"""The significance tests against their definitions: with few sentences, every sample can be tried."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discoparse.evaluation import Result, evaluate
from discoparse.evaluation.significance import compare_results
from discoparse.treebank.discbracket import parse_tree

GOLD = [
    parse_tree("(S (NP (DT 0=a) (NN 1=b)) (VP (VB 2=c) (PP (IN 3=d) (NN 4=e))))"),
    parse_tree("(S (VP (WP 0=a) (VB 3=d)) (MD 1=b) (PRP 2=c))"),
    parse_tree("(S (NP (DT 0=a)) (VP (VB 1=b) (NP (NN 2=c))))"),
    parse_tree("(S (NP (DT 0=a) (RC 2=c)) (VP (VBD 1=b)))"),
]
FLAT = [parse_tree("(S " + " ".join(f"({t.tag} {i}={t.word})" for i, t in enumerate(g.tokens)) + ")") for g in GOLD]
# The first is better on one sentence, the second on two.
FIRST, SECOND = [FLAT[0], GOLD[1], FLAT[2], GOLD[3]], [GOLD[0], FLAT[1], GOLD[2], GOLD[3]]


def results() -> tuple[Result, Result]:
    return evaluate(GOLD, FIRST), evaluate(GOLD, SECOND)


def f1(result: Result, drawn: list[int]) -> float:
    gold, predicted, matched = (sum(int(result.counts[k][c]) for k in drawn) for c in range(3))
    return 200 * matched / max(1, gold + predicted)


def test_the_bootstrap_is_that_of_all_samples():
    """The p value is twice the share of the smaller side, the interval the central 95%: 256 samples of four sentences,
    each as likely as the others."""
    first, second = results()
    differences = np.array(
        [f1(second, list(drawn)) - f1(first, list(drawn)) for drawn in itertools.product(range(4), repeat=4)]
    )
    test, _ = compare_results(first, second, samples=40_000)
    smaller = min((differences <= 1e-9).mean(), (differences >= -1e-9).mean())
    assert 0.05 < smaller < 0.45, "or one side could not be told from the other"
    assert test.bootstrap_p == pytest.approx(2 * smaller, abs=8 * np.sqrt(smaller / 40_000))
    low, high = np.quantile(differences, [0.025, 0.975])
    assert low < test.difference < high
    # The quantiles of the samples lie where those of the distribution do, give or take a rank.
    for found, rank in zip(test.interval, (0.025, 0.975), strict=True):
        assert np.quantile(differences, rank - 0.005) - 1e-9 <= found <= np.quantile(differences, rank + 0.005) + 1e-9


def test_both_tests_have_two_sides():
    """Whichever parser is called the first: the same p values, the opposite difference and interval."""
    first, second = results()
    for one, other in zip(
        compare_results(first, second, samples=2000), compare_results(second, first, samples=2000), strict=True
    ):
        assert other.difference == pytest.approx(-one.difference)
        assert other.permutation_p == one.permutation_p
        assert other.bootstrap_p == one.bootstrap_p
        assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
        assert (other.first, other.second) == (one.second, one.first)


@pytest.mark.parametrize("second_wins", [True, False])
def test_a_clear_difference_is_significant_in_either_direction(second_wins):
    """Twelve of twelve sentences: only two of 2^12 swaps are as extreme, and no sample has the other ahead."""
    good, bad = evaluate(GOLD[:3] * 4, GOLD[:3] * 4), evaluate(GOLD[:3] * 4, FLAT[:3] * 4)
    first, second = (bad, good) if second_wins else (good, bad)
    test, _ = compare_results(first, second, samples=4000)
    assert test.permutation_p < 0.01
    assert test.bootstrap_p == pytest.approx(2 / 4001)
    low, high = test.interval
    assert (low > 0) == second_wins
    assert (high > 0) == second_wins
    assert low < test.difference < high
