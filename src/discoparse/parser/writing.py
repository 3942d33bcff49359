"""The output of `discoparse parse`: pictures, or treebank formats with one result for each line of input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discoparse.drawing.options import EXTENSIONS, Options
from discoparse.parser.passages import Notice
from discoparse.tree import Tree
from discoparse.treebank import WRITABLE, Report, format_trees

OUTPUTS = (*EXTENSIONS, *WRITABLE)  # pictures and treebank formats
# A line for each result; this one where there is no tree.
NO_TREE = {"discbracket": "\n", "bracket": "\n", "jsonl": "null\n"}
_WITHOUT_IDS = ("discbracket", "bracket")

Results = Iterable[Tree | None]


def numbered(results: Results, format: str, first: int = 1) -> Iterator[Tree | None]:
    """Trees with the number of their result as id, unless they have one, where the format has a place for ids."""
    for number, tree in enumerate(results, first):
        if tree is not None:
            tree.id = None if format in _WITHOUT_IDS else tree.id or str(number)
        yield tree


def picked(results: Results, ranked: bool = False) -> Iterator[tuple[int | str, Tree, None]]:
    """Results for drawing: the number of each, with `ranked` as 7.2 for the second best tree of a sentence."""
    number = 0
    for tree in results:
        rank = tree.id.rpartition(".")[2] if ranked and tree is not None and tree.id is not None else None
        number += rank in (None, "1")
        if tree is not None:
            yield number if rank is None else f"{number}.{rank}", tree, None


def output_pieces(
    results: Results, format: str, options: Options, report: Report, refuse: Notice, ranked: bool = False
) -> Iterator[str]:
    """The text of the output in pieces (not PNG or PDF). `refuse` is told when trees must be left out; with `ranked`,
    results are the best trees of sentences."""
    if format in EXTENSIONS:
        # Imports are where they are needed: the program starts faster.
        from discoparse.drawing.pages import draw_pages, remark

        for piece in draw_pages(picked(results, ranked), format, options, remark):
            yield piece + "\n" if format == "tree" else piece
    elif format == "json":
        from discoparse.treebank import jsontrees

        yield from jsontrees.write(results, report, array=True)
    elif format in NO_TREE:
        for tree in _that_fit_brackets(results, report, refuse) if format == "bracket" else results:
            yield from [NO_TREE[format]] if tree is None else format_trees([tree], format, report)
    else:
        yield from format_trees((tree for tree in results if tree is not None), format, report)


def _that_fit_brackets(results: Results, report: Report, refuse: Notice) -> Iterator[Tree | None]:
    """None instead of trees that brackets cannot hold."""
    from discoparse.treebank import bracket

    told: set[str] = set()
    for number, tree in enumerate(results, 1):
        kind = None if tree is None else bracket.obstacle(tree)
        if kind is None:
            yield tree
            continue
        if kind not in told:
            refuse(f"tree {number}: bracket cannot hold {kind}; an empty line is written for each")
            told.add(kind)
        report.not_written("bracket", kind)
        yield None
