"""What went wrong: labels and tags confused, constituents attached wrongly, yields not quite right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discoparse.evaluation.brackets import Bracket, cut_label
from discoparse.evaluation.breakdown import matched_flags
from discoparse.evaluation.counts import ScoredSentence
from discoparse.evaluation.result import Result
from discoparse.evaluation.structure import constituents
from discoparse.tree import gap_count

GAP_MISSED, GAP_INVENTED, GAP_MISPLACED = "gap missed", "gap invented", "gap misplaced"
TOO_LONG, TOO_SHORT, SHIFTED = "too long", "too short", "shifted"
MISSING, SPURIOUS = "missing", "spurious"


class Tally(Counter[tuple[str, ...]]):
    """Counts mistakes, and remembers the first sentence with each."""

    def __init__(self) -> None:
        super().__init__()
        self.examples: dict[tuple[str, ...], int] = {}  # sentences are counted from 1, as users do

    def note(self, mistake: tuple[str, ...], sentence: ScoredSentence) -> None:
        self[mistake] += 1
        self.examples.setdefault(mistake, sentence.number + 1)

    def top(self, most: int | None = None) -> list[tuple[tuple[str, ...], int, int]]:
        """Mistake, count and example, the most frequent first."""
        ordered = sorted(self.items(), key=lambda item: (-item[1], item[0]))[:most]
        return [(mistake, count, self.examples[mistake]) for mistake, count in ordered]

    def to_json(self, names: Sequence[str], most: int | None = None) -> list[dict[str, Any]]:
        return [
            {**dict(zip(names, mistake, strict=True)), "count": count, "example": example}
            for mistake, count, example in self.top(most)
        ]


@dataclass
class Mistakes:
    """All mistakes of an evaluation, in five tables."""

    labels: Tally = field(default_factory=Tally)  # (gold, predicted): the right yield with another label
    attachments: Tally = field(default_factory=Tally)  # (label, gold and predicted parent) of right ones
    yields: Tally = field(default_factory=Tally)  # (label, kind): the right label, the yield not quite
    unpaired: Tally = field(default_factory=Tally)  # (label, missing or spurious): without a counterpart
    tags: Tally = field(default_factory=Tally)  # (gold, predicted) parts of speech of scored tokens

    def to_json(self, most: int | None = None) -> dict[str, Any]:
        """The most frequent of each, for JSON."""
        return {name: getattr(self, name).to_json(columns, most) for name, columns in COLUMNS.items()}


COLUMNS = {
    "labels": ("gold", "predicted"),
    "attachments": ("label", "gold_parent", "predicted_parent"),
    "yields": ("label", "kind"),
    "unpaired": ("label", "kind"),
    "tags": ("gold", "predicted"),
}


def find_mistakes(result: Result) -> Mistakes:
    """Every mistake, each wrong bracket in one table; where there is no prediction, all brackets are missing."""
    found = Mistakes()
    for sentence in result.sentences:
        if sentence.predicted is not None:
            _compare_tags(sentence, found)
            _compare_parents(sentence, found)
        _compare_brackets(sentence, found)
    return found


def _compare_tags(sentence: ScoredSentence, found: Mistakes) -> None:
    assert sentence.predicted is not None
    gold = {bit: t.tag for t, bit in zip(sentence.gold.tokens, sentence.gold_bits, strict=True) if bit}
    for token, bit in zip(sentence.predicted.tokens, sentence.predicted_bits, strict=True):
        if bit:
            tags = (cut_label(gold[bit])[0], cut_label(token.tag)[0])
            if tags[0] != tags[1]:
                found.tags.note(tags, sentence)


def _compare_parents(sentence: ScoredSentence, found: Mistakes) -> None:
    """Attachment errors in disco-dop's sense: a right bracket below a parent of another label."""
    if sentence.counts.exact:
        return
    parents: dict[Bracket, str] = {}
    for node in constituents(sentence.gold_brackets):
        parents[node.label, node.mask] = node.parent_label
    for node in constituents(sentence.predicted_brackets):
        parent = parents.get((node.label, node.mask))
        if parent is not None and parent != node.parent_label:
            found.attachments.note((node.label, parent, node.parent_label), sentence)


def _compare_brackets(sentence: ScoredSentence, found: Mistakes) -> None:
    gold = _wrong(sentence.gold_brackets, sentence.predicted_brackets)
    predicted = _wrong(sentence.predicted_brackets, sentence.gold_brackets)
    for bracket in list(gold):  # the same yield, another label
        other = next((b for b in predicted if b[1] == bracket[1]), None)
        if other is not None:
            found.labels.note((bracket[0], other[0]), sentence)
            gold.remove(bracket)
            predicted.remove(other)
    pairs = sorted(
        ((g[1] & p[1]).bit_count() / (g[1] | p[1]).bit_count(), i, j)
        for i, g in enumerate(gold)
        for j, p in enumerate(predicted)
        if g[0] == p[0] and g[1] & p[1]
    )
    paired: tuple[set[int], set[int]] = (set(), set())
    for _, i, j in reversed(pairs):  # the same label, the closest yield first
        if i not in paired[0] and j not in paired[1]:
            paired[0].add(i)
            paired[1].add(j)
            found.yields.note((gold[i][0], yield_error(gold[i][1], predicted[j][1])), sentence)
    for brackets, done, kind in ((gold, paired[0], MISSING), (predicted, paired[1], SPURIOUS)):
        for k, (label, _) in enumerate(brackets):
            if k not in done:
                found.unpaired.note((label, kind), sentence)


def _wrong(ours: list[Bracket], theirs: list[Bracket]) -> list[Bracket]:
    """Our brackets that they do not have, parents first."""
    return [b for b, right in zip(ours, matched_flags(ours, theirs), strict=True) if not right][::-1]


def yield_error(gold: int, predicted: int) -> str:
    """How a predicted yield differs from the gold one; differences in gaps say more than those in length.

    >>> yield_error(0b101, 0b111), yield_error(0b11, 0b111), yield_error(0b101, 0b1001)
    ('gap missed', 'too long', 'gap misplaced')
    """
    gaps = gap_count(gold) > 0, gap_count(predicted) > 0
    if gaps[0] != gaps[1]:
        return GAP_MISSED if gaps[0] else GAP_INVENTED
    if gaps[0] and _gap_mask(gold) != _gap_mask(predicted):
        return GAP_MISPLACED
    if gold & ~predicted == 0:
        return TOO_LONG
    return TOO_SHORT if predicted & ~gold == 0 else SHIFTED


def _gap_mask(mask: int) -> int:
    """The tokens between the ends of a yield that are not in it."""
    inside = (1 << mask.bit_length()) - (mask & -mask)
    return inside & ~mask
