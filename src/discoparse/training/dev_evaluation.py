"""Scores on the development set while a model is trained: those of the averaged parameters, as they would be saved."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discoparse.evaluation import Result, Scores, evaluate
from discoparse.evaluation.result import summarise
from discoparse.model.packing import pack, unpack
from discoparse.neural.network import Network
from discoparse.parser.parser import Parser
from discoparse.training.loop import Trainer, matmul_precision
from discoparse.tree import Tree


class DevEvaluation:
    """Evaluates a trainer's averaged parameters; one parser is kept for all evaluations.

    The scores are those over all trees; where `sets` has the sizes of named parts, one after the other, also theirs.
    """

    def __init__(self, trainer: Trainer, trees: Sequence[Tree], sets: Mapping[str, int] | None = None) -> None:
        self.trainer = trainer
        self.trees = trees
        self.sets = sets or {}
        with torch.random.fork_rng(devices=[]):
            network = Network(trainer.network.config)
        self.parser = Parser(network, trainer.vocabulary, trainer.device)
        self.result: Result | None = None  # of the last evaluation

    def parameters(self) -> dict[str, Tensor]:
        """The averaged parameters as they are kept on disk."""
        averaged = self.trainer.optimisation.averaged()
        if self.trainer.recipe.quantize:
            return pack(averaged)
        return {name: tensor.cpu() for name, tensor in averaged.items()}

    def __call__(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The scores of the parameters as they are now, on the device that trains, and the parameters."""
        parameters = self.parameters()
        self.parser.network.load_state_dict(unpack(parameters))
        self.parser.decoder.reset()
        return self._scores(self.parser), parameters

    def on_cpu(self, network: Network) -> dict[str, Any]:
        """The scores of a network on the CPU, in single precision throughout: what anybody can measure again."""
        with matmul_precision("highest"):
            return self._scores(Parser(copy.deepcopy(network), self.trainer.vocabulary, "cpu"))

    def _scores(self, parser: Parser) -> dict[str, Any]:
        predicted = parser.parse_tokens([tree.words for tree in self.trees])
        self.result = result = evaluate(self.trees, predicted)
        scores = figures(result.all)
        if self.sets:
            parts = np.split(result.counts, np.cumsum(list(self.sets.values()))[:-1])
            scores["sets"] = {name: figures(summarise(part)) for name, part in zip(self.sets, parts, strict=True)}
        return scores


def figures(scores: Scores) -> dict[str, Any]:
    """Scores in percent for the log and the model card; 0 where there was nothing to score."""
    return {
        "f1": scores.f1 or 0.0,
        "precision": scores.precision or 0.0,
        "recall": scores.recall or 0.0,
        "disc_f1": scores.disc.f1 or 0.0,
        "disc_precision": scores.disc.precision or 0.0,
        "disc_recall": scores.disc.recall or 0.0,
        "pos": scores.pos_accuracy or 0.0,
        "exact_match": scores.exact_match or 0.0,
        "sentences": scores.sentences,
    }
