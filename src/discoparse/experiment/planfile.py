"""Plan files: a whole grid of runs as data, so that one command trains it and anybody can read what was run.

A plan is a JSON list; each entry stands for all combinations of what it lists:

[{"treebanks": ["de_pcc", "nl_alpino"], "oracles": ["dynamic", "complete"], "seeds": 3,
  "set": {"exploration": [0.05, 0.5], "exploration_start": [0, 0.3]}}]

Without `treebanks`, an entry is for every treebank of the command; the defaults of `recipe`, `seeds` and `oracles` are
fast, 3 and all. A combination that sets nothing but what its recipe has anyway is the plain run of its oracle, so
entries may overlap.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from discoparse.errors import UsageError, did_you_mean
from discoparse.experiment.plan import Progress, Run
from discoparse.training.recipe import ORACLES, RECIPES

_KEYS = ("about", "treebanks", "recipe", "oracles", "seeds", "set")
Planned = list[tuple[str, Run]]  # the name of a treebank, and a run on it


def read_plan(
    path: str | Path,
    treebanks: Sequence[str],
    settings: Sequence[str] = (),
    progress: Progress = lambda message: None,
) -> Planned:
    """The runs of a plan file on some treebanks, each once; those of the first seed come first.

    Other treebanks that it names are left out, and `progress` hears of it, so that a part of a grid can be run on its
    own. `settings` are those that the user changes for all runs: the plan must have others.
    """
    try:
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path}: a plan is a list of objects")
    runs: dict[tuple[str, Run], None] = {}
    for number, entry in enumerate(entries, 1):
        try:
            _refuse_both(entry.get("set"), settings)
            runs.update(dict.fromkeys(_expand(entry, treebanks)))
        except UsageError as error:
            raise UsageError(f"{path}, entry {number}: {error}") from None
    if not runs:
        raise UsageError(f"{path}: no runs on {', '.join(treebanks)}")
    named = dict.fromkeys(name for entry in entries for name in entry.get("treebanks", ()))
    if others := [name for name in named if name not in treebanks]:
        progress(f"{path}: left out, since they are not among the treebanks given: {', '.join(others)}")
    return sorted(runs, key=lambda planned: planned[1].seed)  # stable: the order of the entries within a seed


def _refuse_both(varied: Any, settings: Sequence[str]) -> None:
    """A setting with values of its own in the plan cannot have another one for all runs."""
    names = {setting.partition("=")[0] for setting in settings}
    if both := [name for name in varied or () if name in names]:
        raise UsageError(f"set has {', '.join(both)}, and so has --set: leave it out of one of them")


def _expand(entry: dict[str, Any], treebanks: Sequence[str]) -> Iterable[tuple[str, Run]]:
    for key in entry:
        if key not in _KEYS:
            raise UsageError(f"unknown key {key!r}: use {', '.join(_KEYS)}.{did_you_mean(key, _KEYS)}")
    recipe = entry.get("recipe", "fast")
    if recipe not in RECIPES:
        raise UsageError(f"unknown recipe {recipe!r}: choose one of {', '.join(RECIPES)}")
    seeds = entry.get("seeds", 3)
    if not isinstance(seeds, int) or isinstance(seeds, bool) or seeds < 1:
        raise UsageError("seeds is a number of trainings, 1 or more")
    oracles, wanted = (_names(entry, key, all_) for key, all_ in (("oracles", ORACLES), ("treebanks", treebanks)))
    for oracle in oracles:
        if oracle not in ORACLES:
            raise UsageError(f"unknown oracle {oracle!r}: choose from {', '.join(ORACLES)}")
    for settings in _combinations(entry.get("set", {})):
        for treebank in treebanks:
            if treebank in wanted:
                for oracle in oracles:
                    variant = variant_name(recipe, oracle, settings)
                    yield from ((treebank, Run(recipe, oracle, seed, variant)) for seed in range(1, seeds + 1))


def _names(entry: dict[str, Any], key: str, every: Sequence[str]) -> Sequence[str]:
    names = entry.get(key, every)
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{key} is a list of names")
    return names


def _combinations(choices: Any) -> Iterable[list[str]]:
    """Every choice of a value for each setting, as `name=value`."""
    if not isinstance(choices, dict):
        raise UsageError('set is an object of settings, as in {"exploration": [0.15, 0.5]}')
    listed = []
    for name, values in choices.items():
        values = values if isinstance(values, list) else [values]
        listed.append([f"{name}={_text(value)}" for value in values])
    return [list(settings) for settings in itertools.product(*listed)]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def variant_name(recipe: str, oracle: str, settings: Sequence[str]) -> str:
    """What sets a run apart from the plain one of its oracle: those settings that differ, in a fixed spelling.

    >>> variant_name("fast", "dynamic", ["exploration=0.150", "exploration_start=0.3", "optimal_set=true"])
    'exploration=0.15,optimal_set=True'
    """
    plain = RECIPES[recipe].override([f"oracle={oracle}"])
    changed = plain.override(settings)
    names = [setting.partition("=")[0] for setting in settings]
    if "oracle" in names:
        raise UsageError("list oracles under oracles, not under set")
    pairs = ((name, getattr(changed, name)) for name in names)
    return ",".join(f"{name}={value}" for name, value in pairs if value != getattr(plain, name))
