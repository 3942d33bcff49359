"""Telling a treebank from ordinary text by its content.

`formats.sniff` chooses between formats for a file that is known to be a treebank. Here nothing is known, so more
evidence is required: prose may begin with a bracket, a tag, a brace or a hash sign without being a treebank.
"""

from __future__ import annotations

import io
import re
import zlib

from discoparse.errors import UsageError
from discoparse.files.atomic import PathLike
from discoparse.tree import Node, Tree
from discoparse.treebank.formats import FORMATS, sniff
from discoparse.treebank.report import Reading, Report

SAMPLE = 1 << 16  # bytes looked at
_GZIP = b"\x1f\x8b"
_PARQUET = re.compile(rb"PAR1[\0-\x08\x0e-\x1f]")  # the name of a protein, and no letter after it

# The declarations and comments that may precede the first element of an XML file.
_XML_START = re.compile(r"(?:<\?[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>|\s)*", re.DOTALL)
# An element directly followed by one that belongs into it: the first sentence may be beyond the sample, for the head of
# a corpus can be long.
_XML_TREEBANKS = [
    (re.compile(r"(?:<(?:treebank|collection)\b[^>]*>\s*)?<alpino_ds\b[^>]*>\s*<(?:node|metadata|parser)\b"), "alpino"),
    (re.compile(r"<corpus\b[^>]*>\s*(?:<head\b|<body\b[^>]*>\s*<s\b|<subcorpus\b)"), "tigerxml"),
    (re.compile(r"(?:<(?:subcorpus|body)\b[^>]*>\s*)?<s\b(?=[^>]*\bid=)[^>]*>\s*<graph\b"), "tigerxml"),
]


def looks_like_treebank(source: PathLike | bytes) -> str | None:
    """The format of a treebank, recognised by how it begins; None for anything else, such as text to be parsed.

    `source` is the path of a file, compressed or not, or its first bytes (for standard input, read
    by the caller). `SAMPLE` bytes are looked at.

    >>> looks_like_treebank(b"(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    'bracket'
    >>> looks_like_treebank(b"(The dog barked.) Nobody (see (Smith 2003)) knows why.")
    """
    sample = source if isinstance(source, bytes) else _beginning(source)
    cut = len(sample) >= SAMPLE
    sample = sample[:SAMPLE]
    if sample.startswith(_GZIP):
        sample, cut = _decompressed(sample), True
    if _PARQUET.match(sample):
        return "parquet"
    try:
        format = sniff(sample, "").name
    except UsageError:
        return None
    # Bytes that are not UTF-8 are replaced: in which encoding the words are does not matter here.
    text = sample.decode("utf-8-sig", "replace").replace("\0", "").lstrip("\ufeff\ufffd \t\r\n")
    if FORMATS[format].xml:
        start = _XML_START.match(text)
        found = (name for pattern, name in _XML_TREEBANKS if pattern.match(text, start.end() if start else 0))
        return next(found, None)
    return format if _reads_as(format, text, cut) else None


def _beginning(path: PathLike) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(SAMPLE)


def _decompressed(start: bytes) -> bytes:
    """What the first bytes of a gzip file hold, b"" if they are damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(start, SAMPLE)
    except zlib.error:
        return b""


def _reads_as(format: str, text: str, cut: bool) -> bool:
    """Whether most of a text is trees; of a beginning that is cut off, the last tree does not count."""
    problems: list[object] = []
    reading = Reading("", "skip", Report(on_problem=problems.append))
    trees = list(FORMATS[format].read(io.StringIO(text), reading))
    if format == "bracket" and not any(map(_is_phrasal, trees)):
        return False
    return len(trees) > max(0, len(problems) - cut)


def _is_phrasal(tree: Tree) -> bool:
    """Whether a bracketed tree can hardly be a parenthesis in prose: `(see (Smith 2003))` reads as a tree, too."""
    nested = any(isinstance(child, Node) for child in tree.root.children)
    return nested or (len(tree) > 1 and tree.root.label.isupper())
