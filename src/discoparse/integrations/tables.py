"""Trees as rows of pandas and Arrow tables: a row for each node and each token, with the columns of `Tree.to_records`.

Needs pandas or PyArrow (`pip install 'discoparse[pandas]'`, `'discoparse[arrow]'`). The column `tree` numbers the trees
from 0, so that a row is found by `tree`, `kind` and `number`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discoparse.errors import UsageError
from discoparse.files.streams import encodable
from discoparse.tree import Tree

if TYPE_CHECKING:
    import pandas
    import pyarrow

# The columns and their types, as Arrow names them.
COLUMNS = {
    "tree": "int64",
    "id": "string",
    "kind": "string",
    "number": "int32",
    "parent": "int32",
    "label": "string",
    "edge": "string",
    "text": "string",
    "first": "int32",
    "last": "int32",
    "tokens": "int32",
    "gaps": "int32",
    "probability": "float64",
    "label_probability": "float64",
    "lemma": "string",
    "morph": "string",
}
BATCH_ROWS = 65_536


def arrow_schema() -> pyarrow.Schema:
    """The columns of an Arrow table of trees."""
    arrow = _import("pyarrow", "arrow")
    return arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in COLUMNS.items()])


def to_arrow(trees: Iterable[Tree]) -> pyarrow.Table:
    """The rows of trees as an Arrow table."""
    return to_arrow_batches(trees).read_all()


def to_arrow_batches(trees: Iterable[Tree], rows: int = BATCH_ROWS) -> pyarrow.RecordBatchReader:
    """The rows of any number of trees as Arrow batches of about `rows` rows, in bounded memory: for Parquet files."""
    arrow = _import("pyarrow", "arrow")
    schema = arrow_schema()

    def batches() -> Iterator[pyarrow.RecordBatch]:
        held: list[dict[str, Any]] = []
        for record in _records(trees):
            if len(held) >= rows and record["kind"] == "node" and record["number"] == 0:  # a tree starts
                yield arrow.RecordBatch.from_pylist(held, schema)
                held = []
            held.append(record)
        if held:
            yield arrow.RecordBatch.from_pylist(held, schema)

    return arrow.RecordBatchReader.from_batches(schema, batches())


def to_pandas(trees: Iterable[Tree]) -> pandas.DataFrame:
    """The rows of trees as a data frame. Columns of integers that may be missing have pandas' own types for that."""
    pandas = _import("pandas", "pandas")
    frame = pandas.DataFrame.from_records(list(_records(trees)), columns=list(COLUMNS))
    return frame.astype({name: _PANDAS[kind] for name, kind in COLUMNS.items()})


_PANDAS = {"int64": "int64", "int32": "Int32", "float64": "Float64", "string": "string"}


def _records(trees: Iterable[Tree]) -> Iterator[dict[str, Any]]:
    for number, tree in enumerate(trees):
        for record in tree.to_records():
            yield {
                "tree": number,
                **{name: encodable(value) if isinstance(value, str) else value for name, value in record.items()},
            }


def _import(library: str, extra: str) -> Any:
    try:
        return import_module(library)
    except ImportError:
        raise UsageError(f"{library} is not installed: pip install 'discoparse[{extra}]'") from None
