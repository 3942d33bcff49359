"""`discoparse convert` from end to end: its options, and its promises about the output file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from discoparse.cli import main
from discoparse.treebank import read_trees

TRACES = """( (S (WHNP-1 (WP what)) (NP-SBJ (PRP you)) (VP (VB do) (NP (-NONE- *T*-1)) (CD 1\\/2)) (. ?)) )
( (FRAG (-NONE- *)) )
"""
DISCONTINUOUS = '(ROOT (S (VP (WP 0=what) (VB 2=do)) (NP (PRP 1=you))) ($, 3=,) ($[ 4=") ($. 5=.))\n'


def run(*arguments: object, input: str | None = None) -> Result:
    """The command as a user calls it, exit status included."""
    import click

    @click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def shell(rest: tuple[str, ...]) -> None:
        main(list(rest))

    return CliRunner().invoke(shell, ["convert", *map(str, arguments)], input=input)


@pytest.fixture
def penn(tmp_path: Path) -> Path:
    path = tmp_path / "in.mrg"
    path.write_text(TRACES, encoding="utf-8")
    return path


def converted(source: Path, *options: str) -> str:
    """The discbracket text of a converted file."""
    result = run(source, "-", "--to", "discbracket", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_traces_reattach(penn: Path) -> None:
    assert converted(penn, "--traces", "reattach") == (
        "(ROOT (S (VP (WHNP (WP 0=what)) (VB 2=do) (CD 3=1/2)) (NP (PRP 1=you)) (. 4=?)))\n"
    )


def test_traces_remove_keeps_functions(penn: Path) -> None:
    assert converted(penn, "--traces", "remove") == (
        "(ROOT (S (WHNP (WP 0=what)) (NP-SBJ (PRP 1=you)) (VP (VB 2=do) (CD 3=1\\/2)) (. 4=?)))\n"
    )


def test_functions_remove(penn: Path) -> None:
    options = ["--traces", "remove", "--functions", "remove", "--punct", "remove", "--root", "TOP"]
    text = converted(penn, *options)
    assert text == "(TOP (S (WHNP (WP 0=what)) (NP (PRP 1=you)) (VP (VB 2=do) (CD 3=1\\/2))))\n"


def test_wordless_sentences_are_counted(penn: Path, tmp_path: Path) -> None:
    result = run(penn, tmp_path / "out.export", "--traces", "reattach")
    assert result.exit_code == 0
    assert "1 sentence without words left out" in result.stderr
    assert "1 tree written" in result.stderr


def test_traces_that_cannot_be_reattached_are_told(tmp_path: Path) -> None:
    source = tmp_path / "in.mrg"
    source.write_text("(S (A a) (NP (-NONE- *T*-7)))\n" * 12, encoding="utf-8")
    result = run(source, tmp_path / "out.discbracket", "--traces", "reattach")
    assert "sentence number 1: no phrase has the index 7 of a trace" in result.stderr
    assert "and 2 more like these" in result.stderr


def test_discontinuous_trees_go_to_brackets_only_with_traces(tmp_path: Path) -> None:
    source, target = tmp_path / "in.discbracket", tmp_path / "out.mrg"
    source.write_text(DISCONTINUOUS, encoding="utf-8")
    refused = run(source, target)
    assert refused.exit_code == 1
    assert "--traces write" in refused.stderr
    assert not target.exists()
    assert run(source, target, "--traces", "write").exit_code == 0
    assert "*T*-1" in target.read_text() or "*ICH*-1" in target.read_text()
    assert converted(target, "--traces", "reattach") == DISCONTINUOUS


def test_encodings_of_the_tree_are_undone(tmp_path: Path) -> None:
    source, binary = tmp_path / "in.discbracket", tmp_path / "binary.discbracket"
    text = DISCONTINUOUS.replace("(NP (PRP 1=you))", "(NP (X+Y (PRP 1=you)))")
    source.write_text(text, encoding="utf-8")
    assert run(source, binary, "--binarize", "--collapse-unaries").exit_code == 0
    assert "|<>" in binary.read_text()
    assert "NP+X\\+Y" in binary.read_text()
    assert converted(binary, "--unbinarize", "--expand-unaries") == source.read_text()


def test_several_inputs_and_standard_input(tmp_path: Path) -> None:
    source, target = tmp_path / "in.discbracket", tmp_path / "out.jsonl.gz"
    source.write_text(DISCONTINUOUS, encoding="utf-8")
    assert run(source, "-", source, target, "--from", "discbracket", input=DISCONTINUOUS).exit_code == 0
    assert [str(tree) for tree in read_trees(target)] == [DISCONTINUOUS.strip()] * 3


def test_a_failure_leaves_the_old_output(tmp_path: Path) -> None:
    source, target = tmp_path / "in.discbracket", tmp_path / "out.discbracket"
    source.write_text(DISCONTINUOUS + "(S (A 0=a)\n", encoding="utf-8")
    target.write_text("precious", encoding="utf-8")
    result = run(source, target)
    assert result.exit_code == 1
    assert "in.discbracket:2" in result.stderr
    assert target.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.discbracket", "out.discbracket"]
    assert run(source, target, "--on-error", "skip").exit_code == 0
    assert target.read_text() == DISCONTINUOUS


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    source = tmp_path / "in.discbracket"
    source.write_text(DISCONTINUOUS * 3, encoding="utf-8")
    assert run(source, source, "--punct", "remove").exit_code == 0
    assert source.read_text() == "(ROOT (S (VP (WP 0=what) (VB 2=do)) (NP (PRP 1=you))))\n" * 3


def test_standard_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    """A terminal set to another encoding must neither change the bytes nor end in a traceback."""
    source = tmp_path / "in.discbracket"
    source.write_text("(S (N 0=Þór) (N 1=日本))\n", encoding="utf-8")
    command = [sys.executable, "-c", "from discoparse.cli import main; main()", "convert", str(source), "-"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    result = subprocess.run([*command, "--to", "discbracket"], capture_output=True, env=environment, check=True)
    assert result.stdout == source.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["only.discbracket"], 2, "needs an input and an output"),
        (["missing.discbracket", "out.discbracket"], 1, "discoparse: missing.discbracket: No such file"),
        (["missing.discbracket", "."], 2, "is a directory"),
        (["missing.discbracket", "no/such/folder.export"], 2, "does not exist"),
        (["a", "b", "--punct", "scatter"], 2, "scatter"),
        (["a", "b", "--root", ""], 2, "root may not be empty"),
        ([], 2, "IN"),
    ],
)
def test_wrong_use_is_explained(arguments: list[str], status: int, message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == status
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_brackets_leave_out_discontinuous_trees_if_asked(tmp_path):
    """With --on-error skip, as `parse --to bracket` does; otherwise the first one ends the run."""
    source, target = tmp_path / "in.discbracket", tmp_path / "out.mrg"
    source.write_text(DISCONTINUOUS + "(S (A 0=a))\n(ROOT (ID 0=b))\n")
    assert run(source, target).exit_code == 1
    result = run(source, target, "--on-error", "skip", "--to", "bracket")
    assert result.exit_code == 0
    assert "bracket cannot hold: discontinuous trees (1), trees with a word tagged ID under ROOT" in result.output
    assert target.read_text() == "(S (A a))\n"
