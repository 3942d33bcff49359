"""Training with a pretrained encoder: from the command line, resumed, with its own learning rates and frozen layers."""

from __future__ import annotations

import pytest
import torch
from command_line import run_main
from tiny_models import toy_treebank

from discoparse.errors import UsageError
from discoparse.model.info import ModelInfo
from discoparse.neural.graphs import aligned
from discoparse.parser.finding import load_parser
from discoparse.training.loop import Trainer
from discoparse.training.recipe import RECIPES
from discoparse.training.session import Session
from discoparse.treebank import write_trees

pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from tiny_encoders import save_encoder

from discoparse.training.starting_encoder import read_encoder

CPU = torch.device("cpu")
PREFIX = "encoder.pretrained.transformer."
SMALL = ["--set=hidden=8", "--set=scorer_hidden=8", "--set=word_size=4", "--set=warmup_steps=2", "--quiet"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder("bert", tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def treebank(tmp_path):
    write_trees(toy_treebank(20, 1), tmp_path / "toy.discbracket")
    return str(tmp_path / "toy.discbracket")


def trainer(encoder, **changes) -> Trainer:
    sizes = {"hidden": 8, "scorer_hidden": 8, "word_size": 4, "batch_tokens": 30, "most_batch_tokens": 30}
    recipe = RECIPES["pretrained"].replace(**{**sizes, "warmup_steps": 0, **changes})
    return Trainer(recipe, toy_treebank(12, 1), CPU, 1, read_encoder(encoder, recipe))


def test_the_command_trains_a_model_that_parses(encoder, treebank, tmp_path):
    """Without --recipe the recipe is `pretrained`; the model does not need the encoder's directory any more."""
    output = str(tmp_path / "out")
    arguments = ["train", "--train", treebank, "--dev", treebank, "--encoder", str(encoder), "-o", output, *SMALL]
    arguments.remove("--quiet")
    status, _, errors = run_main(*arguments, "--epochs", "2", "--device", "cpu", "--threads", "1")
    assert status == 0
    assert "not calibrated: with a transformer, that takes a CPU minutes (discoparse models calibrate" in errors
    parser = load_parser(output)
    assert parser.network.config.pretrained is not None
    assert parser.network.config.layers == RECIPES["pretrained"].layers
    assert len(parser.parse_tokens([["dogs", "came", "."], ["Привет"]])) == 2
    assert run_main("models", output)[0] == 0


def test_another_encoder_is_not_continued(encoder, treebank, tmp_path):
    other = save_encoder("bert", tmp_path / "other", seed=5)
    arguments = ["train", "--train", treebank, "--dev", treebank, "-o", str(tmp_path / "out"), *SMALL, "--epochs=1"]
    assert run_main(*arguments, "--encoder", str(encoder))[0] == 0
    status, _, errors = run_main(*arguments, "--encoder", str(other), "--resume")
    assert status == 2
    assert "the encoder has changed" in errors
    assert run_main(*arguments, "--encoder", str(encoder), "--resume")[0] == 0


def test_what_is_no_encoder_is_explained(treebank, tmp_path):
    arguments = ["train", "--train", treebank, "--dev", treebank, "-o", str(tmp_path / "out"), *SMALL]
    status, _, errors = run_main(*arguments, "--encoder", str(tmp_path / "nowhere"))
    assert status == 1
    assert "there is no directory" in errors
    status, _, errors = run_main(*arguments, "--set", "layers=0")
    assert status == 2
    assert "only with a pretrained encoder" in errors


def test_training_starts_with_the_encoders_parameters_and_moves_them(encoder):
    made = trainer(encoder)
    start = read_encoder(encoder, made.recipe).parameters
    for name, tensor in start.items():
        assert torch.equal(made.network.state_dict()[PREFIX + name], tensor)
    made.start_epoch()
    for _ in made.steps():
        pass
    after = made.network.state_dict()
    assert any(not torch.equal(after[PREFIX + name], tensor) for name, tensor in start.items())


def test_frozen_layers_stay(encoder):
    """Embeddings are the lowest of what can be frozen, then the layers from the bottom up."""
    made = trainer(encoder, encoder_frozen=2)
    before = {name: tensor.clone() for name, tensor in made.network.state_dict().items()}
    made.start_epoch()
    for _ in made.steps():
        pass
    moved = {name for name, tensor in made.network.state_dict().items() if not torch.equal(tensor, before[name])}
    assert not any("embeddings" in name or ".layer.0." in name for name in moved)
    assert any(".layer.1." in name for name in moved)
    assert made.optimisation.averaged().keys() == before.keys()


def test_rates_fall_with_every_layer_further_down(encoder):
    """Layer decay 0.5 with three layers: embeddings learn at a sixteenth of the encoder's rate."""
    made = trainer(encoder, encoder_rate=0.004, encoder_layer_decay=0.5, learning_rate=0.01)
    assert made.optimisation.adam is not None
    share = {id(p): group["share"] for group in made.optimisation.adam.param_groups for p in group["params"]}
    rates = {name: 0.01 * share[id(p)] for name, p in made.network.named_parameters()}
    assert rates["scorers.nil"] == pytest.approx(0.01)
    for name, expected in [("layer.2.output.dense.weight", 0.002), ("layer.0.output.dense.weight", 0.0005)]:
        assert rates[f"{PREFIX}encoder.{name}"] == pytest.approx(expected)
    assert rates[f"{PREFIX}embeddings.word_embeddings.weight"] == pytest.approx(0.00025)


def test_a_transformer_is_not_evaluated_on_the_cpu_after_training_on_a_gpu(encoder, tmp_path, monkeypatch):
    """Its dev set would take a CPU minutes, while the GPU waits; a network without one is evaluated there."""
    sizes = {"hidden": 8, "scorer_hidden": 8, "word_size": 4}
    trees = toy_treebank(4, 1)
    for name, start in (("pretrained", read_encoder(encoder, RECIPES["pretrained"])), ("fast", None)):
        recipe = RECIPES[name].replace(**sizes)
        session = Session(recipe, trees, trees, tmp_path / name, CPU, 1, ModelInfo("test"), encoder=start)
        monkeypatch.setattr(session.trainer, "device", torch.device("cuda"))
        assert session._ends_on_cpu == (start is None)


def test_without_an_encoder_every_part_is_needed():
    from discoparse.training import train

    with pytest.raises(UsageError, match="only with a pretrained encoder"):
        train(toy_treebank(2, 1), toy_treebank(2, 1), "nowhere", RECIPES["fast"].replace(word_size=0))


def test_fewer_and_fewer_pieces_are_hidden(encoder):
    """All at first with a share of 1, none at the end; only while training on a batch."""
    started = trainer(encoder, hidden_pieces=1.0)
    chosen = started.batches[0]
    index = torch.from_numpy(chosen)
    shown = []

    def watch(pieces, *sizes):
        shown.append(pieces.ids)
        return torch.zeros(*sizes, started.network.config.pretrained.size)

    started.network.encoder.pretrained.forward = watch
    started._encode(chosen, index)
    started.optimisation.time_used = 0.5
    started._encode(chosen, index)
    started.optimisation.time_used = 1.0
    started._encode(chosen, index)
    all_hidden, some, none = ((ids == started.mask).sum().item() for ids in shown)
    words = sum(len(started.corpus.pieces[k].ids) for k in chosen)
    assert all_hidden == words
    assert 0 < some < words
    assert none == 0


def test_batches_are_made_by_widths_that_have_graphs(encoder):
    """What a sentence takes of a batch: its pieces with those before and after it, padded."""
    corpus = trainer(encoder).corpus
    for sentence, size in zip(corpus.pieces, corpus.sizes.tolist(), strict=True):
        assert size == aligned(len(sentence.ids) + 2)
