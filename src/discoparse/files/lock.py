"""A lock that one process at a time can hold; the system releases it when the process ends, however it ends."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# What systems say when somebody else holds the lock. Anything else means that the file system has no locks.
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Locked(Exception):
    """Somebody else holds the lock."""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock while this is entered; raises `Locked` at once if another process, or this one, holds it.

    The file stays there afterwards: removing it would let two processes lock two files of one name. On file systems
    without locks nothing is locked.
    """
    with path.open("ab") as stream:
        try:
            _lock(stream)
        except OSError as error:
            if error.errno in _HELD:
                raise Locked from None
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(stream: BinaryIO) -> None:
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(stream: BinaryIO) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
