"""A network as plain data: its sizes, those of its vocabularies and of a pretrained encoder, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PRETRAINED = "encoder.pretrained."  # begins the names of its parameters in a network


@dataclass(frozen=True)
class PretrainedConfig:
    """A transformer without its parameters, and how it is used."""

    transformer: dict[str, Any] = field(default_factory=dict)  # its configuration, as `transformers` has it
    size: int = 0  # E
    pooling: str = "first"  # which pieces stand for a word
    mix: bool = False  # a weighted sum of all layers instead of the last one
    bidirectional: bool = False  # a decoder, whose causal mask is lifted
    pieces: dict[str, Any] = field(default_factory=dict)  # `PieceVocabulary.to_json`


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the vocabularies, and of the layers."""

    words: int  # known words, with UNK
    characters: int
    tags: int
    labels: int  # with NO-LABEL, which is 0
    word_size: int = 32
    character_size: int = 100
    character_hidden: int = 50
    hidden: int = 200
    layers: int = 2
    scorer_hidden: int = 200
    chains: bool = False  # label a unary chain node by node instead of as one label
    tag_both: bool = False  # the tagger reads h of the last layer beside h(1)
    pretrained: PretrainedConfig | None = None  # a transformer whose vectors stand beside c(x) and w(x)

    def __post_init__(self) -> None:
        if isinstance(self.pretrained, dict):  # from JSON
            object.__setattr__(self, "pretrained", PretrainedConfig(**self.pretrained))

    @property
    def form_size(self) -> int:
        """The size of c(x); 0 without characters."""
        return 2 * self.character_hidden if self.character_size else 0

    @property
    def tagger_size(self) -> int:
        """The size of what the tagger reads of a token."""
        return 2 * self.hidden * (1 + self.tag_both)

    @property
    def input_size(self) -> int:
        """The size of a token's vector before the bi-LSTM layers."""
        return self.form_size + self.word_size + (self.pretrained.size if self.pretrained is not None else 0)


@dataclass(frozen=True)
class StoredNetwork:
    """A network that PyTorch need not know of: parameters by name, in the order of `Network.state_dict`."""

    config: NetworkConfig
    parameters: Mapping[str, np.ndarray]
    eight_bits: bool = False  # the matrices of a pretrained encoder are kept in eight bits
