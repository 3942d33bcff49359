"""Models by name or directory: those that are installed as packages, and `load` for these and others.

A package brings a model by an entry point in the group `discoparse.models`: its name is the model's, its value a Python
package with the model's files. None of its code runs. A package that brings nothing usable leaves the others alone.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discoparse.errors import DiscoparseError, UsageError, close_name
from discoparse.model.info import CONFIG, ModelFiles, ModelInfo, model_directory, read_info
from discoparse.model.names import GROUP, PUBLISHED, installation, is_name

if TYPE_CHECKING:
    import torch

    from discoparse.parser.parser import Parser

_ENTRY_POINTS = "entry_points.txt"


@dataclass(frozen=True)
class Installed:
    """The models that packages bring, and what is wrong with those that cannot be used; both by name."""

    models: dict[str, Path] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def search_installed() -> Installed:
    """Look for models in all packages of this environment."""
    found: dict[str, dict[str, str]] = {}  # a model's name -> the packages that bring it -> where they say it is
    installed = Installed()
    for package in distributions():
        try:
            for entry in _entries(package):
                found.setdefault(entry.name, {}).setdefault(_package_name(package), entry.value)
        except (ValueError, TypeError, AttributeError):  # anybody can write an entry_points.txt
            installed.problems[_package_name(package)] = f"{_ENTRY_POINTS} of this package cannot be read"
    for name, packages in sorted(found.items()):
        try:
            installed.models[name] = _directory(name, packages)
        except ValueError as error:
            installed.problems[name] = f"{error} (from {' and '.join(sorted(packages))})"
    return installed


def _package_name(package: Distribution) -> str:
    """The name of a package as pip spells it, or where it is if it has none."""
    names = package.metadata.get_all("Name")
    return re.sub(r"[-_.]+", "-", names[0]).lower() if names else f"a package in {package.locate_file('')}"


def _entries(package: Distribution) -> Iterator[EntryPoint]:
    """The models that a package says it brings."""
    text = package.read_text(_ENTRY_POINTS)
    if text is not None and GROUP in text:  # few have, and parsing takes time
        yield from package.entry_points.select(group=GROUP)


def _directory(name: str, packages: dict[str, str]) -> Path:
    """Where the files of an installed model are; a ValueError says what is wrong."""
    if not is_name(name):
        raise ValueError("a model cannot have this name")
    if len(packages) > 1:
        raise ValueError("several packages bring a model of this name: uninstall all but one")
    (module,) = packages.values()
    if not re.fullmatch(r"\w+", module):  # to find a.b, Python runs the code of a
        raise ValueError(f"its entry point must name a package at the top, not {module!r}")
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ValueError(f"there is no package {module}: install it again")
    for place in spec.submodule_search_locations or ():
        if (Path(place) / CONFIG).is_file():
            return Path(place)
    raise ValueError(f"{module} is not a package with a model (no {CONFIG})")


def installed_models() -> dict[str, Path]:
    """The directories of the installed models by name. None of their code runs."""
    return search_installed().models


def find_model(model: str | Path) -> Path:
    """The directory of a model, by the name of an installed one or by its path."""
    installed = search_installed()
    name = str(model)
    if name in installed.models:
        return installed.models[name]
    if name in installed.problems:
        raise DiscoparseError(f"the installed model {name!r} cannot be used: {installed.problems[name]}")
    path = Path(model)
    if not path.is_dir():
        raise UsageError(_no_model(name, installed))
    directory = model_directory(path)
    if not (directory / CONFIG).is_file():
        raise UsageError(f"the directory {model} does not hold a model (no {CONFIG})")
    return directory


def has_namesake(model: str) -> bool:
    """Whether a directory with a model has the name of an installed one, which prevails over it."""
    directory, installed = model_directory(model), installed_models()
    if model not in installed or not (directory / CONFIG).is_file():
        return False
    return directory.resolve() != installed[model].resolve()


def advice() -> str:
    """What a model can be, for messages."""
    return _advice(installed_models())


def _advice(installed: dict[str, Path]) -> str:
    directory = "or give the directory of a model that `discoparse train` made"
    if installed:
        return f"choose one of {', '.join(installed)}, {directory}"
    known = ", ".join(f"{name} ({language})" for name, language in PUBLISHED.items())
    return f"install one with {installation('NAME')}, where NAME is one of {known}; {directory}"


def _no_model(name: str, installed: Installed) -> str:
    """What to do where there is no model of this name, and no such directory."""
    if name in PUBLISHED:
        return f"the model {name!r} ({PUBLISHED[name]}) is not installed: {installation(name)}"
    models = {spelling: spelling for spelling in (*PUBLISHED, *installed.models)}
    models |= {language: known for known, language in PUBLISHED.items()}
    close = close_name(name.replace("_", "-"), models)
    if close is None:
        return f"there is no model {name!r}: {_advice(installed.models)}"
    meant = models[close]
    missing = "" if meant in installed.models else f" It is not installed: {installation(meant)}"
    return f"there is no model {name!r}: did you mean {meant}?{missing}"


def load(model: str | Path, device: str | torch.device = "auto", threads: int | None = None) -> Parser:
    """The parser of an installed model, as `load("nl")`, or of a model's directory.

    `device` is `auto` (a GPU if there is one), `cpu`, `cuda` or one of PyTorch. `threads` sets how many threads parsing
    uses, and PyTorch in this whole process and in others that the parser is sent to; by default the compiled network
    uses one, and PyTorch's setting is left alone. Loading runs no code that a model brings along.
    """
    directory = find_model(model)
    from discoparse.neural.device import device_name, use_threads

    if threads is not None:
        use_threads(threads)
    return load_parser(directory, device_name(device), threads)


def load_several(
    models: str | tuple[str, ...], device: str | torch.device = "auto", threads: int | None = None
) -> Parser:
    """The parser of a model by its name, or of several that parse together."""
    if isinstance(models, str):
        return load(models, device, threads)
    from discoparse.parser.ensemble import load_ensemble

    return load_ensemble(models, device, threads)


def load_parser(path: str | Path, device: str | torch.device = "cpu", threads: int | None = None) -> Parser:
    """The parser of the model in a directory, or in the output directory of a training."""
    from discoparse.model.stored import read_model
    from discoparse.parser.parser import Parser

    model = read_model(path)
    return Parser(model.network, model.vocabulary, device, model.info, threads)


def read_card(model: str | Path) -> str:
    """The card of a model: data, licence, figures, what it is good for."""
    return ModelFiles(find_model(model)).card()


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
            "origins": list(info.origins),
            "notes": info.notes,
            "training": info.training,
            "bytes": self.size,
        }


def describe_model(model: str | Path) -> Listed:
    """What `discoparse models` says about a model; an installed one goes by the name that it is found by."""
    directory = find_model(model)
    info = read_info(directory)
    if str(model) in installed_models():
        info = dataclasses.replace(info, name=str(model))
    return Listed(info, sum(path.stat().st_size for path in directory.iterdir() if path.is_file()))


def usable_models(notice: Callable[[str], None]) -> Iterator[Listed]:
    """The installed models; `notice` is told why others cannot be used."""
    installed = search_installed()
    for name, problem in installed.problems.items():
        notice(f"the installed model {name!r} cannot be used: {problem}")
    for name in installed.models:
        try:
            yield describe_model(name)
        except (DiscoparseError, OSError) as error:
            notice(f"the installed model {name!r} cannot be used: {error}")


def models() -> list[dict[str, Any]]:
    """The installed models with their facts, as `discoparse models --json` prints them: name, language, treebanks,
    licence, figures on the development sets, and so on. There is a warning for each that cannot be used."""
    return [listed.to_json() for listed in usable_models(lambda message: warnings.warn(message, stacklevel=2))]
