"""The labeller as a distribution over label chains: the probability of a chain, samples, the best one with a label.

A focus has a chain of labels (see `labelling`): the lowest first, then the one above or the end, up to the longest. In
networks that label whole chains at once, a chain is a single label. All of this is given the focus.

Shapes: F foci, H scorer hidden, L labels with NO-LABEL.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from discoparse.neural.codes import MOST_ALIKE, longest_chain
from discoparse.neural.labelling import without
from discoparse.neural.lockstep import NO_LABEL
from discoparse.neural.network import Scorers

_CHUNK = 1 << 23  # numbers of a table [F, 2 L, 2 L] that is held at once


def cheap_to_ask(tensor: Tensor) -> bool:
    """Whether the host may look at a tensor to save work: it would wait for a GPU, and the GPU then for the host."""
    return tensor.device.type == "cpu"


def spelled(codes: Tensor, count: int, longest: int) -> Tensor:
    """The labels of chains by their codes [R], the lowest first, and then NO-LABEL: [R, longest]; see `spell_code`."""
    return codes[:, None] // count ** torch.arange(longest, device=codes.device) % count


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
        labels = spelled(codes, self.count, self.longest)  # [R, longest]
        total = self.first[rows].gather(1, labels[:, :1]).squeeze(1)
        if not self.spells:
            return total
        below, higher = labels[:, :-1], labels[:, 1:]
        if cheap_to_ask(codes):  # few chains have more than one node
            which, level = torch.nonzero(below, as_tuple=True)
            step = self.above(rows[which], below[which, level]).gather(1, higher[which, level, None]).squeeze(1)
            steps = torch.zeros_like(below, dtype=step.dtype)
            steps[which, level] = step
        else:
            size = max(1, _CHUNK // (self.longest * self.count))
            parts = [self._steps(*part) for part in zip(*(x.split(size) for x in (rows, below, higher)), strict=True)]
            steps = torch.cat(parts)
        return total + steps.sum(1)

    def _steps(self, rows: Tensor, below: Tensor, higher: Tensor) -> Tensor:
        """The log-probabilities of each label [R, levels] above another; 0 where there is no label below."""
        every = ((self._above[rows, None] + self._given[below]) / self.temperature).log_softmax(-1)
        return every.gather(2, higher[:, :, None]).squeeze(2).masked_fill(below == NO_LABEL, 0.0)

    def sample(self, rows: Tensor) -> Tensor:
        """The code of a sampled chain for each of the foci `rows` [R], which may repeat -> [R]."""
        return self._spelled(rows, _sampled(self.first[rows]), _sampled, self.longest)

    def completed(self, rows: Tensor, label: Tensor) -> Tensor:
        """The code of the chain with this lowest label, for each focus [R], chosen greedily from there up as by
        `labelling.label_codes`."""
        return self._spelled(rows, label, lambda scores: scores.argmax(1), MOST_ALIKE)

    def _spelled(self, rows: Tensor, label: Tensor, choose: Callable[[Tensor], Tensor], most_alike: int) -> Tensor:
        """The codes of chains from their lowest labels; `choose` takes what stands above, from log-probabilities. A
        label is put above itself until it stands there `most_alike` times."""
        code, alike = label, torch.ones_like(label)
        (open_,) = torch.nonzero(label, as_tuple=True)
        for level in range(1, self.longest):
            if not len(open_):
                break
            below = label[open_]
            higher = choose(without(self.above(rows[open_], below), below, alike[open_] >= most_alike))
            code = code.index_add(0, open_, higher * self.count**level)
            alike[open_] = torch.where(higher == below, alike[open_] + 1, 1)
            label = torch.zeros_like(label).index_copy_(0, open_, higher)
            open_ = open_[higher != NO_LABEL]
        return code

    def best_with(self, rows: Tensor, wanted: Tensor) -> Tensor:
        """The code of the most probable chain that has one of the `wanted` labels [R, L], for each focus [R] -> [R]."""
        if not self.spells:
            return self.first[rows].masked_fill(~wanted, -torch.inf).argmax(1)
        size = max(1, _CHUNK // (2 * self.count) ** 2)
        parts = [self._viterbi(rows[k : k + size], wanted[k : k + size]) for k in range(0, len(rows), size)]
        return torch.cat(parts) if parts else rows

    def _viterbi(self, rows: Tensor, wanted: Tensor) -> Tensor:
        """`best_with`, exactly: the best chain up to each level that ends in each label, with or without a wanted one
        so far."""
        count, found = self.count, len(rows)
        above = ((self._above[rows][:, None] + self._given) / self.temperature).log_softmax(-1)  # [R, L below, L above]
        end = above[:, :, NO_LABEL].clone()
        above[:, :, NO_LABEL] = -torch.inf
        # Labels count twice: [0, L) without a wanted one so far, [L, 2 L) with one. Nothing leads back to the former.
        turning, staying = (
            above.masked_fill(~wanted[:, None], -torch.inf),
            above.masked_fill(wanted[:, None], -torch.inf),
        )
        never = torch.full_like(above, -torch.inf)
        lead = torch.cat([torch.cat([staying, turning], 2), torch.cat([never, above], 2)], 1)  # [R, 2 L, 2 L]
        first = self.first[rows]
        first[:, NO_LABEL] = -torch.inf
        best = torch.cat([first.masked_fill(wanted, -torch.inf), first.masked_fill(~wanted, -torch.inf)], 1)
        label = torch.arange(count, device=rows.device).repeat(2)
        codes = label.expand(found, -1)
        ended = []  # at each level, the best chain that ends there: its probability and its code
        for level in range(1, self.longest + 1):
            last = level == self.longest
            score, top = (best[:, count:] if last else best[:, count:] + end).max(1, keepdim=True)
            ended.append((score, codes.gather(1, top + count)))
            if not last:
                best, below = (best[:, :, None] + lead).max(1)
                codes = codes.gather(1, below) + label * count**level
        scores, found_codes = (torch.cat(column, 1) for column in zip(*ended, strict=True))  # [R, levels]
        return found_codes.gather(1, scores.argmax(1, keepdim=True)).squeeze(1)


def _sampled(log_probability: Tensor) -> Tensor:
    """A sample from each row [R, L] -> [R], by Gumbel's trick as in `scoring.ScoringPolicy`."""
    return (log_probability - torch.empty_like(log_probability).exponential_().log()).argmax(1)
