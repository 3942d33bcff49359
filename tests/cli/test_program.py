"""The program as a shell sees it: unknown commands, closed streams, pipes that break, interrupts, odd file names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from command_line import run_main
from random_model import save_random_model

import discoparse
from discoparse.cli import COMMANDS
from discoparse.neural.compiled.library import describe

TREES = str(files("discoparse") / "examples" / "sentences.discbracket")
PROGRAM = [sys.executable, "-m", "discoparse"]

on_posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program with a redirection of `sh`."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(("typo", "meant"), [("pars", "parse"), ("evalaute", "evaluate"), ("DRAW", "draw")])
def test_an_unknown_command_gets_a_suggestion(typo, meant):
    status, _, errors = run_main(typo)
    assert status == 2
    assert f"No such command '{typo}'. Did you mean {meant}?" in errors


def test_a_command_unlike_any_other_gets_none():
    status, _, errors = run_main("xyzzy")
    assert status == 2
    assert errors.endswith("No such command 'xyzzy'.\n")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["draw", "trees.discbracket", "--scale"],
        ["parse", "Go.", "--skip-below"],
        ["parse", "Go.", "--consensus", "--share"],
        ["train", "--minutes"],
        ["experiment", "trees", "-o", "out", "--stop-after"],
        ["corpus", "in", "out", "--gpus-per-worker"],
    ],
    ids=lambda arguments: arguments[0] + arguments[-1],
)
def test_numbers_are_numbers(arguments, value):
    """NaN would pass every comparison."""
    status, _, errors = run_main(*arguments[:-1], f"{arguments[-1]}={value}")
    assert status == 2
    assert f"Invalid value for '{arguments[-1]}'" in errors


def test_the_version():
    status, output, _ = run_main("--version")
    first, second = output.splitlines()
    assert (status, first) == (0, f"discoparse, version {discoparse.__version__}")
    assert second == describe()


@on_posix
@pytest.mark.parametrize(
    "arguments", [["parse"], ["stats", "-"], ["convert", "-", "out.export"], ["draw", "-", "--from", "export"]]
)
def test_closed_standard_input_is_an_error_to_read(arguments, tmp_path):
    done = shell("<&-", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "discoparse: standard input is closed\n")


@on_posix
@pytest.mark.parametrize(
    "arguments", [["stats", TREES], ["convert", TREES, "-", "--to", "export"], ["draw", TREES], ["--help"]]
)
def test_closed_standard_output_is_an_error_to_write(arguments):
    done = shell(">&-", *arguments)
    assert (done.returncode, done.stderr) == (1, "discoparse: standard output is closed\n")


@on_posix
def test_with_closed_standard_error_the_status_tells():
    done = shell("2>&-", "stats", TREES)
    assert (done.returncode, done.stdout) == (0, shell("", "stats", TREES).stdout)
    assert shell("2>&-", "nonsense").returncode == 2


@on_posix
def test_no_file_gets_the_descriptor_of_a_closed_stream(tmp_path):
    """What C libraries write on standard error would end up in it."""
    program = (
        "import sys; from discoparse.cli.streams import replace_closed_streams; replace_closed_streams();"
        "stream = open(sys.argv[1], 'w'); stream.write(str(stream.fileno()))"
    )
    for closed in ("2>&-", "<&- >&- 2>&-"):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", program, str(tmp_path / "out")]
        assert subprocess.run(command, check=False, timeout=300).returncode == 0
        assert int((tmp_path / "out").read_text()) > 2


@on_posix
def test_streams_that_are_not_used_may_all_be_closed(tmp_path):
    expected, output = tmp_path / "expected.export", tmp_path / "output.export"
    assert shell("", "convert", TREES, str(expected)).returncode == 0
    assert shell("<&- >&- 2>&-", "convert", TREES, str(output)).returncode == 0
    assert output.read_bytes() == expected.read_bytes()


@on_posix
@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_reader_that_goes_away_ends_every_command_quietly(name):
    """As in `discoparse … | head -1`."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, name, "--help"], stdout=writer, stderr=subprocess.PIPE, check=False, timeout=300)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@on_posix
@pytest.mark.parametrize("arguments", [["convert", TREES, "-", "--to", "export"], ["draw", TREES], ["stats", TREES]])
def test_a_reader_that_goes_away_ends_long_output_quietly(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False, timeout=300)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def interrupted(command: list[str], modules: Path) -> tuple[int, str, str]:
    """Interrupt a program when it says that it is ready; its status and what it wrote. It finds `modules` first."""
    search = os.pathsep.join([str(modules), str(Path(discoparse.__file__).parents[1])])
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
        env={**os.environ, "PYTHONPATH": search},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


def _interruptible() -> None:
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # not inherited from a shell that runs us in the background


@on_posix
def test_an_interrupt_while_the_program_starts(tmp_path):
    """Its imports are slow: here, click's."""
    (tmp_path / "click.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(100)\n")
    found = interrupted([*PROGRAM, "--help"], tmp_path)
    assert found == (130, "", "discoparse: interrupted\n")


@on_posix
def test_an_interrupt_waits_for_imports(tmp_path):
    """PyTorch's imports abort the program when an exception comes from nowhere."""
    (tmp_path / "slow.py").write_text(
        "import time\nprint('ready', flush=True)\nfor _ in range(20): time.sleep(0.05)\nprint('whole', flush=True)\n"
    )
    program = """
import time
from discoparse.cli.interrupts import interrupts_after_imports
with interrupts_after_imports():
    try:
        import slow
        time.sleep(100)
    except KeyboardInterrupt:
        print("interrupted")
"""
    found = interrupted([sys.executable, "-c", program], tmp_path)
    assert found == (0, "whole\ninterrupted\n", "")


@on_posix
def test_names_that_are_not_utf8(tmp_path):
    """As file names may be: of input, output and folders, and in messages."""
    save_random_model(tmp_path / "model")
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)
    text = os.path.join(folder, os.fsdecode(b"\xfe.txt"))
    with open(text, "w") as stream:
        stream.write("The dog barks.")
    parse = ["parse", "--model", str(tmp_path / "model")]
    for output in (b"\xfd.json", b"\xfd.svg", b"pictures\xfd/"):
        path = os.path.join(folder, os.fsdecode(output))
        done = shell("", *parse, "--input", text, "--output", path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert os.path.exists(path)
    for arguments in ([text], ["--input", text + "x"], ["word", "--output", os.path.join(folder, "x", "y.svg")]):
        done = shell("", *parse, *arguments)
        assert done.returncode in (1, 2)
        assert done.stderr.startswith("discoparse: ")
        assert done.stderr.count("\n") == 1
