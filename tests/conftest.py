"""What tests share: real treebanks, `../shared` beside the checkout or $DISCOPARSE_SHARED, and the number of cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("DISCOPARSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real treebanks; tests that need it are skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"no treebanks at {SHARED}: set DISCOPARSE_SHARED to a folder with data/ and raw/")
    return SHARED


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small matrices are quickest on one core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
