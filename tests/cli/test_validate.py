"""`discoparse validate` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import run_main

BAD = "\n".join(
    [
        "#BOS 1\na\tT\t--\t--\t500\n#500\tX\t--\t--\t501\n#501\tY\t--\t--\t500\n#EOS 1",  # cycle
        "#BOS 2\na\tT\t--\t--\t507\n#EOS 2",  # unknown parent
        "#BOS 2\na\tT\t--\t--\t0\n#EOS 2",  # duplicate id
        "#BOS 4\na\tT\t--\t0\n#EOS 4",  # field count
        "#BOS 5\n\udce4\tT\t--\t--\t0\n#EOS 5",  # encoding
        "#BOS 6\na\tT\t--\t--\t0\n#EOS 6",  # sound
        "#BOS 7\na\tT\t--\t--\t0\n",  # cut off
    ]
).encode("utf-8", "surrogateescape")


def test_all_problems_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "bad.export"
    path.write_bytes(BAD)
    status, output, _ = run_main("validate", "--json", str(path), str(tmp_path / "missing.export"))
    data = json.loads(output)
    assert status == 1
    found = [(problem["line"], problem["sentence"]) for problem in data["problems"]]
    assert found == [(3, "1"), (7, "2"), (9, "2"), (13, "4"), (16, "5"), (22, "7"), (None, None)]
    assert (data["sentences"], data["trees"]) == (7, 2)
    assert "cannot be read" in data["problems"][-1]["message"]


def test_text_and_status(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.export", tmp_path / "good.discbracket"
    bad.write_bytes(BAD)
    good.write_text("(S (X 0=a))\n")
    status, output, errors = run_main("validate", str(bad))
    assert status == 1
    assert len(output.splitlines()) == 6
    assert output.startswith(f"{bad}:3: sentence 1: the nodes form a cycle")
    assert "problems: 6" in errors
    status, output, errors = run_main("validate", str(good))
    assert (status, output) == (0, "")


def test_sentences_without_a_tree_are_told_apart_from_those_without_words(tmp_path: Path) -> None:
    """`parse` writes `null` for a sentence that it leaves out; `evaluate` tells what it reads as well."""
    trees, gold = tmp_path / "some.jsonl", tmp_path / "gold.discbracket"
    trees.write_text('null\n{"tokens": [{"word": "a", "tag": "X", "parent": 0}], "nodes": [{"label": "S"}]}\nnull\n')
    gold.write_text("(S (X 0=a))\n")
    for command in (["validate", str(trees)], ["evaluate", str(gold), str(trees)]):
        status, _, errors = run_main(*command)
        assert status == 0
        assert "2 sentences without a tree (null) left out" in errors
        assert "without words" not in errors


def test_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello")
    assert run_main("validate", str(tmp_path / "x.txt"))[0] == 2
    assert run_main("validate", "--from", "nothing", "x")[0] == 2


def test_shared_originals_are_sound(shared: Path) -> None:
    for folder, format in (("alpino", "alpino"), ("pcc", "tigerxml"), ("craft", "bracket"), ("icepahc", "bracket")):
        status, output, _ = run_main("validate", "--from", format, str(shared / "raw" / folder))
        assert (status, output) == (0, "")


def test_broken_brackets_count_as_sentences(tmp_path: Path) -> None:
    """The tree that does not close and the sound one after it are two."""
    path = tmp_path / "a.mrg"
    path.write_text("(ROOT (S (A a)\n(ROOT (S (A a)))\n")
    status, output, _ = run_main("validate", "--json", str(path))
    found = json.loads(output)
    assert (status, found["sentences"], found["trees"], len(found["problems"])) == (1, 2, 1, 1)
