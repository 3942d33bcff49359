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

Number = int | str  # of a sentence, or of one of its best trees, as 7.2
Picked = Iterable[tuple[Number, Tree, Tree | None]]  # a sentence, its tree, and one to compare
Drawing = tuple[Number, Tree, Tree | None, Options]
Caption = Callable[[Number, Tree], "str | None"]  # what stands above a picture
_PICTURES: dict[str, Callable[[Tree, Tree | None, Options], str]] = {
    "tree": text_picture,
    "tikz": tikz_picture,
    "forest": forest_picture,
}


def no_caption(number: Number, tree: Tree) -> None:
    """For pictures that speak for themselves."""


def caption_of(number: Number, tree: Tree) -> str:
    """Number of a sentence and, if the treebank has one, its id."""
    return str(number) if tree.id in (None, str(number)) else visible(f"{number} ({tree.id})")


def remark(number: Number, tree: Tree) -> str | None:
    """What a parser remarks on its tree, if anything: that it is doubtful, or which of the best trees it is."""
    if not tree.comments:
        return None
    return visible(": ".join([*([number] if isinstance(number, str) else []), "; ".join(tree.comments)]))


def write_pictures(picked: Picked, format: str, options: Options, output: str, caption: Caption = no_caption) -> None:
    """Draw sentences, each with its `caption`, into a file, to standard output (`-`), or into a folder with a file for
    each sentence."""
    if is_folder(output):
        write_files(picked, format, options, output, caption)
        return
    if format in BINARY and output == STANDARD and sys.stdout.isatty():
        raise UsageError(f"a terminal cannot show {format.upper()}: name a file with -o")
    with open_for_writing(output) as stream:
        _write(_drawings(picked, options), format, options, stream, caption)


def write_files(picked: Picked, format: str, options: Options, folder: str, caption: Caption = no_caption) -> None:
    """A file per sentence, named by its number."""
    os.makedirs(folder, exist_ok=True)
    for drawing in _drawings(picked, options):
        path = os.path.join(folder, f"{drawing[0]}{EXTENSIONS[format]}")
        with open_for_writing(path) as stream:
            _write([drawing], format, options, stream, caption)


def draw_pages(picked: Picked, format: str, options: Options, caption: Caption = no_caption) -> Iterator[str]:
    """The pieces of one document; text and bare LaTeX come sentence by sentence, the rest at the end."""
    return _pieces(_drawings(picked, options), format, options, caption)


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


def _write(drawings: Iterable[Drawing], format: str, options: Options, stream: TextIO, caption: Caption) -> None:
    if format not in BINARY:
        for piece in _pieces(drawings, format, options, caption):
            stream.write(piece)
        return
    from discoparse.drawing import raster  # here, since it needs an extra

    figures = [_figure(*drawing, caption) for drawing in drawings]
    if format == "png":
        content = raster.to_png(page(figures, options, fluid=False), options.dpi)
    else:
        content = raster.to_pdf([page([shown], options, fluid=False) for shown in figures])
    stream.buffer.write(content)


def _pieces(drawings: Iterable[Drawing], format: str, options: Options, caption: Caption) -> Iterator[str]:
    if format == "svg":
        yield page([_figure(*drawing, caption) for drawing in drawings], options) + "\n"
        return
    pictures = (_picture(*drawing, format, caption) for drawing in drawings)
    if format in LATEX and options.standalone:
        package = (PACKAGE, LIBRARY) if format == "forest" else ()
        yield document(list(pictures), *package)
    else:
        yield from pictures


def _figure(number: Number, tree: Tree, other: Tree | None, options: Options, caption: Caption) -> Figure:
    with _sentence_named(number):
        return figure(tree, other, options, caption(number, tree))


def _picture(number: Number, tree: Tree, other: Tree | None, options: Options, format: str, caption: Caption) -> str:
    with _sentence_named(number):
        picture = _PICTURES[format](tree, other, options)
    if format in LATEX:  # which has the number of each in any case
        remarks = ["; ".join(tree.comments)] if caption is remark and tree.comments else []
        picture = visible("% " + ": ".join([caption_of(number, tree), *remarks, " ".join(tree.words)])) + f"\n{picture}"
    elif (above := caption(number, tree)) is not None:
        picture = f"{above}\n{picture}"
    return f"{picture}\n\n" if caption is caption_of else f"{picture}\n"


@contextmanager
def _sentence_named(number: Number) -> Iterator[None]:
    """Adds the number of the sentence to errors."""
    try:
        yield
    except UsageError:
        raise
    except DiscoparseError as error:
        raise DiscoparseError(f"sentence {number}: {error}") from None
