"""What commands write: whole files or the old ones, whatever the names of files are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run_main
from tiny_models import SIZES, toy_treebank

from discoparse.model.info import read_info
from discoparse.treebank import read_trees, write_trees

LINE = "(ROOT (S (VP (PWS 0=Was) (VVINF 3=tun)) (VAFIN 1=wird) (PPER 2=er)) ($. 4=?))\n"
ALPINO = (
    '<alpino_ds version="1.3"><node cat="top" rel="top" begin="0" end="1">'
    '<node begin="0" end="1" word="ja" pt="tsw" rel="--"/></node><sentence>ja</sentence></alpino_ds>\n'
)
ODD = b"caf\xe9"  # not UTF-8


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder in which names that are not UTF-8 are possible."""
    try:
        (tmp_path / os.fsdecode(ODD)).write_text("")
    except (OSError, UnicodeError) as error:
        pytest.skip(f"this file system refuses names that are not UTF-8: {error}")
    (tmp_path / os.fsdecode(ODD)).unlink()
    return tmp_path


def test_an_input_that_is_called_unfinished_survives(tmp_path: Path) -> None:
    source, target = tmp_path / "out.discbracket.unfinished", tmp_path / "out.discbracket"
    source.write_text(LINE * 3)
    assert run_main("convert", str(source), str(target), "--from", "discbracket")[0] == 0
    assert source.read_text() == target.read_text() == LINE * 3


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_converting_onto_a_link_to_the_input(tmp_path: Path, link) -> None:
    source, target = tmp_path / "in.discbracket", tmp_path / "link.discbracket"
    source.write_text(LINE * 3)
    link(source, target)
    assert run_main("convert", str(source), str(target))[0] == 0
    assert source.read_text() == target.read_text() == LINE * 3
    assert names(tmp_path) == ["in.discbracket", "link.discbracket"]


def test_two_programs_that_write_one_output(tmp_path: Path) -> None:
    """Each writes a file of its own, and the last to end gives the output its content."""
    target = tmp_path / "out.discbracket"
    lines = {word: LINE.replace("Was", word) for word in ("Wen", "Wem")}
    command = [sys.executable, "-m", "discoparse", "convert", "-", str(target), "--from", "discbracket"]
    writers = {word: subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for word in lines}
    for word, writer in writers.items():  # more than a pipe holds, so that both are at work
        writer.stdin.write(lines[word].encode() * 5000)
    for word, writer in writers.items():
        writer.communicate(lines[word].encode() * 10)
        assert writer.returncode == 0
        assert len(set(target.read_text().splitlines())) == 1
        assert len(list(read_trees(target))) == 5010
    assert names(tmp_path) == ["out.discbracket"]


def test_a_full_disk_leaves_the_old_report(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system cannot limit the size of files")
    gold, page = tmp_path / "gold.discbracket", tmp_path / "page.html"
    gold.write_text(LINE)
    page.write_text("the old report")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        status, _, errors = run_main("evaluate", str(gold), str(gold), "--html", str(page))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 1
    assert errors == f"discoparse: {page}: File too large\n"
    assert page.read_text() == "the old report"
    assert names(tmp_path) == ["gold.discbracket", "page.html"]


def test_ids_from_names_that_are_not_utf_8(odd: Path) -> None:
    """A sentence of Alpino is named after its file."""
    folder, target = odd / os.fsdecode(ODD), odd / os.fsdecode(ODD + b".jsonl")
    folder.mkdir()
    (folder / os.fsdecode(ODD + b".xml")).write_text(ALPINO)
    assert run_main("convert", str(folder), str(target))[0] == 0
    assert [tree.id for tree in read_trees(target)] == [r"caf\xe9"]


def test_problems_in_files_whose_names_are_not_utf_8(odd: Path) -> None:
    source = odd / os.fsdecode(ODD + b".discbracket")
    source.write_text("(S (\n")
    status, output, _ = run_main("validate", "--json", str(source), str(source) + ".missing")
    assert status == 1
    assert [problem["file"] for problem in json.loads(output.encode("utf-8"))["problems"]] == [
        f"{odd}/caf\\xe9.discbracket",
        f"{odd}/caf\\xe9.discbracket.missing",
    ]
    status, output, _ = run_main("validate", str(source))
    assert output.startswith(f"{odd}/caf\\xe9.discbracket:1:")


def test_a_report_about_files_whose_names_are_not_utf_8(odd: Path) -> None:
    gold, page = odd / os.fsdecode(ODD + b".discbracket"), odd / os.fsdecode(ODD + b".html")
    gold.write_text(LINE)
    assert run_main("evaluate", str(gold), str(gold), "--html", str(page))[0] == 0
    assert r"caf\xe9.discbracket" in page.read_text(encoding="utf-8")


def test_training_into_a_folder_whose_name_is_not_utf_8(odd: Path) -> None:
    """The model is named after the folder, and its card says on what it was trained."""
    treebank, output = odd / os.fsdecode(ODD + b".discbracket"), odd / os.fsdecode(ODD)
    write_trees(toy_treebank(4, 1), treebank)
    options = [f"--set={name}={value}" for name, value in SIZES.items()]
    options += ["--epochs=1", "--threads=1", "--device=cpu", "--quiet"]
    files = ["--train", str(treebank), "--dev", str(treebank), "--output", str(output)]
    assert run_main("train", *files, *options)[0] == 0
    info = read_info(output)
    assert info.name == r"caf\xe9"
    assert r"caf\xe9.discbracket" in str(info.training["command"]).replace("\\\\", "\\")
    status, card, _ = run_main("models", str(output))
    assert status == 0
    assert "\udce9" not in card
