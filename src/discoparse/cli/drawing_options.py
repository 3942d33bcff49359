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

from discoparse.cli.options import Names, Number
from discoparse.drawing.options import ALIASES, EXTENSIONS, HIDEABLE, LATEX, STYLES, Options
from discoparse.errors import UsageError
from discoparse.files.streams import STANDARD

Command = TypeVar("Command", bound=Callable[..., Any])
_FALLBACK = (100, 24)  # columns and lines where there is no terminal


class PictureKind(click.Choice):  # type: ignore[type-arg]  # generic in recent versions of click only
    """A kind of picture, or another name for one; `more` are further formats of a command."""

    def __init__(self, more: tuple[str, ...] = ()) -> None:
        super().__init__([*EXTENSIONS, *more])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(ALIASES.get(value, value), param, ctx)


class Labels(click.ParamType):  # type: ignore[type-arg]
    """Labels of nodes, separated by commas."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        return tuple(part for part in map(str.strip, value.split(",")) if part)


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
            for option in self.given:
                kinds = ", ".join(_ONLY_FOR.get(option, EXTENSIONS))
                raise UsageError(f"{option} is for pictures ({kinds}), not for --to {format}")
            return self.options
        for option in self.given:
            if format not in _ONLY_FOR.get(option, (format,)):
                raise UsageError(f"{option} is for --to {' and '.join(_ONLY_FOR[option])}, not for {format}")
        width = self.width
        if format == "tree" and width is None:
            width = shutil.get_terminal_size(_FALLBACK).columns
        return replace(self.options, width=width or None, color=_wants_color(self.color, output))


def drawing_options(command: Command) -> Command:
    """Adds the options of pictures; the command gets them as `drawing: DrawingOptions`."""

    @click.option(
        "--width",
        type=click.IntRange(min=0),
        help="Continue wider pictures in panels below: columns of text [the terminal's; 0: any number], pixels of SVG, "
        "PNG and PDF, points of TikZ [any number].",
    )
    @click.option("--scale", type=Number(min=0, min_open=True), default=1.0, help="Enlarge or shrink pictures.")
    @click.option("--style", type=click.Choice(STYLES), default=STYLES[0], show_default=True, help="Edges of pictures.")
    @click.option("--roof", type=Labels(), help="Draw phrases with these labels as triangles, as in NP,PP.")
    @click.option("--hide", type=Names(HIDEABLE), help=f"Leave out any of {', '.join(HIDEABLE)}.")
    @click.option(
        "--subtree", metavar="NODE", help="Draw one node: NP, the second NP (NP:2), or the smallest over tokens 3-5,8."
    )
    @click.option("--surface", is_flag=True, help="Words as written in running text: kennarinn for kennar$ $inn.")
    @click.option("--gloss", metavar="FILE", help="Glosses under the words: a line for each sentence that is drawn.")
    @click.option("--gloss-from", metavar="NAME", help="Glosses from the treebank: lemma, morph or a feature.")
    @click.option("--functions", is_flag=True, help="Show edge labels (grammatical functions).")
    @click.option("--tags/--no-tags", default=True, help="Show part-of-speech tags.  [default: tags]")
    @click.option("--highlight/--no-highlight", default=True, help="Colour discontinuous nodes of pictures.")
    @click.option("--color/--no-color", default=None, help="Colours in text [on a terminal, unless NO_COLOR is set].")
    @click.option("--font", metavar="NAME", help="Font of SVG, PNG and PDF [Helvetica or one like it].")
    @click.option("--dpi", type=click.IntRange(10, 2400), default=300, show_default=True, help="Resolution of PNG.")
    @click.option("--standalone", is_flag=True, help="TikZ, forest: a whole LaTeX document.")
    @functools.wraps(command)
    def wrapped(*args: Any, width: int | None, color: bool | None, gloss: str | None, **others: Any) -> Any:
        mine = {name: others.pop(name) for name in _NAMES}
        from_treebank = others.pop("gloss_from")
        if gloss is not None and from_treebank is not None:
            raise UsageError("give --gloss or --gloss-from, not both")
        given = tuple(_flag(name) for name in (*_NAMES, "width", "color", "gloss", "gloss_from") if _was_given(name))
        mine |= {name: mine[name] or () for name in ("roof", "hide")}
        options = Options(**mine, gloss=from_treebank, gloss_file=gloss)
        return command(*args, drawing=DrawingOptions(options, width, color, given), **others)

    return wrapped  # type: ignore[return-value]


# The options that are fields of `Options` as they are.
_NAMES = (
    *("scale", "style", "roof", "hide", "subtree", "surface", "functions", "tags", "highlight"),
    *("font", "dpi", "standalone"),
)
_ONLY_FOR = {
    "--standalone": LATEX,
    "--dpi": ("png",),
    "--font": ("svg", "png", "pdf"),
    "--width": ("tree", "svg", "tikz", "png", "pdf"),
    "--scale": ("svg", "tikz", "forest", "png", "pdf"),
}


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
