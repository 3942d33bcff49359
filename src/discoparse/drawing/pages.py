"""Pictures of many sentences: one after the other in a stream, or a file each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from discoparse.drawing.svg import Figure, figure, page
from discoparse.drawing.text import draw_text
from discoparse.drawing.tikz import draw_tikz, standalone
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import open_for_writing
from discoparse.files.widths import visible
from discoparse.tree import Tree

EXTENSIONS = {"text": ".txt", "svg": ".svg", "tikz": ".tex"}
Picked = Iterable[tuple[int, Tree, Tree | None]]  # number of a sentence, its tree, and one to compare


@dataclass(frozen=True)
class Options:
    """How all the pictures are drawn; the names are those of the command line."""

    width: int | None = None
    style: str = "elbow"
    functions: bool = False
    tags: bool = True
    highlight: bool = True
    color: bool = False
    standalone: bool = False


def format_of(output: str) -> str:
    """The kind of picture that a file name asks for.

    >>> format_of("tree.svg"), format_of("-")
    ('svg', 'text')
    """
    extension = os.path.splitext(output)[1].lower()
    if not extension:
        return "text"
    kinds = {usual: name for name, usual in EXTENSIONS.items()}
    if extension not in kinds:
        endings = ", ".join(kinds)
        raise UsageError(f"cannot tell the kind of picture from {output}: endings are {endings}, or name it with --to")
    return kinds[extension]


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
        picture = draw_text(
            tree,
            compare=other,
            width=options.width,
            color=options.color,
            functions=options.functions,
            tags=options.tags,
        )
    return f"{caption_of(number, tree)}\n{picture}\n\n" if numbered else f"{picture}\n"


def _svg(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> Figure:
    with _sentence_named(number):
        return figure(
            tree,
            compare=other,
            style=options.style,
            functions=options.functions,
            tags=options.tags,
            highlight=options.highlight,
            caption=caption_of(number, tree) if numbered else None,
        )


def _tikz(number: int, tree: Tree, other: Tree | None, options: Options, numbered: bool) -> str:
    with _sentence_named(number):
        picture = draw_tikz(
            tree,
            compare=other,
            width=options.width,
            style=options.style,
            functions=options.functions,
            tags=options.tags,
            highlight=options.highlight,
        )
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
