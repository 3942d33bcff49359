"""The table of treebank formats, and how the format of a file is recognised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

from discoparse.errors import UsageError
from discoparse.files.streams import DAMAGED, STANDARD, folder_files, open_bytes, suffix
from discoparse.tree import Tree


@dataclass(frozen=True)
class Format:
    """A format: the module that reads and writes it, the endings of its files, the options that it takes."""

    name: str
    module: str
    suffixes: tuple[str, ...]
    xml: bool = False  # the file itself declares its encoding
    binary: bool = False  # the file is not text: it is read from bytes
    read_options: tuple[str, ...] = ()
    write_options: tuple[str, ...] = ()

    @property
    def read(self) -> Callable[..., Iterator[Tree]]:
        """`read(stream: TextIO, reading: Reading, **options)`: the trees of a file (binary: from BinaryIO)."""
        reader: Callable[..., Iterator[Tree]] = import_module(self.module).read
        return reader

    @property
    def write(self) -> Callable[..., Iterator[str]]:
        """`write(trees: Iterable[Tree], report: Report, **options)`: pieces of text that make up the file."""
        writer: Callable[..., Iterator[str]] = import_module(self.module).write
        return writer


_HERE = "discoparse.treebank."
FORMATS = {
    entry.name: entry
    for entry in (
        Format("export", _HERE + "export", (".export", ".negra"), write_options=("version",)),
        Format("discbracket", _HERE + "discbracket", (".discbracket", ".dbr")),
        Format("tigerxml", _HERE + "tigerxml", (".xml", ".tiger", ".tigerxml"), xml=True),
        Format(
            "bracket",
            _HERE + "bracket",
            (".mrg", ".psd", ".tree", ".ptb", ".bracket", ".brackets", ".parse", ".prd"),
            read_options=("lemmas",),
            write_options=("lemmas", "ids"),
        ),
        Format("alpino", _HERE + "alpino", (".xml", ".alpino"), xml=True),
        Format("json", _HERE + "jsontrees", (".json",)),
        Format("jsonl", _HERE + "jsontrees", (".jsonl", ".ndjson")),
    )
}
# What can be read: beside these, the output of `discoparse corpus`, which is not text.
READABLE = {**FORMATS, "parquet": Format("parquet", _HERE + "parquet_trees", (".parquet",), binary=True)}
_PARQUET = b"PAR1"  # begins its files
WRITABLE = (*FORMATS, "export3")  # export3: export without the lemma column


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in READABLE:
        raise UsageError(f"unknown format {name!r}: choose from {', '.join(READABLE)}")
    return READABLE[name]


def guess_format(path: str, stream: BinaryIO) -> Format:
    """The format of an open file, from its name or, if that is ambiguous, from how it begins."""
    named = _by_suffix(path)
    if len(named) == 1:
        return named[0]
    start: bytes = stream.peek(1 << 14)  # type: ignore[attr-defined]
    return READABLE["parquet"] if start.startswith(_PARQUET) else sniff(start, path)


def sniff(start: bytes, path: str) -> Format:
    """The format of a file that begins with these bytes."""
    text = start[: 1 << 14].decode("utf-8-sig", "replace").replace("\0", "").lstrip("\ufeff� \t\r\n")
    for pattern, name in _BEGINNINGS:
        if pattern.search(text):
            return FORMATS[name]
    where = "standard input" if path == STANDARD else path
    raise UsageError(f"cannot tell the format of {where}: name it with --from {'|'.join(FORMATS)}")


# In this order: XML by its elements, then the others by their first characters.
_BEGINNINGS = [
    (re.compile(r"^<[\s\S]*?<(alpino_ds)\b|^<alpino_ds\b"), "alpino"),
    (re.compile(r"^<[\s\S]*?<(corpus|subcorpus|body|s)\b|^<(corpus|subcorpus|body|s)\b"), "tigerxml"),
    (re.compile(r"^(#FORMAT|#BOT|#BOS|%%)"), "export"),
    (re.compile(r"^\{"), "jsonl"),
    (re.compile(r"^\[\s*(\{|\])"), "json"),
    (re.compile(r"^\([^\n]*\([^\s()]*\s+\d+=[^\s()]*\)"), "discbracket"),
    (re.compile(r"^(\*x\*|/~?\*|\()"), "bracket"),
]


def output_format(path: str) -> Format:
    """The format that the name of an output file asks for."""
    if path == STANDARD:
        raise UsageError(f"name the format of standard output with --to {'|'.join(WRITABLE)}")
    named = _by_suffix(path)
    if not named:
        raise UsageError(f"cannot tell the format from the name {path}: name it with --to {'|'.join(WRITABLE)}")
    if len(named) > 1:
        choices = " or --to ".join(entry.name for entry in named)
        raise UsageError(f"{path} may be of several formats: name one with --to {choices}")
    return named[0]


def directory_members(folder: str, entry: Format | None) -> tuple[list[str], Format]:
    """The treebank files in a directory and their common format, `entry` where it is given."""
    if entry is not None:
        members = folder_files(folder, lambda name: entry in _by_suffix(name))
        members = members or folder_files(folder, lambda name: not _by_suffix(name))
        if not members:
            raise UsageError(f"no {entry.name} files in the directory {folder}")
        return members, entry
    members = folder_files(folder, lambda name: bool(_by_suffix(name)))
    if not members:
        raise UsageError(f"no files with a known ending in the directory {folder}: name the format with --from")
    known: dict[str, Format] = {}  # one file of each ending is enough
    for file in members:
        if suffix(file) not in known and (found := _format_inside(file)):
            known[suffix(file)] = found
    for file in members:
        if suffix(file) not in known:
            raise UsageError(
                f"cannot tell the format of {file} and others like it: name it with --from {'|'.join(FORMATS)}"
            )
    counts = Counter(known[suffix(file)].name for file in members)
    if len(counts) > 1:
        listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        raise UsageError(f"the directory {folder} holds files of several formats ({listed}): choose one with --from")
    return members, READABLE[next(iter(counts))]


def _format_inside(file: str) -> Format | None:
    """The format of a file, None if it cannot be told: reading reports files that are empty or damaged."""
    try:
        with open_bytes(file) as stream:
            return guess_format(file, stream)
    except (UsageError, *DAMAGED):
        return None


def _by_suffix(path: str) -> list[Format]:
    ending = suffix(path)
    return [entry for entry in READABLE.values() if ending in entry.suffixes]


def check_options(entry: Format, allowed: Iterable[str], options: dict[str, Any]) -> dict[str, Any]:
    """The options that are set (neither None nor False); refuses those that the format does not have."""
    chosen = {name: value for name, value in options.items() if value not in (None, False)}
    for name in chosen:
        if name not in allowed:
            others = [one.name for one in FORMATS.values() if name in (*one.read_options, *one.write_options)]
            raise UsageError(f"{name!r} is not for the format {entry.name}, only for {', '.join(others)}")
    return chosen
