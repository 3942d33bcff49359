"""Silver trees, made by another parser, beside gold ones: how many an epoch has, and which words they add.

An epoch has all gold trees. The silver ones take turns: those of one epoch come again when all others had theirs.
Batches hold trees of one kind, so that a weight is that of a batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.recipe import Recipe
from discoparse.tree import Tree


class SilverTurns:
    """Which of the silver sentences, numbered after the gold ones, an epoch has."""

    def __init__(self, gold: int, silver: int, recipe: Recipe, seed: int) -> None:
        self.gold, self.silver, self.seed = gold, silver, seed
        self.share = min(silver, round(recipe.silver_ratio * gold))  # sentences in an epoch

    def __call__(self, epoch: int) -> np.ndarray:
        """The numbers of the silver sentences of an epoch."""
        if not self.share:
            return np.empty(0, dtype=np.int64)
        first = epoch * self.share  # in an endless row of all silver sentences, in a new order each time
        parts = []
        for turn in range(first // self.silver, (first + self.share - 1) // self.silver + 1):
            order = np.random.default_rng([self.seed, 2, turn]).permutation(self.silver)
            begin = turn * self.silver
            parts.append(order[max(0, first - begin) : first + self.share - begin])
        return self.gold + np.concatenate(parts)


def silver_vocabulary(gold: Sequence[Tree], silver: Sequence[Tree], recipe: Recipe) -> Vocabulary:
    """The names of all trees; words that only silver trees have must be frequent."""
    ours = Vocabulary.from_trees(gold, recipe.chains, recipe.min_frequency, recipe.unk_share)
    if not silver:
        return ours
    both = Vocabulary.from_trees([*gold, *silver], recipe.chains, recipe.silver_frequency)
    frequent = set(both.words)
    words = [*both.words, *(word for word in ours.words if word not in frequent)]
    return dataclasses.replace(both, words=words, rare=len(words) - round(recipe.unk_share * len(words)) + 1)
