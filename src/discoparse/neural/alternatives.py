"""The derivation of one sentence with what else the scorers considered: every action and label with its probability.

Shapes as in `lockstep`: B is 1 here; N tokens, T structural steps, H scorer hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from discoparse.neural.chains import ChainScores
from discoparse.neural.constraints import LimitBatch, Within, constrained_codes, run_within
from discoparse.neural.decoder import Decoder, last_steps
from discoparse.neural.limits import Limits, free
from discoparse.neural.lockstep import Lockstep
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy


@dataclass(frozen=True)
class Option:
    """A structural action that was legal: its slot (see `lockstep`) and its probability among all that were; whether
    the constraints allowed it."""

    slot: int
    probability: float
    allowed: bool


@dataclass(frozen=True)
class Step:
    """A structural action and the label chain that the focus got after it, each with the best of what was possible; the
    labels of a chain are from the top down, and none stand for NO-LABEL."""

    slot: int
    options: list[Option]  # the most probable first
    labels: tuple[str, ...]
    label_probability: float
    chains: list[tuple[tuple[str, ...], float]]  # the most probable first


@dataclass(frozen=True)
class Course:
    """A derivation with its alternatives, and the tags of the words."""

    steps: list[Step]
    tags: list[str]


class _WatchedPolicy(ScoringPolicy):
    """Keeps the scores of all legal actions, also of those that constraints exclude."""

    def __init__(self, scorers: FoldedScorers, tokens: Tensor, lengths: Tensor) -> None:
        super().__init__(scorers, tokens, lengths)
        self.seen: list[tuple[Tensor, Tensor]] = []  # scores and allowed actions of each step, [N] each

    def __call__(self, machine: Lockstep, legal: Tensor) -> Tensor:
        self.possible = machine.legal()
        return super().__call__(machine, legal)

    def scores(self, focus: Tensor, legal: Tensor) -> Tensor:
        every = super().scores(focus, self.possible)
        self.seen.append((every[0], legal[0]))
        return every.masked_fill(~legal, -torch.inf)


@torch.inference_mode()
def course(decoder: Decoder, words: Sequence[str], limits: Limits | None = None, most: int = 5) -> Course:
    """The derivation of a sentence, greedy as the decoder's own; with at most `most` labels for each focus."""
    first, last, lengths = decoder.encode([words])
    network = decoder.network
    known = limits or free(len(words))
    batch = LimitBatch.of([known], network.config.labels, decoder.device)
    policy = _WatchedPolicy(FoldedScorers.of(network.scorers), last, lengths)
    machine = Lockstep(lengths, last.shape[1])
    within = run_within(machine, batch.gold, policy)
    states = policy.finish(machine)
    final = last_steps(within.action, lengths)
    codes, probability = constrained_codes(network.scorers, states, final, within, batch, lengths)
    scores = ChainScores(network.scorers, states[0], final[0])
    tags = network.tag_scores(first, last).argmax(-1)[0].tolist()
    for token, tag in known.tags.items():
        tags[token] = tag
    steps = [
        Step(slot, options, decoder.chains[code], chance, _chains(decoder, scores, k, most))
        for k, (slot, options, code, chance) in enumerate(
            zip(
                within.action[0].tolist(),
                _options(policy, within),
                codes[0].tolist(),
                probability[0].tolist(),
                strict=True,
            )
        )
    ]
    return Course(steps, [decoder.vocabulary.tags[tag] for tag in tags])


def _options(policy: _WatchedPolicy, within: Within) -> list[list[Option]]:
    """The legal actions of each step, the most probable first; the first step has one."""
    found = [[Option(int(within.action[0, 0]), 1.0, True)]]
    for scores, allowed in policy.seen:
        chances, slots = scores.softmax(0).sort(descending=True)
        count = int((scores > -torch.inf).sum())
        found.append(
            [
                Option(slot, chance, bool(allowed[slot]))
                for slot, chance in zip(slots[:count].tolist(), chances[:count].tolist(), strict=True)
            ]
        )
    return found


def _chains(decoder: Decoder, scores: ChainScores, focus: int, most: int) -> list[tuple[tuple[str, ...], float]]:
    """Of a focus, the chains that begin with its most probable lowest labels and go on greedily, best first."""
    label = scores.first[focus].topk(min(most, scores.count)).indices
    row = torch.full_like(label, focus)
    code = scores.completed(row, label)
    chances = scores.of_codes(row, code).exp().tolist()
    found = [(decoder.chains[c], chance) for c, chance in zip(code.tolist(), chances, strict=True) if chance > 0]
    return sorted(found, key=lambda pair: -pair[1])
