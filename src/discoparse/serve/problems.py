"""Answers to requests that cannot be met: a status and a sentence that helps, as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

from discoparse.errors import ComputationError, DiscoparseError
from discoparse.serve.exchange import Response


class Refusal(Exception):
    """A request is refused, with this status. Of `more`, what is not None is added to the JSON of the answer."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.more = {name: value for name, value in more.items() if value is not None}

    def response(self) -> Response:
        """The answer. All of it is ASCII, so a message can quote whatever was sent."""
        content = json.dumps({"error": self.message, "status": self.status, **self.more}).encode("ascii")
        return Response(content, status=self.status, headers=self.headers)


def as_refusal(error: Exception) -> Refusal:
    """What to answer where something failed. Errors of the program are told to its operator, and not to the client."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, DiscoparseError) and not isinstance(error, ComputationError):
        return Refusal(422, str(error))
    traceback.print_exception(error, file=sys.stderr)
    return Refusal(500, "the server failed on this request; its log says why")


def overloaded(what: str) -> Refusal:
    """A queue is full."""
    return Refusal(503, f"{what}: try again in a second", {"Retry-After": "1"})
