"""The scorers at parsing time: folded for CPUs, and as a policy that chooses actions while a batch advances.

Shapes as in `lockstep` and `network`: B sentences, N tokens, T structural steps, D token vector, H scorer hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from discoparse.neural.lockstep import Lockstep
from discoparse.neural.network import POSITIONS, Scorers, look_up


@dataclass(frozen=True)
class FoldedScorers:
    """The scorers with sigmoids instead of tanh, which CPUs compute much faster.

    tanh(x) = 2 sigmoid(2x) - 1: the twos and the one are moved into the weights around it. First layers are for the two
    ends of a set and for the two ends of its gap; their rows are item and focus of FF_s [2H], then the labeller [H].
    Valid as long as the parameters stay the same.
    """

    ends: Tensor  # [2, 3H, D]
    gap: Tensor  # [3H, 2D]
    nil_gap: Tensor  # [3H] what the vector of nil adds as both ends of a gap
    bias: Tensor  # [3H] of a set without a gap: with what nil adds
    pair_hidden: Tensor  # [H, H]
    pair_hidden_bias: Tensor  # [H]
    pair_output: Tensor  # [H]
    pair_output_bias: Tensor  # [1]
    label_hidden: Tensor  # [H, H]
    label_hidden_bias: Tensor  # [H]

    @classmethod
    def of(cls, scorers: Scorers) -> FoldedScorers:
        weights, bias = scorers.blocks()
        left, right, gap_first, gap_last = 2 * weights.view(POSITIONS, len(bias), -1)
        gap = torch.cat([gap_first, gap_last], 1)
        nil_gap = gap.mv(scorers.nil.repeat(2))
        output = scorers.pair_output
        return cls(
            torch.stack([left, right]),
            gap,
            nil_gap,
            2 * bias + nil_gap,
            *_folded(scorers.pair_hidden),
            2 * output.weight[0],
            output.bias - output.weight.sum(),
            *_folded(scorers.label_hidden),
        )

    def pair_scores(self, first: Tensor) -> Tensor:
        """Scores from the first layer's pre-activations, which are overwritten: [P, H] -> [P]."""
        states = F.linear(first.sigmoid_(), self.pair_hidden, self.pair_hidden_bias).sigmoid_()
        return torch.addmv(self.pair_output_bias, states, self.pair_output)

    def label_hidden_states(self, first: Tensor) -> Tensor:
        """As in `Scorers`, from the first layer's pre-activations, which are overwritten."""
        return F.linear(first.sigmoid_(), self.label_hidden, self.label_hidden_bias).sigmoid_().mul_(2).sub_(1)


def _folded(hidden: nn.Linear) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer between two sigmoids that stood between two tanh."""
    return 4 * hidden.weight, 2 * (hidden.bias - hidden.weight.sum(1))


class FirstLayers:
    """First layers of the scorers, or of some of them, for any sets: every token is projected once as either end.

    Few sets have a gap; its ends are projected on demand.
    """

    def __init__(self, rows: Tensor, scorers: FoldedScorers, columns: slice) -> None:
        self.rows = rows  # [M, D] tokens
        ends, bias = scorers.ends[:, columns], scorers.bias[columns]
        bias = torch.cat([bias, torch.zeros_like(bias)])  # every set has one left end
        self.table = F.linear(rows, ends.flatten(0, 1), bias).view(2 * len(rows), -1)  # [M x 2, columns]
        self.gap = scorers.gap[columns]
        self.nil_gap = scorers.nil_gap[columns]

    def singletons(self, columns: int) -> Tensor:
        """Of the tokens themselves, the first columns alone: [M, columns]."""
        return self.table.view(len(self.rows), 2, -1)[:, :, :columns].sum(1)

    def __call__(self, positions: Tensor, gapped: Tensor) -> Tensor:
        """Of sets at rows [S, 4]; `gapped` has the numbers of those with a gap. [S, columns]."""
        ends = 2 * positions[:, :2]
        ends[:, 1] += 1
        sums = F.embedding_bag(ends, self.table, mode="sum")  # on a CPU, three times as fast as indexing
        if len(gapped):
            gap = look_up(self.rows, positions[gapped, 2:]).flatten(1)  # [G, 2D]
            sums.index_add_(0, gapped, F.linear(gap, self.gap) - self.nil_gap)
        return sums


class ScoringPolicy:
    """Chooses the best-scoring legal action of every configuration, or samples one from the softmax.

    Keeps the first scorer layer of every item in its slot, so a step costs one addition per pair. It is made for CPUs:
    asking which sets have a gap and which actions are legal would make a GPU wait. There it only takes what the kernel
    cannot.
    """

    def __init__(self, scorers: FoldedScorers, tokens: Tensor, lengths: Tensor, sample: bool = False) -> None:
        batch, width, _ = tokens.shape
        self.scorers = scorers
        self.sample = sample
        inside = torch.arange(width, device=tokens.device) < lengths[:, None]
        (slots,) = torch.nonzero(inside.flatten(), as_tuple=True)  # [M] all but padding
        self.tokens = look_up(tokens.flatten(0, 1), slots)  # [M, D]
        self.first_row = (lengths.cumsum(0) - lengths)[:, None]  # [B, 1] a sentence's first row among these
        self.first_slot = torch.arange(batch, device=tokens.device) * width  # [B]
        self.hidden = len(scorers.pair_output)
        self.pairs = FirstLayers(self.tokens, scorers, slice(0, 2 * self.hidden))
        # The slot of the next token stands for SHIFT and holds the singleton that it would make. Foci have rows of
        # their own behind all items, so that one look-up adds both parts of a pair.
        self.parts = tokens.new_zeros(batch * width + batch, self.hidden)  # [B N + B, H]
        self.parts.index_copy_(0, slots, self.pairs.singletons(self.hidden))
        self.foci: list[Tensor] = []  # [B, 4] positions of each focus so far

    def __call__(self, machine: Lockstep, legal: Tensor) -> Tensor:
        scores = self.step(machine, legal)
        if self.sample:  # Gumbel's trick: the maximum of scores with this noise is a sample from their softmax
            scores = scores - torch.empty_like(scores).exponential_().log()
        return scores.argmax(1)

    def step(self, machine: Lockstep, legal: Tensor) -> Tensor:
        """The scores of all actions [B, N] in these configurations, as `scores` gives them; once a step."""
        self.foci.append(machine.focus)
        (gapped,) = torch.nonzero(machine.focus[:, 2] < machine.width, as_tuple=True)
        item, focus = self.pairs(self.first_row + machine.focus, gapped).split(self.hidden, 1)
        scores = self.scores(focus, legal)
        self.remember(machine, item)
        return scores

    def remember(self, machine: Lockstep, item: Tensor) -> None:
        """Put the focus [B, H] in its slot: it is found there if it goes to the memory; if not, nobody looks."""
        self.parts.index_copy_(0, self.first_slot + machine.left, item)

    def scores(self, focus: Tensor, legal: Tensor) -> Tensor:
        """FF_s of every legal action, minus infinity elsewhere: [B, H], [B, N] -> [B, N]."""
        batch, width = legal.shape
        (rows,) = torch.nonzero(legal.flatten(), as_tuple=True)
        self.parts[batch * width :] = focus
        pairs = torch.stack([rows, batch * width + rows // width], 1)
        found = self.scorers.pair_scores(F.embedding_bag(pairs, self.parts, mode="sum"))
        scores = torch.full((batch * width,), -torch.inf, device=focus.device)
        return scores.index_copy_(0, rows, found).view(batch, width)

    def finish(self, machine: Lockstep) -> Tensor:
        """The states of the labeller for all foci [B, T, H], the last one included."""
        focus = torch.stack([*self.foci, machine.focus], 1)  # [B, T, 4]
        labels = FirstLayers(self.tokens, self.scorers, slice(2 * self.hidden, None))
        (gapped,) = torch.nonzero(focus[:, :, 2].flatten() < machine.width, as_tuple=True)
        first = labels((self.first_row[:, :, None] + focus).flatten(0, 1), gapped)
        return self.scorers.label_hidden_states(first).view(*focus.shape[:2], -1)
