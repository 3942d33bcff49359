"""Settings as data: values by name with the ranges that make sense, changed from the command line by NAME=VALUE."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discoparse.errors import UsageError, did_you_mean

_Settings = TypeVar("_Settings", bound="Settings")


def in_range(default: Any, least: float, most: float) -> Any:
    """A numeric setting with the smallest and the largest value that make sense."""
    return field(default=default, metadata={"range": (least, most)})


def one_of(default: str, known: Sequence[str]) -> Any:
    """A setting that is one of some names."""
    return field(default=default, metadata={"known": tuple(known)})


@dataclass(frozen=True)
class Settings:
    """The base of recipes: dataclasses whose fields are settings."""

    def replace(self: _Settings, **changes: Any) -> _Settings:
        return dataclasses.replace(self, **changes)

    def override(self: _Settings, settings: Iterable[str]) -> _Settings:
        """Apply `name=value` settings from the command line."""
        names = [setting.name for setting in dataclasses.fields(self)]
        changes = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals:
                raise UsageError(f"--set {setting}: expected NAME=VALUE, as in --set hidden=200")
            if name not in names:
                hint = did_you_mean(name, names) or f" The settings are: {', '.join(names)}"
                raise UsageError(f"--set {setting}: there is no setting {name}.{hint}")
            changes[name] = _parse(name, value, type(getattr(self, name)))
        return self.replace(**changes).checked()

    def checked(self: _Settings) -> _Settings:
        """Itself, if its values make sense, each alone and all together."""
        for setting in dataclasses.fields(self):
            value = getattr(self, setting.name)
            known = setting.metadata.get("known")
            if known is not None and value not in known:
                hint = did_you_mean(value, known)
                raise UsageError(f"unknown {setting.name} {value!r}: choose one of {', '.join(known)}.{hint}")
            if "range" in setting.metadata:
                least, most = setting.metadata["range"]
                if not least <= value <= most:
                    raise UsageError(f"{setting.name} = {value} is out of range: choose a value from {least} to {most}")
        return self

    def describe(self) -> str:
        """One `name = value` per line."""
        return "\n".join(f"{setting.name} = {getattr(self, setting.name)}" for setting in dataclasses.fields(self))


def _parse(name: str, value: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[value.lower()]
        return kind(value)
    except (ValueError, KeyError):
        kinds = {int: "a whole number", float: "a number", bool: "yes or no"}
        raise UsageError(f"--set {name}={value}: {name} takes {kinds.get(kind, 'a name')}") from None
