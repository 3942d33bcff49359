"""The kinds of pictures, and how they are drawn: one set of options for all commands and functions that draw."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from discoparse.errors import UsageError

# The kinds of pictures with the usual ending of their files; a name that several share stands for the first.
EXTENSIONS = {"tree": ".txt", "svg": ".svg", "tikz": ".tex", "forest": ".tex", "png": ".png", "pdf": ".pdf"}
BINARY = ("png", "pdf")
LATEX = ("tikz", "forest")
ALIASES = {"text": "tree"}
ELBOW, SLANTED = "elbow", "slanted"
STYLES = (ELBOW, SLANTED)
HIDDEN_ROOT, HIDDEN_PUNCTUATION = "root", "punct"
HIDEABLE = (HIDDEN_ROOT, HIDDEN_PUNCTUATION)


@dataclass(frozen=True)
class Options:
    """How pictures are drawn; the names are those of the command line."""

    width: int | None = None  # at most; text: columns, SVG: pixels, TikZ: points
    scale: float = 1.0  # of everything but text
    style: str = ELBOW
    functions: bool = False
    tags: bool = True
    highlight: bool = True
    color: bool = False
    standalone: bool = False
    hide: Collection[str] = ()  # some of HIDEABLE
    subtree: str | None = None  # NP, NP:2 or 3-5,8, see `view.find_subtree`
    roof: Collection[str] = ()  # labels of the phrases whose words stand under a triangle
    surface: bool = False  # words as they are written in running text
    gloss: str | Sequence[str] | None = None  # lemma, morph or a feature of tokens; or a gloss for each token
    gloss_file: str | None = None  # has a line of glosses for each sentence that is drawn
    legend: bool = True  # of a comparison: the numbers of differences below the picture
    font: str | None = None  # of SVG, PNG and PDF
    dpi: int = 300  # dots per inch of PNG

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise UsageError(f"unknown style {self.style!r}: choose one of {', '.join(STYLES)}")
        if self.scale <= 0:
            raise UsageError(f"a picture cannot be scaled by {self.scale:g}: give a number above 0")
        for what in self.hide:
            if what not in HIDEABLE:
                raise UsageError(f"{what!r} cannot be hidden: choose from {', '.join(HIDEABLE)}")


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


def is_folder(output: str) -> bool:
    """Whether an output names a folder, which gets a file for each sentence."""
    return output.endswith(os.sep) or os.path.isdir(output)
