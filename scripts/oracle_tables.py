"""Write the tables of research/oracles.md from the CSV files of reports by `discoparse experiment`:

python scripts/oracle_tables.py

Where a report has tests over seeds and sentences, and scores with the epoch chosen on other sentences, these are
taken; otherwise the tests over sentences alone, with Welch's t test of the seeds' scores beside them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from discoparse.evaluation.student import two_sided_p
from discoparse.evaluation.tables import p_value
from discoparse.experiment.plan import is_variant
from discoparse.experiment.sections import system_name
from discoparse.experiment.tables import Cell, Spread, Table, markdown
from discoparse.training.recipe import ORACLES, RECIPES

RESEARCH = Path(__file__).resolve().parents[1] / "research"
PAGE = RESEARCH / "oracles.md"
Row = dict[str, str]

_HELD_OUT = "dev_held_out"
_PARTS = {"dev": "`dev`, which also chose the epoch", _HELD_OUT: "`dev`, with the epoch chosen on its other half"}
_SCORES = ["F1", "P", "R", "disc. F1", "disc. P", "disc. R"]
_TESTED = {"F1": ("F1",), "disc. F1": ("disc. F1", "discontinuous F1")}  # names of the score in the two kinds of tests


@dataclass(frozen=True)
class Report:
    """A report, and where its two tables stand on the page."""

    folder: Path
    number: int = 1  # of the first table
    prefix: str = ""  # of the names of their markers
    variants: bool = False  # other tables: every system with its settings and memory, and what settings and oracles add


REPORTS = (
    Report(RESEARCH / "results"),
    Report(RESEARCH / "grid", 3, "grid "),
    Report(RESEARCH / "paper-recipe", 5, "paper "),
    Report(RESEARCH / "variants", 7, variants=True),
)


def tables(report: Report) -> dict[str, str]:
    """The tables as Markdown, by the names of their markers."""
    folder = report.folder
    part = _HELD_OUT if (folder / f"scores-{_HELD_OUT}.csv").exists() else "dev"
    every = _rows(folder / f"scores-{part}.csv")
    if report.variants:
        systems = _variant_table(every, _rows(folder / "memory.csv"), part)
        return _numbered(
            report, {"variants": systems, "effects": _effect_table(_rows(folder / f"effects-{part}.csv"), part)}
        )
    scores = [row for row in every if not is_variant(row["oracle"])]
    both = folder / f"seed-tests-{part}.csv"
    tests = _seed_tests(_rows(both)) if both.exists() else _sentence_tests(_rows(folder / f"tests-{part}.csv"), scores)
    return _numbered(report, {"scores": _score_table(scores, part), "differences": _difference_table(tests, part)})


def _numbered(report: Report, made: dict[str, Table]) -> dict[str, str]:
    return {
        report.prefix + name: markdown(replace(table, caption=f"Table {number}. {table.caption}"))
        for number, (name, table) in enumerate(made.items(), report.number)
    }


def with_tables(page: str, reports: Iterable[Report]) -> str:
    """The text of the page with each table between its two markers."""
    for report in reports:
        for name, table in tables(report).items():
            page = _with_table(page, name, table)
    return page


def _with_table(page: str, name: str, table: str) -> str:
    begin, end = f"<!-- {name}: do not edit, run scripts/oracle_tables.py -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"the page needs one line {begin!r} and after it one line {end!r}")
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", page)


def welch(first: Row, second: Row, score: str) -> float | None:
    """Welch's t test of the scores of two oracles' seeds, from their means and standard deviations; None with one seed
    or without any spread."""
    if not first[f"{score} sd"] or not second[f"{score} sd"]:
        return None
    parts = [(float(row[f"{score} sd"]) ** 2 / int(row["seeds"]), int(row["seeds"]) - 1) for row in (first, second)]
    variance = sum(part for part, _ in parts)
    if not variance:
        return None
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    return two_sided_p((float(second[score]) - float(first[score])) / variance**0.5, freedom)


def _rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _variant_table(scores: list[Row], memory: list[Row], part: str) -> Table:
    small = {(row["treebank"], row["derivations"]): float(row["at most 7 (%)"]) for row in memory}
    rows: dict[tuple[str | int | float, ...], list[Cell]] = {}
    for row in scores:
        treebank, recipe, system = row["treebank"], row["recipe"], row["oracle"]
        oracle, _, variant = system.partition(", ")
        settings = RECIPES[recipe].override(variant.split(",") if variant else [])
        taught = "all of the set" if settings.optimal_set else "the preferred action"
        explored = [f"{share:.0%}" for share in (settings.exploration, settings.exploration_start)]
        if oracle == "static":
            taught, explored = "the one action", ["–", "–"]
        figures = [*(_spread(row, score) for score in _SCORES), small[treebank, system_name(recipe, system)]]
        order = (treebank, ORACLES.index(oracle), taught, settings.exploration_start, settings.exploration)
        rows[order] = [treebank, oracle, taught, *explored, int(row["seeds"]), *figures]
    heads = ["treebank", "oracle", "teaches", "batches explored", "after", "seeds", *_SCORES, "at most 7 items (%)"]
    in_order = [rows[order] for order in sorted(rows)]
    return Table("", f"Every oracle and its variants, scores on {_PARTS[part]}, and the memory", heads, in_order, 1, 3)


def _effect_table(tests: list[Row], part: str) -> Table:
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for row in tests:
        if row["score"] in _TESTED:
            key = (row["treebank"], row["oracle"], row["what"].replace("_", " "), row["runs"])
            found.setdefault(key, []).extend([f"{row['adds']} ({row['95% interval']})", row["p"], row["Holm"]])
    heads = [
        "treebank",
        "oracle",
        "what",
        "runs",
        *(head for score in _TESTED for head in (f"Δ {score} (95%)", "p", "Holm")),
    ]
    rows: list[list[Cell]] = [[*key, *cells] for key, cells in found.items()]
    return Table("", f"What settings and oracles add to scores on {_PARTS[part]}, over all runs", heads, rows, 1, 3)


def _spread(row: Row, score: str) -> Spread:
    return Spread(float(row[score]), float(row[f"{score} sd"]) if row[f"{score} sd"] else None)


def _score_table(scores: list[Row], part: str) -> Table:
    rows: list[list[Cell]] = []
    for row in scores:
        spreads = [_spread(row, score) for score in _SCORES]
        rows.append([row["treebank"], row["recipe"], row["oracle"], int(row["seeds"]), *spreads])
    heads = ["treebank", "recipe", "oracle", "seeds", *_SCORES]
    return Table("", f"Scores on {_PARTS[part]}: mean ± standard deviation over seeds", heads, rows, 1, 3)


# For each comparison: treebank, recipe and oracles, then difference, interval and two p values for each score.
_Tests = tuple[list[str], dict[tuple[str, str, str], list[str]]]


def _seed_tests(rows: list[Row]) -> _Tests:
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["score"] in _TESTED and not any(is_variant(name) for name in row["oracles"].split(" → ")):
            cells = [f"{row['difference']} ({row['95% interval']})", row["p"] or "–", row["Holm"] or "–"]
            found.setdefault((row["treebank"], row["recipe"], row["oracles"]), []).extend(cells)
    return ["p", "Holm"], found


def _sentence_tests(rows: list[Row], scores: list[Row]) -> _Tests:
    of = {(row["treebank"], row["recipe"], row["oracle"]): row for row in scores}
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        first, second = row["oracles"].split(" → ")
        if is_variant(first) or is_variant(second):
            continue
        score = next(name for name, names in _TESTED.items() if row["score"] in names)
        treebank, recipe = row["treebank"], row["recipe"]
        p = welch(of[treebank, recipe, first], of[treebank, recipe, second], score)
        cells = [f"{row['difference']} ({row['95% interval']})", row["permutation p"], "–" if p is None else p_value(p)]
        found.setdefault((treebank, recipe, row["oracles"]), []).extend(cells)
    return ["p, sentences", "p, seeds"], found


def _difference_table(tests: _Tests, part: str) -> Table:
    p_heads, found = tests
    heads = ["treebank", "recipe", "oracles", *(head for score in _TESTED for head in (f"Δ {score} (95%)", *p_heads))]
    rows: list[list[Cell]] = [[*key, *cells] for key, cells in found.items()]
    return Table("", f"Differences on {_PARTS[part]}, second oracle less first", heads, rows, 1, 3)


def main() -> None:
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), REPORTS), encoding="utf-8")


if __name__ == "__main__":
    main()
