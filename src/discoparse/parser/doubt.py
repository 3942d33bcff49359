"""What a user asks for beside the greedy tree: probabilities, a consensus, and what becomes of doubtful sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real

from discoparse.errors import UsageError
from discoparse.tree import Tree

SAMPLES = 16  # where a user does not say how many
MOST_SAMPLES = 4096
MAJORITY = 0.5


@dataclass(frozen=True)
class Doubt:
    """Probabilities from so many `samples`; with `consensus`, trees of what more than that share of them has."""

    samples: int = SAMPLES
    consensus: float | None = None

    @classmethod
    def asked(cls, probabilities: int, consensus: bool | float) -> Doubt | None:
        """What the arguments of `Parser.parse_tokens` ask for; None for nothing."""
        if type(probabilities) is not int or not 0 <= probabilities <= MOST_SAMPLES:
            raise UsageError(f"probabilities are a number of samples up to {MOST_SAMPLES:,}, not {probabilities!r}")
        share = MAJORITY if consensus is True else None if consensus is False else consensus
        if share is not None and not (isinstance(share, Real) and 0 <= share < 1):
            raise UsageError(f"a consensus is a share of the samples from 0 to less than 1, not {consensus!r}")
        if not probabilities and share is None:
            return None
        return cls(probabilities or SAMPLES, share)

    @property
    def least(self) -> float:
        """The share of samples that a constituent must exceed to be listed; 1 if none need be."""
        return 1.0 if self.consensus is None else self.consensus


class Screen:
    """Leaves out, or marks, trees whose expected F1 is below a threshold, in percent; counts them."""

    def __init__(self, least: float, mark: bool) -> None:
        self.least = least
        self.mark = mark
        self.seen = self.doubtful = 0

    def __call__(self, trees: Iterable[Tree | None]) -> Iterator[Tree | None]:
        """The trees, with None instead of those that are left out."""
        for tree in trees:
            if tree is not None and tree.expected_f1 is not None:
                self.seen += 1
                if 100 * tree.expected_f1 < self.least:
                    self.doubtful += 1
                    tree.comments.append(f"doubtful: expected F1 {100 * tree.expected_f1:.1f}")
                    yield tree if self.mark else None
                    continue
            yield tree

    def message(self) -> str:
        """What to tell the user."""
        what = "marked" if self.mark else "left out"
        return f"{self.doubtful} of {self.seen} sentences have an expected F1 below {self.least:g}: {what}"
