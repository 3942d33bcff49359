"""Trees as rows of Parquet files, a sentence in each: the same fields as in JSON, in the columns of `arrow_schema`.

`discoparse corpus` writes such files, and all commands that read treebanks read them. Rows are made column by column:
by way of Python objects for each token and node, as JSON has them, it takes several times as long.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

from discoparse.tree import Node, Span, Token, Tree
from discoparse.treebank.arrow_schema import arrow_schema, import_arrow
from discoparse.treebank.jsontrees import accepted_tree, tree_to_json
from discoparse.treebank.report import Reading

if TYPE_CHECKING:
    import pyarrow

_BATCH = 1024  # rows that are read at once


class Rows:
    """Collects trees, and makes a batch of rows of them."""

    def __init__(self) -> None:
        self._arrow = import_arrow()
        self._trees: list[Tree] = []
        self._documents: list[str | None] = []
        self._sentences: list[int | None] = []
        self._tokens = _Lists()  # of the nodes; the words of a sentence are in `_trees`
        self._spans = _Lists()
        self._nodes: list[Node] = []
        self._node_counts: list[int] = []
        self._node_parents: list[int | None] = []
        self._token_parents: list[int] = []

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, tree: Tree, document: str | None = None, sentence: int | None = None) -> None:
        """One more row: a tree, its document, and which sentence of that it is."""
        self._trees.append(tree)
        self._documents.append(document)
        self._sentences.append(sentence)
        nodes = list(tree.preorder())
        numbers = {node: k for k, node in enumerate(nodes)}
        parents: list[int | None] = [None] * len(nodes)
        token_parents = [0] * len(tree.tokens)
        yields: list[list[int]] = [[] for _ in nodes]
        for k in range(len(nodes) - 1, -1, -1):  # children before parents
            own = yields[k]
            for child in nodes[k].children:
                if isinstance(child, int):
                    token_parents[child] = k
                    own.append(child)
                else:
                    number = numbers[child]
                    parents[number] = k
                    own += yields[number]
            own.sort()
        places = [token.span for token in tree.tokens]
        known = [place for place in places if place is not None]
        for own in yields:
            if len(known) < len(places):  # as in JSON, only trees of parsed text say where their nodes are
                self._tokens.add(None)
                self._spans.add(None)
            else:
                self._tokens.add(own)
                self._spans.add(_spans(own, known))
        self._nodes += nodes
        self._node_counts.append(len(nodes))
        self._node_parents += parents
        self._token_parents += token_parents

    def batch(self) -> pyarrow.RecordBatch:
        """The rows that were added."""
        columns = {
            "id": [tree.id for tree in self._trees],
            "document": self._documents,
            "sentence": self._sentences,
            "comments": [tree.comments or None for tree in self._trees],
            "text": [tree.text for tree in self._trees],
            "probability": [tree.probability for tree in self._trees],
            "expected_f1": [tree.expected_f1 for tree in self._trees],
            "secondary_edges": [tree_to_json(t)["secondary_edges"] if t.secondary_edges else None for t in self._trees],
        }
        made = {name: self._arrow.array(values, self._schema.field(name).type) for name, values in columns.items()}
        tokens = [token for tree in self._trees for token in tree.tokens]
        made["tokens"] = self._structs("tokens", [len(tree.tokens) for tree in self._trees], self._token_fields(tokens))
        made["nodes"] = self._structs("nodes", self._node_counts, self._node_fields())
        return self._arrow.RecordBatch.from_arrays([made[name] for name in self._schema.names], schema=self._schema)

    @cached_property
    def _schema(self) -> pyarrow.Schema:
        return arrow_schema()

    def _token_fields(self, tokens: Sequence[Token]) -> dict[str, Any]:
        spans = _Lists()
        for token in tokens:
            spans.add(token.span)
        return {
            "word": [token.word for token in tokens],
            "tag": [token.tag for token in tokens],
            "probability": [token.probability for token in tokens],
            "lemma": [token.lemma for token in tokens],
            "morph": [token.morph for token in tokens],
            "edge": [token.edge for token in tokens],
            "features": [list(token.features.items()) if token.features else None for token in tokens],
            "span": spans.array(self._arrow, self._arrow.int64()),
            "parent": self._token_parents,
        }

    def _node_fields(self) -> dict[str, Any]:
        arrow, nodes = self._arrow, self._nodes
        ends = arrow.array(range(0, len(self._spans.values) + 1, 2), arrow.int32())
        pairs = arrow.ListArray.from_arrays(ends, arrow.array(self._spans.values, arrow.int64()))
        starts = [None if start is None else start // 2 for start in self._spans.offsets]
        lists = arrow.array([*starts, len(pairs)], arrow.int32())
        return {
            "label": [node.label for node in nodes],
            "edge": [node.edge for node in nodes],
            "morph": [node.morph for node in nodes],
            "features": [list(node.features.items()) if node.features else None for node in nodes],
            "probability": [node.probability for node in nodes],
            "label_probability": [node.label_probability for node in nodes],
            "tokens": self._tokens.array(arrow, arrow.int32()),
            "spans": arrow.ListArray.from_arrays(lists, pairs),
            "parent": self._node_parents,
        }

    def _structs(self, column: str, counts: Sequence[int], fields: dict[str, Any]) -> pyarrow.ListArray:
        """A column of lists of structs: so many for each row, with these values one after another."""
        arrow, kind = self._arrow, self._schema.field(column).type
        arrays = [
            values if isinstance(values, arrow.Array) else arrow.array(values, field.type)
            for field, values in ((field, fields[field.name]) for field in kind.value_type)
        ]
        structs = arrow.StructArray.from_arrays(arrays, fields=list(kind.value_type))
        ends = [0]
        for count in counts:
            ends.append(ends[-1] + count)
        return arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()), structs, type=kind)


class _Lists:
    """Lists of integers one after another, some of them absent, as Arrow stores them."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.offsets: list[int | None] = []

    def add(self, values: Sequence[int] | None) -> None:
        if values is None:
            self.offsets.append(None)
        else:
            self.offsets.append(len(self.values))
            self.values += values

    def array(self, arrow: Any, kind: pyarrow.DataType) -> pyarrow.ListArray:
        offsets = arrow.array([*self.offsets, len(self.values)], arrow.int32())
        return arrow.ListArray.from_arrays(offsets, arrow.array(self.values, kind))


def _spans(own: Sequence[int], places: Sequence[Span]) -> list[int]:
    """First and last character of each contiguous part of a node's tokens, one after another.

    >>> _spans([0, 2, 3], [(0, 2), (3, 5), (6, 8), (9, 12)])
    [0, 2, 6, 12]
    """
    if own[-1] - own[0] + 1 == len(own):
        return [places[own[0]][0], places[own[-1]][1]]
    found = [places[own[0]][0]]
    for before, after in pairwise(own):
        if after != before + 1:
            found += (places[before][1], places[after][0])
    return [*found, places[own[-1]][1]]


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
