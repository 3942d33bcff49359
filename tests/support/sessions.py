"""Short trainings on a toy treebank: run, interrupt, compare."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import DEV, TRAIN

from discoparse.training import Outcome, Recipe, train
from discoparse.training.progress import Progress

_TIMES = {"seconds", "sentences_per_second"}


def run(output: Path, recipe: Recipe, **options: Any) -> Outcome:
    """Train on the toy treebank, on one core and without a word."""
    return train(TRAIN, DEV, output, recipe, **{"show_progress": False, "threads": 1, "device": "cpu", **options})


def after_steps(monkeypatch: pytest.MonkeyPatch, steps: int, do: Any) -> None:
    """Call `do` when this many batches are done."""
    count = 0
    really = Progress.step

    def step(self: Progress, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == steps:
            do()
        really(self, *arguments)

    monkeypatch.setattr(Progress, "step", step)


def signal_after(monkeypatch: pytest.MonkeyPatch, steps: int, number: int = signal.SIGINT) -> None:
    """Send this process a signal when this many batches are done."""
    after_steps(monkeypatch, steps, lambda: os.kill(os.getpid(), number))


def crash_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Leave no chance to save anything when this many batches are done."""

    def crash() -> None:
        raise MemoryError

    after_steps(monkeypatch, steps, crash)


def same_training(one: Path, other: Path) -> None:
    """Both ended with the same parameters, averages, optimiser state and random numbers, and logged the same."""
    states = [load_file(path / "latest" / "state.safetensors") for path in (one, other)]
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name
    models = [(path / "model" / "model.safetensors").read_bytes() for path in (one, other)]
    assert models[0] == models[1]
    assert records(one) == records(other)


def records(output: Path) -> list[dict[str, Any]]:
    """The log without times."""
    lines = (output / "log.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in _TIMES} for line in lines]
