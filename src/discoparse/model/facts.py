"""What only a person knows about a model: the facts for its card, from a small JSON file that is checked.

    {"name": "nl", "language": "nl", "licence": "…",
     "sources": {"nl_alpino": {"name": "…", "text": "…", "licence": "…", "attribution": "…", "url": "…"}},
     "origins": [{"name": "…", "text": "…", "licence": "…", "attribution": "…", "url": "…"}],
     "good_for": ["…"], "not_good_for": ["…"], "conventions": ["…"]}

`sources` has one entry for each treebank, under the name that `discoparse.training.treebanks.set_name` gives it.
`origins` has what the training started from: a pretrained encoder, and the text that it was pretrained on. It may be
left out, and so may the first three fields and `url`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError

NOTES = ("good_for", "not_good_for", "conventions")
_IDENTITY = ("name", "language", "licence")
_SOURCE = ("name", "text", "licence", "attribution")


@dataclass(frozen=True)
class Facts:
    """The contents of a file of facts."""

    place: str  # the file, for messages
    identity: dict[str, str]  # name, language and licence of the model, those that are stated
    sources: dict[str, dict[str, str]]
    origins: list[dict[str, str]]
    notes: dict[str, list[str]]

    def with_sizes(self, data: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The facts about each treebank beside its size; both must speak of the same treebanks."""
        sizes = {entry["set"]: entry for entry in data}
        missing, unused = sorted(sizes.keys() - self.sources.keys()), sorted(self.sources.keys() - sizes.keys())
        if missing or unused:
            trouble = [f"does not describe {', '.join(missing)}"] * bool(missing)
            trouble += [f"describes {', '.join(unused)}, which this training does not use"] * bool(unused)
            raise DiscoparseError(f"{self.place}: sources {' and '.join(trouble)}; it needs {', '.join(sizes)}")
        return [{**entry, **self.sources[name]} for name, entry in sizes.items()]


def read_facts(path: str | Path) -> Facts:
    """The facts in a file, if they are complete and nothing else is in it."""
    place = str(path)
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DiscoparseError(f"{place}: not JSON as UTF-8 ({error})") from None
    _check_fields(place, "", given, ("sources", *NOTES), (*_IDENTITY, "origins"))
    identity = {name: _text(place, name, given[name]) for name in _IDENTITY if name in given}
    notes = {name: _texts(place, name, given[name]) for name in NOTES}
    if not isinstance(given["sources"], dict) or not given["sources"]:
        raise DiscoparseError(f"{place}: sources must be an object with an entry for each treebank")
    sources = {name: _source(place, f"sources.{name}", source) for name, source in given["sources"].items()}
    origins = given.get("origins", [])
    if not isinstance(origins, list):
        raise DiscoparseError(f"{place}: origins must be a list of objects")
    origins = [_source(place, f"origins[{number}]", origin) for number, origin in enumerate(origins)]
    return Facts(place, identity, sources, origins, notes)


def _source(place: str, where: str, source: Any) -> dict[str, str]:
    """Where data is from, and who made it."""
    _check_fields(place, where, source, _SOURCE, ("url",))
    return {field: _text(place, f"{where}.{field}", value) for field, value in source.items()}


def _check_fields(place: str, where: str, given: Any, required: Sequence[str], optional: Sequence[str]) -> None:
    """An object with all of the required fields, and no others than these and the optional ones."""
    within = f" in {where}" if where else ""
    if not isinstance(given, dict):
        raise DiscoparseError(f"{place}: {where or 'the file'} must be an object with fields")
    if unknown := [name for name in given if name not in (*required, *optional)]:
        known = ", ".join((*required, *optional))
        raise DiscoparseError(f"{place}: unknown field {', '.join(unknown)}{within}; the fields are {known}")
    if missing := [name for name in required if name not in given]:
        raise DiscoparseError(f"{place}: field {', '.join(missing)} is missing{within}")


def _text(place: str, where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DiscoparseError(f"{place}: {where} must be a text that is not empty")
    return value.strip()


def _texts(place: str, where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise DiscoparseError(f"{place}: {where} must be a list of texts that is not empty")
    return [_text(place, f"{where}[{number}]", text) for number, text in enumerate(value)]
