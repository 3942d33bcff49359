"""Text from files and standard input, whatever is in it: gzip, encodings, bytes that are no text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import cast

from discoparse.parsing.passages import Notice
from discoparse.treebank.files import STANDARD, damage_reported, decoded, open_bytes
from discoparse.treebank.report import Reading, Report

_PIECE = 1 << 16  # characters of a line that are read at once
_UNDECODED = re.compile("[\ud800-\udfff]")


def file_pieces(path: str, encoding: str | None, notice: Notice) -> Iterator[str]:
    """The text of a file (`-` is standard input) in lines, very long ones in pieces; line ends stay as they are, so
    that offsets are those of the file. What follows damage is lost, and told to `notice`."""
    name = "<standard input>" if path == STANDARD else path
    reading = Reading(name, "skip", Report(on_problem=lambda problem: notice(str(problem))))
    with damage_reported(reading), open_bytes(path) as raw, decoded(raw, encoding, xml=False) as stream:
        cast(io.TextIOWrapper, stream).reconfigure(newline="")
        while piece := stream.readline(_PIECE):
            yield piece


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

    def message(self) -> str | None:
        """What to tell the user, if anything."""
        if not self.undecoded:
            return None
        bytes_ = "byte that is no text was" if self.undecoded == 1 else "bytes that are no text were"
        return (
            f"{self.undecoded:,} {bytes_} read as U+FFFD, the first on line {self.first_line}: "
            "name the right encoding with --encoding"
        )
