"""`discoparse convert`: treebanks from one format to another, their trees transformed on the way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import click

from discoparse.cli.options import (
    ReadingOptions,
    WritingOptions,
    reading_options,
    require_folder,
    tell,
    tell_warnings,
    with_progress,
    writing_options,
)
from discoparse.errors import UsageError
from discoparse.files import STANDARD
from discoparse.transform import FUNCTIONS, PUNCT, TRACES, TransformNotes, Transforms, transform_trees
from discoparse.tree import Tree
from discoparse.treebank import Report, bracket, output_format


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="IN [IN ...] OUT")
@reading_options
@writing_options
@click.option(
    "--punct",
    type=click.Choice(PUNCT),
    default="keep",
    show_default=True,
    help="Move punctuation from the root into phrases, as disco-dop does, or remove it.",
)
@click.option(
    "--functions",
    type=click.Choice(FUNCTIONS),
    default="keep",
    show_default=True,
    help="Remove edge labels, and function tags from labels (NP-SBJ-1 becomes NP).",
)
@click.option(
    "--traces",
    type=click.Choice(TRACES),
    default="keep",
    show_default=True,
    help="Reattach what left traces (as in DPTB), remove empty elements, or write traces into gaps.",
)
@click.option("--penn-brackets", is_flag=True, help="Write ( and ) in words as -LRB- and -RRB-.")
@click.option("--root", metavar="LABEL", help="Give every tree a root of this label.")
@click.option("--binarize", is_flag=True, help="Make trees binary; added nodes are labelled X|<>.")
@click.option("--unbinarize", is_flag=True, help="Undo --binarize.")
@click.option("--collapse-unaries", is_flag=True, help="Make one node of each unary chain, labelled X+Y.")
@click.option("--expand-unaries", is_flag=True, help="Undo --collapse-unaries.")
def command(
    paths: tuple[str, ...],
    reading: ReadingOptions,
    writing: WritingOptions,
    punct: str,
    functions: str,
    traces: str,
    penn_brackets: bool,
    root: str | None,
    binarize: bool,
    unbinarize: bool,
    collapse_unaries: bool,
    expand_unaries: bool,
) -> None:
    """Convert treebanks between formats, and transform their trees.

    IN is a file, a directory, or - for standard input; OUT a file or - for standard output. Formats are
    chosen by the names of the files, or by --from and --to. OUT appears, or is replaced, only when it is complete.
    """
    *inputs, output = paths
    if not inputs:
        raise UsageError(f"convert needs an input and an output: discoparse convert {output} OUT")
    if os.path.isdir(output):
        raise UsageError(f"the output {output} is a directory: name a file in it")
    require_folder(output)
    transforms = Transforms(
        punct, functions, traces, penn_brackets, root, unbinarize, expand_unaries, collapse_unaries, binarize
    )
    notes = TransformNotes()
    trees = transform_trees(with_progress(reading.trees(inputs)), transforms, notes)
    if reading.on_error == "skip" and (writing.format or output_format(output).name) == "bracket":
        trees = _that_fit_brackets(trees, writing.report)
    written = writing.write(trees, output)
    reading.report.empty += notes.emptied
    tell_warnings(notes.warnings)
    if output != STANDARD:
        tell(f"{written} {'tree' if written == 1 else 'trees'} written to {output}")


def _that_fit_brackets(trees: Iterable[Tree], report: Report) -> Iterator[Tree]:
    """The trees that brackets can hold; the others are counted."""
    for tree in trees:
        kind = bracket.obstacle(tree)
        if kind is None:
            yield tree
        else:
            report.not_written("bracket", kind)
