"""Rows of Parquet files, made column by column from what a parser decided: no tree, token or node becomes an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from discoparse.parser.outline import Outline
from discoparse.parser.passages import Passage
from discoparse.tree import Span
from discoparse.treebank.arrow_schema import arrow_schema, import_arrow

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document; its passage has spans and text."""

    document: str
    number: int  # in the document, from 1
    passage: Passage

    @property
    def id(self) -> str:
        """What tells it from all sentences of the corpus."""
        return f"{self.document}#{self.number}"


class Rows:
    """Collects sentences, and makes a batch of rows of them. Columns that are not named here are null."""

    def __init__(self) -> None:
        self._arrow = import_arrow()
        self._schema = arrow_schema()
        self._columns: dict[str, list[Any]] = {name: [] for name in ("id", "document", "sentence", "text")}
        self._tokens: dict[str, list[Any]] = {name: [] for name in ("word", "tag", "parent")}
        self._nodes: dict[str, list[Any]] = {name: [] for name in ("label", "label_probability", "parent")}
        # Lists within lists, as Arrow stores them: all values one after another, and where each list begins.
        self._spans: list[int] = []  # of the tokens, two for each
        self._yields: list[int] = []
        self._yield_starts = [0]
        self._blocks: list[int] = []  # of the nodes: two for each contiguous part
        self._block_starts = [0]
        self._token_starts = [0]
        self._node_starts = [0]

    def __len__(self) -> int:
        return len(self._columns["id"])

    def add(self, sentence: Sentence, tags: Sequence[str], found: Outline) -> None:
        """One more row."""
        passage = sentence.passage
        spans = passage.spans
        assert spans is not None
        values = (sentence.id, sentence.document, sentence.number, passage.text)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        self._tokens["word"] += passage.words
        self._tokens["tag"] += tags
        self._tokens["parent"] += found.token_parents
        self._nodes["label"] += found.labels
        self._nodes["label_probability"] += found.label_probabilities
        self._nodes["parent"] += [None, *found.parents[1:]]  # the first is the root
        for span in spans:
            self._spans += span
        for own in found.tokens:
            self._yields += own
            self._yield_starts.append(len(self._yields))
            self._blocks += _blocks(own, spans)
            self._block_starts.append(len(self._blocks) // 2)
        self._token_starts.append(len(self._tokens["word"]))
        self._node_starts.append(len(self._nodes["label"]))

    def batch(self) -> pyarrow.RecordBatch:
        """The rows that were added."""
        integers = self._arrow.int64()
        spans = self._lists(range(0, len(self._spans) + 1, 2), self._arrow.array(self._spans, integers))
        blocks = self._lists(range(0, len(self._blocks) + 1, 2), self._arrow.array(self._blocks, integers))
        yields = self._lists(self._yield_starts, self._arrow.array(self._yields, self._arrow.int32()))
        tokens = {**self._tokens, "span": spans}
        nodes = {**self._nodes, "tokens": yields, "spans": self._lists(self._block_starts, blocks)}
        columns = {
            **self._columns,
            "tokens": self._structs("tokens", self._token_starts, tokens),
            "nodes": self._structs("nodes", self._node_starts, nodes),
        }
        return self._arrow.RecordBatch.from_arrays(self._arrays(self._schema, columns, len(self)), schema=self._schema)

    def _lists(self, starts: Sequence[int], values: Any, kind: Any = None) -> pyarrow.ListArray:
        return self._arrow.ListArray.from_arrays(self._arrow.array(starts, self._arrow.int32()), values, type=kind)

    def _structs(self, column: str, starts: Sequence[int], columns: dict[str, Any]) -> pyarrow.ListArray:
        """A column of lists of structs."""
        kind = self._schema.field(column).type
        fields = list(kind.value_type)
        arrays = self._arrays(fields, columns, starts[-1])
        return self._lists(starts, self._arrow.StructArray.from_arrays(arrays, fields=fields), kind)

    def _arrays(self, fields: Any, columns: dict[str, Any], length: int) -> list[pyarrow.Array]:
        """The arrays of some fields, null where there is no column."""
        arrays = []
        for field in fields:
            values = columns.get(field.name)
            if values is None:
                values = self._arrow.nulls(length, field.type)
            elif isinstance(values, list):
                values = self._arrow.array(values, field.type)
            arrays.append(values)
        return arrays


def _blocks(own: Sequence[int], spans: Sequence[Span]) -> list[int]:
    """First and last character of each contiguous part of a node's tokens, one after another.

    >>> _blocks([0, 2, 3], [(0, 2), (3, 5), (6, 8), (9, 12)])
    [0, 2, 6, 12]
    """
    if own[-1] - own[0] + 1 == len(own):
        return [spans[own[0]][0], spans[own[-1]][1]]
    found = [spans[own[0]][0]]
    for before, after in pairwise(own):
        if after != before + 1:
            found += (spans[before][1], spans[after][0])
    return [*found, spans[own[-1]][1]]
