"""Our evaluator prints the same figures as a naive one over random pairs of trees of all kinds."""

from __future__ import annotations

import naive_evaluation as naive
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_pairs import pair

from discoparse.evaluation import evaluate, read_parameters
from discoparse.evaluation.parameters import PROPER_PRM
from discoparse.tree import Tree


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pair(), max_size=4))
def test_same_figures_as_the_naive_evaluator(pairs: list[tuple[Tree, Tree]]) -> None:
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    expected = naive.evaluate(gold, predicted, naive.read(PROPER_PRM))
    found = evaluate(gold, predicted, read_parameters(PROPER_PRM)).to_json()
    for part in ("all", "cutoff"):
        assert found[part]["pos_accuracy"] == pytest.approx(expected[part]["pos_accuracy"])
        for ours, theirs in ((found[part], expected[part]), (found[part]["disc"], expected[part]["disc"])):
            for name in ("sentences", "precision", "recall", "f1", "exact_match"):
                assert ours[name] == pytest.approx(theirs[name]), (part, name)
            for name in ("gold_distinct", "predicted_distinct"):
                assert ours["brackets"][name] == theirs[name], (part, name)


def test_figures_of_real_treebanks_with_heavy_noise(shared) -> None:
    """A prediction with another sentence's tree: nothing is left of the gold structure but the words."""
    import gzip

    from discoparse.treebank.discbracket import parse_tree

    for name in ("de_pcc", "nl_alpino"):
        with gzip.open(shared / "data" / name / "dev.discbracket.gz", "rt", encoding="utf-8") as lines:
            gold = [parse_tree(line) for _, line in zip(range(120), lines, strict=False)]
        by_length = {len(tree): tree for tree in gold}
        predicted = [Tree(g.tokens, by_length[len(g)].root) for g in gold]
        expected = naive.evaluate(gold, predicted, naive.read(PROPER_PRM))
        found = evaluate(gold, predicted).to_json()
        assert 0 < found["all"]["f1"] < 90
        for part in ("all", "cutoff"):
            for key in ("precision", "recall", "f1", "exact_match"):
                assert found[part][key] == pytest.approx(expected[part][key])
                assert found[part]["disc"][key] == pytest.approx(expected[part]["disc"][key])
