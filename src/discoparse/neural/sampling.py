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
from discoparse.neural.lockstep import Lockstep, Policy, run
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


def token_numbers(width: int, device: torch.device) -> Tensor:
    """Random numbers of 62 bits [N]: a set of tokens is known by the sum of theirs."""
    return torch.randint(1 << 62, (width,), generator=torch.Generator().manual_seed(2019)).to(device)


class FocusKeys:
    """Records the foci of rows: the sums of their `token_numbers`, and their positions (see `Lockstep.focus`)."""

    def __init__(self, width: int, device: torch.device) -> None:
        self.number = token_numbers(width, device)  # [N]
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
class Derived:
    """Derivations of B sentences, C rows of each."""

    action: Tensor  # [R, T] slots
    focus: Tensor  # [R, T, 4] as of `Lockstep.focus`
    key: Tensor  # [R, T] of the focus, see `FocusKeys`
    lengths: Tensor  # [R]
    copies: int  # C


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
) -> Derived:
    """The greedy derivation and some samples of each sentence: token vectors [B, N, D], lengths [B], seeds [B].

    A GPU may still be at work on them when this returns.
    """
    copies, width = samples + 1, tokens.shape[1]
    repeated = lengths.repeat_interleave(copies)
    kernel = kernel_for(scorers, tokens)
    if kernel is not None:  # has random numbers of its own, which depend on the batch
        generator = torch.Generator(tokens.device).manual_seed(int(seeds[0]))
        numbers = token_numbers(width, tokens.device)
        action, focus, key = kernel.sample_rows(scorers, tokens, lengths, samples, temperature, generator, numbers)
        return Derived(action, focus, key, repeated, copies)
    shared = SharedScores(folded or FoldedScorers.of(scorers), tokens, lengths, copies)
    drawn = torch.zeros(len(lengths), samples, 2 * width - 1)
    for own, seed, n in zip(drawn, seeds, lengths.tolist(), strict=True):
        own[:, : 2 * n - 1] = torch.from_numpy(draws(seed[None], [n], samples).reshape(samples, -1))
    return followed(SamplingPolicy(shared, temperature, drawn.to(tokens.device)), repeated, width, copies)


def followed(policy: Policy, lengths: Tensor, width: int, copies: int) -> Derived:
    """What a policy does, with `copies` rows of each sentence; lengths [R]."""
    machine, keys = Lockstep(lengths, width), FocusKeys(width, lengths.device)
    action = run(machine, keys.recording(policy))
    keys.note(machine)
    return Derived(action, torch.stack(keys.foci, 1), torch.stack(keys.keys, 1), lengths, copies)


def distinct_foci(derived: Derived) -> Samples:
    """Derivations with the distinct ones among their foci."""
    action, lengths, device = derived.action, derived.lengths, derived.action.device
    number = torch.arange(len(action), device=device)
    sentence, sampled = number // derived.copies, number % derived.copies > 0  # [R]
    last = 2 * lengths - 2
    valid = torch.arange(action.shape[1], device=device) <= last[:, None]
    row, step = torch.nonzero(valid, as_tuple=True)
    _, back, place = distinct(derived.key[row, step] + sentence[row] * _SPREAD)
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
        derived.focus[row, step],
        step == last[row],
        count / max(derived.copies - 1, 1),
        row,
        step,
    )
