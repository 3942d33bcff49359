"""What the JSON files of a model may say: types and sizes are checked before anything is built from them.

Checksums tell that a file is as it was written, not that it makes sense: anybody can write a model. Every `Check` here
takes a value and where it stands in a file ("" is the whole of it), and raises a ValueError that says what is wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from discoparse.files.widths import visible

Check = Callable[[Any, str], None]

_LARGEST = 2**53  # beyond this, a number is not a count, a size or a score
_DEEPEST = 20  # levels of lists and objects; ours have four


def parse_json(content: bytes) -> Any:
    """The value that a file holds as JSON; ValueError if that is not JSON, or nested without end."""
    try:
        return json.loads(content.decode("utf-8", "surrogatepass"), parse_constant=_not_a_number)
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None


def _not_a_number(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def presentable(value: Any) -> Any:
    """The same value as a model may say it: no control characters or lone surrogates in texts, no NaN or infinity.

    Names of files can have the former, scores of a training that diverged the latter.

    >>> presentable({"name": "a\\x07b\\udce9", "f1": [float("nan"), 1.5]})
    {'name': 'a\ufffdb\ufffd', 'f1': [None, 1.5]}
    """
    if isinstance(value, str):
        return _presentable_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {presentable(key): presentable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(presentable(part) for part in value)
    return value


def _presentable_text(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(character if character in "\n\t" else visible(character) for character in text)


def anything(value: Any, where: str, depth: int = 0) -> None:
    """Any value that can be shown: numbers that are counts or scores, texts without control characters."""
    if depth > _DEEPEST:
        raise ValueError(f"lists or objects are nested too deeply in {_the(where)[:60]}")
    if isinstance(value, str):
        text(value, where)
    elif isinstance(value, int | float):
        number(value, where)
    elif isinstance(value, dict):
        _fields(value, where, lambda key: lambda part, inside: anything(part, inside, depth + 1))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            anything(part, f"{where}[{k}]", depth + 1)


def text(value: Any, where: str) -> None:
    """A text that can be shown."""
    if not isinstance(value, str):
        raise ValueError(f"{_the(where)} must be a text, not {_shown(value)}")
    if value != _presentable_text(value):
        raise ValueError(f"{_the(where)} has control characters or lone surrogates: {_shown(value)}")


def name(value: Any, where: str) -> None:
    """A text of one line that is not empty."""
    text(value, where)
    if not value.strip() or not value.isprintable():
        raise ValueError(f"{_the(where)} must be one line of text, not {_shown(value)}")


def number(value: Any, where: str) -> None:
    """A count or a score."""
    if not isinstance(value, int | float):
        raise ValueError(f"{_the(where)} must be a number, not {_shown(value)}")
    if not abs(value) <= _LARGEST:  # also for NaN
        raise ValueError(f"{_the(where)} must be a number of at most {_LARGEST}")


def strings(value: Any, where: str) -> None:
    """Any strings: words can have control characters and never leave the model."""
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise ValueError(f"{_the(where)} must be a list of strings")


def optional(check: Check) -> Check:
    """None, or what `check` accepts."""

    def check_optional(value: Any, where: str) -> None:
        if value is not None:
            check(value, where)

    return check_optional


def places(value: Any, where: str) -> None:
    """Places in a list, from 0 on."""
    if not isinstance(value, list) or not all(isinstance(part, int) and part >= 0 for part in value):
        raise ValueError(f"{_the(where)} must be a list of whole numbers from 0 on")


def list_of(check: Check) -> Check:
    """A list of values that `check` accepts."""

    def check_list(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise ValueError(f"{_the(where)} must be a list, not {_shown(value)}")
        for k, part in enumerate(value):
            check(part, f"{where}[{k}]")

    return check_list


def object_of(check: Check) -> Check:
    """An object with values that `check` accepts, under any names."""
    return record({}, {}, rest=check)


def record(required: Mapping[str, Check], others: Mapping[str, Check], rest: Check = anything) -> Check:
    """An object with all of the required fields; fields that are in neither mapping must pass `rest`."""
    known = {**required, **others}

    def check_record(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{_the(where)} must be an object, not {_shown(value)}")
        if missing := [key for key in required if key not in value]:
            raise ValueError(f"{_the(where)} lacks {', '.join(missing)}")
        _fields(value, where, lambda key: known.get(key, rest))

    return check_record


def _fields(value: Mapping[str, Any], where: str, check_of: Callable[[str], Check]) -> None:
    """Check every field of an object by its name."""
    for key, part in value.items():
        text(key, f"a name in {_the(where)}")
        check_of(key)(part, f"{where}.{key}" if where else key)


def _the(where: str) -> str:
    return where or "the file"


def _shown(value: Any) -> str:
    """The beginning of a value, for a message."""
    shown = ascii(value) if isinstance(value, str | float | bool | None) else type(value).__name__
    return shown if len(shown) <= 40 else shown[:39] + "…"
