"""The counts of a sentence, and percentages computed from counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from discoparse.evaluation.brackets import Bracket
from discoparse.tree import Tree


class Counts(NamedTuple):
    """The counts of one sentence, or sums of them; `disc_…` are of discontinuous brackets only."""

    gold: int
    predicted: int
    matched: int
    gold_distinct: int  # disco-dop prints these as numbers of brackets, though it scores doubled ones twice
    predicted_distinct: int
    exact: int  # sentences whose brackets are all right
    disc_gold: int
    disc_predicted: int
    disc_matched: int
    disc_gold_distinct: int
    disc_predicted_distinct: int
    disc_exact: int
    disc_sentences: int  # sentences with a discontinuous bracket on either side
    tokens: int  # that were kept
    correct_tags: int
    length: int  # of the gold sentence, punctuation included; summed it is the number of tokens


class ScoredSentence(NamedTuple):
    """A gold tree, its prediction, and what was compared."""

    number: int  # counted from 0
    gold: Tree
    predicted: Tree | None
    gold_bits: Sequence[int]  # the bit of every gold token in the masks of the brackets, 0 for a deleted one
    predicted_bits: Sequence[int]
    gold_brackets: list[Bracket]  # children before parents
    predicted_brackets: list[Bracket]
    counts: Counts

    @property
    def wrong(self) -> int:
        """Gold brackets missed plus brackets predicted in error."""
        return self.counts.gold + self.counts.predicted - 2 * self.counts.matched


def percentage(part: int, whole: int) -> float | None:
    """`part` as a percentage of `whole`, None if that is 0."""
    return 100 * part / whole if whole else None


def f1_score(matched: int, gold: int, predicted: int) -> float | None:
    """The harmonic mean of precision and recall as a percentage, None where nothing matches."""
    return 200 * matched / (gold + predicted) if matched else None
