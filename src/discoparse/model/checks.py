"""Whether the files of a model make a network: sizes, names and parameters fit together.

Sizes are compared before memory is taken: a configuration of a few bytes can describe a network of terabytes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.model import contents
from discoparse.model.contents import Check, anything, list_of, number, places, record, strings
from discoparse.neural.config import NetworkConfig, PretrainedConfig
from discoparse.neural.pieces import POOLING, PieceVocabulary
from discoparse.neural.shapes import parameter_shapes
from discoparse.neural.vocabulary import Vocabulary

_LARGEST_SIZE = 10_000_000  # of a layer or a vocabulary
_MOST_LAYERS = 100
# Trained parameters are below 100. Sums over a layer of products of two that are this large are far from what single
# precision can hold, so no score becomes infinite.
_LARGEST_PARAMETER = 1e6
_BYTES = 5  # of a parameter, at most: one and a factor of four for each row, see `packing`
_HEADER = 1_000_000  # bytes that the names and shapes in model.safetensors may take


def network_config(value: Any, where: str) -> None:
    """The sizes of a network, as `NetworkConfig` has them."""
    fields = dataclasses.fields(NetworkConfig)
    checks = {field.name: _KINDS.get(str(field.type), anything) for field in fields} | {"layers": _layers}
    required = [field.name for field in fields if field.default is dataclasses.MISSING]
    record({name: checks.pop(name) for name in required}, checks, rest=_unknown)(value, where)


def _size(value: Any, where: str) -> None:
    _whole_number(value, where, _LARGEST_SIZE)


def _layers(value: Any, where: str) -> None:
    _whole_number(value, where, _MOST_LAYERS)


def _whole_number(value: Any, where: str, most: int) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{where} must be a whole number up to {most:,}")


def _flag(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{where} must be true or false")


def _pretrained(value: Any, where: str) -> None:
    """The configuration of a pretrained encoder: nothing in it is larger than a network can be."""
    if value is None:
        return
    whole = {"size": _size, "mix": _flag, "bidirectional": _flag, "pooling": _pooling}
    record({"transformer": _transformer, "pieces": _piece_ids, **whole}, {}, rest=_unknown)(value, where)


def _transformer(value: Any, where: str) -> None:
    layers = dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers"), _layers)
    record({"model_type": contents.name}, layers)(value, where)
    for key, part in value.items():
        if isinstance(part, int) and abs(part) > _LARGEST_SIZE:
            raise ValueError(f"{where}.{key} must be a whole number up to {_LARGEST_SIZE:,}")


def _pooling(value: Any, where: str) -> None:
    if value not in POOLING:
        raise ValueError(f"{where} must be one of {', '.join(POOLING)}")


_piece_ids = record(
    {"prefix": list_of(_size), "suffix": list_of(_size), "padding": _size, "unknown": _size, "window": _size}, {}
)
_KINDS: dict[str, Check] = {"int": _size, "bool": _flag, "PretrainedConfig | None": _pretrained}


def _unknown(value: Any, where: str) -> None:
    raise ValueError(f"this version of discoparse does not know {where}")


def _names(value: Any, where: str) -> None:
    """Strings that trees can be written with, at least one."""
    strings(value, where)
    if not value:
        raise ValueError(f"{where} is empty")
    for part in value:
        try:
            part.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where} has lone surrogates: {ascii(part)[:40]}") from None


def _chains(value: Any, where: str) -> None:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where} must be a list of chains of labels that is not empty")
    for k, chain in enumerate(value):
        _names(chain, f"{where}[{k}]")


# Every sentence needs a tag for each word and a label for its root.
vocabulary = record(
    {"words": strings, "characters": strings, "tags": _names, "labels": _chains, "rare": number},
    {"added": places},
)


def check_sizes(config: NetworkConfig, vocabulary: Vocabulary) -> None:
    """The network has an output or an embedding for every name of the vocabulary."""
    expected = {
        "words": len(vocabulary.words) + 1,
        "characters": len(vocabulary.characters) + 1,
        "tags": len(vocabulary.tags),
        "labels": len(vocabulary.labels) + 1,
    }
    for name, size in expected.items():
        if getattr(config, name) != size:
            raise ValueError(
                f"the vocabulary makes {size} {name}, the network has {getattr(config, name)}: "
                "the files of two models were mixed"
            )


def check_pieces(pieces: PieceVocabulary, config: PretrainedConfig) -> None:
    """The encoder has an embedding for every piece, and windows have room for at least one."""
    known = config.transformer.get("vocab_size")
    if isinstance(known, int) and pieces.largest_id() >= known:
        raise ValueError(f"the tokenizer has pieces up to {pieces.largest_id()}, the encoder {known} embeddings")
    try:
        pieces.try_out()
    except DiscoparseError as error:
        raise ValueError(str(error)) from None
    if pieces.window <= len(pieces.prefix) + len(pieces.suffix):
        raise ValueError(f"a window of {pieces.window} pieces has no room for a word")


Shapes = Mapping[str, tuple[int, ...]]


def expected_shapes(config: NetworkConfig) -> Shapes:
    """The shapes of a network's parameters by name."""
    try:
        return parameter_shapes(config)
    except DiscoparseError:
        raise
    except Exception as error:  # all that the library of transformers raises for settings that make no sense
        reason = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        raise ValueError(f"a network of these sizes cannot be made ({reason})") from None


def most_bytes(expected: Shapes) -> int:
    """The most that parameters of these shapes take on disk."""
    return _HEADER + _BYTES * sum(math.prod(shape) for shape in expected.values())


def check_parameters(expected: Shapes, parameters: Mapping[str, np.ndarray]) -> None:
    """Every parameter is there, in its shape and with values that can be computed with, and nothing else is."""
    if missing := expected.keys() - parameters.keys():
        raise ValueError(f"{min(missing)} is missing")
    if extra := parameters.keys() - expected.keys():
        raise ValueError(f"the network has no {min(extra)}")
    for name, tensor in parameters.items():
        if tensor.shape != expected[name]:
            raise ValueError(f"{name} is {list(tensor.shape)} instead of {list(expected[name])}")
        if not bool((np.abs(tensor) <= _LARGEST_PARAMETER).all()):  # also for NaN
            raise ValueError(f"{name} has values that are not numbers, or larger than {_LARGEST_PARAMETER:g}")
