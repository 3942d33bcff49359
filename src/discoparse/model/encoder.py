"""A pretrained encoder as a directory: laid out, sealed and checked like a model, without what makes trees of vectors.

Its network is described by the sizes of the encoder alone, its vocabulary has no tags and no labels.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from discoparse.files.sealed import encode_json
from discoparse.model import checks
from discoparse.model.card import encoder_card
from discoparse.model.contents import number, presentable, record, strings
from discoparse.model.info import (
    CARD,
    CONFIG,
    METRICS,
    PARAMETERS,
    VOCABULARY,
    ModelFiles,
    ModelInfo,
    encoder_directory,
)
from discoparse.model.packing import unpack
from discoparse.neural.config import NetworkConfig
from discoparse.neural.vocabulary import Vocabulary

ENCODER_FORMAT = "discoparse encoder"
_VERSION = 1  # raised when an older program could not read a newer encoder
_PREFIX = "encoder."
_SIZES = ("words", "characters", "word_size", "character_size", "character_hidden", "hidden", "layers")
_USE = (
    "An encoder of words, pretrained on raw text to guess hidden words: embeddings, a character bi-LSTM and bi-LSTM "
    "layers over the sentence (Section 3.1 of Coavoux and Cohen, 2019). It makes no trees: `discoparse train --init "
    "DIRECTORY` starts the training of a parser from it."
)
_vocabulary = record({"words": strings, "characters": strings, "rare": number}, {})


class EncoderFiles(ModelFiles):
    """The files of a pretrained encoder."""

    what, format, also = "encoder", ENCODER_FORMAT, ""
    readable = (_VERSION,)

    @staticmethod
    def find(path: str | Path) -> Path:
        return encoder_directory(path)


@dataclass(frozen=True)
class StoredEncoder:
    """A pretrained encoder as it was found on disk."""

    config: NetworkConfig  # of a network without tags and labels
    vocabulary: Vocabulary
    parameters: dict[str, Tensor]  # as a network calls them
    info: ModelInfo


def encoder_files(
    parameters: Mapping[str, Tensor], config: NetworkConfig, vocabulary: Vocabulary, info: ModelInfo
) -> dict[str, bytes]:
    """The files of an encoder, to be sealed; parameters are kept in half precision."""
    info = ModelInfo(**presentable({**info.to_json(), "metrics": info.metrics}))
    sizes = {name: getattr(config, name) for name in _SIZES}
    about = {"format": ENCODER_FORMAT, "format_version": _VERSION, **info.to_json(), "network": sizes}
    names = vocabulary.to_json()
    return {
        CONFIG: encode_json(about),
        METRICS: encode_json(info.metrics),
        CARD: encoder_card(info, _USE).encode(),
        VOCABULARY: encode_json({name: names[name] for name in ("words", "characters", "rare")}, indent=0),
        PARAMETERS: save({name: tensor.detach().half().cpu().contiguous() for name, tensor in parameters.items()}),
    }


def load_encoder(path: str | Path) -> StoredEncoder:
    """The encoder in a directory, or in the output directory of a pretraining."""
    files = EncoderFiles(path)
    files.read(CARD)
    info = files.info()
    names = files.vocabulary()
    with files.checking(VOCABULARY):
        _vocabulary(names, "")
        vocabulary = Vocabulary.from_json({**names, "tags": [], "labels": []})
    with files.checking(CONFIG):
        config = _config(files.config.get("network"))
        checks.check_sizes(config, vocabulary)
        shapes = checks.expected_shapes(dataclasses.replace(config, tags=1, labels=1))
    expected = {name: shape for name, shape in shapes.items() if name.startswith(_PREFIX)}
    content = files.read(PARAMETERS, checks.most_bytes(expected))
    with files.checking(PARAMETERS):
        try:
            parameters = unpack(load(content))
        except SafetensorError as error:
            raise ValueError(f"it cannot be read ({error})") from None
        checks.check_parameters(expected, {name: tensor.numpy() for name, tensor in parameters.items()})
    return StoredEncoder(config, vocabulary, parameters, info)


def is_own_encoder(path: Path) -> bool:
    """Whether a directory holds an encoder of this format, and not a transformer."""
    try:
        config = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("format") == ENCODER_FORMAT


def _config(sizes: Any) -> NetworkConfig:
    """The sizes of an encoder as those of a network without tags and labels."""
    if isinstance(sizes, dict) and {"tags", "labels"} & sizes.keys():
        raise ValueError("an encoder has neither tags nor labels")
    whole = {**sizes, "tags": 0, "labels": 1} if isinstance(sizes, dict) else sizes
    checks.network_config(whole, "network")
    return NetworkConfig(**whole)
