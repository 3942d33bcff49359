"""`discoparse experiment`: the paper's tables and figures on any treebank."""

from __future__ import annotations

import sys

import click
from click.core import ParameterSource

from discoparse.cli.options import Names, Number, device_option, settings_option, tell
from discoparse.training import ORACLES, RECIPES


@click.command()
@click.argument("treebank_dirs", nargs=-1, required=True, metavar="TREEBANK_DIR...")
@click.option("--output", "-o", required=True, type=click.Path(file_okay=False), help="Directory for the runs.")
@click.option("--recipe", type=click.Choice(list(RECIPES)), default="fast", show_default=True, help="How to train.")
@click.option(
    "--oracles", type=Names(ORACLES), default=",".join(ORACLES), show_default=True, help="Oracles to compare."
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Trainings per oracle.")
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(exists=True, dir_okay=False),
    help="JSON file with the runs to train, instead of --recipe, --oracles and --seeds.",
)
@device_option
@settings_option
@click.option("--minutes", type=Number(min=0, min_open=True), help="Time limit for each training [none].")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Trainings to run at once.")
@click.option(
    "--stop-after",
    type=Number(min=0, min_open=True),
    metavar="MINUTES",
    help="Interrupt everything after this time; the same command continues.",
)
@click.option("--dry-run", is_flag=True, help="Only list the runs, and which are finished.")
@click.option("--report-only", is_flag=True, help="Train nothing; report on the finished runs.")
@click.option("--report", type=click.Path(dir_okay=False), help="The page to write [OUTPUT/report.md].")
@click.option(
    "--notes", type=click.Path(exists=True, dir_okay=False), help="Markdown to include in the page [PAGE-notes.md]."
)
@click.option(
    "--archive",
    type=click.Path(file_okay=False),
    help="Directory for what a report needs of the finished runs, without the words of the treebanks.",
)
def command(
    treebank_dirs: tuple[str, ...],
    output: str,
    recipe: str,
    oracles: list[str],
    seeds: int,
    plan_file: str | None,
    device: str,
    settings: tuple[str, ...],
    minutes: float | None,
    jobs: int,
    stop_after: float | None,
    dry_run: bool,
    report_only: bool,
    report: str | None,
    notes: str | None,
    archive: str | None,
) -> None:
    """Reproduce the paper's tables and figures on treebanks.

    Each TREEBANK_DIR holds train, dev and perhaps test, in any format. Every combination of oracle and seed is
    trained; finished runs are kept, unfinished ones resumed. The report covers all finished runs in OUTPUT.
    """
    from discoparse.experiment.experiment import Plan, list_runs, run_experiment

    if plan_file:
        _require_alone(plan_file)
    plan = None
    if not report_only or dry_run:
        from discoparse.neural.device import choose_device

        chosen = choose_device(device).type
        in_order = [name for name in ORACLES if name in oracles]
        plan = Plan(recipe, in_order, seeds, plan_file, settings, chosen, minutes, jobs, stop_after)
        if dry_run:
            runs = list_runs(treebank_dirs, output, plan, tell)
            for name, finished in runs:
                click.echo(f"{name}  finished" if finished else name)
            tell(f"{sum(finished for _, finished in runs)} of {len(runs)} runs are finished")
            return
    page = run_experiment(treebank_dirs, output, plan, report=report, notes=notes, archive=archive, progress=tell)
    if page is None:
        tell("not all runs are finished: run the same command again to continue, or --report-only for what there is")
        sys.exit(1)


def _require_alone(plan_file: str) -> None:
    """A plan file says what to train: options that say so, too, would be ignored."""
    context = click.get_current_context()
    for name in ("recipe", "oracles", "seeds"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} cannot be combined with --plan: {plan_file} says what to train")
