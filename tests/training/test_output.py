"""A training's directory: nothing is overwritten, one training at a time, and a crash at any moment is survived."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from sessions import after_steps, crash_after, records, run, same_training, signal_after
from tiny_models import DEV, TRAIN, short_recipe

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.lock import Locked, exclusive
from discoparse.model.info import read_info
from discoparse.training import train
from discoparse.training.log import Log

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")


def test_other_settings_cannot_be_resumed(tmp_path):
    """A changed recipe, seed or treebank is named; nothing is overwritten."""
    run(tmp_path / "out", short_recipe("fast", epochs=1))
    before = (tmp_path / "out" / "latest" / "state.safetensors").read_bytes()
    with pytest.raises(UsageError, match="epochs was 1 and is 2"):
        run(tmp_path / "out", short_recipe("fast", epochs=2), resume=True)
    with pytest.raises(UsageError, match="the seed was 1 and is 7"):
        run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True, seed=7)
    with pytest.raises(UsageError, match="training treebank has changed"):
        train(TRAIN[1:], DEV, tmp_path / "out", short_recipe("fast", epochs=1), resume=True)
    relabelled = [tree.copy() for tree in TRAIN]
    relabelled[3].root.children[0].label += "X"
    with pytest.raises(UsageError, match="training treebank has changed"):
        train(relabelled, DEV, tmp_path / "out", short_recipe("fast", epochs=1), resume=True)
    with pytest.raises(UsageError, match="development treebank has changed"):
        train(TRAIN, DEV[1:], tmp_path / "out", short_recipe("fast", epochs=1), resume=True)
    with pytest.raises(UsageError, match="--resume"):
        run(tmp_path / "out", short_recipe("fast", epochs=1))
    assert (tmp_path / "out" / "latest" / "state.safetensors").read_bytes() == before
    assert run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True).finished  # nothing left to do


@pytest.mark.parametrize("name", ["state.safetensors", "state.json"])
def test_a_damaged_state_is_refused(tmp_path, monkeypatch, name):
    """Resuming from rubbish would train rubbish."""
    with monkeypatch.context() as patch:
        signal_after(patch, 3)
        run(tmp_path / "out", short_recipe("paper"))
    path = tmp_path / "out" / "latest" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(DiscoparseError, match="not what was written"):
        run(tmp_path / "out", short_recipe("paper"), resume=True)


def test_resume_without_a_state_starts_from_the_beginning(tmp_path):
    """So that a script may always say --resume."""
    assert run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True).finished


@pytest.mark.parametrize("resume", [False, True])
def test_a_model_without_a_state_is_never_overwritten(tmp_path, resume):
    """A trained model whose state was removed, or a model that was put there: --resume has nothing to continue."""
    run(tmp_path / "out", short_recipe("fast", epochs=1))
    shutil.rmtree(tmp_path / "out" / "latest")
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="choose another directory"):
        run(tmp_path / "out", short_recipe("fast", epochs=1), resume=resume)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("resume", [False, True])
def test_two_trainings_do_not_share_a_directory(tmp_path, monkeypatch, resume):
    """The second is refused while the first runs, and the first is not disturbed."""
    recipe = short_recipe("fast", epochs=2)
    run(tmp_path / "alone", recipe)
    refused = []

    def intrude() -> None:
        with pytest.raises(UsageError, match="another training is writing to this directory"):
            run(tmp_path / "out", recipe, resume=resume)
        refused.append(True)

    after_steps(monkeypatch, 3, intrude)
    assert run(tmp_path / "out", recipe).finished
    assert refused
    same_training(tmp_path / "alone", tmp_path / "out")
    assert run(tmp_path / "out", recipe, resume=True).finished  # the lock is gone with the training


def test_a_lock_ends_with_its_process(tmp_path):
    """Even if that was killed: nobody has to remove a file by hand."""
    program = f"""
import os, pathlib, sys
from discoparse.files.lock import exclusive
with exclusive(pathlib.Path({str(tmp_path / "lock")!r})):
    print("locked", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(Locked), exclusive(tmp_path / "lock"):
            pass
        process.kill()
    with exclusive(tmp_path / "lock"):
        pass


@pytest.mark.parametrize("steps", [1, len(TRAIN) + 2])
def test_a_crash_before_the_first_evaluation_leaves_a_training_that_can_be_resumed(tmp_path, monkeypatch, steps):
    """In the first epoch, and in the second, when the log already has a record of steps that will be taken again."""
    recipe = short_recipe("paper")
    run(tmp_path / "straight", recipe)
    with monkeypatch.context() as patch:
        crash_after(patch, steps)
        with pytest.raises(MemoryError):
            run(tmp_path / "crashed", recipe)
    with (tmp_path / "crashed" / "log.jsonl").open("a") as stream:  # killed while it was writing
        stream.write('{"type": "epo')
    assert run(tmp_path / "crashed", recipe, resume=True).finished
    same_training(tmp_path / "straight", tmp_path / "crashed")


def test_a_damaged_log_does_not_stop_a_resumed_training(tmp_path, monkeypatch):
    """What cannot be read is left out; the training itself does not depend on it."""
    with monkeypatch.context() as patch:
        crash_after(patch, 3 * len(TRAIN) - 1)
        with pytest.raises(MemoryError):
            run(tmp_path / "out", short_recipe("paper"))
    log = tmp_path / "out" / "log.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join([lines[0][:20], *lines[1:]]))
    assert run(tmp_path / "out", short_recipe("paper"), resume=True).finished
    assert [record["epoch"] for record in records(tmp_path / "out") if record["type"] == "epoch"] == [2, 3, 4]


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="file names are always Unicode here")
def test_a_directory_whose_name_is_not_utf_8(tmp_path):
    """The model is named after it, and what is written about it is UTF-8."""
    output = tmp_path / os.fsdecode(b"mod\xe8le")
    assert run(output, short_recipe("fast", epochs=1)).finished
    assert read_info(output).name == r"mod\xe8le"
    assert r"mod\xe8le" in (output / "curves.svg").read_text(encoding="utf-8")


def test_a_log_has_no_nan(tmp_path):
    """It would not be JSON, and other programs could not read it."""
    log = Log(tmp_path / "log.jsonl")
    log.add("epoch", loss=1.5)
    with pytest.raises(ValueError, match="JSON"):
        log.add("epoch", loss=float("nan"))
    assert (
        [json.loads(line) for line in log.path.read_text().splitlines()]
        == log.records
        == [{"type": "epoch", "loss": 1.5}]
    )
