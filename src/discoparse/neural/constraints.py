"""Parsing within constraints: derivations that build every required constituent, labels and tags that are fixed.

A derivation meets the constraints iff each of its structural actions is in the complete oracle's set for the required
constituents as gold (docs/reference/oracle.md proves it), so the policy chooses among these instead of all legal
actions. Labels are decided once the structure is there: a required focus gets a label, a forbidden one does not.

Shapes as in `lockstep`: B sentences, N tokens, T structural steps; Q required constituents of a sentence, L labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.chains import ChainScores, cheap_to_ask, spelled
from discoparse.neural.codes import longest_chain
from discoparse.neural.device import to_device
from discoparse.neural.labelling import label_codes
from discoparse.neural.limits import Limits
from discoparse.neural.lockstep import GoldBatch, Lockstep, LockstepOracle, Policy, gold_batch, token_rows
from discoparse.neural.network import Scorers
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy
from discoparse.neural.structure import kernel_for, label_inputs


@dataclass(frozen=True)
class LimitBatch:
    """The constraints on B sentences as tensors."""

    gold: GoldBatch  # the required constituents, with k + 1 as the label of number k
    labelled: Tensor  # [2, C] sentence and number + 1 of those whose chain or label is fixed,
    codes: Tensor  # [C] the codes of their chains, 0 where only a label is wanted,
    wanted: Tensor  # [C, L] and the labels of which their chains must have one
    forbidden: Tensor | None  # [B, forbidden sets, N] their tokens; None if there is none
    tags: Tensor | None  # [3, tags] sentence, token and tag of each; None if there is none

    @classmethod
    def of(cls, limits: Sequence[Limits], labels: int, device: torch.device) -> LimitBatch:
        """Of a batch, for a network with this number of `labels`, including NO-LABEL."""
        lengths, counts = [one.length for one in limits], [len(one.required) for one in limits]
        # All required constituents in one row: arrays are filled once, not for each sentence.
        sentence, number = _places(counts)
        masks = list(chain.from_iterable([one.required for one in limits]))
        gold = gold_batch(masks, number + 1, counts, lengths)
        codes = np.array(list(chain.from_iterable([one.codes for one in limits])), dtype=np.int64)
        ids = list(chain.from_iterable([one.wanted for one in limits]))  # of each constituent
        alternatives = np.array(list(map(len, ids)))
        asked = (codes > 0) | (alternatives > 0)
        wanted = np.zeros((int(asked.sum()), labels), dtype=bool)
        entry = np.repeat(np.cumsum(asked) - 1, alternatives)
        wanted[entry, np.array(list(chain.from_iterable(ids)), dtype=np.int64)] = True
        tags = [(b, token, tag) for b, one in enumerate(limits) if one.tags for token, tag in one.tags.items()]
        return cls(
            GoldBatch(*(to_device(tensor.numpy(), device) for tensor in gold.tensors())),
            to_device(np.stack([sentence[asked], number[asked] + 1]), device),
            to_device(codes[asked], device),
            to_device(wanted, device),
            _token_sets([one.forbidden for one in limits], max(lengths), device),
            to_device(np.array(tags).T, device) if tags else None,
        )


def _places(counts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """For this number of entries of each sentence, all in one row: the sentence of each, and its number there [sum]."""
    ends = np.cumsum(counts)
    return np.repeat(np.arange(len(counts)), counts), np.arange(ends[-1]) - np.repeat(ends - counts, counts)


def _token_sets(masks: Sequence[Sequence[int]], width: int, device: torch.device) -> Tensor | None:
    """Sets of tokens, as bit masks, as rows of a tensor [B, sets, N]; rows that are not used are empty sets."""
    counts = list(map(len, masks))
    if not any(counts):
        return None
    sets = np.zeros((len(masks), max(counts), width), dtype=bool)
    sets[_places(counts)] = token_rows(list(chain.from_iterable(masks)), width)
    return to_device(sets, device)


@dataclass(frozen=True)
class Within:
    """Derivations that keep within constraints."""

    action: Tensor  # [B, T] slots, see `lockstep`
    number: Tensor  # [B, T] k + 1 where required constituent k is the focus, else 0


def run_within(machine: Lockstep, gold: GoldBatch, policy: Policy) -> Within:
    """`lockstep.run`, with a policy that chooses among the actions after which all of `gold` can still be built."""
    oracle = LockstepOracle(gold, machine)
    action, number = [torch.zeros_like(machine.left)], [oracle.gold_label()]
    for t in range(2 * machine.width - 2):
        slot = policy(machine, oracle.optimal(complete=True))
        action.append(torch.where(machine.last > t, slot, machine.left))
        oracle.advance(action[-1])
        machine.advance(action[-1])
        number.append(oracle.gold_label())
    return Within(torch.stack(action, 1), torch.stack(number, 1))


def constrained_pass(
    scorers: Scorers, tokens: Tensor, lengths: Tensor, gold: GoldBatch, folded: FoldedScorers | None
) -> tuple[Within, Tensor]:
    """`structure.structural_pass` within constraints: the derivations and the labeller's states [B, T, H]."""
    kernel = kernel_for(scorers, tokens)
    if kernel is not None:
        trace, table = kernel.derive(scorers, tokens, lengths, gold, complete=True, single=False, stay=True)
        states = scorers.label_hidden_states(label_inputs(scorers, table, trace.focus))
        return Within(trace.action, trace.label), states
    machine = Lockstep(lengths, tokens.shape[1])
    policy = ScoringPolicy(folded or FoldedScorers.of(scorers), tokens, lengths)
    return run_within(machine, gold, policy), policy.finish(machine)


def forbidden_foci(within: Within, lengths: Tensor, sets: Tensor) -> Tensor:
    """Which foci are forbidden sets [B, F, N]: [B, T]."""
    machine = Lockstep(lengths, sets.shape[2])
    foci = [machine.inside]
    for slot in within.action[:, 1:].unbind(1):
        machine.advance(slot)
        foci.append(machine.inside)
    inside = torch.stack(foci, 1)  # [B, T, N]
    found = torch.zeros(inside.shape[:2], dtype=torch.bool, device=inside.device)
    for k in range(sets.shape[1]):
        found |= (inside == sets[:, k, None]).all(2)
    return found


def constrained_codes(
    scorers: Scorers, states: Tensor, final: Tensor, within: Within, limits: LimitBatch, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """`labelling.label_codes` within constraints: codes and their probabilities, [B, T] each.

    Where the best chain meets the constraint it stays; where not, the most probable chain that does takes its place.
    """
    must = final | (within.number > 0)
    code, probability = label_codes(scorers, states, must)
    if limits.forbidden is not None:
        code = code.masked_fill(forbidden_foci(within, lengths, limits.forbidden), 0)
    sentence, number = limits.labelled
    step = _steps_of(within.number, limits.gold.packed.shape[1] + 1)[sentence, number]
    fixed, wanted = limits.codes, limits.wanted  # [C], [C, L]
    if cheap_to_ask(code):  # only those that are not met
        found = code[sentence, step]
        unmet = (fixed != found) & ~_has_one(found, wanted)
        sentence, step, fixed, wanted = (tensor[unmet] for tensor in (sentence, step, fixed, wanted))
    if len(sentence):
        found = code[sentence, step]
        chains = ChainScores(scorers, states[sentence, step], must[sentence, step])
        every = torch.arange(len(found), device=code.device)
        best = torch.where(fixed > 0, fixed, chains.best_with(every, wanted))
        chosen = torch.where(_has_one(found, wanted), found, best)
        code[sentence, step] = chosen
        probability[sentence, step] = chains.of_codes(every, chosen).exp()
    return code, probability


def _steps_of(number: Tensor, count: int) -> Tensor:
    """The step at which a required constituent is the focus, from their numbers + 1 at each step [B, T]: [B, count].

    A set of tokens is the focus only once.
    """
    steps = torch.arange(number.shape[1], device=number.device).expand_as(number)
    return number.new_zeros(len(number), count).scatter_(1, number, steps)


def _has_one(code: Tensor, wanted: Tensor) -> Tensor:
    """Whether chains, by their codes [C], have one of the labels that are wanted [C, L]."""
    count = wanted.shape[1]
    return wanted.gather(1, spelled(code, count, longest_chain(count))).any(1)
