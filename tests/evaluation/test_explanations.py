"""The explanations add up to the scores, and say what a linguist would say of small examples."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_pairs import pair

from discoparse.cli.evaluate import command
from discoparse.evaluation import evaluate
from discoparse.evaluation.breakdown import break_down
from discoparse.evaluation.mistakes import find_mistakes
from discoparse.evaluation.phenomena import phenomena
from discoparse.evaluation.significance import compare_results
from discoparse.evaluation.structure import constituents, scored_tree
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

PAIRS = st.lists(pair(), min_size=1, max_size=4)


def scored(pairs: list[tuple[Tree, Tree]]):
    return evaluate([g for g, _ in pairs], [p for _, p in pairs])


@settings(max_examples=100, deadline=None)
@given(PAIRS)
def test_breakdowns_add_up(pairs: list[tuple[Tree, Tree]]) -> None:
    """Each bracket is in one label, degree and length; degrees above 0 are the discontinuous score."""
    result = scored(pairs)
    for by in ("label", "gap-degree", "length"):
        groups = break_down(result, by)
        sums = [sum(getattr(g, name) for g in groups) for name in ("gold", "predicted", "gold_matched")]
        assert sums == [result.all.gold, result.all.predicted, result.all.matched]
        assert all(g.gold_matched == g.predicted_matched for g in groups)
    disc = [g for g in break_down(result, "gap-degree") if g.group != "0"]
    assert sum(g.gold for g in disc) == result.all.disc.gold
    assert sum(g.gold_matched for g in disc) == result.all.disc.matched


@settings(max_examples=100, deadline=None)
@given(PAIRS)
def test_every_wrong_bracket_is_one_mistake(pairs: list[tuple[Tree, Tree]]) -> None:
    result = scored(pairs)
    found = find_mistakes(result)
    two_sided = sum(found.labels.values()) + sum(found.yields.values())
    assert 2 * two_sided + sum(found.unpaired.values()) == sum(s.wrong for s in result.sentences)
    assert sum(found.tags.values()) == result.all.tokens - result.all.correct_tags


@settings(max_examples=100, deadline=None)
@given(PAIRS)
def test_drawn_trees_are_what_is_scored(pairs: list[tuple[Tree, Tree]]) -> None:
    """Scoring the trees of the report gives the same counts of brackets."""
    result = scored(pairs)
    for s in result.sentences:
        if s.counts.tokens:
            tree = scored_tree(s.gold, s.gold_bits, s.gold_brackets)
            found = [(n.label, m) for n, m in tree.masks().items()]
            extra = [b for b in found if b not in s.gold_brackets]
            assert len(found) - len(extra) == len(s.gold_brackets)
            assert all(label == "" for label, _ in extra)


def kinds(line: str, label: str) -> list[str]:
    """The phenomena of the constituent with this label."""
    tree = parse_tree(line)
    nodes = constituents(evaluate([tree], [tree]).sentences[0].gold_brackets)
    (node,) = (n for n in nodes if n.label == label)
    return phenomena(node, nodes, tree)


@pytest.mark.parametrize(
    ("line", "label", "expected"),
    [
        ("(S (VP (NP (N 0=beer)) (V 3=drunk)) (V 1=has) (N 2=she))", "VP", ["fronting", "gap of 2 to 4"]),
        (
            "(S (VP (NP (W 0=what)) (V 2=do)) (V 1=should) (. 3=?))",
            "VP",
            ["fronting", "fronting in a question", "gap of 1"],
        ),
        (
            "(S (NP (D 0=a) (N 1=man) (REL (W 3=who) (V 4=laughs))) (V 2=came))",
            "NP",
            ["extraposition", "gap of 1"],
        ),
        ("(S (VZ (V 0=rang) (P 2=up)) (N 1=him))", "VZ", ["split words", "gap of 1"]),
        ("(S (X (VP (NP (N 0=a)) (V 2=b)) (V 3=c)) (V 1=d))", "X", ["inherited gap", "gap of 1"]),
        (
            "(S (X (N 0=a) (N 2=b) (N 4=c)) (Y (V 1=d) (V 3=e)))",
            "X",
            ["several gaps", "gap of 2 to 4", "ill-nested"],
        ),
        ("(S (CNP (NP (N 0=a)) (C 1=and) (NP (N 2=b))) (V 3=c))", "CNP", ["continuous", "coordination"]),
        ("(S (VP (NP (N 0=a) (N 1=b))) (V 2=c))", "VP", ["continuous", "unary"]),
    ],
)
def test_phenomena(line: str, label: str, expected: list[str]) -> None:
    assert kinds(line, label) == expected


def test_mistakes_of_a_small_example() -> None:
    gold = parse_tree("(S (NP (N 0=a) (N 3=d)) (VP (V 1=b) (PP (P 2=c))) (AP (A 4=e)))")
    predicted = parse_tree("(S (NP (N 0=a) (PP (P 2=c)) (V 1=b) (V 3=d)) (XP (A 4=e)))")
    found = find_mistakes(evaluate([gold], [predicted])).to_json()
    assert found["labels"] == [{"gold": "AP", "predicted": "XP", "count": 1, "example": 1}]
    assert found["yields"] == [{"label": "NP", "kind": "gap missed", "count": 1, "example": 1}]
    assert found["unpaired"] == [{"label": "VP", "kind": "missing", "count": 1, "example": 1}]
    assert found["tags"] == [{"gold": "N", "predicted": "V", "count": 1, "example": 1}]
    (attached,) = found["attachments"]
    assert (attached["label"], attached["gold_parent"], attached["predicted_parent"]) == ("PP", "VP", "NP")


def test_all_brackets_of_a_missing_prediction_are_missing() -> None:
    """They count in the scores, so they are mistakes; nobody said another tag."""
    gold = parse_tree("(S (NP (N 0=a) (N 3=d)) (VP (V 1=b) (PP (P 2=c))) (AP (A 4=e)))")
    found = find_mistakes(evaluate([gold], [], allow_missing=True))
    assert {(entry["label"], entry["kind"]) for entry in found.to_json()["unpaired"]} == {
        (label, "missing") for label in ("S", "NP", "VP", "PP", "AP")
    }
    assert not found.to_json()["tags"]


GOLD = [parse_tree(f"(S (NP (N 0=a) (N {k}=c)) (VP (V 1=b) (V {5 - k}=d)) (X 4=e))") for k in (2, 3)] * 6
FLAT = [parse_tree(f"(S (NP (N 0=a) (N {k}=c)) (V 1=b) (V {5 - k}=d) (X 4=e))") for k in (2, 3)] * 6


def test_a_parser_against_itself() -> None:
    result = evaluate(GOLD, FLAT)
    for test in compare_results(result, result, samples=200):
        assert (test.difference, test.permutation_p, test.bootstrap_p, test.interval) == (0, 1, 1, (0, 0))


def test_a_clear_difference_is_significant_and_the_seed_repeats_it() -> None:
    first, second = evaluate(GOLD, FLAT), evaluate(GOLD, GOLD)
    test, disc = compare_results(first, second, samples=2000, seed=7)
    assert test.difference == pytest.approx(second.all.f1 - first.all.f1)
    assert test.permutation_p < 0.01
    assert test.bootstrap_p < 0.01
    assert test.interval[0] <= test.difference <= test.interval[1]
    assert disc.metric == "disc_f1"
    assert compare_results(first, second, samples=2000, seed=7) == [test, disc]


def test_permutation_p_is_that_of_all_swaps() -> None:
    """With five sentences the 32 swaps can be tried one by one; sampling comes near that share."""
    first = evaluate(GOLD[:5], [*FLAT[:3], *GOLD[3:5]])
    second = evaluate(GOLD[:5], [*GOLD[:4], FLAT[4]])

    def f1(rows: np.ndarray) -> float:
        return 200 * rows[:, 2].sum() / rows[:, :2].sum()

    observed = abs(f1(second.counts) - f1(first.counts))
    extreme = 0
    for swaps in itertools.product([0, 1], repeat=5):
        mask = np.array(swaps, dtype=bool)[:, None]
        a, b = np.where(mask, second.counts, first.counts), np.where(mask, first.counts, second.counts)
        extreme += abs(f1(b) - f1(a)) >= observed - 1e-9
    test, _ = compare_results(first, second, samples=20_000)
    assert test.permutation_p == pytest.approx(extreme / 32, abs=0.02)


def test_command_line_explains(tmp_path: Path) -> None:
    for name, trees in (("gold", GOLD), ("first", FLAT), ("second", GOLD)):
        (tmp_path / f"{name}.discbracket").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    files = [str(tmp_path / f"{name}.discbracket") for name in ("gold", "first")]
    options = [
        "--by",
        "label,gap-degree,length,phenomenon",
        "--errors",
        "3",
        "--samples",
        "100",
        "--seed",
        "3",
    ]
    options += ["--compare", str(tmp_path / "second.discbracket"), "--html", str(tmp_path / "report.html")]
    run = CliRunner().invoke(command, [*files, *options, "--json"], catch_exceptions=False)
    figures = json.loads(run.stdout)
    assert set(figures["by"]) == {"label", "gap-degree", "length", "phenomenon"}
    assert {g["group"]: g["recall"] for g in figures["by"]["label"]} == {"S": 100, "NP": 100, "VP": 0}
    assert figures["errors"]["unpaired"] == [{"label": "VP", "kind": "missing", "count": 12, "example": 1}]
    test = figures["compare"]["tests"]["f1"]
    assert (test["samples"], test["seed"], test["permutation_p"] < 0.05) == (100, 3, True)
    assert figures["compare"]["all"]["f1"] == 100
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    text = CliRunner().invoke(command, [*files, *options], catch_exceptions=False).stdout
    for expected in ("Without a counterpart", "split words", "100 samples, seed 3", "gap-degree"):
        assert expected in text
