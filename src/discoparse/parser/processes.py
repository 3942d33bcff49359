"""What parsers need of the process they are in: threads, and patience of the garbage collector."""

from __future__ import annotations

import gc
import multiprocessing
import os

from discoparse.neural.device import use_threads

_COLLECT_AFTER = 100_000  # new objects
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


def keep_what_is_loaded() -> None:
    """For programs that load models and then only parse: the garbage collector leaves alone what is there now. It also
    looks for cycles less often, since parsing makes many objects and hardly any cycles.
    """
    gc.freeze()
    _, *others = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *others)
