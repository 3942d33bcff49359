"""The benchmark measures what it says: the same batches, a device that is waited for, every figure that is promised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from discoparse.cli import cli
from discoparse.experiment import benchmark
from discoparse.parser.parser import Parser
from discoparse.training.recipe import RECIPES
from discoparse.tree import Tree
from discoparse.treebank import write_trees

SMALL = [
    f"{name}={size}"
    for name, size in {
        "word_size": 4,
        "character_size": 4,
        "character_hidden": 4,
        "hidden": 8,
        "scorer_hidden": 8,
    }.items()
]


@pytest.fixture(scope="module")
def parser() -> Parser:
    recipe = RECIPES["fast"].override(SMALL)
    _, trainer = benchmark.measure_training(recipe, benchmark.own_trees(30), torch.device("cpu"), 0.01)
    return Parser(trainer.network, trainer.vocabulary)


def test_own_trees_are_trees_of_many_lengths() -> None:
    """Sentences of our own stand in for a treebank: legal trees, the same for the same seed, with rare words."""
    trees = benchmark.own_trees(200)
    assert [str(tree) for tree in trees] == [str(tree) for tree in benchmark.own_trees(200)]
    for tree in trees:
        assert sorted(tree.constituents(), key=lambda c: len(c[1]))[-1][1] == frozenset(range(len(tree)))
    assert any(tree.is_discontinuous for tree in trees)
    assert min(map(len, trees)) < 10 < 40 < max(map(len, trees))
    assert len({word for tree in trees for word in tree.words}) > 300


def scripted(monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> None:
    """Let calls take so long, whatever they do."""
    script = iter(seconds)

    def timed(function: Callable[[], object], device: torch.device) -> float:
        function()
        return next(script)

    monkeypatch.setattr(benchmark, "timed", timed)


def test_rates_are_medians_after_a_warm_up(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoder, yields and trees in turn; the first turn does not count, and word forms are new in every turn."""
    cleared: list[bool] = []
    really = parser.forget_forms
    monkeypatch.setattr(parser, "forget_forms", lambda: (cleared.append(True), really()))
    scripted(monkeypatch, [100, 100, 100, 1, 2, 4, 1, 2, 4, 10, 20, 40])
    sentences = [tree.words for tree in benchmark.own_trees(20)]
    tokens = sum(map(len, sentences))
    figures = benchmark.measure_parsing(parser, sentences, 3)
    assert len(cleared) == 12
    assert figures == {
        "sentences": 20,
        "tokens": tokens,
        "repeats": 3,
        "seconds": 4,
        "sentences_per_second": 5,
        "tokens_per_second": tokens / 4,
        "yields_sentences_per_second": 10,
        "yields_tokens_per_second": tokens / 2,
        "encoder_seconds": 1,
        "times_encoder": 4,
        "yields_times_encoder": 2,
    }


def test_latency_is_that_of_single_sentences(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    """In milliseconds: the median, and what 95 of 100 stay below; sentences of 20 tokens, one at a time."""
    given: list[int] = []
    really = parser.parse_tokens

    def watched(sentences: list[list[str]]) -> list[Tree]:
        given.append(len(sentences))
        assert {len(words) for words in sentences} == {20}
        return really(sentences)

    monkeypatch.setattr(parser, "parse_tokens", watched)
    scripted(monkeypatch, [k / 1000 for k in range(1, 101)])
    figures = benchmark.measure_latency(parser, [tree.words for tree in benchmark.own_trees(40)], 100)
    assert given == [1] * 101, "one for the warm-up"
    assert figures["median_ms"] == pytest.approx(50.5)
    assert figures["p95_ms"] == pytest.approx(95.05)


def test_training_steps_go_on_over_epochs() -> None:
    """A small treebank is trained on again and again, and every sentence is counted once an epoch."""
    trees = benchmark.own_trees(10)
    trainer = benchmark.Trainer(RECIPES["fast"].override([*SMALL, "batch_tokens=60"]), trees, torch.device("cpu"), 1)
    steps = benchmark._training_steps(trainer)
    epoch = [k for _ in range(len(trainer.batches)) for k in next(steps).tolist()]
    assert sorted(epoch) == list(range(10))
    next(steps)
    assert trainer.epoch == 1


@pytest.mark.parametrize("treebank", [False, True])
def test_command_line(tmp_path: Path, treebank: bool) -> None:
    """`discoparse benchmark` prints every figure, with and without a treebank, as text and as JSON."""
    arguments = ["benchmark", "--device", "cpu", "--repeats", "1", "--training-seconds", "0.1"]
    arguments += [part for setting in SMALL for part in ("--set", setting)]
    if treebank:
        path = tmp_path / "own.discbracket"
        write_trees(benchmark.own_trees(20), path)
        arguments += ["--treebank", str(path), "--sentences", "50"]
    outcome = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    figures = json.loads(outcome.stdout)
    parsing, training = figures["parsing"], figures["training"]
    assert parsing["sentences"] == (50 if treebank else figures["trees"])
    assert parsing["tokens_per_second"] == pytest.approx(parsing["tokens"] / parsing["seconds"])
    assert parsing["times_encoder"] == pytest.approx(parsing["seconds"] / parsing["encoder_seconds"])
    assert training["sentences_per_second"] * training["seconds"] > training["batches"], "sentences, not batches"
    length = training["tokens_per_second"] / training["sentences_per_second"]
    assert length == pytest.approx(figures["tokens"] / figures["trees"], rel=0.5)
    assert figures["latency"]["p95_ms"] >= figures["latency"]["median_ms"] > 0
    assert figures["memory"]["peak_bytes"] > 50 << 20
    assert figures["environment"]["torch"] == torch.__version__
    if treebank:
        text = CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout
        for word in ("training", "parsing", "labelled yields", "latency", "memory"):
            assert word in text


def test_no_gpu_is_wrong_use() -> None:
    """Asking for a GPU that is not there ends with a sentence, not a traceback."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    outcome = CliRunner().invoke(cli, ["benchmark", "--device", "cuda"])
    assert "finds no GPU" in str(outcome.exception)
