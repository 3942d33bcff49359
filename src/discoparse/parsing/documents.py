"""Several texts, each with the parser of its language, as one stream of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from discoparse.parsing.passages import Notice, Passage, read_lines, read_text
from discoparse.tree import Tree

if TYPE_CHECKING:
    from discoparse.parser import Parser


def parse_documents(
    documents: Iterable[tuple[Parser, Iterable[str]]],
    *,
    pretokenized: bool,
    lines: bool,
    notice: Notice,
    refuse: Notice,
) -> Iterator[Tree | None]:
    """The trees of texts that come in pieces; with `pretokenized`, None for a line that is blank or refused.

    `notice` is told of sentences that were cut, `refuse` of lines that were refused.
    """

    def passages(parser: Parser, pieces: Iterable[str]) -> Iterator[Passage | None]:
        if pretokenized:
            return read_lines(pieces, refuse)
        return iter(read_text(pieces, parser.language, notice, lines=lines))

    for parser, group in groupby(documents, key=itemgetter(0)):
        yield from parser.parse_passages(chain.from_iterable(passages(*document) for document in group))
