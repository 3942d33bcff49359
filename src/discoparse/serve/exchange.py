"""A request and its answer over ASGI. Nothing more is needed of a web framework here: `research/speed.md` has what one
would cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_NO_BODY = (204, 304)


class ClientLeft(Exception):
    """The connection was closed before the whole body had arrived."""


class Request:
    """What a client asks for."""

    __slots__ = ("_headers", "method", "path", "receive")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.receive = receive

    def header(self, name: bytes) -> str:
        """The first header of this name, which must be in lower case; empty if there is none."""
        for known, value in self._headers:
            if known == name:
                return value.decode("latin-1")
        return ""

    async def part(self) -> tuple[bytes, bool]:
        """The next part of the body as it arrives, and whether there is more."""
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        return message.get("body", b""), message.get("more_body", False)

    async def left(self) -> None:
        """Wait until the client is gone; its body must have been read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


@dataclass(frozen=True)
class Response:
    """What it gets."""

    content: bytes = b""
    media_type: str = "application/json"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    async def send(self, send: Send, always: list[tuple[bytes, bytes]]) -> None:
        """Send it, with further headers."""
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        if self.status not in _NO_BODY:
            headers.append((b"content-length", b"%d" % len(self.content)))
            headers.append((b"content-type", self.media_type.encode("latin-1")))
        await send({"type": "http.response.start", "status": self.status, "headers": [*headers, *always]})
        await send({"type": "http.response.body", "body": self.content})
