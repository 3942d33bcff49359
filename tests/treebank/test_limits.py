"""Lines, sentences and values without end are given up at a limit, with a message, and cost one sentence."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest

from discoparse.errors import Problem
from discoparse.tree import ROOT, Node, Token, Tree
from discoparse.treebank import Report, jsonvalues, lines, read_trees, write_trees, xmlblocks

LINE_BASED = ["bracket", "discbracket", "export"]


def corpus(length: int) -> list[Tree]:
    """Trees of which the second has a long word."""
    words = ["one", "w" * length, "tri", "for"]
    return [Tree([Token(word, "T")], Node(ROOT, [Node("X", [0])]), str(k)) for k, word in enumerate(words)]


@pytest.mark.parametrize("format", LINE_BASED)
def test_a_line_that_is_too_long_costs_one_sentence(tmp_path: Path, monkeypatch, format: str) -> None:
    monkeypatch.setattr(lines, "MOST_CHARACTERS", 1000)
    path = tmp_path / "trees"
    write_trees(corpus(5000), path, format, report=Report())
    problems: list[Problem] = []
    report = Report(on_problem=problems.append)
    trees = list(read_trees(path, format, on_error="repair", report=report))
    assert [tree.words for tree in trees] == [["one"], ["tri"], ["for"]]
    where = [k for k, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 1000]
    assert [problem.line for problem in problems] == where
    assert [problem.message for problem in problems] == [lines.TOO_LONG]
    assert report.skipped == 1


@pytest.mark.parametrize("length", [997, 998, 999, 1000, 1001, 1999, 2000, 2001, 3000])
def test_lines_around_the_limit(monkeypatch, length: int) -> None:
    """A line counts with its end; lines after it keep their numbers."""
    monkeypatch.setattr(lines, "MOST_CHARACTERS", 1000)
    for end in ("\n", ""):
        found = list(lines.numbered_lines(io.StringIO("first\n" + "x" * length + end + ("last" if end else ""))))
        fits = length + len(end) <= 1000 if end else length < 1000
        assert found[:2] == [(1, "first\n"), (2, "x" * length + end if fits else None)]
        assert found[2:] == ([(3, "last")] if end else [])


def test_a_line_too_long_inside_a_tree_of_many_lines(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MOST_CHARACTERS", 1000)
    path = tmp_path / "a.mrg"
    sound = "(S (A a)\n   (B b))\n"
    path.write_text(f"{sound}(S (A a)\n   (B {'b' * 2000})\n   (C c))\n{sound}")
    problems: list[Problem] = []
    trees = list(read_trees(path, on_error="skip", report=Report(on_problem=problems.append)))
    assert [tree.words for tree in trees] == [["a", "b"]] * 2
    assert [problem.line for problem in problems] == [3, 4]


@pytest.mark.parametrize("format", [*LINE_BASED, "json", "jsonl", "tigerxml", "alpino"])
def test_memory_does_not_grow_with_a_line(tmp_path: Path, monkeypatch, format: str) -> None:
    """A small compressed file may hold a very long line."""
    for module in (lines, jsonvalues, xmlblocks):
        monkeypatch.setattr(module, "MOST_CHARACTERS", 1 << 16)
    path = tmp_path / "long.gz"
    opening = {"json": b'[{"id": "', "jsonl": b'{"id": "', "tigerxml": b"<s ", "alpino": b"<alpino_ds "}
    path.write_bytes(gzip.compress(opening.get(format, b"(") + b"x" * 30_000_000))
    problems: list[Problem] = []
    tracemalloc.start()
    try:
        assert list(read_trees(path, format, on_error="skip", report=Report(on_problem=problems.append))) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problems
    assert peak < 8_000_000
