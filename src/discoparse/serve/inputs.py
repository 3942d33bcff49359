"""What requests bring along: sentences to parse, and trees as JSON or as the text of a treebank file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import decoded
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Passage, read_text
from discoparse.parser.tokens import unparsable
from discoparse.serve.bodies import Fields, clean, clean_list
from discoparse.serve.problems import Refusal
from discoparse.serve.settings import Settings
from discoparse.system.constraints import ConstraintError
from discoparse.tree import Tree
from discoparse.treebank import FORMATS, Reading, Report, damage_reported
from discoparse.treebank.formats import sniff
from discoparse.treebank.jsontrees import tree_from_json

_SAMPLE = 20_000  # characters by which a model is chosen


class Sentences:
    """The sentences of a request: `text`, one or many, or `tokens` of one sentence or many, maybe with `constraints`.

    `texts` says how many of them each text has, once they were read.
    """

    def __init__(self, fields: Fields, settings: Settings) -> None:
        self.settings = settings
        text, tokens = fields.any("text"), fields.any("tokens")
        self.lines = fields.flag("lines")
        constraints = fields.any("constraints")
        if (text is None) == (tokens is None):
            raise Refusal(
                422, "give either text (a string, or a list of them) or tokens (a list of words, or of lists)"
            )
        self.pieces: list[str] = []
        self.tokens: list[list[str]] | None = None
        if text is not None:
            if constraints is not None:
                raise Refusal(422, "constraints are about tokens: give the sentences as tokens, not as text")
            self.pieces = clean_list(text, "text") if isinstance(text, list) else [clean(text, "text")]
            self.characters = sum(map(len, self.pieces))
        else:
            self.tokens = _token_lists(tokens)
            self.characters = sum(len(word) + 1 for words in self.tokens for word in words)  # as text, with spaces
        if self.characters > settings.characters:
            raise Refusal(413, f"the text has {self.characters:,} characters, more than {settings.characters:,}")
        if max(len(self.pieces), len(self.tokens or ())) > settings.sentences:
            raise Refusal(422, f"there are more than {settings.sentences:,} sentences or texts: send less at once")
        self.constraints = self._one_for_each(constraints)
        self.texts: list[int] = []

    def _one_for_each(self, constraints: Any) -> list[Any]:
        count = len(self.tokens or ())
        if constraints is None:
            return [None] * count
        if isinstance(constraints, dict):
            constraints = [constraints]
        if not isinstance(constraints, list) or len(constraints) != count:
            raise Refusal(422, f"constraints must be a list with one entry for each of the {count} sentences, or null")
        return constraints

    def sample(self) -> str:
        """The beginning of the text."""
        parts = self.pieces or [" ".join(words) for words in self.tokens or ()]
        return " ".join(parts)[:_SAMPLE]

    def passages(self, parser: Parser) -> Iterator[Passage]:
        """The sentences for a parser, each within the limits; a `Refusal` otherwise."""
        for count, passage in enumerate(self._read(parser), 1):
            if count > self.settings.sentences:
                raise Refusal(422, f"the text has more than {self.settings.sentences:,} sentences: send less at once")
            if len(passage.words) > self.settings.tokens:
                raise Refusal(
                    422,
                    f"sentence {count} has {len(passage.words):,} tokens, more than {self.settings.tokens:,} "
                    "(the server's --max-tokens)",
                )
            yield passage

    def _read(self, parser: Parser) -> Iterator[Passage]:
        for piece in self.pieces:
            self.texts.append(0)
            for passage in read_text([piece], parser.language, lambda message: None, lines=self.lines):
                self.texts[-1] += 1
                yield passage
        for number, words in enumerate(self.tokens or (), 1):
            problem = unparsable(words)
            if problem is not None:
                raise Refusal(422, f"sentence {number} cannot be parsed: {problem}")
            try:
                limits = parser.limits(words, self.constraints[number - 1])
            except ConstraintError as error:
                message = f"the constraints of sentence {number} cannot be met: {error}"
                raise Refusal(422, message, pair=error.pair) from None
            yield Passage(words, limits=limits)


def _token_lists(value: object) -> list[list[str]]:
    """One list of words, or many."""
    if not isinstance(value, list) or not value:
        raise Refusal(422, "tokens must be a list of words, or a list of such lists, that is not empty")
    if isinstance(value[0], list):
        return [clean_list(words, f"tokens[{k}]") for k, words in enumerate(value)]
    return [clean_list(value, "tokens")]


def trees_of(fields: Fields, name: str, format: str, settings: Settings) -> list[Tree]:
    """The trees in a field: an object or a list of objects as `parse` gives them, or the text of a treebank file, whose
    format the field `format` names."""
    value, known = fields.any(name), fields.text(format)
    if known is not None and known not in FORMATS:
        raise Refusal(422, f"{format} must be one of {', '.join(FORMATS)}")
    if value is None:
        raise Refusal(422, f"{name} is missing: give trees as JSON objects, or the text of a treebank file")
    if isinstance(value, str):
        found = _read_treebank(clean(value, name), known, name)
    else:
        found = (_from_json(data, name) for data in (value if isinstance(value, list) else [value]))
    trees = list(islice(found, settings.sentences + 1))  # who sends too many does not wait until all are read
    if not trees:
        raise Refusal(422, f"{name} has no trees")
    if len(trees) > settings.sentences:
        raise Refusal(422, f"{name} has more than {settings.sentences:,} trees: send less at once")
    return trees


def _read_treebank(text: str, format: str | None, name: str) -> Iterator[Tree]:
    raw = text.encode("utf-8")
    try:
        entry = sniff(raw, name) if format is None else FORMATS[format]
    except UsageError:
        raise Refusal(422, f"cannot tell the format of {name}: name one of {', '.join(FORMATS)}") from None
    reading = Reading(name, "fail", Report())
    try:
        with damage_reported(reading), decoded(io.BufferedReader(io.BytesIO(raw)), "utf-8", entry.xml) as stream:
            yield from entry.read(stream, reading)
    except DiscoparseError as error:
        raise Refusal(422, str(error)) from None


def _from_json(data: object, name: str) -> Tree:
    tree, graph = tree_from_json(data)
    if tree is None or graph.defects:
        problem = graph.defects[0].message if graph.defects else "it has no words"
        raise Refusal(422, f"{name} is not a tree as parse gives them: {problem}")
    return tree


def check_size(tree: Tree, settings: Settings, number: int = 1) -> None:
    """Refuse to draw what would be too large."""
    nodes = sum(1 for _ in tree.preorder())
    if len(tree) > settings.tokens or nodes > settings.nodes:
        raise Refusal(
            422,
            f"tree {number} has {len(tree):,} tokens and {nodes:,} nodes; pictures are for at most "
            f"{settings.tokens:,} and {settings.nodes:,}",
        )
