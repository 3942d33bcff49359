"""What the endpoints answer, as data: trees, derivations, scores. All of it is computed outside of the event loop."""

from __future__ import annotations

from typing import Any

import orjson

from discoparse.drawing.compare import compare_trees
from discoparse.errors import DiscoparseError
from discoparse.evaluation import CLASSIFIERS, break_down, evaluate, find_mistakes
from discoparse.evaluation.counts import ScoredSentence, f1_score
from discoparse.parser.explaining import explain
from discoparse.parser.outline import Writer
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Passage
from discoparse.parser.writing import numbered
from discoparse.serve.bodies import Fields
from discoparse.serve.inputs import Sentences, trees_of
from discoparse.serve.lockstep_queue import Greedy
from discoparse.serve.problems import Refusal
from discoparse.serve.settings import MISTAKES, Settings
from discoparse.system.derivation_table import ROWS, derivation_json
from discoparse.tree import Node, Tree


def as_json(data: Any) -> bytes:
    """Compact, in UTF-8."""
    return orjson.dumps(data)


def parsed(model: str, trees: list[Tree], sentences: Sentences) -> bytes:
    """The answer to a request for trees, which are as `parse --to json` writes them."""
    return _with_trees(model, [tree.to_json() for tree in numbered(trees, "json") if tree], sentences)


def decided(model: str, writer: Writer, found: list[Greedy], sentences: Sentences) -> bytes:
    """The same from greedy decisions, without making trees first: that would take a tenth of the time of a request."""
    return _with_trees(model, [writer.json_data(*one, str(number)) for number, one in enumerate(found, 1)], sentences)


def _with_trees(model: str, trees: list[dict[str, Any]], sentences: Sentences) -> bytes:
    data: dict[str, Any] = {"model": model, "trees": trees}
    if len(sentences.pieces) > 1:
        data["texts"] = sentences.texts
    return as_json(data)


def explained(model: str, parser: Parser, passage: Passage, settings: Settings) -> bytes:
    """The derivation of a sentence by a parser, with the tree that it leads to."""
    _check_length(len(passage.words), settings)
    data, tree = explain(parser, passage.words, passage.limits)
    for token, span in zip(tree.tokens, passage.spans or (), strict=False):
        token.span = span
    tree.text = passage.text
    return as_json({"model": model, **data, "tree": tree.to_json()})


def derived(fields: Fields, settings: Settings) -> bytes:
    """The canonical derivation of a tree, as `derive --json` prints it."""
    system = fields.choice("system", list(ROWS), "set")
    sentence = fields.number("sentence", (1, settings.sentences)) or 1
    trees = trees_of(fields, "tree", "from", settings)
    fields.end()
    if sentence > len(trees):
        raise Refusal(422, f"there is no sentence {sentence}: there are {len(trees)} trees")
    tree = trees[sentence - 1]
    _check_length(len(tree), settings)
    return as_json(derivation_json(tree, system))


def _check_length(tokens: int, settings: Settings) -> None:
    if tokens > settings.derived:
        raise Refusal(
            422, f"the sentence has {tokens:,} tokens; derivations are shown for at most {settings.derived:,}"
        )


def evaluated(fields: Fields, settings: Settings) -> bytes:
    """The scores of predicted against gold trees, as `evaluate --json` prints them; with `sentences`, each of them with
    its trees and their differences."""
    gold = trees_of(fields, "gold", "from", settings)
    predicted_format = "predicted_from" if "predicted_from" in fields else "from"
    predicted = trees_of(fields, "predicted", predicted_format, settings)
    by, errors = fields.texts("by") or [], fields.number("errors", MISTAKES)
    detailed, missing = fields.flag("sentences"), fields.flag("allow_missing")
    fields.any("predicted_from")
    fields.end()
    for name in by:
        if name not in CLASSIFIERS:
            raise Refusal(422, f"by must have only {', '.join(CLASSIFIERS)}")
    try:
        result = evaluate(gold, predicted, allow_missing=missing)
    except DiscoparseError as error:
        raise Refusal(422, str(error)) from None
    data = result.to_json()
    if by:
        data["by"] = {name: [group.to_json() for group in break_down(result, name)] for name in by}
    if errors:
        data["errors"] = find_mistakes(result).to_json(errors)
    if detailed:
        data["sentences"] = [_sentence(sentence) for sentence in result.sentences]
    return as_json(data)


def _sentence(sentence: ScoredSentence) -> dict[str, Any]:
    """A sentence with its counts and both trees; `marks` tells which nodes and tokens differ, by their numbers."""
    c, gold, found = sentence.counts, sentence.gold, sentence.predicted
    data: dict[str, Any] = {
        "number": sentence.number + 1,
        "exact": bool(c.exact),
        "discontinuous": gold.is_discontinuous or (found is not None and found.is_discontinuous),
        "f1": f1_score(c.matched, c.gold, c.predicted),
        "counts": {"gold": c.gold, "predicted": c.predicted, "matched": c.matched},
        "gold": gold.to_json(),
        "predicted": None if found is None else found.to_json(),
    }
    if found is not None and len(found) == len(gold):
        marks = compare_trees(gold, found)
        data["marks"] = {"gold": _marks(gold, marks.gold), "predicted": _marks(found, marks.predicted)}
    return data


def _marks(tree: Tree, marks: dict[Node | int, str]) -> dict[str, dict[str, str]]:
    numbers = {node: str(k) for k, node in enumerate(tree.preorder())}
    return {
        "nodes": {numbers[element]: mark for element, mark in marks.items() if not isinstance(element, int)},
        "tokens": {str(element): mark for element, mark in marks.items() if isinstance(element, int)},
    }
