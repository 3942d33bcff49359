"""The `paper` recipe against Section 3.5, Section 4.2 and Appendix B, one test for each thing they say.

The initialisation is in test_network.py, exploration in test_exploration.py, the selection of the best model in
test_session.py, the preferred action among several best ones in test_lockstep.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import torch
from tiny_models import SIZES, OneVector, paper_trainer, tiny_recipe, toy_treebank
from torch import Tensor, nn

from discoparse.neural.network import Inputs
from discoparse.neural.vocabulary import UNKNOWN
from discoparse.training.flat_update import FlatUpdate
from discoparse.training.loop import Trainer
from discoparse.training.objective import Decisions, plain_inputs
from discoparse.training.optimisation import Optimisation, learning_rate, noise_deviation
from discoparse.training.recipe import RECIPES, Recipe
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

PAPER = RECIPES["paper"]
CPU = torch.device("cpu")
QUIET = {"gradient_noise": 0.0, "dropout_tagger": 0.0, "dropout_scorer": 0.0, "unk_probability": 0.0}


# There are two ways to update: one parameter at a time, and, for CUDA graphs, all of them in one row of memory.
WAYS = pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])


def optimise(network: nn.Module, recipe: Recipe, flat: bool) -> tuple[Optimisation, Callable[[Tensor], None]]:
    """An optimisation, and the function that makes an update."""
    optimisation = Optimisation(network, recipe, 10)
    if not flat:
        return optimisation, optimisation.update
    update = FlatUpdate(optimisation, 1, comes_last=lambda name: name == "unused")

    def planned(loss: Tensor) -> None:
        update.plan(1)
        update(loss)
        optimisation.step += 1

    return optimisation, planned


def test_figures_of_the_appendix():
    """Table 5 and Section 4.2."""
    expected = {
        "word_size": 32,
        "character_size": 100,
        "character_hidden": 50,
        "hidden": 200,
        "layers": 2,
        "scorer_hidden": 200,
        "unk_probability": 0.3,
        "unk_share": 2 / 3,
        "dropout_tagger": 0.5,
        "dropout_scorer": 0.2,
        "oracle": "dynamic",
        "exploration": 0.15,
        "epochs": 100,
        "optimizer": "asgd",
        "learning_rate": 0.01,
        "decay": 1e-7,
        "warmup_steps": 1000,
        "clip_norm": 100.0,
        "gradient_noise": 0.01,
        "alternate": True,
        "evaluate_every": 4,
    }
    assert {name: getattr(PAPER, name) for name in expected} == expected
    # Nothing that the paper does not have
    assert PAPER.dropout_embedding == PAPER.dropout_hidden == PAPER.dropout_scorer_hidden == 0
    assert PAPER.min_frequency == 1
    assert PAPER.exploration_start == 0
    assert not PAPER.optimal_set
    assert not PAPER.chains


@WAYS
def test_averaged_sgd_averages_all_iterates(flat):
    """The average is the mean of the parameters after each step, all of them, the initial ones not among them."""
    torch.manual_seed(0)
    network = OneVector(5)
    optimisation, update = optimise(network, Recipe(warmup_steps=1), flat)
    iterates = []
    for _ in range(1500):  # long enough to tell the mean from a moving average
        update((network.used * torch.randn(5)).sum() * 10)
        iterates.append(network.used.detach().clone())
    torch.testing.assert_close(optimisation.averaged()["used"], torch.stack(iterates).mean(0), rtol=1e-4, atol=1e-5)
    assert not torch.equal(optimisation.averaged()["used"], network.used)


@WAYS
def test_the_average_does_not_stall(flat):
    """Late in a long training a step still moves the mean by its share."""
    network = OneVector(1)
    optimisation, update = optimise(network, PAPER.replace(gradient_noise=0.0), flat)
    optimisation.step = 20_000_000
    optimisation.average[0].fill_(1.0)
    with torch.no_grad():
        network.used.fill_(1.5)
    for _ in range(1000):
        update((network.used * 0.0).sum())
    expected = 1.0 + 0.5 * 1000 / 20_001_000
    assert optimisation.average[0].item() == pytest.approx(expected, abs=1e-8)


@WAYS
def test_the_update_is_that_of_plain_sgd_at_the_rate_of_the_step(flat):
    """No momentum, no weight decay: a step is minus the rate times the gradient."""
    network = OneVector(3)
    _, update = optimise(network, PAPER.replace(gradient_noise=0.0), flat)
    gradient, expected = torch.tensor([1.0, -2.0, 3.0]), torch.zeros(3)
    for step in range(1, 6):
        update((network.used * gradient).sum())
        expected -= learning_rate(PAPER, step, 0) * gradient
        torch.testing.assert_close(network.used.detach(), expected)
    assert not network.unused.any()


def test_rate_and_decay():
    """l_t = 0.01 / (1 + t 1e-7), whatever the length of the training or the time it has."""
    for step in (1000, 1001, 50_000, 10**7):
        for total, used in ((10, 0.0), (10**9, 0.9)):
            assert learning_rate(PAPER, step, total, used) == pytest.approx(0.01 / (1 + step * 1e-7), rel=1e-12)


def test_warm_up_is_linear_from_0_to_the_rate_of_step_1000():
    """Every step of the first 1,000 adds the same; nothing jumps at the end."""
    rates = [learning_rate(PAPER, step, 0) for step in range(1, 1002)]
    peak = 0.01 / (1 + 1000 * 1e-7)
    np.testing.assert_allclose(rates[:1000], peak * np.arange(1, 1001) / 1000, rtol=1e-12)
    assert rates[1000] == pytest.approx(peak, rel=1e-6)


@WAYS
def test_steps_for_tagging_and_parsing_alternate(flat, monkeypatch):
    """Each sentence makes an update by its tags alone, then one by its actions alone; each sums its losses.

    The tagger stands on the first layer, the parser on the second, which tagging does not compute.
    """
    trainer = paper_trainer(**QUIET)
    if flat:
        trainer.use_sentence_steps()
    seen: list[tuple[bool, bool, bool, float]] = []
    kind, name = (FlatUpdate, "__call__") if flat else (Optimisation, "update")
    update = getattr(kind, name)

    def watch(self: Optimisation | FlatUpdate, loss: Tensor, **options: int) -> None:
        network = trainer.network
        upper = network.encoder.layers[1].forward_lstm.weight_hh_l0
        wanted = [network.tagger.weight, upper, network.scorers.label_output.weight]
        gradients = torch.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True)
        seen.append((*(gradient is not None for gradient in gradients), loss.item()))
        update(self, loss, **options)

    monkeypatch.setattr(kind, name, watch)
    trainer.start_epoch()
    second: list[Tensor] = []  # what the second layer gives in training
    trainer.network.encoder.layers[1].register_forward_hook(lambda *arguments: second.append(arguments[2]))
    losses = [{name: loss.item() for name, loss in losses.items()} for losses in trainer.steps()]
    assert [kinds[:3] for kinds in seen] == [(True, False, False), (False, True, True)] * len(trainer.corpus)
    assert len(second) == len(trainer.corpus)
    for loss, (tagging, parsing) in zip(losses, zip(seen[::2], seen[1::2], strict=True), strict=True):
        assert tagging[3] == pytest.approx(loss["tag"])
        assert parsing[3] == pytest.approx(loss["structure"] + loss["label"], rel=1e-5)
    assert trainer.optimisation.step == 2 * len(trainer.corpus)


def test_the_losses_are_sums_of_negative_log_likelihoods():
    """L_t and L_p of a sentence, from the network's own scores, summed (not averaged) over tokens and actions."""
    trainer = paper_trainer(1, **QUIET, exploration=0.0)
    chosen, index = np.array([0]), torch.tensor([0])
    first, last = trainer._encode(chosen, index)
    tags = trainer.corpus.tags.padded(index, first.shape[1])[0]
    scores = trainer.network.tag_scores(first, last)[0].log_softmax(-1)
    expected = -sum(scores[i, tag] for i, tag in enumerate(tags.tolist()))
    torch.testing.assert_close(trainer._tagging_loss(first, last, index), expected)
    n = int(trainer.corpus.lengths[0])
    decisions = trainer.decisions.batch(chosen, index, n)
    assert len(decisions.focus) == 2 * n - 1  # labelling actions
    assert len(decisions.pair_focus.unique()) == 2 * n - 2  # structural actions, but for the first shift

    _, last = trainer._encode(chosen, index)
    scorers, rows = trainer.network.scorers, trainer.network.scorers.with_nil(last)
    foci = scorers.represent(rows, decisions.focus)
    label_scores = scorers.label_output(scorers.label_hidden_states(scorers.label_first(foci))).log_softmax(-1)
    gold = trainer.chains[decisions.label, 0].tolist()
    labels = -sum(label_scores[k, label] for k, label in enumerate(gold))
    singletons = scorers.represent(rows, torch.tensor([[i, i, n, n] for i in range(n)]))
    items = torch.cat([foci, singletons])
    structure = torch.zeros(())
    for focus in decisions.pair_focus.unique().tolist():
        legal = (decisions.pair_focus == focus).nonzero().squeeze(1)
        pairs = scorers.pair_first(items[decisions.pair_item[legal]], foci[[focus] * len(legal)])
        (best,) = decisions.pair_optimal[legal].nonzero().squeeze(1).tolist()
        structure = structure - scorers.pair_scores(pairs).log_softmax(0)[best]
    found = trainer._parsing_losses(last, chosen, index)
    torch.testing.assert_close(found, (structure, labels))


def test_a_batch_is_one_sentence():
    """However large the treebank, however short the sentence; every sentence once an epoch, in another order."""
    trees = [Tree.from_constituents([Token("a", "X")], [("S", {0})])] * 250 + toy_treebank(50, 1)
    trainer = Trainer(tiny_recipe("paper"), trees, CPU, seed=1)
    orders = []
    for epoch in range(3):
        batches = trainer._batches(epoch)
        assert {len(batch) for batch in batches} == {1}
        orders.append([int(batch[0]) for batch in batches])
        assert sorted(orders[-1]) == list(range(300))
    assert orders[0] != orders[1] != orders[2]
    assert np.corrcoef(orders[0], np.arange(300))[0, 1] < 0.3  # not sorted by length or place


@WAYS
@pytest.mark.parametrize(("size", "clipped"), [(1000.0, 100.0), (99.0, 99.0)])
def test_gradients_are_clipped_at_norm_100(size, clipped, flat):
    """The norm of all gradients together is at most 100; smaller ones are left alone."""
    network = OneVector(4)
    _, update = optimise(network, PAPER.replace(gradient_noise=0.0), flat)
    direction = torch.tensor([1.0, 2.0, -2.0, 4.0]) / 5
    update(((network.used + network.unused) * direction).sum() * size / math.sqrt(2))
    moved = torch.cat([network.used.detach(), network.unused.detach()]) / learning_rate(PAPER, 1, 0)
    assert moved.norm().item() == pytest.approx(clipped, rel=1e-4)
    torch.testing.assert_close(moved[:4], -direction * clipped / math.sqrt(2), rtol=1e-4, atol=1e-5)


@WAYS
@pytest.mark.parametrize("step", [1, 400])
def test_gradient_noise(step, flat):
    """Mean 0, variance 0.01 / (1 + t)^0.55, on every parameter, with or without a gradient, and after clipping."""
    torch.manual_seed(0)
    size = 3_000_000  # the norm of the noise is above 100: clipping afterwards would shrink it
    network = OneVector(size)
    optimisation, update = optimise(network, PAPER, flat)
    optimisation.step = step - 1
    update((network.used * 0.0).sum())
    expected = math.sqrt(0.01 / (1 + step) ** 0.55)
    assert noise_deviation(PAPER, step) == pytest.approx(expected)
    for parameter in (network.used, network.unused):
        noise = parameter.detach() / learning_rate(PAPER, step, 0)
        assert noise.std().item() == pytest.approx(expected, rel=4 / math.sqrt(2 * size))
        assert abs(noise.mean().item()) < 4 * expected / math.sqrt(size)
        # normal: 68 % within one deviation
        inside = (noise.abs() < expected).double().mean().item()
        assert inside == pytest.approx(0.6827, abs=1e-4 + 4 * math.sqrt(0.2166 / size))


def test_unk_replaces_the_rare_two_thirds_with_probability_03():
    """Word types of the least frequent two thirds give way to UNK in 30 % of their occurrences, others never."""
    words = [f"w{29 - k:02}" for k in range(30)]  # w29 occurs 31 times, w00 twice
    trees = [
        Tree.from_constituents([Token(word, "X") for word in words[:upto]], [("S", range(upto))])
        for upto in range(1, 31)
    ]
    trees.append(trees[-1].copy())
    trainer = Trainer(tiny_recipe("paper"), trees, CPU, seed=1)
    vocabulary = trainer.vocabulary
    rare = {vocabulary.word_id(word) for word in words[10:]}
    assert vocabulary.rare == min(rare)
    half = Trainer(tiny_recipe("paper", unk_share=0.5), trees, CPU, seed=1).vocabulary
    assert half.rare == min(half.word_id(word) for word in words[15:])
    seen, replaced, together = Counter(), Counter(), set()

    def look(module: nn.Module, arguments: tuple[Inputs]) -> None:
        for row in arguments[0].words.tolist():
            for word, found in zip(words, row, strict=True):
                expected = vocabulary.word_id(word)
                assert found in (expected, UNKNOWN)
                seen[expected] += 1
                replaced[expected] += found == UNKNOWN
            together.add(row.count(UNKNOWN))

    trainer.network.encoder.register_forward_pre_hook(look)
    for _ in range(3):
        trainer._encode(np.array([29] * 100), torch.tensor([29] * 100))
    assert {word for word in replaced if replaced[word]} == rare
    assert len(together) > 4, "each occurrence has a draw of its own"
    total = sum(seen[word] for word in rare)
    share = sum(replaced[word] for word in rare) / total
    assert share == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / total))


@WAYS
def test_unk_is_for_both_steps_and_not_for_exploration(flat):
    """With probability 1, every rare word is gone in the tagging step and in the parsing step."""
    trainer = paper_trainer(unk_probability=1.0, exploration=1.0)
    if flat:
        trainer.use_sentence_steps()
    seen: list[Tensor] = []
    trainer.network.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].words))
    trainer.start_epoch()
    assert seen, "explored"
    assert any((words >= trainer.vocabulary.rare).any() for words in seen)
    assert not any((words == UNKNOWN).any() for words in seen)
    seen.clear()
    for _ in trainer.steps():
        pass
    assert len(seen) == 2 * len(trainer.corpus)
    assert not any((words >= trainer.vocabulary.rare).any() for words in seen)
    for kind in (seen[::2], seen[1::2]):
        assert any((words == UNKNOWN).any() for words in kind)


@WAYS
def test_dropout_before_the_tagger_and_the_scorers(flat):
    """0.5 of the tagger's input and 0.2 of the scorers', each prediction with a mask of its own."""
    trainer = paper_trainer(**SIZES | {"hidden": 64})
    if flat:
        trainer.use_sentence_steps()
    network = trainer.network
    inputs: dict[str, Tensor] = {}
    for name, layer in (
        ("tag", network.tagger),
        ("pair", network.scorers.pair_input),
        ("label", network.scorers.label_input),
    ):
        layer.register_forward_pre_hook(lambda _, x, name=name: inputs.__setitem__(name, x[0].detach()))
    trainer.start_epoch()
    next(trainer.steps())
    for name, probability in (("tag", 0.5), ("pair", 0.2), ("label", 0.2)):
        rows = inputs[name].flatten(0, -2)
        dropped = rows == 0
        deviation = math.sqrt(probability * (1 - probability) / dropped.numel())
        assert dropped.float().mean().item() == pytest.approx(probability, abs=4 * deviation), name
        assert len({tuple(row.tolist()) for row in dropped}) == len(rows), name  # no two masks alike
    # Nor are those of an item, or of a focus, alike in two predictions.
    half = inputs["pair"].shape[1] // 2
    parts = (inputs["pair"][:, :half], inputs["pair"][:, half:], inputs["label"])
    masks = [tuple(row.tolist()) for part in parts for row in part == 0]
    assert len(set(masks)) == len(masks)


def test_what_dropout_leaves_is_scaled_up():
    """By 1 / (1 - p), so that nothing needs to be scaled when parsing."""
    network = paper_trainer().network.train()
    size = 2 * SIZES["hidden"]
    inputs: list[Tensor] = []
    for layer in (network.tagger, network.scorers.pair_input, network.scorers.label_input):
        layer.register_forward_pre_hook(lambda _, x: inputs.append(x[0].detach()))
    network.tag_scores(*torch.ones(2, 1, 40, size))
    network.scorers.pair_first(torch.ones(40, 4 * size), torch.ones(40, 4 * size))
    network.scorers.label_first(torch.ones(40, 4 * size))
    assert [sorted(x.unique().tolist()) for x in inputs] == [[0, 2], [0, 1.25], [0, 1.25]]


def test_two_predictions_of_one_pair_get_different_masks():
    """The same item and the same focus, scored twice in one batch."""
    trainer = paper_trainer()
    scorers = trainer.network.scorers
    rows = scorers.with_nil(torch.randn(1, 3, 2 * SIZES["hidden"]))
    focus = torch.tensor([[0, 0, 3, 3], [1, 1, 3, 3], [1, 1, 3, 3]])
    pairs = torch.tensor([1, 1]), torch.tensor([0, 0])
    decisions = Decisions(focus, torch.zeros(3, dtype=torch.long), *pairs, torch.tensor([True, False]), 3)
    for training in (True, False):
        first = plain_inputs(scorers.train(training), rows, decisions)
        one, other = first.pairs(decisions.pair_item, decisions.pair_focus)
        assert torch.equal(one, other) != training
        assert torch.equal(first.labels[1], first.labels[2]) != training
