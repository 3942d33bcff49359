"""The training loop: batches, exploration, updates and evaluation, the same for every recipe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from discoparse.neural.batching import by_budget
from discoparse.neural.network import Dropout, Network, NetworkConfig
from discoparse.neural.structure import explore
from discoparse.neural.vocabulary import UNKNOWN, Vocabulary
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.training.decision_store import DecisionStore, Rows, split_decisions
from discoparse.training.objective import (
    Decisions,
    decisions_of,
    factored_inputs,
    label_loss,
    plain_inputs,
    structural_loss,
)
from discoparse.training.optimisation import Optimisation
from discoparse.training.recipe import Recipe
from discoparse.tree import Tree

_BATCHES = 100  # about so many batches make an epoch, unless the recipe's bounds on their size say otherwise
_COUNTED = 10  # epochs whose batches are counted beforehand: they differ a little in number
_EXPLORATION_TOKENS = 4096  # tokens of a batch that is explored before an epoch


def make_network(recipe: Recipe, vocabulary: Vocabulary) -> Network:
    """A fresh network of the recipe's sizes."""
    config = NetworkConfig(
        words=len(vocabulary.words) + 1,
        characters=len(vocabulary.characters) + 1,
        tags=len(vocabulary.tags),
        labels=len(vocabulary.labels) + 1,
        word_size=recipe.word_size,
        character_size=recipe.character_size,
        character_hidden=recipe.character_hidden,
        hidden=recipe.hidden,
        layers=recipe.layers,
        scorer_hidden=recipe.scorer_hidden,
        chains=recipe.chains,
    )
    dropout = Dropout(
        tagger=recipe.dropout_tagger,
        scorer=recipe.dropout_scorer,
        embedding=recipe.dropout_embedding,
        hidden=recipe.dropout_hidden,
        scorer_hidden=recipe.dropout_scorer_hidden,
    )
    return Network(config, dropout)


class Trainer:
    """A network in training on one corpus."""

    def __init__(self, recipe: Recipe, trees: Sequence[Tree], device: torch.device, seed: int) -> None:
        torch.manual_seed(seed)
        if device.type == "cuda":
            torch.set_float32_matmul_precision("high")  # TF32, as in the recurrence
        self.recipe = recipe
        self.seed = seed
        self.device = device
        self.vocabulary = Vocabulary.from_trees(trees, recipe.chains, recipe.min_frequency, recipe.unk_share)
        chains = ChainTable(self.vocabulary, recipe.chains)
        self.corpus = Corpus(trees, self.vocabulary, chains, device)
        self.chains = chains.spelled(device)
        self.complete = recipe.oracle == "complete"
        self.explored: dict[int, Rows] = {}  # sentences that have other decisions in this epoch
        self.network = make_network(recipe, self.vocabulary).to(device).train()
        tokens = int(self.corpus.lengths.sum())
        self.batch_tokens = max(recipe.batch_tokens, min(recipe.most_batch_tokens, tokens // _BATCHES))
        self.batches = self._batches(0)
        counts = [len(self.batches), *(len(self._batches(epoch)) for epoch in range(1, _COUNTED))]
        self.batches_an_epoch = sum(counts) / len(counts)  # on average
        self.updates_a_batch = 2 if recipe.alternate else 1
        updates = self.batches_an_epoch * self.updates_a_batch  # in an epoch
        self.epochs = max(recipe.epochs, math.ceil(recipe.updates / updates))
        self.optimisation = Optimisation(self.network, recipe, round(self.epochs * updates))
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done

    def _batches(self, epoch: int) -> list[np.ndarray]:
        """The sentences of each batch of an epoch: like lengths together, in random order."""
        random = np.random.default_rng([self.seed, epoch])
        lengths = self.corpus.lengths
        blurred = lengths * random.uniform(0.9, 1.1, len(lengths)) + random.uniform(0, 1, len(lengths))
        batches = by_budget(np.argsort(blurred), lengths, self.batch_tokens)
        random.shuffle(batches)
        return batches

    def start_epoch(self) -> None:
        """Shuffle, and explore before the epoch where the recipe says so."""
        self.batches = self._batches(self.epoch)
        self.position = 0
        recipe = self.recipe
        if self._explores() and not recipe.explore_whole_batches:
            random = np.random.default_rng([self.seed, self.epoch, 1])
            chosen = np.flatnonzero(random.random(len(self.corpus)) < recipe.exploration)
            self._explored(self._explore_sentences(chosen))

    def _explores(self) -> bool:
        """Whether exploration has begun."""
        recipe = self.recipe
        begun = self.optimisation.progress() >= recipe.exploration_start
        return recipe.oracle != "static" and recipe.exploration > 0 and begun

    def continue_epoch(self, position: int, explored: dict[int, Rows]) -> None:
        """Go on with an epoch that was stopped after `position` batches, with what was explored before it."""
        self.batches = self._batches(self.epoch)
        self.position = position
        self._explored(explored)

    def _explored(self, rows: dict[int, Rows]) -> None:
        self.explored = rows
        self.decisions = self.static.replacing(rows) if rows else self.static

    @cached_property
    def static(self) -> DecisionStore:
        """The oracle's own derivations. The static one of Section 2.2 follows the complete set's preferences."""
        return DecisionStore.of_oracle(self.corpus)

    @cached_property
    def decisions(self) -> DecisionStore:
        """What sentences are trained on that are not explored when they are due."""
        return self.static

    @torch.no_grad()
    def _explore_sentences(self, chosen: np.ndarray) -> dict[int, Rows]:
        """Parse sentences by sampling from the current parameters, and keep what the oracle says of every step."""
        rows: dict[int, Rows] = {}
        self.network.eval()
        order = chosen[np.argsort(self.corpus.lengths[chosen], kind="stable")]
        for batch in by_budget(order, self.corpus.lengths, _EXPLORATION_TOKENS):
            index = torch.from_numpy(batch).to(self.device)
            width = int(self.corpus.lengths[batch].max())
            _, last = self.network.encoder(self.corpus.inputs(batch, index, width))
            decisions = self._derive(batch, index, last, stay=False)
            rows.update(split_decisions(decisions, batch, self.corpus.lengths[batch], width))
        self.network.train()
        return rows

    @torch.no_grad()
    def _derive(self, chosen: np.ndarray, index: Tensor, tokens: Tensor, stay: bool) -> Decisions:
        """Derivations of a batch sampled from its token vectors [B, N, D], with the oracle's word on each step.

        With `stay` only optimal actions are taken, so the tree is gold; which of its derivations, the parser decides.
        """
        lengths = self.corpus.device_lengths[index]
        gold = self.corpus.gold_batch(chosen, index, tokens.shape[1])
        self.network.scorers.eval()  # dropout in the scorers is for the decisions learnt from
        trace = explore(
            self.network.scorers,
            tokens.detach(),
            lengths,
            gold,
            complete=self.complete,
            single=not self.recipe.optimal_set,
            stay=stay,
        )
        self.network.scorers.train()
        return decisions_of(trace, self.corpus.lengths[chosen])

    def steps(self) -> Iterator[dict[str, Tensor]]:
        """Train on the rest of the epoch, a batch at a time; yields the losses, summed over its tokens."""
        while self.position < len(self.batches):
            chosen = self.batches[self.position]
            losses = self._step(chosen)
            self.position += 1
            yield losses
        self.epoch += 1

    def _step(self, chosen: np.ndarray) -> dict[str, Tensor]:
        recipe = self.recipe
        index = torch.from_numpy(chosen).to(self.device)
        tokens = 1 if recipe.alternate else int(self.corpus.lengths[chosen].sum())
        if recipe.alternate:  # Section 3.5: a step for the tagging objective, then one for the parsing objective
            first, _ = self._encode(chosen, index)
            tagging = self._tagging_loss(first, index)
            self.optimisation.update(tagging)
        first, last = self._encode(chosen, index)
        structure, labels = self._parsing_losses(last, chosen, index)
        loss = (structure + labels) / tokens
        if not recipe.alternate:
            tagging = self._tagging_loss(first, index)
            loss = loss + recipe.tagging_weight * tagging / tokens
        self.optimisation.update(loss)
        return {"structure": structure.detach(), "label": labels.detach(), "tag": tagging.detach()}

    def _encode(self, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Token vectors of a batch, some rare words replaced by UNK (Appendix B)."""
        width = int(self.corpus.lengths[chosen].max())
        inputs = self.corpus.inputs(chosen, index, width)
        rare = inputs.words >= self.vocabulary.rare
        dropped = torch.rand(inputs.words.shape, device=self.device) < self.recipe.unk_probability
        inputs.words = inputs.words.masked_fill(rare & dropped, UNKNOWN)
        first, last = self.network.encoder(inputs)
        return first, last

    def _tagging_loss(self, first: Tensor, index: Tensor) -> Tensor:
        """Minus the log-probability of the gold tags, summed over tokens."""
        scores = self.network.tag_scores(first)
        gold = self.corpus.tags.padded(index, first.shape[1], fill=-1)
        return F.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")

    def _parsing_losses(self, last: Tensor, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Minus the log-probabilities of the oracle's structural and labelling actions, summed."""
        recipe, scorers = self.recipe, self.network.scorers
        due = self._explores() and recipe.explore_whole_batches
        if due and torch.rand(()).item() < recipe.exploration:
            decisions = self._derive(chosen, index, last, stay=False)
        elif self.complete and recipe.optimal_set:
            decisions = self._derive(chosen, index, last, stay=True)
        else:
            decisions = self.decisions.batch(chosen, index, last.shape[1])
        rows = scorers.with_nil(last)
        inputs = plain_inputs if recipe.dropout_scorer else factored_inputs
        pairs, foci = inputs(scorers, rows, decisions)
        structure = structural_loss(scorers.pair_scores(pairs), decisions)
        labels = label_loss(scorers, scorers.label_hidden_states(foci), decisions.label, self.chains)
        return structure, labels
