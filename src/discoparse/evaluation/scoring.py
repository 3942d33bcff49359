"""Scores of predicted trees against gold trees, the same figures as disco-dop's evaluator prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from discoparse.errors import DiscoparseError
from discoparse.evaluation.alignment import align_tokens, different_words, kept_tokens, pair_sentences
from discoparse.evaluation.brackets import Bracket, Bracketer, cut_label
from discoparse.evaluation.counts import Counts, ScoredSentence
from discoparse.evaluation.parameters import Parameters, standard_parameters
from discoparse.evaluation.result import Result
from discoparse.tree import Tree, gap_count


def evaluate(
    gold: Iterable[Tree],
    predicted: Iterable[Tree],
    parameters: Parameters | None = None,
    *,
    allow_missing: bool = False,
) -> Result:
    """Score `predicted` against `gold`, by default with the standard parameters of the field.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> gold = parse_tree("(S (VP (WP 0=what) (VB 3=do)) (MD 1=should) (PRP 2=I))")
    >>> flat = parse_tree("(S (WP 0=what) (VB 3=do) (MD 1=should) (PRP 2=I))")
    >>> scores = evaluate([gold], [flat]).all
    >>> scores.precision, scores.recall, scores.disc.recall, scores.disc.precision
    (100.0, 50.0, 0.0, None)
    """
    parameters = parameters or standard_parameters()
    pairs = pair_sentences(list(gold), list(predicted), parameters, allow_missing)
    bracketer = Bracketer(parameters)
    scored = [score_pair(k, g, p, parameters, bracketer) for k, (g, p) in enumerate(pairs)]
    return Result(scored, parameters)


def score_pair(
    index: int, gold: Tree, predicted: Tree | None, parameters: Parameters, bracketer: Bracketer
) -> ScoredSentence:
    """Score one sentence. A missing prediction has no brackets, and all its tags count as wrong."""
    kept = kept_tokens(gold, parameters)
    bits, bit = [0] * len(kept), 1
    for k, keep in enumerate(kept):
        if keep:
            bits[k] = bit
            bit <<= 1
    gold_brackets = bracketer(gold, bits)
    predicted_brackets: list[Bracket] = []
    predicted_bits: Sequence[int] = bits
    correct_tags = 0
    if predicted is not None:
        aligned: Sequence[int] = range(len(kept))
        if [t.word for t in gold.tokens] != [t.word for t in predicted.tokens]:
            found = align_tokens(gold, predicted, kept, parameters)
            if found is None:
                raise DiscoparseError(different_words(index, gold, predicted, parameters))
            aligned = found
            predicted_bits = [bits[k] for k in aligned]
        predicted_brackets = bracketer(predicted, predicted_bits)
        for k, token in zip(aligned, predicted.tokens, strict=True):
            if kept[k]:
                tag, other = gold.tokens[k].tag, token.tag
                correct_tags += tag == other or cut_label(tag)[0] == cut_label(other)[0]
    length = len(kept)
    if parameters.delete_labels_for_length:
        ignored = parameters.delete_labels_for_length
        length = sum(cut_label(t.tag)[0] not in ignored for t in gold.tokens)
    counts = count(gold_brackets, predicted_brackets, length, sum(kept), correct_tags)
    return ScoredSentence(index, gold, predicted, bits, predicted_bits, gold_brackets, predicted_brackets, counts)


def count(gold: list[Bracket], predicted: list[Bracket], length: int, tokens: int, correct_tags: int) -> Counts:
    """Count the brackets of one sentence, all and discontinuous only."""
    disc_gold = [bracket for bracket in gold if gap_count(bracket[1])]
    disc_predicted = [bracket for bracket in predicted if gap_count(bracket[1])]
    matched, gold_distinct, predicted_distinct, exact = match(gold, predicted)
    any_disc = bool(disc_gold or disc_predicted)
    disc = match(disc_gold, disc_predicted) if any_disc else (0, 0, 0, False)
    return Counts(
        gold=len(gold),
        predicted=len(predicted),
        matched=matched,
        gold_distinct=gold_distinct,
        predicted_distinct=predicted_distinct,
        exact=int(exact),
        disc_gold=len(disc_gold),
        disc_predicted=len(disc_predicted),
        disc_matched=disc[0],
        disc_gold_distinct=disc[1],
        disc_predicted_distinct=disc[2],
        disc_exact=int(disc[3]),
        disc_sentences=int(any_disc),
        tokens=tokens,
        correct_tags=correct_tags,
        length=length,
    )


def match(gold: list[Bracket], predicted: list[Bracket]) -> tuple[int, int, int, bool]:
    """Matches of two multisets, their numbers of distinct members, and whether they are equal.

    >>> match([("NP", 1), ("NP", 1)], [("NP", 1), ("VP", 2)])
    (1, 1, 2, False)
    """
    ours, theirs = set(gold), set(predicted)
    if len(ours) == len(gold) and len(theirs) == len(predicted):  # nearly always: nothing is doubled
        matched = len(ours & theirs)
    else:
        matched = sum((Counter(gold) & Counter(predicted)).values())
    return matched, len(ours), len(theirs), matched == len(gold) == len(predicted)
