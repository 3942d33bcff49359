"""Pictures of many sentences: one after the other in a stream, or a file each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

from discoparse.drawing.forest import LIBRARY, PACKAGE, forest_picture
from discoparse.drawing.latex import document
from discoparse.drawing.options import BINARY, EXTENSIONS, LATEX, Options, is_folder
from discoparse.drawing.svg import Figure, figure, page
from discoparse.drawing.text import text_picture
from discoparse.drawing.tikz import tikz_picture
from discoparse.drawing.words import split_glosses
from discoparse.errors import DiscoparseError, NothingToDrawError, UsageError
from discoparse.files.streams import STANDARD, open_for_writing, open_text
from discoparse.files.widths import visible
from discoparse.tree import Tree

Picked = Iterable[tuple[int, Tree, Tree | None]]  # number of a sentence, its tree, and one to compare
Drawing = tuple[int, Tree, Tree | None, Options]
_PICTURES: dict[str, Callable[[Tree, Tree | None, Options], str]] = {
    "tree": text_picture,
    "tikz": tikz_picture,
    "forest": forest_picture,
}


def write_pictures(picked: Picked, format: str, options: Options, output: str, *, numbered: bool) -> None:
    """Draw sentences into a file, to standard output (`-`), or into a folder with a file for each sentence.

    `numbered`: in a file for all, each picture has the number of its sentence above it.
    """
    if is_folder(output):
        write_files(picked, format, options, output)
        return
    if format in BINARY and output == STANDARD and sys.stdout.isatty():
        raise UsageError(f"a terminal cannot show {format.upper()}: name a file with -o")
    with open_for_writing(output) as stream:
        _write(_drawings(picked, options), format, options, stream, numbered)


def write_files(picked: Picked, format: str, options: Options, folder: str) -> None:
    """A file per sentence, named by its number."""
    os.makedirs(folder, exist_ok=True)
    for drawing in _drawings(picked, options):
        path = os.path.join(folder, f"{drawing[0]}{EXTENSIONS[format]}")
        with open_for_writing(path) as stream:
            _write([drawing], format, options, stream, numbered=False)


def draw_pages(picked: Picked, format: str, options: Options, numbered: bool) -> Iterator[str]:
    """The pieces of one document; text and bare LaTeX come sentence by sentence, the rest at the end."""
    return _pieces(_drawings(picked, options), format, options, numbered)


def _drawings(picked: Picked, options: Options) -> Iterator[Drawing]:
    """What is to be drawn, which must not be nothing, each with its own glosses."""
    none = True
    glosses = None if options.gloss_file is None else _gloss_lines(options.gloss_file)
    for number, tree, other in picked:
        none = False
        if glosses is not None:
            line = next(glosses, None)
            if line is None:
                raise DiscoparseError(f"{options.gloss_file}: there is no line of glosses for sentence {number}")
            options = replace(options, gloss=line)
        yield number, tree, other, options
    if none:
        raise NothingToDrawError


def _gloss_lines(path: str) -> Iterator[list[str]]:
    with open_text(path) as stream:
        yield from map(split_glosses, stream)


def _write(drawings: Iterable[Drawing], format: str, options: Options, stream: TextIO, numbered: bool) -> None:
    if format not in BINARY:
        for piece in _pieces(drawings, format, options, numbered):
            stream.write(piece)
        return
    from discoparse.drawing import raster  # here, since it needs an extra

    figures = [_figure(*drawing, numbered) for drawing in drawings]
    if format == "png":
        content = raster.to_png(page(figures, options, fluid=False), options.dpi)
    else:
        content = raster.to_pdf([page([shown], options, fluid=False) for shown in figures])
    stream.buffer.write(content)


def _pieces(drawings: Iterable[Drawing], format: str, options: Options, numbered: bool) -> Iterator[str]:
    if format == "svg":
        yield page([_figure(*drawing, numbered) for drawing in drawings], options) + "\n"
        return
    pictures = (_picture(*drawing, format, numbered) for drawing in drawings)
    if format in LATEX and options.standalone:
        package = (PACKAGE, LIBRARY) if format == "forest" else ()
        yield document(list(pictures), *package)
    else:
        yield from pictures


def _figure(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> Figure:
    with _sentence_named(number):
        return figure(tree, other, options, caption_of(number, tree) if numbered else None)


def _picture(number: int, tree: Tree, other: Tree | None, options: Options, format: str, numbered: bool) -> str:
    with _sentence_named(number):
        picture = _PICTURES[format](tree, other, options)
    if format in LATEX:
        picture = visible(f"% {caption_of(number, tree)}: {' '.join(tree.words)}") + f"\n{picture}"
    elif numbered:
        picture = f"{caption_of(number, tree)}\n{picture}"
    return f"{picture}\n\n" if numbered else f"{picture}\n"


def caption_of(number: int, tree: Tree) -> str:
    """Number of a sentence and, if the treebank has one, its id."""
    return str(number) if tree.id in (None, str(number)) else visible(f"{number} ({tree.id})")


@contextmanager
def _sentence_named(number: int) -> Iterator[None]:
    """Adds the number of the sentence to errors."""
    try:
        yield
    except UsageError:
        raise
    except DiscoparseError as error:
        raise DiscoparseError(f"sentence {number}: {error}") from None
