"""Write the tables of research/oracles.md, a short paper, and of research/oracle-figures.md, which has all figures,
from the CSV files of reports by `discoparse experiment`:

python scripts/oracle_tables.py

Where a report has tests over seeds and sentences, and scores with the epoch chosen on other sentences, these are
taken; otherwise the tests over sentences alone, with Welch's t test of the seeds' scores beside them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from discoparse.evaluation.student import two_sided_p
from discoparse.evaluation.tables import p_value
from discoparse.experiment.plan import is_variant
from discoparse.experiment.sections import system_name
from discoparse.experiment.tables import Cell, Spread, Table, markdown
from discoparse.training.recipe import ORACLES, RECIPES

RESEARCH = Path(__file__).resolve().parents[1] / "research"
PAPER, FIGURES = RESEARCH / "oracles.md", RESEARCH / "oracle-figures.md"
Row = dict[str, str]

_HELD_OUT = "dev_held_out"
_PARTS = {"dev": "`dev`, which also chose the epoch", _HELD_OUT: "`dev`, with the epoch chosen on its other half"}
_SCORES = ["F1", "P", "R", "disc. F1", "disc. P", "disc. R"]
_TESTED = {"F1": ("F1",), "disc. F1": ("disc. F1", "discontinuous F1")}  # names of the score in the two kinds of tests
_SHORT = ("static → dynamic", "static → complete", "dynamic → complete")  # what the short paper compares
_FEWEST_SEEDS = 3  # of what it has


@dataclass(frozen=True)
class Report:
    """Reports whose rows make two tables, and where these stand on the page. Each p is corrected within its report."""

    folders: tuple[Path, ...]
    recipe: str  # as the short paper calls it
    number: int = 1  # of the first table
    prefix: str = ""  # of the names of their markers
    variants: bool = False  # other tables: every system with its settings and memory, and what settings and oracles add


_NOW = "`fast`, as it is now"
REPORTS = (
    Report((RESEARCH / "results",), "`fast`, as it was"),
    Report((RESEARCH / "grid-nl", RESEARCH / "grid"), _NOW, 3, "grid "),
    Report((RESEARCH / "paper-recipe",), "`paper`", 5, "paper "),
    Report((RESEARCH / "grid-nl", RESEARCH / "variants"), _NOW, 7, variants=True),
)


@dataclass(frozen=True)
class Difference:
    """A difference of a score between two oracles, as a report has it."""

    difference: str
    interval: str
    p: tuple[str, str]  # over sentences and over seeds, or over both before and after Holm's correction
    corrected: bool  # which of these two it is

    @property
    def cells(self) -> list[Cell]:
        return [f"{self.difference} ({self.interval})", *self.p]

    @property
    def significant(self) -> bool:
        """By both tests over one source of chance each, or by the corrected test over both."""
        return all(_below(p, 0.05) for p in (self.p[1:] if self.corrected else self.p))

    @property
    def short(self) -> str:
        """With half of the interval's width, and a star if it is significant."""
        low, high = map(float, self.interval.split(" to "))
        return f"{self.difference} ± {(high - low) / 2:.1f}{' *' if self.significant else ''}"


def _below(p: str, level: float) -> bool:
    return p.startswith("<") or (p != "–" and float(p) < level)


def tables(report: Report) -> dict[str, str]:
    """The tables as Markdown, by the names of their markers."""
    part = _part(report)
    if report.variants:
        systems = _variant_table(_rows(report, f"scores-{part}"), _rows(report, "memory"), part)
        made = {"variants": systems, "effects": _effect_table(_rows(report, f"effects-{part}"), part)}
    else:
        p_heads, tests = _tests(report)
        made = {
            "scores": _score_table(_scores(report), part),
            "differences": _difference_table(p_heads, tests, part),
        }
    return _numbered(report, made)


def short_tables(reports: Iterable[Report]) -> dict[str, str]:
    """The two tables of the short paper: differences between oracles, and the memory."""
    differences: list[list[Cell]] = []
    reports = tuple(reports)
    memory = _memory_rows([report for report in reports if report.recipe == _NOW])
    for report in reports:
        if report.variants:
            continue
        seeds = {(row["treebank"], row["recipe"], row["oracle"]): int(row["seeds"]) for row in _scores(report)}
        tests = _tests(report)[1]
        for treebank, recipe in dict.fromkeys((treebank, recipe) for treebank, recipe, _ in seeds):
            count = seeds[treebank, recipe, "static"]
            found = [tests.get((treebank, recipe, pair)) for pair in _SHORT]
            if count >= _FEWEST_SEEDS and all(found):
                cells = [one[score].short for score in _TESTED for one in found if one]
                differences.append([report.recipe, treebank, count, *cells])
    heads = [f"{'Δ ' + score}: {pair}" for score in _TESTED for pair in _SHORT]
    caption = "Table 1. Differences on `dev`, second oracle less first, ± half of the 95% interval; * is significant"
    return {
        "short differences": markdown(Table("", caption, ["recipe", "treebank", "seeds", *heads], differences, 1, 2)),
        "short memory": markdown(
            Table(
                "",
                "Table 2. Configurations with at most 7 items in memory (%), `dev` parsed with today's `fast`",
                ["treebank", "what is taught", "seeds", *ORACLES],
                memory,
                1,
                2,
            )
        ),
    }


def _memory_rows(reports: Iterable[Report]) -> list[list[Cell]]:
    """For each treebank: with the preferred action, and with the whole set of optimal actions. Of reports that have the
    same system, the one with most seeds counts."""
    small: dict[tuple[str, str], tuple[int, float]] = {}
    for report in reports:
        memory = {(row["treebank"], row["derivations"]): float(row["at most 7 (%)"]) for row in _rows(report, "memory")}
        for row in _rows(report, f"scores-{_part(report)}"):
            key = row["treebank"], system_name(row["recipe"], row["oracle"])
            if int(row["seeds"]) > small.get(key, (0, 0.0))[0]:
                small[key] = int(row["seeds"]), memory[key]
    rows: list[list[Cell]] = []
    for treebank in dict.fromkeys(treebank for treebank, _ in small):
        for taught, ending in {"the preferred action": "", "all of the set": ", optimal_set=True"}.items():
            found = [small.get((treebank, system_name("fast", oracle + ending))) for oracle in ORACLES]
            seeds = " or ".join(map(str, sorted({one[0] for one in found if one})))
            rows.append([treebank, taught, seeds, *(one and one[1] for one in found)])
    return rows


def _part(report: Report) -> str:
    return _HELD_OUT if _has(report, f"scores-{_HELD_OUT}") else "dev"


def _scores(report: Report) -> list[Row]:
    return [row for row in _rows(report, f"scores-{_part(report)}") if not is_variant(row["oracle"])]


def _numbered(report: Report, made: dict[str, Table]) -> dict[str, str]:
    return {
        report.prefix + name: markdown(replace(table, caption=f"Table {number}. {table.caption}"))
        for number, (name, table) in enumerate(made.items(), report.number)
    }


def with_tables(page: str, made: Mapping[str, str]) -> str:
    """The text of a page with each table between its two markers."""
    for name, table in made.items():
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


def _has(report: Report, name: str) -> bool:
    return all((folder / f"{name}.csv").exists() for folder in report.folders)


def _rows(report: Report, name: str) -> list[Row]:
    rows: list[Row] = []
    for folder in report.folders:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows


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


# For each comparison, by treebank, recipe and oracles: the tests of the scores; and what their two p are.
_Tests = dict[tuple[str, str, str], dict[str, Difference]]


def _tests(report: Report) -> tuple[list[str], _Tests]:
    both = f"seed-tests-{_part(report)}"
    if _has(report, both):
        return ["p", "Holm"], _seed_tests(_rows(report, both))
    return ["p, sentences", "p, seeds"], _sentence_tests(_rows(report, f"tests-{_part(report)}"), _scores(report))


def _seed_tests(rows: list[Row]) -> _Tests:
    found: _Tests = {}
    for row in rows:
        if row["score"] in _TESTED and not any(is_variant(name) for name in row["oracles"].split(" → ")):
            p = (row["p"] or "–", row["Holm"] or "–")
            tested = Difference(row["difference"], row["95% interval"], p, corrected=True)
            found.setdefault((row["treebank"], row["recipe"], row["oracles"]), {})[row["score"]] = tested
    return found


def _sentence_tests(rows: list[Row], scores: list[Row]) -> _Tests:
    of = {(row["treebank"], row["recipe"], row["oracle"]): row for row in scores}
    found: _Tests = {}
    for row in rows:
        first, second = row["oracles"].split(" → ")
        if is_variant(first) or is_variant(second):
            continue
        score = next(name for name, names in _TESTED.items() if row["score"] in names)
        treebank, recipe = row["treebank"], row["recipe"]
        p = welch(of[treebank, recipe, first], of[treebank, recipe, second], score)
        both = (row["permutation p"], "–" if p is None else p_value(p))
        tested = Difference(row["difference"], row["95% interval"], both, corrected=False)
        found.setdefault((treebank, recipe, row["oracles"]), {})[score] = tested
    return found


def _difference_table(p_heads: list[str], tests: _Tests, part: str) -> Table:
    heads = ["treebank", "recipe", "oracles", *(head for score in _TESTED for head in (f"Δ {score} (95%)", *p_heads))]
    rows: list[list[Cell]] = [
        [*key, *(cell for tested in scores.values() for cell in tested.cells)] for key, scores in tests.items()
    ]
    return Table("", f"Differences on {_PARTS[part]}, second oracle less first", heads, rows, 1, 3)


def pages() -> dict[Path, dict[str, str]]:
    """The tables of both pages."""
    every = {name: table for report in REPORTS for name, table in tables(report).items()}
    return {PAPER: short_tables(REPORTS), FIGURES: every}


def main() -> None:
    for page, made in pages().items():
        page.write_text(with_tables(page.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    main()
