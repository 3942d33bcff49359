"""Workers that are processes of this machine, each with a pipe of its own: the death of one disturbs no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from discoparse.corpus.job import Job
from discoparse.corpus.scheduling import Died, Done, Event, Ready, Unusable
from discoparse.corpus.work import Failure, Worker, attempted
from discoparse.files import termination_as_exit

_GRACE = 5.0  # seconds that processes have to end, until they are killed
_WATCH = 1.0  # seconds between looks at whether the program is still there


@dataclass(frozen=True)
class _Process:
    process: SpawnProcess
    pipe: Connection
    place: int  # among the workers that run at once


class LocalPool:
    """A pool of processes. They are spawned, not forked: threads and GPUs of this one do not survive a fork."""

    def __init__(self, job: Job, gpus_per_worker: float = 0) -> None:
        self._job = job
        self._gpus_per_worker = gpus_per_worker
        self._context = multiprocessing.get_context("spawn")
        self._processes: dict[int, _Process] = {}
        self._started = 0

    def room(self) -> int:
        """See `Pool`."""
        if self._gpus_per_worker:
            return max(1, int(len(_visible_gpus()) / self._gpus_per_worker))
        if hasattr(os, "sched_getaffinity"):  # the cores that this process may use
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def start(self) -> int:
        """See `Pool`."""
        number, self._started = self._started, self._started + 1
        ours, theirs = self._context.Pipe()
        place = self._free_place()
        arguments = (self._job, theirs, self._gpu(place), os.getpid())
        process = self._context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        theirs.close()  # so that the pipe ends when the process does
        self._processes[number] = _Process(process, ours, place)
        return number

    def submit(self, worker: int, unit: int) -> None:
        """See `Pool`."""
        with suppress(OSError):  # it has died: the next events tell
            self._processes[worker].pipe.send(unit)

    def events(self, timeout: float) -> Sequence[Event]:
        """See `Pool`."""
        found: list[Event] = []
        pipes = {entry.pipe: number for number, entry in self._processes.items()}
        for pipe in wait(list(pipes), timeout):
            number = pipes[pipe]  # type: ignore[index]
            try:
                event = _event(number, self._processes[number].pipe.recv())
            except (EOFError, OSError):
                event = Died(number, self._bury(number))
            if isinstance(event, Unusable):  # the process ends by itself
                self._bury(number)
            found.append(event)
        return found

    def stop(self) -> None:
        """See `Pool`."""
        for entry in self._processes.values():
            entry.process.terminate()
        end = time.monotonic() + _GRACE
        for number, entry in list(self._processes.items()):
            entry.process.join(max(0.0, end - time.monotonic()))
            if entry.process.is_alive():
                entry.process.kill()
            self._bury(number)

    def _bury(self, number: int) -> str:
        """Clean up after a process; how it ended."""
        entry = self._processes.pop(number)
        entry.pipe.close()
        entry.process.join()
        code = entry.process.exitcode
        return f"killed by {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit status {code}"

    def _free_place(self) -> int:
        """The first place that no worker has: the successor of one that has died takes its."""
        taken = {entry.place for entry in self._processes.values()}
        return next(place for place in count() if place not in taken)

    def _gpu(self, place: int) -> str | None:
        """The GPU of a worker, as CUDA's variable names it: workers take turns. None: it needs none."""
        if not self._gpus_per_worker:
            return None
        names = _visible_gpus()
        return names[int(place * self._gpus_per_worker) % len(names)]


def _visible_gpus() -> list[str]:
    """The GPUs that this process may use, by the names of CUDA's variable."""
    from discoparse.neural.device import choose_device

    choose_device("cuda")  # or say that there is none
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible.split(",") if visible else [str(k) for k in range(torch.cuda.device_count())]


def _event(number: int, message: Any) -> Event:
    if isinstance(message, str):
        return Ready(number, message)
    kind, result = message
    return Unusable(number, result) if kind == "start" else Done(number, result)


def _serve(job: Job, pipe: Connection, gpu: str | None, parent: int) -> None:
    """What a process does: units that come through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the one that started them ends them
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    with termination_as_exit(), suppress(EOFError, OSError):
        worker = attempted(lambda: Worker(job))
        if isinstance(worker, Failure):
            pipe.send(("start", worker))
            return
        pipe.send(f"{socket.gethostname()}, process {os.getpid()}")
        while True:
            unit = pipe.recv()
            pipe.send(("unit", attempted(lambda unit=unit: worker.run(unit))))  # type: ignore[misc]


def _leave_with(parent: int) -> None:
    """End this process when the one that started it is gone, however it ended."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)
