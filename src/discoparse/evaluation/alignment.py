"""Which prediction belongs to which gold sentence, and which predicted token to which gold token."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.errors import DiscoparseError
from discoparse.evaluation.brackets import cut_label
from discoparse.evaluation.parameters import Parameters
from discoparse.tree import Tree


def kept_tokens(gold: Tree, parameters: Parameters) -> list[bool]:
    """Which tokens are scored: the gold tree alone decides."""
    labels, words = parameters.delete_labels, parameters.delete_words
    kept = [cut_label(t.tag)[0] not in labels and t.word not in words for t in gold.tokens]
    if parameters.delete_root_tokens:
        for child in gold.root.children:
            if isinstance(child, int):
                kept[child] = False
    return kept


def align_tokens(gold: Tree, predicted: Tree, kept: Sequence[bool], parameters: Parameters) -> list[int] | None:
    """The gold index of every predicted token, or None where the words differ.

    Predictions may lack tokens that are not scored anyway (punctuation), but nothing else.
    """
    equal = parameters.equal_words
    found: list[int] = []
    at = 0
    for word in predicted.words:
        word = equal.get(word, word)
        while at < len(kept) and equal.get(gold.tokens[at].word, gold.tokens[at].word) != word:
            at += 1
        if at == len(kept):
            return None
        found.append(at)
        at += 1
    missing = set(range(len(kept))).difference(found)
    return None if any(kept[i] for i in missing) else found


def words_agree(gold: Tree, predicted: Tree, parameters: Parameters) -> bool:
    """Whether the prediction is one for this sentence."""
    if [t.word for t in gold.tokens] == [t.word for t in predicted.tokens]:
        return True
    return align_tokens(gold, predicted, kept_tokens(gold, parameters), parameters) is not None


def pair_sentences(
    gold: Sequence[Tree], predicted: Sequence[Tree], parameters: Parameters, allow_missing: bool = False
) -> list[tuple[Tree, Tree | None]]:
    """Every gold tree with its prediction; None where it is missing, which is an error unless `allow_missing`.

    Trees are paired by their ids where every tree has one and each prediction's is a gold sentence's,
    otherwise in order. With `allow_missing`, each prediction without an id is matched to
    the next gold sentence with the same words. Otherwise words are not compared here but by `align_tokens`.
    """
    by_id = _pair_by_id(gold, predicted)
    if by_id is not None and (allow_missing or len(gold) == len(predicted)):
        return by_id
    if len(gold) == len(predicted):
        return list(zip(gold, predicted, strict=True))
    if allow_missing and len(predicted) < len(gold):
        return _pair_by_words(gold, predicted, parameters)
    raise DiscoparseError(_unequal_numbers(gold, predicted, by_id, parameters))


def _pair_by_id(gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[tuple[Tree, Tree | None]] | None:
    """Pairs with equal ids, or None where ids do not identify the predictions."""
    ids = {tree.id: tree for tree in predicted}
    gold_ids = {tree.id for tree in gold}
    unique = len(ids) == len(predicted) and len(gold_ids) == len(gold)
    if not predicted or not unique or None in ids or not ids.keys() <= gold_ids:
        return None
    return [(tree, ids.get(tree.id)) for tree in gold]


def _pair_by_words(
    gold: Sequence[Tree], predicted: Sequence[Tree], parameters: Parameters
) -> list[tuple[Tree, Tree | None]]:
    pairs: list[tuple[Tree, Tree | None]] = []
    waiting = 0
    for tree in gold:
        if waiting < len(predicted) and words_agree(tree, predicted[waiting], parameters):
            pairs.append((tree, predicted[waiting]))
            waiting += 1
        else:
            pairs.append((tree, None))
    if waiting < len(predicted):
        raise DiscoparseError(
            f"predicted {name_sentence(waiting, predicted[waiting])} has the words of no gold sentence after "
            f"those of the prediction before it: {_excerpt(predicted[waiting].words)}"
        )
    return pairs


def _unequal_numbers(
    gold: Sequence[Tree],
    predicted: Sequence[Tree],
    by_id: list[tuple[Tree, Tree | None]] | None,
    parameters: Parameters,
) -> str:
    """The message for different numbers of sentences: it names the first sentence that differs."""
    numbers = f"there are {len(gold)} gold and {len(predicted)} predicted sentences"
    if by_id is not None:
        k = next(i for i, (_, tree) in enumerate(by_id) if tree is None)
    else:
        agree = (words_agree(g, p, parameters) for g, p in zip(gold, predicted, strict=False))
        k = next((i for i, same in enumerate(agree) if not same), min(len(gold), len(predicted)))
    if k >= len(gold):
        extra = f"predicted {name_sentence(k, predicted[k])}, {_excerpt(predicted[k].words)},"
        return f"{numbers}: {extra} is one too many"
    advice = "; --allow-missing scores missing predictions as empty" if len(predicted) < len(gold) else ""
    place = f"{name_sentence(k, gold[k])}, {_excerpt(gold[k].words)},"
    if by_id is not None or k >= len(predicted):
        return f"{numbers}: gold {place} has no prediction{advice}"
    other = _excerpt(predicted[k].words)
    return f"{numbers}: gold {place} is the first that differs: predicted {other}{advice}"


def different_words(index: int, gold: Tree, predicted: Tree, parameters: Parameters) -> str:
    """The message for a pair whose words differ: it names the sentence and the first word that differs."""
    equal, kept = parameters.equal_words, kept_tokens(gold, parameters)
    theirs, at = predicted.words, 0
    for k, word in enumerate(gold.words):
        if at < len(theirs) and equal.get(word, word) == equal.get(theirs[at], theirs[at]):
            at += 1
        elif kept[k]:
            found = f"the prediction has {theirs[at]!r}" if at < len(theirs) else "the prediction ends"
            return f"{name_sentence(index, gold)}: where the gold has {word!r} (word {k + 1}), {found}"
    found = f"{theirs[at]!r} (word {at + 1})" if at < len(theirs) else "other words"
    return f"{name_sentence(index, gold)}: the prediction has {found}, which the gold sentence lacks there"


def name_sentence(index: int, tree: Tree) -> str:
    """The name of a sentence in messages: its number, counted from 1, and its id if it has one."""
    number = f"sentence {index + 1}"
    return number if tree.id is None or tree.id == str(index + 1) else f"{number} (id {tree.id})"


def _excerpt(words: Sequence[str], most: int = 8) -> str:
    return repr(" ".join(words[:most]) + (" …" if len(words) > most else ""))
