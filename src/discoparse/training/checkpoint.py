"""The state of a training on disk: everything that its next step depends on, as tensors and JSON.

A training that goes on from here makes the same updates, to the last bit on a CPU, as one that was never stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from discoparse.errors import DiscoparseError
from discoparse.files.sealed import decode_json, encode_json, read_sealed, write_sealed
from discoparse.training.decision_store import Rows
from discoparse.training.loop import Trainer

STATE_VERSION = 1
_FILES = ("state.json", "state.safetensors")


def save_checkpoint(path: Path, trainer: Trainer, facts: dict[str, Any]) -> None:
    """Write the state of a trainer between two steps, with whatever else is to be known (`facts`, as JSON)."""
    numbers = {
        "state_version": STATE_VERSION,
        "epoch": trainer.epoch,
        "position": trainer.position,
        "step": trainer.optimisation.step,
        "facts": facts,
    }
    tensors = {**trainer.optimisation.tensors(), **_random_states(trainer.device), **_explored_tensors(trainer)}
    content = save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()})
    write_sealed(path, {"state.json": encode_json(numbers), "state.safetensors": content})


class Checkpoint:
    """A state that was read: first its `facts`, to see whether it fits, then all of it into a trainer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        files = read_sealed(path, _FILES, "training state")
        self.numbers: dict[str, Any] = decode_json(files["state.json"])
        if self.numbers.get("state_version") != STATE_VERSION:
            raise DiscoparseError(
                f"{path}: the training state was saved by another version of discoparse; go on with that version"
            )
        self.facts: dict[str, Any] = self.numbers["facts"]
        self._content = files["state.safetensors"]

    def restore(self, trainer: Trainer) -> None:
        """Bring a fresh trainer of the same recipe, data and seed to where the other one was."""
        tensors = load(self._content)
        try:
            trainer.optimisation.load_tensors(tensors)
        except (KeyError, RuntimeError) as error:
            raise DiscoparseError(
                f"{self.path}: the training state is that of another network ({error}); it may have been saved by "
                "another version of discoparse"
            ) from None
        trainer.optimisation.step = self.numbers["step"]
        trainer.epoch = self.numbers["epoch"]
        if self.facts["mid_epoch"]:
            trainer.continue_epoch(self.numbers["position"], _explored_rows(tensors))
        _restore_random_states(tensors, trainer.device)


def _random_states(device: torch.device) -> dict[str, Tensor]:
    states = {"random.cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random.cuda"] = torch.cuda.get_rng_state(device)
    return states


def _restore_random_states(tensors: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    if device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], device)


def _explored_tensors(trainer: Trainer) -> dict[str, Tensor]:
    """The derivations that were sampled before this epoch, with parameters that are gone by now."""
    explored = trainer.explored
    if not explored:
        return {}
    foci, pairs = zip(*explored.values(), strict=True)
    return {
        "explored.sentences": torch.tensor(list(explored)),
        "explored.foci": torch.from_numpy(np.concatenate(foci)),
        "explored.foci_counts": torch.tensor([len(rows) for rows in foci]),
        "explored.pairs": torch.from_numpy(np.concatenate(pairs)),
        "explored.pair_counts": torch.tensor([len(rows) for rows in pairs]),
    }


def _explored_rows(tensors: dict[str, Tensor]) -> dict[int, Rows]:
    if "explored.sentences" not in tensors:
        return {}
    foci = _split(tensors["explored.foci"], tensors["explored.foci_counts"])
    pairs = _split(tensors["explored.pairs"], tensors["explored.pair_counts"])
    return dict(zip(tensors["explored.sentences"].tolist(), zip(foci, pairs, strict=True), strict=True))


def _split(rows: Tensor, counts: Tensor) -> list[np.ndarray]:
    return [part.numpy() for part in rows.split(counts.tolist())]
