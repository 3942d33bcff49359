"""Several texts, each with the parser of its language, or the sentences of a treebank, as one stream of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, tee
from operator import itemgetter
from typing import TYPE_CHECKING

from discoparse.errors import UsageError
from discoparse.parser.passages import Notice, Passage, read_lines, read_text
from discoparse.parser.tokens import unparsable
from discoparse.tree import Tree

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser


def parse_documents(
    documents: Iterable[tuple[Parser | None, Iterable[str]]],
    *,
    pretokenized: bool,
    lines: bool,
    notice: Notice,
    refuse: Notice,
    idle: Callable[[], bool] | None = None,
    all_there: bool = False,
) -> Iterator[Tree | None]:
    """The trees of texts that come in pieces; with `pretokenized`, None for a line that is blank or refused. A text
    that is blank needs no parser.

    `notice` is told of sentences that were cut, `refuse` of lines that were refused; `idle` tells whether the next
    piece has not arrived yet: then what is there is parsed without waiting for it. With `all_there`, as for files, no
    piece has to be waited for.
    """

    def passages(parser: Parser | None, pieces: Iterable[str]) -> Iterator[Passage | None]:
        if pretokenized:
            return read_lines(pieces, refuse)
        language = None if parser is None else parser.language
        return read_text(pieces, language, notice, lines=lines)

    for parser, group in groupby(documents, key=itemgetter(0)):
        found = chain.from_iterable(passages(*document) for document in group)
        yield from _no_trees(found) if parser is None else parser.parse_passages(found, idle, all_there=all_there)


def _no_trees(passages: Iterable[Passage | None]) -> Iterator[None]:
    """None for each blank line."""
    for passage in passages:
        if passage is not None:
            raise UsageError("too many blank lines come first to choose a model by the text: name it with --model")
        yield None


def parse_treebank(
    parser: Parser, gold: Iterable[Tree], refuse: Notice, *, all_there: bool = False
) -> Iterator[Tree | None]:
    """The parser's trees for the sentences of a treebank, with their ids; None for one that cannot be parsed."""
    gold, sentences = tee(gold)
    found = parser.stream_tokens((tree.words for tree in sentences), all_there=all_there)
    for number, (tree, parsed) in enumerate(zip(gold, found, strict=True), 1):
        if parsed is None:
            refuse(f"sentence {number} is refused: {unparsable(tree.words)}")
        else:
            parsed.id = tree.id
        yield parsed
