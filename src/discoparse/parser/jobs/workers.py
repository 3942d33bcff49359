"""Worker processes as the program sees them: started, replaced when one was killed, ended with the program.

Where the system can fork, workers are forked from a template (see `template`), so that they share what the work has
loaded; elsewhere each is a process of its own that loads it again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.spawn import get_executable
from typing import Any, Protocol

from discoparse.errors import DiscoparseError
from discoparse.parser.jobs.template import START
from discoparse.parser.jobs.worker import Work, portable, serve

_PATIENCE = 2.0  # seconds that news of an end, or an end itself, may take


@dataclass(eq=False)
class Worker:
    """A worker process: the connection to it, and the tasks that it has, in their order."""

    number: int
    connection: Connection
    tasks: list[int] = field(default_factory=list)


class Crew(Protocol):
    """Starts worker processes and ends them."""

    def start(self) -> Worker:
        """A new worker; an error if the work could not be prepared."""

    def how_ended(self, worker: Worker) -> str:
        """What became of a worker that does not answer any more, as the rest of a sentence."""

    def close(self) -> None:
        """End all workers at once."""


def crew(work: Work) -> Crew:
    """Workers for some work, by the best means that this system has."""
    return ForkedCrew(work) if hasattr(os, "fork") and hasattr(socket, "send_fds") else SpawnedCrew(work)


class ForkedCrew:
    """Workers that are forked from a template."""

    def __init__(self, work: Work) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [os.fsdecode(get_executable()), "-c", START]
            self._template = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
            self._control = ours
            self._connection = Connection(os.dup(ours.fileno()))
            assert self._template.stdin is not None
            with contextlib.suppress(BrokenPipeError), self._template.stdin as stdin:
                stdin.write(pickle.dumps(sys.path) + pickle.dumps((theirs.fileno(), work)))
        self._ends: dict[int, int] = {}  # exit codes by number
        self._processes: dict[int, int] = {}
        self._started = 0
        self._ready = False

    def start(self) -> Worker:
        number = self._started
        self._started += 1
        ours, theirs = socket.socketpair()
        try:
            self._wait_until_ready()
            with theirs:
                self._connection.send(number)
                socket.send_fds(self._control, [b"."], [theirs.fileno()])
            while number not in self._processes:
                self._hear()
        except (EOFError, OSError):
            status = self._template.wait(_PATIENCE)
            raise WorkerDied(f"the process that starts the workers {_how(status)}") from None
        return Worker(number, Connection(ours.detach()))

    def _wait_until_ready(self) -> None:
        if not self._ready:
            kind, error = self._connection.recv()
            if kind == "failed":
                raise error
            self._ready = True

    def _hear(self) -> None:
        """Take one message of the template's."""
        kind, number, value = self._connection.recv()
        (self._processes if kind == "started" else self._ends)[number] = value

    def how_ended(self, worker: Worker) -> str:
        number, until = worker.number, time.monotonic() + _PATIENCE
        with contextlib.suppress(EOFError, OSError):
            while number not in self._ends and self._connection.poll(max(0.0, until - time.monotonic())):
                self._hear()
        return f"(process {self._processes[number]}) {_how(self._ends.get(number))}"

    def close(self) -> None:
        self._connection.close()
        self._control.close()
        try:
            self._template.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # it is still preparing the work
            self._template.kill()
            self._template.wait()


class SpawnedCrew:
    """Workers that each start from nothing: for systems without fork. They do not share memory."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[Any] = []

    def start(self) -> Worker:
        number = len(self._processes)
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_spawned, args=(theirs, self._work), daemon=True)
        process.start()
        self._processes.append(process)
        theirs.close()
        try:
            error = ours.recv()
        except (EOFError, OSError):
            process.join(_PATIENCE)
            raise WorkerDied(f"a worker process {_how(process.exitcode)} before it was ready") from None
        if error is not None:
            raise error
        return Worker(number, ours)

    def how_ended(self, worker: Worker) -> str:
        process = self._processes[worker.number]
        process.join(_PATIENCE)
        return f"(process {process.pid}) {_how(process.exitcode)}"

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()


def _spawned(connection: Connection, work: Work) -> None:
    """A worker of a `SpawnedCrew`."""
    try:
        job = work.prepare()
    except Exception as error:
        connection.send(portable(error))
        return
    connection.send(None)
    serve(connection, job)


class WorkerDied(DiscoparseError):
    """Worker processes were killed, or crashed, and the work cannot go on."""


def _how(status: int | None) -> str:
    """What an exit code says, as the rest of a sentence.

    >>> _how(-9), _how(1)
    ('was killed by SIGKILL (as happens where memory runs out)', 'ended with status 1')
    """
    if status is None:
        return "does not answer any more"
    if status >= 0:
        return f"ended with status {status}"
    hint = " (as happens where memory runs out)" if -status == signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-status).name}{hint}"
