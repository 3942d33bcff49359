"""What a training needs to go on, on disk: numbers as JSON and tensors, sealed with checksums."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from discoparse.errors import DiscoparseError
from discoparse.files.sealed import decode_json, encode_json, read_sealed, write_sealed
from discoparse.training.optimisation import Optimisation

STATE_VERSION = 2  # raised when states of an older version cannot be continued
_NUMBERS, _TENSORS = "state.json", "state.safetensors"


def write_state(path: Path, numbers: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Replace the state in a directory."""
    content = save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()})
    write_sealed(path, {_NUMBERS: encode_json({"state_version": STATE_VERSION, **numbers}), _TENSORS: content})


def read_state(path: Path) -> tuple[dict[str, Any], bytes]:
    """The numbers of a state, and its tensors as safetensors."""
    files = read_sealed(path, (_NUMBERS, _TENSORS), "training state")
    numbers: dict[str, Any] = decode_json(files[_NUMBERS])
    if numbers.get("state_version") != STATE_VERSION:
        raise DiscoparseError(
            f"{path}: the training state was saved by another version of discoparse; go on with that version"
        )
    return numbers, files[_TENSORS]


def restore_optimisation(optimisation: Optimisation, tensors: dict[str, Tensor], path: Path) -> None:
    """Give parameters and optimiser the values of a state."""
    try:
        optimisation.load_tensors(tensors)
    except (KeyError, RuntimeError) as error:
        raise DiscoparseError(
            f"{path}: the training state belongs to another network ({error}); it may have been saved by another "
            "version of discoparse"
        ) from None


def random_states(device: torch.device) -> dict[str, Tensor]:
    states = {"random.cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random.cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random_states(tensors: Mapping[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    if device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
