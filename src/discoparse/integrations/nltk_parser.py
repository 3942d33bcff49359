"""The parser as NLTK's `ParserI`. Needs NLTK (`pip install 'discoparse[nltk]'`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nltk.parse.api import ParserI
from nltk.tree import Tree as NltkTree

from discoparse.parser import Parser, load


class NltkParser(ParserI):
    """A model as a parser of NLTK: sentences are lists of words, trees are `nltk.Tree`.

    Leaves know their `position`, so that discontinuous constituents can be told: see `discoparse.treebank.nltk_trees`.
    There is one tree for each sentence, the best that the parser found.
    """

    def __init__(self, model: str | Path | Parser, device: str = "auto", threads: int | None = None) -> None:
        self.parser = model if isinstance(model, Parser) else load(model, device, threads)

    def parse(self, sent: Sequence[str], *args: Any, **kwargs: Any) -> Iterator[NltkTree]:
        """The tree of a sentence."""
        for tree in self.parser.parse_tokens([sent]):
            yield tree.to_nltk()

    def parse_sents(self, sents: Iterable[Sequence[str]], *args: Any, **kwargs: Any) -> Iterator[Iterator[NltkTree]]:
        """The trees of many sentences, which are parsed together; none for a sentence that cannot be parsed."""
        for tree in self.parser.stream_tokens(sents):
            yield iter([] if tree is None else [tree.to_nltk()])

    def parse_text(self, text: str) -> Iterator[NltkTree]:
        """The trees of the sentences of a raw text."""
        for tree in self.parser.stream([text]):
            yield tree.to_nltk()
