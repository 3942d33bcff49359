"""Ctrl-C while modules are imported has to wait: an exception inside PyTorch's imports may abort the program."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_PATIENCE = 0.1  # seconds until it is tried again
_IMPORTING = "<frozen importlib._bootstrap>"


@contextmanager
def interrupts_after_imports() -> Iterator[None]:
    """While this is entered, an interrupt is a KeyboardInterrupt as usual, but not in the middle of an import."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python forbids handlers
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, or somebody else's
        yield
        return
    outside = _imports(sys._getframe())

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _imports(frame) == outside:
            raise KeyboardInterrupt
        again = threading.Timer(_PATIENCE, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _imports(frame: FrameType | None) -> int:
    """How many frames of the import system a frame was called from."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename == _IMPORTING
        frame = frame.f_back
    return count
