"""Pictures of many sentences: one after the other in a stream, or a file each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from discoparse.drawing.options import EXTENSIONS, Options
from discoparse.drawing.svg import Figure, figure, page
from discoparse.drawing.text import text_picture
from discoparse.drawing.tikz import standalone, tikz_picture
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import open_for_writing
from discoparse.files.widths import visible
from discoparse.tree import Tree

Picked = Iterable[tuple[int, Tree, Tree | None]]  # number of a sentence, its tree, and one to compare


def is_folder(output: str) -> bool:
    """Whether an output names a folder, which gets a file for each sentence."""
    return output.endswith(os.sep) or os.path.isdir(output)


def write_pictures(picked: Picked, format: str, options: Options, output: str, *, numbered: bool) -> None:
    """Draw sentences into a file, to standard output (`-`), or into a folder with a file for each sentence.

    `numbered`: in a file for all, each picture has the number of its sentence above it.
    """
    if is_folder(output):
        write_files(picked, format, options, output)
        return
    with open_for_writing(output) as stream:
        for piece in draw_pages(picked, format, options, numbered):
            stream.write(piece)


def draw_pages(picked: Picked, format: str, options: Options, numbered: bool) -> Iterator[str]:
    """The pieces of one document; text and bare TikZ come sentence by sentence, the rest at the end."""
    picked = _some(picked)
    if format == "svg":
        yield page([_svg(*item, options, numbered) for item in picked], options.width) + "\n"
    elif format == "tikz" and options.standalone:
        yield standalone([_tikz(*item, options, numbered) for item in picked])
    elif format == "tikz":
        yield from (_tikz(*item, options, numbered) for item in picked)
    else:
        yield from (_text(*item, options, numbered) for item in picked)


def _some(picked: Picked) -> Picked:
    """The same, which must not be nothing."""
    none = True
    for item in picked:
        none = False
        yield item
    if none:
        raise DiscoparseError("there are no trees to draw")


def write_files(picked: Picked, format: str, options: Options, folder: str) -> None:
    """A file per sentence, named by its number."""
    os.makedirs(folder, exist_ok=True)
    for number, tree, other in _some(picked):
        path = os.path.join(folder, f"{number}{EXTENSIONS[format]}")
        with open_for_writing(path) as stream:
            stream.writelines(draw_pages([(number, tree, other)], format, options, numbered=False))


def caption_of(number: int, tree: Tree) -> str:
    """Number of a sentence and, if the treebank has one, its id."""
    return str(number) if tree.id in (None, str(number)) else visible(f"{number} ({tree.id})")


def _text(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> str:
    with _sentence_named(number):
        picture = text_picture(tree, other, options)
    return f"{caption_of(number, tree)}\n{picture}\n\n" if numbered else f"{picture}\n"


def _svg(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> Figure:
    with _sentence_named(number):
        return figure(tree, other, options, caption_of(number, tree) if numbered else None)


def _tikz(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> str:
    with _sentence_named(number):
        picture = tikz_picture(tree, other, options)
    comment = visible(f"% {caption_of(number, tree)}: {' '.join(tree.words)}")
    return f"{comment}\n{picture}\n\n" if numbered else f"{comment}\n{picture}\n"


@contextmanager
def _sentence_named(number: int) -> Iterator[None]:
    """Adds the number of the sentence to errors."""
    try:
        yield
    except UsageError:
        raise
    except DiscoparseError as error:
        raise DiscoparseError(f"sentence {number}: {error}") from None
