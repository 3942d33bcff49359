"""The errors users see: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class DiscoparseError(Exception):
    """Something is wrong with the data; the command line prints it and exits with status 1."""


class UsageError(DiscoparseError):
    """The program was called wrongly; the command line exits with status 2."""


class NothingToDrawError(DiscoparseError):
    """There are no trees to draw: there were none, or all were left out."""

    def __init__(self) -> None:
        super().__init__("there are no trees to draw")


class ComputationError(DiscoparseError):
    """What a network computed is of no use; the data is not to blame."""


class TreebankWarning(UserWarning):
    """Something of a treebank was left out or cannot be held by a format; shown where no report is kept."""


@dataclass(frozen=True)
class Problem:
    """One defect of a treebank file: where it is and, in a sentence, what it is."""

    message: str
    file: str | None = None
    line: int | None = None
    sentence: str | None = None

    def __str__(self) -> str:
        place = self.file or "<input>"
        if self.line is not None:
            place += f":{self.line}"
        if self.sentence is not None:
            place += f": sentence {self.sentence}"
        return f"{place}: {self.message}"


class TreebankError(DiscoparseError):
    """A treebank file could not be read as what it claims to be."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to add to a message about an unknown name, with a space before it; empty if no known name is close.

    >>> did_you_mean("hiden", ["hidden", "layers"]), did_you_mean("EN", ["de", "en"]), did_you_mean("oracle", ["seed"])
    (' Did you mean hidden?', ' Did you mean en?', '')
    """
    close = close_name(name, known)
    return f" Did you mean {close}?" if close is not None else ""


def close_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like another, whatever their case; None if no one is close."""
    spellings = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), spellings, n=1)
    return spellings[close[0]] if close else None
