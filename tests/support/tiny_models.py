"""Small networks and treebanks for tests: quick to make, with every part of a real model."""

from __future__ import annotations

import random
from importlib.resources import files
from pathlib import Path

import torch
from torch import nn

from discoparse.model.info import ModelInfo
from discoparse.model.model import save_model
from discoparse.neural.network import Network
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.loop import Trainer, make_network
from discoparse.training.recipe import RECIPES, Recipe
from discoparse.tree import Token, Tree
from discoparse.treebank import read_trees

# The first layer of FF_s has 16 x 256 numbers, just enough to be stored in eight bits.
SIZES = {"word_size": 8, "character_size": 8, "character_hidden": 6, "hidden": 16, "scorer_hidden": 16}


def example_trees() -> list[Tree]:
    """The sentences that come with the program."""
    return list(read_trees(str(files("discoparse") / "examples" / "sentences.discbracket")))


def tiny_recipe(name: str = "fast", **changes: object) -> Recipe:
    """A recipe with a small network."""
    return RECIPES[name].replace(**{**SIZES, **changes})


def tiny_model(path: Path, seed: int = 0) -> tuple[Network, Vocabulary]:
    """Save a small untrained model."""
    torch.manual_seed(seed)
    recipe = tiny_recipe(min_frequency=1)
    vocabulary = Vocabulary.from_trees(example_trees(), recipe.chains, 1)
    network = make_network(recipe, vocabulary)
    info = ModelInfo("tiny", "en", ("examples",), "MIT", {"epochs": 0}, metrics={"dev": {"f1": 12.5, "sentences": 7}})
    save_model(path, network.state_dict(), network.config, vocabulary, info)
    return network.eval(), vocabulary


def toy_treebank(count: int, seed: int) -> list[Tree]:
    """Sentences of a small grammar with extraposed relative clauses, fronted objects and plain ones."""
    chance = random.Random(seed)
    return [_toy_sentence(chance) for _ in range(count)]


def _toy_sentence(chance: random.Random) -> Tree:
    nouns, verbs = ["dogs", "cats", "birds", "books", "maps"], ["saw", "read", "found", "took"]
    subject, thing, verb = chance.choice(nouns), chance.choice(nouns), chance.choice(verbs)
    kind = chance.choice(["plain", "fronted", "extraposed"])
    if kind == "plain":  # dogs saw maps .
        tokens = [(subject, "N"), (verb, "V"), (thing, "N"), (".", "$.")]
        spans = [("S", {0, 1, 2}), ("NP", {0}), ("VP", {1, 2}), ("NP", {2})]
    elif kind == "fronted":  # maps did dogs see -> the verb phrase has a gap
        tokens = [(thing, "N"), ("did", "AUX"), (subject, "N"), (verb, "V"), (".", "$.")]
        spans = [("S", {0, 1, 2, 3}), ("VP", {0, 3}), ("NP", {0}), ("NP", {2})]
    else:  # dogs came that saw maps
        tokens = [(subject, "N"), ("came", "VI"), ("that", "C"), (verb, "V"), (thing, "N"), (".", "$.")]
        spans = [("S", {0, 1, 2, 3, 4}), ("NP", {0, 2, 3, 4}), ("SBAR", {2, 3, 4}), ("VP", {3, 4}), ("NP", {4})]
    return Tree.from_constituents([Token(word, tag) for word, tag in tokens], spans)


def paper_trainer(count: int = 12, **changes: object) -> Trainer:
    """The `paper` recipe with a small network, about to train on so many sentences."""
    return Trainer(tiny_recipe("paper", **changes), toy_treebank(count, 1), torch.device("cpu"), seed=1)


TRAIN, DEV = toy_treebank(12, 1), toy_treebank(5, 2)


def short_recipe(name: str, **changes: object) -> Recipe:
    """A short training with a small network."""
    settings = {"epochs": 4, "updates": 0, "evaluate_every": 2, "warmup_steps": 4}
    if name == "fast":
        settings |= {"batch_tokens": 16, "most_batch_tokens": 16}
    return tiny_recipe(name, **{**settings, **changes})


class OneVector(nn.Module):
    """A network of nothing but parameters."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.used = nn.Parameter(torch.zeros(size))
        self.unused = nn.Parameter(torch.zeros(size))
