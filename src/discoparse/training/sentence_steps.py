"""Training on one sentence at a time without waiting for the host: both updates of a sentence as one CUDA graph.

The paper's recipe makes two small updates for every sentence, one for its tags and one for its actions. Launching their
hundreds of kernels one by one takes far longer than running them. Here sentences are padded to few shapes (see
`sentence_rows`), and the updates of a shape are recorded once and replayed for every sentence that has it. What is
computed is the same, by the same functions; `Trainer` does it for all other recipes and on CPUs.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from discoparse.neural.graphs import captured, or_warn
from discoparse.neural.network import Inputs, Network
from discoparse.training.corpus import Corpus
from discoparse.training.decision_store import DecisionStore, Rows
from discoparse.training.flat_update import FlatUpdate
from discoparse.training.objective import (
    IGNORED,
    Choices,
    first_layers,
    label_loss,
    score_pairs,
    scored_at_once,
    single_loss,
    tagging_loss,
)
from discoparse.training.optimisation import Optimisation
from discoparse.training.recipe import Recipe
from discoparse.training.sentence_rows import RowPacker, SentenceRow, Shape
from discoparse.training.unknown import replace_rare_words

LOSSES = ("structure", "label", "tag")
_MOST_GRAPHS = 400  # shapes after that are trained on without one


def has_sentence_steps(recipe: Recipe) -> bool:
    """Whether every batch is one sentence, and its two updates are all that it takes."""
    one_sentence = recipe.batch_tokens == recipe.most_batch_tokens == 1
    explores_beforehand = not recipe.explore_whole_batches and not recipe.optimal_set
    plain = not recipe.unk_characters and recipe.gap_weight == 1
    return one_sentence and recipe.optimizer == "asgd" and recipe.alternate and explores_beforehand and plain


def _only_for_parsing(name: str) -> bool:
    """Whether a parameter has no part in tagging from h(1), as in the paper."""
    return name.startswith("scorers.") or (
        name.startswith("encoder.layers.") and not name.startswith("encoder.layers.0.")
    )


class _Slot:
    """The memory that sentences of one shape are put into, and the graph of their updates."""

    def __init__(self, shape: Shape, device: torch.device) -> None:
        self.shape = shape
        self.memory = torch.zeros(sum(shape.sizes), dtype=torch.long, device=device)
        self.row = SentenceRow.of(self.memory, shape)
        self.forms = torch.arange(shape.tokens, device=device)[None]
        self.used = False  # a shape is recorded when it comes up again: then all kernels have been compiled
        self.graph: torch.cuda.CUDAGraph | None = None


class SentenceSteps:
    """Updates a network by one sentence after the other."""

    def __init__(
        self, network: Network, optimisation: Optimisation, corpus: Corpus, chains: Tensor, rare: int, recipe: Recipe
    ) -> None:
        self.network = network
        self.optimisation = optimisation
        self.recipe = recipe
        self.rare = rare  # the first id of a rare word
        ignored = torch.full_like(chains[:1], -1)  # as `label_loss` wants it
        ignored[0, 0] = IGNORED
        self.chains = torch.cat([chains, ignored])
        self.packer = RowPacker(corpus, no_label=len(chains))
        self.update = FlatUpdate(optimisation, 2 * len(corpus), comes_last=_only_for_parsing)
        self.unexplored: dict[int, tuple[Shape, Tensor]] = {}
        self.rows: dict[int, tuple[Shape, Tensor]] = {}
        self.slots: dict[Shape, _Slot] = {}
        device = self.update.values.device
        self.memory = torch.zeros(len(LOSSES), device=device)
        self.losses = dict(zip(LOSSES, self.memory, strict=True))  # of the last sentence
        self.summed = torch.zeros(len(LOSSES), dtype=torch.float64, device=device)
        self.sums = dict(zip(LOSSES, self.summed, strict=True))  # since `set_sums`
        self.recorded = 0  # graphs
        self.use_graphs(device.type == "cuda")
        if self.usable:  # graphs share memory, as in `discoparse.neural.graphs`
            self.pool = torch.cuda.graph_pool_handle()
            self.stream = torch.cuda.Stream()

    def use_graphs(self, usable: bool) -> None:
        """Whether to record graphs from now on."""
        self.usable = usable
        self.network.encoder.expect_few(usable)

    def start(self, decisions: DecisionStore, explored: Mapping[int, Rows], sentences: int) -> None:
        """Prepare for the next `sentences`: those that were not `explored` learn from `decisions`."""
        if not self.unexplored:
            self.unexplored = self.packer.upload(enumerate(decisions.rows))
        self.rows = self.unexplored | self.packer.upload(explored.items())
        self.update.plan(2 * sentences)

    def set_sums(self, sums: Mapping[str, float]) -> None:
        """Go on to sum up losses from these numbers."""
        self.summed.copy_(torch.tensor([sums.get(name, 0.0) for name in LOSSES], dtype=torch.float64))

    def __call__(self, sentence: int) -> dict[str, Tensor]:
        """Both updates; returns the losses, which the next sentence overwrites."""
        shape, row = self.rows[sentence]
        slot = self.slots.get(shape)
        if slot is None:
            slot = self.slots[shape] = _Slot(shape, row.device)
        slot.memory.copy_(row)
        if slot.graph is None and slot.used and self._recordable(shape):
            self._record(slot)
        if slot.graph is not None:
            slot.graph.replay()
        else:
            self._train(slot)
            slot.used = True
        self.optimisation.step += 2
        return self.losses

    def _recordable(self, shape: Shape) -> bool:
        """Whether there is room for another graph, and the shape's pairs are few enough to be scored all at once."""
        most = scored_at_once(self.network.scorers.pair_input.in_features)
        return self.usable and self.recorded < _MOST_GRAPHS and shape.pairs <= most

    def _record(self, slot: _Slot) -> None:
        """Record the graph of a shape, without running it."""

        def record() -> torch.cuda.CUDAGraph:
            graph = torch.cuda.CUDAGraph()
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                tagging, (structure, labels) = self._tagging_loss(slot), self._parsing_losses(slot)
                for loss in (tagging, structure + labels):  # libraries set themselves up on this stream
                    torch.autograd.grad(loss, self.update.parameters, allow_unused=True)
                del tagging, structure, labels, loss
                torch.cuda.synchronize()
                with captured(graph, self.pool):
                    self._train(slot)
            torch.cuda.current_stream().wait_stream(self.stream)
            return graph

        slot.graph = or_warn(record, slot.memory.device)
        if slot.graph is None:
            self.use_graphs(False)
        else:
            self.recorded += 1

    def _train(self, slot: _Slot) -> None:
        """Section 3.5: an update for the tagging objective, then one for the parsing objective."""
        tagging = self._tagging_loss(slot)
        self.update(tagging, averaged=0)
        structure, labels = self._parsing_losses(slot)
        self.update(structure + labels, averaged=2)
        torch.stack([structure.detach(), labels.detach(), tagging.detach()], out=self.memory)
        self.summed += self.memory

    def _encode(self, slot: _Slot, depth: int | None = None) -> tuple[Tensor, Tensor]:
        """Token vectors [1, N, D], with some rare words replaced by the unknown one."""
        row = slot.row
        inputs = Inputs(row.words[None], slot.forms, row.characters, row.form_lengths, row.lengths)
        replace_rare_words(inputs, self.rare, self.recipe.unk_probability)
        first, last = self.network.encoder(inputs, depth)
        return first, last

    def _tagging_loss(self, slot: _Slot) -> Tensor:
        first, last = self._encode(slot, depth=self.network.tagger_depth)
        return tagging_loss(self.network.tag_scores(first, last), slot.row.tags)

    def _parsing_losses(self, slot: _Slot) -> tuple[Tensor, Tensor]:
        _, last = self._encode(slot)
        row = slot.row
        choices = Choices(row.focus, row.label, row.pair_focus, row.pair_item)
        scorers = self.network.scorers
        first = first_layers(scorers, last, choices)
        structure = single_loss(score_pairs(scorers, first, choices), row.pair_focus, row.best)
        labels = label_loss(scorers, scorers.label_hidden_states(first.labels), row.label, self.chains)
        return structure, labels
