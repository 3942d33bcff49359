"""The kernel decides as the lockstep loop does: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import math
import os
import random

import numpy as np
import pytest
import torch
from walks import random_gold

from discoparse.neural import sampling
from discoparse.neural.lockstep import (
    GoldBatch,
    Lockstep,
    LockstepOracle,
    Trace,
    given,
    gold_tensors,
    run,
    run_with_oracle,
)
from discoparse.neural.network import Network, NetworkConfig, Scorers
from discoparse.neural.sampling import token_numbers
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy
from discoparse.neural.structure import label_inputs

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
derivation = pytest.importorskip(
    "discoparse.neural.kernels.derivation", reason="Triton is not installed", exc_type=ImportError
)

LENGTHS = [1, 2, 5, 9, 30, 17] if DEVICE == "cpu" else [1, 2, 5, 9, 30, 17, 64, 70, 129]


def scorers() -> Scorers:
    """With weights large enough for scores that differ."""
    torch.manual_seed(1)
    network = Network(NetworkConfig(5, 5, 3, 4, hidden=8, scorer_hidden=40))
    for parameter in network.scorers.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return network.scorers.to(DEVICE).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor, GoldBatch]:
    """Token vectors, lengths and random gold trees."""
    chance = random.Random(1)
    golds = [sorted(random_gold(chance, n), key=str) for n in LENGTHS]
    rows = [[(k % 3 + 1, sum(1 << i for i in s)) for k, (_, s) in enumerate(gold)] for gold in golds]
    gold = GoldBatch(*(tensor.to(DEVICE) for tensor in gold_tensors(rows, LENGTHS).tensors()))
    torch.manual_seed(2)
    return torch.randn(len(LENGTHS), max(LENGTHS), 16, device=DEVICE), torch.tensor(LENGTHS, device=DEVICE), gold


def assert_equal(ours: Trace, theirs: Trace, lengths: list[int]) -> None:
    """At every step of every sentence; after the last one the oracle wants nothing."""
    for name in ("focus", "action", "entered", "next", "optimal", "label"):
        for b, length in enumerate(lengths):
            steps = 2 * length - 1 - (name == "optimal")
            assert torch.equal(getattr(ours, name)[b, :steps], getattr(theirs, name)[b, :steps]), (name, b)


def test_greedy_derivations_are_those_of_the_loop(batch):
    """Actions, and the labeller's states for every focus."""
    tokens, lengths, _ = batch
    ours, table = derivation.derive(scorers(), tokens, lengths)
    states = scorers().label_hidden_states(label_inputs(scorers(), table, ours.focus))
    machine, policy = Lockstep(lengths, tokens.shape[1]), ScoringPolicy(FoldedScorers.of(scorers()), tokens, lengths)
    theirs = run(machine, policy)
    expected = policy.finish(machine)
    for b, length in enumerate(LENGTHS):
        steps = 2 * length - 1
        assert torch.equal(ours.action[b, :steps], theirs[b, :steps])
        torch.testing.assert_close(states[b, :steps], expected[b, :steps], atol=1e-3, rtol=1e-3)


def test_a_batch_of_single_words():
    """One step, nothing to decide."""
    gold = gold_tensors([[(2, 1)], [(3, 1)]], [1, 1])
    gold = GoldBatch(*(tensor.to(DEVICE) for tensor in gold.tensors()))
    lengths = torch.tensor([1, 1], device=DEVICE)
    ours, _ = derivation.derive(scorers(), torch.randn(2, 1, 16, device=DEVICE), lengths, gold, sample=True)
    machine = Lockstep(lengths, 1)
    assert_equal(ours, run_with_oracle(machine, LockstepOracle(gold, machine)), [1, 1])
    assert ours.label.tolist() == [[2], [3]]


@pytest.mark.parametrize("complete", [False, True])
def test_many_items_and_many_constituents(complete):
    """More items than are scored at once, more constituents than a word of bits holds: a parser that likes to shift."""
    length, units = 75, 40
    eager = scorers()
    for parameter in eager.parameters():
        torch.nn.init.normal_(parameter, std=0.03)
    eager.pair_input.weight.view(units, 2, 4, 16)[:, 0, 0, 0] += 1.0  # the later an item starts, the better
    eager.pair_hidden.weight.add_(torch.eye(units, device=DEVICE))
    eager.pair_output.weight.add_(1.0)
    tokens = torch.randn(1, length, 16, device=DEVICE) * 0.01
    tokens[0, :, 0] = torch.arange(length) * 1.6 / length - 0.8
    lengths = torch.tensor([length], device=DEVICE)
    pairs = [(1, 3 << i) for i in range(0, length - 1, 2)] + [(2, 1 << i) for i in range(0, length, 2)]
    gold = gold_tensors([[*pairs, (3, (1 << length) - 1)]], [length])
    gold = GoldBatch(*(tensor.to(DEVICE) for tensor in gold.tensors()))
    assert gold.member.shape[-1] > 1
    ours, _ = derivation.derive(eager, tokens, lengths, gold, complete=complete)
    machine = Lockstep(lengths, length)
    policy = ScoringPolicy(FoldedScorers.of(eager), tokens, lengths)
    theirs = run_with_oracle(machine, LockstepOracle(gold, machine), policy, complete=complete)
    assert (theirs.entered >= 0).sum(-1).max() > 32
    assert_equal(ours, theirs, [length])


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("options", [{"complete": True}, {}, {"complete": True, "single": False}, {"single": False}])
def test_the_oracle_says_what_it_says_in_the_loop(batch, options, stay):
    tokens, lengths, gold = batch
    ours, _ = derivation.derive(scorers(), tokens, lengths, gold, stay=stay, **options)
    machine = Lockstep(lengths, tokens.shape[1])
    policy = ScoringPolicy(FoldedScorers.of(scorers()), tokens, lengths)
    assert_equal(ours, run_with_oracle(machine, LockstepOracle(gold, machine), policy, stay=stay, **options), LENGTHS)


def test_samples_follow_the_softmax():
    """One decision of two actions, many times: shares are the softmax's."""
    count = 4000 if DEVICE == "cuda" else 150
    torch.manual_seed(3)
    tokens = torch.randn(1, 3, 16, device=DEVICE).repeat(count, 1, 1)
    lengths = torch.full((count,), 3, device=DEVICE)
    seen: list[torch.Tensor] = []

    class Watching(ScoringPolicy):
        def scores(self, focus: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
            seen.append(super().scores(focus, legal))
            return seen[-1]

    gentle = scorers()
    for _ in range(2):  # once to see the scores, once more when one action is three times as likely as the other
        seen.clear()
        run(Lockstep(lengths[:1], 3), Watching(FoldedScorers.of(gentle), tokens[:1], lengths[:1]))
        first, _, second = seen[1][0].tolist()
        gentle.pair_output.weight.mul_(math.log(3) / abs(first - second))
    trace, _ = derivation.derive(gentle, tokens, lengths, sample=True)
    # The second SHIFT is forced; the step after it has a choice between combining with token 0 and shifting token 2.
    share = (trace.action[:, 2] == 0).double().mean().item()
    chance = seen[1].softmax(-1)[0, 0].item()
    assert min(chance, 1 - chance) == pytest.approx(0.25, abs=1e-3)
    assert abs(share - chance) < 4 * (chance * (1 - chance) / count) ** 0.5


def test_copies_of_a_sentence_share_its_vectors(batch):
    """Each row decides as if it were a sentence of its own."""
    tokens, lengths, _ = batch
    once, _ = derivation.derive(scorers(), tokens, lengths)
    twice, _ = derivation.derive(scorers(), tokens, lengths, copies=2)
    for b, length in enumerate(LENGTHS):
        steps = 2 * length - 1
        for row in (2 * b, 2 * b + 1):
            assert torch.equal(twice.action[row, :steps], once.action[b, :steps])
            assert torch.equal(twice.focus[row, :steps], once.focus[b, :steps])


def test_the_first_row_of_samples_is_greedy(batch):
    """The others are samples: at a low temperature the greedy derivation again, at a high one anything."""
    tokens, lengths, _ = batch
    greedy, _ = derivation.derive(scorers(), tokens, lengths)
    generator = torch.Generator(DEVICE).manual_seed(1)
    numbers = token_numbers(tokens.shape[1], tokens.device)
    cold, _, _ = derivation.sample_rows(scorers(), tokens, lengths, 3, 1e-4, generator, numbers)
    hot, _, _ = derivation.sample_rows(scorers(), tokens, lengths, 3, 1e4, generator, numbers)
    different = 0
    for b, length in enumerate(LENGTHS):
        expected = greedy.action[b, : 2 * length - 1]
        for row in range(4):
            assert torch.equal(cold[4 * b + row, : 2 * length - 1], expected)
            different += not torch.equal(hot[4 * b + row, : 2 * length - 1], expected)
        assert torch.equal(hot[4 * b, : 2 * length - 1], expected)
    assert different > 6


def test_samples_have_the_foci_of_their_actions(batch, monkeypatch):
    """As the loop that follows these actions sees them."""
    tokens, lengths, _ = batch
    monkeypatch.setattr(sampling, "kernel_for", lambda scorers, tokens: derivation)
    derived = sampling.sample(scorers(), None, tokens, lengths, 3, 2.0, np.array([5]))
    followed = sampling.followed(given(derived.action), derived.lengths, tokens.shape[1], 4)
    ours, theirs = sampling.distinct_foci(derived), sampling.distinct_foci(followed)
    assert len(ours.share) > len(theirs.sampled)
    for name in ("index", "valid", "sampled", "sentence", "positions", "whole", "share"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    # A focus that occurs several times may be taken from any of these places.
    assert torch.equal(derived.key[ours.row, ours.step], followed.key[theirs.row, theirs.step])
    for b, length in enumerate(LENGTHS):
        steps = slice(2 * length - 1)
        assert torch.equal(derived.action[4 * b : 4 * b + 4, steps], followed.action[4 * b : 4 * b + 4, steps])
        assert torch.equal(derived.key[4 * b : 4 * b + 4, steps], followed.key[4 * b : 4 * b + 4, steps])
        assert torch.equal(derived.focus[4 * b : 4 * b + 4, steps], followed.focus[4 * b : 4 * b + 4, steps])


def test_the_same_seed_gives_the_same_samples_and_another_one_others(batch, monkeypatch):
    tokens, lengths, _ = batch
    monkeypatch.setattr(sampling, "kernel_for", lambda scorers, tokens: derivation)
    one, same, other = (
        sampling.sample(scorers(), None, tokens[3:4, : LENGTHS[3]], lengths[3:4], 3, 2.0, np.array([seed])).action
        for seed in (5, 5, 6)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
