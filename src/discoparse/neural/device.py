"""Where the network runs: a GPU if there is one, or some CPU cores."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from discoparse.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import torch

DEVICES = ("auto", "cpu", "cuda")
_MOST_THREADS = 1024  # PyTorch starts as many as it is told to, and a million leave no program of the user any


def choose_device(name: str | torch.device = "auto") -> torch.device:
    """The device of that name; `auto` is a GPU if PyTorch finds one.

    >>> choose_device("cpu")
    device(type='cpu')
    """
    import torch  # here: it takes a second, and the compiled network does without

    available = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if available else "cpu"
    kind = str(name).partition(":")[0]
    if kind not in DEVICES:
        raise UsageError(f"unknown device {name!r}: choose one of {', '.join(DEVICES)}")
    if kind == "cuda" and not available:
        raise UsageError("device cuda: PyTorch finds no GPU here; choose cpu")
    return torch.device(name)


def device_name(name: str | torch.device = "auto") -> str:
    """As `choose_device`, but PyTorch is only asked where there may be a GPU.

    >>> device_name("cpu")
    'cpu'
    """
    if name == "cpu" or (name == "auto" and not _may_have_gpu()):
        return "cpu"
    return str(choose_device(name))


def _may_have_gpu() -> bool:
    """Whether this system has a driver for GPUs, or PyTorch is there to be asked anyway."""
    if "torch" in sys.modules or sys.platform not in ("linux", "darwin"):
        return True
    drivers = ("nvidiactl", "nvidia0", "kfd", "dxg")  # NVIDIA's, AMD's, that of Windows seen from Linux
    return any(Path("/dev", driver).exists() for driver in drivers)


def use_threads(count: int) -> None:
    """Set the number of CPU cores that PyTorch, if it is loaded, may use in this process."""
    if type(count) is not int or not 1 <= count <= _MOST_THREADS:
        raise UsageError(f"{count!r} threads: from 1 to {_MOST_THREADS:,} are possible")
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(count)


def training_threads(trainings: int = 1) -> int:
    """Cores for each of some trainings at once: half of all, since threads wait for each other, and one that has to
    share its core holds up the rest."""
    return max(1, (os.cpu_count() or 1) // 2 // trainings)


def to_device(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """An array on the device, without waiting: a GPU lets the host go on only if it copies from pinned memory."""
    import torch

    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
