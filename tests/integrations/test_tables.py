"""Trees as rows of pandas and Arrow tables: every value of `to_records`, with types, in bounded memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tiny_models import example_trees

from discoparse import Node, Token, Tree
from discoparse.integrations import tables


def small() -> Tree:
    vp = Node("VP", [0, 2], edge="HD", probability=0.5)
    return Tree([Token("what", "WP", lemma="what"), Token("to", "TO"), Token("do", "VB")], Node("S", [vp, 1]), "s1")


def rows(trees):
    return [{"tree": number, **record} for number, tree in enumerate(trees) for record in tree.to_records()]


def test_columns_are_those_of_records():
    (row, *_) = small().to_records()
    assert list(tables.COLUMNS) == ["tree", *row]


def cut_emoji() -> Tree:
    return Tree([Token("\ud83d", "X"), Token("🙂", "X")], Node("S", [0, 1]))


class TestArrow:
    @pytest.fixture(autouse=True)
    def library(self):
        pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")

    def test_rows_are_the_records(self):
        table = tables.to_arrow([small(), *example_trees()])
        assert table.schema == tables.arrow_schema()
        assert table.to_pylist() == rows([small(), *example_trees()])
        assert table.num_rows == sum(len(tree.to_records()) for tree in [small(), *example_trees()])

    def test_half_a_surrogate_pair(self):
        assert tables.to_arrow([cut_emoji()])["text"].to_pylist() == ["\ufffd 🙂", "\ufffd", "🙂"]

    def test_types(self):
        types = {field.name: str(field.type) for field in tables.arrow_schema()}
        assert types == tables.COLUMNS | {"probability": "double", "label_probability": "double"}

    def test_no_trees(self):
        assert tables.to_arrow([]).num_rows == 0
        assert tables.to_arrow([]).schema == tables.arrow_schema()

    def test_batches_hold_whole_trees_and_are_made_as_needed(self):
        """The 5 rows of each tree: two trees have the 6 rows that a batch is to have, and the third is not read yet."""
        taken = []

        def trees():
            for number in range(5):
                taken.append(number)
                yield small()

        reader = tables.to_arrow_batches(trees(), rows=6)
        assert taken == []
        first = reader.read_next_batch()
        assert first.num_rows == 10
        assert taken == [0, 1, 2]
        sizes = [first.num_rows, *(batch.num_rows for batch in reader)]
        assert sizes == [10, 10, 5]

    def test_parquet_and_back(self, tmp_path):
        from pyarrow import parquet

        with parquet.ParquetWriter(tmp_path / "trees.parquet", tables.arrow_schema()) as writer:
            for batch in tables.to_arrow_batches(example_trees(), rows=10):
                writer.write_batch(batch)
        assert parquet.read_table(tmp_path / "trees.parquet").to_pylist() == rows(example_trees())


class TestPandas:
    @pytest.fixture(autouse=True)
    def library(self):
        pytest.importorskip("pandas", reason="the extra `pandas` is not installed")

    def test_rows_are_the_records(self):
        trees = [small(), *example_trees()]
        frame = tables.to_pandas(trees)
        assert list(frame.columns) == list(tables.COLUMNS)
        plain = frame.astype(object).where(frame.notna(), None).to_dict("records")
        assert plain == rows(trees)

    def test_half_a_surrogate_pair(self):
        assert list(tables.to_pandas([cut_emoji()])["text"]) == ["\ufffd 🙂", "\ufffd", "🙂"]

    def test_missing_values_leave_integers_integers(self):
        frame = tables.to_pandas([small()])
        kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
        shown = [kinds[name] for name in ("tree", "parent", "probability", "label")]
        assert shown == ["int64", "Int32", "Float64", "string"]
        assert frame["parent"].isna().tolist() == [True, False, False, False, False]
        assert frame.query("kind == 'node' and gaps > 0")["text"].tolist() == ["what … do"]

    def test_no_trees(self):
        frame = tables.to_pandas([])
        assert len(frame) == 0
        assert str(frame.dtypes["first"]) == "Int32"


@pytest.mark.parametrize(
    ("library", "extra", "call"), [("pyarrow", "arrow", "to_arrow"), ("pandas",) * 2 + ("to_pandas",)]
)
def test_a_missing_library_is_named(library, extra, call):
    code = f"""if True:
        import sys
        sys.modules[{library!r}] = None
        from discoparse.integrations import tables
        try:
            tables.{call}([])
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"UsageError {library} is not installed: pip install 'discoparse[{extra}]'\n"
