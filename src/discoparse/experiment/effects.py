"""What the settings of variants do to scores, and what the oracle does where settings differ, over all runs together.

Single runs of many variants say more together than one by one. The scores of the runs of an oracle are taken to be a
sum of what each setting adds: of a setting with two values the effect of the second, of one with more values the effect
of each doubling. Two oracles are compared over the variants that both have, each of which may have a level of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discoparse.evaluation.seed_significance import linear_effect
from discoparse.experiment.plan import split_system
from discoparse.training.recipe import RECIPES

_LEAST = 2  # variants of an oracle, or shared by two oracles
Counted = Mapping[tuple[str, str], Sequence[np.ndarray]]  # by recipe and system, for each run counts [sentence, count]


@dataclass(frozen=True)
class _Run:
    """A run with the settings that any variant of its recipe has."""

    oracle: str
    settings: tuple[bool | float, ...]
    counts: np.ndarray  # [sentence, count]


def effects(counts: Counted, cautious: bool = False) -> list[dict[str, Any]]:
    """Estimates and tests for every recipe: the settings with each oracle, and then pairs of oracles."""
    found: list[dict[str, Any]] = []
    for recipe in dict.fromkeys(recipe for recipe, _ in counts):
        names, runs = _runs_of(recipe, counts)
        for oracle, effect, chosen, design, column in [*_of_settings(names, runs), *_of_oracles(runs)]:
            facts = {"recipe": recipe, "oracle": oracle, "effect": effect}
            tests = linear_effect([run.counts for run in chosen], design, column, cautious=cautious)
            found.extend({**facts, **test.to_json()} for test in tests)
    return found


def _runs_of(recipe: str, counts: Counted) -> tuple[list[str], list[_Run]]:
    """The names of the numeric settings in which variants differ, and the runs that differ in nothing else."""
    parsed = [(system, *split_system(system)) for name, system in counts if name == recipe]
    plain = {oracle: RECIPES[recipe].override([f"oracle={oracle}"]) for _, oracle, _ in parsed}
    numeric = {name for name, value in vars(RECIPES[recipe]).items() if isinstance(value, bool | int | float)}
    changed = {setting.partition("=")[0]: None for _, _, variant in parsed for setting in variant.split(",") if variant}
    names = [name for name in changed if name in numeric]
    runs = []
    for system, oracle, variant in parsed:
        settings = variant.split(",") if variant else []
        if all(setting.partition("=")[0] in numeric for setting in settings):
            recipe_of_run = plain[oracle].override(settings)
            values = tuple(getattr(recipe_of_run, name) for name in names)
            runs += [_Run(oracle, values, table) for table in counts[recipe, system]]
    return names, runs


# Oracles, effect, runs, design [run, column], and the effect as weights of the columns.
_Question = tuple[str, str, list[_Run], np.ndarray, np.ndarray]


def _of_settings(names: Sequence[str], runs: Sequence[_Run]) -> Iterator[_Question]:
    for oracle in dict.fromkeys(run.oracle for run in runs):
        own = [run for run in runs if run.oracle == oracle]
        if len({run.settings for run in own}) < _LEAST:
            continue
        columns, told = [np.ones(len(own))], [""]
        for k, name in enumerate(names):
            levels = sorted({run.settings[k] for run in own})
            values = np.array([float(run.settings[k]) for run in own])
            if len(levels) == 2:
                columns.append((values == levels[1]).astype(float))
                told.append(f"{name}: {levels[0]} → {levels[1]}")
            elif len(levels) > 2:
                step, column = ("each doubling", np.log2(values)) if levels[0] > 0 else ("each unit", values)
                columns.append(column)
                told.append(f"{name}: {step}, {levels[0]} to {levels[-1]}")
        for k in range(1, len(columns)):
            yield oracle, told[k], own, np.stack(columns, axis=1), np.eye(len(columns))[k]


def _of_oracles(runs: Sequence[_Run]) -> Iterator[_Question]:
    for first, second in itertools.combinations(dict.fromkeys(run.oracle for run in runs), 2):
        own, other = ({run.settings for run in runs if run.oracle == oracle} for oracle in (first, second))
        shared = sorted(own & other)
        if len(shared) < _LEAST:
            continue
        chosen = [run for run in runs if run.oracle in (first, second) and run.settings in shared]
        levels = np.array([[float(run.settings == settings) for settings in shared] for run in chosen])
        design = np.column_stack([levels, [float(run.oracle == second) for run in chosen]])
        yield f"{first} → {second}", f"over {len(shared)} variants", chosen, design, np.eye(design.shape[1])[-1]
