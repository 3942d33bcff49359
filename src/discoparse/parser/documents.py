"""Several texts, each with the parser of its language, or the sentences of a treebank, as one stream of trees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, tee
from operator import itemgetter
from typing import TYPE_CHECKING

from discoparse.errors import UsageError
from discoparse.parser.constraining import ConstraintLines
from discoparse.parser.doubt import Doubt
from discoparse.parser.familiarity import Familiarity
from discoparse.parser.passages import Notice, Passage, read_lines, read_text
from discoparse.parser.tokens import unparsable
from discoparse.system.constraints import ConstraintError, Constraints
from discoparse.tree import Tree

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser

KEPT = ("brackets", "tags")  # of the trees of a treebank, when its sentences are parsed again


@dataclass(frozen=True)
class Wish:
    """What the user wants to know of each sentence: by default the greedy tree."""

    constraints: ConstraintLines | None = None
    doubt: Doubt | None = None
    best: int | None = None  # that many of the most probable trees, with ids as 7.2
    notice: Notice | None = None  # told of a language that the model does not know

    def trees(
        self,
        parser: Parser,
        passages: Iterable[Passage | None],
        idle: Callable[[], bool] | None = None,
        *,
        all_there: bool = False,
        first: int = 1,
    ) -> Iterator[list[Tree]]:
        """The trees of each passage: one, or several, or none. `first` is the number of the first passage."""
        if self.notice is not None:
            name = None if parser.info is None else parser.info.name
            passages = Familiarity(parser.vocabulary, self.notice, name).watch(passages)
        if self.constraints is not None:
            passages = self.constraints.limit(passages, parser)
        if self.best is None:
            for tree in parser.parse_passages(passages, idle, self.doubt, all_there=all_there):
                yield [] if tree is None else [tree]
            return
        for number, trees in enumerate(parser.stream_best(passages, self.best, idle), first):
            yield ranked(number, trees)

    def no_trees(self, passages: Iterable[Passage | None]) -> Iterator[list[Tree]]:
        """No tree for each blank line of a text for which no model was chosen."""
        for passage in passages:
            if passage is not None:
                raise UsageError("too many blank lines come first to choose a model by the text: name it with --model")
            if self.constraints is not None:
                self.constraints.skip()
            yield []

    def finish(self) -> None:
        """Complain of what could not be used."""
        if self.constraints is not None:
            self.constraints.finish()


def ranked(number: int, trees: list[Tree]) -> list[Tree]:
    """The best trees of a sentence, with its number and their ranks as ids."""
    for rank, tree in enumerate(trees, 1):
        tree.id = f"{number}.{rank}"
        tree.comments.append(f"probability {tree.probability:#.4g}")
    return trees


def parse_documents(
    documents: Iterable[tuple[Parser | None, Iterable[str]]],
    *,
    pretokenized: bool,
    lines: bool,
    notice: Notice,
    refuse: Notice,
    idle: Callable[[], bool] | None = None,
    all_there: bool = False,
    wish: Wish | None = None,
) -> Iterator[Tree | None]:
    """The trees of texts that come in pieces; with `pretokenized`, None for a line that is blank or refused, and with
    constraints for a sentence that cannot be parsed within them. A text that is blank needs no parser.

    `notice` is told of sentences that were cut, `refuse` of lines that were refused; `idle` tells whether the next
    piece has not arrived yet: then what is there is parsed without waiting for it. With `all_there`, as for files, no
    piece has to be waited for.
    """

    wish = wish or Wish()

    def passages(parser: Parser | None, pieces: Iterable[str]) -> Iterator[Passage | None]:
        if pretokenized:
            return read_lines(pieces, refuse)
        language = None if parser is None else parser.language
        return read_text(pieces, language, notice, lines=lines)

    number = 1  # of the next sentence, whatever its parser
    for parser, group in groupby(documents, key=itemgetter(0)):
        found: Iterable[Passage | None] = chain.from_iterable(passages(*document) for document in group)
        if parser is None:
            groups = wish.no_trees(found)
        else:
            groups = wish.trees(parser, found, idle, all_there=all_there, first=number)
        for trees in groups:
            number += 1
            if not trees:
                yield None
            yield from trees
    wish.finish()


def parse_treebank(
    parser: Parser,
    gold: Iterable[Tree],
    refuse: Notice,
    *,
    keep: Collection[str] = (),
    wish: Wish | None = None,
    all_there: bool = False,
    first: int = 1,
) -> Iterator[Tree | None]:
    """The parser's trees for the sentences of a treebank, with their ids; None for one that cannot be parsed.

    `keep` has what stays of the trees, which may be partial (see `KEPT`); further constraints must not come on top.
    `first` is the number of the first sentence.
    """
    wish = wish or Wish()
    gold, sentences = tee(gold)
    found: Iterable[Passage | None] = (
        _passage(parser, number, tree, keep, refuse) for number, tree in enumerate(sentences, first)
    )
    every = zip(gold, wish.trees(parser, found, all_there=all_there), strict=True)
    for number, (tree, trees) in enumerate(every, first):
        for parsed in trees:
            parsed.id = own_id(parsed.id, tree.id, number)
        if not trees:
            yield None
        yield from trees
    wish.finish()


def own_id(given: str | None, sentence: str | None, number: int) -> str | None:
    """The id of a tree for a sentence of a treebank: the sentence's, with what the parser has `given` to each of the
    best trees of one sentence behind it. Where the treebank has no ids, these need the sentence's number.

    >>> own_id(None, "s7", 3), own_id(None, None, 3), own_id("12.2", "s7", 3), own_id("12.2", None, 3)
    ('s7', None, 's7.2', '3.2')
    """
    return sentence if given is None else f"{sentence or number}{given[given.index('.') :]}"


def _passage(parser: Parser, number: int, tree: Tree, keep: Collection[str], refuse: Notice) -> Passage | None:
    """The sentence of a tree, with what must stay of it."""
    problem = unparsable(tree.words)
    if problem is None:
        known = Constraints.from_tree(tree, tags="tags" in keep)
        known = known if "brackets" in keep else Constraints(tags=known.tags)
        try:
            return Passage(tree.words, limits=parser.limits(tree.words, known) if known else None)
        except ConstraintError as error:
            problem = str(error)
    refuse(f"sentence {number} is refused: {problem}")
    return None
