"""What an experiment consists of: treebanks, the runs on each, and where everything is kept.

OUTPUT/TREEBANK/RECIPE-ORACLE-SEED/   one run: its log, model, predictions and, once it is finished, metrics.json
OUTPUT/TREEBANK/speed-DEVICE.json     parsing rates
OUTPUT/TREEBANK/results.json          every figure of the report, made from the above
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import suffix
from discoparse.tree import Tree
from discoparse.treebank import FORMATS, read_trees

PARTS = ("train", "dev", "test")
METRICS = "metrics.json"
Progress = Callable[[str], None]  # is told what happens
# Where a part is there in several formats, the simplest to read comes first.
_PREFERRED = ("discbracket", "export", "tigerxml", "alpino", "bracket", "jsonl", "json")


@dataclass(frozen=True)
class Treebank:
    """A directory with `train`, `dev` and perhaps `test`, each a file or a folder of any format."""

    name: str
    parts: dict[str, Path]

    def trees(self, part: str) -> list[Tree]:
        """All trees of a part."""
        trees = list(read_trees(self.parts[part]))
        if not trees:
            raise DiscoparseError(f"{self.parts[part]}: no trees")
        return trees


def find_treebank(directory: str | Path) -> Treebank:
    """The treebank in a directory, named after it."""
    folder = Path(directory).resolve()
    if not folder.is_dir():
        raise UsageError(f"{directory} is not a directory: give one that holds train and dev")
    parts = {part: path for part in PARTS if (path := _find_part(folder, part)) is not None}
    for part in ("train", "dev"):
        if part not in parts:
            raise UsageError(f"{directory}: no {part} set here; expected {part}.export, {part}.discbracket.gz, …")
    return Treebank(folder.name, parts)


def _find_part(folder: Path, part: str) -> Path | None:
    """`dev.discbracket.gz`, `dev.export`, … or the folder `dev`; not `dev.raw.export`, nor files of other kinds."""
    ranked = []
    for path in sorted(folder.iterdir()):
        plain = path.name[: -len(".gz")] if path.name.endswith(".gz") else path.name
        if path.is_dir():
            if path.name == part:
                ranked.append((len(_PREFERRED), path))
        elif plain == f"{part}{suffix(path.name)}":
            ranks = [rank for rank, name in enumerate(_PREFERRED) if suffix(path.name) in FORMATS[name].suffixes]
            ranked.extend((rank, path) for rank in ranks[:1])
    return min(ranked)[1] if ranked else None


@dataclass(frozen=True)
class Run:
    """One training: a recipe, an oracle and a seed."""

    recipe: str
    oracle: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.recipe}-{self.oracle}-{self.seed}"


def plan_runs(recipe: str, oracles: Sequence[str], seeds: int) -> list[Run]:
    """Every combination, all oracles of a seed before the next seed: what is there early can be compared.

    >>> [run.name for run in plan_runs("fast", ["static", "dynamic"], 2)]
    ['fast-static-1', 'fast-dynamic-1', 'fast-static-2', 'fast-dynamic-2']
    """
    return [Run(recipe, oracle, seed) for seed in range(1, seeds + 1) for oracle in oracles]


@dataclass(frozen=True)
class FinishedRun:
    """A run that is done: where it lies and what it measured (`metrics.json`)."""

    run: Run
    directory: Path
    metrics: dict[str, Any]

    def predictions(self, part: str) -> Path:
        return prediction_path(self.directory, part)


def prediction_path(directory: Path, part: str) -> Path:
    """Where a run keeps its trees for a part of the treebank."""
    return directory / f"{part}.discbracket.gz"


def finished(directory: Path) -> FinishedRun | None:
    """The run in a folder, None if it is not done."""
    try:
        metrics = json.loads((directory / METRICS).read_text(encoding="utf-8"))
        return FinishedRun(Run(**metrics["run"]), directory, metrics)
    except FileNotFoundError:
        return None
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        message = f"{directory / METRICS} cannot be used ({error}); delete the folder to train this run again"
        raise DiscoparseError(message) from None


def finished_runs(folder: Path, oracles: Sequence[str]) -> list[FinishedRun]:
    """All finished runs of a treebank, in the order of recipe, oracle and seed."""
    found = [run for directory in _folders(folder) if (run := finished(directory)) is not None]
    order = {oracle: k for k, oracle in enumerate(oracles)}
    return sorted(found, key=lambda f: (f.run.recipe, order.get(f.run.oracle, len(order)), f.run.seed))


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir())
