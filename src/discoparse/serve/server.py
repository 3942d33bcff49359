"""The server: one process or several that share a socket, from start to a clean end."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn

from discoparse.errors import DiscoparseError, UsageError
from discoparse.serve.app import Application, create_app
from discoparse.serve.catalogue import Catalogue
from discoparse.serve.connections import WatchedConnection
from discoparse.serve.metrics import Metrics
from discoparse.serve.settings import Settings
from discoparse.serve.workers import check_fork, supervise

_BACKLOG = 1024  # connections that wait until a worker takes them
_AT_ONCE = 1  # that a worker takes before the others have a chance
_IDLE_SECONDS = 30  # that a connection may stay open between requests


def run_server(
    catalogue: Catalogue,
    settings: Settings,
    host: str,
    port: int,
    announce: Callable[[str], None],
    workers: int = 1,
    notice: Callable[[str], None] = print,
) -> None:
    """Serve until an interrupt or SIGTERM, and answer what was accepted before.

    `announce` is told the address when all workers have started, so that from then on every signal finds somebody who
    ends cleanly; `notice` is told of workers that died.
    """
    if workers > 1:
        check_fork(catalogue)
    with _listening(host, port, workers) as listeners:
        metrics = Metrics(workers)

        def work(worker: int, started: Callable[[], object]) -> None:
            metrics.become(worker)
            _Server(configured(create_app(catalogue, settings, metrics)), started).run([listeners[worker]])

        def all_started() -> None:
            announce(_address(listeners[0], host))

        if workers == 1:
            work(0, all_started)
        else:
            supervise(work, workers, notice, all_started)


class _Server(uvicorn.Server):
    """Says when it has started, and ends on a signal without passing it on: that is the usual way to end it, not a
    failure."""

    def __init__(self, config: uvicorn.Config, when_started: Callable[[], object]) -> None:
        super().__init__(config)
        self.when_started = when_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.when_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def configured(app: Application) -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        app,
        http=WatchedConnection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody asks where a request came from
        timeout_keep_alive=_IDLE_SECONDS,
        backlog=_AT_ONCE,  # asyncio accepts that many in one go
    )


class _Listener(socket.socket):
    """A socket that already listens. asyncio would tell it to listen again, with the number of connections that it
    accepts in one go as its backlog; with a large one, the first worker to wake up would take all that are waiting."""

    def listen(self, backlog: int = _BACKLOG, /) -> None:
        if not self.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            super().listen(_BACKLOG)


@contextmanager
def _listening(host: str, port: int, workers: int = 1) -> Iterator[list[socket.socket]]:
    """A socket for each worker, on one port, that accepts connections, which wait until the worker takes them.

    Linux shares connections out among them, whoever is busy; elsewhere it is the same socket for all. They outlive
    their workers, so that a new one goes on with what is waiting.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host {host}: {getattr(error, 'strerror', None) or error}") from None

    def bound(place: Any, *options: int) -> _Listener:
        listener = stack.enter_context(_Listener(family, kind, protocol))
        for option in (socket.SO_REUSEADDR, *options):
            listener.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            listener.bind(place)
        except OSError as error:
            raise DiscoparseError(
                f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --port"
            ) from None
        return listener

    with ExitStack() as stack:
        first = bound(place)
        listeners: list[socket.socket] = [first] * workers
        if workers > 1 and sys.platform == "linux":
            place = first.getsockname()
            first.close()  # it was only there to see that nobody else listens: the others would not mind
            listeners = [bound(place, socket.SO_REUSEPORT) for _ in range(workers)]
        for listener in listeners:
            listener.listen()
        yield listeners


def _address(listener: socket.socket, host: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}/"
