"""Do results hang on seeds that agree by luck? The tests over seeds and sentences of archived runs, made cautiously:

python scripts/cautious_tests.py research/runs/nl_alpino

With few seeds, their scores may lie closer together than the chance of sentences alone would have them. These tests do
not count on that (evaluation/seed_significance.py). Each half of dev is scored at the epoch that the other half chose.
"""

from __future__ import annotations

from pathlib import Path

import click

from discoparse.experiment.effects import effects
from discoparse.experiment.epochs import held_out_counts
from discoparse.experiment.measures import Counted, seed_significance
from discoparse.experiment.plan import finished_runs
from discoparse.experiment.sections import effect_table, seed_significance_table
from discoparse.experiment.tables import markdown
from discoparse.training.recipe import ORACLES

_PART = "dev_held_out"


def tables(folder: Path) -> str:
    """The report's tables of pairs of systems and of effects, with the cautious tests."""
    counts: Counted = {}
    for run in finished_runs(folder, ORACLES):
        counts.setdefault((run.run.recipe, run.run.system), []).append(held_out_counts(run))
    tests = {"seed_tests": seed_significance(counts, cautious=True), "effects": effects(counts, cautious=True)}
    made = (make([{"treebank": folder.name, _PART: tests}], _PART) for make in (seed_significance_table, effect_table))
    return "\n\n".join(markdown(table) for table in made if table is not None)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Cautious tests of the runs in FOLDER, which are of one treebank."""
    print(tables(folder.resolve()))


if __name__ == "__main__":
    command()
