"""A component for spaCy pipelines: `nlp.add_pipe("discoparse")`. Needs spaCy (`pip install 'discoparse[spacy]'`).

spaCy finds it by the entry point `spacy_factories`, so users import nothing. As soon as it looks for any component, it
imports those of all installed packages. So importing this module must neither fail nor change anything: the attributes
of documents are defined when a component is created.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc, Span

from discoparse.errors import UsageError
from discoparse.integrations.constituents import parsed_tokens, register, shortened, store
from discoparse.parser import load
from discoparse.parser.finding import find_model
from discoparse.parser.tokens import unparsable
from discoparse.text.characters import treebank_form

if TYPE_CHECKING:
    from discoparse.parser import Parser


class Discoparse:
    """Parses the sentences of documents, with the tokens that they have."""

    def __init__(
        self,
        model: str,
        *,
        disable_tagger: bool = False,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        register()
        self.model = model
        self.disable_tagger = disable_tagger
        self.device = device
        self.threads = threads
        self._parser: Parser | None = None

    @property
    def parser(self) -> Parser:
        """The parser, which is loaded when it is first needed: `from_disk` may bring another one."""
        if self._parser is None:
            self._parser = load(self.model, self.device, self.threads)
        return self._parser

    def __call__(self, doc: Doc) -> Doc:
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse the sentences of several documents together, which is faster."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            self._parse(batch)
            yield from batch

    def _parse(self, documents: Sequence[Doc]) -> None:
        sentences, words = [], []
        for sentence in _sentences(documents):
            # A token of nothing but invisible characters has no form as in treebanks.
            forms = [treebank_form(token.text) or token.text for token in parsed_tokens(sentence)]
            problem = unparsable(forms)
            if problem is None:
                sentences.append(sentence)
                words.append(forms)
            else:
                warnings.warn(f"the sentence {shortened(sentence)} is not parsed: {problem}", stacklevel=4)
        for sentence, tree in zip(sentences, self.parser.parse_tokens(words), strict=True):
            store(sentence, tree)
            if not self.disable_tagger:
                for token, tag in zip(parsed_tokens(sentence), tree.tags, strict=True):
                    token.tag_ = tag

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model's files with the pipeline, so that it needs no installed model where it is loaded."""
        shutil.copytree(find_model(self.model), path, ignore=shutil.ignore_patterns("__*"), dirs_exist_ok=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Discoparse:
        """Use the model that was saved."""
        self.model, self._parser = str(path), None
        return self


def _sentences(documents: Iterable[Doc]) -> Iterator[Span]:
    """The sentences of documents, without those of nothing but white space."""
    for doc in documents:
        if not doc.has_annotation("SENT_START"):
            raise UsageError('the document has no sentences: nlp.add_pipe("sentencizer") before "discoparse"')
        yield from filter(parsed_tokens, doc.sents)


@Language.factory(
    "discoparse",
    assigns=["doc._.constituents", "span._.constituents", "token._.constituents", "token.tag"],
    requires=["doc.sents"],
    default_config={"model": None, "disable_tagger": False, "device": "auto", "threads": None},
)
def create_discoparse(
    nlp: Language, name: str, model: str | None, disable_tagger: bool, device: str, threads: int | None
) -> Discoparse:
    """The component of a pipeline; without a `model`, the one that is called like the pipeline's language."""
    return Discoparse(model or str(nlp.lang), disable_tagger=disable_tagger, device=device, threads=threads)
