"""`discoparse draw`: pictures of trees, or of gold against predicted trees."""

from __future__ import annotations

import click

from discoparse.cli.drawing_options import DrawingOptions, PictureKind, drawing_options
from discoparse.cli.options import ReadingOptions, reading_options, require_folder
from discoparse.drawing.options import format_of, is_folder
from discoparse.drawing.pages import caption_of, no_caption, write_pictures
from discoparse.drawing.selection import Selection
from discoparse.errors import UsageError
from discoparse.files.streams import STANDARD


@click.command()
@click.argument("file")
@click.argument("file2", required=False)
@click.option("--to", type=PictureKind(), help="Kind of picture [by the name of the output, or tree].")
@click.option("-o", "--output", default=STANDARD, help="File, or folder/ for a file per sentence [standard output].")
@click.option("--sentence", type=click.IntRange(min=1), help="Draw only this sentence; the first is 1.")
@click.option("--sentences", metavar="RANGE", help="Draw these sentences, as in 2-5,9 or 7-.")
@drawing_options
@reading_options
def command(
    file: str,
    file2: str | None,
    to: str | None,
    output: str,
    sentence: int | None,
    sentences: str | None,
    drawing: DrawingOptions,
    reading: ReadingOptions,
) -> None:
    """Draw the trees of FILE; with FILE2, gold trees (FILE) against predicted ones, differences marked."""
    if sentence is not None and sentences is not None:
        raise UsageError("give --sentence or --sentences, not both")
    if [file, file2, drawing.options.gloss_file].count(STANDARD) > 1:
        raise UsageError("only one of the files can be standard input")
    selection = Selection() if sentence is None and sentences is None else Selection.parse(sentences or str(sentence))
    format = to or ("tree" if is_folder(output) else format_of(output))
    if not is_folder(output):
        require_folder(output)
    options = drawing.for_output(format, output)
    picked = selection.pick(reading.trees(file), None if file2 is None else reading.trees(file2))
    caption = no_caption if selection.is_single or is_folder(output) else caption_of  # in a folder, files have numbers
    write_pictures(picked, format, options, output, caption)
