"""Answers to requests that cannot be met: a status and a sentence that helps, as JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class Refusal(Exception):
    """A request is refused, with this status. `more` is added to the JSON of the answer."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.more = more

    def response(self) -> Response:
        """The answer. All of it is ASCII, so a message can quote whatever was sent."""
        content = json.dumps({"error": self.message, "status": self.status, **self.more})
        return Response(content, self.status, self.headers, "application/json")


def overloaded(what: str) -> Refusal:
    """A queue is full."""
    return Refusal(503, f"{what}: try again in a second", {"Retry-After": "1"})
