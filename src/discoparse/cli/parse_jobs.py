"""`discoparse parse` in parts, by this process or by several (`--jobs`): text is handed out, output put together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from discoparse.cli.trust_options import TrustOptions
from discoparse.errors import UsageError
from discoparse.model.info import read_info
from discoparse.neural.device import device_name
from discoparse.parser.doubt import Screen
from discoparse.parser.finding import find_model, load, load_several
from discoparse.parser.jobs.tasks import TASK_TOKENS, Task, line_tasks, segment_tasks, sentence_tasks, tree_tasks
from discoparse.parser.jobs.texts import IN_PARTS, Model, Part, TextWork, parse_parts
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Notice
from discoparse.parser.processes import keep_what_is_loaded
from discoparse.tree import Tree
from discoparse.treebank import Report

ModelName = str | tuple[str, ...]  # one model, or several that parse together


@dataclass
class Jobs:
    """How several processes parse, and what becomes of what they have to tell."""

    number: int
    format: str
    device: str
    threads: int
    trust: TrustOptions
    agreement: float | None
    notice: Notice
    refuse: Notice
    report: Report
    screen: Screen | None
    kept: int = 0  # trees that several models agree about
    left_out: int = 0

    def check(self) -> None:
        """Refuse what cannot be done in several processes."""
        if self.trust.constraints is not None:
            raise UsageError(
                "--constraints belong to sentences by their number, which workers do not know: leave out --jobs"
            )

    @property
    def in_parts(self) -> bool:
        """Whether workers write the output, and not only make the trees."""
        return self.format in IN_PARTS

    def texts(
        self,
        documents: Sequence[tuple[ModelName | None, Iterable[str]]],
        *,
        pretokenized: bool,
        lines: bool,
        idle: Callable[[], bool] | None,
    ) -> Generator[Part, None, None]:
        """Parse texts that come in pieces, each with the model of this name; None is for a blank text."""
        names = list(dict.fromkeys(name for name, _ in documents if name is not None))
        models = self._models(names)
        there, size = idle is None, self._size(models)

        def tasks(name: ModelName | None, pieces: Iterable[str]) -> Iterator[Task]:
            number = 0 if name is None else names.index(name)
            if pretokenized:
                return line_tasks(number, pieces, idle=idle, all_there=there, size=size)
            language = _language(models[number])
            return segment_tasks(
                number, pieces, language, self.notice, lines=lines, idle=idle, all_there=there, size=size
            )

        return self._parts(models, chain.from_iterable(tasks(*document) for document in documents), idle)

    def treebank(self, name: ModelName, trees: Iterable[Tree], all_there: bool) -> Generator[Part, None, None]:
        """Parse the sentences of a treebank again."""
        cut = tree_tasks if self.trust.keep else sentence_tasks
        models = self._models([name])
        return self._parts(models, cut(0, trees, all_there=all_there, size=self._size(models)), None)

    def _size(self, models: Sequence[Model]) -> int:
        """How many tokens a task has: this process parses as many together as it pays to sort by length."""
        if self.number > 1:
            return TASK_TOKENS
        return max(model.window_tokens for model in models if isinstance(model, Parser))

    def _models(self, names: Sequence[ModelName]) -> list[Model]:
        """The models for the workers to load; loaded if this process parses, or decides for others with a GPU."""
        if self.number == 1:
            loaded: list[Model] = [load_several(name, self.device, self.threads) for name in names]
            keep_what_is_loaded()
            return loaded
        where = device_name(self.device)
        if where == "cpu":
            return list(names)
        if any(isinstance(name, tuple) for name in names) or self.trust.doubt or self.trust.best or self.trust.keep:
            raise UsageError(
                "with a GPU, --jobs parses greedily with one model, and without constraints: leave it out, or choose "
                "--device cpu"
            )
        return [load(name, where, self.threads) for name in names if isinstance(name, str)]

    def _parts(
        self, models: Sequence[Model], tasks: Iterable[Task], idle: Callable[[], bool] | None
    ) -> Generator[Part, None, None]:
        work = TextWork(
            models,
            self.format if self.in_parts else None,
            threads=self.threads,
            doubt=self.trust.doubt,
            best=self.trust.best,
            keep=self.trust.keep or (),
            agreement=self.agreement,
            screen=(self.screen.least, self.screen.mark) if self.screen is not None else None,
            familiar=True,
        )
        for part in parse_parts(work, tasks, self.number, notice=self.notice, refuse=self.refuse, idle=idle):
            self.report.add(part.report)
            self.kept, self.left_out = self.kept + part.agreed[0], self.left_out + part.agreed[1]
            if self.screen is not None:
                self.screen.seen += part.screened[0]
                self.screen.doubtful += part.screened[1]
            yield part

    def pieces(self, parts: Iterable[Part]) -> Iterator[str]:
        """The text of the output from its parts."""
        if self.format != "json":
            yield from (part.text for part in parts)
            return
        between = "[\n"
        for part in parts:
            if part.count:
                yield between + part.text
                between = ",\n"
        yield "[]\n" if between == "[\n" else "\n]\n"


def _language(model: Model) -> str | None:
    """The language of a model, or of several that parse together."""
    if isinstance(model, Parser):
        return model.language
    names = [model] if isinstance(model, str) else list(model) if isinstance(model, tuple) else []
    languages = (read_info(find_model(name)).language for name in names)
    return next((language for language in languages if language is not None), None)
