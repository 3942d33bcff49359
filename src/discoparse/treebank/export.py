"""The NeGra export format, versions 3 and 4: one row per word and node, with the number of its parent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

from discoparse.tree import Node, Token, Tree
from discoparse.treebank.export_writing import write
from discoparse.treebank.graph import Graph
from discoparse.treebank.lines import TOO_LONG, numbered_lines
from discoparse.treebank.report import Defect, Reading, bad_bytes

__all__ = ["read", "write"]

ABSENT = "--"
BOS_FIELDS = ("editor", "date", "origin")  # what may follow the number in a #BOS line; kept on the root
HEADER = re.compile(r"%%\s*word\s+(lemma\s+)?tag\b", re.IGNORECASE)
_BOS = re.compile(r"#BOS[ \t]+([^ \t]+)((?:[ \t]+(?!%%)[^ \t]+)*)[ \t]*(?:%%(.*))?$")
_EOS = re.compile(r"#EOS[ \t]+([^ \t]+)[ \t]*$")
_CONTROL = re.compile(r"#(BOS|EOS)(?![^ \t])")
_NODE = re.compile(r"#([0-9]{3,9})$")
_BLANKS = re.compile(r"[ \t]+")


@dataclass
class _Sentence:
    """The lines between #BOS and #EOS."""

    id: str
    line: int
    extra: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    rows: list[tuple[int, str | None]] = field(default_factory=list)  # None: too long


@dataclass
class _Row:
    line: int
    fields: list[str]  # word or #number, lemma, tag, morph, edge, parent
    secondary: list[tuple[str, str]]  # label and parent
    comment: str | None


def read(stream: TextIO, reading: Reading) -> Iterator[Tree]:
    """The sentences of a file; its version is what #FORMAT or the header line says, or its first row."""
    version: int | None = None
    sentence: _Sentence | None = None
    table: str | None = None  # inside #BOT NAME … #EOT NAME
    stray = False  # inside a run of lines that belong nowhere, which is reported once
    number = 0
    for number, line in numbered_lines(stream):
        if line is None:
            if sentence is None:
                reading.problem(TOO_LONG, number)
            else:
                sentence.rows.append((number, None))
            continue
        text = line.rstrip("\r\n")
        control = _CONTROL.match(text) if text.count("\t") < 4 else None
        if control and control.group(1) == "BOS":
            if sentence is not None:
                reading.skip(f"#BOS {sentence.id} has no #EOS", sentence.line, sentence.id)
            sentence, table, stray = _begin(text, number, reading), None, False
        elif sentence is not None:
            if not control:
                sentence.rows.append((number, text))
                continue
            end = _EOS.match(text)
            if end is None or end.group(1) != sentence.id:
                reading.skip(f"{text.strip()!r} does not end the sentence", number, sentence.id)
            else:
                version = version or _version_of(sentence)
                tree = _read_sentence(sentence, version, reading)
                if tree is not None:
                    yield tree
            sentence = None
        elif table is not None:
            table = None if text.startswith("#EOT") else table
        elif text.startswith("#BOT"):
            table = text[4:].strip()
            reading.not_read("export", f"the table {table} (#BOT … #EOT)")
        elif text.startswith("#FORMAT"):
            version = _declared_version(text, number, reading)
        elif text.startswith("%%"):
            header = HEADER.match(text)
            if header:
                version = 4 if header.group(1) else 3
            else:
                reading.not_read("export", "comment lines between sentences (%%)")
        elif text.strip() and not stray:
            stray = True
            reading.problem(f"a line outside of any sentence: {text[:40]!r}", number)
    if sentence is not None:
        reading.skip("the file ends inside a sentence: it may be cut off", number, sentence.id)
    elif table is not None:
        reading.problem(f"the table {table} has no #EOT: the file may be cut off", number)


def _begin(text: str, number: int, reading: Reading) -> _Sentence | None:
    match = _BOS.match(text)
    if match is None:
        reading.skip(f"{text.strip()!r} has no sentence number", number)
        return None
    name, extra, comment = match.groups()
    reading.sentence(name, number)
    comments = [] if comment is None else [part.strip() for part in comment.split(" %% ")]
    return _Sentence(name, number, [part for part in _BLANKS.split(extra) if part], comments)


def _declared_version(text: str, number: int, reading: Reading) -> int | None:
    declared = text[len("#FORMAT") :].strip()
    if declared in ("3", "4"):
        return int(declared)
    reading.problem(f"export format {declared!r} is not known: 3 and 4 are", number)
    return None


def _split(text: str) -> list[str]:
    """The fields of a row: between tabs or, where there are too few of those, between blanks."""
    fields = [part.strip(" ") for part in text.split("\t") if part.strip(" ")]
    return fields if len(fields) >= 5 else [part for part in _BLANKS.split(text) if part]


def _version_of(sentence: _Sentence) -> int | None:
    """4 when the first row has a lemma, which makes its number of fields even."""
    for _, text in sentence.rows:
        fields = _split(text or "")
        if len(fields) >= 5:
            end = next((k for k, part in enumerate(fields) if k >= 5 and part.startswith("%%")), len(fields))
            return 3 if end % 2 else 4
    return None


def _parse_row(text: str, line: int, version: int | None) -> _Row | Defect | str:
    """A row, what is wrong with it, or the text of a comment line."""
    fields = _split(text)
    width = 5 if version == 3 else 6
    head, tail = fields[:width], fields[width:]
    marker = next((k for k, part in enumerate(tail) if part.startswith("%%")), None)
    comment = None
    if marker is not None:
        comment = " ".join(tail[marker:])[2:].strip()
        tail = tail[:marker]
    sound = len(head) == width and len(tail) % 2 == 0
    if sound and not all(_is_number(part) for part in [head[-1], *tail[1::2]]):
        sound = False
    if not sound:
        if text.startswith("%%"):
            return text[2:].strip()
        wanted = width if version else "5 or 6"
        rule = f"a row has {wanted} fields, the last a number, and pairs of label and number after them"
        return Defect(f"{rule}; this one has {len(head) + len(tail)}: {text[:60]!r}", line)
    if version == 3:
        head.insert(1, ABSENT)
    return _Row(line, head, list(zip(tail[::2], tail[1::2], strict=True)), comment)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _node_section(rows: list[_Row], defects: list[Defect]) -> int:
    """Where the rows of nodes begin: a word may look like `#500`, too.

    Nodes come last, numbered from 500 or more. Rows are taken for nodes from the last one upwards, as long as they are
    numbered without gaps or some row has them as parent, since not all files are sorted. If no row has any of them as
    parent, all are words. A row before them with the number of one of them may be a word or a duplicate node.
    """
    parents = {int(row.fields[5]) for row in rows}
    numbers: set[int] = set()
    start = len(rows)
    while start:
        number = _node_number(rows[start - 1])
        if number in numbers or not (number in parents or not numbers or number + 1 in numbers) or number < 500:
            break
        numbers.add(number)
        start -= 1
    if not parents & numbers:
        return len(rows)
    if start and _node_number(rows[start - 1]) in numbers:
        row = rows[start - 1]
        defects.append(Defect(f"{row.fields[0]} is defined twice", row.line))
    return start


def _node_number(row: _Row) -> int:
    """The number of a row that may be a node, 0 of others."""
    match = _NODE.match(row.fields[0])
    return int(match.group(1)) if match else 0


def _read_sentence(sentence: _Sentence, version: int | None, reading: Reading) -> Tree | None:
    graph = Graph()
    rows: list[_Row] = []
    comments = sentence.comments
    for line, text in sentence.rows:
        if text is None:
            graph.defects.append(Defect(TOO_LONG, line))
            continue
        if not text.strip():
            continue
        damaged = bad_bytes(text, line)
        row = _parse_row(text, line, version)
        if damaged is not None:
            graph.defects.append(damaged)
        elif isinstance(row, Defect):
            graph.defects.append(row)
        elif isinstance(row, str):
            comments = [*comments, row]
        else:
            rows.append(row)
    if not rows and not graph.defects:
        reading.empty()
        return None
    nodes = _node_section(rows, graph.defects)
    for index, row in enumerate(rows):
        _add_row(graph, row, index if index < nodes else None)
    if len(sentence.extra) > len(BOS_FIELDS):
        graph.defects.append(Defect("#BOS has more than number, editor, date and origin", sentence.line))
    graph.root.features.update(zip(BOS_FIELDS, sentence.extra, strict=False))
    if not graph.tokens and not graph.defects:
        graph.defects.append(Defect("the sentence has nodes but no words", sentence.line))
    tree = graph.tree(sentence.id, comments)
    return tree if reading.accept(graph.defects, sentence.id) else None


def _add_row(graph: Graph, row: _Row, index: int | None) -> None:
    """A word when it has an index, else a node."""
    word, lemma, tag, morph, edge, parent = row.fields
    features = {} if row.comment is None else {"comment": row.comment}
    name: int | str
    if index is not None:
        name = index
        graph.add_token(name, Token(word, tag, _value(lemma), _value(morph), features=features), row.line)
    else:
        name = f"#{int(word[1:])}"
        if lemma != ABSENT:
            features["lemma"] = lemma
        graph.add_node(name, Node(tag, [], morph=_value(morph), features=features), row.line)
    graph.add_edge(name, _parent(parent), _value(edge), row.line)
    for label, further in row.secondary:
        graph.add_secondary_edge(name, _parent(further), _value(label), row.line)


def _value(text: str) -> str | None:
    return None if text == ABSENT else text


def _parent(number: str) -> str | None:
    return f"#{int(number)}" if int(number) else None
