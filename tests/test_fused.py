"""The kernel decides as the lockstep loop does: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import os
import random

import pytest
import torch
from walks import random_gold

from discoparse.decoding import ScoringPolicy
from discoparse.lockstep import Gold, Lockstep, LockstepOracle, Trace, gold_tensors, run, run_with_oracle
from discoparse.network import Network, NetworkConfig, Scorers

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
fused = pytest.importorskip("discoparse.fused", reason="Triton is not installed", exc_type=ImportError)

LENGTHS = [1, 2, 5, 9, 30, 17] if DEVICE == "cpu" else [1, 2, 5, 9, 30, 17, 64, 70, 129]


def scorers() -> Scorers:
    """With weights large enough for scores that differ."""
    torch.manual_seed(1)
    network = Network(NetworkConfig(5, 5, 3, 4, hidden=8, scorer_hidden=20))
    for parameter in network.scorers.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return network.scorers.to(DEVICE).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor, Gold]:
    """Token vectors, lengths and random gold trees."""
    chance = random.Random(1)
    golds = [sorted(random_gold(chance, n), key=str) for n in LENGTHS]
    rows = [[(k % 3 + 1, sum(1 << i for i in s)) for k, (_, s) in enumerate(gold)] for gold in golds]
    gold = Gold(*(tensor.to(DEVICE) for tensor in gold_tensors(rows, LENGTHS).tensors()))
    torch.manual_seed(2)
    return torch.randn(len(LENGTHS), max(LENGTHS), 16, device=DEVICE), torch.tensor(LENGTHS, device=DEVICE), gold


def assert_equal(ours: Trace, theirs: Trace) -> None:
    """At every step of every sentence; after the last one the oracle wants nothing."""
    for name in ("focus", "action", "entered", "next", "optimal", "label"):
        for b, length in enumerate(LENGTHS):
            steps = 2 * length - 1 - (name == "optimal")
            assert torch.equal(getattr(ours, name)[b, :steps], getattr(theirs, name)[b, :steps]), (name, b)


def test_greedy_derivations_are_those_of_the_loop(batch):
    tokens, lengths, _ = batch
    ours, _ = fused.derive(scorers(), tokens, lengths)
    policy = ScoringPolicy(scorers(), tokens)
    theirs = run(Lockstep(lengths, tokens.shape[1]), policy)
    for b, length in enumerate(LENGTHS):
        assert torch.equal(ours.action[b, : 2 * length - 1], theirs[b, : 2 * length - 1])


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("options", [{"complete": True}, {}, {"complete": True, "single": False}, {"single": False}])
def test_the_oracle_says_what_it_says_in_the_loop(batch, options, stay):
    tokens, lengths, gold = batch
    ours, _ = fused.derive(scorers(), tokens, lengths, gold, stay=stay, **options)
    machine = Lockstep(lengths, tokens.shape[1])
    policy = ScoringPolicy(scorers(), tokens)
    assert_equal(ours, run_with_oracle(machine, LockstepOracle(gold, machine), policy, stay=stay, **options))


def test_samples_follow_the_softmax():
    """One decision of two actions, many times: shares are the softmax's."""
    count = 4000 if DEVICE == "cuda" else 600
    torch.manual_seed(3)
    tokens = torch.randn(1, 3, 16, device=DEVICE).repeat(count, 1, 1)
    lengths = torch.full((count,), 3, device=DEVICE)
    seen: list[torch.Tensor] = []

    class Watching(ScoringPolicy):
        def scores(self, focus: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
            seen.append(super().scores(focus, legal))
            return seen[-1]

    gentle = scorers()
    gentle.pair_output.weight.mul_(0.3)
    run(Lockstep(lengths[:1], 3), Watching(gentle, tokens[:1]))
    trace, _ = fused.derive(gentle, tokens, lengths, sample=True)
    # The second SHIFT is forced; the step after it has a choice between combining with token 0 and shifting token 2.
    share = (trace.action[:, 2] == 0).double().mean().item()
    assert abs(share - seen[1].softmax(-1)[0, 0].item()) < 3 / count**0.5
    assert 0.02 < share < 0.98
