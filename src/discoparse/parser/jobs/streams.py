"""`Parser.stream` and `Parser.stream_tokens` with several jobs: the trees come back from worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from discoparse.parser.jobs.tasks import Task, segment_tasks, word_tasks
from discoparse.parser.jobs.texts import TextWork, parse_parts
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Notice
from discoparse.parser.tokens import word_lists
from discoparse.tree import Tree


def stream_text(parser: Parser, pieces: Iterable[str], lines: bool, notice: Notice, jobs: int) -> Iterator[Tree]:
    """The trees of a text that comes in pieces."""
    tasks = segment_tasks(0, pieces, parser.language, notice, lines=lines, all_there=False)
    return (tree for tree in _trees(parser, tasks, notice, jobs) if tree is not None)


def stream_words(
    parser: Parser, sentences: Iterable[Sequence[str]], all_there: bool, notice: Notice, jobs: int
) -> Iterator[Tree | None]:
    """A tree for each sentence; None for one that cannot be parsed."""
    return _trees(parser, word_tasks(0, word_lists(sentences), all_there=all_there), notice, jobs)


def _trees(parser: Parser, tasks: Iterable[Task], notice: Notice, jobs: int) -> Iterator[Tree | None]:
    for part in parse_parts(TextWork([parser]), tasks, jobs, notice=notice, refuse=notice):
        yield from part.trees
