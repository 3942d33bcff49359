"""`discoparse train` from end to end: a tiny model fits its data, is loaded, parses; misuse is explained."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tiny_models import SIZES, example_trees, toy_treebank

from discoparse.cli import main
from discoparse.cli.invocation import invocation
from discoparse.cli.train import _NOT_REPEATED, _PATHS, command
from discoparse.evaluation import evaluate
from discoparse.model.info import read_info
from discoparse.parser.finding import load_parser
from discoparse.training import Trainer
from discoparse.tree import Tree
from discoparse.treebank import write_trees
from discoparse.treebank.discbracket import format_tree

SMALL = [f"--set={name}={value}" for name, value in SIZES.items()]
QUICK = [*SMALL, "--set=batch_tokens=16", "--set=most_batch_tokens=16", "--threads=1", "--device=cpu"]


@pytest.fixture
def treebank(tmp_path: Path) -> tuple[str, str]:
    train, dev = str(tmp_path / "train.discbracket"), str(tmp_path / "dev.export")
    write_trees(toy_treebank(20, 1), train)
    write_trees(toy_treebank(6, 2), dev)
    return train, dev


def bare(tree: Tree) -> Tree:
    """Without the remark that stands behind it in the file."""
    return Tree(tree.tokens, tree.root)


def run(*arguments: object) -> int:
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_a_tiny_model_fits_its_training_data_and_parses(tmp_path, capsys):
    """Train on the sentences that come with the program, in seconds on a CPU: F1 100."""
    path = str(tmp_path / "sentences.discbracket")
    write_trees(example_trees(), path)
    sizes = {"word_size": 16, "character_size": 16, "character_hidden": 12, "hidden": 48, "scorer_hidden": 48}
    settings = {
        **sizes,
        **{"dropout_embedding": 0, "dropout_hidden": 0, "dropout_scorer_hidden": 0, "dropout_tagger": 0},
        **{"learning_rate": 0.01, "warmup_steps": 10, "average_decay": 0.95, "evaluate_every": 20},
        **{"batch_tokens": 16, "most_batch_tokens": 16, "unk_probability": 0},
    }
    options = [f"--set={name}={value}" for name, value in settings.items()]
    options += ["--epochs=80", "--threads=1", "--device=cpu", "--language=en", "--name=tiny", "--licence=MIT"]
    options += ["--seed=3"]
    output = tmp_path / "out"
    assert run("train", "--train", path, "--dev", path, "--output", output, *options, "--json") == 0
    shown = capsys.readouterr()
    scores = json.loads(shown.out)
    assert scores["f1"] == scores["disc_f1"] == scores["pos"] == 100
    assert "epoch 20: F1" in shown.err

    parser = load_parser(output)
    gold = example_trees()
    predicted = parser.parse_tokens([tree.words for tree in gold])
    assert evaluate(gold, predicted).all.f1 == 100
    assert [format_tree(tree) for tree in predicted] == [format_tree(bare(tree)) for tree in gold]
    info = read_info(output)
    assert (info.name, info.language, info.licence) == ("tiny", "en", "MIT")
    assert info.recipe["hidden"] == 48
    assert info.training["seed"] == info.metrics["seed"] == 3
    assert info.metrics["dev"]["f1"] == 100
    log = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in log if record["type"] == "epoch"] == list(range(1, 81))
    assert [record["epoch"] for record in log if record["type"] == "evaluation"] == [20, 40, 60, 80]
    picture = (output / "curves.svg").read_text()
    assert picture.startswith("<svg")
    assert "disc. F1" in picture
    assert "structure" in picture


def test_several_treebanks_of_any_format(tmp_path, treebank, capsys):
    """--train F F, --dev in another format; the model knows what it was trained on."""
    other = str(tmp_path / "more.export.gz")
    write_trees([tree for tree in example_trees() if tree.root.label == "ROOT"], other)
    train, dev = treebank
    arguments = ["--train", train, other, "--dev", dev, "--output", tmp_path / "out", "--epochs", 1, *QUICK]
    assert run("train", *arguments, "--quiet") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert str(tmp_path / "out" / "model") in shown.out
    folder = tmp_path.name
    assert read_info(tmp_path / "out").treebanks == (f"{folder}/train.discbracket", f"{folder}/more.export.gz")
    words = load_parser(tmp_path / "out").vocabulary
    assert words.word_id("cats")
    assert "SMAIN" in {label for chain in words.labels for label in chain}


def test_the_model_is_calibrated(tmp_path, treebank, capsys, monkeypatch):
    """Where the development set is large enough, and once: a training that has ended is not fitted again."""
    monkeypatch.setattr("discoparse.cli.train._LEAST_F1", 0.0)
    monkeypatch.setattr("discoparse.parser.calibrating.STRUCTURE", (0.9,))
    monkeypatch.setattr("discoparse.parser.calibrating.LABELS", (1.1,))
    enough = str(tmp_path / "enough.discbracket")
    write_trees(toy_treebank(20, 2), enough)
    arguments = ["--train", treebank[0], "--dev", enough, "--output", tmp_path / "out", "--epochs", 1, *QUICK]
    assert run("train", *arguments) == 0
    assert "calibrated" not in capsys.readouterr().err
    info = read_info(tmp_path / "out")
    assert info.calibration["structure"] == 0.9
    assert load_parser(tmp_path / "out").calibration.slope == info.calibration["slope"]
    monkeypatch.setattr("discoparse.parser.calibrating.STRUCTURE", (0.7,))
    assert run("train", *arguments, "--resume") == 0
    assert read_info(tmp_path / "out") == info


def test_a_model_that_has_hardly_learnt_is_not_calibrated(tmp_path, treebank, capsys, monkeypatch):
    """That would take minutes, since no two of its samples are alike."""
    monkeypatch.setattr("discoparse.cli.train._LEAST_F1", 90.0)
    files = ["--train", treebank[0], "--dev", treebank[0], "--output", tmp_path / "out"]
    assert run("train", *files, "--epochs", 1, *QUICK) == 0
    assert "are not calibrated: its F1 is below 90" in capsys.readouterr().err
    assert not read_info(tmp_path / "out").calibration


def test_too_few_trees_to_calibrate_by_are_told_of(tmp_path, treebank, capsys, monkeypatch):
    monkeypatch.setattr("discoparse.cli.train._LEAST_F1", 0.0)
    arguments = ["--train", treebank[0], "--dev", treebank[1], "--output", tmp_path / "out", "--epochs", 1, *QUICK]
    assert run("train", *arguments) == 0
    assert "not calibrated: 6 trees are too few" in capsys.readouterr().err
    assert read_info(tmp_path / "out").calibration == {}


def test_empty_elements_are_warned_of(tmp_path, treebank, capsys):
    """They would be learnt as words."""
    path = tmp_path / "traces.mrg"
    path.write_text("( (S (NP-SBJ-1 (PRP He)) (VP (VBD left) (NP (-NONE- *T*-1)))) )\n( (S (PRP He)) )\n")
    arguments = ["--train", path, "--dev", treebank[1], "--output", tmp_path / "out", "--epochs", 1, *QUICK]
    assert run("train", *arguments, "--quiet") == 0
    assert "1 of 2 trees have empty elements" in capsys.readouterr().err


def test_dev_may_have_words_tags_and_labels_that_training_has_not(tmp_path, treebank):
    """They are simply not predicted."""
    dev = str(tmp_path / "other.discbracket")
    write_trees(example_trees(), dev)
    assert run("train", "--train", treebank[0], "--dev", dev, "--output", tmp_path / "o", "--epochs", 1, *QUICK) == 0


def test_show_recipe_prints_what_would_be_used(capsys):
    """With every option that changes it, and without any file."""
    options = ["--recipe", "paper", "--oracle", "static", "--epochs", "7", "--set", "hidden=50", "--set=alternate=no"]
    assert run("train", "--show-recipe", *options) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in ("oracle = static", "epochs = 7", "hidden = 50", "alternate = False", "learning_rate = 0.01"):
        assert line in lines
    assert run("train", "--show-recipe") == 0
    assert "optimizer = adamw" in capsys.readouterr().out  # fast is the default


def test_recipes_are_shown_without_loading_pytorch():
    """Help and misuse are answered at once."""
    program = "from discoparse.cli import cli; cli(['train', '--show-recipe'], standalone_mode=False); import sys; "
    program += "import discoparse.cli.experiment; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "hiden=50"], "there is no setting hiden. Did you mean hidden?"),
        (["--set", "hidden=many"], "hidden takes a whole number"),
        (["--set", "dropout_tagger=3"], "dropout_tagger = 3.0 is out of range: choose a value from 0 to 0.99"),
        (["--set", "beta2=1"], "beta2 = 1.0 is out of range: choose a value from 0 to"),
        (["--set", "tagging_weight=-3"], "tagging_weight = -3.0 is out of range"),
        (["--seed", str(2**64)], "--seed"),
        (["--train", "a", "--dev", "b", "--output", "c", "--language", "english"], "a code of two letters"),
        (["--set", "oracle=delphic"], "unknown oracle"),
        (["--set", "evaluate_every=0"], "evaluate_every"),
        (["--set", "layers=100000"], "layers = 100000 is out of range: choose a value from 0 to 8"),
        (["--epochs", "10000000000"], "epochs = 10000000000 is out of range"),
        (["--recipe", "slow"], "slow"),
        (["--epochs", "0"], "0"),
        (["--minutes", "0"], "0"),
        ([], "needs --train, --dev and --output"),
        (["--dev", "a", "--train"], "--train"),
        (["--train", "a", "--dev", "b", "--output", "c", "--silver-weight", "2"], "--silver-weight is for --silver"),
    ],
)
def test_wrong_use_is_explained(options, message, capsys):
    """Exit status 2 and a sentence."""
    assert run("train", *options) == 2
    assert message in capsys.readouterr().err


def test_a_training_that_diverges(tmp_path, treebank, capsys, monkeypatch):
    """Status 1 and a sentence."""

    def spoiled(*_: object) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(torch.nan, requires_grad=True), torch.tensor(0.0)

    monkeypatch.setattr(Trainer, "_parsing_losses", spoiled)
    arguments = ["--train", treebank[0], "--dev", treebank[1], "-o", tmp_path / "out", *QUICK, "--quiet"]
    assert run("train", *arguments) == 1
    assert "the training diverged in epoch 1" in capsys.readouterr().err


def test_treebanks_without_trees_are_refused(tmp_path, treebank, capsys):
    """An empty file is no treebank."""
    empty = tmp_path / "empty.discbracket"
    empty.write_text("")
    for train, dev in ((empty, treebank[1]), (treebank[0], empty)):
        assert run("train", "--train", train, "--dev", dev, "--output", tmp_path / "out", *QUICK) == 1
        assert f"{empty}: no trees" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_taken(tmp_path, treebank, capsys):
    """Neither a finished training nor a file is overwritten, and another recipe is not continued."""
    arguments = ["--train", treebank[0], "--dev", treebank[1], "--output", tmp_path / "out", *QUICK, "--quiet"]
    assert run("train", *arguments, "--epochs", 1) == 0
    assert run("train", *arguments, "--epochs", 1) == 2
    assert "already holds a training" in capsys.readouterr().err
    assert run("train", *arguments, "--epochs", 2, "--resume") == 2
    assert "epochs was 1 and is 2" in capsys.readouterr().err
    assert run("train", *arguments, "--epochs", 1, "--resume") == 0
    assert (
        f"had ended before, so there was nothing to do: to train on, --init {tmp_path / 'out'}"
        in capsys.readouterr().err
    )
    file = tmp_path / "file"
    file.write_text("mine")
    assert run("train", *arguments[:5], file, *QUICK) == 2
    assert file.read_text() == "mine"


def test_interrupting_the_command_and_resuming_it(tmp_path, treebank):
    """A real process, a real signal: status 130, a hint, and --resume finishes the work."""
    output = tmp_path / "out"
    command = [
        sys.executable,
        "-c",
        "from discoparse.cli import main; main()",
        "train",
        "--train",
        treebank[0],
        "--dev",
        treebank[1],
    ]
    command += ["--output", str(output), "--epochs", "400", "--set=evaluate_every=5", *QUICK]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (output / "model").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "continue with --resume" in errors
    assert load_parser(output).parse_tokens([["dogs", "came", "."]])
    assert len((output / "log.jsonl").read_text().splitlines()) >= 6
    assert (output / "curves.svg").read_text().startswith("<svg")  # of what was trained so far
    done = subprocess.run([*command, "--resume", "--minutes", "0.05"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    epochs = [record for record in map(json.loads, (output / "log.jsonl").open()) if record["type"] == "epoch"]
    assert len(epochs) < 400, "three seconds are not enough for all"


def test_the_command_on_the_card_shows_the_last_parts_of_paths():
    """Enough to tell files apart, and not where they lie on this machine."""
    given = {
        "--train": "a/b/set/train.export",
        "--dev": "a/b/set/dev.export",
        "--silver": "a/b/set/silver.export",
        "--output": "a/b/models/out",
        "--card": "a/b/cards/facts.json",
        "--init": "a/b/models/start",
        "--encoder": "a/b/encoders/words",
    }
    context = command.make_context("train", [part for option in given.items() for part in option])
    shown = dict(option.split(" ") for option in invocation(context, _PATHS, _NOT_REPEATED)[1:])
    assert shown == {
        "--train": "set/train.export",
        "--dev": "set/dev.export",
        "--silver": "set/silver.export",
        "--output": "out",
        "--card": "cards/facts.json",
        "--init": "start",
        "--encoder": "encoders/words",
    }
