"""What a model says about itself: its name, language, data, recipe and scores, without loading its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError
from discoparse.files.atomic import existing_directory
from discoparse.files.sealed import Sealed
from discoparse.model.contents import (
    Check,
    anything,
    list_of,
    name,
    number,
    object_of,
    optional,
    parse_json,
    places,
    record,
    strings,
    text,
)
from discoparse.neural.vocabulary import word_ranks

FORMAT = "discoparse model"
# A model has the lowest version that tells older programs whether they can read it.
FORMAT_VERSION = 2  # of most models; version 1 had all parameters in half precision
ENCODER_VERSION = 3  # of models with a pretrained encoder
TAG_BOTH_VERSION = 4  # of models whose tagger reads two layers, with an encoder or without
_READABLE = (1, 2, 3, 4)
CARD, CONFIG, METRICS, PARAMETERS, VOCABULARY = FILES = (
    "README.md",
    "config.json",
    "metrics.json",
    "model.safetensors",
    "vocabulary.json",
)
# A model with a pretrained encoder has these, too.
TOKENIZER, ENCODER = "tokenizer.json", "encoder-{}.safetensors"
_ENCODER_FILES = r"tokenizer\.json|encoder-[1-9][0-9]?\.safetensors"
MODEL = "model"  # where the output directory of a training keeps its model
ENCODER_FOLDER = "encoder"  # and that of a pretraining its encoder
# Bytes: far more than a model needs, and read and parsed in a moment.
_MOST = {CARD: 2_000_000, CONFIG: 2_000_000, METRICS: 2_000_000, VOCABULARY: 100_000_000, TOKENIZER: 100_000_000}

# What is shown as a number or computed with must be one; later versions may say more beside it.
_SCORES = ("f1", "precision", "recall", "disc_f1", "disc_precision", "disc_recall", "pos", "exact_match", "sentences")
_NUMBERS = dict.fromkeys((*_SCORES, "epoch", "seconds"), optional(number))
_SET = record({}, _NUMBERS)
_FIGURES = record({}, {**_NUMBERS, "sets": object_of(_SET)})
_DATA = record(
    {"set": name, "sentences": number, "tokens": number, "times": number},
    dict.fromkeys(("name", "text", "licence", "attribution", "url"), text),
)
_ORIGIN = record(dict.fromkeys(("name", "text", "licence", "attribution"), text), {"url": text})
_TRAINING = record(
    {},
    {
        "command": list_of(text),
        "seed": number,
        "cores": number,
        **dict.fromkeys(("recipe", "start", "gpu", "cpu", "system", "commit"), text),
    },
)


def _temperature(value: Any, where: str) -> None:
    number(value, where)
    if not 0 < value < 1000:
        raise ValueError(f"{where} must be a temperature above 0, not {value}")


_CALIBRATION = record(
    {},
    {
        **dict.fromkeys(("structure", "labels", "tags", "tree_power"), _temperature),
        **dict.fromkeys(("curve", "slope", "offset", "gap_slope", "gap_offset"), number),
    },
)
_INFO: dict[str, Check] = {
    "name": name,
    "language": optional(name),
    "treebanks": list_of(text),
    "licence": optional(text),
    "recipe": object_of(anything),
    "versions": object_of(text),
    "data": list_of(_DATA),
    "origins": list_of(_ORIGIN),
    "notes": object_of(list_of(text)),
    "training": _TRAINING,
    "calibration": _CALIBRATION,
}


def _figures_or_other(value: Any, where: str) -> None:
    """Models from before there were several sets have their figures beside those of `dev`."""
    (_SET if isinstance(value, dict) else anything)(value, where)


_METRICS = record({}, {"dev": _FIGURES}, rest=_figures_or_other)


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
    origins: tuple[dict[str, Any], ...] = ()  # what it started from: an encoder, the text that one was pretrained on
    notes: dict[str, list[str]] = field(default_factory=dict)  # good_for, not_good_for, conventions
    training: dict[str, Any] = field(default_factory=dict)  # how it was made: command, recipe, seed, hardware
    calibration: dict[str, float] = field(default_factory=dict)  # of its probabilities, see `neural.calibration`

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
    return _inner(Path(path), MODEL)


def encoder_directory(path: str | Path) -> Path:
    """Where a pretrained encoder lies: the directory itself, or `encoder` in the output directory of a pretraining."""
    return _inner(Path(path), ENCODER_FOLDER)


def _inner(path: Path, name: str) -> Path:
    inner = existing_directory(path / name)
    return inner if inner.is_dir() and not (path / CONFIG).exists() else path


class ModelFiles:
    """The files of a model, each read when it is needed; checksum, size and contents are verified first."""

    what, format, also = "model", FORMAT, _ENCODER_FILES
    readable: tuple[int, ...] = _READABLE

    def __init__(self, path: str | Path) -> None:
        self.directory = self.find(path)
        self._sealed = Sealed(self.directory, FILES, self.what, also=self.also)
        self.config = self._json(CONFIG)
        self._check_format()

    @staticmethod
    def find(path: str | Path) -> Path:
        """The directory with the files."""
        return model_directory(path)

    def _check_format(self) -> None:
        config = self.config
        if not isinstance(config, dict) or config.get("format") != self.format:
            raise DiscoparseError(f"{self.directory}: {CONFIG} is not that of a {self.format}")
        if config.get("format_version") not in self.readable:
            with self.checking(CONFIG):
                object_of(text)(config.get("versions", {}), "versions")
                number(config.get("format_version"), "format_version")
            raise DiscoparseError(
                f"{self.directory}: the {self.what} has format version {config.get('format_version')}, and this "
                f"program reads {', '.join(map(str, self.readable))}; use the version of discoparse that "
                f"made it ({config.get('versions', {}).get('discoparse', 'unknown')}) or train it again"
            )

    def info(self) -> ModelInfo:
        """What the model says about itself."""
        with self.checking(CONFIG):
            record({"name": name, "treebanks": list_of(text)}, _INFO)(self.config, "")
        metrics = self._json(METRICS)
        with self.checking(METRICS):
            _METRICS(metrics, "")
        facts = {key: value for key, value in self.config.items() if key in _INFO}
        facts |= {key: tuple(facts.get(key, ())) for key in ("treebanks", "data", "origins")}
        return ModelInfo(**facts, metrics=metrics)

    def card(self) -> str:
        """The card, for people."""
        try:
            card = self.read(CARD).decode("utf-8")
            text(card, CARD)
        except ValueError as error:
            raise DiscoparseError(f"{self.directory}: {CARD} is not a text as UTF-8 ({error})") from None
        return card

    def ranks(self) -> dict[str, int]:
        """How frequent the words are that the model knows; see `word_ranks`."""
        names = self.vocabulary()
        words, added = (names.get("words"), names.get("added", [])) if isinstance(names, dict) else (None, [])
        with self.checking(VOCABULARY):
            strings(words, "words")
            places(added, "added")
        return word_ranks(words or (), added)

    def vocabulary(self) -> Any:
        """The names that the model knows, as JSON whose contents are yet to be checked."""
        return self._json(VOCABULARY)

    @property
    def names(self) -> list[str]:
        """Of all files."""
        return self._sealed.names

    @property
    def encoder_files(self) -> list[str]:
        """Those with the parameters of a pretrained encoder."""
        return [file for file in self.names if file not in (*FILES, TOKENIZER)]

    def read(self, file: str, most: int | None = None) -> bytes:
        """The content of a file, verified; one of more than `most` bytes is refused unread."""
        return self._sealed.read(file, _MOST.get(file, most))

    @contextmanager
    def checking(self, file: str) -> Iterator[None]:
        """Refuse the model if a check of what is in one of its files fails."""
        try:
            yield
        except ValueError as error:
            raise DiscoparseError(f"{self.directory}: {file} is not that of a working {self.what}: {error}") from None

    def _json(self, file: str) -> Any:
        try:
            return parse_json(self.read(file))
        except ValueError as error:
            raise DiscoparseError(f"{self.directory}: {file} is not JSON as UTF-8 ({error})") from None


def read_info(path: str | Path) -> ModelInfo:
    """What a model says about itself."""
    return ModelFiles(path).info()


def read_card(path: str | Path) -> str:
    """The card of a model: data, licence, figures, what it is good for."""
    return ModelFiles(path).card()
