"""Several texts, each with the parser of its language, or the sentences of a treebank, as one stream of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, tee
from operator import itemgetter
from typing import TYPE_CHECKING

from discoparse.parser.passages import Notice, Passage, read_lines, read_text
from discoparse.parser.tokens import unparsable
from discoparse.tree import Tree

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser


def parse_documents(
    documents: Iterable[tuple[Parser, Iterable[str]]],
    *,
    pretokenized: bool,
    lines: bool,
    notice: Notice,
    refuse: Notice,
    idle: Callable[[], bool] | None = None,
) -> Iterator[Tree | None]:
    """The trees of texts that come in pieces; with `pretokenized`, None for a line that is blank or refused.

    `notice` is told of sentences that were cut, `refuse` of lines that were refused; `idle` tells whether the next
    piece is yet to come, so that what is there had better be parsed.
    """

    def passages(parser: Parser, pieces: Iterable[str]) -> Iterator[Passage | None]:
        if pretokenized:
            return read_lines(pieces, refuse)
        return iter(read_text(pieces, parser.language, notice, lines=lines))

    for parser, group in groupby(documents, key=itemgetter(0)):
        yield from parser.parse_passages(chain.from_iterable(passages(*document) for document in group), idle)


def parse_treebank(parser: Parser, gold: Iterable[Tree], refuse: Notice) -> Iterator[Tree | None]:
    """The parser's trees for the sentences of a treebank, with their ids; None for one that cannot be parsed."""
    gold, sentences = tee(gold)
    found = parser.stream_tokens(tree.words for tree in sentences)
    for number, (tree, parsed) in enumerate(zip(gold, found, strict=True), 1):
        if parsed is None:
            refuse(f"sentence {number} is refused: {unparsable(tree.words)}")
        else:
            parsed.id = tree.id
        yield parsed
