"""What an evaluation found: the scores over all sentences, made from the sums of their counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discoparse.evaluation.counts import Counts, ScoredSentence, f1_score, percentage
from discoparse.evaluation.functions import FunctionScores, score_functions
from discoparse.evaluation.parameters import Parameters


@dataclass(frozen=True)
class BracketScores:
    """Scores over a set of brackets, as percentages; None where there is nothing to divide by.

    >>> scores = BracketScores(2, 1, gold=4, predicted=5, matched=3, gold_distinct=4, predicted_distinct=5)
    >>> scores.recall, scores.precision, round(scores.f1, 2), scores.exact_match
    (75.0, 60.0, 66.67, 50.0)
    """

    sentences: int
    exact: int
    gold: int
    predicted: int
    matched: int
    gold_distinct: int
    predicted_distinct: int

    @property
    def precision(self) -> float | None:
        return percentage(self.matched, self.predicted)

    @property
    def recall(self) -> float | None:
        return percentage(self.matched, self.gold)

    @property
    def f1(self) -> float | None:
        """None also where precision or recall is 0, as in the reference."""
        return f1_score(self.matched, self.gold, self.predicted)

    @property
    def exact_match(self) -> float | None:
        return percentage(self.exact, self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The scores under the names that `--json` prints."""
        return {
            "sentences": self.sentences,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "exact_match": self.exact_match,
            "brackets": {
                "gold": self.gold,
                "predicted": self.predicted,
                "matched": self.matched,
                "gold_distinct": self.gold_distinct,
                "predicted_distinct": self.predicted_distinct,
            },
        }


@dataclass(frozen=True)
class Scores(BracketScores):
    """Scores over all brackets of some sentences, with those over the discontinuous ones in `disc`."""

    longest: int
    tokens: int
    correct_tags: int
    disc: BracketScores

    @property
    def pos_accuracy(self) -> float | None:
        return percentage(self.correct_tags, self.tokens)

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "pos_accuracy": self.pos_accuracy,
            "longest_sentence": self.longest,
            "tokens": {"scored": self.tokens, "correct_tags": self.correct_tags},
            "disc": self.disc.to_json(),
        }


class Result:
    """The result of `evaluate`: `all` and `cutoff` have the figures, `sentences` what they were made of."""

    def __init__(self, sentences: list[ScoredSentence], parameters: Parameters) -> None:
        self.sentences = sentences
        self.parameters = parameters
        rows = [sentence.counts for sentence in sentences]
        self.counts = np.array(rows, dtype=np.int64).reshape(-1, len(Counts._fields))  # [sentence, count]

    @cached_property
    def all(self) -> Scores:
        """Scores over all sentences."""
        return summarise(self.counts)

    @cached_property
    def cutoff(self) -> Scores:
        """Scores over the sentences up to the cutoff length."""
        return summarise(self.counts[self.within_cutoff])

    @cached_property
    def within_cutoff(self) -> np.ndarray:
        """Which sentences are up to the cutoff length."""
        short: np.ndarray = self.column("length") <= self.parameters.cutoff
        return short

    @cached_property
    def functions(self) -> dict[str, FunctionScores]:
        """Scores of function tags over all sentences (`all`) and those up to the cutoff (`cutoff`)."""
        short = [sentence for sentence, keep in zip(self.sentences, self.within_cutoff, strict=True) if keep]
        parts = {"all": self.sentences, "cutoff": short}
        return {name: score_functions(part, self.parameters) for name, part in parts.items()}

    @property
    def missing(self) -> int:
        """The number of sentences without a prediction, scored as empty."""
        return sum(sentence.predicted is None for sentence in self.sentences)

    def column(self, name: str) -> np.ndarray:
        """One of the `Counts` of every sentence."""
        column: np.ndarray = self.counts[:, Counts._fields.index(name)]
        return column

    def to_json(self) -> dict[str, Any]:
        """Everything in `all` and `cutoff`, for JSON."""
        figures = {"all": self.all.to_json(), "cutoff": self.cutoff.to_json()}
        for name, functions in self.functions.items():
            figures[name]["function_tags"] = functions.all
            figures[name]["disc"]["function_tags"] = functions.disc
        return {**figures, "cutoff_length": self.parameters.cutoff, "missing": self.missing}


def summarise(counts: np.ndarray) -> Scores:
    """Scores from the rows of some sentences."""
    total = Counts._make(counts.sum(axis=0).tolist())
    longest = int(counts[:, Counts._fields.index("length")].max(initial=0))
    disc = BracketScores(
        sentences=total.disc_sentences,
        exact=total.disc_exact,
        gold=total.disc_gold,
        predicted=total.disc_predicted,
        matched=total.disc_matched,
        gold_distinct=total.disc_gold_distinct,
        predicted_distinct=total.disc_predicted_distinct,
    )
    return Scores(
        sentences=len(counts),
        exact=total.exact,
        gold=total.gold,
        predicted=total.predicted,
        matched=total.matched,
        gold_distinct=total.gold_distinct,
        predicted_distinct=total.predicted_distinct,
        longest=longest,
        tokens=total.tokens,
        correct_tags=total.correct_tags,
        disc=disc,
    )
