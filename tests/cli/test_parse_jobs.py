"""`discoparse parse --jobs`: what one process writes, whatever the input, the format and the options."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import run_main
from random_model import save_random_model

from discoparse import Token, Tree, write_trees
from discoparse.cli.parse_jobs import Jobs
from discoparse.drawing.options import EXTENSIONS
from discoparse.parser.jobs import tasks
from discoparse.parser.jobs.texts import Part
from discoparse.treebank import WRITABLE

TEXT = "What did you see? The dog (old) isn't “here”…\r\n\r\nCats bark 🎉 at 10 %.\n\nYou see\ncats\n\n" * 30
LINES = "What did you see ?\n\n-LRB- old cats )\nThe\tdog\n" * 30


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("models") / "random"
    save_random_model(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """So that workers take turns with short texts."""
    for function in (tasks.segment_tasks, tasks.line_tasks, tasks.tree_tasks, tasks.sentence_tasks):
        monkeypatch.setitem(function.__kwdefaults__, "size", 50)
    monkeypatch.setattr("discoparse.cli.parse_jobs.TASK_TOKENS", 50)


def both(model: str, *arguments: str) -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    """What one process and two say; messages in the order of the alphabet, since one process reads further ahead."""
    found = [run_main("parse", "--model", model, *arguments, "--jobs", jobs) for jobs in ("1", "2")]
    alone, together = ((status, output, "\n".join(sorted(told.splitlines()))) for status, output, told in found)
    return alone, together


@pytest.mark.parametrize("format", [*WRITABLE, "tree", "svg", "tikz"])
def test_every_format_is_the_same(model, tmp_path, format):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    alone, together = both(model, "--input", str(tmp_path / "text.txt"), "--to", format)
    assert together == alone
    assert alone[0] == (1 if format == "bracket" else 0)
    assert len(alone[1]) > 1000


@pytest.mark.parametrize("format", ["discbracket", "jsonl", "json", "export", "bracket"])
def test_lines_of_tokens_are_the_same(model, tmp_path, format):
    (tmp_path / "lines.txt").write_text(LINES + "word " * 2001 + "\n\nThe end .")
    alone, together = both(model, "--input", str(tmp_path / "lines.txt"), "--pretokenized", "--to", format)
    assert together == alone
    assert alone[0] == 1
    assert "line 121 is refused: it has 2,001 tokens" in alone[2]


@pytest.mark.parametrize(
    ("format", "options"),
    [
        *((format, []) for format in ("discbracket", "jsonl", "export")),
        # Not JSON: PyTorch's probabilities depend, in their last digits, on what is parsed together.
        *(
            (format, options)
            for format in ("discbracket", "export")
            for options in (["--keep", "tags"], ["--best", "2"])
        ),
    ],
)
def test_treebanks_are_the_same(model, tmp_path, format, options):
    words = [["What", "did", "you", "see", "?"], ["Go"]] * 10 + [["w"] * 2001, ["The", "dog"]]
    trees = [Tree.from_constituents([Token(w, "VB") for w in s], [("ROOT", range(len(s)))]) for s in words]
    for number, tree in enumerate(trees):
        tree.id = f"s{number}"
    write_trees(trees, tmp_path / "gold.export")
    arguments = ["--from", "export", "--input", str(tmp_path / "gold.export"), "--to", format, *options]
    alone, together = both(model, *arguments)
    assert together == alone
    assert alone[0] == 1
    assert "sentence 21 is refused" in alone[2]


def near(one: object, other: object) -> bool:
    """Whether two objects of JSON are the same except in the last digits of probabilities: PyTorch's depend on what is
    parsed together."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(near(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    return one == (pytest.approx(other, abs=1e-4) if isinstance(other, float) else other)


@pytest.mark.parametrize("format", ["jsonl", "json"])
@pytest.mark.parametrize(
    "wanted", ["best of text", "best of treebank", "best without ids", "keep", "models", "agreement"]
)
def test_json_of_what_needs_trees(model, tmp_path, wanted, format):
    """Ids, ranks, nodes and comments: everything that these options write."""
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    words = [["What", "did", "you", "see", "?"], ["Go"], ["The", "old", "dog"]] * 15
    trees = [Tree.from_constituents([Token(w, "VB") for w in s], [("ROOT", range(len(s)))]) for s in words]
    write_trees(trees, tmp_path / "gold.discbracket")
    for number, tree in enumerate(trees):
        tree.id = f"s{number}"
    write_trees(trees, tmp_path / "gold.export")
    text, treebank, without_ids = (
        ["--input", str(tmp_path / "text.txt")],
        ["--from", "export", "--input", str(tmp_path / "gold.export")],
        ["--from", "discbracket", "--input", str(tmp_path / "gold.discbracket")],
    )
    arguments = {
        "best of text": [*text, "--best", "3"],
        "best of treebank": [*treebank, "--best", "3"],
        "best without ids": [*without_ids, "--best", "3"],
        "keep": [*treebank, "--keep", "tags"],
        "models": [*text, "--model", model],
        "agreement": [*text, "--model", model, "--agreement", "90"],
    }[wanted]
    alone, together = both(model, *arguments, "--to", format)
    assert together[::2] == alone[::2] == (0, alone[2])
    read = json.loads if format == "json" else lambda output: list(map(json.loads, output.splitlines()))
    found, expected = read(together[1]), read(alone[1])
    assert near(found, expected)
    assert len(found) >= 45
    assert [tree["id"] for tree in found] == [tree["id"] for tree in expected]
    if wanted == "keep":
        assert all(token["tag"] == "VB" for tree in found for token in tree["tokens"])
    if "best" in wanted:
        first, third = ("s0", "s2") if wanted == "best of treebank" else ("1", "3")
        ids = [tree["id"] for tree in found]
        assert ids[:2] == [f"{first}.1", f"{first}.2"]
        assert f"{third}.1" in ids


def test_what_is_written_without_trees_is_what_is_written_of_trees(model, tmp_path):
    """One process without building trees, beside the same with an option that needs them and changes nothing."""
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    for format in ("discbracket", "jsonl", "json"):
        arguments = ["parse", "--model", model, "--input", str(tmp_path / "text.txt"), "--to", format]
        direct = run_main(*arguments)
        (tmp_path / "none.jsonl").write_text("null\n" * 120)
        assert run_main(*arguments, "--constraints", str(tmp_path / "none.jsonl")) == direct


def test_several_texts_and_blank_ones(model):
    for format in ("discbracket", "jsonl", "json"):
        alone, together = both(model, "--to", format, "What did you see?", " ", "The dog. Cats!")
        assert together == alone
        alone, together = both(model, "--to", format, " ")
        assert together == alone


def test_json_of_parts_without_results():
    """Of a part whose sentences were all left out nothing is written, commas included."""
    jobs = SimpleNamespace(format="json")
    one, none = Part(1, '{"id": "1"}'), Part()
    assert "".join(Jobs.pieces(jobs, [none, one, none, one, none])) == '[\n{"id": "1"},\n{"id": "1"}\n]\n'
    assert "".join(Jobs.pieces(jobs, [none, none])) == "[]\n"
    assert json.loads("".join(Jobs.pieces(jobs, []))) == []


def test_options_about_trust(model, tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    source = ["--input", str(tmp_path / "text.txt"), "--to", "jsonl"]
    alone, together = both(model, *source[:2], "--to", "export", "--best", "2")
    assert together == alone
    status, output, messages = run_main("parse", "--model", model, *source, "--mark-below", "100", "--jobs", "2")
    assert status == 0
    assert "120 of 120 sentences have an expected F1 below 100: marked" in messages
    trees = [json.loads(line) for line in output.splitlines()]
    assert [tree["id"] for tree in trees] == [str(number) for number in range(1, 121)]
    assert all(tree["comments"][0].startswith("doubtful") for tree in trees)
    assert run_main("parse", "--model", model, *source, "--skip-below", "100", "--jobs", "2")[1] == "null\n" * 120


def test_several_models_and_their_agreement(model, tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    source = ["--model", model, "--input", str(tmp_path / "text.txt")]
    alone, together = both(model, *source, "--to", "export")
    assert together == alone
    alone, together = both(model, *source, "--to", "discbracket", "--agreement", "90")
    assert together == alone
    assert "120 trees kept; 0 sentences left out" in alone[2]


def test_constraints_are_refused(model, tmp_path):
    (tmp_path / "none.jsonl").write_text("null\n")
    status, output, message = run_main(
        "parse", "--model", model, "--jobs", "2", "--constraints", str(tmp_path / "none.jsonl"), "Go."
    )
    assert (status, output) == (2, "")
    assert "leave out --jobs" in message


def test_with_a_gpu_only_greedy_trees_are_for_several_jobs(model, monkeypatch):
    monkeypatch.setattr("discoparse.cli.parse_jobs.device_name", lambda device: "cuda")
    status, _, message = run_main("parse", "--model", model, "--jobs", "2", "--to", "jsonl", "--best", "2", "Go.")
    assert status == 2
    assert "choose --device cpu" in message


def test_a_damaged_model_is_told(tmp_path):
    save_random_model(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").write_text("{}")
    alone, together = both(str(tmp_path / "model"), "Go.", "--to", "discbracket")
    assert alone[0] == together[0] == 1
    assert "vocabulary.json" in together[2]


def program(*arguments: str, **options) -> subprocess.Popen[str]:
    """The program as a process of its own, in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "discoparse", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def group(leader: int) -> list[int]:
    """The processes of a group that are there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(its_group) == leader and state != "Z":
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_trees_come_while_text_comes_and_ctrl_c_ends_all(model):
    with program("parse", "--model", model, "--lines", "--jobs", "2") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in ("cats", "dogs"):
            process.stdin.write(f"The {word}.\n")
            process.stdin.flush()
            assert f"1={word}" in process.stdout.readline()
        assert len(group(process.pid)) >= 4, "the program, the template and two workers"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.strip() == "discoparse: interrupted"
        end = time.monotonic() + 20
        while group(process.pid) and time.monotonic() < end:
            time.sleep(0.05)
        assert group(process.pid) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_killed_worker_is_told_and_loses_nothing(model):
    with program("parse", "--model", model, "--lines", "--jobs", "2", "--to", "jsonl") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("The cats.\n")
        process.stdin.flush()
        lines = [process.stdout.readline()]
        workers = sorted(group(process.pid))[-2:]
        os.kill(workers[0], signal.SIGKILL)
        output, errors = process.communicate("The dogs.\n" * 500, timeout=60)
    assert process.returncode == 0
    ids = [json.loads(line)["id"] for line in [*lines, *output.splitlines()]]
    assert ids == [str(number) for number in range(1, 502)]
    assert "was killed by SIGKILL" in errors


def test_every_picture_is_refused_or_drawn():
    assert set(EXTENSIONS) == {"tree", "svg", "tikz", "forest", "png", "pdf"}, "a new kind: try it with --jobs"
