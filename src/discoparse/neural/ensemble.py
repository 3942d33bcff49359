"""Several networks decide together: the mean of their probabilities at every decision.

Structure is decided in lockstep, each network with its own token vectors and scorers over the same configurations.
Tags and labels are matched by name, so networks may have different ones, and different words, sizes and encoders.
Shapes: B sentences, N tokens, T structural steps, H scorer hidden.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.codes import Chains, longest_chain
from discoparse.neural.decisions import Decoded, Words
from discoparse.neural.decoder import Decoder, Pending
from discoparse.neural.forking import renew_lock_in_children
from discoparse.neural.labelling import label_codes
from discoparse.neural.limits import Limits
from discoparse.neural.lockstep import NO_LABEL, Lockstep, run
from discoparse.neural.network import Scorers
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy
from discoparse.neural.vocabulary import Vocabulary
from discoparse.transform.unary import Chain

_NOTHING = -1  # no label, where a chain has ended or is not known


class EnsembleDecoder(Decoder):
    """Greedy decoding with several networks. Safe to use from several threads."""

    def __init__(self, members: Sequence[Decoder]) -> None:
        self.members = list(members)
        # The network that cuts words into pieces takes longest: batches are made for it.
        self.slowest = next((member for member in members if member.vocabulary.pieces is not None), members[0])
        self.device = members[0].device
        self.tags = list(dict.fromkeys(tag for member in members for tag in member.vocabulary.tags))
        number = {tag: k for k, tag in enumerate(self.tags)}
        self.tag_numbers = [
            torch.tensor([number[tag] for tag in member.vocabulary.tags], device=self.device) for member in members
        ]
        self.lock = threading.Lock()
        renew_lock_in_children(self)
        labels = dict.fromkeys(label for member in members for label in member.vocabulary.labels)
        # Words and characters only tell whether a text is in the language of the models.
        most = max((member.vocabulary for member in members), key=lambda vocabulary: len(vocabulary.words))
        self.vocabulary = replace(most, tags=self.tags, labels=list(labels), pieces=None)
        self.numbers = self.chains = ChainNumbers(self.vocabulary)  # codes are the numbers of chains here
        self._fold()

    def reset(self) -> None:
        """Forget what was computed from the networks' parameters; call it after changing them."""
        for member in self.members:
            member.reset()
        self._fold()

    def _fold(self) -> None:
        with torch.inference_mode():
            self.folded = [FoldedScorers.of(member.network.scorers) for member in self.members]
        self.spellings = [_Spellings(member) for member in self.members]

    def batches(self, sentences: Sequence[Words]) -> list[np.ndarray]:
        return self.slowest.batches(sentences)

    @torch.inference_mode()
    def decode(
        self,
        sentences: Sequence[Words],
        probabilities: bool = False,
        limits: Sequence[Limits | None] | None = None,
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """As of one network; `Ensemble` refuses constraints."""
        assert limits is None or all(one is None for one in limits)
        for chosen in self.batches(sentences):
            yield chosen, self._decode_batch([sentences[k] for k in chosen], probabilities).wait()

    def _decode_batch(self, sentences: Sequence[Words], probabilities: bool) -> Pending:
        vectors = [member.encode(sentences) for member in self.members]
        lengths = vectors[0][2]
        machine = Lockstep(lengths, vectors[0][1].shape[1])
        policies = [
            ScoringPolicy(folded, last, lengths) for folded, (_, last, _) in zip(self.folded, vectors, strict=True)
        ]

        def together(machine: Lockstep, legal: Tensor) -> Tensor:
            # A sentence that is done has no legal action, and what is chosen for it is not looked at.
            return torch.stack([policy.step(machine, legal).softmax(1) for policy in policies]).sum(0).argmax(1)

        actions = run(machine, together)
        states = [policy.finish(machine) for policy in policies]
        codes, probability = self._labels(states, lengths)
        decisions = [actions, codes, self._tags([(first, last) for first, last, _ in vectors])]
        return Pending([*decisions, probability] if probabilities else decisions)

    def _tags(self, vectors: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        """The tags of all words [B, N], by their place in `tags`, from each member's h(1) and h of the last layer."""
        batch, width = vectors[0][0].shape[:2]
        total = torch.zeros(batch, width, len(self.tags), device=self.device)
        for member, numbers, (first, last) in zip(self.members, self.tag_numbers, vectors, strict=True):
            total.index_add_(2, numbers, member.network.tag_scores(first, last).softmax(-1))
        return total.argmax(-1)

    def _labels(self, states: Sequence[Tensor], lengths: Tensor) -> tuple[Tensor, Tensor]:
        """For every focus the number of a chain and its probability, [B, T] each.

        Of the chains that some network holds for the best one, it is that with the highest mean probability.
        """
        steps = torch.arange(states[0].shape[1], device=self.device)
        final = steps == (2 * lengths - 2)[:, None]
        proposals = [
            self._numbers(member, label_codes(member.network.scorers, state, final)[0])
            for member, state in zip(self.members, states, strict=True)
        ]
        means = [
            torch.stack(
                [
                    chain_probabilities(member.network.scorers, state, final, spellings.table(self.numbers)[proposal])
                    for member, spellings, state in zip(self.members, self.spellings, states, strict=True)
                ]
            ).mean(0)
            for proposal in proposals
        ]
        probability, best = torch.stack(means).max(0)
        return torch.stack(proposals).gather(0, best[None]).squeeze(0), probability

    def _numbers(self, member: Decoder, codes: Tensor) -> Tensor:
        """A network's codes of chains [B, T] as numbers of chains."""
        distinct, place = torch.unique(codes, return_inverse=True)
        with self.lock:
            numbers = [self.numbers.number(member.chains[code]) for code in distinct.tolist()]
        return torch.tensor(numbers, device=self.device)[place]


def chain_probabilities(scorers: Scorers, states: Tensor, final: Tensor, spelled: Tensor) -> Tensor:
    """The probability of one chain for every focus [B, T, H]: [B, T].

    `spelled` [B, T, depth] has its labels as the labeller gives them, from the lowest up, then 0 for the end and -1
    for nothing more; -1 at the first place is a chain that the labeller does not know.
    """
    scores = scorers.label_output(states)  # [B, T, labels]
    scores[..., NO_LABEL] = scores[..., NO_LABEL].masked_fill(final, -torch.inf)
    first = spelled[..., 0]
    found = scores.log_softmax(-1).gather(-1, first.clamp(min=0)[..., None]).squeeze(-1)
    if scorers.above_output is not None and scorers.above_given is not None:
        above = scorers.above_output(states)
        for level in range(1, spelled.shape[2]):
            given, label = spelled[..., level - 1], spelled[..., level]
            step = (above + scorers.above_given(given.clamp(min=0))).log_softmax(-1)
            step = step.gather(-1, label.clamp(min=0)[..., None]).squeeze(-1)
            found = found + torch.where(label >= 0, step, 0.0)
    return torch.where(first >= 0, found.exp(), 0.0)


class ChainNumbers(Chains):
    """Chains of labels, from the top down, by numbers that are given on first use; 0 is no label."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self[0] = ()
        self.known: dict[Chain, int] = {(): 0}

    def number(self, chain: Chain) -> int:
        """The number of a chain; one thread at a time."""
        found = self.known.get(chain)
        if found is None:
            found = self.known[chain] = len(self)
            self[found] = chain
        return found


class _Spellings:
    """How a network spells chains: its own label ids, see `chain_probabilities`."""

    def __init__(self, decoder: Decoder) -> None:
        self.device = decoder.device
        self.spells = decoder.network.config.chains
        self.ids = {label: k for k, label in enumerate(decoder.vocabulary.labels, 1)}
        self.longest = longest_chain(len(self.ids) + 1)
        self.kept = torch.empty(0, 1, dtype=torch.long, device=self.device)

    def table(self, chains: ChainNumbers) -> Tensor:
        """The labels of all chains so far: [chains, depth]."""
        count, kept = len(chains), self.kept
        if len(kept) < count:  # seldom: there are not many chains
            rows = [self._spell(chains[k]) for k in range(count)]
            depth = max(map(len, rows))
            padded = [[*row, *[_NOTHING] * (depth - len(row))] for row in rows]
            # Another thread may keep one of fewer chains after this; what is returned has all of ours.
            self.kept = kept = torch.tensor(padded, device=self.device)
        return kept

    def _spell(self, chain: Chain) -> list[int]:
        """Labels from the lowest up and then 0, unless the labeller stops there anyway; nothing if it does not know."""
        if not chain:
            return [0]
        parts = [(label,) for label in reversed(chain)] if self.spells else [chain]
        if len(parts) > self.longest or any(part not in self.ids for part in parts):
            return [_NOTHING]
        return [*(self.ids[part] for part in parts), *([0] if self.spells and len(parts) < self.longest else [])]
