"""The models that come with the program, each a directory here, and `load` for these and others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discoparse.errors import UsageError
from discoparse.model_info import ModelInfo, model_directory, read_info

if TYPE_CHECKING:
    from discoparse.parser import Parser

_SHIPPED = Path(__file__).resolve().parent
_CONFIG = "config.json"  # what makes a directory a model
_CARD = "README.md"


def shipped_models() -> list[str]:
    """The names of the models in the package."""
    return sorted(path.parent.name for path in _SHIPPED.glob(f"*/{_CONFIG}"))


def find_model(model: str | Path) -> Path:
    """The directory of a model, by the name of a shipped one or by its path."""
    if str(model) in shipped_models():
        return _SHIPPED / str(model)
    path = Path(model)
    if not path.is_dir():
        raise UsageError(f"there is no model {str(model)!r}: {advice()}")
    directory = model_directory(path)
    if not (directory / _CONFIG).is_file():
        raise UsageError(f"the directory {model} holds no model (no {_CONFIG})")
    return directory


def has_namesake(model: str) -> bool:
    """Whether a directory with a model has the name of a shipped one, which prevails over it."""
    directory = model_directory(model)
    return model in shipped_models() and (directory / _CONFIG).is_file() and directory.resolve() != _SHIPPED / model


def advice() -> str:
    """What a model can be, for messages."""
    names = shipped_models()
    shipped = f"choose one of {', '.join(names)}, or " if names else ""
    return f"{shipped}give the directory of a model that `discoparse train` made"


def load(model: str | Path, device: str = "auto", threads: int | None = 1) -> Parser:
    """The parser of a shipped model, as `load("nl")`, or of a model's directory.

    `device` is `auto` (a GPU if there is one), `cpu` or `cuda`. `threads` sets the cores that PyTorch may use in this
    process; None leaves that as it is. Loading runs no code that a model brings along.
    """
    directory = find_model(model)
    from discoparse.device import choose_device, use_threads
    from discoparse.model import load_model

    if threads is not None:
        use_threads(threads)
    return load_model(directory, choose_device(device))


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
