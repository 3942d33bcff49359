"""Standard streams that the caller has closed (`<&-`, `>&-`, `2>&-`): replaced, so using one is an error to report.

Python has None for such a stream, and the next file to be opened would take its place: what libraries write on
standard error would end up in that file.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import BinaryIO, NoReturn, cast


class _Closed(io.RawIOBase):
    """Reading and writing fail with a message that names the stream."""

    def __init__(self, name: str) -> None:
        self.stream = name

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> NoReturn:
        raise OSError(errno.EBADF, f"{self.stream} is closed")

    def write(self, content: object) -> NoReturn:
        raise OSError(errno.EBADF, f"{self.stream} is closed")


def replace_closed_streams() -> None:
    """Give standard streams that are closed a substitute: messages are lost, input and output are errors."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(cast(BinaryIO, _Closed("standard output")), write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (open as long as the program runs)
