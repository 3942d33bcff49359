"""The files of the output: rows in Parquet or JSON lines, which appear under their names when they are complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from discoparse.files import replacing
from discoparse.tree import Tree
from discoparse.treebank.arrow_schema import arrow_schema, import_arrow
from discoparse.treebank.jsontrees import tree_to_json
from discoparse.treebank.parquet_trees import Rows

_BATCH = 512  # trees that are held as such; rows take less memory


class Shard(Protocol):
    """A file that is being written. Rows are in it when they are kept; what was added since can be dropped."""

    def add(self, tree: Tree, document: str, sentence: int) -> None: ...

    def keep(self) -> None: ...

    def drop(self) -> None: ...


class _Parquet:
    """Rows of a Parquet file; those that are kept at once are a row group."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._arrow = import_arrow()
        self.drop()

    def drop(self) -> None:
        self._rows = Rows()
        self._batches: list[Any] = []

    def add(self, tree: Tree, document: str, sentence: int) -> None:
        self._rows.add(tree, document, sentence)
        if len(self._rows) == _BATCH:
            self._collect()

    def _collect(self) -> None:
        self._batches.append(self._rows.batch())
        self._rows = Rows()

    def keep(self) -> None:
        if len(self._rows):
            self._collect()
        if self._batches:
            self._writer.write_table(self._arrow.Table.from_batches(self._batches))
        self.drop()


class _JsonLines:
    """Lines of JSON."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def drop(self) -> None:
        self._lines = []

    def add(self, tree: Tree, document: str, sentence: int) -> None:
        data = {"id": tree.id, "document": document, "sentence": sentence, **tree_to_json(tree)}
        self._lines.append(json.dumps(data, ensure_ascii=False))

    def keep(self) -> None:
        self._stream.writelines(f"{line}\n".encode() for line in self._lines)
        self.drop()


@contextmanager
def open_shard(path: Path, format: str) -> Iterator[Shard]:
    """A file of rows, which replaces the one of that name when all are in it."""
    with replacing(path) as stream:
        if format == "jsonl":
            yield _JsonLines(stream)
            return
        parquet = import_arrow("pyarrow.parquet")
        with parquet.ParquetWriter(stream, arrow_schema(), compression="zstd") as writer:
            yield _Parquet(writer)
