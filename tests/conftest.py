"""What tests share: real treebanks, `../shared` beside the checkout or $DISCOPARSE_SHARED, and the number of cores."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from discoparse.neural.compiled.library import VARIABLE, supported

SHARED = Path(os.environ.get("DISCOPARSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real treebanks; tests that need it are skipped where it, or a part of it, is absent."""
    missing = [name for name in ("data", "raw", "eval", "paper", "PEERS.md") if not (SHARED / name).exists()]
    if missing:
        pytest.skip(f"no {', '.join(missing)} in {SHARED}: set DISCOPARSE_SHARED to a folder that has all of it")
    return SHARED


@pytest.fixture(params=["off", *supported()])
def every_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """PyTorch's network and the compiled ones in turn, each of them used by what is made while the test runs."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


@pytest.fixture
def pytorch_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's network, although there may be a compiled one."""
    monkeypatch.setenv(VARIABLE, "off")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small matrices are quickest on one core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def default_interrupts() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run as a background job and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
