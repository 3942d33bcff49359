"""Several models as one parser: from Python and from the command line, and how far they agree."""

from __future__ import annotations

import pickle
import re

import pytest
import torch
from command_line import run_main
from tiny_models import example_trees, tiny_model

from discoparse.errors import UsageError
from discoparse.model.info import ModelInfo
from discoparse.model.model import save_model
from discoparse.parser import Ensemble, load_ensemble
from discoparse.parser.finding import load_parser

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def models(tmp_path):
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for seed, path in enumerate(paths):
        tiny_model(path, seed=seed)
    return paths


def test_trees_of_several_models(models):
    ensemble = load_ensemble(models, "cpu")
    assert ensemble.language == "en"
    assert "two" not in repr(ensemble)  # models go by their names, not by their places
    sentences = [tree.words for tree in example_trees()]
    trees = ensemble.parse_tokens(sentences)
    assert [tree.words for tree in trees] == sentences
    for member in ensemble.members:
        assert [str(tree) for tree in member.parse_tokens(sentences)] != [str(tree) for tree in trees]
    copy = pickle.loads(pickle.dumps(ensemble))
    assert isinstance(copy, Ensemble)
    assert [str(tree) for tree in copy.parse_tokens(sentences)] == [str(tree) for tree in trees]
    assert [str(tree) for tree in ensemble.parse("It works. Go!")] == [
        str(t) for t in ensemble.stream(["It works. Go!"])
    ]


def test_models_that_cannot_parse_together(tmp_path, models):
    network, vocabulary = tiny_model(tmp_path / "three")
    info = ModelInfo("german", "de")
    save_model(tmp_path / "german", network.state_dict(), network.config, vocabulary, info)
    with pytest.raises(UsageError, match="of one language, not de and en"):
        load_ensemble([models[0], tmp_path / "german"], "cpu")
    with pytest.raises(UsageError, match="several models are needed"):
        load_ensemble(models[:1], "cpu")


def test_agreement(models):
    """100 where all models have the same tree; the mean of their F1 otherwise."""
    one, two = (load_parser(path) for path in models)
    sentences = [tree.words for tree in example_trees()]
    trees = one.parse_tokens(sentences)
    assert Ensemble([one, one]).agreement(trees) == [100.0] * len(trees)
    scores = Ensemble([one, two]).agreement(trees)
    alone = Ensemble([two, two]).agreement(trees)
    assert scores == pytest.approx([(100 + score) / 2 for score in alone])
    assert min(alone) < 100
    assert [score for _, score in Ensemble([one, two]).with_agreement(iter(trees))] == scores


def test_the_command(tmp_path, models):
    text = tmp_path / "text.txt"
    text.write_text("It works .\n\nYou see what I mean\nGo\n")
    arguments = ["parse", "--model", models[0], "--model", models[1], "--input", str(text), "--pretokenized"]
    arguments += ["--device", "cpu", "--to", "discbracket"]
    status, output, errors = run_main(*arguments)
    assert status == 0, errors
    lines = output.splitlines()
    assert len(lines) == 4
    assert lines[1] == ""
    ensemble = load_ensemble(models, "cpu")
    words = [line.split() for line in text.read_text().splitlines() if line]
    trees = ensemble.parse_tokens(words)
    assert [line for line in lines if line] == [str(tree) for tree in trees]
    scores = ensemble.agreement(trees)
    least = sorted(scores)[1]
    status, output, errors = run_main(*arguments, "--agreement", str(least))
    assert status == 0
    kept = [str(tree) for tree, score in zip(trees, scores, strict=True) if score >= least]
    assert output.splitlines() == kept
    assert len(kept) < 3
    assert re.search(rf"\b{len(kept)} trees? kept; {3 - len(kept)} sentences? left out", errors)
    text.write_text(" ".join(words[scores.index(min(scores))]))
    status, output, errors = run_main(*arguments[:-1], "tree", "--agreement", str(least))
    assert (status, output) == (0, "")
    assert "there are no trees to draw\n" in errors
    assert "0 trees kept; 1 sentence left out" in errors
    treebank = tmp_path / "t.discbracket"
    treebank.write_text("".join(f"{tree}\n" for tree in trees))
    arguments = ["parse", "--model", models[0], "--model", models[1], "--input", str(treebank), "--to", "discbracket"]
    status, output, _ = run_main(*arguments, "--from", "discbracket", "--agreement", str(least), "--device", "cpu")
    assert status == 0
    assert output.splitlines() == kept


def test_agreement_is_for_several_models(models):
    status, _, errors = run_main("parse", "--model", models[0], "--agreement", "90", "Go!")
    assert status == 2
    assert "--model more than once" in errors


def test_training_state_of_torch_is_left_alone(models):
    state = torch.get_rng_state()
    load_ensemble(models, "cpu").parse_tokens([["Go", "!"]])
    assert torch.equal(torch.get_rng_state(), state)
