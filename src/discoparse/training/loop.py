"""A network in training: batches, exploration, losses and updates, the same for every recipe."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from discoparse.neural import kernels
from discoparse.neural.batching import by_budget
from discoparse.neural.config import NetworkConfig, PretrainedConfig
from discoparse.neural.network import Dropout, Network
from discoparse.neural.structure import explore
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.training.decision_store import DecisionStore, Rows, split_decisions
from discoparse.training.objective import (
    Decisions,
    decisions_of,
    parsing_losses,
    tagging_loss,
)
from discoparse.training.optimisation import Optimisation
from discoparse.training.recipe import Recipe
from discoparse.training.sentence_steps import SentenceSteps, has_sentence_steps
from discoparse.training.silver import SilverTurns, silver_vocabulary
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
        tag_both=recipe.tag_both,
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
        silver: Sequence[Tree] = (),
    ) -> None:
        torch.manual_seed(seed)
        self.recipe = recipe
        self.seed = seed
        self.device = device
        self.mask: int | None = None  # the piece that stands for hidden ones
        self.vocabulary = silver_vocabulary(trees, silver, recipe)
        self.gold = len(trees)  # sentences; silver ones come after them
        self.silver = SilverTurns(self.gold, len(silver), recipe, seed)
        if start is not None:
            self.vocabulary = start.extend(self.vocabulary)
        if encoder is not None:
            self.vocabulary = dataclasses.replace(self.vocabulary, pieces=encoder.pieces)
            self.mask = encoder.mask
        chains = ChainTable(self.vocabulary, recipe.chains)
        self.corpus = Corpus([*trees, *silver], self.vocabulary, chains, device, recipe.encoder_pooling)
        self.chains = chains.spelled(device)
        self.explored: dict[int, Rows] = {}  # sentences that have sampled derivations in this epoch
        self.network = make_network(recipe, self.vocabulary, None if encoder is None else encoder.config)
        if encoder is not None:
            encoder.prepare(self.network, recipe, device)
        if start is not None:
            start.prepare(self.network, recipe)
        self.network = self.network.to(device).train()
        tokens = int(self.corpus.sizes[: self.gold].sum())
        self.batch_tokens = max(recipe.batch_tokens, min(recipe.most_batch_tokens, tokens // _BATCHES))
        pretrained = self.network.encoder.pretrained
        graphs = recipe.encoder_graphs and not recipe.encoder_checkpointing and device.type == "cuda"
        if pretrained is not None and graphs:
            pretrained.use_graphs(self.batch_tokens)
        self.batches = self._batches(0)
        self.batches_an_epoch = self._count_batches()
        self.updates_a_batch = 2 if recipe.alternate else 1
        updates = self.batches_an_epoch * self.updates_a_batch  # in an epoch
        self.epochs = max(recipe.epochs, math.ceil(recipe.updates / updates))
        self.optimisation = Optimisation(
            self.network,
            recipe,
            round(self.epochs * updates),
            lambda name: rate_of(name, self.network, recipe) * (rate_of_start(name, recipe) if start else 1.0),
        )
        self.sentence_steps: SentenceSteps | None = None
        if recipe.sentence_graphs and self._fits_sentence_graphs():
            self.use_sentence_steps()
        self.sums: dict[str, Tensor] = {}  # losses, over the epoch so far
        self.epoch = 0
        self.with_silver = True  # whether this epoch has silver trees
        self.position = 0  # batches of this epoch that are done

    def _fits_sentence_graphs(self) -> bool:
        """Whether the updates of a sentence can be CUDA graphs, and need nothing but the sentence."""
        own = self.network.encoder.pretrained is None and not self.silver.share
        return own and has_sentence_steps(self.recipe) and self.device.type == "cuda" and kernels.available()

    def use_sentence_steps(self) -> None:
        """From now on update by `SentenceSteps`, which computes the same; for recipes that it is made for."""
        self.sentence_steps = SentenceSteps(
            self.network, self.optimisation, self.corpus, self.chains, self.vocabulary.rare, self.recipe
        )

    def set_sums(self, sums: Mapping[str, float]) -> None:
        """Go on to sum up losses from these numbers."""
        if self.sentence_steps is not None:
            self.sentence_steps.set_sums(sums)
            self.sums = self.sentence_steps.sums
        else:
            self.sums = {name: torch.tensor(x, dtype=torch.float64, device=self.device) for name, x in sums.items()}

    def _count_batches(self) -> float:
        """Batches in an epoch, on average over the training; without silver trees an epoch has fewer."""

        def mean(silver: bool) -> float:
            return sum(len(self._batches(epoch, silver)) for epoch in range(_COUNTED)) / _COUNTED

        until = self.recipe.silver_until if self.silver.share else 1.0
        if until == 1:
            return mean(silver=True)
        # In updates, epochs with silver trees make up `until` of the training, those without the rest.
        return 1 / (until / mean(silver=True) + (1 - until) / mean(silver=False))

    def _batches(self, epoch: int, silver: bool = True) -> list[np.ndarray]:
        """The sentences of each batch of an epoch: similar lengths together, in random order."""
        random = np.random.default_rng([self.seed, epoch])
        batches = self._cut(np.arange(self.gold), random)
        if silver and self.silver.share:
            batches += self._cut(self.silver(epoch), random)
        random.shuffle(batches)
        return batches

    def _cut(self, sentences: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
        """Batches of sentences of about the same length."""
        lengths = self.corpus.sizes[sentences]
        blurred = lengths * random.uniform(0.9, 1.1, len(lengths)) + random.uniform(0, 1, len(lengths))
        return [sentences[batch] for batch in by_budget(np.argsort(blurred), lengths, self.batch_tokens)]

    def start_epoch(self) -> None:
        """Shuffle, and explore before the epoch where the recipe says so."""
        recipe = self.recipe
        self.with_silver = self.optimisation.progress() < recipe.silver_until
        self.batches = self._batches(self.epoch, self.with_silver)
        self.position = 0
        self.set_sums({})
        if self._explores() and not recipe.explore_whole_batches:
            random = np.random.default_rng([self.seed, self.epoch, 1])
            sentences = np.sort(np.concatenate(self.batches))
            chosen = sentences[random.random(len(sentences)) < recipe.exploration]
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

    def continue_epoch(self, position: int, explored: dict[int, Rows], with_silver: bool = True) -> None:
        """Go on with an epoch that was stopped after `position` batches, with what was explored before it."""
        self.with_silver = with_silver
        self.batches = self._batches(self.epoch, with_silver)
        self.position = position
        self._explored(explored)

    def _explored(self, rows: dict[int, Rows]) -> None:
        self.explored = rows
        if self.sentence_steps is None:
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
        if self.sentence_steps is not None:
            self.sentence_steps.start(self.unexplored, self.explored, len(self.batches) - self.position)
        while self.position < len(self.batches):
            chosen = self.batches[self.position]
            with self._precision():
                if self.sentence_steps is not None:
                    losses = self.sentence_steps(int(chosen[0]))
                else:
                    losses = self._step(chosen)
                    self.sums = {name: self.sums.get(name, 0.0) + loss.double() for name, loss in losses.items()}
            self.position += 1
            yield losses
        self.epoch += 1

    def _step(self, chosen: np.ndarray) -> dict[str, Tensor]:
        recipe = self.recipe
        index = torch.from_numpy(chosen).to(self.device)
        tokens = 1 if recipe.alternate else int(self.corpus.lengths[chosen].sum())
        if recipe.alternate:  # Section 3.5: a step for the tagging objective, then one for the parsing objective
            first, last = self._encode(chosen, index, depth=self.network.tagger_depth)
            tagging = self._tagging_loss(first, last, index)
            self.optimisation.update(tagging * self._weight(chosen))
        first, last = self._encode(chosen, index)
        structure, labels = self._parsing_losses(last, chosen, index)
        loss = (structure + labels) / tokens
        if not recipe.alternate:
            tagging = self._tagging_loss(first, last, index)
            loss = loss + recipe.tagging_weight * tagging / tokens
        self.optimisation.update(loss * self._weight(chosen))
        return {"structure": structure.detach(), "label": labels.detach(), "tag": tagging.detach()}

    def _weight(self, chosen: np.ndarray) -> float:
        """Of a batch's losses: all of its trees are gold, or all are silver."""
        return self.recipe.silver_weight if chosen[0] >= self.gold else 1.0

    def _encode(self, chosen: np.ndarray, index: Tensor, depth: int | None = None) -> tuple[Tensor, Tensor]:
        """Token vectors of a batch, with some words and characters replaced by unknown ones."""
        width = int(self.corpus.lengths[chosen].max())
        inputs = self.corpus.inputs(chosen, index, width)
        replace_rare_words(inputs, self.vocabulary.rare, self.recipe.unk_probability)
        if self.recipe.unk_characters:
            replace_characters(inputs, self.recipe.unk_characters)
        if self.vocabulary.pieces is not None and self.mask is not None and self.recipe.hidden_pieces:
            share = self.recipe.hidden_pieces * (1 - self.optimisation.progress())
            hide_pieces(inputs, self.vocabulary.pieces, self.mask, share)
        first, last = self.network.encoder(inputs, depth)
        return first, last

    def _tagging_loss(self, first: Tensor, last: Tensor, index: Tensor) -> Tensor:
        """Negative log-likelihood of the gold tags, summed over tokens."""
        tags = self.corpus.tags.padded(index, first.shape[1], fill=-1)
        return tagging_loss(self.network.tag_scores(first, last), tags)

    def _parsing_losses(self, last: Tensor, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Negative log-likelihoods of the oracle's structural and labelling actions, summed."""
        recipe = self.recipe
        due = self._explores() and recipe.explore_whole_batches
        if due and torch.rand(()).item() < recipe.exploration:
            decisions = self._derive(chosen, index, last, stay=False)
        elif recipe.optimal_set and recipe.oracle in ("even", "complete"):
            decisions = self._derive(chosen, index, last, stay=True)
        else:
            decisions = self.decisions.batch(chosen, index, last.shape[1])
        return parsing_losses(self.network.scorers, last, decisions, self.chains, recipe.gap_weight)
