"""Trees as rows of Parquet files, a sentence in each: the same fields as in JSON, in the columns of `arrow_schema`.

`discoparse corpus` writes such files, and all commands that read treebanks read them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from discoparse.tree import Tree
from discoparse.treebank.arrow_schema import arrow_schema, import_arrow
from discoparse.treebank.jsontrees import accepted_tree
from discoparse.treebank.report import Reading

_BATCH = 1024  # rows that are read at once


def read(stream: BinaryIO, reading: Reading) -> Iterator[Tree]:
    """The trees of a Parquet file of this schema; further columns are ignored."""
    arrow, parquet = import_arrow(), import_arrow("pyarrow.parquet")
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        file = parquet.ParquetFile(source)
        columns = [name for name in arrow_schema().names if name in file.schema_arrow.names]
        if not {"tokens", "nodes"} <= set(columns):
            reading.problem("this Parquet file has no columns `tokens` and `nodes`: it was not written by discoparse")
            return
        number = 0
        for batch in file.iter_batches(_BATCH, columns=columns):
            for row in batch.to_pylist():
                number += 1
                tree = accepted_tree(_without_nulls(row), reading, number)
                if tree is not None:
                    yield tree
    except (arrow.ArrowException, OSError) as error:
        reading.problem(f"the Parquet file is damaged or not one ({str(error).splitlines()[0]})")


def _without_nulls(value: Any) -> Any:
    """Values as JSON has them: what is null is left out, maps are objects."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return dict(value)
        return [_without_nulls(item) for item in value]
    return value
