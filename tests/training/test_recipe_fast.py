"""What the default recipe relies on beyond the paper: schedule, AdamW, clipping, averaging, batches, dropout, losses.

Unknown characters are in test_unknown.py, exploration in test_exploration.py, chains in test_objective.py and
tests/neural/test_reference.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tiny_models import SIZES, TRAIN, short_recipe, tiny_recipe, toy_treebank
from torch import Tensor, nn

from discoparse.neural.network import Dropout, Inputs, Network, NetworkConfig
from discoparse.training.loop import Trainer
from discoparse.training.optimisation import Optimisation, learning_rate
from discoparse.training.recipe import RECIPES
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

FAST = RECIPES["fast"]
CPU = torch.device("cpu")


class Small(nn.Module):
    """A matrix, a bias and an embedding, with the names that decide about weight decay."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.matrix = nn.Parameter(torch.randn(3, 4, generator=generator))
        self.bias = nn.Parameter(torch.randn(4, generator=generator))
        self.embedding = nn.Parameter(torch.randn(5, 2, generator=generator))


# -- the schedule -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("final_rate", [0.0, 0.1])
def test_the_rate_rises_linearly_and_falls_as_a_cosine(final_rate):
    """From 0 to the peak in the warm-up, from there to `final_rate` of it with the last update."""
    recipe = FAST.replace(final_rate=final_rate)
    total, warm, peak = 1100, recipe.warmup_steps, recipe.learning_rate
    assert warm == 100
    rates = np.array([learning_rate(recipe, step, total) for step in range(1, total + 1)])
    np.testing.assert_allclose(rates[:warm], peak * np.arange(1, warm + 1) / warm)
    share = np.arange(1, total - warm + 1) / (total - warm)
    cosine = np.cos(np.pi * share / 2) ** 2  # = (1 + cos(pi x)) / 2
    np.testing.assert_allclose(rates[warm:], peak * (final_rate + (1 - final_rate) * cosine), atol=1e-12)
    assert learning_rate(recipe, total + 50, total) == pytest.approx(peak * final_rate, abs=1e-12)


def test_the_clock_moves_the_cosine_forward_and_never_back():
    step, total = 600, 1100  # half of what comes after the warm-up
    assert learning_rate(FAST, step, total, 0.75) == pytest.approx(FAST.learning_rate * math.cos(0.375 * math.pi) ** 2)
    assert learning_rate(FAST, step, total, 0.25) == learning_rate(FAST, step, total)


@pytest.mark.parametrize("seed", range(5))
def test_the_schedule_is_as_long_as_the_training(seed):
    """The number of updates is planned from the mean number of batches over the first ten epochs, which differ."""
    trees = [Tree.from_constituents([Token("a", "X")] * n, [("S", set(range(n)))]) for n in range(3, 43)]
    recipe = short_recipe("fast", batch_tokens=150, most_batch_tokens=150, epochs=1, updates=300)
    trainer = Trainer(recipe, trees, CPU, seed=seed)
    counts = [len(trainer._batches(epoch)) for epoch in range(10)]
    assert trainer.epochs == math.ceil(300 / np.mean(counts))
    assert trainer.optimisation.total_steps == round(trainer.epochs * np.mean(counts))


# -- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
@pytest.mark.parametrize("beta2", [0.98, 0.7])
@pytest.mark.parametrize("clip_norm", [0.5, 1e6])
def test_adamw_with_clipped_gradients(weight_decay, beta2, clip_norm):
    """Loshchilov and Hutter (2019), by hand: decay is apart from the gradient and for matrices alone, not for biases
    and embeddings; the norm of all gradients together is clipped first."""
    recipe = FAST.replace(weight_decay=weight_decay, beta2=beta2, clip_norm=clip_norm, warmup_steps=2)
    network = Small()
    optimisation = Optimisation(network, recipe, 10)
    expected = {name: p.detach().double().numpy().copy() for name, p in network.named_parameters()}
    m, v = ({name: np.zeros_like(p) for name, p in expected.items()} for _ in range(2))
    chance = np.random.default_rng(1)
    for t in range(1, 7):
        gradients = {name: chance.normal(size=p.shape) * 3 for name, p in expected.items()}
        loss = sum((p * torch.from_numpy(gradients[n]).float()).sum() for n, p in network.named_parameters())
        assert isinstance(loss, Tensor)
        optimisation.update(loss)
        norm = math.sqrt(sum((g**2).sum() for g in gradients.values()))
        scale = min(1.0, clip_norm / norm)
        rate = learning_rate(recipe, t, 10)
        for name, p in expected.items():
            g = gradients[name] * scale
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = beta2 * v[name] + (1 - beta2) * g**2
            p *= 1 - rate * (weight_decay if name == "matrix" else 0)
            p -= rate * (m[name] / (1 - 0.9**t)) / (np.sqrt(v[name] / (1 - beta2**t)) + 1e-8)
        for name, p in network.named_parameters():
            np.testing.assert_allclose(p.detach().numpy(), expected[name], rtol=1e-4, atol=1e-6)


def test_which_parameters_decay():
    """Matrices of the LSTMs, the scorers and the tagger; neither biases, nor embeddings, nor the nil vector."""
    network = Trainer(short_recipe("fast"), TRAIN, CPU, seed=1).network
    optimisation = Optimisation(network, FAST, 10)
    assert optimisation.adam is not None
    names = {id(p): name for name, p in network.named_parameters()}
    decayed = {names[id(p)] for g in optimisation.adam.param_groups if g["weight_decay"] for p in g["params"]}
    assert decayed == {
        name
        for name, p in network.named_parameters()
        if name.rpartition(".")[2].startswith("weight") and "embedding" not in name
    }
    assert sum(len(group["params"]) for group in optimisation.adam.param_groups) == len(names)


@pytest.mark.parametrize("average_decay", [0.5, 0.998])
def test_the_moving_average_forgets_its_start(average_decay):
    """a_t = d a_(t-1) + (1 - d) p_t with d = min(average_decay, (1 + t) / (10 + t))."""
    network = Small()
    optimisation = Optimisation(network, FAST.replace(average_decay=average_decay, learning_rate=1.0), 10)
    expected = network.matrix.detach().double().clone()
    for t in range(1, 40):
        optimisation.update((network.matrix * torch.randn(3, 4)).sum())
        decay = min(average_decay, (1 + t) / (10 + t))
        expected = decay * expected + (1 - decay) * network.matrix.detach().double()
        torch.testing.assert_close(optimisation.averaged()["matrix"].double(), expected, rtol=1e-5, atol=1e-6)
    assert not torch.allclose(optimisation.averaged()["matrix"], network.matrix)


# -- batches and losses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sentences", "expected"), [(10, 16), (600, 24), (4000, 40)])
def test_batches_grow_with_the_treebank(sentences, expected):
    """A hundredth of its tokens, from `batch_tokens` to `most_batch_tokens`; no batch has more, padding included."""
    trees = [Tree.from_constituents([Token("a", "X")] * 4, [("S", set(range(4)))])] * (sentences - 1)
    trees.append(Tree.from_constituents([Token("a", "X")] * 60, [("S", set(range(60)))]))  # longer than any batch
    trainer = Trainer(tiny_recipe("fast", batch_tokens=16, most_batch_tokens=40), trees, CPU, seed=1)
    assert trainer.batch_tokens == expected
    sizes = [len(batch) * trainer.corpus.lengths[batch].max() for batch in trainer.batches]
    assert max(size for size in sizes if size != 60) == expected
    assert sizes.count(60) == 1
    assert sorted(np.concatenate(trainer.batches).tolist()) == list(range(sentences))


@pytest.mark.parametrize("tagging_weight", [1.0, 0.25])
def test_the_loss_of_a_batch_is_per_token_and_weighs_the_tags(tagging_weight):
    """(structure + labels + weight x tags) / tokens, in one update."""
    trainer = Trainer(short_recipe("fast", tagging_weight=tagging_weight), TRAIN, CPU, seed=1)
    updates: list[float] = []
    trainer.optimisation.update = lambda loss: updates.append(loss.item())  # type: ignore[method-assign]
    trainer.start_epoch()
    for loss in trainer.steps():
        tokens = int(trainer.corpus.lengths[trainer.batches[trainer.position - 1]].sum())
        expected = (loss["structure"] + loss["label"] + tagging_weight * loss["tag"]) / tokens
        assert updates[-1] == pytest.approx(expected.item(), rel=1e-5)
    assert len(updates) == len(trainer.batches)


def test_half_of_the_batches_are_explored():
    """A draw for each batch when it is due; the others take the oracle's own derivation."""
    recipe = short_recipe("fast", exploration=0.5, exploration_start=0.0, batch_tokens=1, most_batch_tokens=1)
    trainer = Trainer(recipe, toy_treebank(100, 1), CPU, seed=1)
    explored: list[int] = []
    really = trainer._derive

    def derive(chosen: np.ndarray, *arguments: object, **options: bool) -> object:
        assert not options["stay"]
        explored.append(int(chosen[0]))
        return really(chosen, *arguments, **options)  # type: ignore[arg-type]

    trainer._derive = derive  # type: ignore[method-assign, assignment]
    trainer.start_epoch()
    for _ in trainer.steps():
        pass
    assert len(trainer.batches) == 100
    assert abs(len(explored) - 50) < 4 * math.sqrt(100 * 0.25)


# -- dropout ----------------------------------------------------------------------------------------------------------


def masks_of(dropped: Tensor, whole: Tensor, probability: float) -> Tensor:
    """1 where units were kept and scaled up, 0 where they were dropped; anything else is an error."""
    kept = dropped.abs() > 0
    torch.testing.assert_close(dropped, torch.where(kept, whole / (1 - probability), 0.0))
    return kept


def test_a_sentence_has_one_mask_for_each_layer():
    """`dropout_hidden`: a unit is dropped for all tokens of a sentence or for none; sentences and layers differ."""
    torch.manual_seed(1)
    config = NetworkConfig(words=9, characters=9, tags=3, labels=3, **SIZES | {"hidden": 40})
    encoder = Network(config, Dropout(hidden=0.3)).encoder
    words = torch.randint(9, (6, 5))
    inputs = Inputs(words, words, torch.randint(9, (9, 4)), torch.full((9,), 4), torch.full((6,), 5))
    whole, _ = encoder.eval()(inputs)
    first, last = encoder.train()(inputs)
    with torch.no_grad():
        second = encoder.layers[1](first, inputs.lengths)
    layers = [masks_of(first, whole, 0.3), masks_of(last, second, 0.3)]  # [6, 5, 80] each
    for mask in layers:
        assert (mask == mask[:, :1]).all()  # the same for every token
        by_sentence = mask[:, 0]
        assert len(by_sentence.unique(dim=0)) == 6
        share = 1 - by_sentence.double().mean().item()
        assert abs(share - 0.3) < 4 * math.sqrt(0.21 / by_sentence.numel())
    assert not torch.equal(*layers)


def test_dropout_in_the_scorers():
    """`dropout_scorer_hidden`: the first hidden layer of FF_s and of FF_l, every unit of every row for itself."""
    torch.manual_seed(1)
    config = NetworkConfig(words=9, characters=9, tags=3, labels=3, **SIZES)
    scorers = Network(config, Dropout(scorer_hidden=0.2)).scorers.train()
    first = torch.randn(400, SIZES["scorer_hidden"])
    for layer, score in (
        (scorers.pair_hidden, scorers.pair_scores),
        (scorers.label_hidden, scorers.label_hidden_states),
    ):
        inputs: list[Tensor] = []
        hook = layer.register_forward_pre_hook(lambda _, x: inputs.append(x[0].detach()))  # noqa: B023
        score(first)
        hook.remove()
        mask = masks_of(inputs[0], torch.tanh(first), 0.2)
        assert abs(1 - mask.double().mean().item() - 0.2) < 4 * math.sqrt(0.16 / mask.numel())
        assert len(mask.unique(dim=0)) > 300
