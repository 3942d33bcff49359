"""A small parser with random weights, for tests of everything but accuracy, and the same as a model on disk."""

from __future__ import annotations

from pathlib import Path

import torch

from discoparse.model.info import ModelInfo
from discoparse.model.model import save_model
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.parser import Parser
from discoparse.treebank.discbracket import parse_tree

_TREES = (
    "(ROOT (S (NP (DT 0=The) (NN 1=dog)) (VP (VB 2=barks))) (. 3=.))",
    "(ROOT (SBARQ (VP (WP 0=What) (VB 3=see)) (MD 1=did) (NP (PRP 2=you))) (. 4=?))",
    "(ROOT (NP (NN 0=cats) (-LRB- 1=#LRB#) (ADJP (JJ 2=old)) (-RRB- 3=#RRB#)))",
)
_SIZES = {"word_size": 6, "character_size": 5, "character_hidden": 4, "hidden": 10, "scorer_hidden": 9}


torch.set_num_threads(1)  # more only get in each other's way with a network this small


def random_parser(language: str | None = "en", seed: int = 0, mirrored: bool = False, chains: bool = True) -> Parser:
    """The parser; its label scores are spread so that trees have many nodes, some of them discontinuous.

    With `mirrored`, the language that it knows is English with the letters of each word reversed. Without `chains`, a
    label stands for a whole chain of nodes.
    """
    trees = [parse_tree(line) for line in _TREES]
    for token in (token for tree in trees for token in tree.tokens if mirrored):
        token.word = token.word[::-1]
    vocabulary = Vocabulary.from_trees(trees, chains=chains)
    torch.manual_seed(seed)
    config = NetworkConfig(
        words=len(vocabulary.words) + 1,
        characters=len(vocabulary.characters) + 1,
        tags=len(vocabulary.tags),
        labels=len(vocabulary.labels) + 1,
        chains=chains,
        **_SIZES,
    )
    network = Network(config)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
        if network.scorers.above_output is not None:
            network.scorers.above_output.bias[0] += 9  # most chains are short
    metrics = {"dev": {"f1": 12.3, "disc_f1": 4.5, "pos": 67.8, "sentences": 3}}
    info = ModelInfo("random", language, ("three sentences",), "CC0", metrics=metrics)
    return Parser(network, vocabulary, info=info)


def save_random_model(path: Path, language: str | None = "en", mirrored: bool = False) -> None:
    """Write the parser as a model."""
    parser = random_parser(language, mirrored=mirrored)
    assert parser.info is not None
    network = parser.network
    save_model(path, network.state_dict(), network.config, parser.vocabulary, parser.info)
