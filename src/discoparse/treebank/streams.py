"""Trees from files and into files, one at a time, in any of the formats."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from discoparse.errors import Problem, TreebankWarning, UsageError
from discoparse.files.atomic import PathLike
from discoparse.files.streams import STANDARD, decoded, encodable, open_bytes, open_for_writing, path_list, printable
from discoparse.tree import Tree
from discoparse.treebank.formats import (
    Format,
    check_options,
    directory_members,
    format_named,
    guess_format,
    output_format,
)
from discoparse.treebank.report import ON_ERROR, Reading, Report, damage_reported


def read_trees(
    paths: PathLike | Iterable[PathLike],
    format: str | None = None,
    *,
    encoding: str | None = None,
    on_error: str = "fail",
    report: Report | None = None,
    **options: Any,
) -> Iterator[Tree]:
    """The trees of one file, several files or a directory, one at a time.

    If `format` is None, it is guessed from the name, or from the content where the name does not tell. Problems raise
    `TreebankError` (`on_error="fail"`), drop their sentence ("skip"), or are repaired where possible ("repair"); the
    last two are noted in `report`, or become warnings. Options: `lemmas=True` (bracket: `word-lemma`).
    """
    if on_error not in ON_ERROR:
        raise UsageError(f"on_error is one of {', '.join(ON_ERROR)}, not {on_error!r}")
    entry = None if format is None else format_named(format)
    ours = report if report is not None else Report(on_problem=_warn_of_problem)
    for path in path_list(paths):
        members: list[str] = [path]
        common: Format | None = entry
        if path != STANDARD and os.path.isdir(path):
            members, common = directory_members(path, entry)
        for member in members:
            yield from _read_file(member, common, encoding, Reading(_shown(member), on_error, ours), options)
    if report is None:
        ours.warn()


def _read_file(
    path: str, entry: Format | None, encoding: str | None, reading: Reading, options: dict[str, Any]
) -> Iterator[Tree]:
    with damage_reported(reading), open_bytes(path) as stream:
        if entry is None and not stream.peek(1):  # type: ignore[attr-defined]
            return  # an empty file has no trees, whatever its format
        entry = entry or guess_format(path, stream)
        chosen = check_options(entry, entry.read_options, options)
        if entry.binary:
            yield from entry.read(stream, reading, **chosen)
            return
        with decoded(stream, encoding, entry.xml) as text:
            yield from entry.read(text, reading, **chosen)


def write_trees(
    trees: Iterable[Tree],
    path: PathLike,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    report: Report | None = None,
    **options: Any,
) -> int:
    """Write trees to a file (`-` is standard output, `.gz` is compressed) in the format of its name; their number.

    What the format cannot hold is noted in `report`, or becomes a warning; the file appears when it is complete.
    Options: `version=3` (export without lemmas, also `format="export3"`), `lemmas=True`, `ids=True` (bracket).
    """
    name = os.fspath(path)
    ours = Report() if report is None else report
    count = 0

    def counted() -> Iterator[Tree]:
        nonlocal count
        for tree in trees:
            count += 1
            yield tree

    pieces = format_trees(counted(), format or output_format(name).name, ours, **options)
    with open_for_writing(name, encoding) as stream:
        for piece in pieces:
            stream.write(piece)
    if report is None:
        ours.warn()
    return count


def format_trees(trees: Iterable[Tree], format: str, report: Report, **options: Any) -> Iterator[str]:
    """The text of a treebank file, piece by piece."""
    if format == "export3":
        format, options = "export", {**options, "version": 3}
    entry = format_named(format)
    if entry.binary:
        raise UsageError(f"{format} can only be read here, not written: name another format with --to")
    chosen = check_options(entry, entry.write_options, options)
    if entry.name == "json":
        chosen["array"] = True
    return _encodable(entry.write(trees, report, **chosen), format, report)


def _encodable(pieces: Iterable[str], format: str, report: Report) -> Iterator[str]:
    for piece in pieces:
        written = encodable(piece)
        if written is not piece:
            report.not_written(format, "halves of surrogate pairs (written �)")
        yield written


def _shown(path: str) -> str:
    return "<standard input>" if path == STANDARD else printable(path)


def _warn_of_problem(problem: Problem) -> None:
    warnings.warn(str(problem), TreebankWarning, stacklevel=2)
