"""What workers are given: parts of texts, of lines or of treebanks, and how these are cut from streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from discoparse.parser.passages import (
    Notice,
    Passage,
    WholeLine,
    read_segment,
    read_whole_lines,
    text_segments,
    whole_lines,
)
from discoparse.parser.tokens import unparsable
from discoparse.parser.windows import windows
from discoparse.text.split import Segment
from discoparse.tree import Tree

# Characters, or tokens, of a task: enough that batches are full and what a task costs by itself does not count.
TASK_CHARACTERS = 40_000
TASK_TOKENS = 8_000


@dataclass(frozen=True)
class SegmentTask:
    """Segments of raw text, for the parser of this number; `first` is the beginning of what that parser gets."""

    parser: int
    first: bool
    segments: list[Segment]

    def passages(self, language: str | None, notice: Notice, refuse: Notice) -> list[Passage | None]:
        """The sentences; `notice` is told of those that were cut, `refuse` of those that cannot be parsed."""
        return [passage for segment in self.segments for passage in read_segment(segment, language, notice)]

    def __str__(self) -> str:
        start, (last, text) = self.segments[0][0], self.segments[-1]
        return f"characters {start:,} to {last + len(text):,} of the text"


@dataclass(frozen=True)
class LineTask:
    """Lines of tokens; `number` and `offset` are those of the first."""

    parser: int
    first: bool
    number: int
    offset: int
    lines: list[WholeLine]

    def passages(self, language: str | None, notice: Notice, refuse: Notice) -> list[Passage | None]:
        """As of a `SegmentTask`; None for a line that is blank or refused."""
        return list(read_whole_lines(self.lines, refuse, self.number, self.offset))

    def __str__(self) -> str:
        return f"lines {self.number:,} to {self.number + len(self.lines) - 1:,} of the text"


@dataclass(frozen=True)
class WordTask:
    """Sentences as lists of words; `number` is that of the first."""

    parser: int
    first: bool
    number: int
    sentences: list[Sequence[str]]

    def passages(self, language: str | None, notice: Notice, refuse: Notice) -> list[Passage | None]:
        """As of a `SegmentTask`; None for a sentence that cannot be parsed."""
        return [Passage(list(words)) if unparsable(words) is None else None for words in self.sentences]

    def __str__(self) -> str:
        return f"sentences {self.number:,} to {self.number + len(self.sentences) - 1:,}"


@dataclass(frozen=True)
class TreeTask:
    """Trees of a treebank, whose sentences are parsed again; `number` is that of the first."""

    parser: int
    first: bool
    number: int
    trees: list[Tree]

    def __str__(self) -> str:
        return f"sentences {self.number:,} to {self.number + len(self.trees) - 1:,} of the treebank"


Task = SegmentTask | LineTask | WordTask | TreeTask
Idle = Callable[[], bool]


def segment_tasks(
    parser: int,
    pieces: Iterable[str],
    language: str | None,
    notice: Notice,
    *,
    lines: bool = False,
    idle: Idle | None = None,
    all_there: bool = True,
) -> Iterator[SegmentTask]:
    """Raw text that comes in pieces, for workers to split into sentences. `notice` is told of words that were cut."""
    found = text_segments(pieces, language, notice, lines=lines)
    sized = windows(found, lambda segment: len(segment[1]), TASK_CHARACTERS, idle, slow_start=not all_there)
    return (SegmentTask(parser, not k, window) for k, window in enumerate(sized))


def line_tasks(
    parser: int, pieces: Iterable[str], *, idle: Idle | None = None, all_there: bool = True
) -> Iterator[LineTask]:
    """Text with a sentence of tokens on each line."""
    number, offset = 1, 0
    sized = windows(whole_lines(pieces), lambda line: line[1], TASK_CHARACTERS, idle, slow_start=not all_there)
    for window in sized:
        yield LineTask(parser, number == 1, number, offset, window)
        number += len(window)
        offset += sum(length for _, length in window)


def word_tasks(parser: int, sentences: Iterable[Sequence[str]], *, all_there: bool = False) -> Iterator[WordTask]:
    """Sentences as lists of words."""
    number = 1
    for window in windows(sentences, len, TASK_TOKENS, slow_start=not all_there):
        yield WordTask(parser, number == 1, number, window)
        number += len(window)


def tree_tasks(parser: int, trees: Iterable[Tree], *, all_there: bool = True) -> Iterator[TreeTask]:
    """The trees of a treebank."""
    number = 1
    for window in windows(trees, len, TASK_TOKENS, slow_start=not all_there):
        yield TreeTask(parser, number == 1, number, window)
        number += len(window)
