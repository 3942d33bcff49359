"""Trees in Parquet files, and the published schemas, which say the same as the JSON that the program writes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from command_line import run_main
from hypothesis import HealthCheck, given, settings
from rich_trees import rich_trees

from discoparse.errors import TreebankError, UsageError
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import Report, jsontrees, read_trees, write_trees
from discoparse.treebank.arrow_schema import arrow_schema, schema_text

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra arrow")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

from discoparse.treebank.parquet_trees import _without_nulls  # noqa: E402


def parsed_tree(shift: int = 0) -> Tree:
    """A discontinuous tree as the parser makes it, with places in a text."""
    tokens = [Token("Wake", "VB", span=(0, 4)), Token("us", "PRP", span=(5, 7)), Token("up", "RP", span=(8, 10))]
    for token in tokens:
        assert token.span is not None
        token.span = token.span[0] + shift, token.span[1] + shift
    verb = Node("VP", [0, 2], label_probability=0.5)
    return Tree(tokens, Node("S", [verb, Node("NP", [1])], probability=0.25), id="a#1", text="Wake us up")


def batch(trees: list[Tree]) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([tree.to_json() for tree in trees], arrow_schema())


def write(path: Path, trees: list[Tree]) -> None:
    parquet.write_table(pyarrow.Table.from_batches([batch(trees)]), path)


def validator(definition: str | None = None) -> jsonschema.Draft202012Validator:
    schema = json.loads(schema_text("json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema if definition is None else schema["$defs"][definition])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=rich_trees())
def test_rows_are_the_json_of_trees(tree: Tree) -> None:
    """Everything that a tree may have, and nothing else; both fit their schema, and the row reads as the same tree."""
    data = json.loads(json.dumps(tree.to_json()))
    assert not list(validator().iter_errors(data))
    stored = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_batches([batch([tree])]), stored)
    assert parquet.read_schema(stored).equals(arrow_schema())
    (row,) = parquet.read_table(stored).to_pylist()
    assert _without_nulls(row) == _without_nulls(data)
    read, _ = jsontrees.tree_from_json(_without_nulls(row))
    assert read == tree


def test_both_schemas_have_the_keys_of_the_json_format() -> None:
    schema = json.loads(schema_text("json"))
    keys = {
        "tokens": (jsontrees._TOKEN_KEYS, "token"),
        "nodes": (jsontrees._NODE_KEYS, "node"),
        "secondary_edges": (jsontrees._EDGE_KEYS, "secondary_edge"),
    }
    assert set(schema["properties"]) == jsontrees._TREE_KEYS == set(arrow_schema().names)
    for column, (known, definition) in keys.items():
        assert set(schema["$defs"][definition]["properties"]) == known
        assert {field.name for field in arrow_schema().field(column).type.value_type} == known


def test_a_field_that_must_be_there_is_so_in_both_schemas() -> None:
    schema = json.loads(schema_text("json"))
    struct = arrow_schema().field("tokens").type.value_type
    assert {field.name for field in struct if not field.nullable} == set(schema["$defs"]["token"]["required"])
    assert {field.name for field in arrow_schema() if not field.nullable} == set(schema["required"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"document": 7}, "document must be a string"),
        ({"sentence": "x"}, "sentence must be a number"),
        ({"sentense": 1}, "unknown key 'sentense'"),
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(change: dict[str, object], complaint: str) -> None:
    data = parsed_tree().to_json() | change
    assert list(validator().iter_errors(data))
    tree, graph = jsontrees.tree_from_json(data)
    assert tree is None
    assert complaint in graph.defects[0].message


def test_document_and_sentence_are_read_and_dropped() -> None:
    tree, graph = jsontrees.tree_from_json(parsed_tree().to_json() | {"document": "a", "sentence": 1})
    assert tree == parsed_tree()
    assert not graph.defects


def test_a_folder_of_parquet_files_is_read_by_convert(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write(folder / "part-0.parquet", [parsed_tree()] * 1500)  # more than one batch
    write(folder / "part-1.parquet", [])
    status, _, errors = run_main("convert", str(folder), str(tmp_path / "trees.jsonl"))
    assert status == 0, errors
    assert list(read_trees(tmp_path / "trees.jsonl")) == [parsed_tree()] * 1500
    text = (tmp_path / "trees.jsonl").read_text()
    assert json.loads(text.splitlines()[0]) == parsed_tree().to_json()


def test_parquet_is_recognised_whatever_the_name(tmp_path: Path) -> None:
    write(tmp_path / "trees", [parsed_tree()])
    assert list(read_trees(tmp_path / "trees")) == [parsed_tree()]
    assert list(read_trees(tmp_path / "trees", "parquet")) == [parsed_tree()]


def test_parquet_from_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "trees", [parsed_tree()])

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    pipe = io.TextIOWrapper(io.BufferedReader(Pipe((tmp_path / "trees").read_bytes())))
    monkeypatch.setattr("sys.stdin", pipe)
    assert list(read_trees("-")) == [parsed_tree()]


@pytest.mark.parametrize("content", [b"PAR1 and nothing more", b"PAR1" + b"\0" * 64 + b"PAR1", b"no parquet at all"])
def test_damaged_files_are_problems(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.parquet").write_bytes(content)
    with pytest.raises(TreebankError, match="the Parquet file is damaged"):
        list(read_trees(tmp_path / "bad.parquet"))


def test_a_parquet_file_of_something_else(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "texts.parquet")
    with pytest.raises(TreebankError, match="no columns `tokens` and `nodes`"):
        list(read_trees(tmp_path / "texts.parquet"))


def test_a_bad_row_costs_only_itself(tmp_path: Path) -> None:
    good, bad = parsed_tree().to_json(), parsed_tree().to_json()
    bad["tokens"] = [{**token, "parent": 7} for token in bad["tokens"]]
    table = pyarrow.Table.from_pylist([good, bad, good], schema=arrow_schema())
    parquet.write_table(table, tmp_path / "some.parquet")
    report = Report()
    assert len(list(read_trees(tmp_path / "some.parquet", on_error="skip", report=report))) == 2
    assert report.skipped == 1
    with pytest.raises(TreebankError, match=r"some\.parquet:2: sentence a#1: "):
        list(read_trees(tmp_path / "some.parquet"))


def test_parquet_is_not_written_by_convert(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can only be read here"):
        write_trees([parsed_tree()], tmp_path / "trees.parquet")
    with pytest.raises(UsageError, match="can only be read here"):
        write_trees([parsed_tree()], tmp_path / "trees", "parquet")


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / "trees.parquet", [parsed_tree()])
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'discoparse\[arrow\]'"):
        list(read_trees(tmp_path / "trees.parquet"))
