"""A model read from its directory, as data: whoever parses with the compiled network needs no PyTorch.

Loading runs no code of the model's and checks everything first: checksums, format version, types and sizes, and that
the parameters are exactly those of the network that the configuration describes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from discoparse.errors import DiscoparseError
from discoparse.model import checks
from discoparse.model.info import CARD, CONFIG, PARAMETERS, TOKENIZER, VOCABULARY, ModelFiles, ModelInfo
from discoparse.model.unpacking import unpack_arrays
from discoparse.neural.config import PRETRAINED, NetworkConfig, StoredNetwork
from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.vocabulary import Vocabulary


@dataclass(frozen=True)
class StoredModel:
    """A trained network, the names that it knows, and what it says about itself."""

    network: StoredNetwork
    vocabulary: Vocabulary
    info: ModelInfo


def read_model(path: str | Path) -> StoredModel:
    """The model in a directory, or in the output directory of a training."""
    files = ModelFiles(path)
    files.read(CARD)  # the card says what the model may be used for: a model with a damaged one is damaged, too
    info = files.info()
    names = files.vocabulary()
    with files.checking(VOCABULARY):
        checks.vocabulary(names, "")
    vocabulary = Vocabulary.from_json(names)
    with files.checking(CONFIG):
        checks.network_config(files.config.get("network"), "network")
        config = NetworkConfig(**files.config["network"])
        checks.check_sizes(config, vocabulary)
        expected = checks.expected_shapes(config)
    vocabulary = dataclasses.replace(vocabulary, pieces=_pieces(files, config))
    stored: dict[str, np.ndarray] = {}
    for file in (PARAMETERS, *files.encoder_files):
        content = files.read(file, checks.most_bytes(expected))
        with files.checking(file):
            stored |= _arrays(content)
    with files.checking(PARAMETERS):
        parameters = unpack_arrays(stored)
        checks.check_parameters(expected, parameters)
    ordered = {name: parameters[name] for name in expected}
    eight_bits = any(name.startswith(PRETRAINED) and array.dtype == np.int8 for name, array in stored.items())
    return StoredModel(StoredNetwork(config, ordered, eight_bits), vocabulary, info)


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The content of a safetensors file."""
    try:
        return load(content)
    except SafetensorError as error:
        raise ValueError(f"it cannot be read ({error})") from None
    except (KeyError, TypeError):  # types of numbers that NumPy does not have, as bfloat16
        from safetensors.torch import load as load_tensors

        return {name: tensor.float().numpy() for name, tensor in load_tensors(content).items()}


def _pieces(files: ModelFiles, config: NetworkConfig) -> PieceVocabulary | None:
    """The tokenizer of a pretrained encoder, if the model has one."""
    if config.pretrained is None:
        return None
    if TOKENIZER not in files.names:
        raise DiscoparseError(f"{files.directory}: no usable model, {TOKENIZER} is missing; copy or make it again")
    with files.checking(TOKENIZER):
        pieces = PieceVocabulary.from_json(config.pretrained.pieces, files.read(TOKENIZER).decode())
        checks.check_pieces(pieces, config.pretrained)
    return pieces
