"""What a measurement was made with: versions, commit and hardware."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from discoparse import __version__

_PACKAGES = ("torch", "numpy", "safetensors")


def environment(device: str = "cpu") -> dict[str, Any]:
    """Versions, commit (if the package runs from a checkout) and hardware; the GPU if `device` is one."""
    return {
        "discoparse": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "gpu": gpu_name() if device.startswith("cuda") else None,
    }


def commit() -> str | None:
    """The commit of the checkout that the package is in, with `-dirty` if files were changed since."""
    here = Path(__file__).resolve().parent
    if not any((folder / ".git").exists() for folder in here.parents):
        return None
    try:
        command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def cpu_name() -> str:
    """The name of the CPU, as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def gpu_name() -> str | None:
    """The name of the GPU, or None."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def peak_memory() -> int | None:
    """The most memory that this process has used so far, in bytes; None if the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts kilobytes


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
