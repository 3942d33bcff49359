"""The training objective: flat tensors give what a loop over decisions gives, however sentences are batched."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from oracle_batches import decisions_for
from strategies import trees as any_trees
from tiny_models import tiny_recipe, toy_treebank

from discoparse.neural.network import Dropout, Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training import objective
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.training.decision_store import DecisionStore
from discoparse.training.loop import Trainer
from discoparse.training.objective import (
    IGNORED,
    Decisions,
    FirstLayers,
    factored_inputs,
    label_loss,
    plain_inputs,
    score_pairs,
    single_loss,
    structural_loss,
)
from discoparse.tree import Token, Tree

CPU = torch.device("cpu")


@pytest.fixture
def network() -> Network:
    torch.manual_seed(0)
    return Network(
        NetworkConfig(words=3, characters=3, tags=3, labels=5, hidden=8, scorer_hidden=7, chains=True)
    ).eval()


def loop_loss(scores: torch.Tensor, decisions: Decisions) -> torch.Tensor:
    """Minus the log of the probability of all wanted actions together, decision by decision."""
    total = torch.zeros(())
    for focus in range(len(decisions.focus)):
        mine = decisions.pair_focus == focus
        if mine.any():
            chances = scores[mine].softmax(0)
            total = total - chances[decisions.pair_optimal[mine]].sum().log()
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_structural_loss_is_the_sum_over_decisions(network: Network, seed: int):
    """Softmax over the legal actions of each configuration, and the gradient that goes with it."""
    _, decisions, _, _, tokens = decisions_for(seed)
    scorers = network.scorers
    first = factored_inputs(scorers, scorers.with_nil(tokens), decisions)
    scores = (score_pairs(scorers, first, decisions) * 5).detach().requires_grad_()
    loss, expected = structural_loss(scores, decisions), loop_loss(scores, decisions)
    torch.testing.assert_close(loss, expected)
    (found,) = torch.autograd.grad(loss, scores)
    (wanted,) = torch.autograd.grad(expected, scores)
    torch.testing.assert_close(found, wanted)


def test_a_set_of_optimal_actions_is_rewarded_together():
    """With two wanted actions of three, the loss is minus the log of the sum of their probabilities."""
    decisions = Decisions(
        torch.zeros(2, 4, dtype=torch.long),
        torch.zeros(2, dtype=torch.long),
        torch.tensor([0, 0, 0]),
        torch.tensor([0, 0, 0]),
        torch.tensor([True, False, True]),
        0,
    )
    scores = torch.tensor([0.5, 2.0, -1.0])
    chances = scores.softmax(0)
    torch.testing.assert_close(structural_loss(scores, decisions), -(chances[0] + chances[2]).log())


@pytest.mark.parametrize(
    ("item", "focus", "weight"),
    [
        ((0, 0, 9, 9), (1, 1, 9, 9), 1),  # neighbours, in both orders
        ((3, 4, 9, 9), (1, 2, 9, 9), 1),
        ((0, 0, 9, 9), (2, 2, 9, 9), 5),  # with a word between them
        ((0, 3, 1, 2), (1, 2, 9, 9), 1),  # one is the gap of the other
        ((1, 2, 9, 9), (0, 3, 1, 2), 1),
        ((0, 3, 1, 2), (1, 1, 9, 9), 5),  # fills a part of the gap
        ((0, 3, 1, 2), (2, 2, 9, 9), 5),
        ((0, 3, 1, 2), (4, 4, 9, 9), 5),  # the gap stays
        ((4, 4, 9, 9), (0, 3, 1, 2), 5),
    ],
)
def test_decisions_for_discontinuous_constituents_weigh_more(item, focus, weight):
    """The first focus becomes an item, the second decides; nil is row 9. Other decisions weigh as before."""
    pairs = torch.tensor([1, 1, 0]), torch.tensor([0, 3 + 5, 3 + 1]), torch.tensor([True, False, True])
    decisions = Decisions(torch.tensor([item, focus, focus]), torch.zeros(3, dtype=torch.long), *pairs, 9)
    scores = torch.tensor([0.3, 1.0, 2.0])  # the last decision has one action only, and costs nothing
    plain = structural_loss(scores, decisions)
    torch.testing.assert_close(structural_loss(scores, decisions, gap_weight=5.0), weight * plain)


def test_shifts_and_actions_that_are_not_optimal_do_not_weigh_more():
    pairs = torch.tensor([1, 1]), torch.tensor([0, 3 + 5]), torch.tensor([False, True])
    sets = torch.tensor([(0, 0, 9, 9), (2, 2, 9, 9), (0, 0, 9, 9)])
    decisions = Decisions(sets, torch.zeros(3, dtype=torch.long), *pairs, 9)
    scores = torch.tensor([0.3, 1.0])
    torch.testing.assert_close(structural_loss(scores, decisions, gap_weight=5.0), structural_loss(scores, decisions))


def test_the_recipe_sets_the_weight_of_gaps():
    """With discontinuous trees, the first step's structural loss is larger."""
    losses = []
    for weight in (1.0, 4.0):
        recipe = tiny_recipe(gap_weight=weight, exploration=0.0)
        trainer = Trainer(recipe, toy_treebank(9, 3), CPU, seed=1)
        trainer.start_epoch()
        losses.append(next(iter(trainer.steps()))["structure"].item())
    assert losses[1] > losses[0]


def test_extreme_scores_give_finite_losses_and_gradients():
    """A parser that is very sure, rightly or wrongly, does not break the training."""
    scores = torch.tensor([800.0, -800.0, 0.0, -900.0, 900.0], requires_grad=True)
    decisions = Decisions(
        torch.zeros(3, 4, dtype=torch.long),
        torch.zeros(3, dtype=torch.long),
        torch.tensor([0, 0, 0, 1, 1]),
        torch.zeros(5, dtype=torch.long),
        torch.tensor([False, True, False, False, True]),
        0,
    )
    loss = structural_loss(scores, decisions)
    loss.backward()
    assert loss.item() == pytest.approx(1600)
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()


def test_a_chain_is_spelled_from_the_bottom_up(network: Network):
    """The loss of a chain is that of its lowest label, of each label above given the one below, and of its end."""
    scorers = network.scorers
    assert scorers.above_output is not None
    assert scorers.above_given is not None
    with torch.no_grad():
        scorers.above_given.weight.normal_()
    states = torch.randn(3, 7)
    chains = torch.tensor([[0, -1, -1], [2, 0, -1], [3, 1, 0]])  # none, one label, label 1 above label 3
    first = scorers.label_output(states).log_softmax(1)
    above = scorers.above_output(states)

    def step(row: int, given: int, label: int) -> torch.Tensor:
        return (above[row] + scorers.above_given.weight[given]).log_softmax(0)[label]

    expected = -(first[0, 0] + first[1, 2] + step(1, 2, 0) + first[2, 3] + step(2, 3, 1) + step(2, 1, 0))
    torch.testing.assert_close(label_loss(scorers, states, torch.tensor([0, 1, 2]), chains), expected)


def test_stored_derivations_are_those_of_a_batch():
    """Cut into sentences and put together again in another batch, in another order, decisions stay the same."""
    trees = toy_treebank(9, 3)
    vocabulary = Vocabulary.from_trees(trees, chains=True)
    chains = ChainTable(vocabulary, spell=True)
    corpus = Corpus(trees, vocabulary, chains, CPU)
    small = DecisionStore.of_oracle(corpus, complete=True, batch_tokens=1)
    large = DecisionStore.of_oracle(corpus, complete=True)
    chosen = np.array([4, 0, 7, 7])
    index = torch.from_numpy(chosen)
    width = int(corpus.lengths[chosen].max()) + 2
    one, other = (store.batch(chosen, index, width) for store in (small, large))
    assert torch.equal(one.focus, other.focus)
    assert torch.equal(one.label, other.label)
    rows = [
        set(zip(d.pair_focus.tolist(), d.pair_item.tolist(), d.pair_optimal.tolist(), strict=True))
        for d in (one, other)
    ]
    assert rows[0] == rows[1]
    assert len(one.focus) == int((2 * corpus.lengths[chosen] - 1).sum())
    assert int(one.pair_optimal.sum()) == int((2 * corpus.lengths[chosen] - 2).sum())  # one wanted action a decision


@settings(max_examples=40, deadline=None)
@given(any_trees())
def test_every_kind_of_tree_becomes_a_corpus(tree):
    """Unary chains, one token, wide gaps: each gold label is found once in the decisions of its sentence."""
    vocabulary = Vocabulary.from_trees([tree], chains=True)
    chains = ChainTable(vocabulary, spell=True)
    corpus = Corpus([tree], vocabulary, chains, CPU)
    store = DecisionStore.of_oracle(corpus, complete=True)
    decisions = store.batch(np.array([0]), torch.tensor([0]), len(tree))
    spelled = chains.spelled(CPU)[decisions.label]
    found = sorted(vocabulary.labels[k - 1][0] for k in spelled.flatten().tolist() if k > 0)
    assert found == sorted(node.label for node in tree.preorder())


def test_padding_has_no_tags_to_learn():
    """The loss of a batch is the sum of those of its sentences."""
    trainer = Trainer(tiny_recipe("fast", unk_probability=0.0, unk_characters=0.0), toy_treebank(12, 1), CPU, seed=1)
    trainer.network.eval()
    lengths = trainer.corpus.lengths
    pair = [int(lengths.argmin()), int(lengths.argmax())]
    assert lengths[pair[0]] < lengths[pair[1]]

    def loss(chosen: list[int]) -> torch.Tensor:
        index = torch.tensor(chosen)
        first, last = trainer._encode(np.array(chosen), index)
        return trainer._tagging_loss(first, last, index)

    torch.testing.assert_close(loss(pair), loss(pair[:1]) + loss(pair[1:]))


@pytest.mark.parametrize("inputs", [factored_inputs, plain_inputs])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_very_many_pairs_are_scored_in_parts(monkeypatch, inputs, dropout):
    """A right-branching tree of n tokens has n (n - 1) pairs, and few are in memory at a time. Scores and gradients
    are those of all pairs at once; a part that is computed again for its gradient has the masks that it had before."""
    n = 40
    tree = Tree.from_constituents([Token("a", "X")] * n, [("S", set(range(k, n))) for k in range(n)])
    vocabulary = Vocabulary.from_trees([tree], chains=True)
    store = DecisionStore.of_oracle(Corpus([tree], vocabulary, ChainTable(vocabulary, spell=True), CPU), complete=True)
    decisions = store.batch(np.array([0]), torch.tensor([0]), n)
    assert len(decisions.pair_item) == n * (n - 1)
    config = NetworkConfig(words=3, characters=3, tags=3, labels=5, hidden=8, scorer_hidden=6)
    scorers = Network(config, Dropout(scorer=dropout, scorer_hidden=dropout)).train().scorers
    tokens = torch.randn(1, n, 16)
    sizes: list[int] = []

    def score(pairs_at_once: int) -> list[torch.Tensor]:
        """Scores and gradients."""
        torch.manual_seed(1)
        first = inputs(scorers, scorers.with_nil(tokens), decisions)
        monkeypatch.setattr(objective, "_NUMBERS_AT_ONCE", pairs_at_once * first.width)
        sizes.clear()

        def pairs(item: torch.Tensor, focus: torch.Tensor) -> torch.Tensor:
            sizes.append(len(item))
            return first.pairs(item, focus)

        scores = score_pairs(scorers, FirstLayers(pairs, first.width, first.labels), decisions)
        scorers.zero_grad()
        scores.square().mean().backward()
        return [scores.detach(), *(p.grad.clone() for p in scorers.parameters() if p.grad is not None)]

    if not dropout:
        torch.testing.assert_close(score(100), score(n * n))
        assert sizes == [n * (n - 1)]
    in_parts = score(100)
    assert max(sizes) == 100
    monkeypatch.setattr(objective, "checkpoint", lambda function, *arguments, use_reentrant: function(*arguments))
    torch.testing.assert_close(in_parts, score(100))


@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_loss_of_single_actions_from_a_table(size):
    """The same as from segments, also for scores far apart and far below 0; gradients, too, and none for what only
    fills up."""
    torch.manual_seed(1)
    pair_focus = torch.tensor([0, 0, 1, 2, 2, 2, 2, 3, 3])
    optimal = torch.tensor([0, 1, 1, 0, 0, 1, 0, 1, 0]).bool()
    best = torch.tensor([1, 2, 5, 7, IGNORED, IGNORED, IGNORED])  # the last focus, and two that only fill up
    scores = ((torch.randn(9) - 2) * size).requires_grad_()
    decisions = Decisions(torch.zeros(5, 4).long(), torch.zeros(5).long(), pair_focus, pair_focus, optimal, 0)
    expected = structural_loss(scores, decisions)
    (gradient,) = torch.autograd.grad(expected, scores)
    padded = torch.cat([scores, torch.randn(3)]).detach().requires_grad_()
    found = single_loss(padded, torch.cat([pair_focus, torch.full((3,), 4)]), best)
    torch.testing.assert_close(found, expected)
    (found_gradient,) = torch.autograd.grad(found, padded)
    torch.testing.assert_close(found_gradient[:9], gradient)
    assert not found_gradient[9:].any()
