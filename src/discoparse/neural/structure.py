"""The structural actions of a batch, greedy or sampled: by the GPU kernel where it fits, else in lockstep.

Shapes as in `lockstep` and `network`: B sentences, N tokens, T structural steps, D token vector, H scorer hidden.
"""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from discoparse.neural import kernels
from discoparse.neural.lockstep import GoldBatch, Lockstep, LockstepOracle, Trace, run, run_with_oracle
from discoparse.neural.network import POSITIONS, Scorers
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy


def kernel_for(scorers: Scorers, tokens: Tensor) -> ModuleType | None:
    """The kernel, if it can take sentences [B, N, D] through all of their steps."""
    if not tokens.is_cuda or not kernels.available():
        return None
    from discoparse.neural.kernels import derivation

    if tokens.shape[1] > derivation.WIDEST or scorers.pair_hidden.in_features > derivation.MOST_UNITS:
        return None
    return derivation


def structural_pass(
    scorers: Scorers, tokens: Tensor, lengths: Tensor, folded: FoldedScorers | None = None
) -> tuple[Tensor, Tensor]:
    """All structural actions, greedily: token vectors [B, N, D], lengths [B] -> slots [B, T] and the states of the
    labeller for every focus [B, T, H]."""
    kernel = kernel_for(scorers, tokens)
    if kernel is not None:
        trace, table = kernel.derive(scorers, tokens, lengths)
        return trace.action, scorers.label_hidden_states(label_inputs(scorers, table, trace.focus))
    machine = Lockstep(lengths, tokens.shape[1])
    policy = ScoringPolicy(folded or FoldedScorers.of(scorers), tokens, lengths)
    return run(machine, policy), policy.finish(machine)


def label_inputs(scorers: Scorers, table: Tensor, focus: Tensor) -> Tensor:
    """The labeller's first layer for sets at positions [B, T, 4] from projections [B N + 1, 4, 3H]: [B, T, H]."""
    batch, steps, _ = focus.shape
    width = steps // 2 + 1
    base = torch.arange(batch, device=focus.device)[:, None, None] * width
    rows = torch.where(focus == width, batch * width, base + focus).flatten(0, 1)
    labeller = table[:, :, -len(scorers.label_input.bias) :]
    sums: Tensor = scorers.label_input.bias
    for position in range(POSITIONS):
        sums = sums + labeller[:, position].index_select(0, rows[:, position])
    return sums.view(batch, steps, -1)


def explore(
    scorers: Scorers,
    tokens: Tensor,
    lengths: Tensor,
    gold: GoldBatch,
    *,
    complete: bool,
    single: bool,
    stay: bool,
) -> Trace:
    """Derivations sampled from the network, with the oracle's word on each step; options as of `run_with_oracle`."""
    kernel = kernel_for(scorers, tokens)
    if kernel is not None:
        trace, _ = kernel.derive(
            scorers, tokens, lengths, gold, sample=True, complete=complete, single=single, stay=stay
        )
        return trace
    machine = Lockstep(lengths, tokens.shape[1])
    oracle = LockstepOracle(gold, machine)
    policy = ScoringPolicy(FoldedScorers.of(scorers), tokens, lengths, sample=True)
    return run_with_oracle(machine, oracle, policy, complete=complete, single=single, stay=stay)
