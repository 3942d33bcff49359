"""The state of a training on disk: everything that its next step depends on, as tensors and JSON.

A training that goes on from here makes the same updates, to the last bit on a CPU, as one that was never stopped. Its
identity (recipe, seed and treebanks) is kept with it, so that it is not continued as another training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load
from torch import Tensor

from discoparse.errors import UsageError
from discoparse.training.decision_store import Rows
from discoparse.training.loop import Trainer
from discoparse.training.state import (
    random_states,
    read_state,
    restore_optimisation,
    restore_random_states,
    write_state,
)


def save_checkpoint(path: Path, trainer: Trainer, facts: dict[str, Any]) -> None:
    """Write the state of a trainer between two steps, with other facts that the session needs, as JSON."""
    numbers = {
        "epoch": trainer.epoch,
        "position": trainer.position,
        "with_silver": trainer.with_silver,
        "step": trainer.optimisation.step,
        "facts": facts,
    }
    tensors = {**trainer.optimisation.tensors(), **random_states(trainer.device), **_explored_tensors(trainer)}
    write_state(path, numbers, tensors)


class Checkpoint:
    """A state that was read: first its `facts`, to see whether it fits, then `restore` it into a trainer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.numbers, self._content = read_state(path)
        self.facts: dict[str, Any] = self.numbers["facts"]

    def restore(self, trainer: Trainer) -> None:
        """Bring a fresh trainer of the same recipe, data and seed to this state."""
        tensors = load(self._content)
        restore_optimisation(trainer.optimisation, tensors, self.path)
        trainer.optimisation.step = self.numbers["step"]
        trainer.epoch = self.numbers["epoch"]
        if self.facts["mid_epoch"]:
            trainer.continue_epoch(
                self.numbers["position"], _explored_rows(tensors), self.numbers.get("with_silver", True)
            )
        restore_random_states(tensors, trainer.device)


def _explored_tensors(trainer: Trainer) -> dict[str, Tensor]:
    """The derivations that were sampled before this epoch, with parameters that have changed since."""
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


def check_identity(output: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to continue one training with the settings of another."""
    ours, theirs = now["recipe"], then["recipe"]
    different = [
        f"{name} was {theirs.get(name)} and is {ours.get(name)}"
        for name in {**theirs, **ours}
        if theirs.get(name) != ours.get(name)
    ]
    if then["seed"] != now["seed"]:
        different.append(f"the seed was {then['seed']} and is {now['seed']}")
    files = [name for name in {**then, **now} if name not in ("recipe", "seed")]
    different += [f"the {name} has changed" for name in files if then.get(name) != now.get(name)]
    if different:
        raise UsageError(
            f"{output} holds another training: {'; '.join(different)}. Resume with the same settings, or choose "
            "another directory"
        )
