"""The bodies of requests: read within limits, decoded, and checked field by field. Whatever is in them, the answer is
a `Refusal` that says what is wrong, never an error of the program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from discoparse.serve.exchange import ClientLeft, Request
from discoparse.serve.problems import Refusal
from discoparse.serve.settings import Settings

_JSON_TYPES = ("", "application/json", "text/json")
_PLAIN_CODINGS = ("", "identity")
_CLOSE = {"Connection": "close"}  # the rest of the body is not waited for
_SHOWN = 60  # characters of a value in a message


async def read_fields(request: Request, settings: Settings) -> Fields:
    """The JSON object in the body of a request."""
    kind = request.header(b"content-type").partition(";")[0].strip().lower()
    if kind not in _JSON_TYPES and not kind.endswith("+json"):
        raise Refusal(415, f"the body must be JSON, not {_shown(kind)}: send the header Content-Type: application/json")
    coding = request.header(b"content-encoding").strip().lower()
    if coding not in _PLAIN_CODINGS:
        raise Refusal(
            415, f"the body has the Content-Encoding {_shown(coding)}: send it uncompressed, without this header"
        )
    raw = await _read(request, settings)
    try:
        data = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(400, f"the body is not UTF-8: {error}") from None
    except RecursionError:
        raise Refusal(400, "the body is nested too deeply") from None
    except ValueError as error:
        raise Refusal(400, f"the body is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Refusal(422, f"the body must be a JSON object, not {_shown(data)}")
    return Fields(data)


async def _read(request: Request, settings: Settings) -> bytes:
    """The body, if it is not too large and arrives in time."""
    announced = request.header(b"content-length") or "0"
    if not announced.isascii() or not announced.isdecimal():
        raise Refusal(400, "Content-Length is not a number")
    if len(announced) > 15 or int(announced) > settings.body:
        raise _too_large(settings)
    try:
        with _cancelled_after(settings.body_seconds):
            return await _collect(request, settings)
    except TimeoutError:
        raise Refusal(408, f"the body did not arrive within {settings.body_seconds:g} seconds", _CLOSE) from None
    except ClientLeft:
        raise Refusal(400, "the client left") from None


@contextmanager
def _cancelled_after(seconds: float) -> Iterator[None]:
    """A TimeoutError in this task after a while: `asyncio.timeout`, which Python 3.10 does not have; unlike
    `asyncio.wait_for`, it needs no task of its own, which would cost each request a twentieth of a millisecond."""
    task = asyncio.current_task()
    assert task is not None
    late = False

    def end() -> None:
        nonlocal late
        late = True
        task.cancel()

    alarm = asyncio.get_running_loop().call_later(seconds, end)
    try:
        yield
    except asyncio.CancelledError:
        if not late:
            raise
        if hasattr(task, "uncancel"):
            task.uncancel()
        raise TimeoutError from None
    finally:
        alarm.cancel()


async def _collect(request: Request, settings: Settings) -> bytes:
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        part, more = await request.part()
        size += len(part)
        if size > settings.body:
            raise _too_large(settings)
        parts.append(part)
    return b"".join(parts)


def _too_large(settings: Settings) -> Refusal:
    return Refusal(413, f"the body is larger than {settings.body:,} bytes: send less at once", _CLOSE)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class Fields:
    """The fields of a request. Each is taken once with the type that it must have; `end` refuses what is left over."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self.data.get(name) is not None

    def any(self, name: str) -> Any:
        """A field of any type; None if it is absent."""
        self.taken.add(name)
        return self.data.get(name)

    def text(self, name: str) -> str | None:
        """A string; None if it is absent."""
        value = self.any(name)
        return None if value is None else clean(value, name)

    def required(self, name: str) -> str:
        """A string that must be there."""
        value = self.text(name)
        if value is None:
            raise Refusal(422, f"{name} is missing: it must be a string")
        return value

    def choice(self, name: str, known: Collection[str], default: str) -> str:
        """One of some names."""
        value = self.text(name)
        if value is not None and value not in known:
            raise Refusal(422, f"{name} must be one of {', '.join(known)}, not {_shown(value)}")
        return default if value is None else value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.any(name)
        if value is not None and not isinstance(value, bool):
            raise Refusal(422, f"{name} must be true or false, not {_shown(value)}")
        return default if value is None else value

    def number(self, name: str, bounds: tuple[float, float], *, whole: bool = True) -> Any:
        """A number within bounds; None if it is absent. JSON does not tell 80 from 80.0."""
        value, (low, high) = self.any(name), bounds
        if value is None:
            return None
        if type(value) not in (int, float) or not low <= value <= high or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            raise Refusal(422, f"{name} must be {kind} from {low:g} to {high:g}, not {_shown(value)}")
        return int(value) if whole else value

    def texts(self, name: str) -> list[str] | None:
        """A list of strings; None if it is absent."""
        value = self.any(name)
        return None if value is None else clean_list(value, name)

    def end(self) -> None:
        """Refuse fields that nobody asked for."""
        unknown = self.data.keys() - self.taken
        if unknown:
            known = ", ".join(sorted(self.taken))
            raise Refusal(422, f"there is no field {_shown(min(unknown))} here: fields are {known}")


def clean(value: object, name: str) -> str:
    """A string that can be written as UTF-8."""
    if not isinstance(value, str):
        raise Refusal(422, f"{name} must be a string, not {_shown(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(422, f"{name} has half a surrogate pair, which is not a character") from None
    return value


def clean_list(value: object, name: str) -> list[str]:
    """A list of such strings."""
    if not isinstance(value, list):
        raise Refusal(422, f"{name} must be a list, not {_shown(value)}")
    try:
        "".join(value).encode("utf-8")  # the fastest way to look at them all
        return value
    except (TypeError, UnicodeEncodeError):
        return [clean(part, f"{name}[{k}]") for k, part in enumerate(value)]


def _shown(value: object) -> str:
    """The beginning of a value; only of strings and numbers, since others may be large or deep."""
    if isinstance(value, str):
        return repr(value[:_SHOWN]) + ("…" if len(value) > _SHOWN else "")
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_SHOWN else "a huge number"
    if isinstance(value, float):
        return repr(value)
    return "a list" if isinstance(value, list) else "an object"
