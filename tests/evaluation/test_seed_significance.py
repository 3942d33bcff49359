"""The test over seeds and sentences: its special cases, and how often it rejects in simulated experiments."""

from __future__ import annotations

import numpy as np
import pytest

from discoparse.errors import DiscoparseError
from discoparse.evaluation import evaluate
from discoparse.evaluation.counts import Counts
from discoparse.evaluation.seed_significance import SEED_METRICS, compare_seeds, linear_effect
from discoparse.evaluation.student import two_sided_p, two_sided_quantile
from discoparse.treebank.discbracket import parse_tree


def counts(gold: np.ndarray, predicted: np.ndarray, matched: np.ndarray) -> np.ndarray:
    """[sentence, count] with the same figures for all and for discontinuous constituents."""
    table = np.zeros((len(gold), len(Counts._fields)), dtype=np.int64)
    for name, column in (("gold", gold), ("predicted", predicted), ("matched", matched)):
        for prefix in ("", "disc_"):
            table[:, Counts._fields.index(prefix + name)] = column
    return table


def experiment(
    rng: np.random.Generator, sentences: int, seeds: int, seed_sd: float, shift: float = 0.0
) -> list[list[np.ndarray]]:
    """Two systems: sentences differ in difficulty, each system likes some more, each seed is better or worse."""
    gold = rng.poisson(9, sentences) + 1
    easy = rng.normal(1.2, 0.8, sentences)
    systems = []
    for system in range(2):
        liked = easy + rng.normal(0, 0.15, sentences) + shift * system
        runs = []
        for _ in range(seeds):
            logit = liked + rng.normal(0, seed_sd) + rng.normal(0, 0.4, sentences)
            matched = rng.binomial(gold, 1 / (1 + np.exp(-logit)))
            runs.append(counts(gold, np.maximum(matched, gold + rng.integers(-1, 2, sentences)), matched))
        systems.append(runs)
    return systems


def p_values(repetitions: int, *arguments: float, shift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(repetitions):
        first, second = experiment(rng, *arguments, shift=shift)  # type: ignore[arg-type]
        found.append(compare_seeds(first, second, ["f1"])[0].p)
    return np.array(found)


@pytest.mark.parametrize(("seeds", "seed_sd"), [(3, 0.0), (3, 0.1), (5, 0.03), (5, 0.1)])
def test_p_values_are_about_uniform_where_nothing_differs(seeds: int, seed_sd: float) -> None:
    """Whether chance lies in the sentences or mostly in the seeds, 5% of the p values are below 0.05, or fewer."""
    p = p_values(300, 150, seeds, seed_sd)
    assert (p < 0.05).mean() <= 0.085  # 0.05 and nearly three standard deviations
    assert 0.10 <= (p < 0.2).mean() <= 0.27
    assert 0.38 <= (p < 0.5).mean() <= 0.62


def test_a_test_over_sentences_alone_would_reject_too_often() -> None:
    """What this test is for: with seeds that differ, a paired z test over sentences takes luck for a difference."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):
        first, second = experiment(rng, 400, 3, 0.1)
        test = compare_seeds(first, second, ["f1"])[0]
        assert test.seed_share is not None
        sentences = test.error * (1 - test.seed_share) ** 0.5
        wrong += abs(test.difference) > 1.96 * sentences
    assert wrong > 25


def test_a_real_difference_is_found_the_sooner_the_less_seeds_differ() -> None:
    steady, unsteady = (p_values(100, 150, 5, sd, shift=0.2) for sd in (0.02, 0.15))
    assert (steady < 0.05).mean() > 0.8
    assert (unsteady < 0.05).mean() < 0.6


def test_without_variance_over_sentences_it_is_welch_s_test() -> None:
    """All sentences alike: only the scores of the seeds are left. Figures by hand: 80, 82, 84 against 85, 86, 90."""
    alike = [[counts(np.full(4, 50), np.full(4, 50), np.full(4, m)) for m in ms] for ms in ((40, 41, 42), (42, 43, 45))]
    test = compare_seeds(*alike, ["f1"])[0]
    variances = (4 / 3, np.var([84, 86, 90], ddof=1) / 3)
    assert test.difference == pytest.approx(86.6667 - 82, abs=1e-4)
    assert test.error == pytest.approx(sum(variances) ** 0.5)
    assert test.freedom == pytest.approx(sum(variances) ** 2 / (variances[0] ** 2 / 2 + variances[1] ** 2 / 2))
    assert test.seed_share == 1.0


def test_without_variance_over_seeds_it_is_the_paired_test_over_sentences() -> None:
    """Every seed predicts the same: the error is that of a difference of ratios, as a bootstrap finds it."""
    rng = np.random.default_rng(3)
    gold = rng.integers(5, 15, 300)
    runs = [counts(gold, gold, rng.binomial(gold, p)) for p in (0.7, 0.8)]
    test = compare_seeds([runs[0]] * 3, [runs[1]] * 3, ["f1"])[0]
    assert test.seed_share == 0.0
    assert test.freedom == pytest.approx(299)
    drawn = [rng.integers(0, 300, 300) for _ in range(2000)]
    matched = [run[:, Counts._fields.index("matched")] for run in runs]
    differences = [100 * (matched[1][d].sum() - matched[0][d].sum()) / gold[d].sum() for d in drawn]
    assert test.error == pytest.approx(np.std(differences), rel=0.08)


def test_the_interval_goes_with_the_p_value_and_has_two_sides() -> None:
    first, second = experiment(np.random.default_rng(1), 80, 3, 0.05, shift=0.1)
    for one, other in zip(compare_seeds(first, second), compare_seeds(second, first), strict=True):
        assert one.p is not None
        assert one.interval is not None
        assert other.interval is not None
        assert other.difference == pytest.approx(-one.difference)
        assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
        assert (one.interval[0] <= 0 <= one.interval[1]) == (one.p >= 0.05)
    assert [test.metric for test in compare_seeds(first, second)] == list(SEED_METRICS)


def test_scores_are_those_of_the_evaluation() -> None:
    gold = [parse_tree("(S (VP (WP 0=a) (VB 3=d)) (MD 1=b) (PRP 2=c))"), parse_tree("(S (NP (DT 0=a)) (VB 1=b))")]
    flat = [parse_tree("(S (WP 0=a) (VB 3=d) (MD 1=b) (PRP 2=c))"), gold[1]]
    right, wrong = evaluate(gold, gold), evaluate(gold, flat)
    tests = {t.metric: t for t in compare_seeds([wrong.counts] * 2, [right.counts] * 2)}
    assert tests["recall"].first == pytest.approx(wrong.all.recall)
    assert tests["precision"].first == pytest.approx(wrong.all.precision)
    assert tests["f1"].first == pytest.approx(wrong.all.f1)
    assert (tests["disc_f1"].first, tests["disc_f1"].second) == (0.0, 100.0)
    assert tests["disc_recall"].difference == 100


def test_cautious_tests_do_not_count_on_seeds_that_agree_by_luck() -> None:
    """The error is never smaller, the same where seeds differ widely, and p values are rather too large."""
    rng, shares, ratios = np.random.default_rng(5), [], []
    for seed_sd in (0.0, 0.3):
        wider = []
        for _ in range(100):
            first, second = experiment(rng, 150, 4, seed_sd)
            runs, design = [*first, *second], np.array([[1, run >= 4] for run in range(8)], dtype=float)
            pairs = zip(
                (compare_seeds(first, second, ["f1"])[0], linear_effect(runs, design, np.array([0.0, 1.0]), ["f1"])[0]),
                (
                    compare_seeds(first, second, ["f1"], cautious=True)[0],
                    linear_effect(runs, design, np.array([0.0, 1.0]), ["f1"], cautious=True)[0],
                ),
                strict=True,
            )
            pairs = list(pairs)
            ratios.append(pairs[0][1].error / pairs[1][1].error)
            for plain, cautious in pairs:
                assert cautious.error >= plain.error
                wider.append(cautious.error > plain.error)
                if not seed_sd:
                    assert cautious.p is not None
                    shares.append(cautious.p < 0.05)
        assert np.mean(wider) > 0.5 if not seed_sd else np.mean(wider) < 0.1
    assert np.mean(shares) <= 0.05
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)  # both estimate the same variances, one for each system


def test_what_cannot_be_tested() -> None:
    same = [counts(np.array([3, 4]), np.array([3, 4]), np.array([2, 2]))] * 2
    test = compare_seeds(same, same, ["f1"])[0]
    assert (test.difference, test.p, test.freedom, test.seed_share) == (0.0, 1.0, None, None)
    odd = counts(np.array([3, 4]), np.array([3, 7]), np.array([2, 2]))
    for test in compare_seeds([odd] * 3, [odd] * 7):  # means of three and of seven may be rounded otherwise
        assert (test.p, test.interval) == (1.0, (0.0, 0.0))
    with pytest.raises(DiscoparseError, match="two runs"):
        compare_seeds(same[:1], same)
    with pytest.raises(DiscoparseError, match="different numbers"):
        compare_seeds(same, [table[:1] for table in same])


# -- effects under a linear model ---------------------------------------------------------------------------------


def graded(
    rng: np.random.Generator, grades: np.ndarray, slope: float, seed_sd: float, liking: float = 0.0
) -> list[np.ndarray]:
    """A run for each grade, the better by `slope` the higher it is; sentences like grades more or less."""
    gold = rng.poisson(9, 150) + 1
    easy, liked = rng.normal(1.2, 0.8, 150), rng.normal(0, liking, 150)
    runs = []
    for grade in grades:
        logit = easy + (slope + liked) * grade + rng.normal(0, seed_sd) + rng.normal(0, 0.4, 150)
        matched = rng.binomial(gold, 1 / (1 + np.exp(-logit)))
        runs.append(counts(gold, np.maximum(matched, gold), matched))
    return runs


GRADES = np.array([0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0])
SLOPE = np.stack([np.ones(8), GRADES], axis=1), np.array([0.0, 1.0])


@pytest.mark.parametrize(("seed_sd", "liking"), [(0.0, 0.0), (0.08, 0.0), (0.0, 0.15), (0.05, 0.1)])
def test_slopes_over_single_runs_are_found_by_chance_as_often_as_they_should(seed_sd: float, liking: float) -> None:
    rng = np.random.default_rng(3)
    tests = [linear_effect(graded(rng, GRADES, 0.0, seed_sd, liking), *SLOPE, ["f1"])[0] for _ in range(300)]
    p = np.array([test.p for test in tests])
    assert (p < 0.05).mean() <= 0.085
    assert 0.10 <= (p < 0.2).mean() <= 0.27
    assert 0.38 <= (p < 0.5).mean() <= 0.62


def test_sentences_add_nothing_where_they_differ_by_no_more_than_chance() -> None:
    """Their variance less what seeds and sentences together add to it may come out below 0, and is then none."""
    rng = np.random.default_rng(3)
    shares = [linear_effect(graded(rng, GRADES, 0.0, 0.0), *SLOPE, ["f1"])[0].seed_share for _ in range(40)]
    assert 10 < shares.count(1.0) < 30
    assert all(share is not None and 0 < share <= 1 for share in shares)


def test_a_slope_is_that_of_least_squares_and_is_found_where_there_is_one() -> None:
    runs = graded(np.random.default_rng(4), GRADES, 0.15, 0.03)
    test = linear_effect(runs, *SLOPE, ["recall"])[0]
    column = {name: Counts._fields.index(name) for name in ("matched", "gold")}
    scores = [100 * run[:, column["matched"]].sum() / run[:, column["gold"]].sum() for run in runs]
    assert test.estimate == pytest.approx(np.polyfit(GRADES, scores, 1)[0])
    assert test.runs == 8
    assert test.p is not None
    assert test.p < 0.001
    assert test.interval is not None
    assert test.interval[0] > 0


def test_two_systems_of_equal_variance_as_a_linear_model() -> None:
    """The estimate is the difference of the means. Where only seeds matter, it is the t test with a common variance."""
    gold = np.full(40, 10)
    matched = [7, 6, 8, 9, 8, 10]  # of each sentence, in three runs of each system
    runs = [counts(gold, gold, np.full(40, m)) for m in matched]
    design = np.array([[1, run >= 3] for run in range(6)], dtype=float)
    test = linear_effect(runs, design, np.array([0.0, 1.0]), ["f1"])[0]
    assert test.estimate == pytest.approx(20.0)
    assert test.error == pytest.approx(10 * np.sqrt(2 / 3))  # a common variance of 100
    assert test.freedom == pytest.approx(4)
    assert test.seed_share == pytest.approx(1)
    assert test.p == pytest.approx(two_sided_p(20 / (10 * np.sqrt(2 / 3)), 4))


def test_runs_with_the_same_trees_differ_by_nothing() -> None:
    """Though a weighted sum of equal scores is not exactly 0."""
    for seed in range(5):
        same = graded(np.random.default_rng(seed), GRADES[:1], 0.0, 0.0) * 8
        design = np.column_stack([SLOPE[0], [0, 1, 1, 0, 1, 0, 0, 1]])
        for test in linear_effect(same, design, np.array([0.0, 1.0, 0.0])):
            assert test.estimate == pytest.approx(0, abs=1e-10)
            assert (test.p, test.interval, test.seed_share) == (1.0, (0.0, 0.0), None)


def test_effects_that_runs_do_not_determine() -> None:
    runs = graded(np.random.default_rng(4), GRADES, 0.1, 0.03)
    always = np.stack([np.ones(8), GRADES, 2 * GRADES], axis=1)
    assert linear_effect(runs, always, np.array([0.0, 1.0, 0.0])) == []  # it may be the other column's as well
    assert linear_effect(runs[:2], SLOPE[0][:2], SLOPE[1]) == []  # two runs are on a line whatever chance did
    with pytest.raises(DiscoparseError, match="different numbers"):
        linear_effect([runs[0][:1], *runs[1:]], *SLOPE)


# -- Student's t -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freedom", "p", "t"), [(1, 0.05, 12.7062), (2, 0.01, 9.9248), (4.5, 0.05, 2.6589), (30, 0.2, 1.3104)]
)
def test_student(freedom: float, p: float, t: float) -> None:
    """Values from printed tables; for 4.5 degrees of freedom by numerical integration."""
    assert two_sided_p(t, freedom) == pytest.approx(p, rel=2e-4)
    assert two_sided_quantile(p, freedom) == pytest.approx(t, rel=2e-4)
    assert two_sided_p(0, freedom) == pytest.approx(1)
