"""The labeller as a distribution over label chains: the probability of a chain, samples, the best one with a label.

A focus has a chain of labels (see `labelling`): the lowest first, then the one above or the end, up to the longest. In
networks that label whole chains at once, a chain is a single label. All of this is given the focus.

Shapes: F foci, H scorer hidden, L labels with NO-LABEL.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from discoparse.neural.codes import longest_chain
from discoparse.neural.lockstep import NO_LABEL
from discoparse.neural.network import Scorers

_CHUNK = 1 << 22  # numbers of a table [F, L, L] that is held at once


def cheap_to_ask(tensor: Tensor) -> bool:
    """Whether the host may look at a tensor to save work: it would wait for a GPU, and the GPU then for the host."""
    return tensor.device.type == "cpu"


class ChainScores:
    """Log-probabilities of label chains for foci, at a temperature; NO-LABEL is impossible where a label `must` be."""

    def __init__(self, scorers: Scorers, states: Tensor, must: Tensor, temperature: float = 1.0) -> None:
        """`states` [F, H], `must` [F]."""
        self.temperature = temperature
        first = scorers.label_output(states) / temperature
        first[:, NO_LABEL] = first[:, NO_LABEL].masked_fill(must, -torch.inf)
        self.first = first.log_softmax(-1)  # [F, L] of the lowest label
        self.count = first.shape[1]
        self.spells = scorers.above_output is not None  # node by node
        if scorers.above_output is not None and scorers.above_given is not None:
            self._above = scorers.above_output(states)
            self._given = scorers.above_given.weight  # [L, L]
        self.longest = longest_chain(self.count) if self.spells else 1

    def above(self, rows: Tensor, label: Tensor) -> Tensor:
        """Of what stands above a label, or NO-LABEL for the end: of the foci `rows` [R] and a label of each, [R, L]."""
        return ((self._above[rows] + self._given[label]) / self.temperature).log_softmax(-1)

    def of_codes(self, rows: Tensor, codes: Tensor) -> Tensor:
        """The log-probability of a chain, by its code, of each of the foci `rows` [R] -> [R]."""
        label, rest = codes % self.count, codes // self.count
        total = self.first[rows].gather(1, label[:, None]).squeeze(1)
        open_ = torch.arange(len(codes), device=codes.device)  # chains that may go on
        for _ in range(1, self.longest):
            if cheap_to_ask(label):
                (open_,) = torch.nonzero(label != NO_LABEL, as_tuple=True)
                if not len(open_):
                    break
            higher = rest % self.count
            step = self.above(rows[open_], label[open_]).gather(1, higher[open_, None]).squeeze(1)
            total = total.index_add(0, open_, step.masked_fill(label[open_] == NO_LABEL, 0.0))
            label, rest = higher, rest // self.count  # where a chain has ended, nothing but NO-LABEL is left
        return total

    def sample(self, rows: Tensor) -> Tensor:
        """The code of a sampled chain for each of the foci `rows` [R], which may repeat -> [R]."""
        return self._spelled(rows, _sampled(self.first[rows]), _sampled)

    def completed(self, rows: Tensor, label: Tensor) -> Tensor:
        """The code of the chain with this lowest label, for each focus [R], that is chosen greedily from there up."""
        return self._spelled(rows, label, lambda scores: scores.argmax(1))

    def _spelled(self, rows: Tensor, label: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """The codes of chains from their lowest labels; `choose` takes what stands above, from log-probabilities."""
        code = label
        (open_,) = torch.nonzero(label, as_tuple=True)
        for level in range(1, self.longest):
            if not len(open_):
                break
            higher = choose(self.above(rows[open_], label[open_]))
            code = code.index_add(0, open_, higher * self.count**level)
            label = torch.zeros_like(label).index_copy_(0, open_, higher)
            open_ = open_[higher != NO_LABEL]
        return code

    def best_with(self, rows: Tensor, wanted: Tensor) -> Tensor:
        """The code of the most probable chain that has one of the `wanted` labels [R, L], for each focus [R] -> [R]."""
        if not self.spells:
            return self.first[rows].masked_fill(~wanted, -torch.inf).argmax(1)
        size = max(1, _CHUNK // self.count**2)
        parts = [self._viterbi(rows[k : k + size], wanted[k : k + size]) for k in range(0, len(rows), size)]
        return torch.cat(parts) if parts else rows

    def _viterbi(self, rows: Tensor, wanted: Tensor) -> Tensor:
        """`best_with`, exactly: the best chain up to each level that ends in each label, with or without a wanted one
        so far."""
        count, found = self.count, len(rows)
        steps = self._above[rows][:, None] + self._given  # [R, L below, L above]
        steps = (steps / self.temperature).log_softmax(-1)
        first = self.first[rows]
        nothing = torch.full_like(first, -torch.inf)
        # [R, 2, L]: without and with a wanted label among those so far
        best = torch.stack([first.masked_fill(wanted, -torch.inf), first.masked_fill(~wanted, -torch.inf)], 1)
        best[:, :, NO_LABEL] = -torch.inf
        codes = torch.arange(count, device=rows.device).expand(found, 2, count)
        top = torch.full((found,), -torch.inf, device=rows.device)
        answer = torch.zeros_like(rows)
        for level in range(1, self.longest + 1):
            ended = best[:, 1] + (steps[:, :, NO_LABEL] if level < self.longest else 0.0)  # [R, L]
            score, label = ended.max(1)
            answer = torch.where(score > top, codes[:, 1].gather(1, label[:, None]).squeeze(1), answer)
            top = torch.maximum(score, top)
            if level == self.longest:
                break
            ways = best[:, :, :, None] + steps[:, None]  # [R, 2, L below, L above]
            ways[..., NO_LABEL] = -torch.inf
            value, below = ways.max(2)  # [R, 2, L above]
            spelled = codes.gather(2, below) + torch.arange(count, device=rows.device) * count**level
            # A wanted label turns "without" into "with"; the better of the two ways to "with" stays.
            turned = torch.where(wanted, value[:, 0], nothing)
            codes = torch.stack([spelled[:, 0], torch.where(turned > value[:, 1], spelled[:, 0], spelled[:, 1])], 1)
            best = torch.stack([value[:, 0].masked_fill(wanted, -torch.inf), torch.maximum(turned, value[:, 1])], 1)
        return answer


def _sampled(log_probability: Tensor) -> Tensor:
    """A sample from each row [R, L] -> [R], by Gumbel's trick as in `scoring.ScoringPolicy`."""
    return (log_probability - torch.empty_like(log_probability).exponential_().log()).argmax(1)
