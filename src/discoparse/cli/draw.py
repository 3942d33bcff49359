"""`discoparse draw`: pictures of trees, or of gold against predicted trees."""

from __future__ import annotations

import os
import shutil
import sys

import click

from discoparse.cli.options import ReadingOptions, reading_options, require_folder
from discoparse.drawing.pages import EXTENSIONS, Options, draw_pages, format_of, write_files
from discoparse.drawing.selection import Selection
from discoparse.drawing.sheet import STYLES
from discoparse.errors import UsageError
from discoparse.files.streams import STANDARD, open_for_writing

_FALLBACK = (100, 24)  # columns and lines where there is no terminal


@click.command()
@click.argument("file")
@click.argument("file2", required=False)
@click.option("--to", type=click.Choice(list(EXTENSIONS)), help="Kind of picture [by the name of the output, or text].")
@click.option("-o", "--output", default=STANDARD, help="File, or folder/ for a file per sentence [standard output].")
@click.option("--sentence", type=click.IntRange(min=1), help="Draw only this sentence; the first is 1.")
@click.option("--sentences", metavar="RANGE", help="Draw these sentences, as in 2-5,9 or 7-.")
@click.option(
    "--width",
    type=click.IntRange(min=0),
    help="Text: columns, 0 for any number [terminal's]. SVG, TikZ: scale to this many pixels, points.",
)
@click.option("--style", type=click.Choice(STYLES), default=STYLES[0], show_default=True, help="Edges of SVG and TikZ.")
@click.option("--functions", is_flag=True, help="Show edge labels (grammatical functions).")
@click.option("--tags/--no-tags", default=True, help="Show part-of-speech tags.  [default: tags]")
@click.option("--highlight/--no-highlight", default=True, help="Colour discontinuous nodes of SVG and TikZ.")
@click.option("--color/--no-color", default=None, help="Colours in text [on a terminal, unless NO_COLOR is set].")
@click.option("--standalone", is_flag=True, help="TikZ: a whole LaTeX document.")
@reading_options
def command(
    file: str,
    file2: str | None,
    to: str | None,
    output: str,
    sentence: int | None,
    sentences: str | None,
    width: int | None,
    style: str,
    functions: bool,
    tags: bool,
    highlight: bool,
    color: bool | None,
    standalone: bool,
    reading: ReadingOptions,
) -> None:
    """Draw the trees of FILE; with FILE2, gold trees (FILE) against predicted ones, differences marked."""
    if sentence is not None and sentences is not None:
        raise UsageError("give --sentence or --sentences, not both")
    if file == file2 == STANDARD:
        raise UsageError("only one of the two files can be standard input")
    selection = Selection() if sentence is None and sentences is None else Selection.parse(sentences or str(sentence))
    into_folder = output.endswith(os.sep) or os.path.isdir(output)
    format = to or ("text" if into_folder else format_of(output))
    if not into_folder:
        require_folder(output)
    if standalone and format != "tikz":
        raise UsageError("--standalone is for --to tikz")
    if format == "text" and width is None:
        width = shutil.get_terminal_size(_FALLBACK).columns
    options = Options(width or None, style, functions, tags, highlight, _wants_color(color, output), standalone)
    picked = selection.pick(reading.trees(file), None if file2 is None else reading.trees(file2))
    if into_folder:
        write_files(picked, format, options, output)
        return
    with open_for_writing(output) as stream:
        for piece in draw_pages(picked, format, options, numbered=not selection.is_single):
            stream.write(piece)


def _wants_color(color: bool | None, output: str) -> bool:
    if color is not None:
        return color
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return output == STANDARD and sys.stdout.isatty() and not plain
