"""The most probable trees of a sentence: a beam of derivations in lockstep, their labels, and equal trees put together.

The beam keeps the W most probable derivations of each sentence; labels are chosen when they are complete. Different
derivations may build one tree (Section 2.2.1 calls it spurious ambiguity): their probabilities are added up.

Shapes as in `sampling`: B sentences, N tokens, T structural steps, R = B x W rows, X distinct foci.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from discoparse.neural.calibration import Calibration
from discoparse.neural.chains import ChainScores
from discoparse.neural.lockstep import Lockstep, given
from discoparse.neural.marginals import labeller_states
from discoparse.neural.network import Scorers
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import Samples, SharedScores, distinct_foci, followed
from discoparse.neural.scoring import FoldedScorers

if TYPE_CHECKING:
    from discoparse.neural.decisions import Words
    from discoparse.neural.decoder import Decoder

WIDTH = 16  # derivations at least, for fewer trees too
_CODES = 3  # label chains that are considered for each focus


@dataclass(frozen=True)
class Derivations:
    """Derivations of B sentences, W rows of each, with the log-probability of their structural actions."""

    found: Samples  # all rows count as samples
    log_probability: Tensor  # [R]; minus infinity for rows that are not used


def search(folded: FoldedScorers, tokens: Tensor, lengths: Tensor, width: int, temperature: float) -> Derivations:
    """The most probable derivations that a beam finds: token vectors [B, N, D], lengths [B]."""
    batch, most, device = len(lengths), tokens.shape[1], tokens.device
    repeated = lengths.repeat_interleave(width)
    machine, shared = Lockstep(repeated, most), SharedScores(folded, tokens, lengths, width)
    score = torch.full((batch, width), -torch.inf, device=device)
    score[:, 0] = 0.0
    first_row = torch.arange(batch, device=device)[:, None] * width
    own = torch.arange(batch * width, device=device)
    action = torch.zeros(batch * width, 2 * most - 1, dtype=torch.long, device=device)
    for t in range(2 * most - 2):
        rows, slots, scores = shared(machine, machine.legal())
        every = torch.full((batch * width, most), -torch.inf, device=device)
        every[rows, slots] = scores / temperature
        total = score.flatten()[:, None] + every.log_softmax(1)
        total = torch.where(every.isneginf() | total.isnan(), -torch.inf, total).view(batch, width * most)
        best, place = total.topk(width, 1)
        going = (machine.last > t)[own]
        parent = torch.where(going, (first_row + place // most).flatten(), own)
        slot = torch.where(going, (place % most).flatten(), machine.left)
        score = torch.where(going.view(batch, width), best, score)
        _select(machine, parent)
        shared.item = shared.item[parent]
        action = action[parent]
        action[:, t + 1] = slot
        machine.advance(slot)
    # Short sentences have fewer derivations than the beam is wide: in the other rows, the best one stands again.
    used = torch.where(score.flatten() > -torch.inf, own, first_row.expand(-1, width).flatten())
    derived = followed(given(action[used]), repeated, most, width)
    return Derivations(distinct_foci(derived), score.flatten())


def _select(machine: Lockstep, rows: Tensor) -> None:
    """Give each row the configuration of another."""
    for name in ("length", "last", "next", "left", "owner", "memory", "focus", "inside"):
        setattr(machine, name, getattr(machine, name)[rows])


@dataclass(frozen=True)
class RankedTree:
    """A tree by its derivation (see `lockstep`) and label chains, with its probability."""

    actions: list[int]
    codes: list[int]
    label_probabilities: list[float]
    probability: float


@torch.inference_mode()
def best_trees(
    decoder: Decoder, sentences: Sequence[Words], count: int, calibration: Calibration
) -> Iterator[tuple[int, list[RankedTree], list[int]]]:
    """Indexes of sentences, up to `count` different trees of each in the order of their probability, and its tags."""
    network = decoder.network
    folded = decoder.fast_scorers or FoldedScorers.of(network.scorers)
    width = max(WIDTH, 2 * count)
    for chosen in decoder.batches(sentences):
        first, last, lengths = decoder.encode([sentences[k] for k in chosen])
        tags = network.tag_scores(first, last).argmax(-1).tolist()
        for start, end in decoder.chunks(lengths.tolist(), width):
            some = lengths[start:end]
            tokens = last[start:end, : int(some.max())]
            derivations = search(folded, tokens, some, width, calibration.structure)
            states = labeller_states(folded, tokens, some, derivations.found)
            ranking = _Ranking(derivations, network.scorers, states, calibration)
            for b, n in enumerate(some.tolist()):
                k = start + b
                rows = range(b * width, (b + 1) * width)
                yield int(chosen[k]), ranking.best(rows, n, count), tags[k][:n]


class _Ranking:
    """Derivations with the most probable labels of their foci, on the host."""

    def __init__(self, derivations: Derivations, scorers: Scorers, states: Tensor, calibration: Calibration) -> None:
        found = derivations.found
        codes, values = top_codes(ChainScores(scorers, states, found.whole, calibration.labels))
        # What is told of a label is its probability as it is, as without a beam.
        self.told = plain_probabilities(ChainScores(scorers, states, found.whole), codes).tolist()
        self.codes, self.values = codes.tolist(), values.tolist()  # [X][_CODES]
        self.action, self.index = found.action.tolist(), found.index.tolist()
        self.log_probability = derivations.log_probability.tolist()
        self.power = calibration.tree_power

    def best(self, rows: Sequence[int], length: int, count: int) -> list[RankedTree]:
        """The most probable trees of a sentence of so many tokens among these rows."""
        steps = 2 * length - 1
        total: dict[tuple[tuple[int, int], ...], float] = {}
        made: dict[tuple[tuple[int, int], ...], tuple[float, int, list[int]]] = {}
        for row in rows:
            base = self.log_probability[row]
            if base == -math.inf:
                continue
            foci = self.index[row][:steps]
            masks = yields(replay(self.action[row][:steps]))
            for value, choice in cheapest([self.values[focus] for focus in foci], count):
                codes = [self.codes[focus][k] for focus, k in zip(foci, choice, strict=True)]
                key = tuple(sorted((mask, code) for mask, code in zip(masks, codes, strict=True) if code))
                probability = math.exp(base + value)
                total[key] = total.get(key, 0.0) + probability
                if key not in made or probability > made[key][0]:
                    made[key] = probability, row, choice
        ranked = sorted(total, key=lambda key: -total[key])[:count]
        probabilities = calibrated([total[key] for key in ranked], self.power)
        return [self._tree(*made[key][1:], steps, p) for key, p in zip(ranked, probabilities, strict=True)]

    def _tree(self, row: int, choice: list[int], steps: int, probability: float) -> RankedTree:
        foci = self.index[row][:steps]
        return RankedTree(
            self.action[row][:steps],
            [self.codes[focus][k] for focus, k in zip(foci, choice, strict=True)],
            [self.told[focus][k] for focus, k in zip(foci, choice, strict=True)],
            probability,
        )


def calibrated(raw: Sequence[float], power: float) -> list[float]:
    """Probabilities of different trees of one sentence, the best first, from raw ones.

    The power was fitted to the best tree of each sentence, and one below 1 raises all of them. So the others get at
    most their shares of what the best one leaves: together they are no more than 1, however many there are.

    >>> [round(p, 2) for p in calibrated([0.5, 0.3, 0.2], 0.5)], [round(p, 2) for p in calibrated([0.5, 0.3], 2)]
    ([0.71, 0.18, 0.12], [0.25, 0.09])
    """
    if not raw:
        return []
    raw = [min(1.0, p) for p in raw]
    first = raw[0] ** power
    share = (1 - first) / (1 - raw[0]) if raw[0] < 1 else 1.0
    return [first, *(min(p**power, share * p) for p in raw[1:])]


def top_codes(chains: ChainScores) -> tuple[Tensor, Tensor]:
    """For each focus some likely label chains, the most probable first, and their log-probabilities: [X, codes] each.

    They differ in their lowest label; what stands above it is chosen greedily.
    """
    label = chains.first.topk(min(_CODES, chains.count), 1).indices  # [X, codes]
    rows = torch.arange(len(label), device=label.device)[:, None].expand_as(label).flatten()
    codes = chains.completed(rows, label.flatten())
    values = chains.of_codes(rows, codes).view_as(label)
    values, order = values.sort(1, descending=True)
    return codes.view_as(label).gather(1, order), values


def plain_probabilities(chains: ChainScores, codes: Tensor) -> Tensor:
    """Of some chains of each focus, by their codes: [X, codes] each."""
    rows = torch.arange(len(codes), device=codes.device)[:, None].expand_as(codes).flatten()
    return chains.of_codes(rows, codes.flatten()).exp().view_as(codes)


def cheapest(values: Sequence[Sequence[float]], count: int) -> Iterator[tuple[float, list[int]]]:
    """The best ways to choose one of the values, sorted downwards, from every list: sums and choices, the best first.

    >>> [(round(value, 1), choice) for value, choice in cheapest([[-0.1, -0.5], [-0.2, -0.3]], 3)]
    [(-0.3, [0, 0]), (-0.4, [0, 1]), (-0.7, [1, 0])]
    """
    first = sum(options[0] for options in values)
    # Lists by what their second choice costs; a choice is extended at lists from its last change on, so that none
    # comes up twice: raise that list once more, go on with the next, or move the raise to the next.
    order = sorted((k for k in range(len(values)) if len(values[k]) > 1), key=lambda k: values[k][0] - values[k][1])

    def cost(choice: dict[int, int]) -> float:
        return sum(values[order[k]][0] - values[order[k]][level] for k, level in choice.items())

    heap: list[tuple[float, int, dict[int, int]]] = [(0.0, 0, {})]
    pushed = 1
    for _ in range(count):
        if not heap:
            return
        loss, _, choice = heapq.heappop(heap)
        levels = [0] * len(values)
        for k, level in choice.items():
            levels[order[k]] = level
        yield first - loss, levels
        last = max(choice, default=-1)
        following = []
        if last + 1 < len(order):
            following.append({**choice, last + 1: 1})
            if last >= 0 and choice[last] == 1:
                moved = {k: level for k, level in choice.items() if k != last}
                following.append({**moved, last + 1: 1})
        if last >= 0 and choice[last] + 1 < len(values[order[last]]):
            following.append({**choice, last: choice[last] + 1})
        for one in following:
            value = cost(one)
            if value < math.inf:
                heapq.heappush(heap, (value, pushed, one))
                pushed += 1
