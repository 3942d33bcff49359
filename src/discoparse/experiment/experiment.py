"""A whole experiment: train what is missing, measure, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.experiment.archive import archive_runs
from discoparse.experiment.measures import measure
from discoparse.experiment.plan import Progress, Run, Treebank, find_treebank, finished_runs, plan_runs
from discoparse.experiment.planfile import read_plan
from discoparse.experiment.report import write_report
from discoparse.experiment.runs import Job, recipe_of, train_all, unfinished
from discoparse.experiment.speed import measure_speed, measured_speeds
from discoparse.files.atomic import replace_file
from discoparse.files.sealed import encode_json
from discoparse.training.recipe import ORACLES

RESULTS, REPORT = "results.json", "report.md"


@dataclass(frozen=True)
class Plan:
    """What the user wants to be trained: every oracle with every seed, or what a plan file says."""

    recipe: str = "fast"
    oracles: Sequence[str] = ORACLES
    seeds: int = 3
    file: str | Path | None = None  # instead of these three
    settings: Sequence[str] = ()
    device: str = "cpu"
    minutes: float | None = None  # for each training
    jobs: int = 1  # trainings at once
    stop_after: float | None = None  # minutes for all of them, this time


def run_experiment(
    directories: Sequence[str | Path],
    output: str | Path,
    plan: Plan | None,
    *,
    report: str | Path | None = None,
    notes: str | Path | None = None,
    archive: str | Path | None = None,
    progress: Progress = lambda message: None,
) -> Path | None:
    """Train what is unfinished (nothing if there is no plan), write the report and `archive` the runs; the page's path.

    None if training was stopped before all runs were finished: the same call goes on from there.
    """
    output = Path(output)
    treebanks = _find_treebanks(directories)
    if report is not None and not Path(report).suffix:
        raise UsageError(f"--report {report}: name a page with an ending, as {report}.md; {report} is for its pictures")
    if archive is not None and Path(archive).resolve() == output.resolve():
        raise UsageError(f"{archive} is where the runs themselves are: archive them in another directory")
    if plan is not None:
        jobs = _jobs(treebanks, output, plan, progress)
        if not train_all(jobs, plan.jobs, plan.stop_after, progress):
            return None
    figures = [_figures(treebank, output / treebank.name, plan is not None, progress) for treebank in treebanks]
    page = Path(report) if report else output / REPORT
    write_report(page, figures, read_notes(page, notes))
    progress(f"the report is {page}")
    if archive is not None:
        archive_runs(treebanks, output, Path(archive), progress)
    return page


def list_runs(
    directories: Sequence[str | Path], output: str | Path, plan: Plan, progress: Progress = lambda message: None
) -> list[tuple[str, bool]]:
    """The names of the runs of a plan, in the order in which they are trained, and whether each is finished."""
    jobs = _jobs(_find_treebanks(directories), Path(output), plan, progress)
    todo = {job.name for job in unfinished(jobs, lambda message: None)}
    return [(job.name, job.name not in todo) for job in jobs]


def _find_treebanks(directories: Sequence[str | Path]) -> list[Treebank]:
    treebanks = [find_treebank(directory) for directory in directories]
    if len({treebank.name for treebank in treebanks}) < len(treebanks):
        raise UsageError("two of the treebanks have the same name: rename one of the directories")
    return treebanks


def _jobs(treebanks: Sequence[Treebank], output: Path, plan: Plan, progress: Progress) -> list[Job]:
    from discoparse.neural.device import training_threads  # here: a report alone needs no PyTorch

    threads = training_threads(plan.jobs)
    return [
        Job(
            treebank,
            run,
            recipe_of(run, plan.settings),
            output / treebank.name / run.name,
            plan.device,
            plan.minutes,
            threads,
            plan.jobs,
            show_progress=plan.jobs == 1,
        )
        for treebank, run in _runs(treebanks, plan, progress)
    ]


def _runs(treebanks: Sequence[Treebank], plan: Plan, progress: Progress) -> list[tuple[Treebank, Run]]:
    if plan.file is None:
        runs = plan_runs(plan.recipe, plan.oracles, plan.seeds)
        return [(treebank, run) for treebank in treebanks for run in runs]
    by_name = {treebank.name: treebank for treebank in treebanks}
    return [(by_name[name], run) for name, run in read_plan(plan.file, list(by_name), plan.settings, progress)]


def _figures(treebank: Treebank, folder: Path, measure_rates: bool, progress: Progress) -> dict[str, Any]:
    """Everything that is known about a treebank's runs, also kept as JSON."""
    runs = finished_runs(folder, ORACLES)
    if not runs:
        raise DiscoparseError(f"{folder}: no finished run; leave out --report-only to train")
    if measure_rates:
        measure_speed(treebank, runs, folder, progress)
    figures = {**measure(treebank, runs, progress), "speed": measured_speeds(folder)}
    replace_file(folder / RESULTS, encode_json(figures, indent=None))
    return figures


def read_notes(page: Path, notes: str | Path | None) -> str | None:
    """Hand-written text for the report: the file given, or `results-notes.md` beside `results.md`."""
    path = Path(notes) if notes else page.with_name(f"{page.stem}-notes.md")
    if notes is None and not path.exists():
        return None
    return path.read_text(encoding="utf-8")
