"""What a GPU does in one kernel instead of thousands: whole derivations, and the recurrence of a bi-LSTM layer.

They are written in Triton, which comes with PyTorch's builds for GPUs; where it is missing, PyTorch does the same.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import warnings
from functools import cache
from pathlib import Path

import torch


@cache
def available() -> bool:
    """Whether Triton is there and finds the compiler and the headers that it needs."""
    headers = Path(sysconfig.get_paths()["include"], "Python.h")
    compilers = (os.environ.get("CC", "cc"), "gcc", "clang")
    if torch.version.cuda and headers.exists() and any(map(shutil.which, compilers)):
        try:
            import triton  # noqa: F401
        except ImportError:
            pass
        else:
            return True
    warnings.warn("without Triton, a C compiler and Python's headers, the GPU is much slower", stacklevel=2)
    return False
