"""Models by name or directory: those that are installed as packages, and `load` for these and others."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discoparse.errors import UsageError
from discoparse.model.info import ModelInfo, model_directory, read_info

if TYPE_CHECKING:
    import torch

    from discoparse.parser.parser import Parser

GROUP = "discoparse.models"  # the entry points of packages that bring a model
_CONFIG = "config.json"  # what makes a directory a model
_CARD = "README.md"


def installed_models() -> dict[str, Path]:
    """The directories of the installed models by name. None of their code runs."""
    found = {}
    for entry in entry_points(group=GROUP):
        spec = find_spec(entry.value)
        if spec is not None and spec.submodule_search_locations:
            found[entry.name] = Path(next(iter(spec.submodule_search_locations)))
    return dict(sorted(found.items()))


def find_model(model: str | Path) -> Path:
    """The directory of a model, by the name of an installed one or by its path."""
    installed = installed_models()
    if str(model) in installed:
        return installed[str(model)]
    path = Path(model)
    if not path.is_dir():
        raise UsageError(f"there is no model {str(model)!r}: {advice()}")
    directory = model_directory(path)
    if not (directory / _CONFIG).is_file():
        raise UsageError(f"the directory {model} holds no model (no {_CONFIG})")
    return directory


def has_namesake(model: str) -> bool:
    """Whether a directory with a model has the name of an installed one, which prevails over it."""
    directory, installed = model_directory(model), installed_models()
    if model not in installed or not (directory / _CONFIG).is_file():
        return False
    return directory.resolve() != installed[model].resolve()


def advice() -> str:
    """What a model can be, for messages."""
    names = list(installed_models())
    shipped = f"choose one of {', '.join(names)}, or " if names else ""
    return f"{shipped}give the directory of a model that `discoparse train` made"


def load(model: str | Path, device: str = "auto", threads: int | None = 1) -> Parser:
    """The parser of an installed model, as `load("nl")`, or of a model's directory.

    `device` is `auto` (a GPU if there is one), `cpu` or `cuda`. `threads` sets the cores that PyTorch may use in this
    process; None leaves that as it is. Loading runs no code that a model brings along.
    """
    directory = find_model(model)
    from discoparse.neural.device import choose_device, use_threads

    if threads is not None:
        use_threads(threads)
    return load_parser(directory, choose_device(device))


def load_parser(path: str | Path, device: str | torch.device = "cpu") -> Parser:
    """The parser of the model in a directory, or in the output directory of a training."""
    from discoparse.model.model import load_model
    from discoparse.parser.parser import Parser

    model = load_model(path)
    return Parser(model.network, model.vocabulary, device, model.info)


def read_card(model: str | Path) -> str:
    """The card of a model: data, licence, figures, what it is good for."""
    return (find_model(model) / _CARD).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Listed:
    """A line of `discoparse models`."""

    info: ModelInfo
    size: int  # bytes on disk

    def to_json(self) -> dict[str, Any]:
        """For `discoparse models --json`."""
        info = self.info
        return {
            "name": info.name,
            "language": info.language,
            "treebanks": list(info.treebanks),
            "licence": info.licence,
            "figures": info.dev_sets,
            "data": list(info.data),
            "notes": info.notes,
            "training": info.training,
            "bytes": self.size,
        }


def describe_model(model: str | Path) -> Listed:
    """What `discoparse models` says about a model."""
    directory = find_model(model)
    size = sum(path.stat().st_size for path in directory.iterdir() if path.is_file())
    return Listed(read_info(directory), size)
