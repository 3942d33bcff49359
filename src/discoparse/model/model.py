"""A model as a directory: parameters as safetensors, everything else as JSON, sealed with checksums.

Loading runs no code of the model's and checks everything before it builds a parser: checksums, format version, and
that the parameters are exactly those of the network that the configuration describes.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from discoparse import __version__
from discoparse.errors import DiscoparseError
from discoparse.files.sealed import from_json, to_json, write_sealed
from discoparse.model.card import model_card
from discoparse.model.info import FORMAT, FORMAT_VERSION, ModelInfo, model_directory, read_model
from discoparse.model.packing import pack, unpack
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary


def save_model(
    path: str | Path,
    parameters: Mapping[str, Tensor],
    config: NetworkConfig,
    vocabulary: Vocabulary,
    info: ModelInfo,
) -> None:
    """Replace the directory `path` by a model: its parameters by name, as `Network.state_dict` or `pack` gives them."""
    info = dataclasses.replace(info, versions=info.versions or program_versions())
    files = {
        **_info_files(info, dataclasses.asdict(config), FORMAT_VERSION),
        "vocabulary.json": to_json(vocabulary.to_json(), indent=0),
        "model.safetensors": save({name: tensor.contiguous() for name, tensor in pack(parameters).items()}),
    }
    write_sealed(Path(path), files)


def replace_info(path: str | Path, info: ModelInfo) -> None:
    """Give a saved model other facts and a new card; parameters and vocabulary stay as they are."""
    files, config, _ = read_model(path)
    about = _info_files(info, config["network"], config["format_version"])
    write_sealed(model_directory(path), {**files, **about})


def _info_files(info: ModelInfo, network: Mapping[str, Any], version: int) -> dict[str, bytes]:
    """What a model says about itself, for programs and for people."""
    about = {"format": FORMAT, "format_version": version, **info.to_json()}
    return {
        "config.json": to_json({**about, "network": network}),
        "metrics.json": to_json(info.metrics),
        "README.md": model_card(info).encode("utf-8", "surrogatepass"),
    }


@dataclass(frozen=True)
class Model:
    """A trained network, the names that it knows, and what it says about itself."""

    network: Network
    vocabulary: Vocabulary
    info: ModelInfo


def load_model(path: str | Path) -> Model:
    """The model in a directory, or in the output directory of a training."""
    files, about, info = read_model(path)
    directory = model_directory(path)
    try:
        vocabulary = Vocabulary.from_json(from_json(files["vocabulary.json"]))
        config = NetworkConfig(**about["network"])
        _check_sizes(directory, config, vocabulary)
        with torch.random.fork_rng(devices=[]):  # the random initial values are overwritten: leave no trace of them
            network = Network(config)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DiscoparseError(
            f"{directory}: this version of discoparse ({__version__}) does not understand the model's network or "
            f"vocabulary ({error}); it was made by {info.versions.get('discoparse', 'an unknown version')}"
        ) from None
    try:
        parameters = unpack(load(files["model.safetensors"]))
    except SafetensorError as error:
        raise DiscoparseError(f"{directory}: model.safetensors cannot be read ({error})") from None
    _check_tensors(directory, network, parameters)
    network.load_state_dict(parameters)
    return Model(network, vocabulary, info)


def program_versions() -> dict[str, str]:
    """Of what a model was made with."""
    return {"discoparse": __version__, "torch": str(torch.__version__), "python": platform.python_version()}


def _check_sizes(directory: Path, config: NetworkConfig, vocabulary: Vocabulary) -> None:
    """The network has an output or an embedding for every name of the vocabulary."""
    expected = {
        "words": len(vocabulary.words) + 1,
        "characters": len(vocabulary.characters) + 1,
        "tags": len(vocabulary.tags),
        "labels": len(vocabulary.labels) + 1,
    }
    for name, size in expected.items():
        if getattr(config, name) != size:
            raise DiscoparseError(
                f"{directory}: the vocabulary makes {size} {name}, the network has {getattr(config, name)}: "
                "the files of two models were mixed"
            )


def _check_tensors(directory: Path, network: Network, tensors: dict[str, Tensor]) -> None:
    """Every parameter is there, in its shape and finite, and nothing else is."""
    expected: dict[str, Any] = dict(network.state_dict())
    complaint = ""
    if missing := expected.keys() - tensors.keys():
        complaint = f"lacks {min(missing)}"
    elif extra := tensors.keys() - expected.keys():
        complaint = f"has {min(extra)}, which the network does not know"
    else:
        for name, tensor in tensors.items():
            if tensor.shape != expected[name].shape:
                complaint = f"has {name} as {list(tensor.shape)} instead of {list(expected[name].shape)}"
            elif not bool(torch.isfinite(tensor).all()):
                complaint = f"has values in {name} that are no numbers"
    if complaint:
        raise DiscoparseError(f"{directory}: model.safetensors {complaint}; the model cannot be used")
