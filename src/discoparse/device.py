"""Where the network runs: a GPU if there is one, or some cores of the processor."""

from __future__ import annotations

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
    """Let PyTorch use so many cores in this process."""
    torch.set_num_threads(count)
