"""Scores of function tags (the SBJ of NP-SBJ, or the edge labels of a format) on correct constituents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discoparse.evaluation.brackets import Bracket, cut_label, function_tags
from discoparse.evaluation.counts import ScoredSentence, f1_score
from discoparse.evaluation.parameters import Parameters
from discoparse.tree import Tree, gap_count

Function = tuple[Bracket, str]


class FunctionScores(NamedTuple):
    """F1 of the function tags, None if no prediction has any; `disc` goes with the discontinuous score."""

    all: float | None
    disc: float | None


def score_functions(sentences: Sequence[ScoredSentence], parameters: Parameters) -> FunctionScores:
    """The scores over some sentences.

    As in the reference, a tag counts where its constituent is a bracket of the other tree, or its token has
    the other tree's part of speech; the discontinuous score has fewer constituents but the same tokens.
    """
    if not any(s.predicted is not None and _has_functions(s.predicted) for s in sentences):
        return FunctionScores(None, None)
    counts = np.array([_count(sentence, parameters) for sentence in sentences])  # [sentence, all or disc, count]
    return FunctionScores(*(f1_score(*total) for total in counts.sum(axis=0).tolist()))


def _has_functions(tree: Tree) -> bool:
    return any(function_tags(t.edge) or cut_label(t.tag)[1] for t in tree.tokens) or any(
        function_tags(n.edge) or cut_label(n.label)[1] for n in tree.preorder()
    )


def _count(sentence: ScoredSentence, parameters: Parameters) -> list[tuple[int, int, int]]:
    """Matched, gold and predicted functions of a sentence, for the whole and for the discontinuous score."""
    if sentence.predicted is None:
        return [(0, 0, 0), (0, 0, 0)]
    gold_tags = _tags(sentence.gold, sentence.gold_bits)
    predicted_tags = _tags(sentence.predicted, sentence.predicted_bits)
    found = []
    for disc in (False, True):
        brackets = [
            {b for b in side if not disc or gap_count(b[1])}
            for side in (sentence.gold_brackets, sentence.predicted_brackets)
        ]
        gold = Counter(_functions(sentence.gold, sentence.gold_bits, brackets[1], predicted_tags, parameters))
        predicted = Counter(_functions(sentence.predicted, sentence.predicted_bits, brackets[0], gold_tags, parameters))
        found.append((sum((gold & predicted).values()), sum(gold.values()), sum(predicted.values())))
    return found


def _tags(tree: Tree, bits: Sequence[int]) -> dict[int, str]:
    return {bit: cut_label(token.tag)[0] for token, bit in zip(tree.tokens, bits, strict=True) if bit}


def _functions(
    tree: Tree, bits: Sequence[int], others: Collection[Bracket], tags: dict[int, str], parameters: Parameters
) -> Iterator[Function]:
    """The functions of one tree's constituents and tokens that the other tree has too."""
    equal = parameters.equal_labels
    for token, bit in zip(tree.tokens, bits, strict=True):
        category, functions = cut_label(token.tag)
        bracket = (equal.get(category, category), bit)
        if bit and (bracket in others or tags[bit] == bracket[0]):
            yield from ((bracket, function) for function in function_tags(token.edge) or functions)
    masks: dict[object, int] = {}
    for node in tree.postorder():
        mask = 0
        for child in node.children:
            mask |= bits[child] if isinstance(child, int) else masks[child]
        masks[node] = mask
        category, functions = cut_label(node.label)
        bracket = (category if node is tree.root else equal.get(category, category), mask)
        if bracket in others:
            yield from ((bracket, function) for function in function_tags(node.edge) or functions)
