"""What workers are given: parts of texts, of lines or of treebanks, and how these are cut from streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from discoparse.parser.passages import (
    Notice,
    Passage,
    WholeLine,
    passage_size,
    read_segment,
    read_whole_lines,
    text_segments,
    whole_lines,
)
from discoparse.parser.tokens import unparsable
from discoparse.parser.windows import windows
from discoparse.text.split import Segment
from discoparse.tree import Tree

TASK_TOKENS = 6_000  # of a task, about: enough that batches are full and what a task costs by itself does not count
_TOKEN_CHARACTERS = 5  # of a token, about, with a space


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
    """Sentences as lists of words; `number` is that of the first. Those of a treebank have `ids`, or None for each."""

    parser: int
    first: bool
    number: int
    sentences: Sequence[Sequence[str]]
    ids: list[str | None] | None = None

    def passages(self, language: str | None, notice: Notice, refuse: Notice) -> list[Passage | None]:
        """As of a `SegmentTask`; None for a sentence that cannot be parsed."""
        found: list[Passage | None] = []
        for number, words in enumerate(self.sentences, self.number):
            problem = unparsable(words)
            if problem is not None and self.ids is not None:
                refuse(f"sentence {number} is refused: {problem}")
            found.append(Passage(list(words)) if problem is None else None)
        return found

    def __str__(self) -> str:
        return f"sentences {self.number:,} to {self.number + len(self.sentences) - 1:,}"


@dataclass(frozen=True)
class TreeTask:
    """Trees of a treebank of which something is kept when they are parsed again; `number` is that of the first."""

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
    size: int = TASK_TOKENS,
) -> Iterator[SegmentTask]:
    """Raw text that comes in pieces, for workers to split into sentences. `notice` is told of words that were cut."""
    found = text_segments(pieces, language, notice, lines=lines)
    sized = windows(found, lambda segment: len(segment[1]), size * _TOKEN_CHARACTERS, idle, slow_start=not all_there)
    return (SegmentTask(parser, not k, window) for k, window in enumerate(sized))


def line_tasks(
    parser: int,
    pieces: Iterable[str],
    *,
    idle: Idle | None = None,
    all_there: bool = True,
    size: int = TASK_TOKENS,
) -> Iterator[LineTask]:
    """Text with a sentence of tokens on each line."""
    number, offset = 1, 0
    sized = windows(whole_lines(pieces), lambda line: line[1], size * _TOKEN_CHARACTERS, idle, slow_start=not all_there)
    for window in sized:
        yield LineTask(parser, number == 1, number, offset, window)
        number += len(window)
        offset += sum(length for _, length in window)


def word_tasks(
    parser: int, sentences: Iterable[Sequence[str]], *, all_there: bool = True, size: int = TASK_TOKENS
) -> Iterator[WordTask]:
    """Sentences as lists of words."""
    number = 1
    for window in windows(sentences, _size_of_words, size, slow_start=not all_there):
        yield WordTask(parser, number == 1, number, window)
        number += len(window)


def sentence_tasks(
    parser: int, trees: Iterable[Tree], *, all_there: bool = True, size: int = TASK_TOKENS
) -> Iterator[WordTask]:
    """The sentences of a treebank."""
    for task in tree_tasks(parser, trees, all_there=all_there, size=size):
        words, ids = [tree.words for tree in task.trees], [tree.id for tree in task.trees]
        yield WordTask(parser, task.first, task.number, words, ids)


def tree_tasks(
    parser: int, trees: Iterable[Tree], *, all_there: bool = True, size: int = TASK_TOKENS
) -> Iterator[TreeTask]:
    """The trees of a treebank, of which something is kept."""
    number = 1
    for window in windows(trees, lambda tree: _size_of_words(tree.words), size, slow_start=not all_there):
        yield TreeTask(parser, number == 1, number, window)
        number += len(window)


def _size_of_words(words: Sequence[str]) -> int:
    """As `passage_size`: very long words count more."""
    return passage_size(Passage(list(words)))
