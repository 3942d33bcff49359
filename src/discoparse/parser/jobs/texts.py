"""Texts and treebanks parsed by workers: from a task to the text of its trees, or to the trees.

`TextWork` says what is wanted. Workers parse, or with a GPU one process decides for all of them (see `Decider`); they
number sentences, and write the formats that can be written in parts. What they have to tell comes with the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

from discoparse.neural.codes import Chains
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.documents import Wish, own_id, parse_treebank
from discoparse.parser.doubt import Doubt, Screen
from discoparse.parser.finding import load_several
from discoparse.parser.jobs.deciding import decisions, packed_decisions
from discoparse.parser.jobs.pool import Pool
from discoparse.parser.jobs.tasks import Task, TreeTask, WordTask
from discoparse.parser.outline import Decisions, Writer
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Notice, Passage
from discoparse.parser.windows import WINDOW_TOKENS, windows
from discoparse.parser.writing import NO_TREE, numbered
from discoparse.tree import Tree
from discoparse.treebank import Report, format_trees
from discoparse.treebank.capacity import LOST_IDS

# Formats of which each worker writes its part, and the formats with one tree on a line that they are made of.
_LINES = {"discbracket": "discbracket", "jsonl": "jsonl", "json": "jsonl"}
IN_PARTS = tuple(_LINES)
_WINDOW_TOKENS = WINDOW_TOKENS["cuda"]  # that are decided together
_DECIDED_DEPTH = 4  # tasks of a worker where another process decides: some are read or written, some wait


@dataclass(frozen=True)
class Names:
    """What is needed of a model to write down what it decided: all that workers have if another process decides."""

    name: str | None
    language: str | None
    vocabulary: Vocabulary

    @classmethod
    def of(cls, parser: Parser) -> Names:
        return cls(None if parser.info is None else parser.info.name, parser.language, parser.vocabulary)

    @cached_property
    def chains(self) -> Chains:
        """The label chains by their codes."""
        return Chains(self.vocabulary)


Model = str | tuple[str, ...] | Parser | Names  # by name; several that parse together; loaded; only its names


@dataclass(frozen=True)
class TextWork:
    """What workers make of texts. `format` is one of `IN_PARTS`, or None for trees."""

    models: Sequence[Model]
    format: str | None = None
    device: str = "cpu"
    threads: int | None = 1
    doubt: Doubt | None = None
    best: int | None = None
    keep: Sequence[str] = ()
    agreement: float | None = None
    screen: tuple[float, bool] | None = None  # the arguments of a `Screen`
    familiar: bool = False  # tell if the text is in a language that the model does not know

    @property
    def greedy(self) -> bool:
        """Whether one greedy tree for each sentence is all that is wanted."""
        return self.doubt is None and self.best is None and not self.keep and self.agreement is None

    def prepare(self) -> TextJob:
        models = [
            load_several(model, self.device, self.threads) if isinstance(model, str | tuple) else model
            for model in self.models
        ]
        return TextJob(self, models)


@dataclass
class Part:
    """What came of a task: its part of the output or its trees, and what to tell the user."""

    count: int = 0  # results
    text: str = ""  # of formats in parts, for `json` without what is around and between the parts
    trees: list[Tree | None] = field(default_factory=list)
    told: list[tuple[bool, str]] = field(default_factory=list)  # messages, and whether something was refused
    report: Report = field(default_factory=Report)
    agreed: tuple[int, int] = (0, 0)  # trees kept, and left out, about which several models disagree
    screened: tuple[int, int] = (0, 0)  # trees seen, and doubtful ones


@dataclass
class _State:
    """A task that was begun."""

    task: Task
    part: Part
    passages: list[Passage | None] = field(default_factory=list)
    decided: Iterable[Decisions | None] | None = None  # where no trees are needed
    trees: list[Tree | None] = field(default_factory=list)


class TextJob:
    """What a worker does with the tasks of a text. It asks for the number of the first result of each task."""

    def __init__(self, work: TextWork, models: Sequence[Parser | Names]) -> None:
        self.work = work
        self.models = models
        self.direct = work.greedy and work.screen is None and work.format is not None
        self._writers = [Writer(model.vocabulary, model.chains) for model in models]

    def begin(self, task: Task) -> tuple[Any, _State]:
        """Read and parse; or only read, and ask for decisions."""
        model, part = self.models[task.parser], Part()
        state = _State(task, part)
        if isinstance(task, TreeTask):
            assert isinstance(model, Parser)
            state.trees = list(self._treebank(model, task, part))
            part.count = len(state.trees)
            return (0, part.count, None), state
        state.passages = task.passages(
            model.language, lambda message: part.told.append((False, message)), lambda m: part.told.append((True, m))
        )
        self._watch(model, state)
        words = [[] if passage is None else passage.words for passage in state.passages]
        sentences = part.count = len(state.passages)
        if isinstance(model, Names):
            return (task.parser, part.count, words), state
        if self.direct:
            state.decided = decisions(model, words)
        else:
            state.trees = list(self._trees(model, state))
            part.count = len(state.trees)
        return (sentences, part.count, None), state

    def finish(self, state: _State, answer: tuple[int, int, Any]) -> Part:
        """Number what was parsed and write it down; the answer has how many sentences and results came before, and
        the decisions if they were asked for."""
        sentences, results, decided = answer
        work, part = self.work, state.part
        if decided is not None:
            state.decided = decided
        if state.decided is not None and self.direct:
            part.text = self._lines(state, results)
            return part
        if state.decided is not None:
            state.trees = list(self._named(([tree] for tree in self._built(state)), state.task))
        trees: Iterable[Tree | None] = state.trees
        if not _has_ids(state.task):
            if work.best is not None:
                _renumber(state.trees, sentences)
            trees = trees if work.format is None else numbered(trees, work.format, results + 1)
        if work.format is None:
            part.trees = list(trees)
            return part
        screen = None if work.screen is None else Screen(*work.screen)
        part.text = self._written(trees if screen is None else screen(trees), part)
        if screen is not None:
            part.screened = screen.seen, screen.doubtful
        return part

    def _watch(self, model: Parser | Names, state: _State) -> None:
        """Tell if the text is in a language that the model does not know, by its beginning."""
        if self.work.familiar and state.task.first:
            from discoparse.parser.familiarity import Familiarity

            names, told = model if isinstance(model, Names) else Names.of(model), state.part.told
            watch = Familiarity(model.vocabulary, lambda message: told.append((False, message)), names.name)
            list(watch.watch(state.passages))

    # -- trees ----------------------------------------------------------------------------------------------------

    def _treebank(self, parser: Parser, task: TreeTask, part: Part) -> Iterator[Tree | None]:
        watched = (lambda message: part.told.append((False, message))) if task.first and self.work.familiar else None
        wish = Wish(doubt=self.work.doubt, best=self.work.best, notice=watched)
        found = parse_treebank(
            parser,
            task.trees,
            lambda message: part.told.append((True, message)),
            keep=self.work.keep,
            wish=wish,
            all_there=True,
            first=task.number,
        )
        return self._agreeing(parser, found, part)

    def _trees(self, parser: Parser, state: _State) -> Iterator[Tree | None]:
        wish = Wish(doubt=self.work.doubt, best=self.work.best)
        found = self._named(wish.trees(parser, state.passages, all_there=True), state.task)
        return self._agreeing(parser, found, state.part)

    def _named(self, groups: Iterable[Sequence[Tree | None]], task: Task) -> Iterator[Tree | None]:
        """The trees of each sentence, None where there are none; those of a treebank with its ids."""
        ids, first = (task.ids, task.number) if isinstance(task, WordTask) else (None, 1)
        for k, trees in enumerate(groups):
            for tree in trees:
                if tree is not None and ids is not None:
                    tree.id = own_id(tree.id, ids[k], first + k)
                yield tree
            if not trees:
                yield None

    def _agreeing(self, parser: Parser, trees: Iterable[Tree | None], part: Part) -> Iterator[Tree | None]:
        """The trees; with several models, only those that they agree about."""
        if self.work.agreement is None:
            yield from trees
            return
        from discoparse.parser.ensemble import Ensemble

        assert isinstance(parser, Ensemble)
        kept = left_out = 0
        for tree, agreement in parser.with_agreement(tree for tree in trees if tree is not None):
            if agreement >= self.work.agreement:
                kept += 1
                yield tree
            else:
                left_out += 1
        part.agreed = kept, left_out

    def _built(self, state: _State) -> list[Tree | None]:
        """The trees of decisions that another process made."""
        writer = self._writers[state.task.parser]
        assert state.decided is not None
        return [
            None if passage is None or decided is None else writer.tree(passage, decided)
            for passage, decided in zip(state.passages, state.decided, strict=True)
        ]

    # -- text -----------------------------------------------------------------------------------------------------

    def _lines(self, state: _State, before: int) -> str:
        """The text of decisions, without building trees."""
        format, report = self.work.format, state.part.report
        writer = self._writers[state.task.parser]
        lines = []
        assert format is not None
        assert state.decided is not None
        ids = state.task.ids if isinstance(state.task, WordTask) else None
        for k, (passage, decided) in enumerate(zip(state.passages, state.decided, strict=True)):
            if passage is None or decided is None:
                lines.append(NO_TREE[_LINES[format]])
            elif format == "discbracket":
                if ids is not None and ids[k] is not None:
                    report.not_written("discbracket", LOST_IDS)
                lines.append(writer.discbracket(passage.words, decided, report))
            else:
                lines.append(writer.json_line(passage, decided, str(before + 1 + k) if ids is None else ids[k]))
        return _joined(lines, format)

    def _written(self, trees: Iterable[Tree | None], part: Part) -> str:
        """The text of trees."""
        format = self.work.format
        assert format is not None
        name = _LINES[format]
        lines = ["".join(format_trees([tree], name, part.report)) if tree else NO_TREE[name] for tree in trees]
        return _joined(lines, format)


def _joined(lines: list[str], format: str) -> str:
    """Lines with their ends as the part of a file."""
    return ",\n".join(line[:-1] for line in lines) if format == "json" else "".join(lines)


def _has_ids(task: Task) -> bool:
    """Whether the sentences are a treebank's, which has ids for them or none."""
    return isinstance(task, TreeTask) or (isinstance(task, WordTask) and task.ids is not None)


def _renumber(trees: Iterable[Tree | None], before: int) -> None:
    """Ids such as 7.2, counted from the first sentence of a task, as counted from the first of all."""
    for tree in trees:
        if tree is not None and tree.id is not None:
            number, _, rank = tree.id.partition(".")
            tree.id = f"{before + int(number)}.{rank}"


# -- in the program itself ------------------------------------------------------------------------------------------


def parse_parts(
    work: TextWork,
    tasks: Iterable[Task],
    jobs: int,
    *,
    notice: Notice,
    refuse: Notice,
    idle: Callable[[], bool] | None = None,
) -> Iterator[Part]:
    """What comes of the tasks, in order, from so many workers, which end with the iterator; one is this process.

    Where models of the work are on a GPU, this process decides with them, and workers read and write.
    """
    on_gpu = [model for model in work.models if isinstance(model, Parser) and model.runs_on_gpu]
    numbering: Numbering = Decider(on_gpu) if on_gpu else Numbering()
    if on_gpu and jobs > 1:
        work = replace(work, models=[Names.of(model) for model in on_gpu])
    with ExitStack() as stack:
        if jobs == 1:
            parts = _alone(work.prepare(), tasks)
        else:
            pool = stack.enter_context(Pool(jobs, work, notice))
            parts = pool.run(tasks, numbering.answer, idle, depth=_DECIDED_DEPTH if on_gpu else 2)
        for part in parts:
            for refused, message in part.told:
                (refuse if refused else notice)(message)
            yield part


def _alone(job: TextJob, tasks: Iterable[Task]) -> Iterator[Part]:
    """The work of a pool, done by this process."""
    numbering = Numbering()
    for task in tasks:
        asked, state = job.begin(task)
        ((_, answer),) = numbering.answer([asked])
        yield job.finish(state, answer)


class Numbering:
    """Answers workers: how many sentences and results came before theirs."""

    def __init__(self) -> None:
        self.sentences = self.results = 0

    def before(self, sentences: int, results: int) -> tuple[int, int]:
        """How many came before the next so many."""
        found = self.sentences, self.results
        self.sentences += sentences
        self.results += results
        return found

    def answer(self, asked: Sequence[tuple[int, int, Any]]) -> Iterator[tuple[int, Any]]:
        """For `Pool.run`."""
        for k, (sentences, results, _) in enumerate(asked):
            yield k, (*self.before(sentences, results), None)


class Decider(Numbering):
    """Also decides, for workers that only read and write: the one process that uses the GPU."""

    def __init__(self, parsers: Sequence[Parser]) -> None:
        super().__init__()
        self.parsers = parsers

    def answer(self, asked: Sequence[tuple[int, int, Any]]) -> Iterator[tuple[int, Any]]:
        """For `Pool.run`: tasks are decided together as far as it pays."""
        due = [(k, number, words, self.before(count, count)) for k, (number, count, words) in enumerate(asked)]
        for number, of_one in groupby(due, key=itemgetter(1)):
            for window in windows(of_one, lambda item: sum(map(len, item[2])), _WINDOW_TOKENS, slow_start=False):
                found = packed_decisions(self.parsers[number], [words for item in window for words in item[2]])
                parts = found.parts([len(item[2]) for item in window])
                for (k, _, _, before), part in zip(window, parts, strict=True):
                    yield k, (*before, part)
