"""The published schema of sentences with their trees: as a JSON Schema, and as an Arrow schema for Parquet files.

Both are files in `schemas`, the second in the JSON form that Arrow's own libraries use to exchange schemas
(https://arrow.apache.org/docs/format/Integration.html#json-test-data-format).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discoparse.errors import UsageError

if TYPE_CHECKING:
    import pyarrow

SCHEMAS = {"json": "sentence.schema.json", "arrow": "sentence.arrow.json"}


def schema_text(kind: str) -> str:
    """The file of a schema: `json` or `arrow`."""
    return (files("discoparse.treebank") / "schemas" / SCHEMAS[kind]).read_text(encoding="utf-8")


def import_arrow(module: str = "pyarrow") -> Any:
    """PyArrow, or a module of it, which is an extra."""
    try:
        return import_module(module)
    except ImportError:
        raise UsageError("Parquet files need PyArrow: pip install 'discoparse[arrow]'") from None


@cache
def arrow_schema() -> pyarrow.Schema:
    """The columns of Parquet files with a sentence in each row."""
    arrow = import_arrow()
    return arrow.schema([_field(arrow, entry) for entry in json.loads(schema_text("arrow"))["schema"]["fields"]])


def _field(arrow: Any, entry: dict[str, Any]) -> pyarrow.Field:
    children = [_field(arrow, child) for child in entry["children"]]
    return arrow.field(entry["name"], _type(arrow, entry["type"], children), nullable=entry["nullable"])


def _type(arrow: Any, described: dict[str, Any], children: list[pyarrow.Field]) -> pyarrow.DataType:
    match described:
        case {"name": "utf8"}:
            return arrow.string()
        case {"name": "int", "bitWidth": bits, "isSigned": True}:
            return arrow.type_for_alias(f"int{bits}")
        case {"name": "floatingpoint", "precision": "DOUBLE"}:
            return arrow.float64()
        case {"name": "list"}:
            return arrow.list_(*children)
        case {"name": "struct"}:
            return arrow.struct(children)
        case {"name": "map"}:
            (entries,) = children
            return arrow.map_(entries.type.field(0).type, entries.type.field(1))
    raise ValueError(f"the schema has a type that is not known here: {described}")
