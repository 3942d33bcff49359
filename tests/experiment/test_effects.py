"""Effects of settings and oracles over all runs: what is compared with what, and the table of the report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discoparse.evaluation.counts import Counts
from discoparse.experiment.effects import effects
from discoparse.experiment.sections import effect_table

RATES = {0.05: "exploration=0.05", 0.1: "exploration=0.1", 0.2: "exploration=0.2", 0.5: ""}
STARTS = {0.0: "exploration_start=0.0", 0.3: ""}


def run(share: float, seed: int) -> np.ndarray:
    """Counts [sentence, count] with an F1 of exactly 100 `share`, and sentences that differ between seeds."""
    table = np.zeros((20, len(Counts._fields)), dtype=np.int64)
    noise = np.random.default_rng(seed).permutation(np.repeat([-10, 10], 10))
    for name, values in {"gold": 1000, "predicted": 1000, "matched": round(1000 * share) + noise}.items():
        table[:, Counts._fields.index(name)] = values
    return table


def system(oracle: str, *settings: str) -> tuple[str, str]:
    variant = ",".join(filter(None, settings))
    return "fast", f"{oracle}, {variant}" if variant else oracle


def rows(counts: dict[tuple[str, str], list[np.ndarray]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["oracle"], row["effect"]): row for row in effects(counts) if row["metric"] == "f1"}


def test_each_setting_adds_its_part_and_so_does_the_oracle() -> None:
    counts = {}
    for number, (rate, start) in enumerate((r, s) for r in RATES for s in STARTS):
        share = 0.5 + 0.02 * np.log2(rate / 0.05) + 0.1 * start  # 2 points each doubling, 3 for the later start
        counts[system("dynamic", RATES[rate], STARTS[start])] = [run(share, number)]
        counts[system("complete", RATES[rate], STARTS[start])] = [run(share + 0.04, number + 50)]
    found = rows(counts)
    assert list(found) == [
        ("dynamic", "exploration: each doubling, 0.05 to 0.5"),
        ("dynamic", "exploration_start: 0.0 → 0.3"),
        ("complete", "exploration: each doubling, 0.05 to 0.5"),
        ("complete", "exploration_start: 0.0 → 0.3"),
        ("dynamic → complete", "over 8 variants"),
    ]
    assert [row["estimate"] for row in found.values()] == pytest.approx([2, 3, 2, 3, 4], abs=0.1)
    assert [row["runs"] for row in found.values()] == [8, 8, 8, 8, 16]


def test_oracles_are_compared_where_both_have_the_same_variant() -> None:
    """Runs of variants that only one of them has say nothing of their difference."""
    counts = {system("dynamic", RATES[rate]): [run(0.5 + rate / 10, k)] for k, rate in enumerate(RATES)}
    counts |= {system("complete", RATES[rate]): [run(0.51 + rate / 10, k + 50)] for k, rate in enumerate(RATES)}
    counts[system("dynamic", "gap_weight=2.0")] = [run(0.9, 99)]
    found = rows(counts)
    assert found["dynamic → complete", "over 4 variants"]["estimate"] == pytest.approx(1, abs=0.1)
    assert found["dynamic → complete", "over 4 variants"]["runs"] == 8


def test_booleans_units_and_what_is_no_number() -> None:
    counts = {system("even"): [run(0.5, 1), run(0.501, 2)]}
    assert rows(counts) == {}
    counts[system("even", "optimal_set=True")] = [run(0.52, 3)]
    counts |= {system("even", f"decay={k}"): [run(0.5 + 0.1 * k, round(10 * k))] for k in (0.0, 0.5, 1.0)}
    counts[system("even", "optimizer=asgd")] = [run(0.1, 9)]
    found = rows(counts)
    assert list(found) == [("even", "optimal_set: False → True"), ("even", "decay: each unit, 0.0 to 1.0")]
    assert found["even", "decay: each unit, 0.0 to 1.0"]["estimate"] == pytest.approx(10, abs=1)
    assert {row["runs"] for row in found.values()} == {6}


def test_two_variants_of_two_oracles_are_enough() -> None:
    """The oracles then differ by 3 in both. One run of each variant leaves nothing to tell chance by."""
    whole = "optimal_set=True"
    counts = {system("dynamic"): [run(0.5, 1), run(0.5, 2)], system("dynamic", whole): [run(0.52, 3), run(0.52, 4)]}
    counts |= {system("complete"): [run(0.53, 5), run(0.53, 6)], system("complete", whole): [run(0.55, 7)]}
    found = rows(counts)
    assert list(found) == [
        ("dynamic", "optimal_set: False → True"),
        ("complete", "optimal_set: False → True"),
        ("dynamic → complete", "over 2 variants"),
    ]
    assert [row["estimate"] for row in found.values()] == pytest.approx([2, 2, 3], abs=0.1)
    assert rows({name: runs[:1] for name, runs in counts.items() if name[1].startswith("dynamic")}) == {}


def test_one_variant_that_two_oracles_share_is_compared_elsewhere() -> None:
    """By the tests between systems."""
    counts = {system(oracle): [run(0.5, k), run(0.5, k + 5)] for k, oracle in enumerate(("dynamic", "complete"))}
    counts[system("dynamic", "optimal_set=True")] = [run(0.52, 3), run(0.52, 4)]
    assert list(rows(counts)) == [("dynamic", "optimal_set: False → True")]


def test_recipes_are_not_mixed() -> None:
    counts = {system("dynamic", RATES[rate]): [run(0.5, k)] for k, rate in enumerate(RATES)}
    counts[("paper", "dynamic")] = [run(0.9, 77)]
    assert {row["runs"] for row in effects(counts)} == {4}


def test_the_table() -> None:
    counts = {system("dynamic", RATES[rate]): [run(0.5 + 0.02 * np.log2(rate), k)] for k, rate in enumerate(RATES)}
    table = effect_table([{"treebank": "xx", "dev": {"effects": effects(counts)}}], "dev")
    assert table is not None
    first = dict(zip(table.heads, table.rows[0], strict=True))
    names = ("treebank", "recipe", "oracle", "what", "score", "runs")
    assert [first[name] for name in names] == [
        *("xx", "fast", "dynamic", "exploration: each doubling, 0.05 to 0.5", "F1", 4)
    ]
    assert float(str(first["adds"])) == pytest.approx(2, abs=0.1)
    assert effect_table([{"treebank": "xx", "dev": {}}], "dev") is None


def test_p_values_are_corrected_for_the_number_of_effects_on_a_score() -> None:
    """Over all treebanks."""
    (made,) = (
        row
        for row in effects({system("even"): [run(0.5, 1)] * 2, system("even", "decay=0.5"): [run(0.5, 3)]})
        if row["metric"] == "f1"
    )
    treebanks = [
        {"treebank": name, "dev": {"effects": [{**made, "p": p, "seed_share": 0.25}, {**made, "metric": "recall"}]}}
        for name, p in (("xx", 0.01), ("yy", 0.03))
    ]
    table = effect_table(treebanks, "dev")
    assert table is not None
    of_f1 = [dict(zip(table.heads, row, strict=True)) for row in table.rows if "F1" in row]
    assert [(row["treebank"], row["p"], row["Holm"]) for row in of_f1] == [
        *[("xx", "0.0100", "0.0200"), ("yy", "0.0300", "0.0300")]
    ]
    assert [row["due to seeds (%)"] for row in of_f1] == [25, 25]
