"""How many CPU cores a training uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from discoparse.neural.device import use_threads


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Let PyTorch use this many cores while this is entered."""
    before = torch.get_num_threads()
    use_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
