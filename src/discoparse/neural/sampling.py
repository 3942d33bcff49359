"""Derivations sampled from the network, many of each sentence at once, and the distinct foci that they have.

All samples of a batch advance in lockstep. They have most of their items in common, and scores depend on an item and a
focus only, so each distinct pair is scored once a step: 16 samples cost much less than 16 times one.

Shapes as in `lockstep` and `scoring`: B sentences, N tokens, T structural steps, H scorer hidden. R = B x C rows, where
each sentence has C rows one after another: the greedy derivation first, then its samples. X distinct foci.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.draws import draws
from discoparse.neural.lockstep import Lockstep, Policy, given, run
from discoparse.neural.network import Scorers, look_up
from discoparse.neural.scoring import FirstLayers, FoldedScorers
from discoparse.neural.structure import kernel_for

_SPREAD = 0x2545F4914F6CDD1D  # an odd number of 62 bits: multiples of it tell the sentences of a batch apart


class SharedScores:
    """Scores of actions for several rows of each sentence, each distinct pair of an item and a focus once.

    Item parts of the first layer are rows of one table, which grows by the distinct foci of each step; an item is known
    by its row.
    """

    def __init__(self, scorers: FoldedScorers, tokens: Tensor, lengths: Tensor, copies: int) -> None:
        batch, width, _ = tokens.shape
        self.scorers, self.width = scorers, width
        inside = torch.arange(width, device=tokens.device) < lengths[:, None]
        (slots,) = torch.nonzero(inside.flatten(), as_tuple=True)
        self.tokens = look_up(tokens.flatten(0, 1), slots)  # [M, D] all but padding
        self.hidden = len(scorers.pair_output)
        self.pairs = FirstLayers(self.tokens, scorers, slice(0, 2 * self.hidden))
        self.first_row = (lengths.cumsum(0) - lengths).repeat_interleave(copies)  # [R]
        self.sentence = torch.arange(batch, device=tokens.device).repeat_interleave(copies)  # [R]
        # [R, N] the row of the item in each slot, at first of the token as a singleton
        self.item = self.first_row[:, None] + torch.arange(width, device=tokens.device)
        self.table = self.pairs.singletons(self.hidden)  # [rows, H]
        self.used = len(self.tokens)

    def __call__(self, machine: Lockstep, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, slots and scores of all legal actions, [P] each."""
        focus_row, focus = self._add_foci(machine)
        rows, slots = torch.nonzero(legal, as_tuple=True)
        scores = self._pair_scores(self.item[rows, slots], focus_row[rows], focus)
        self.item.scatter_(1, machine.left[:, None], focus_row[:, None])  # found there if it goes to the memory
        return rows, slots, scores

    def _add_foci(self, machine: Lockstep) -> tuple[Tensor, Tensor]:
        """Put the foci into the table; the row of each [R], and the focus parts of the new rows [U, H]."""
        position, side = machine.focus, self.width + 1
        key = self.sentence
        for column in range(position.shape[1]):
            key = key * side + position[:, column]
        _, new, chosen = distinct(key)
        (gapped,) = torch.nonzero(position[chosen, 2] < self.width, as_tuple=True)
        item, focus = self.pairs(self.first_row[chosen, None] + position[chosen], gapped).split(self.hidden, 1)
        end = self.used + len(chosen)
        if end > len(self.table):
            grown = self.table.new_empty(2 * end, self.hidden)
            grown[: self.used] = self.table[: self.used]
            self.table = grown
        self.table[self.used : end] = item
        row = self.used + new
        self.used = end
        return row, focus

    def _pair_scores(self, item: Tensor, focus_row: Tensor, focus: Tensor) -> Tensor:
        """FF_s of pairs, by the rows of item and focus [P] each; `focus` has the parts of the last rows. [P]."""
        number = focus_row - (self.used - len(focus))
        key, back, _ = distinct(item * len(focus) + number)
        first = self.table.index_select(0, key // len(focus)).add_(focus.index_select(0, key % len(focus)))
        return self.scorers.pair_scores(first)[back]


class SamplingPolicy:
    """The best-scoring action in the first row of each sentence, samples at a temperature in the others."""

    def __init__(self, scores: SharedScores, temperature: float, numbers: Tensor) -> None:
        """`numbers` [B, C - 1, T] are `draws`; an action is sampled by where one falls among the shares of all."""
        self.scores = scores
        self.temperature = temperature
        greedy = torch.full_like(numbers[:, :1], torch.nan)
        self.numbers = torch.cat([greedy, numbers], 1).flatten(0, 1)  # [R, T]
        self.steps = 0

    def __call__(self, machine: Lockstep, legal: Tensor) -> Tensor:
        rows, slots, scores = self.scores(machine, legal)
        self.steps += 1
        number = self.numbers[:, self.steps, None]
        every = torch.full(legal.shape, -torch.inf, device=scores.device)
        every[rows, slots] = scores
        ladder = (every / self.temperature).softmax(1).cumsum(1)
        sampled = (ladder / ladder[:, -1:] <= number).sum(1)  # the first slot beyond the number
        return torch.where(number[:, 0].isnan(), every.argmax(1), sampled)


def distinct(keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct keys [U] of some [R], which of them each is [R], and one place where each occurs [U]."""
    found, back = torch.unique(keys, return_inverse=True)
    place = torch.empty_like(found).scatter_(0, back, torch.arange(len(keys), device=keys.device))
    return found, back, place


class FocusKeys:
    """Records the foci of rows: a set of tokens is known by the sum of their random numbers of 62 bits, and by its
    positions (see `Lockstep.focus`)."""

    def __init__(self, width: int, device: torch.device) -> None:
        generator = torch.Generator().manual_seed(2019)
        self.number = torch.randint(1 << 62, (width,), generator=generator).to(device)  # [N]
        self.keys: list[Tensor] = []  # [R] each
        self.foci: list[Tensor] = []  # [R, 4] each

    def recording(self, policy: Policy) -> Policy:
        """The same policy, whose configurations are recorded."""

        def recorded(machine: Lockstep, legal: Tensor) -> Tensor:
            self.note(machine)
            return policy(machine, legal)

        return recorded

    def note(self, machine: Lockstep) -> None:
        """Record the foci of a step."""
        self.keys.append((machine.inside * self.number).sum(1))
        self.foci.append(machine.focus)


@dataclass(frozen=True)
class Samples:
    """Derivations of B sentences, C rows of each, and their distinct foci."""

    action: Tensor  # [R, T] slots
    index: Tensor  # [R, T] the focus of each step, 0 to X-1; 0 past the last step
    valid: Tensor  # [R, T] whether there is such a step
    sampled: Tensor  # [R] all rows but the greedy ones
    sentence: Tensor  # [X]
    positions: Tensor  # [X, 4] as of `Lockstep.focus`
    whole: Tensor  # [X] whether it is the whole sentence
    share: Tensor  # [X] of the samples that have it
    row: Tensor  # [X] a row that has it
    step: Tensor  # [X] where


def sample(
    scorers: Scorers,
    folded: FoldedScorers | None,
    tokens: Tensor,
    lengths: Tensor,
    samples: int,
    temperature: float,
    seeds: np.ndarray,
) -> Samples:
    """The greedy derivation and some samples of each sentence: token vectors [B, N, D], lengths [B], seeds [B]."""
    copies, width = samples + 1, tokens.shape[1]
    repeated = lengths.repeat_interleave(copies)
    kernel = kernel_for(scorers, tokens)
    policy: Policy
    if kernel is not None:  # has random numbers of its own, which depend on the batch
        generator = torch.Generator(tokens.device).manual_seed(int(seeds[0]))
        policy = given(kernel.sample_actions(scorers, tokens, lengths, samples, temperature, generator))
    else:
        shared = SharedScores(folded or FoldedScorers.of(scorers), tokens, lengths, copies)
        numbers = torch.zeros(len(lengths), samples, 2 * width - 1)
        for own, seed, n in zip(numbers, seeds, lengths.tolist(), strict=True):
            own[:, : 2 * n - 1] = torch.from_numpy(draws(seed[None], [n], samples).reshape(samples, -1))
        policy = SamplingPolicy(shared, temperature, numbers.to(tokens.device))
    return followed(policy, repeated, width, copies)


def followed(policy: Policy, lengths: Tensor, width: int, copies: int) -> Samples:
    """What a policy does, with so many rows of each sentence, and the distinct foci of all; lengths [R]."""
    device = lengths.device
    machine, keys = Lockstep(lengths, width), FocusKeys(width, device)
    action = run(machine, keys.recording(policy))
    keys.note(machine)
    number = torch.arange(len(action), device=device)
    sentence, sampled = number // copies, number % copies > 0  # [R]
    last = 2 * lengths - 2
    valid = torch.arange(action.shape[1], device=device) <= last[:, None]
    row, step = torch.nonzero(valid, as_tuple=True)
    _, back, place = distinct(torch.stack(keys.keys, 1)[row, step] + sentence[row] * _SPREAD)
    index = torch.zeros_like(action)
    index[row, step] = back
    count = torch.zeros(len(place), device=device).index_add_(0, back, sampled[row].float())
    row, step = row[place], step[place]
    return Samples(
        action,
        index,
        valid,
        sampled,
        sentence[row],
        torch.stack(keys.foci, 1)[row, step],
        step == last[row],
        count / max(copies - 1, 1),
        row,
        step,
    )
