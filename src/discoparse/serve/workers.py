"""Several processes that serve one socket: started, watched, replaced when they die, and ended together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType

from discoparse.errors import DiscoparseError, UsageError
from discoparse.serve.catalogue import Catalogue

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # to end
_QUICK = 5.0  # seconds: a worker that dies sooner may do so again
_ATTEMPTS = 5  # to start a worker that dies so soon
_PAUSE = 0.2  # seconds before the second attempt, and as much more before each further one

Work = Callable[[int, Callable[[], object]], None]  # of the worker of a number; it calls the function once it serves


def check_fork(catalogue: Catalogue) -> None:
    """Refuse what workers cannot do."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UsageError("--workers needs an operating system that can fork: use one worker and more --threads")
    if any(served.parser.device.type != "cpu" for served in catalogue.models.values()):
        raise UsageError("--workers is for CPUs: a GPU serves one process, so leave it out or add --device cpu")


def supervise(work: Work, workers: int, notice: Callable[[str], None], all_started: Callable[[], None]) -> None:
    """Keep that many workers running, forked from this process so that they share the memory of the models.

    `all_started` is called once, when each of them has begun to serve.
    Requests that a dying worker has accepted are lost; the others go on meanwhile. Should this process be killed, the
    workers end as well, so that nobody has to look for them.
    """
    ending = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        ending = True

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    lifeline = os.pipe()  # only this process keeps the end that is written to: it closes when this process is gone
    news = os.pipe()  # a byte from each worker that has started: its number
    starting = set(range(workers))

    def reported(worker: int) -> None:
        work(worker, lambda: os.write(news[1], bytes([worker])))

    running = {worker: _start(reported, worker, lifeline) for worker in range(workers)}
    attempts = dict.fromkeys(running, 1)
    try:
        while not ending:
            changed = wait([news[0], *(process.sentinel for process, _ in running.values())], timeout=0.5)
            if news[0] in changed:
                reports = set(os.read(news[0], 256))
                if starting and starting <= reports:
                    all_started()
                starting -= reports
            for worker, (process, started) in list(running.items()):
                if ending or process.is_alive():
                    continue
                quick = time.monotonic() - started < _QUICK
                attempts[worker] = attempts[worker] + 1 if quick else 1
                if attempts[worker] > _ATTEMPTS:
                    raise DiscoparseError(f"worker {worker + 1} dies as soon as it is started: see above")
                notice(f"worker {worker + 1} died ({_cause(process)}): starting it again")
                time.sleep(_PAUSE * (attempts[worker] - 1))
                running[worker] = _start(reported, worker, lifeline)
    finally:
        for process, _ in running.values():
            process.terminate()
        for process, _ in running.values():
            process.join()
        for descriptor in (*lifeline, *news):
            os.close(descriptor)
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(work: Callable[[int], None], worker: int, lifeline: tuple[int, int]) -> tuple[BaseProcess, float]:
    """A new worker, and when it was started."""
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(work, worker, lifeline), name=f"worker {worker + 1}"
    )
    # The worker must not hear a signal while it still has our handler, which would only make a note of it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    return process, time.monotonic()


def _work(work: Callable[[int], None], worker: int, lifeline: tuple[int, int]) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    ours, supervisors = lifeline
    os.close(supervisors)

    def end_with_supervisor() -> None:
        os.read(ours, 1)  # nothing is ever written: it returns when the other end is closed
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_supervisor, name="lifeline", daemon=True).start()
    work(worker)


def _cause(process: BaseProcess) -> str:
    """Why a worker died."""
    code = process.exitcode or 0
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name
