"""What a model will say about itself: the facts of a person, what was said on the command line, what can be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from discoparse.errors import UsageError
from discoparse.files.environment import environment
from discoparse.model.facts import Facts
from discoparse.model.info import ModelInfo
from discoparse.training.treebanks import NamedTreebank, describe_data


def describe_training(
    treebanks: Sequence[NamedTreebank],
    silver: Sequence[NamedTreebank],
    facts: Facts | None,
    stated: Mapping[str, str | None],
    made: Mapping[str, Any],
    device: str,
    origins: Sequence[dict[str, str]] = (),
) -> ModelInfo:
    """The public facts about a model before it has figures, see `describe_making`."""
    return describe_making(
        (describe_data(treebanks, silver), [treebank.path for treebank in (*treebanks, *silver)]),
        facts,
        stated,
        made,
        device,
        origins,
    )


def describe_making(
    data_and_paths: tuple[list[dict[str, Any]], Sequence[str]],
    facts: Facts | None,
    stated: Mapping[str, str | None],
    made: Mapping[str, Any],
    device: str,
    origins: Sequence[dict[str, str]] = (),
) -> ModelInfo:
    """The public facts about what is made of some data: its entries and the paths of its files.

    `stated` has the name, language and licence that were stated elsewhere, which prevail over those in `facts`; `made`
    is how the model is made, to which the machine is added; `origins` has what is known of what it starts from, for
    `facts` that do not say that themselves.
    """
    identity = {name: value for name, value in stated.items() if value is not None}
    data, paths = data_and_paths
    names = ["/".join(PurePath(path).parts[-2:]) for path in dict.fromkeys(paths)]
    if facts is not None:
        identity = {**facts.identity, **identity}
        data = facts.with_sizes(data)
        names = [entry["name"] for entry in data]
        if "licence" not in identity:
            raise UsageError(f"{facts.place} does not state the licence of the model: add it there, or give --licence")
    return ModelInfo(
        name=identity["name"],
        language=identity.get("language"),
        licence=identity.get("licence"),
        treebanks=tuple(names),
        data=tuple(data),
        origins=tuple((facts.origins if facts is not None else []) or origins),
        notes=facts.notes if facts is not None else {},
        training={**made, **_machine(device)},
    )


def _machine(device: str) -> dict[str, Any]:
    """The hardware, and the commit of the program where it runs from a checkout."""
    known = environment(device)
    return {name: known[name] for name in ("gpu", "cpu", "cores", "system", "commit") if known[name] is not None}
