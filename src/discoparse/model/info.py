"""What a model says about itself: its name, language, data, recipe and scores, without loading its parameters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError
from discoparse.files.atomic import existing_directory
from discoparse.files.sealed import from_json, read_sealed

FORMAT = "discoparse model"
FORMAT_VERSION = 2  # raised when an older program could not read a newer model
_READABLE = (1, 2)  # version 1 had all parameters in half precision
FILES = ("README.md", "config.json", "metrics.json", "model.safetensors", "vocabulary.json")
MODEL = "model"  # where the output directory of a training keeps its model


@dataclass(frozen=True)
class ModelInfo:
    """The public facts about a model."""

    name: str
    language: str | None = None  # ISO 639-1 code
    treebanks: tuple[str, ...] = ()  # what it was trained on
    licence: str | None = None  # of the parameters, as the treebanks demand
    recipe: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # of the programs that made it
    metrics: dict[str, Any] = field(default_factory=dict)
    data: tuple[dict[str, Any], ...] = ()  # each treebank: its size, and its name, licence and attribution if stated
    notes: dict[str, list[str]] = field(default_factory=dict)  # good_for, not_good_for, conventions
    training: dict[str, Any] = field(default_factory=dict)  # how it was made: command, recipe, seed, hardware

    @property
    def dev_sets(self) -> dict[str, dict[str, Any]]:
        """The figures on each development set by name; one without a name is called `dev`."""
        metrics = self.metrics
        sets: dict[str, dict[str, Any]] = metrics.get("dev", {}).get("sets", {})
        return sets or {name: part for name, part in metrics.items() if isinstance(part, dict) and "f1" in part}

    def to_json(self) -> dict[str, Any]:
        """For config.json; the metrics have a file of their own."""
        return {k: v for k, v in dataclasses.asdict(self).items() if k != "metrics"}


def model_directory(path: str | Path) -> Path:
    """Where the model lies: the directory itself, or `model` in the output directory of a training."""
    path = Path(path)
    inner = existing_directory(path / MODEL)
    return inner if inner.is_dir() and not (path / "config.json").exists() else path


def read_model(path: str | Path) -> tuple[dict[str, bytes], dict[str, Any], ModelInfo]:
    """The files of a model after their checksums were verified, its configuration and what it says about itself."""
    directory = model_directory(path)
    files = read_sealed(directory, FILES, "model")
    config = from_json(files["config.json"])
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise DiscoparseError(f"{directory}: config.json is not that of a discoparse model")
    if config.get("format_version") not in _READABLE:
        raise DiscoparseError(
            f"{directory}: the model has format version {config.get('format_version')}, and this program reads "
            f"versions {' and '.join(map(str, _READABLE))}; use the version of discoparse that made it "
            f"({config.get('versions', {}).get('discoparse', 'unknown')}) or train it again"
        )
    try:
        known = {name.name for name in dataclasses.fields(ModelInfo)} - {"metrics"}
        facts = {name: value for name, value in config.items() if name in known}
        facts |= {"treebanks": tuple(facts["treebanks"]), "data": tuple(facts.get("data", ()))}
        info = ModelInfo(**facts, metrics=from_json(files["metrics.json"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DiscoparseError(f"{directory}: config.json or metrics.json lacks something ({error})") from None
    return files, config, info


def read_info(path: str | Path) -> ModelInfo:
    """What a model says about itself."""
    return read_model(path)[2]
