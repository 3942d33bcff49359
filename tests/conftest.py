"""Where the tests find real treebanks: `../shared` beside the checkout, or $DISCOPARSE_SHARED."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("DISCOPARSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real treebanks; tests that need it are skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"no treebanks at {SHARED}: set DISCOPARSE_SHARED to a folder with data/ and raw/")
    return SHARED
