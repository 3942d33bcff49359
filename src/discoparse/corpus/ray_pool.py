"""Workers that are actors of a Ray cluster.

These are plain actors, not Ray Data: its checkpoints (`ray.data.checkpoint`) remember the ids of rows, which have to
stay the same from input to output, while here a document becomes many sentences, or none; they seal neither input nor
model; and which worker died is not told. Here the cluster moves no data: an actor gets the number of a unit, reads the
input and writes the output itself, and the program alone decides what is done.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from discoparse.corpus.job import Job, Outcome
from discoparse.corpus.scheduling import Died, Done, Event, Ready, Unusable
from discoparse.corpus.work import Failure, Worker, attempted
from discoparse.errors import DiscoparseError, UsageError

_REACHABLE = 10.0  # seconds to wait for the cluster's address
_SHOWN = 240  # characters of what Ray says about a death


class RayPool:
    """A pool of actors. Each has a CPU and, if asked for, a GPU or a share of one; nodes may come and go.

    `address` is that of the cluster; without it, Ray's own rules apply: $RAY_ADDRESS, a cluster that runs on this
    machine, a new one. A program that is connected to a cluster already stays so.
    """

    def __init__(self, job: Job, address: str | None = None, gpus_per_worker: float = 0) -> None:
        self._ray = import_ray(address)
        self._connected_here = not self._ray.is_initialized()
        if self._connected_here:
            try:
                with _termination_kept():
                    self._ray.init(address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError, RuntimeError) as error:
                message = str(error).splitlines()[0]
                raise DiscoparseError(f"cannot connect to the Ray cluster {address or 'here'}: {message}") from None
        self._gpus_per_worker = gpus_per_worker
        self._job = self._ray.put(job)
        self._actor = self._ray.remote(_Actor).options(
            num_cpus=1, num_gpus=gpus_per_worker, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._actors: dict[int, Any] = {}
        self._calls: dict[Any, int] = {}  # what was asked of whom
        self._started = 0

    def room(self) -> int:
        """See `Pool`."""
        resources = self._ray.cluster_resources()
        count = resources.get("CPU", 0.0)
        if self._gpus_per_worker:
            if not resources.get("GPU"):
                raise UsageError("--gpus-per-worker: the cluster has no GPUs")
            count = min(count, resources["GPU"] / self._gpus_per_worker)
        return max(1, int(count))

    def start(self) -> int:
        """See `Pool`."""
        number, self._started = self._started, self._started + 1
        self._actors[number] = self._actor.remote()
        self._calls[self._actors[number].start.remote(self._job)] = number
        return number

    def submit(self, worker: int, unit: int) -> None:
        """See `Pool`."""
        self._calls[self._actors[worker].run.remote(unit)] = worker

    def events(self, timeout: float) -> Sequence[Event]:
        """See `Pool`."""
        found: list[Event] = []
        if not self._calls:
            return found
        ready, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=timeout)
        for call in ready:
            worker = self._calls.pop(call)
            try:
                event = _event(worker, self._ray.get(call))
            except self._ray.exceptions.RayError as error:  # the actor, its process or its node is gone
                event = Died(worker, _reason(error))
            if isinstance(event, Died | Unusable):
                self._ray.kill(self._actors.pop(worker))
            found.append(event)
        return found

    def stop(self) -> None:
        """See `Pool`."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()
        self._calls.clear()
        if self._connected_here:
            self._ray.shutdown()


@contextmanager
def _termination_kept() -> Iterator[None]:
    """Ray replaces what a program does on SIGTERM, by a report of its own and another exit status: undo that."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def import_ray(address: str | None) -> Any:
    """The module `ray`, if it is installed and something listens at the cluster's address: Ray itself would try for
    minutes."""
    try:
        ray = import_module("ray")
    except ImportError:
        raise UsageError("the engine ray needs Ray: pip install 'discoparse[ray]'") from None
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _REACHABLE).close()
        except (OSError, OverflowError) as error:
            raise DiscoparseError(f"no Ray cluster can be reached at {address}: {error}") from None
    return ray


class _Actor:
    """A worker in a process of the cluster."""

    def start(self, job: Job) -> str | Failure:
        """Load the model; where this is."""
        worker = attempted(lambda: Worker(job))
        if isinstance(worker, Failure):
            return worker
        self._worker = worker
        return f"{socket.gethostname()}, process {os.getpid()}"

    def run(self, unit: int) -> tuple[Outcome | Failure]:
        """Do a unit."""
        return (attempted(lambda: self._worker.run(unit)),)


def _event(worker: int, result: str | Failure | tuple[Outcome | Failure]) -> Event:
    if isinstance(result, tuple):
        return Done(worker, *result)
    return Unusable(worker, result) if isinstance(result, Failure) else Ready(worker, result)


def _reason(error: Exception) -> str:
    """What Ray says about a death, without its general advice.

    >>> _reason(ValueError("The actor is dead. Some common causes include: (1) many"))
    'ValueError: The actor is dead.'
    """
    said = " ".join(str(error).split()).partition(" Some common causes")[0]
    return f"{type(error).__name__}: {said if len(said) <= _SHOWN else said[: _SHOWN - 1] + '…'}"
