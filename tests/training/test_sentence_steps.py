"""Sentences in padded rows, one by one, teach what the plain loop teaches; on a GPU, so do their CUDA graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_models import TRAIN, short_recipe, tiny_recipe, toy_treebank
from torch import Tensor

from discoparse.experiment.benchmark import own_trees
from discoparse.neural import kernels
from discoparse.neural.network import BiLSTM, stacked
from discoparse.training.loop import Trainer
from discoparse.training.objective import IGNORED
from discoparse.training.recipe import RECIPES
from discoparse.training.sentence_rows import RowPacker, SentenceRow, Shape
from discoparse.training.sentence_steps import SentenceSteps, has_sentence_steps
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
HAS_GPU = torch.cuda.is_available()
on_gpu = pytest.mark.skipif(not HAS_GPU or not kernels.available(), reason="CUDA graphs need a GPU, and Triton")
# Dropout that drops nothing leaves the plain way of scoring in place, which is the paper's.
QUIET = {"gradient_noise": 0.0, "dropout_tagger": 0.0, "dropout_scorer": 1e-12, "unk_probability": 0.0}
LONG = "Donaudampfschifffahrtsgesellschaft"  # more characters than others have room for
TREES = [
    Tree.from_constituents([Token("a", "X")], [("S", {0})]),  # no structural decision at all
    Tree.from_constituents([Token(LONG, "X"), Token("a", "X")], [("S", {0, 1})]),
    *toy_treebank(8, 1),
    *own_trees(8),
]


def trainer_of(device: torch.device, *, sentence_steps: bool, **changes: object) -> Trainer:
    settings = {"warmup_steps": 4, "exploration": 0.5, **changes}
    made = Trainer(tiny_recipe("paper", sentence_graphs=False, **settings), TREES, device, seed=1)
    if sentence_steps:
        made.use_sentence_steps()
    return made


def steps_of(trainer: Trainer) -> SentenceSteps:
    assert trainer.sentence_steps is not None
    return trainer.sentence_steps


def train(trainer: Trainer, epochs: int) -> list[list[float]]:
    """The losses of all sentences, epoch after epoch, each of which explores with the same random numbers."""
    losses = []
    for epoch in range(epochs):
        torch.manual_seed(epoch)
        trainer.start_epoch()
        losses += [[x.item() for x in step.values()] for step in trainer.steps()]
    return losses


def assert_same_training(one: Trainer, other: Trainer, **tolerance: float) -> None:
    ours, theirs = one.optimisation.tensors(), other.optimisation.tensors()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance)
    assert one.optimisation.step == other.optimisation.step
    for name, total in one.sums.items():
        assert float(total) == pytest.approx(float(other.sums[name]), rel=tolerance.get("rtol", 1e-5))


CHANGES = [{}, {"dropout_scorer": 0.0}, {"chains": True}, {"clip_norm": 2.0}, {"tag_both": True}]


@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.parametrize("oracle", ["static", "dynamic", "even", "complete"])
def test_the_same_parameters_averages_and_losses(oracle, changes):
    """After three epochs, two of them with exploration by parameters that were updated one way or the other."""
    plain, rows = (trainer_of(CPU, sentence_steps=s, oracle=oracle, **QUIET | changes) for s in (False, True))
    expected, found = train(plain, 3), train(rows, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert_same_training(rows, plain, rtol=1e-4, atol=1e-5)
    moved = plain.optimisation.tensors()["parameter.encoder.layers.1.forward_lstm.weight_hh_l0"]
    start = trainer_of(CPU, sentence_steps=False, oracle=oracle, **QUIET | changes)
    assert (moved - start.optimisation.tensors()["parameter.encoder.layers.1.forward_lstm.weight_hh_l0"]).norm() > 1e-3


def test_the_network_and_its_averages_are_views_of_the_flat_memory():
    """What is evaluated, saved and explored with is what is updated."""
    trainer = trainer_of(CPU, sentence_steps=True)
    steps = steps_of(trainer)
    train(trainer, 1)
    parameters = dict(trainer.network.named_parameters())
    assert 0 <= len(steps.update.values) - sum(p.numel() for p in parameters.values()) < 4 * len(parameters) + 32
    assert len(steps.update.values) % 16 == 0
    assert all(p.storage_offset() % 4 == 0 for p in parameters.values())
    memory = steps.update.values.untyped_storage().data_ptr()
    assert {p.untyped_storage().data_ptr() for p in parameters.values()} == {memory}
    for layer in (trainer.network.encoder.character_lstm, *trainer.network.encoder.layers):
        for pair in zip(layer.forward_lstm.parameters(), layer.backward_lstm.parameters(), strict=True):
            assert stacked(*pair).data_ptr() == pair[0].data_ptr(), "directions are side by side"
    averaged = trainer.optimisation.averaged()
    assert averaged.keys() == parameters.keys()
    for name, parameter in parameters.items():
        assert averaged[name].shape == parameter.shape
        assert not torch.equal(averaged[name], parameter)
        torch.testing.assert_close(averaged[name], parameter, rtol=0.1, atol=0.1)


def test_an_epoch_goes_on_where_it_was_left():
    """With the rates, the noise and the sums of the updates that are left."""
    whole = trainer_of(CPU, sentence_steps=True, **QUIET)
    train(whole, 1)
    torch.manual_seed(0)
    first = trainer_of(CPU, sentence_steps=True, **QUIET)
    torch.manual_seed(0)
    first.start_epoch()
    for _, _ in zip(range(5), first.steps(), strict=False):
        pass
    second = trainer_of(CPU, sentence_steps=True, **QUIET)
    second.optimisation.load_tensors(first.optimisation.tensors())
    second.optimisation.step = first.optimisation.step
    second.continue_epoch(first.position, first.explored)
    second.set_sums({name: float(total) for name, total in first.sums.items()})
    for _ in second.steps():
        pass
    assert_same_training(second, whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("oracle", ["static", "complete"])
def test_a_row_holds_what_the_plain_loop_reads(oracle):
    """Every number of a sentence and of its derivation, and padding that no loss counts."""
    trainer = trainer_of(CPU, sentence_steps=False, oracle=oracle)
    corpus, packer = trainer.corpus, RowPacker(trainer.corpus, no_label=99)
    for sentence, (shape, values) in packer.upload(enumerate(trainer.unexplored.rows)).items():
        row = SentenceRow.of(values, shape)
        chosen, n = np.array([sentence]), int(corpus.lengths[sentence])
        index = torch.from_numpy(chosen)
        inputs, plain = corpus.inputs(chosen, index, n), trainer.unexplored.batch(chosen, index, n)
        foci, pairs = 2 * n - 1, len(plain.pair_item)
        assert row.words[:n].tolist() == inputs.words[0].tolist()
        assert row.lengths.tolist() == [n]
        lengths = inputs.form_lengths[inputs.forms[0]]
        assert row.form_lengths.tolist() == [*lengths.tolist(), *[1] * (shape.tokens - n)]
        for k, length in enumerate(lengths.tolist()):
            assert row.characters[k, :length].tolist() == inputs.characters[inputs.forms[0, k], :length].tolist()
        tags = corpus.tags.padded(index, shape.tokens, fill=-1)[0]
        assert row.tags.tolist() == tags.tolist()
        assert row.focus[:foci].tolist() == plain.focus.masked_fill(plain.focus == n, shape.tokens).tolist()
        assert row.label.tolist() == [*plain.label.tolist(), *[99] * (shape.foci - foci)]
        assert row.pair_focus[:pairs].tolist() == plain.pair_focus.tolist()
        shifted = plain.pair_item + (plain.pair_item >= foci) * (shape.foci - foci)  # singletons come after all foci
        assert row.pair_item[:pairs].tolist() == shifted.tolist()
        assert (row.pair_focus[pairs:] == foci - 1).all()
        assert not (row.pair_focus[:pairs] == foci - 1).any(), "the last focus decides nothing"
        best = {focus: pair for pair, focus in enumerate(plain.pair_focus.tolist()) if plain.pair_optimal[pair]}
        assert row.best.tolist() == [best.get(focus, IGNORED) for focus in range(shape.foci)]


def test_few_shapes():
    """None is smaller than its sentence; long ones are padded by less than half."""
    shapes = {Shape.of(n, longest, pairs) for n in range(1, 60) for longest in (3, 20) for pairs in (n, 5 * n, 12 * n)}
    assert len(shapes) < 150
    for n in range(1, 200):
        shape = Shape.of(n, n, 3 * n)
        assert shape.tokens >= n
        assert shape.characters >= n
        assert shape.pairs >= 3 * n
        assert shape.tokens < n + 4
        assert shape.pairs <= max(64, 4.5 * n)


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"oracle": "static", "hidden": 30, "dropout_scorer": 0.0, "chains": True}, True),
        ({"most_batch_tokens": 100}, False),
        ({"batch_tokens": 100}, False),
        ({"optimizer": "adamw"}, False),
        ({"alternate": False}, False),
        ({"explore_whole_batches": True}, False),
        ({"optimal_set": True}, False),
        ({"unk_characters": 0.1}, False),
        ({"gap_weight": 2.0}, False),
    ],
)
def test_recipes_that_it_is_for(changes, fits):
    assert has_sentence_steps(RECIPES["paper"].replace(**changes)) == fits
    assert not has_sentence_steps(RECIPES["fast"].replace(**changes))


def test_a_cpu_keeps_the_plain_loop():
    assert Trainer(short_recipe("paper"), TRAIN, CPU, seed=1).sentence_steps is None


def test_graphs_have_the_kernels_for_few_sequences():
    """In all layers, and not where there are no graphs."""
    trainer = trainer_of(CPU, sentence_steps=True)
    layers = [layer for layer in trainer.network.modules() if isinstance(layer, BiLSTM)]
    assert len(layers) == 3
    assert not any(layer.few for layer in layers)
    for usable in (True, False):
        steps_of(trainer).use_graphs(usable)
        assert all(layer.few == usable for layer in layers)


def test_trainers_that_it_is_for(monkeypatch):
    """On a GPU with Triton: those of own encoders, without silver trees, whose losses have a weight."""
    monkeypatch.setattr(kernels, "available", lambda: True)
    trainer, silver = (Trainer(short_recipe("paper"), TRAIN, CPU, seed=1, silver=trees) for trees in ([], TRAIN))
    assert not trainer._fits_sentence_graphs()
    trainer.device = silver.device = torch.device("cuda")
    assert trainer._fits_sentence_graphs()
    assert not silver._fits_sentence_graphs()
    trainer.network.encoder.pretrained = torch.nn.Identity()
    assert not trainer._fits_sentence_graphs()
    trainer.network.encoder.pretrained = None
    monkeypatch.setattr(kernels, "available", lambda: False)
    assert not trainer._fits_sentence_graphs()


# -- on a GPU ---------------------------------------------------------------------------------------------------------


@on_gpu
@pytest.mark.parametrize(
    ("oracle", "sizes"),
    [
        ("static", {}),
        ("dynamic", {}),
        ("complete", {}),
        ("static", {"hidden": 200, "scorer_hidden": 200, "character_hidden": 50}),
    ],
)
def test_graphs_compute_what_single_kernels_do(oracle, sizes):
    """Rows of several lengths, replayed several times, against the same rows without graphs, and the plain loop."""
    device = torch.device("cuda")
    settings = {"oracle": oracle, **QUIET, **sizes}
    graphs, kernel, plain = (trainer_of(device, sentence_steps=s, **settings) for s in (True, True, False))
    steps_of(kernel).use_graphs(False)
    found, expected, loop = (train(trainer, 2 if oracle == "static" else 1) for trainer in (graphs, kernel, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found, loop, rtol=2e-2, atol=2e-2)  # products of other shapes, in TF32
    assert_same_training(graphs, kernel, rtol=1e-3, atol=1e-4)
    # Biases take up what these products differ by in all updates: up to 0.012 was seen.
    assert_same_training(graphs, plain, rtol=2e-2, atol=2e-2)
    assert steps_of(graphs).usable, "no capture failed"
    assert steps_of(graphs).recorded == sum(slot.graph is not None for slot in steps_of(graphs).slots.values()) > 0
    assert steps_of(kernel).recorded == 0


@on_gpu
def test_every_replay_draws_new_random_numbers():
    """Dropout, unknown words and noise: the losses of one sentence differ, and have the mean that they have without
    graphs."""
    means = []
    for usable in (True, False):
        trainer = trainer_of(torch.device("cuda"), sentence_steps=True, oracle="static", learning_rate=0.0)
        steps = steps_of(trainer)
        steps.use_graphs(usable)
        steps.start(trainer.unexplored, {}, len(TREES))
        losses: list[Tensor] = []
        for _ in range(200):
            steps.update.cursor.zero_()
            losses.append(torch.stack(list(steps(len(TREES) - 1).values())).clone())
        drawn = torch.stack(losses).cpu()  # [200, 3]
        assert drawn.unique(dim=0).shape[0] > 190
        means.append((drawn.mean(0), drawn.std(0) / 200**0.5))
    (one, deviation), (other, _) = means
    assert ((one - other).abs() < 6 * deviation + 1e-4).all()


@on_gpu
def test_noise_reaches_the_parameters_of_a_graph():
    """As much of it as without graphs."""
    moved = []
    for usable in (True, False):
        quiet = {**QUIET, "gradient_noise": 100.0}
        trainer = trainer_of(torch.device("cuda"), sentence_steps=True, oracle="static", **quiet)
        steps_of(trainer).use_graphs(usable)
        before = steps_of(trainer).update.values.clone()
        train(trainer, 3)
        moved.append((steps_of(trainer).update.values - before).std().item())
    assert moved[0] == pytest.approx(moved[1], rel=0.1)


@on_gpu
def test_a_gpu_uses_graphs_unless_told_not_to():
    device = torch.device("cuda")
    assert Trainer(tiny_recipe("paper"), TREES, device, seed=1).sentence_steps is not None
    assert Trainer(tiny_recipe("paper", sentence_graphs=False), TREES, device, seed=1).sentence_steps is None
    assert Trainer(tiny_recipe("fast"), TREES, device, seed=1).sentence_steps is None
