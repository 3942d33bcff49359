"""Connections that send or take nothing, or hardly anything: closed after a while, so that they cost a moment and no
memory, and no server waits for them when it should end.

uvicorn limits neither the time nor the bytes that the head of a request may take, nor the time that its answer may wait
for its client; and it forgets that a connection is idle when anything arrives, though that begins no request.
"""

from __future__ import annotations

import asyncio
import json
import socket

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
HEAD_BYTES = 1 << 16
TAKING_SECONDS = 30.0  # in which a client must take something of what is there for it
_TAKING = getattr(socket, "TCP_USER_TIMEOUT", None)  # only Linux has it


class WatchedConnection(HttpToolsProtocol):
    """A connection whose requests must begin properly, the head of each within limits of time and size, and whose
    answers must be taken, on Linux."""

    _alarm: asyncio.TimerHandle | None = None  # set while a head is expected or arrives
    _received = 0  # bytes of it so far
    _in_head = False  # a head has begun

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if _TAKING is not None:  # the system sees what the client takes; here one sees only what the system takes
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, _TAKING, round(1000 * TAKING_SECONDS))
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._alarm is not None:
            self._received += len(data)
        idle = self.timeout_keep_alive_task
        super().data_received(data)
        if self._alarm is None:
            if self._in_head:  # the rest must come in time; idle time between requests is uvicorn's business
                self._expect_head()
            elif idle is not None and self.cycle.response_complete:  # a body that was refused, or empty lines
                self.timeout_keep_alive_task = self.loop.call_at(idle.when(), self.timeout_keep_alive_handler)
        elif self._received > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of the request has more than {HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._silence()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._silence()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP gets an answer as JSON, too."""
        content = json.dumps({"error": msg, "status": 400}).encode()
        head = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
        self.transport.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        self.transport.close()

    def _expect_head(self) -> None:
        self._received = 0
        self._alarm = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _too_slow(self) -> None:
        self._alarm = None
        self.transport.close()
