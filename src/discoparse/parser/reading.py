"""Text from files and standard input, whatever is in it: gzip, encodings, bytes that cannot be decoded."""

from __future__ import annotations

import io
import os
import queue
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import cast

from discoparse.files.streams import STANDARD, decoded, open_bytes
from discoparse.parser.passages import Notice
from discoparse.treebank.report import Reading, Report, damage_reported

_PIECE = 1 << 16  # characters of a line that are read at once
_BEGINNING = 1 << 16  # characters by which a treebank is recognised
_UNDECODED = re.compile("[\ud800-\udfff]")
# Standard input, opened again: a thread that still waits for it when the program ends must not hold `sys.stdin`.
_LIVE = "/dev/stdin"


def is_live(path: str) -> bool:
    """Whether a file is standard input, and that a pipe or a terminal: there text comes when it comes."""
    if path != STANDARD or not os.path.exists(_LIVE):
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # no real file
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def file_pieces(path: str, encoding: str | None, notice: Notice) -> Iterator[str]:
    """The text of a file (`-` is standard input) in lines, very long ones in pieces; line ends stay as they are, so
    that offsets are those of the file. What follows damage is lost, and told to `notice`."""
    name = "<standard input>" if path in (STANDARD, _LIVE) else path
    reading = Reading(name, "skip", Report(on_problem=lambda problem: notice(str(problem))))
    with damage_reported(reading), open_bytes(path) as raw, decoded(raw, encoding, xml=False) as stream:
        cast(io.TextIOWrapper, stream).reconfigure(newline="")
        while piece := stream.readline(_PIECE):
            yield piece


def beginning(pieces: Iterable[str], idle: Callable[[], bool] | None = None) -> tuple[str, Iterable[str]]:
    """The beginning of a text that comes in pieces, and all of it. What is yet to come is not waited for (`idle`)."""
    iterator = iter(pieces)
    first: list[str] = []
    size = 0
    for piece in iterator:
        first.append(piece)
        size += len(piece)
        if size >= _BEGINNING or (idle is not None and idle()):
            break
    return "".join(first), chain(first, iterator)


class LivePieces:
    """The text of a live standard input in pieces. Another thread reads them, so `idle` can tell whether the next one
    is there."""

    _AHEAD = 1000  # pieces
    _PATIENCE = 0.05  # seconds that the next piece may take

    def __init__(self, encoding: str | None, notice: Notice) -> None:
        self._pieces = file_pieces(_LIVE, encoding, notice)
        self._read: queue.Queue[str | BaseException | None] = queue.Queue(self._AHEAD)
        self._ended = False

    def __iter__(self) -> Iterator[str]:
        threading.Thread(target=self._fetch, daemon=True).start()
        while (piece := self._read.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
        self._ended = True

    def _fetch(self) -> None:
        try:
            for piece in self._pieces:
                self._read.put(piece)
        except BaseException as error:  # for the reader to see
            self._read.put(error)
        self._read.put(None)

    def idle(self) -> bool:
        """Whether the next piece is not there yet, and does not come in a moment."""
        with self._read.not_empty:
            ready = self._read.not_empty.wait_for(lambda: self._ended or len(self._read.queue) > 0, self._PATIENCE)
        return not ready


class CleanText:
    """Passes text on with U+FFFD for every byte that could not be decoded, and counts them."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = pieces
        self.undecoded = 0
        self.first_line = 0  # line of the first one

    def __iter__(self) -> Iterator[str]:
        line = 1
        for piece in self.pieces:
            clean, count = _UNDECODED.subn("\ufffd", piece)
            if count and not self.undecoded:
                found = _UNDECODED.search(piece)
                self.first_line = line + piece.count("\n", 0, found.start() if found else 0)
            self.undecoded += count
            line += piece.count("\n")
            yield clean

    def message(self, advice: str = "name the right encoding with --encoding") -> str | None:
        """What to tell the user, if anything, and what to do."""
        if not self.undecoded:
            return None
        found = "byte that cannot be decoded is" if self.undecoded == 1 else "bytes that cannot be decoded are"
        return f"{self.undecoded:,} {found} read as U+FFFD, the first on line {self.first_line}: {advice}"
