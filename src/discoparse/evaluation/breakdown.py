"""Scores per group of constituents: by label, gap degree, lengths (of sentence, constituent or gap), phenomenon, and by
what made a constituent discontinuous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discoparse.evaluation.brackets import Bracket
from discoparse.evaluation.counts import ScoredSentence, percentage
from discoparse.evaluation.discontinuity import gap_kinds, recognise_scheme
from discoparse.evaluation.gap_rules import KINDS
from discoparse.evaluation.phenomena import PHENOMENA, phenomena
from discoparse.evaluation.result import Result
from discoparse.evaluation.structure import constituents
from discoparse.tree import Tree, gap_count

GAP_LENGTHS = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, None))
LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 40), (41, 60), (61, None))


@dataclass
class GroupScores:
    """Recall over the gold constituents of a group, precision over the predicted constituents of it.

    Where the group depends on more than label and yield, a right constituent may be in different groups of
    the two trees, so matches are counted on either side.
    """

    group: str
    sentences: int = 0  # with such a constituent in either tree
    gold: int = 0
    predicted: int = 0
    gold_matched: int = 0
    predicted_matched: int = 0

    @property
    def precision(self) -> float | None:
        return percentage(self.predicted_matched, self.predicted)

    @property
    def recall(self) -> float | None:
        return percentage(self.gold_matched, self.gold)

    @property
    def f1(self) -> float | None:
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p and r else None

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "sentences": self.sentences,
            "gold": self.gold,
            "predicted": self.predicted,
            "matched": self.gold_matched,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


# From a sentence, one of its two trees and its brackets to the groups of each bracket.
Classifier = Callable[[ScoredSentence, Tree, Sequence[Bracket]], list[list[str]]]


def break_down(result: Result, by: str) -> list[GroupScores]:
    """The scores of each group; `by` is one of `CLASSIFIERS`."""
    classify = CLASSIFIERS[by](result)
    groups: dict[str, GroupScores] = {}
    for sentence in result.sentences:
        sides = _groups_of_matches(sentence, classify)
        for name in {name for side in sides for names, _ in side for name in names}:
            groups.setdefault(name, GroupScores(name)).sentences += 1
        for names, right in sides[0]:
            for name in names:
                groups[name].gold += 1
                groups[name].gold_matched += right
        for names, right in sides[1]:
            for name in names:
                groups[name].predicted += 1
                groups[name].predicted_matched += right
    return sorted(groups.values(), key=_ORDERS[by])


def _groups_of_matches(sentence: ScoredSentence, classify: Classifier) -> list[list[tuple[list[str], bool]]]:
    """For both trees, the groups of every bracket and whether it is right."""
    sides = []
    trees = (sentence.gold, sentence.predicted or sentence.gold)  # a missing prediction has no bracket anyway
    brackets = (sentence.gold_brackets, sentence.predicted_brackets)
    for tree, ours, theirs in zip(trees, brackets, reversed(brackets), strict=True):
        sides.append(list(zip(classify(sentence, tree, ours), matched_flags(ours, theirs), strict=True)))
    return sides


def matched_flags(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> list[bool]:
    """Which of our brackets they have, too; duplicates match as often as they have them.

    >>> matched_flags([("NP", 1), ("NP", 1), ("S", 3)], [("NP", 1)])
    [True, False, False]
    """
    rest = Counter(theirs)
    flags = []
    for bracket in ours:
        flags.append(rest[bracket] > 0)
        rest[bracket] -= 1
    return flags


def _by_label(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    return [[label] for label, _ in brackets]


def _by_gap_degree(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    return [[str(gap_count(mask))] for _, mask in brackets]


def _by_length(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    return [[length_group(sentence.counts.length)]] * len(brackets)


def _by_constituent_length(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    return [[length_group(mask.bit_count())] for _, mask in brackets]


def _by_phenomenon(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    nodes = constituents(brackets)
    return [phenomena(node, nodes, tree) for node in nodes]


def _by_gap_length(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
    """By the number of tokens in all gaps of a constituent; a continuous one is in no group."""
    lengths = [mask.bit_length() - (mask & -mask).bit_length() + 1 - mask.bit_count() for _, mask in brackets]
    return [[length_group(length, GAP_LENGTHS)] if length else [] for length in lengths]


def _by_discontinuity(result: Result) -> Classifier:
    """By what made the gaps, in the terms of the annotation scheme of the gold trees."""
    scheme = recognise_scheme(sentence.gold for sentence in result.sentences)

    def classify(sentence: ScoredSentence, tree: Tree, brackets: Sequence[Bracket]) -> list[list[str]]:
        bits = sentence.gold_bits if tree is sentence.gold else sentence.predicted_bits
        tags = [token.tag for token, bit in zip(tree.tokens, bits, strict=True) if bit]
        nodes = constituents(brackets)
        return [gap_kinds(node, nodes, tags, scheme) for node in nodes]

    return classify


def length_group(length: int, ranges: Sequence[tuple[int, int | None]] = LENGTHS) -> str:
    """The name of the group of sentences, constituents or gaps of about this length.

    >>> length_group(7), length_group(99), length_group(2, GAP_LENGTHS)
    ('6-10', '61+', '2')
    """
    first, last = next((a, b) for a, b in ranges if b is None or length <= b)
    return f"{first}+" if last is None else str(first) if first == last else f"{first}-{last}"


# From a result to its classifier: most look at one sentence only.
CLASSIFIERS: dict[str, Callable[[Result], Classifier]] = {
    "label": lambda result: _by_label,
    "gap-degree": lambda result: _by_gap_degree,
    "gap-length": lambda result: _by_gap_length,
    "length": lambda result: _by_length,
    "constituent-length": lambda result: _by_constituent_length,
    "phenomenon": lambda result: _by_phenomenon,
    "discontinuity": _by_discontinuity,
}

_LENGTH_NAMES = [length_group(first) for first, _ in LENGTHS]
_GAP_LENGTH_NAMES = [length_group(first, GAP_LENGTHS) for first, _ in GAP_LENGTHS]
_ORDERS: dict[str, Callable[[GroupScores], Any]] = {
    "label": lambda g: (-g.gold, -g.predicted, g.group),
    "gap-degree": lambda g: int(g.group),
    "gap-length": lambda g: _GAP_LENGTH_NAMES.index(g.group),
    "length": lambda g: _LENGTH_NAMES.index(g.group),
    "constituent-length": lambda g: _LENGTH_NAMES.index(g.group),
    "phenomenon": lambda g: PHENOMENA.index(g.group),
    "discontinuity": lambda g: KINDS.index(g.group),
}
