"""Forks: what a child process needs before it can parse with a network that its parent has used.

A child of `fork` has only the thread that forked. Locks that other threads held stay locked for ever, and PyTorch's
pool of threads (OpenMP) is gone: the first operation that wants more than one of them waits without end.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Protocol
from weakref import WeakSet


class HasLock(Protocol):
    """Something that threads share."""

    lock: threading.Lock


_shared: WeakSet[HasLock] = WeakSet()


def renew_lock_in_children(owner: HasLock) -> None:
    """Give `owner` a new lock in every child process. Its state must be sound at any moment, lock or not."""
    _shared.add(owner)


def _prepare_child() -> None:
    for owner in _shared:
        owner.lock = threading.Lock()
    torch = sys.modules.get("torch")  # not imported where the compiled network is used
    if torch is not None and torch.get_num_threads() > 1:
        torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_prepare_child)
