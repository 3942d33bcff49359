"""Which files a corpus consists of: files, directories and patterns, each file of one kind."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from discoparse.errors import UsageError
from discoparse.files.streams import folder_files, in_order, printable, suffix

# What is in a file: one document, a document on each line, a JSON object on each line, a document in each row.
KINDS = ("text", "lines", "jsonl", "parquet")
_ENDINGS = {".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


@dataclass(frozen=True)
class Source:
    """A file of the corpus. Its name, by which documents are called, does not depend on where the corpus lies."""

    path: str  # absolute: workers may have another working directory
    name: str
    kind: str


def find_sources(inputs: Sequence[str], kind: str | None = None, output: str | None = None) -> list[Source]:
    """The files of a corpus in the order of the inputs, those of a directory in the order of their names.

    What is in the folder `output` is not part of it, though it may lie within an input: a job does not read its own
    files when it goes on. Names are relative to the folder that all inputs are in; the folder of an input is the
    directory itself, or that of the file, or what comes before the first wildcard of a pattern.
    """
    found: dict[str, str] = {}  # path: kind
    folders: list[str] = []
    ours = None if output is None else os.path.join(os.path.abspath(output), "")
    for given in inputs:
        paths, folder = _files(given, kind)
        folders.append(os.path.abspath(folder))
        for path in map(os.path.abspath, paths):
            if ours is None or not path.startswith(ours):
                found.setdefault(path, kind or _kind(path))
    if not found:
        raise UsageError(f"all files of the input are in the output's folder {output}")
    kinds = Counter(found.values())
    if len(kinds) > 1:
        listed = ", ".join(f"{count} {name}" for name, count in kinds.most_common())
        raise UsageError(f"the input has files of several kinds ({listed}): choose one with --from")
    base = os.path.commonpath(folders)
    return [Source(path, printable(os.path.relpath(path, base)), kind) for path, kind in found.items()]


def _files(given: str, kind: str | None) -> tuple[list[str], str]:
    """The files that an input names, and its folder."""
    if os.path.isdir(given):
        paths = folder_files(given, lambda name: _ENDINGS.get(suffix(name)) in ((kind,) if kind else KINDS))
        if kind is not None and not paths:  # with endings that say nothing, or (lines) that of text
            paths = folder_files(given, lambda name: _ENDINGS.get(suffix(name)) in (None, _alias(kind)))
        if not paths:
            wanted = kind or "txt, jsonl or parquet"
            raise UsageError(f"there are no {wanted} files in the directory {given}: name their kind with --from")
        return paths, given
    if os.path.exists(given):
        return [given], os.path.dirname(given)
    if not glob.has_magic(given):
        raise UsageError(f"there is no file or directory {given}")
    paths = [path for path in in_order(glob.glob(given, recursive=True)) if os.path.isfile(path)]
    if not paths:
        raise UsageError(f"no file matches {given}")
    fixed = given
    while glob.has_magic(fixed):
        fixed = os.path.dirname(fixed)
    return paths, fixed


def _alias(kind: str) -> str:
    return "text" if kind == "lines" else kind


def _kind(path: str) -> str:
    kind = _ENDINGS.get(suffix(path))
    if kind is None:
        raise UsageError(f"what {path} is cannot be told from its name: say --from {'|'.join(KINDS)}")
    return kind
