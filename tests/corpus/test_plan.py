"""Units: together they have every document once, wherever files are cut; what cannot be read is reported."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discoparse.corpus.documents
import discoparse.corpus.plan
from discoparse.corpus.documents import Document, Fields, Unread, read_documents
from discoparse.corpus.plan import Part, Plan, fingerprint_of, make_plan
from discoparse.corpus.sources import Source, find_sources
from discoparse.errors import UsageError

arrow = pytest.importorskip("pyarrow", reason="needs the extra arrow")
parquet = pytest.importorskip("pyarrow.parquet")

FOLDER = TemporaryDirectory()


def units_of(sources: list[Source], least: int) -> Plan:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discoparse.corpus.plan, "LEAST_BYTES", least)
        return make_plan(sources, "text")


def documents_of(sources: list[Source], plan: Plan, fields: Fields | None = None) -> list[Document | Unread]:
    return [found for unit in plan.units for found in read_documents(sources, unit.parts, fields or Fields())]


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"), max_size=30)),
    end=st.sampled_from(["", "\n"]),
    least=st.integers(1, 200),
    block=st.integers(1, 64),
    packed=st.booleans(),
)
def test_lines_are_cut_between_documents(texts: list[str], end: str, least: int, block: int, packed: bool) -> None:
    path = Path(FOLDER.name) / "lines.txt"
    content = ("\n".join(texts) + end).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    sources = [Source(str(path), "lines.txt", "lines")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discoparse.corpus.plan, "_BLOCK", block)
        plan = units_of(sources, least)
    lines = [(number, line) for number, line in enumerate(texts, 1) if not line.encode().isspace() and line]
    assert documents_of(sources, plan) == [Document(f"lines.txt:{number}", line) for number, line in lines]
    assert all(unit.size for unit in plan.units) or len(plan.units) == 1
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_large_files_are_cut_and_small_ones_joined(tmp_path: Path) -> None:
    for name, count in {"a": 100, "b": 1, "c": 1, "d": 1}.items():
        (tmp_path / f"{name}.jsonl").write_text('{"text": "Some words."}\n' * count)
    plan = units_of(find_sources([str(tmp_path)]), 240)
    assert [len(unit.parts) for unit in plan.units] == [1] * 9 + [4]
    assert plan.units[0].parts == (Part(0, 0, 264, 1),)
    assert plan.units[1].parts == (Part(0, 264, 528, 12),)
    assert sum(unit.size for unit in plan.units) == 103 * 24
    (tmp_path / "texts").mkdir()
    for number in range(10):
        (tmp_path / "texts" / f"{number}.txt").write_text("word " * 20)
    plan = units_of(find_sources([str(tmp_path / "texts")]), 240)
    assert [unit.size for unit in plan.units] == [200] * 5


def test_the_plan_depends_on_the_input_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "Some words."}\n' * 1000)
    sources = find_sources([str(tmp_path)])
    assert units_of(sources, 100) == units_of(sources, 100)
    assert len(units_of(sources, 100).units) == pytest.approx(64, abs=4)


def test_a_compressed_file_is_cut_into_few_units(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Some words."}\n' * 5000))
    sources = find_sources([str(tmp_path)])
    plan = units_of(sources, 100)
    assert 8 <= len(plan.units) <= 17
    assert len(documents_of(sources, plan)) == 5000


@pytest.mark.parametrize("group", [1, 7, 100])
def test_rows_of_parquet_files(tmp_path: Path, group: int) -> None:
    rows = [{"text": f"Some words, {k}.", "name": f"n{k}", "more": k} for k in range(50)]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=group)
    sources = find_sources([str(tmp_path / "a.parquet")])
    plan = units_of(sources, 100)
    assert len(plan.units) > 3
    assert documents_of(sources, plan, Fields(id="name")) == [Document(row["name"], row["text"]) for row in rows]
    assert documents_of(sources, plan)[7] == Document("a.parquet:8", rows[7]["text"])


def test_fingerprints_are_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Some words.")
    (source,) = find_sources([str(path)])
    first = fingerprint_of(source)
    path.write_text("Same words.")
    os.utime(path, ns=(first.modified, first.modified + 1))
    assert not first.same_content(fingerprint_of(source, first))
    path.write_text("Some words.")
    assert first.same_content(fingerprint_of(source, first))
    path.with_name("b.txt").write_text("Some words.")
    assert not first.same_content(fingerprint_of(*find_sources([str(path.with_name("b.txt"))])))


def test_a_file_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (source,) = find_sources([str(tmp_path / "a.txt")])
    empty = fingerprint_of(source)
    (tmp_path / "a.txt").unlink()
    assert not empty.same_content(fingerprint_of(source))


# -- documents that cannot be read -------------------------------------------------------------------------------------


def read(path: Path, kind: str | None = None, **fields: str) -> list[Document | Unread]:
    sources = find_sources([str(path)], kind)
    return documents_of(sources, units_of(sources, 100), Fields(**fields))


def problem(path: Path, kind: str | None = None, **fields: str) -> str:
    found = read(path, kind, **fields)
    assert len(found) == 1
    assert isinstance(found[0], Unread)
    assert found[0].place.startswith(path.name)
    return found[0].problem


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "this is not a JSON object: [1]"),
        ("{", "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ('{"text": ["a"]}', "the field 'text' is not a string"),
        ('{"text": null}', "the field 'text' is null"),
        ('{"body": "a"}', "there is no field 'text': name the one with the text with --text-field"),
        ('{"text": "a", "id": 1.5}', "not an id in field 'id'"),
        ('{"text": "a", "id": true}', "not an id in field 'id'"),
        ('{"text": "a", "id": ""}', "not an id in field 'id'"),
        (r'{"text": "\ud800"}', "half a surrogate pair is not text"),
    ],
)
def test_bad_json(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "a.jsonl").write_text(line)
    assert complaint in problem(tmp_path / "a.jsonl")


def test_fields_of_other_names(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "Words.", "key": 7}\n{"body": "More."}\n')
    first, second = read(tmp_path / "a.jsonl", text="body", id="key")
    assert first == Document("7", "Words.")
    assert second == Unread("a.jsonl:2", "there is no field 'key': ids are strings or whole numbers")
    assert read(tmp_path / "a.jsonl", text="body")[1] == Document("a.jsonl:2", "More.")


def test_bad_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    assert "the Parquet file is damaged or not one" in problem(tmp_path / "a.parquet")
    parquet.write_table(arrow.table({"body": ["a"]}), tmp_path / "b.parquet")
    assert "there is no column 'text', but body: name one with --text-field" in problem(tmp_path / "b.parquet")


def test_damaged_compressed_files_are_read_up_to_the_damage(tmp_path: Path) -> None:
    lines = b"".join(b'{"text": "%d"}\n' % k for k in range(30_000))  # several buffers of the decompressor
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines)[:-2000])
    *documents, last = read(tmp_path / "a.jsonl.gz")
    assert len(documents) > 10_000
    assert documents == [Document(f"a.jsonl.gz:{k + 1}", str(k)) for k in range(len(documents))]
    assert "cut off or damaged" in last.problem


def test_files_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Words.")
    sources = find_sources([str(tmp_path)])
    plan = units_of(sources, 100)
    (tmp_path / "a.txt").unlink()
    assert documents_of(sources, plan) == [Unread("a.txt", "No such file or directory")]


def test_documents_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discoparse.corpus.documents, "LONGEST_DOCUMENT", 20)
    (tmp_path / "a.txt").write_text("word " * 5)
    assert "more than 20 bytes: split it" in problem(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text("short\n" + "word " * 50 + "\nnext\n")
    first, second, third = read(tmp_path / "a.txt", "lines")
    assert (first, third) == (Document("a.txt:1", "short"), Document("a.txt:3", "next"))
    assert isinstance(second, Unread)


# -- which files -------------------------------------------------------------------------------------------------------


def test_names_are_relative_to_what_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x/a.txt", "x/y/b.txt", "z/a.txt", "x/.hidden.txt", "x/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Words.")

    def names(*inputs: str) -> list[str]:
        return [source.name for source in find_sources([str(tmp_path / given) for given in inputs])]

    assert names("x") == ["a.txt", "y/b.txt"]
    assert names("x", "z") == ["x/a.txt", "x/y/b.txt", "z/a.txt"]
    assert names("x/a.txt") == ["a.txt"]
    assert names("*/*.txt") == ["x/a.txt", "z/a.txt"]
    assert names("x/**/*.txt") == ["a.txt", "y/b.txt"]
    assert names("x", "x/a.txt") == ["a.txt", "y/b.txt"]
    monkeypatch.chdir(tmp_path / "x")
    assert find_sources(["a.txt"]) == [Source(str(tmp_path / "x" / "a.txt"), "a.txt", "text")]


def test_kinds_of_files(tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl", "c.parquet", "d.ndjson.gz", "e"):
        (tmp_path / name).write_text("{}")

    def kinds(given: str, kind: str | None = None) -> list[tuple[str, str]]:
        return [(source.name, source.kind) for source in find_sources([str(tmp_path / given)], kind)]

    assert kinds("", "jsonl") == [("b.jsonl", "jsonl"), ("d.ndjson.gz", "jsonl")]
    assert kinds("", "lines") == [("a.txt", "lines"), ("e", "lines")]
    assert kinds("e", "parquet") == [("e", "parquet")]
    with pytest.raises(UsageError, match=r"several kinds \(2 jsonl, 1 text, 1 parquet\): choose one with --from"):
        kinds("")
    with pytest.raises(UsageError, match="cannot be told from its name: say --from"):
        kinds("e")
    with pytest.raises(UsageError, match="no file matches"):
        kinds("*.xml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there are no txt, jsonl or parquet files in the directory"):
        kinds("empty")
