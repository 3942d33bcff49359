"""Exploration (Section 3.5): who is explored and when, what is sampled, and what is learnt from it."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import TRAIN, paper_trainer, short_recipe, tiny_recipe, toy_treebank

from discoparse.system.constituents import tree_constituents
from discoparse.system.dynamic_oracle import DynamicOracle
from discoparse.system.oracle import static_derivation
from discoparse.system.transition import Combine, Configuration, Shift
from discoparse.training import loop
from discoparse.training.loop import Trainer
from discoparse.training.recipe import ORACLES
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


def test_each_sentence_is_explored_with_probability_015_before_an_epoch():
    """A new draw for each epoch; explored sentences learn from sampled configurations, the others from the static
    derivation, and nothing is explored during the epoch."""
    trainer = paper_trainer(400)
    counts, before = [], None
    for epoch in range(3):
        trainer.epoch = epoch
        trainer.start_epoch()
        explored = set(trainer.explored)
        counts.append(len(explored))
        assert explored != before
        before = explored
        for k in range(400):
            source = trainer.explored[k] if k in explored else trainer.unexplored.rows[k]
            assert trainer.decisions.rows[k] is source
    deviation = math.sqrt(1200 * 0.15 * 0.85)
    assert abs(sum(counts) - 180) < 4 * deviation

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("explored in the middle of an epoch")

    trainer._derive = forbidden  # type: ignore[method-assign]
    trainer.recipe = trainer.recipe.replace(exploration=1.0)
    next(trainer.steps())


def test_seeds_differ_in_parameters_and_in_what_is_explored():
    """And not in the order of sentences alone."""
    trainers = [Trainer(tiny_recipe("paper"), toy_treebank(200, 1), CPU, seed=seed) for seed in (1, 2)]
    one, other = (trainer.network.encoder.word_embedding.weight for trainer in trainers)
    assert not torch.equal(one, other)
    for trainer in trainers:
        trainer.start_epoch()
    assert trainers[0].explored.keys() != trainers[1].explored.keys()


def test_what_is_not_explored_follows_the_static_derivation():
    """Section 2.2.1: combine as soon as possible. Foci are as in the oracle that is read beside the paper."""
    trees = toy_treebank(40, 1)
    trainer = Trainer(tiny_recipe("paper"), trees, CPU, seed=1)
    for tree, (foci, _) in zip(trees, trainer.unexplored.rows, strict=True):
        configuration = Configuration.initial(len(tree))
        expected = []
        for action in static_derivation(tree_constituents(tree)):
            configuration = configuration.apply(action)
            if isinstance(action, Shift | Combine):
                expected.append((min(configuration.focus), max(configuration.focus)))
        assert [tuple(ends) for ends in foci[:, :2].tolist()] == expected


def preferred_foci(tree: Tree, complete: bool) -> list[tuple[int, int]]:
    """Ends of the foci when the oracle that is read beside the paper takes its preferred actions from the start."""
    oracle, configuration = DynamicOracle(tree_constituents(tree)), Configuration.initial(len(tree))
    ends = []
    while not configuration.is_final:
        action = oracle.preferred(configuration, complete)
        configuration = configuration.apply(action)
        if isinstance(action, Shift | Combine):
            ends.append((min(configuration.focus), max(configuration.focus)))
    return ends


@pytest.mark.parametrize("oracle", ORACLES)
def test_which_derivation_teaches_what_is_not_explored(oracle):
    """o_even's for `even`, the static one for the others; they differ where a constituent waits for a later token."""
    # At {1, 2} the next constituent is {0, 3}, for which o_even shifts; the static derivation combines 1 and 2 at once.
    waiting = Tree.from_constituents(
        [Token(word, "X") for word in "abcde"], [("S", {0, 1, 2, 3, 4}), ("VP", {0, 3}), ("NP", {1, 2, 4})]
    )
    trees = [waiting, *toy_treebank(20, 1)]
    assert preferred_foci(waiting, True) != preferred_foci(waiting, False)
    trainer = Trainer(tiny_recipe("paper", oracle=oracle), trees, CPU, seed=1)
    for tree, (foci, _) in zip(trees, trainer.unexplored.rows, strict=True):
        assert [tuple(ends) for ends in foci[:, :2].tolist()] == preferred_foci(tree, oracle != "even")


@pytest.mark.parametrize("optimal_set", [False, True])
@pytest.mark.parametrize("oracle", ["dynamic", "even", "complete"])
def test_which_oracle_is_asked_about_explored_configurations(monkeypatch, oracle, optimal_set):
    """The complete set for `complete`, the paper's for the others; the same for unexplored ones, where it is asked."""
    asked: list[dict[str, bool]] = []
    really = loop.explore

    def explore(*arguments: Any, **options: bool) -> Any:
        asked.append(options)
        return really(*arguments, **options)

    monkeypatch.setattr(loop, "explore", explore)
    changes = {"oracle": oracle, "optimal_set": optimal_set, "exploration_start": 0.0}
    for exploration, stays in ((1.0, False), (0.0, True)):
        trainer = Trainer(short_recipe("fast", exploration=exploration, **changes), TRAIN, CPU, seed=1)
        trainer.start_epoch()
        next(trainer.steps())
        if stays and (oracle == "dynamic" or not optimal_set):
            assert not asked
        else:
            assert asked == [{"complete": oracle == "complete", "single": not optimal_set, "stay": stays}]
        asked.clear()


def test_the_static_oracle_explores_nothing():
    """`--oracle static` learns from gold derivations only."""
    trainer = paper_trainer(oracle="static", exploration=1.0)
    trainer.start_epoch()
    assert trainer.decisions is trainer.unexplored


def test_explored_decisions_have_one_best_action():
    """Section 3.5 takes one of the oracle's actions, in explored derivations as in others."""
    trainer = paper_trainer(40, exploration=1.0)
    trainer.start_epoch()
    assert len(trainer.explored) == 40
    for k in range(40):
        n = int(trainer.corpus.lengths[k])
        decisions = trainer.decisions.batch(np.array([k]), torch.tensor([k]), n)
        best = torch.zeros(2 * n - 1).index_add(0, decisions.pair_focus, decisions.pair_optimal.float())
        assert best.tolist() == [1.0] * (2 * n - 2) + [0.0]


@pytest.mark.parametrize("seed", [1, 2])
def test_exploration_samples_from_the_softmax_of_the_current_parameters(seed):
    """Not from the averaged ones, not the best action, and without dropout; of two actions, and of three."""
    count = 3000
    sentence = Tree.from_constituents([Token(word, "X") for word in "abcd"], [("S", {0, 1, 2, 3}), ("A", {0, 1})])
    recipe = tiny_recipe("paper", exploration=1.0, dropout_scorer=0.6)
    trainer = Trainer(recipe, [sentence] * count, CPU, seed=seed)
    network, scorers = trainer.network, trainer.network.scorers

    @torch.no_grad()
    def scores() -> list[torch.Tensor]:
        """After two shifts the focus is {b}, the memory {{a}}: combine with {a}, or shift c. After three it is {c}, the
        memory {{a}, {b}}: combine with {a}, with {b}, or shift d."""
        network.eval()
        _, tokens = network.encoder(trainer.corpus.inputs(np.array([0]), torch.tensor([0]), 4))
        a, b, c, d = scorers.represent(scorers.with_nil(tokens), torch.tensor([[k, k, 4, 4] for k in range(4)]))
        found = []
        for focus, items in ((b, (a, c)), (c, (a, b, d))):
            pairs = scorers.pair_first(torch.stack(items), focus.expand(len(items), -1))
            found.append(scorers.pair_scores(pairs))
        network.train()
        return found

    with torch.no_grad():
        # The best and the worst action of one of the two decisions are a factor of ten apart, those of the other less.
        scorers.pair_output.weight.mul_(math.log(10) / max((s.max() - s.min()).item() for s in scores()))
        for average in trainer.optimisation.average:
            average.add_(torch.randn_like(average))
    trainer.start_epoch()
    derivations = [foci[:, :2].tolist() for foci, _ in trainer.explored.values()]
    assert len(derivations) == count
    second = Counter(tuple(ends[2]) for ends in derivations)
    third = Counter(tuple(ends[3]) for ends in derivations if ends[2] == [2, 2])
    outcomes = (((0, 1), (2, 2)), second), (((0, 2), (1, 2), (3, 3)), third)
    for found, (ends, counts) in zip(scores(), outcomes, strict=True):
        assert set(counts) <= set(ends)
        total = sum(counts.values())
        assert total > 200  # at least an eleventh
        for chance, end in zip(found.softmax(0).tolist(), ends, strict=True):
            assert counts[end] / total == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / total))
    assert network.training


@pytest.mark.parametrize("whole_batches", [True, False])
def test_exploration_starts_after_its_share_of_the_training(whole_batches):
    """Counted in updates, or in time where the clock is ahead of them."""
    recipe = short_recipe("fast", epochs=4, exploration=1.0, explore_whole_batches=whole_batches, exploration_start=0.5)
    trainer = Trainer(recipe, TRAIN, torch.device("cpu"), seed=1)
    explored: list[int] = []
    really = trainer._derive

    def derive(*arguments: Any, **options: Any) -> Any:
        explored.append(trainer.epoch)
        return really(*arguments, **options)

    trainer._derive = derive  # type: ignore[method-assign]
    while trainer.epoch < trainer.epochs:
        trainer.start_epoch()
        for _ in trainer.steps():
            pass
    assert set(explored) == {2, 3}

    trainer = Trainer(recipe, TRAIN, torch.device("cpu"), seed=1)
    assert not trainer._explores()
    trainer.optimisation.time_used = 0.5
    assert trainer._explores()


def test_exploring_a_batch_leaves_dropout_on():
    """The derivation is sampled without it, what is learnt from the derivation has it."""
    recipe = short_recipe("fast", exploration=1.0, exploration_start=0.0)
    trainer = Trainer(recipe, TRAIN, torch.device("cpu"), seed=1)
    trainer.start_epoch()
    next(trainer.steps())
    assert all(module.training for module in trainer.network.modules())
