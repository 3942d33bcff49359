"""A network in training: batches, exploration, losses and updates, the same for every recipe."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from discoparse.neural.batching import by_budget
from discoparse.neural.network import Dropout, Network, NetworkConfig
from discoparse.neural.pretrained import PretrainedConfig
from discoparse.neural.structure import explore
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.training.decision_store import DecisionStore, Rows, split_decisions
from discoparse.training.objective import (
    Decisions,
    decisions_of,
    factored_inputs,
    label_loss,
    plain_inputs,
    score_pairs,
    structural_loss,
)
from discoparse.training.optimisation import Optimisation
from discoparse.training.recipe import Recipe
from discoparse.training.starting_encoder import StartingEncoder, rate_of
from discoparse.training.starting_point import StartingPoint, rate_of_start
from discoparse.training.unknown import hide_pieces, replace_characters, replace_rare_words
from discoparse.tree import Tree

_BATCHES = 100  # batches in an epoch, about, where the recipe's bounds on their size allow it
_COUNTED = 10  # epochs whose batches are counted beforehand: their number differs a little
_EXPLORATION_TOKENS = 4096  # tokens in a batch that is explored before an epoch


@contextmanager
def matmul_precision(name: str) -> Iterator[None]:
    """Compute matrix products of single-precision numbers in this precision (see PyTorch) while this is entered."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def make_network(recipe: Recipe, vocabulary: Vocabulary, pretrained: PretrainedConfig | None = None) -> Network:
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
        pretrained=pretrained,
    )
    dropout = Dropout(
        tagger=recipe.dropout_tagger,
        scorer=recipe.dropout_scorer,
        embedding=recipe.dropout_embedding,
        hidden=recipe.dropout_hidden,
        scorer_hidden=recipe.dropout_scorer_hidden,
        pretrained=recipe.dropout_pretrained,
    )
    return Network(config, dropout)


class Trainer:
    """A network in training on one corpus."""

    def __init__(
        self,
        recipe: Recipe,
        trees: Sequence[Tree],
        device: torch.device,
        seed: int,
        encoder: StartingEncoder | None = None,
        start: StartingPoint | None = None,
    ) -> None:
        torch.manual_seed(seed)
        self.recipe = recipe
        self.seed = seed
        self.device = device
        self.vocabulary = Vocabulary.from_trees(trees, recipe.chains, recipe.min_frequency, recipe.unk_share)
        self.mask: int | None = None  # the piece that stands for hidden ones
        if start is not None:
            self.vocabulary = start.extend(self.vocabulary)
        if encoder is not None:
            self.vocabulary = dataclasses.replace(self.vocabulary, pieces=encoder.pieces)
            self.mask = encoder.mask
        chains = ChainTable(self.vocabulary, recipe.chains)
        self.corpus = Corpus(trees, self.vocabulary, chains, device, recipe.encoder_pooling)
        self.chains = chains.spelled(device)
        self.explored: dict[int, Rows] = {}  # sentences that have sampled derivations in this epoch
        self.network = make_network(recipe, self.vocabulary, None if encoder is None else encoder.config)
        if encoder is not None:
            encoder.prepare(self.network, recipe, device)
        if start is not None:
            start.prepare(self.network, recipe)
        self.network = self.network.to(device).train()
        tokens = int(self.corpus.sizes.sum())
        self.batch_tokens = max(recipe.batch_tokens, min(recipe.most_batch_tokens, tokens // _BATCHES))
        pretrained = self.network.encoder.pretrained
        graphs = recipe.encoder_graphs and not recipe.encoder_checkpointing and device.type == "cuda"
        if pretrained is not None and graphs:
            pretrained.use_graphs(self.batch_tokens)
        self.batches = self._batches(0)
        counts = [len(self.batches), *(len(self._batches(epoch)) for epoch in range(1, _COUNTED))]
        self.batches_an_epoch = sum(counts) / len(counts)  # on average
        self.updates_a_batch = 2 if recipe.alternate else 1
        updates = self.batches_an_epoch * self.updates_a_batch  # in an epoch
        self.epochs = max(recipe.epochs, math.ceil(recipe.updates / updates))
        self.optimisation = Optimisation(
            self.network,
            recipe,
            round(self.epochs * updates),
            lambda name: rate_of(name, self.network, recipe) * (rate_of_start(name, recipe) if start else 1.0),
        )
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done

    def _batches(self, epoch: int) -> list[np.ndarray]:
        """The sentences of each batch of an epoch: similar lengths together, in random order."""
        random = np.random.default_rng([self.seed, epoch])
        lengths = self.corpus.sizes
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
            with self._precision():
                self._explored(self._explore_sentences(chosen))

    def _precision(self) -> AbstractContextManager[None]:
        """TF32 on a GPU, as in the kernel of the recurrence."""
        return matmul_precision("high") if self.device.type == "cuda" else nullcontext()

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
        self.decisions = self.unexplored.replacing(rows) if rows else self.unexplored

    @cached_property
    def unexplored(self) -> DecisionStore:
        """A derivation of the gold tree for every sentence (see `ORACLES`): the one that `o_even` leads to for `even`,
        else the static one, which follows the complete set's preferences."""
        return DecisionStore.of_oracle(self.corpus, complete=self.recipe.oracle != "even")

    @cached_property
    def decisions(self) -> DecisionStore:
        """What to learn from each sentence in this epoch, unless its batch is explored when it is due."""
        return self.unexplored

    @torch.no_grad()
    def _explore_sentences(self, chosen: np.ndarray) -> dict[int, Rows]:
        """Parse sentences by sampling from the current parameters, and keep the oracle's answer at every step."""
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
        """Derivations of a batch sampled from its token vectors [B, N, D], with the oracle's answer at each step.

        With `stay` only optimal actions are sampled, so all derivations build the gold tree.
        """
        lengths = self.corpus.device_lengths[index]
        gold = self.corpus.gold_batch(chosen, index, tokens.shape[1])
        self.network.scorers.eval()  # dropout in the scorers is for training on the decisions, not for sampling them
        trace = explore(
            self.network.scorers,
            tokens.detach(),
            lengths,
            gold,
            complete=self.recipe.oracle == "complete",
            single=not self.recipe.optimal_set,
            stay=stay,
        )
        self.network.scorers.train()
        return decisions_of(trace, self.corpus.lengths[chosen])

    def steps(self) -> Iterator[dict[str, Tensor]]:
        """Train on the rest of the epoch, one batch at a time; yields the losses, summed over its tokens."""
        while self.position < len(self.batches):
            chosen = self.batches[self.position]
            with self._precision():
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
        """Token vectors of a batch, with some words and characters replaced by unknown ones."""
        width = int(self.corpus.lengths[chosen].max())
        inputs = self.corpus.inputs(chosen, index, width)
        replace_rare_words(inputs, self.vocabulary.rare, self.recipe.unk_probability)
        if self.recipe.unk_characters:
            replace_characters(inputs, self.recipe.unk_characters)
        if self.vocabulary.pieces is not None and self.mask is not None and self.recipe.hidden_pieces:
            share = self.recipe.hidden_pieces * (1 - self.optimisation.progress())
            hide_pieces(inputs, self.vocabulary.pieces, self.mask, share)
        first, last = self.network.encoder(inputs)
        return first, last

    def _tagging_loss(self, first: Tensor, index: Tensor) -> Tensor:
        """Negative log-likelihood of the gold tags, summed over tokens."""
        scores = self.network.tag_scores(first)
        gold = self.corpus.tags.padded(index, first.shape[1], fill=-1)
        return F.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")

    def _parsing_losses(self, last: Tensor, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Negative log-likelihoods of the oracle's structural and labelling actions, summed."""
        recipe, scorers = self.recipe, self.network.scorers
        due = self._explores() and recipe.explore_whole_batches
        if due and torch.rand(()).item() < recipe.exploration:
            decisions = self._derive(chosen, index, last, stay=False)
        elif recipe.optimal_set and recipe.oracle in ("even", "complete"):
            decisions = self._derive(chosen, index, last, stay=True)
        else:
            decisions = self.decisions.batch(chosen, index, last.shape[1])
        rows = scorers.with_nil(last)
        first = (plain_inputs if recipe.dropout_scorer else factored_inputs)(scorers, rows, decisions)
        structure = structural_loss(score_pairs(scorers, first, decisions), decisions, recipe.gap_weight)
        labels = label_loss(scorers, scorers.label_hidden_states(first.labels), decisions.label, self.chains)
        return structure, labels
