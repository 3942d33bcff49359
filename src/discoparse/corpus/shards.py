"""The files of the output: rows in Parquet or JSON lines, which appear under their names when they are complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from discoparse.corpus.rows import Rows, Sentence
from discoparse.files import replacing
from discoparse.parser.outline import Decisions, Writer, outline
from discoparse.treebank.arrow_schema import arrow_schema, import_arrow

_BATCH = 2048  # sentences that are held as lists of Python; columns take less memory


class Shard(Protocol):
    """A file that is being written. Rows are in it when they are kept; what was added since can be dropped."""

    def add(self, sentence: Sentence, decided: Decisions) -> None: ...

    def keep(self) -> None: ...

    def drop(self) -> None: ...


class _Parquet:
    """Rows of a Parquet file; those that are kept at once are a row group."""

    def __init__(self, file: Any, writer: Writer) -> None:
        self._file, self._writer = file, writer
        self._arrow = import_arrow()
        self.drop()

    def drop(self) -> None:
        self._rows = Rows()
        self._batches: list[Any] = []

    def add(self, sentence: Sentence, decided: Decisions) -> None:
        tags = [self._writer.tags[tag] for tag in decided.tags]
        self._rows.add(sentence, tags, outline(decided, self._writer.chains))
        if len(self._rows) == _BATCH:
            self._collect()

    def _collect(self) -> None:
        self._batches.append(self._rows.batch())
        self._rows = Rows()

    def keep(self) -> None:
        if len(self._rows):
            self._collect()
        if self._batches:
            self._file.write_table(self._arrow.Table.from_batches(self._batches))
        self.drop()


class _JsonLines:
    """Lines of JSON."""

    def __init__(self, stream: BinaryIO, writer: Writer) -> None:
        self._stream, self._writer = stream, writer
        self._lines: list[str] = []

    def drop(self) -> None:
        self._lines = []

    def add(self, sentence: Sentence, decided: Decisions) -> None:
        place = json.dumps({"document": sentence.document, "sentence": sentence.number}, ensure_ascii=False)
        rest = self._writer.json_line(sentence.passage, decided, sentence.id)
        self._lines.append(f"{place[:-1]}, {rest[1:]}")

    def keep(self) -> None:
        self._stream.writelines(line.encode() for line in self._lines)
        self.drop()


@contextmanager
def open_shard(path: Path, format: str, writer: Writer) -> Iterator[Shard]:
    """A file of rows, which replaces the one of that name when all are in it. `writer` knows the model's names."""
    with replacing(path) as stream:
        if format == "jsonl":
            yield _JsonLines(stream, writer)
            return
        parquet = import_arrow("pyarrow.parquet")
        with parquet.ParquetWriter(stream, arrow_schema(), compression="zstd") as file:
            yield _Parquet(file, writer)
