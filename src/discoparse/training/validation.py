"""Scores on a development set while a model is trained: those of the averaged parameters, as they would be saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discoparse.evaluation import Scores, evaluate
from discoparse.evaluation.result import summarise
from discoparse.model.packing import pack, unpack
from discoparse.neural.network import Network
from discoparse.parser.parser import Parser
from discoparse.training.loop import Trainer
from discoparse.tree import Tree


class Validation:
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

    def parameters(self) -> dict[str, Tensor]:
        """The averaged parameters as they are kept on disk."""
        return pack(self.trainer.optimisation.averaged())

    def __call__(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The scores and the parameters that have them."""
        parameters = self.parameters()
        self.parser.network.load_state_dict(unpack(parameters))
        self.parser.decoder.reset()
        predicted = self.parser.parse_tokens([tree.words for tree in self.trees])
        result = evaluate(self.trees, predicted)
        scores = figures(result.all)
        if self.sets:
            parts = np.split(result.counts, np.cumsum(list(self.sets.values()))[:-1])
            scores["sets"] = {name: figures(summarise(part)) for name, part in zip(self.sets, parts, strict=True)}
        return scores, parameters


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
