"""The documents of a unit, read from its files; those that cannot be read are reported in their place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from discoparse.corpus.plan import Part
from discoparse.corpus.sources import Source
from discoparse.files.streams import DAMAGED, open_bytes
from discoparse.treebank.arrow_schema import import_arrow
from discoparse.treebank.report import bad_bytes

# Bytes, ten times as long as the longest books: more is a corpus in one document, which would be held in memory.
LONGEST_DOCUMENT = 1 << 26
_ROWS = 256  # of a Parquet file that are read at once
_ID = "id"  # where ids are looked for if no field is named


@dataclass(frozen=True)
class Document:
    """A text with its id."""

    id: str
    text: str


@dataclass(frozen=True)
class Unread:
    """A document that cannot be read: where it is, and why."""

    place: str
    problem: str


@dataclass(frozen=True)
class Fields:
    """Where in JSON objects and Parquet rows the text and the id are; without an id field, `id` if there is one."""

    text: str = "text"
    id: str | None = None


def read_documents(sources: Sequence[Source], parts: Sequence[Part], fields: Fields) -> Iterator[Document | Unread]:
    """The documents of some parts of files, in order. A blank line is not a document."""
    readers = {"text": _text, "lines": _lines, "jsonl": _json_lines, "parquet": _rows}
    for part in parts:
        source = sources[part.source]
        try:
            yield from readers[source.kind](source, part, fields)
        except DAMAGED as error:
            yield Unread(source.name, f"the compressed file is cut off or damaged ({error})")
        except OSError as error:
            yield Unread(source.name, error.strerror or str(error))


def _text(source: Source, part: Part, fields: Fields) -> Iterator[Document | Unread]:
    """A file that is a document."""
    with open_bytes(source.path) as stream:
        content = stream.read(LONGEST_DOCUMENT + 1)
    yield _decoded(content, source.name, source.name)


def _lines(source: Source, part: Part, fields: Fields) -> Iterator[Document | Unread]:
    """Lines that are documents."""
    for number, line in _numbered_lines(source, part):
        place = f"{source.name}:{number}"
        yield _decoded(line.rstrip(b"\r\n"), place, place)


def _json_lines(source: Source, part: Part, fields: Fields) -> Iterator[Document | Unread]:
    """Lines with an object in each."""
    for number, line in _numbered_lines(source, part):
        place = f"{source.name}:{number}"
        decoded = _decoded(line, place, place)
        if isinstance(decoded, Unread):
            yield decoded
            continue
        try:
            data = json.loads(decoded.text)
        except (ValueError, RecursionError) as error:
            yield Unread(place, f"this is not JSON: {error}")
            continue
        if isinstance(data, dict):
            yield _from_fields(data, place, fields)
        else:
            yield Unread(place, f"this is not a JSON object: {decoded.text.strip()[:40]}")


def _rows(source: Source, part: Part, fields: Fields) -> Iterator[Document | Unread]:
    """Rows of a Parquet file; row groups before the first one are not read."""
    arrow, parquet = import_arrow(), import_arrow("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(source.path)
        columns = [name for name in (fields.text, fields.id or _ID) if name in file.schema_arrow.names]
        if fields.text not in columns:
            names = ", ".join(file.schema_arrow.names)
            yield Unread(source.name, f"there is no column {fields.text!r}, but {names}: name one with --text-field")
            return
        stop = file.metadata.num_rows if part.stop is None else part.stop
        groups, row = _row_groups(file.metadata, part.start, stop)
        for batch in file.iter_batches(_ROWS, row_groups=groups, columns=columns):
            for data in batch.to_pylist():
                if part.start <= row < stop:
                    yield _from_fields(data, f"{source.name}:{row + 1}", fields)
                row += 1
    except arrow.ArrowException as error:
        yield Unread(source.name, f"the Parquet file is damaged or not one ({str(error).splitlines()[0]})")


def _row_groups(metadata: Any, start: int, stop: int) -> tuple[list[int], int]:
    """The row groups with rows from `start` to `stop`, and the number of their first row."""
    groups: list[int] = []
    first = row = 0
    for group in range(metadata.num_row_groups):
        count = metadata.row_group(group).num_rows
        if row < stop and row + count > start:
            first = first if groups else row
            groups.append(group)
        row += count
    return groups, first


def _numbered_lines(source: Source, part: Part) -> Iterator[tuple[int, bytes]]:
    """The lines of a part with their numbers, without blank ones; one that is too long is cut off after its limit."""
    with open_bytes(source.path) as stream:
        if stream.seekable():
            stream.seek(part.start)  # in a compressed file this reads what comes before
        position, number = part.start, part.first
        while part.stop is None or position < part.stop:
            line = stream.readline(LONGEST_DOCUMENT + 1)
            if not line:
                break
            position += len(line)
            if not line.endswith(b"\n"):
                position += _skip_line(stream)
            if not line.isspace():
                yield number, line
            number += 1


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of a line; how many bytes that was."""
    skipped = 0
    while rest := stream.readline(LONGEST_DOCUMENT):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped


def _decoded(content: bytes, name: str, place: str) -> Document | Unread:
    """The text of some bytes, which must be UTF-8."""
    if len(content) > LONGEST_DOCUMENT:
        advice = "split it, or say --from lines if every line is a document"
        return Unread(place, f"the document has more than {LONGEST_DOCUMENT:,} bytes: {advice}")
    try:
        return Document(name, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        byte = content[error.start]
        return Unread(place, f"byte {error.start + 1:,} (0x{byte:02x}) is not UTF-8: convert the text first")


def _from_fields(data: dict[str, Any], place: str, fields: Fields) -> Document | Unread:
    """The document that a JSON object or a row describes."""
    text, name = data.get(fields.text), data.get(fields.id or _ID)
    if fields.text not in data:
        return Unread(place, f"there is no field {fields.text!r}: name the one with the text with --text-field")
    if not isinstance(text, str):
        return Unread(place, f"the field {fields.text!r} is {'null' if text is None else 'not a string'}")
    if name is None and fields.id is None:
        name = place
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        what = "there is no" if name is None else "not an id in"
        return Unread(place, f"{what} field {fields.id or _ID!r}: ids are strings or whole numbers")
    name = str(name)
    for value in (name, text):
        if bad_bytes(value) is not None:
            return Unread(place, "half a surrogate pair is not text")
    return Document(name, text)
