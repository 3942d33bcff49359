"""What an experiment consists of: treebanks, the runs on each, and where everything is kept.

OUTPUT/TREEBANK/RECIPE-ORACLE-SEED/   one run: its log, model, predictions and, once it is finished, metrics.json; the
                                      settings that set it apart, if there are any, stand before the seed
OUTPUT/TREEBANK/speed-DEVICE.json     parsing rates
OUTPUT/TREEBANK/results.json          every figure of the report, made from the above
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import suffix, uncompressed
from discoparse.training.treebanks import fingerprint
from discoparse.tree import Tree
from discoparse.treebank import FORMATS, read_trees

PARTS = ("train", "dev", "test")
METRICS = "metrics.json"
_VARIANT = ", "  # between the oracle and the settings in the name of a system
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


def fingerprints(train: Sequence[Tree], dev: Sequence[Tree]) -> dict[str, str]:
    """What tells whether a run was made with these trees."""
    return {"train": fingerprint(train), "dev": fingerprint(dev)}


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
        plain = uncompressed(path.name)
        if path.is_dir():
            if path.name == part:
                ranked.append((len(_PREFERRED), path))
        elif plain == f"{part}{suffix(path.name)}":
            ranks = [rank for rank, name in enumerate(_PREFERRED) if suffix(path.name) in FORMATS[name].suffixes]
            ranked.extend((rank, path) for rank in ranks[:1])
    return min(ranked)[1] if ranked else None


@dataclass(frozen=True)
class Run:
    """One training: a recipe, an oracle, a seed, and settings (`name=value,…`) that differ from those of its recipe."""

    recipe: str
    oracle: str
    seed: int
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of its folder.

        >>> Run("fast", "complete", 2, "exploration=0.15").name
        'fast-complete-exploration=0.15-2'
        """
        return "-".join([self.recipe, self.oracle, *([self.variant] if self.variant else []), str(self.seed)])

    @property
    def system(self) -> str:
        """What the report calls all seeds of it, within their recipe."""
        return f"{self.oracle}{_VARIANT}{self.variant}" if self.variant else self.oracle


def comparable(first: str, second: str) -> bool:
    """Whether two systems differ in one respect: in their oracle, or as a variant from the plain one of their oracle.

    >>> comparable("static", "even"), comparable("even, optimal_set=True", "even")
    (True, True)
    >>> comparable("even, optimal_set=True", "static"), comparable("even, a=1", "complete, a=1")
    (False, True)
    >>> comparable("even, a=1", "even, a=2")
    False
    """
    (oracle, variant), (other, changed) = split_system(first), split_system(second)
    return variant == changed or (oracle == other and not (variant and changed))


def split_system(system: str) -> tuple[str, str]:
    """The oracle of a system, and the settings that set it apart, if there are any.

    >>> split_system("even"), split_system("dynamic, exploration=0.05,exploration_start=0.0")
    (('even', ''), ('dynamic', 'exploration=0.05,exploration_start=0.0'))
    """
    oracle, _, variant = system.partition(_VARIANT)
    return oracle, variant


def is_variant(system: str) -> bool:
    """Whether a system has settings of its own; pictures and breakdowns leave it out."""
    return _VARIANT in system


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

    def check_treebank(self, fingerprints: Mapping[str, str]) -> None:
        """Refuse a treebank that was changed after it was trained on; runs of earlier versions do not know."""
        then = self.metrics.get("fingerprints", {})
        if changed := [part for part, value in fingerprints.items() if then.get(part, value) != value]:
            raise UsageError(
                f"{self.directory}: {' and '.join(changed)} had other trees when this run was made; use those, or "
                "delete the folder to train it again"
            )

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
    return sorted(found, key=lambda f: (f.run.recipe, order.get(f.run.oracle, len(order)), f.run.variant, f.run.seed))


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir())
