"""Parsers that came from another process: how many threads they use here."""

from __future__ import annotations

import multiprocessing
import os

from discoparse.neural.device import use_threads

PROCESS = os.urandom(16)  # tells whether a pickled parser is revived in the process that it came from


def use_threads_elsewhere(count: int | None) -> None:
    """PyTorch's threads for a parser that came from another process: those that `load` set there.

    Without any, a worker of `multiprocessing` gets one thread, as in PyTorch's own data loaders: workers with as many
    threads each as the machine has cores are up to 70 times slower.
    """
    if count is not None:
        use_threads(count)
    elif multiprocessing.current_process().name != "MainProcess" and "OMP_NUM_THREADS" not in os.environ:
        use_threads(1)
