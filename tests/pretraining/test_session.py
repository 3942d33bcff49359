"""A pretraining from text to encoder: interrupted and resumed, the same; limited in time; the files it leaves."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch
from command_line import run_main
from safetensors.torch import load_file
from sessions import signal_after
from small_texts import small_pretraining, small_recipe, write_text

from discoparse.errors import DiscoparseError, UsageError
from discoparse.model.encoder import load_encoder
from discoparse.pretraining import pretrain
from discoparse.pretraining.words import WordTask
from discoparse.training.starting_encoder import read_encoder
from discoparse.training.stopping import Clock

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")
KINDS = ("bilstm", "transformer")
_TIMES = ("seconds", "per_second")


def records(output: Path) -> list[dict[str, object]]:
    lines = (output / "log.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in _TIMES} for line in lines]


def same(one: Path, other: Path) -> None:
    states = [load_file(path / "latest" / "state.safetensors") for path in (one, other)]
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name
    parameters = [(path / "encoder" / "model.safetensors").read_bytes() for path in (one, other)]
    assert parameters[0] == parameters[1]
    assert records(one) == records(other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [1, 6, 9])
def test_interrupted_and_resumed_is_as_if_nothing_had_happened(tmp_path, monkeypatch, kind, stop):
    assert small_pretraining(tmp_path, kind, "whole").finished
    with monkeypatch.context() as patch:
        signal_after(patch, stop, signal.SIGTERM)
        assert not small_pretraining(tmp_path, kind, "parts").finished
    outcome = small_pretraining(tmp_path, kind, "parts", resume=True)
    assert outcome.finished
    same(tmp_path / "whole", tmp_path / "parts")
    again = small_pretraining(tmp_path, kind, "parts", resume=True)  # there is nothing left to do
    assert (outcome.earlier, again.earlier) == (False, True)
    assert again.figures == outcome.figures


@pytest.mark.parametrize("kind", KINDS)
def test_seeds(tmp_path, kind):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        small_pretraining(tmp_path, kind, name, seed=seed)
    same(tmp_path / "a", tmp_path / "b")
    files = [(tmp_path / name / "encoder" / "model.safetensors").read_bytes() for name in "ac"]
    assert files[0] != files[1]


def test_what_is_in_the_directory(tmp_path):
    outcome = small_pretraining(tmp_path, "bilstm", language="en")
    output = tmp_path / "out"
    stored = load_encoder(output)
    assert stored.info.language == "en"
    assert stored.info.metrics["held_out"] == pytest.approx(outcome.figures)
    state = load_file(output / "latest" / "state.safetensors")
    for name, tensor in stored.parameters.items():
        assert torch.equal(tensor, state[f"parameter.{name}"].half().float())
    assert "dogs" in stored.vocabulary.words
    assert stored.vocabulary.labels == []
    card = (output / "encoder" / "README.md").read_text()
    assert "train --init" in card
    assert f"Perplexity {outcome.figures['perplexity']:.1f}" in card
    evaluations = records(output)
    assert [record["step"] for record in evaluations] == sorted({record["step"] for record in evaluations})
    assert evaluations[-1]["epoch"] == 2
    assert "perplexity" in (output / "curves.svg").read_text()


def test_a_transformer_is_what_train_takes(tmp_path):
    small_pretraining(tmp_path, "transformer")
    found = read_encoder(tmp_path / "out", small_training_recipe())
    assert found.config.size == 12
    assert found.pieces.prefix == (2,)
    state = load_file(tmp_path / "out" / "latest" / "state.safetensors")
    name = "encoder.layer.1.output.dense.weight"
    assert torch.equal(found.parameters[name], state[f"parameter.model.bert.{name}"])
    weights = tmp_path / "out" / "encoder" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(DiscoparseError, match="checksum"):
        read_encoder(tmp_path / "out", small_training_recipe())


def small_training_recipe():
    from tiny_models import tiny_recipe

    return tiny_recipe("pretrained")


def test_train_says_which_option_takes_which_kind(tmp_path):
    small_pretraining(tmp_path, "bilstm")
    with pytest.raises(UsageError, match="give it to --init"):
        read_encoder(tmp_path / "out", small_training_recipe())


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_on_the_time_ends_the_schedule_with_it(tmp_path, monkeypatch, kind):
    """The clock is ours: every look at it is a tenth of a second later."""
    now = 0.0

    def elapsed(self: Clock) -> float:
        nonlocal now
        now += 0.1
        return now

    monkeypatch.setattr(Clock, "elapsed", elapsed)
    recipe = small_recipe(kind, epochs=1, evaluate_every=1000)
    outcome = small_pretraining(tmp_path, kind, minutes=0.5, recipe=recipe)
    assert outcome.finished
    last = records(tmp_path / "out")[-1]
    assert last["epoch"] > 1  # time decides, not the recipe
    assert last["learning_rate"] < 0.05 * recipe.learning_rate


def test_time_that_is_up_at_once_leaves_an_encoder_all_the_same(tmp_path, capsys):
    outcome = small_pretraining(tmp_path, "bilstm", minutes=0.001, show_progress=True)
    assert outcome.finished
    assert "has learnt nothing" in capsys.readouterr().err
    assert load_encoder(tmp_path / "out").info.metrics["held_out"]["read"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_one_sentence_is_too_little(tmp_path, kind):
    write_text(tmp_path / "text.txt", sentences=1)
    with pytest.raises(DiscoparseError, match="the text has one sentence: too little"):
        small_pretraining(tmp_path, kind)
    write_text(tmp_path / "text.txt", sentences=3)
    assert small_pretraining(tmp_path, kind, "three").finished


def test_words_that_are_all_rare_are_too_little(tmp_path):
    write_text(tmp_path / "text.txt", sentences=2)
    with pytest.raises(DiscoparseError, match="no word occurs 50 times, so there is none to guess"):
        small_pretraining(tmp_path, "bilstm", recipe=small_recipe("bilstm", min_frequency=50))


def test_another_pretraining_is_not_continued(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("The (old) dog sleeps .\n" * 40)
    signal_after(monkeypatch, 2)
    small_pretraining(tmp_path, "bilstm")
    with pytest.raises(UsageError, match="already holds a training"):
        small_pretraining(tmp_path, "bilstm")
    for options in ({"seed": 2}, {"recipe": small_recipe("bilstm", hidden=9)}, {"pretokenized": False}):
        with pytest.raises(UsageError, match="another training"):
            small_pretraining(tmp_path, "bilstm", resume=True, **options)
    write_text(tmp_path / "text.txt", seed=9)
    with pytest.raises(UsageError, match="the text has changed"):
        small_pretraining(tmp_path, "bilstm", resume=True)


def test_a_rate_that_is_too_high_is_reported(tmp_path):
    recipe = small_recipe("bilstm", learning_rate=10.0, warmup_steps=0, clip_norm=1e6, epochs=400, weight_decay=10.0)
    with pytest.raises(DiscoparseError, match="diverged"):
        small_pretraining(tmp_path, "bilstm", recipe=recipe)


def test_a_held_out_loss_that_is_not_a_number_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(WordTask, "guess_held_out", lambda self: (float("nan"), 0.0, 5))
    with pytest.raises(DiscoparseError, match="diverged"):
        small_pretraining(tmp_path, "bilstm")


def test_unknown_recipes_are_refused(tmp_path):
    with pytest.raises(UsageError, match="bilstm"):
        pretrain(["x"], tmp_path / "out", "bilstn")


def test_one_cache_serves_several(tmp_path, monkeypatch):
    small_pretraining(tmp_path, "bilstm", "a", cache=tmp_path / "cache")
    monkeypatch.setattr("discoparse.pretraining.corpus.read_blocks", None)
    small_pretraining(tmp_path, "transformer", "b", cache=tmp_path / "cache")
    assert not (tmp_path / "a" / "text").exists()


def test_the_command(tmp_path):
    text, more = write_text(tmp_path / "a.txt", 60), write_text(tmp_path / "b.txt", 60, seed=1)
    treebank = tmp_path / "t.discbracket"
    treebank.write_text("(S (N 0=dogs) (V 1=zzz))\n")
    settings = {"hidden": 8, "head_size": 8, "min_frequency": 40, "epochs": 1, "batch_tokens": 200}
    options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    arguments = ["pretrain", "--text", text, more, "--output", str(tmp_path / "out"), "--pretokenized", *options]
    arguments += ["--vocabulary-from", str(treebank), "--language", "en", "--licence", "CC0", "--device", "cpu"]
    status, output, errors = run_main(*arguments, "--threads", "1", "--json")
    assert status == 0, errors
    assert json.loads(output)["perplexity"] > 1
    stored = load_encoder(tmp_path / "out")
    assert [entry["set"] for entry in stored.info.data] == ["a", "b"]
    assert stored.info.licence == "CC0"
    assert "dogs" in stored.vocabulary.words
    assert "zzz" not in stored.vocabulary.words
    assert "a.txt" in stored.info.training["command"][1]
    status, _, errors = run_main(*arguments)
    assert status == 2
    assert "--resume" in errors


def test_wrong_use_of_the_command(tmp_path):
    for arguments, complaint in (
        (["--output", "x"], "--text and --output"),
        (["--set", "pieces=500"], "there is no setting pieces"),
        (["--recipe", "transformer", "--set", "outputs=5"], "there is no setting outputs"),
        (["--text", "x", "--output", "y", "--language", "??"], "two letters"),
    ):
        status, _, errors = run_main("pretrain", *arguments)
        assert status == 2
        assert complaint in errors
    status, output, _ = run_main("pretrain", "--recipe", "transformer", "--set", "layers=3", "--show-recipe")
    assert status == 0
    assert "layers = 3" in output
    missing = str(tmp_path / "missing.txt")
    status, _, errors = run_main("pretrain", "--text", missing, "--output", str(tmp_path / "o"))
    assert status == 1
    assert "missing.txt" in errors
