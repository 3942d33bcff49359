"""The tables of research/oracles.md and research/oracle-figures.md: of reports' CSV files, and up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle_tables import REPORTS, Difference, Report, pages, short_tables, tables, welch, with_tables

from discoparse.experiment.sections import effect_table, score_table, seed_significance_table, significance_table
from discoparse.experiment.tables import as_csv

MARKERS = "".join(
    f"<!-- {name}: do not edit, run scripts/oracle_tables.py -->\nold\n<!-- end of {name} -->\n"
    for name in ("scores", "differences")
)


def test_the_pages_have_the_figures_of_the_results() -> None:
    for path, made in pages().items():
        page = path.read_text(encoding="utf-8")
        assert page == with_tables(page, made), "run scripts/oracle_tables.py"


@pytest.mark.parametrize(
    ("oracles", "score", "p"),
    [  # research/results-notes.md, "How sure are we?"
        ("nl_alpino static dynamic", "F1", "0.0033"),
        ("en_craft static dynamic", "F1", "0.1118"),
        ("is_icepahc static complete", "disc. F1", "0.0120"),
    ],
)
def test_p_values_over_seeds(oracles: str, score: str, p: str) -> None:
    treebank, first, second = oracles.split()
    rows = tables(REPORTS[0])["differences"].splitlines()
    (row,) = [row for row in rows if row.startswith(f"| {treebank} | fast | {first} → {second} |")]
    assert row.split(" | ")[5 if score == "F1" else 8].strip(" |") == p


def test_welch() -> None:
    """A difference of 3 with a standard error of sqrt(2/3), and 4 degrees of freedom."""
    runs = {"seeds": "3", "F1": "70", "F1 sd": "1"}
    assert welch(runs, {**runs, "F1": "73"}, "F1") == pytest.approx(0.0213, abs=5e-5)


def test_one_seed_or_no_spread_gives_no_p() -> None:
    runs = {"seeds": "1", "F1": "70", "F1 sd": ""}
    assert welch(runs, {**runs, "F1": "71"}, "F1") is None
    equal = {"seeds": "3", "F1": "70", "F1 sd": "0"}
    assert welch(equal, {**equal, "F1": "71"}, "F1") is None


def write_report(folder: Path, part: str = "dev_held_out", treebank: str = "xx") -> None:
    """What `discoparse experiment` writes about a part of the data, with a variant among the systems: tests over seeds
    and sentences, and for `dev` tests over sentences alone."""

    def system(oracle: str, f1: float) -> dict[str, Any]:
        names = ["f1", "precision", "recall", "disc_f1", "disc_precision", "disc_recall", "pos"]
        scores = {name: {"mean": f1, "sd": 0.25} for name in names}
        return {"recipe": "fast", "oracle": oracle, "seeds": [1, 2, 3], "scores": scores}

    def test(second: str, metric: str, difference: float) -> dict[str, Any]:
        facts = {"recipe": "fast", "first_oracle": "static", "second_oracle": second, "metric": metric}
        figures = {"interval": [difference - 1, difference + 1], "seed_share": 0.5, "freedom": 4.0, "p": 0.03}
        return {**facts, **figures, "difference": difference, "seeds": [3, 3], "permutation_p": 0.02, "bootstrap_p": 0}

    variant = "even, optimal_set=True"
    tests = [test("even", "f1", 1.0), test("even", "disc_f1", 3.0), test(variant, "f1", 2.0)]
    figures = {
        "systems": [system("static", 70.0), system("even", 71.0), system(variant, 72.0)],
        "tests": tests,
        "seed_tests": [*tests, test("even", "precision", 2.0)],
    }
    for make in (score_table, significance_table if part == "dev" else seed_significance_table):
        table = make([{"treebank": treebank, part: figures}], part)
        assert table is not None
        (folder / f"{table.name}.csv").write_text(as_csv(table), encoding="utf-8")


def test_scores_that_did_not_choose_their_epoch_are_preferred(tmp_path: Path) -> None:
    """And so are the tests over seeds and sentences. Holm's p is that of the report, which also tests the variant."""
    write_report(tmp_path)
    for name in ("scores-dev.csv", "tests-dev.csv"):
        (tmp_path / name).write_text("not read\n", encoding="utf-8")
    page = with_tables(MARKERS, tables(Report((tmp_path,), "r")))
    assert "old" not in page
    assert page.count("with the epoch chosen on its other half") == 2
    assert "| xx | fast | even | 3 | 71.0 ± 0.2 |" in page
    f1, disc_f1 = "+1.00 (+0.00 to +2.00) | 0.0300 | 0.0600", "+3.00 (+2.00 to +4.00) | 0.0300 | 0.0300"
    assert f"| xx | fast | static → even | {f1} | {disc_f1} |" in page
    assert "optimal_set" not in page


def test_tests_over_sentences_stand_beside_those_over_seeds(tmp_path: Path) -> None:
    """Where the report has no tests over both. A difference of 1 has a standard error of sqrt(0.125 / 3) here."""
    write_report(tmp_path, "dev")
    page = with_tables(MARKERS, tables(Report((tmp_path,), "r")))
    assert page.count("which also chose the epoch") == 2
    f1, disc_f1 = "+1.00 (+0.00 to +2.00) | 0.0200 | 0.0080", "+3.00 (+2.00 to +4.00) | 0.0200 | 0.0080"
    assert f"| xx | fast | static → even | {f1} | {disc_f1} |" in page
    assert "optimal_set" not in page


def test_tables_of_several_reports(tmp_path: Path) -> None:
    """Each has two tables, whose rows may be those of two reports."""
    other = tmp_path / "other"
    other.mkdir()
    write_report(tmp_path)
    write_report(other, treebank="yy")
    page = with_tables(
        MARKERS + MARKERS.replace("scores", "other scores").replace("diff", "other diff"),
        {**tables(Report((tmp_path,), "r")), **tables(Report((tmp_path, other), "r", 3, "other "))},
    )
    assert "old" not in page
    assert [page.index(f"**Table {k}. ") for k in range(1, 5)] == sorted(
        page.index(f"**Table {k}. ") for k in range(1, 5)
    )
    assert page.count("| xx | fast | static → even |") == 2
    assert page.count("| yy | fast | static → even |") == 1


def test_variants_have_a_table_with_their_settings_and_memory(tmp_path: Path) -> None:
    """What sets a variant apart from its recipe stands in columns; sorted by oracle, then by what is taught."""
    write_report(tmp_path)
    write_effects(tmp_path)
    lines = ["treebank,derivations,at most 7 (%)"]
    for system, share in (("static", 99.1), ("even", 81.2), ("even, optimal_set=True", 79.3)):
        lines.append(f'xx,"fast, {system}",{share}')
    (tmp_path / "memory.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    markers = MARKERS.replace("scores", "variants").replace("differences", "effects")
    page = with_tables(markers, tables(Report((tmp_path,), "r", 7, variants=True)))
    rows = [line for line in page[: page.index("**Table 8. ")].splitlines() if "| xx" in line]
    assert [row.split(" | ")[1:6] for row in rows] == [
        ["static", "the one action", "–", "–", "3"],
        ["even", "all of the set", "50%", "30%", "3"],
        ["even", "the preferred action", "50%", "30%", "3"],
    ]
    assert [row.split(" | ")[-1] for row in rows] == ["99.1 |", "79.3 |", "81.2 |"]
    figures = "+1.00 (+0.00 to +2.00) | 0.0300 | 0.0300 | +2.00 (+1.00 to +3.00) | 0.0300 | 0.0300 |"
    assert [line for line in page[page.index("**Table 8. ") :].splitlines() if "| xx" in line] == [
        f"| xx | even | gap weight: 1 → 2 | 6 | {figures}"
    ]


def write_effects(folder: Path) -> None:
    """What the report has about a setting: tests of F1, of discontinuous F1 and of precision."""
    tests = [
        {
            **{"recipe": "fast", "oracle": "even", "effect": "gap_weight: 1 → 2", "metric": metric, "runs": 6},
            **{"estimate": value, "interval": [value - 1, value + 1], "seed_share": 0.5, "freedom": 4.0, "p": 0.03},
        }
        for metric, value in {"f1": 1.0, "precision": 3.0, "disc_f1": 2.0}.items()
    ]
    table = effect_table([{"treebank": "xx", "dev_held_out": {"effects": tests}}], "dev_held_out")
    assert table is not None
    (folder / f"{table.name}.csv").write_text(as_csv(table), encoding="utf-8")


@pytest.mark.parametrize(
    ("p", "corrected", "star"),
    [
        (("0.0100", "0.0600"), True, ""),
        (("0.0600", "0.0100"), True, " *"),
        (("< 0.0001", "< 0.0001"), True, " *"),
        (("–", "–"), True, ""),
        (("0.0100", "0.0600"), False, ""),
        (("0.0600", "0.0100"), False, ""),
        (("< 0.0001", "0.0499"), False, " *"),
        (("0.0100", "–"), False, ""),
    ],
)
def test_differences_in_short(p: tuple[str, str], corrected: bool, star: str) -> None:
    """The corrected p decides alone; where sentences and seeds are tested apart, both must be small."""
    assert Difference("-1.10", "-1.75 to -0.45", p, corrected).short == f"-1.10 ± 0.7{star}"


def test_the_short_paper_compares_what_has_seeds_enough() -> None:
    """One row for a recipe and treebank, with the figures that the long tables have; memory of today's runs alone."""
    short, long = short_tables(REPORTS), tables(REPORTS[2])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in short["short differences"].splitlines()]
    paper = [row for row in rows if row[:1] == ["`paper`"]]
    assert [row[1:3] for row in paper] == [["de_pcc", "3"]]  # that of the older report has one seed
    (line,) = [line for line in long["paper differences"].splitlines() if "| static → complete |" in line]
    assert paper[0][4].split()[0] == line.split("|")[4].split()[0]
    assert paper[0][7].split()[0] == line.split("|")[7].split()[0]
    memory = [line.split(" | ") for line in short["short memory"].splitlines()]
    whole = [row for row in memory if row[1:2] == ["all of the set"]]
    assert [row[3] for row in whole] == ["–"] * len(whole) != []
    seeds = {tuple(row[:2]): row[2] for row in memory if len(row) > 2}  # de_pcc's preferred actions are in two reports
    assert seeds["| de_pcc", "the preferred action"] == "4"
    assert seeds["| de_pcc", "all of the set"] == "1"


def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    write_report(tmp_path)
    with pytest.raises(SystemExit, match="needs one line '<!-- scores"):
        with_tables("nothing", tables(Report((tmp_path,), "r")))
