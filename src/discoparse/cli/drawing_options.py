"""The options of all commands that draw trees."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from discoparse.drawing.options import ALIASES, EXTENSIONS, STYLES, Options
from discoparse.errors import UsageError
from discoparse.files.streams import STANDARD

Command = TypeVar("Command", bound=Callable[..., Any])
_FALLBACK = (100, 24)  # columns and lines where there is no terminal
_LATEX = ("tikz",)


class PictureKind(click.Choice):
    """A kind of picture, or another name for one; `more` are further formats of a command."""

    def __init__(self, more: tuple[str, ...] = ()) -> None:
        super().__init__([*EXTENSIONS, *more])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(ALIASES.get(value, value), param, ctx)


@dataclass(frozen=True)
class DrawingOptions:
    """How the user wants pictures to be drawn; `for_output` gives what `discoparse.drawing` needs to know."""

    options: Options
    width: int | None  # None: as wide as the terminal, where trees are text
    color: bool | None  # None: where the output is a terminal
    given: tuple[str, ...]  # the options that the user wrote

    def for_output(self, format: str, output: str) -> Options:
        """The options for one kind of picture; wrong use if some were given that it cannot have."""
        if format not in EXTENSIONS:
            if self.given:
                raise UsageError(f"{self.given[0]} is for pictures ({', '.join(EXTENSIONS)}), not for --to {format}")
            return self.options
        if self.options.standalone and format not in _LATEX:
            raise UsageError(f"--standalone is for --to {' and '.join(_LATEX)}")
        width = self.width
        if format == "tree" and width is None:
            width = shutil.get_terminal_size(_FALLBACK).columns
        return replace(self.options, width=width or None, color=_wants_color(self.color, output))


def drawing_options(command: Command) -> Command:
    """Adds the options of pictures; the command gets them as `drawing: DrawingOptions`."""

    @click.option(
        "--width",
        type=click.IntRange(min=0),
        help="Text: columns, 0 for any number [terminal's]. SVG, TikZ: scale to this many pixels, points.",
    )
    @click.option(
        "--style", type=click.Choice(STYLES), default=STYLES[0], show_default=True, help="Edges of SVG and TikZ."
    )
    @click.option("--functions", is_flag=True, help="Show edge labels (grammatical functions).")
    @click.option("--tags/--no-tags", default=True, help="Show part-of-speech tags.  [default: tags]")
    @click.option("--highlight/--no-highlight", default=True, help="Colour discontinuous nodes of SVG and TikZ.")
    @click.option("--color/--no-color", default=None, help="Colours in text [on a terminal, unless NO_COLOR is set].")
    @click.option("--standalone", is_flag=True, help="TikZ: a whole LaTeX document.")
    @functools.wraps(command)
    def wrapped(*args: Any, width: int | None, color: bool | None, **others: Any) -> Any:
        mine = {name: others.pop(name) for name in _NAMES if name in others}
        given = tuple(_flag(name) for name in (*mine, "width", "color") if _was_given(name))
        return command(*args, drawing=DrawingOptions(Options(**mine), width, color, given), **others)

    return wrapped  # type: ignore[return-value]


_NAMES = ("style", "functions", "tags", "highlight", "standalone")


def _was_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source is not click.core.ParameterSource.DEFAULT


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _wants_color(color: bool | None, output: str) -> bool:
    if color is not None:
        return color
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return output == STANDARD and sys.stdout.isatty() and not plain
