"""Where the network runs: a GPU if there is one, or some CPU cores."""

from __future__ import annotations

import os

import torch

from discoparse.errors import UsageError

DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str = "auto") -> torch.device:
    """The device of that name; `auto` is a GPU if PyTorch finds one.

    >>> choose_device("cpu")
    device(type='cpu')
    """
    available = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if available else "cpu"
    kind = name.partition(":")[0]
    if kind not in DEVICES:
        raise UsageError(f"unknown device {name!r}: choose one of {', '.join(DEVICES)}")
    if kind == "cuda" and not available:
        raise UsageError("device cuda: PyTorch finds no GPU here; choose cpu")
    return torch.device(name)


def use_threads(count: int) -> None:
    """Set the number of CPU cores that PyTorch may use in this process."""
    if count < 1:
        raise UsageError(f"{count} threads: at least one is needed")
    torch.set_num_threads(count)


def training_threads(trainings: int = 1) -> int:
    """Cores for each of some trainings at once: half of all, since threads wait for each other, and one that has to
    share its core holds up the rest."""
    return max(1, (os.cpu_count() or 1) // 2 // trainings)
