"""The report: one Markdown page, with every table as LaTeX and CSV and every picture in a folder beside it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from discoparse import __version__
from discoparse.experiment import sections
from discoparse.experiment.figures import pictures
from discoparse.experiment.published import published_tables
from discoparse.experiment.tables import Table, as_csv, latex, markdown
from discoparse.files.atomic import replace_file
from discoparse.files.sealed import encode_json
from discoparse.training.recipe import ORACLES, RECIPES

Figures = dict[str, Any]
_MADE = "<!-- Made by `discoparse experiment`; change the notes file instead of this page. -->"


class ResultsPage:
    """Collects the parts of the page, and writes what they refer to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_suffix("")  # research/results.md has research/results/
        self.parts: list[str] = [_MADE]
        self.tables: list[Table] = []

    def text(self, *paragraphs: str) -> None:
        self.parts.extend(paragraphs)

    def table(self, table: Table | None, shown: Table | None = None) -> None:
        """Add a table to the page and to the LaTeX file, and write it as CSV; the page has `shown` if that is given."""
        if table is not None:
            self.tables.append(table)
            self.parts.append(markdown(shown or table))

    def picture(self, name: str, title: str, svg: str) -> None:
        """Add a picture to the page."""
        self._write(f"{name}.svg", svg)
        self.parts.append(f"![{title}]({quote(f'{self.folder.name}/{name}.svg')})")

    def write(self) -> None:
        """Write the page and the files of the tables."""
        for table in self.tables:
            self._write(f"{table.name}.csv", as_csv(table))
        self._write("tables.tex", "\n".join(latex(table) for table in self.tables))
        replace_file(self.path, ("\n\n".join(self.parts) + "\n").encode("utf-8"))

    def _write(self, name: str, content: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / name, content.encode("utf-8"))


def write_report(path: Path, treebanks: Sequence[Figures], notes: str | None = None) -> None:
    """Write the page `path` about some treebanks (`measures.measure`), hand-written notes included; a heading that
    these begin with is the page's."""
    report = ResultsPage(path)
    names = ", ".join(figures["treebank"] for figures in treebanks)
    title, notes = _split_title(notes or "")
    report.text(
        f"# {title}",
        f"Trained and parsed with discoparse {__version__} on {names}. Every figure and picture on this page, except "
        "those of the paper and of other parsers, is made by the commands [at its end](#to-run-it-again); the folder "
        f"`{report.folder.name}` has the pictures, the tables as CSV with unrounded figures, and all of them for LaTeX "
        "(`tables.tex`).",
    )
    if notes:
        report.text(notes)
    report.text("## What was measured")
    report.table(sections.treebank_table(treebanks))
    report.table(sections.training_table(treebanks))
    report.text("## Scores")
    for part in sections.PARTS:
        report.table(sections.score_table(treebanks, part))
        for make in (sections.seed_significance_table, sections.effect_table):
            if tests := make(treebanks, part):
                report.table(tests, sections.f1_only(tests))
        report.table(sections.significance_table(treebanks, part))
    _pictures(report, treebanks, ("curve-f1", "curve-disc_f1"), "## Learning curves")
    report.text("## The memory")
    report.table(sections.memory_table(treebanks))
    _pictures(report, treebanks, ("memory",))
    report.text("## The number of transitions")
    report.table(sections.transition_table(treebanks))
    _pictures(report, treebanks, ("transitions",))
    report.text("## Speed")
    report.table(sections.speed_table(treebanks))
    report.text("## Scores by kind of constituent")
    for figures in treebanks:
        for table in sections.breakdown_tables(figures):
            report.table(table, sections.shortened(table))
    report.text("## The figures of others")
    for table in published_tables():
        report.table(table)
    report.text("## To run it again", *_recipe_of_the_report(treebanks))
    report.write()


def _split_title(notes: str) -> tuple[str, str]:
    r"""The heading of the page, and the notes without it.

    >>> _split_title("# The grid\n\nWhat was run."), _split_title("## Reading")
    (('The grid', 'What was run.'), ('Results', '## Reading'))
    """
    first, _, rest = notes.strip().partition("\n")
    return (first[2:].strip(), rest.strip()) if first.startswith("# ") else ("Results", notes.strip())


def _pictures(report: ResultsPage, treebanks: Sequence[Figures], names: Sequence[str], head: str | None = None) -> None:
    for figures in treebanks:
        for name, title, svg in pictures(figures):
            if name in names:
                if head:
                    report.text(head)
                    head = None
                report.picture(f"{figures['treebank']}-{name}", f"{figures['treebank']}: {title}", svg)


def _recipe_of_the_report(treebanks: Sequence[Figures]) -> list[str]:
    """The commands that make the runs and this page, and with what they were made."""
    commands: dict[str, None] = {}
    for figures in treebanks:
        plain = [run for run in figures["runs"] if not run.get("variant")]
        kinds = {(run["recipe"], run["limit_minutes"]): None for run in plain}
        for kind in kinds:
            runs = [run for run in plain if (run["recipe"], run["limit_minutes"]) == kind]
            commands[_command(figures["treebank"], runs)] = None
    made = {
        str(encode_json(r["environment"], indent=None), "utf-8").strip(): None for f in treebanks for r in f["runs"]
    }
    names = shlex.join(figures["treebank"] for figures in treebanks)
    plans = _plans_of_variants(treebanks)
    files = ["plan.json"] if len(plans) == 1 else [f"plan-{number}.json" for number in range(1, len(plans) + 1)]
    for file, options in zip(files, plans, strict=True):
        command = f"discoparse experiment {names} --output runs --plan {file} {shlex.join(options)}".strip()
        commands[command] = None
    return [
        "Give the directories of the treebanks for their names. Finished runs are kept, so the last command only "
        "writes the page.",
        "\n".join(
            ["```", *commands, f"discoparse experiment {names} --output runs --report-only --report PAGE.md", "```"]
        ),
        *(
            part
            for file, plan in zip(files, plans.values(), strict=True)
            for part in (f"`{file}` has runs with settings of their own:", f"```json\n{plan}\n```")
        ),
        "Made with:",
        "\n".join(["```", *made, "```"]),
    ]


def _command(treebank: str, runs: Sequence[Figures]) -> str:
    """The command that trains the runs of one recipe."""
    recipe = runs[0]["recipe"]
    oracles = sorted({run["oracle"] for run in runs}, key=ORACLES.index)
    seeds = max(run["seed"] for run in runs)
    parts = ["discoparse", "experiment", treebank, "--output", "runs", "--recipe", recipe]
    parts += ["--oracles", ",".join(oracles), "--seeds", str(seeds)]
    return shlex.join([*parts, *_options(runs[0])])


def _options(run: Figures) -> list[str]:
    """Options for the settings that all runs had and their recipe has not, and for the limit on their time."""
    own = {"oracle", *(setting.partition("=")[0] for setting in run.get("variant", "").split(","))}
    recipe = RECIPES[run["recipe"]]
    changed = {name: value for name, value in run["settings"].items() if value != getattr(recipe, name, None)}
    options = [part for name, value in changed.items() if name not in own for part in ("--set", f"{name}={value}")]
    minutes = run["limit_minutes"]
    return options if minutes is None else [*options, "--minutes", f"{minutes:g}"]


def _plans_of_variants(treebanks: Sequence[Figures]) -> dict[tuple[str, ...], str]:
    """Plan files (see `planfile`) with the runs that have settings of their own, by the options of their commands."""
    seeds: dict[tuple[str, ...], dict[tuple[str, str, str, str], int]] = {}
    for figures in treebanks:
        for run in figures["runs"]:
            if run.get("variant"):
                counts = seeds.setdefault(tuple(_options(run)), {})
                key = (figures["treebank"], run["recipe"], run["oracle"], run["variant"])
                counts[key] = max(run["seed"], counts.get(key, 0))
    return {options: _plan(counts) for options, counts in seeds.items()}


def _plan(seeds: dict[tuple[str, str, str, str], int]) -> str:
    """A plan with so many seeds of each treebank, recipe, oracle and variant."""
    entries = [
        {"treebanks": [treebank], "recipe": recipe, "oracles": [oracle], "seeds": count, "set": dict(_pairs(variant))}
        for (treebank, recipe, oracle, variant), count in seeds.items()
    ]
    return "[" + ",\n".join(str(encode_json(entry, indent=None), "utf-8").strip() for entry in entries) + "]"


def _pairs(variant: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (setting.partition("=") for setting in variant.split(","))]
