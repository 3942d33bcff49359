"""The parts of an experiment's figures: pooled tests, breakdowns, memory sizes, treebanks in directories, plots."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from discoparse.drawing.charts import Series, plot
from discoparse.errors import UsageError
from discoparse.evaluation import evaluate
from discoparse.evaluation.significance import compare_results
from discoparse.experiment.measures import breakdown, pooled, significance, spread, transitions
from discoparse.experiment.plan import find_treebank
from discoparse.experiment.tables import Spread, Table, as_csv, latex, markdown
from discoparse.system.constituents import tree_constituents
from discoparse.system.derivation_lengths import memory_sizes, shifts
from discoparse.system.oracle import static_derivation
from discoparse.system.transition import Combine, Configuration, Shift
from discoparse.treebank.discbracket import parse_tree

GOLD = [
    parse_tree("(S (VP (WP 0=what) (VB 3=do)) (MD 1=should) (PRP 2=I))"),
    parse_tree("(S (NP (DT 0=a) (NN 1=man)) (VP (VBD 2=came)))"),
    parse_tree("(S (NP (DT 0=a) (NN 1=man) (RC 3=laughing)) (VP (VBD 2=came)))"),
]
FLAT = [
    parse_tree("(S (WP 0=what) (VB 3=do) (MD 1=should) (PRP 2=I))"),
    parse_tree("(S (NP (DT 0=a) (NN 1=man)) (VP (VBD 2=came)))"),
    parse_tree("(S (NP (DT 0=a) (NN 1=man)) (VP (VBD 2=came)) (RC 3=laughing))"),
]


def test_pooling_keeps_the_sentence_as_the_unit() -> None:
    """Seeds that predict the same add nothing to the evidence: the same difference, the same p values."""
    good, bad = evaluate(GOLD, GOLD), evaluate(GOLD, FLAT)
    once = compare_results(bad, good, samples=500)
    thrice = compare_results(pooled([bad] * 3), pooled([good] * 3), samples=500)
    for one, three in zip(once, thrice, strict=True):
        assert three.difference == pytest.approx(one.difference)
        assert three.permutation_p == one.permutation_p
        assert three.bootstrap_p == one.bootstrap_p


def test_pooled_scores_are_over_all_seeds() -> None:
    """A seed that is right and one that is wrong meet in the middle, by counts."""
    good, bad = evaluate(GOLD, GOLD), evaluate(GOLD, FLAT)
    both = pooled([good, bad]).all
    assert both.matched == good.all.matched + bad.all.matched
    assert bad.all.f1 < both.f1 < good.all.f1


def test_figures_over_seeds() -> None:
    """The mean, and the standard deviation of a sample; seeds without a figure do not count."""
    found = spread([70.0, 74.0, None, 75.0])
    assert found["mean"] == pytest.approx(73.0)
    assert found["sd"] == pytest.approx(7**0.5)  # (9 + 1 + 4) / (3 - 1)
    assert found["values"] == [70.0, 74.0, None, 75.0]
    assert spread([70.0]) == {"mean": 70.0, "sd": None, "values": [70.0]}
    assert spread([None, None]) == {"mean": None, "sd": None, "values": [None, None]}


def test_tests_use_as_many_seeds_as_both_oracles_have() -> None:
    """The first two of three: the third of one oracle has nothing to be compared with."""
    good, bad = evaluate(GOLD, GOLD), evaluate(GOLD, FLAT)
    results = {("fast", "static"): [bad, bad], ("fast", "even"): [good, good, bad]}
    (test, _) = significance(results)
    assert test["seeds"] == 2
    assert test["second"] == 100
    assert test["first"] == pytest.approx(bad.all.f1)


def test_only_oracles_of_one_recipe_are_compared() -> None:
    """A difference between recipes says nothing about oracles."""
    good, bad = [evaluate(GOLD, GOLD)], [evaluate(GOLD, FLAT)]
    results = {("fast", "static"): bad, ("fast", "dynamic"): good, ("paper", "static"): bad}
    tests = significance(results)
    assert {(test["first_oracle"], test["second_oracle"]) for test in tests} == {("static", "dynamic")}
    assert {test["metric"] for test in tests} == {"f1", "disc_f1"}
    assert all(test["recipe"] == "fast" and test["difference"] > 0 for test in tests)


def test_breakdown_counts_the_gold_constituents_of_one_seed() -> None:
    """`gold` is what the treebank has, however many seeds there are; scores are over all of them."""
    results = {("fast", "static"): [evaluate(GOLD, GOLD), evaluate(GOLD, FLAT)]}
    degrees = {row["group"]: row for row in breakdown(results, "gap-degree")}
    assert degrees["1"]["gold"] == 2
    assert (degrees["1"]["recall"], degrees["1"]["precision"]) == (50.0, 100.0)
    lengths = breakdown(results, "constituent-length")
    assert [row["group"] for row in lengths] == ["1-5"]
    assert lengths[0]["gold"] == evaluate(GOLD, GOLD).all.gold


def test_memory_sizes_are_those_of_the_configurations() -> None:
    for tree in GOLD:
        derivation = static_derivation(tree_constituents(tree))
        sizes, c = [], Configuration.initial(len(tree))
        for action in derivation:
            c = c.apply(action)
            if isinstance(action, Shift | Combine):
                sizes.append(len(c.memory))
        assert memory_sizes(shifts(derivation)) == sizes


def test_transitions_of_all_systems() -> None:
    """Without a gap all systems take 2n-1 structural transitions; with one, only the set-based system does."""
    figures = transitions(GOLD)
    assert figures["columns"] == ["tokens", "set", "swap", "gap"]
    assert figures["points"][1] == [3, 5, 5, 5]
    length, ours, swap, gap = figures["points"][0]
    assert ours == 2 * length - 1 < gap < swap
    assert figures["systems"]["set"]["shortest_share"] == 1.0
    assert figures["systems"]["gap"]["shortest_share"] == pytest.approx(1 / 3)


def test_parts_of_a_treebank_are_found(tmp_path: Path) -> None:
    """One file for each set: raw versions, lists of ids and other files are passed over."""
    for name in (
        "train.discbracket.gz",
        "train.ids.gz",
        "dev.export",
        "dev.raw.export",
        "dev.discbracket",
        "notes.txt",
    ):
        (tmp_path / name).write_text("")
    (tmp_path / "test").mkdir()
    parts = find_treebank(tmp_path).parts
    assert {part: path.name for part, path in parts.items()} == {
        "train": "train.discbracket.gz",
        "dev": "dev.discbracket",
        "test": "test",
    }
    with pytest.raises(UsageError, match="not a directory"):
        find_treebank(tmp_path / "notes.txt")


def test_tables_escape_what_their_formats_read() -> None:
    """A label such as $, or |S| keeps its row and column in every format."""
    table = Table("t", "|S| & more", ["label", "F1"], [["$,", Spread(50.0, 1.5)], ["a|b_c", None]])
    assert "a\\|b_c" in markdown(table)
    assert r"\$, & 50.0 $\pm$ 1.5 \\" in latex(table)
    assert as_csv(table).splitlines() == ["label,F1,F1 sd", '"$,",50.0,1.5', "a|b_c,,"]


def test_plots_place_values_where_they_belong() -> None:
    """Higher values stand higher, bars of two series stand side by side, and names are escaped."""
    svg = plot(
        [Series("a<b", [(0, 10.0), (1, 20.0)], "bars", 0), Series("c", [(0, 20.0), (1, 10.0)], "bars", 1)],
        "T & t",
        "x",
        "y",
    )
    ElementTree.fromstring(svg)
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="(#\w+)">', svg)
    (x1, y1, w1, h1, _), (x2, y2, _, h2, _), (x3, y3, _, h3, _), (x4, _, _, _, _) = [
        (*map(float, box[:4]), box[4]) for box in boxes
    ]
    assert x1 + w1 <= x3 < x3 + w1 <= x2 < x4  # a at 0, c at 0, a at 1, c at 1
    assert h2 == pytest.approx(2 * h1, abs=0.2)
    assert h3 == pytest.approx(h2, abs=0.2)
    assert y2 < y1
    assert y3 < y1
