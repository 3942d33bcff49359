"""A model as a directory: parameters as safetensors, everything else as JSON, sealed with checksums.

`stored` reads it back.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from discoparse import __version__
from discoparse.errors import DiscoparseError
from discoparse.files.sealed import encode_json, write_sealed
from discoparse.model import checks
from discoparse.model.card import model_card
from discoparse.model.contents import presentable
from discoparse.model.info import (
    CARD,
    CONFIG,
    ENCODER,
    ENCODER_VERSION,
    FORMAT,
    FORMAT_VERSION,
    METRICS,
    PARAMETERS,
    TAG_BOTH_VERSION,
    TOKENIZER,
    VOCABULARY,
    ModelFiles,
    ModelInfo,
)
from discoparse.model.packing import pack
from discoparse.model.stored import read_model
from discoparse.neural.config import PRETRAINED, NetworkConfig
from discoparse.neural.network import Network, network_of
from discoparse.neural.vocabulary import Vocabulary

_LARGEST_FILE = 45_000_000  # bytes of one file with an encoder's parameters


def save_model(
    path: str | Path,
    parameters: Mapping[str, Tensor],
    config: NetworkConfig,
    vocabulary: Vocabulary,
    info: ModelInfo,
    *,
    rounded: bool = True,
) -> None:
    """Replace the directory `path` by a model: its parameters by name, as `Network.state_dict` or `pack` gives them.

    They are stored as `pack` rounds them; without `rounded`, as they are.
    """
    info = dataclasses.replace(info, versions=info.versions or program_versions())
    names = vocabulary.to_json()
    try:
        checks.vocabulary(names, "")
    except ValueError as error:
        raise DiscoparseError(f"{path}: a model with this vocabulary could not be loaded ({error})") from None
    stored = {name: tensor.contiguous() for name, tensor in (pack(parameters) if rounded else parameters).items()}
    files = {
        **info_files(info, *_described(config)),
        VOCABULARY: encode_json(names, indent=0),
        PARAMETERS: save({name: tensor for name, tensor in stored.items() if not name.startswith(PRETRAINED)}),
    }
    if vocabulary.pieces is not None:
        files[TOKENIZER] = vocabulary.pieces.tokenizer.encode()
        encoder = {name: tensor for name, tensor in stored.items() if name.startswith(PRETRAINED)}
        for number, part in enumerate(_parts(encoder), 1):
            files[ENCODER.format(number)] = save(part)
    write_sealed(Path(path), files)


def _described(config: NetworkConfig) -> tuple[dict[str, Any], int]:
    """The sizes of a network, and the first format version that has what it needs; what is newer is not named."""
    sizes = dataclasses.asdict(config)
    if config.tag_both:
        return sizes, TAG_BOTH_VERSION
    del sizes["tag_both"]
    return sizes, ENCODER_VERSION if config.pretrained else FORMAT_VERSION


def _parts(parameters: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    """Parameters in files that version control and package registries take."""
    part: dict[str, Tensor] = {}
    size = 0
    for name, tensor in parameters.items():
        if part and size + tensor.nbytes > _LARGEST_FILE:
            yield part
            part, size = {}, 0
        part[name] = tensor
        size += tensor.nbytes
    yield part


def replace_info(path: str | Path, info: ModelInfo) -> None:
    """Give a saved model other facts and a new card; parameters and vocabulary stay as they are."""
    model = ModelFiles(path)
    with model.checking(CONFIG):
        checks.network_config(model.config.get("network"), "network")
    about = info_files(info, model.config["network"], model.config["format_version"])
    write_sealed(model.directory, {**{file: model.read(file) for file in model.names}, **about})


def info_files(info: ModelInfo, network: Mapping[str, Any], version: int) -> dict[str, bytes]:
    """What a model says about itself, for programs and for people."""
    info = ModelInfo(**presentable({**info.to_json(), "metrics": info.metrics}))
    about = {"format": FORMAT, "format_version": version, **info.to_json()}
    return {
        CONFIG: encode_json({**about, "network": network}),
        METRICS: encode_json(info.metrics),
        CARD: model_card(info).encode(),
    }


@dataclass(frozen=True)
class Model:
    """A trained network, the names that it knows, and what it says about itself."""

    network: Network
    vocabulary: Vocabulary
    info: ModelInfo


def load_model(path: str | Path) -> Model:
    """The model in a directory, or in the output directory of a training."""
    stored = read_model(path)
    return Model(network_of(stored.network), stored.vocabulary, stored.info)


def program_versions() -> dict[str, str]:
    """Of what a model was made with."""
    return {"discoparse": __version__, "torch": str(torch.__version__), "python": platform.python_version()}
