"""The kinds of pictures, and how they are drawn: one set of options for all commands and functions that draw."""

from __future__ import annotations

import os
from dataclasses import dataclass

from discoparse.errors import UsageError

# The kinds of pictures with the usual ending of their files; a name that several share stands for the first.
EXTENSIONS = {"tree": ".txt", "svg": ".svg", "tikz": ".tex"}
ALIASES = {"text": "tree"}
ELBOW, SLANTED = "elbow", "slanted"
STYLES = (ELBOW, SLANTED)


@dataclass(frozen=True)
class Options:
    """How pictures are drawn; the names are those of the command line."""

    width: int | None = None
    style: str = ELBOW
    functions: bool = False
    tags: bool = True
    highlight: bool = True
    color: bool = False
    standalone: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise UsageError(f"unknown style {self.style!r}: choose one of {', '.join(STYLES)}")


def format_of(output: str) -> str:
    """The kind of picture that a file name asks for.

    >>> format_of("tree.svg"), format_of("-")
    ('svg', 'tree')
    """
    extension = os.path.splitext(output)[1].lower()
    if not extension:
        return "tree"
    kinds = {usual: name for name, usual in reversed(EXTENSIONS.items())}
    if extension not in kinds:
        endings = ", ".join(dict.fromkeys(EXTENSIONS.values()))
        raise UsageError(f"cannot tell the kind of picture from {output}: endings are {endings}, or name it with --to")
    return kinds[extension]
