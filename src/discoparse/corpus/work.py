"""What a worker does: documents in, a file of rows out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from discoparse.corpus.documents import Document, Unread, read_documents
from discoparse.corpus.job import FOLDER, Job, Outcome
from discoparse.corpus.plan import Part
from discoparse.corpus.rows import Sentence
from discoparse.corpus.shards import Shard, open_shard
from discoparse.errors import DiscoparseError
from discoparse.files import CHECKSUMS
from discoparse.parser.finding import find_model, load
from discoparse.parser.jobs.deciding import decisions
from discoparse.parser.outline import Writer
from discoparse.parser.passages import Passage, passage_size, read_lines, read_text
from discoparse.parser.processes import keep_what_is_loaded
from discoparse.parser.windows import windows

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser

Result = TypeVar("Result")

# Characters of documents that are parsed together, and again one by one if that fails. Also the size of row groups.
_GROUP = 1 << 21


@dataclass(frozen=True)
class Failure:
    """Why something could not be done; a failure that others would have, too, ends the job."""

    message: str
    ends_job: bool = False


def attempted(what: Callable[[], Result]) -> Result | Failure:
    """What a call returns, or its failure as data, which any worker can send to any program."""
    try:
        return what()
    except OSError as error:  # a full disk, or an output that is gone: documents report theirs in another way
        place = f"{error.filename}: " if error.filename else ""
        return Failure(f"{place}{error.strerror or error}", ends_job=True)
    except DiscoparseError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}")


def model_seal(model: str) -> str:
    """What tells a model from others of its name: the digest of the checksums of its files."""
    return hashlib.sha256((find_model(model) / CHECKSUMS).read_bytes()).hexdigest()


@dataclass
class _Notes:
    """What is counted while a unit is done."""

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    characters: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)
    notices: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: _Notes) -> None:
        """Take over what was counted for some documents."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Worker:
    """Has the model in memory, and does one unit after another."""

    def __init__(self, job: Job) -> None:
        self.job = job
        if not Path(job.output, FOLDER).is_dir():
            raise DiscoparseError(f"{job.output} is not there: the output must be in a folder that all nodes share")
        if model_seal(job.options.model) != job.options.seal:
            raise DiscoparseError(f"the model {job.options.model} that is installed here is not the one of this job")
        self.parser: Parser = load(job.options.model, job.options.device, threads=1)
        self.writer = Writer(self.parser.vocabulary, self.parser.chains)
        keep_what_is_loaded()

    def run(self, unit: int) -> Outcome:
        """Do a unit: its file is complete and in place when this returns."""
        notes, job, began = _Notes(), self.job, time.process_time()
        path = job.shard(unit)
        documents = self._readable(job.units[unit].parts, notes)
        with open_shard(path, job.options.to, self.writer) as shard:
            for group in windows(documents, lambda document: len(document.text), _GROUP, slow_start=False):
                self._parse(group, shard, notes)
        spent = round(time.process_time() - began, 4)
        return Outcome(unit=unit, bytes=path.stat().st_size, cpu_seconds=spent, **vars(notes))

    def _readable(self, parts: Sequence[Part], notes: _Notes) -> Iterator[Document]:
        """The documents that can be read; the others are noted."""
        for document in read_documents(self.job.sources, parts, self.job.options.fields):
            if isinstance(document, Unread):
                notes.problems.append((document.place, document.problem))
            else:
                yield document

    def _parse(self, group: Sequence[Document], shard: Shard, notes: _Notes) -> None:
        """Parse documents together; if that fails, each for itself, so that a bad one costs only itself."""
        try:
            found = self._rows(group, shard)
        except Exception as error:  # whatever it is: the job goes on
            shard.drop()
            if len(group) > 1:
                for document in group:
                    self._parse([document], shard, notes)
                return
            found = _Notes(problems=[(group[0].id, f"it cannot be parsed: {type(error).__name__}: {error}")])
        shard.keep()
        notes.add(found)

    def _rows(self, group: Sequence[Document], shard: Shard) -> _Notes:
        """Add the rows of some documents to the file."""
        notes = _Notes(len(group), characters=sum(len(document.text) for document in group))
        most = self.parser.window_tokens
        for window in windows(self._sentences(group, notes), _size, most, slow_start=False):
            decided = decisions(self.parser, [sentence.passage.words for sentence in window])
            for sentence, found in zip(window, decided, strict=True):
                assert found is not None  # there are no empty sentences
                shard.add(sentence, found)
                notes.tokens += len(sentence.passage.words)
            notes.sentences += len(window)
        return notes

    def _sentences(self, group: Sequence[Document], notes: _Notes) -> Iterator[Sentence]:
        """The sentences of some documents."""
        options = self.job.options
        for document in group:
            cut = _Told(document.id, notes.problems if options.pretokenized else notes.notices)
            if options.pretokenized:
                found: Iterator[Passage | None] = read_lines([document.text], cut)
            else:
                found = read_text([document.text], self.parser.language, cut, lines=options.lines)
            passages = (passage for passage in found if passage is not None)
            for number, passage in enumerate(passages, 1):
                yield Sentence(document.id, number, passage)


def _size(sentence: Sentence) -> int:
    return passage_size(sentence.passage)


@dataclass(frozen=True)
class _Told:
    """Notes what is said about the sentences of a document."""

    document: str
    told: list[tuple[str, str]]

    def __call__(self, message: str) -> None:
        self.told.append((self.document, message))
