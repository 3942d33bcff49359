"""What the subcommands share: options, how treebanks are read and written, and what is told about it."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from discoparse.errors import Problem, UsageError
from discoparse.parser.finding import has_namesake
from discoparse.tree import Tree
from discoparse.treebank import ON_ERROR, READABLE, WRITABLE, Report, read_trees, write_trees

SHOWN_WARNINGS = 10

Command = TypeVar("Command", bound=Callable[..., Any])


def tell(message: object) -> None:
    """A line on standard error."""
    click.echo(f"discoparse: {message}", err=True)


def tell_warnings(warnings: list[str]) -> None:
    """The first of many warnings, and how many more there are."""
    for warning in warnings[:SHOWN_WARNINGS]:
        tell(f"warning: {warning}")
    if len(warnings) > SHOWN_WARNINGS:
        tell(f"warning: … and {len(warnings) - SHOWN_WARNINGS} more like these")


def tell_namesake(ctx: click.Context, parameter: click.Parameter, model: str | None) -> str | None:
    """For parameters that name a model: say so if a folder of the user's might be meant."""
    if model is not None and has_namesake(model):
        tell(f"{model} is the name of an installed model; for the one in your folder, write ./{model}")
    return model


def tell_namesakes(ctx: click.Context, parameter: click.Parameter, models: tuple[str, ...]) -> tuple[str, ...]:
    """The same for parameters that name several models."""
    for model in models:
        tell_namesake(ctx, parameter, model)
    return models


def with_progress(trees: Iterable[Tree]) -> Iterator[Tree]:
    """The same trees; while they pass, a bar grows on standard error if that is a terminal."""
    from tqdm import tqdm  # here, for the commands that end before a bar would show

    yield from tqdm(trees, unit=" trees", disable=None, leave=False)


def require_folder(output: str) -> None:
    """Refuse an output file in a folder that does not exist, before any work is done."""
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise UsageError(f"the folder of the output {output} does not exist: make it first")


def check_language(language: str | None) -> None:
    """Refuse what is not a code of a language."""
    if language is not None and not re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)*", language):
        raise UsageError(f"--language {language}: expected a code of two letters, as in nl, de, en, is")


class Names(click.ParamType):  # type: ignore[type-arg]  # generic in recent versions of click only
    """Some of the names in a list, separated by commas."""

    name = "list"

    def __init__(self, known: Iterable[str]) -> None:
        self.known = list(known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if isinstance(value, list):
            return value
        names = [name.strip() for name in value.split(",") if name.strip()]
        for name in names:
            if name not in self.known:
                self.fail(f"{name!r} is not one of {', '.join(self.known)}", param, ctx)
        if not names:
            self.fail(f"name at least one of {', '.join(self.known)}", param, ctx)
        return names


class Number(click.FloatRange):
    """A number in a range. NaN is within every range to click, and infinity within those without an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number that makes sense here", param, ctx)
        return number


device_option = click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
settings_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Change a setting of the recipe."
)

seed_option = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)


def card_options(thing: str, subject: str) -> Callable[[Command], Command]:
    """For commands that make a `thing` with a card: its name, its licence, and facts about a `subject`."""

    def add(command: Command) -> Command:
        for option in (
            click.option(
                "--card",
                type=click.Path(path_type=Path),
                metavar="FACTS.json",
                help=f"What to say on the card about {subject}; --name, --language and --licence override it.",
            ),
            click.option("--licence", help=f"Licence of the {thing}, for its card."),
            click.option("--name", help=f"Name of the {thing} [that of --output]."),
        ):  # the last one is shown first
            command = option(command)
        return command

    return add


def _tell_problem(problem: Problem) -> None:
    tell(problem)


@dataclass
class ReadingOptions:
    """How the user wants treebanks to be read; `trees` opens them."""

    format: str | None = None
    encoding: str | None = None
    on_error: str = "fail"
    lemmas: bool = False
    report: Report = field(default_factory=lambda: Report(on_problem=_tell_problem))

    def trees(self, paths: str | Iterable[str]) -> Iterator[Tree]:
        """The trees of files, directories or `-`."""
        return read_trees(
            paths,
            self.format,
            encoding=self.encoding,
            on_error=self.on_error,
            report=self.report,
            lemmas=self.lemmas,
        )


@dataclass
class WritingOptions:
    """How the user wants treebanks to be written; `write` does it."""

    format: str | None = None
    lemmas: bool = False
    ids: bool = False
    report: Report = field(default_factory=Report)

    def write(self, trees: Iterable[Tree], path: str) -> int:
        """Write trees to a file or `-`; their number."""
        return write_trees(trees, path, self.format, report=self.report, lemmas=self.lemmas, ids=self.ids)


def reading_options(command: Command) -> Command:
    """Adds --from, --encoding, --on-error and --lemmas; the command gets them as `reading: ReadingOptions`.

    When the command ends, what was left out is told once on standard error.
    """

    @click.option("--from", "from_", type=click.Choice(list(READABLE)), help="Format of the input [from its name].")
    @click.option("--encoding", help="Encoding of the input [UTF-8; XML: as the file declares].")
    @click.option(
        "--on-error",
        type=click.Choice(ON_ERROR),
        default="fail",
        show_default=True,
        help="A bad sentence ends the run, is left out, or is repaired where possible.",
    )
    @click.option("--lemmas", is_flag=True, help="Leaves of bracketed input are word-lemma.")
    @functools.wraps(command)
    def wrapped(
        *args: Any, from_: str | None, encoding: str | None, on_error: str, lemmas: bool, **options: Any
    ) -> Any:
        reading = ReadingOptions(from_, encoding, on_error, lemmas)
        try:
            return command(*args, reading=reading, **options)
        finally:
            for message in reading.report.messages():
                tell(message)

    return wrapped  # type: ignore[return-value]


def writing_options(command: Command) -> Command:
    """Adds --to, --write-lemmas and --ids; the command gets them as `writing: WritingOptions`.

    When the command ends, what the format cannot hold is told once on standard error.
    """

    @click.option("--to", type=click.Choice(WRITABLE), help="Format of the output [from its name].")
    @click.option("--write-lemmas", is_flag=True, help="Write leaves of bracketed output as word-lemma.")
    @click.option("--ids", is_flag=True, help="Write sentence ids into bracketed output as (ID …).")
    @functools.wraps(command)
    def wrapped(*args: Any, to: str | None, write_lemmas: bool, ids: bool, **options: Any) -> Any:
        writing = WritingOptions(to, write_lemmas, ids)
        try:
            return command(*args, writing=writing, **options)
        finally:
            for message in writing.report.messages():
                tell(message)

    return wrapped  # type: ignore[return-value]
