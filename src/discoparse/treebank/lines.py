"""Lines of a treebank file in bounded memory: a file of a few megabytes may unpack to a line of gigabytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TextIO

MOST_CHARACTERS = 1 << 25  # of a line, an XML element or a JSON value; what is longer is skipped
TOO_LONG = f"the line has more than {MOST_CHARACTERS:,} characters, so it is skipped"


def numbered_lines(stream: TextIO) -> Iterator[tuple[int, str | None]]:
    """The lines of a stream with their numbers, counted from 1; None for a line that is too long."""
    read = partial(stream.readline, MOST_CHARACTERS)
    for number, line in enumerate(iter(read, ""), 1):
        if len(line) < MOST_CHARACTERS or line.endswith("\n"):
            yield number, line
        else:
            while line and not line.endswith("\n"):
                line = read()
            yield number, None
