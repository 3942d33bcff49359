"""The bar of a training: what it counts, and how far it is."""

from __future__ import annotations

import io

import torch

from discoparse.training import progress as module
from discoparse.training.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch, epochs: int | None, **options: str) -> str:
    """What stands on a terminal after one batch of 50 units."""
    monkeypatch.setattr(module, "_REFRESH", 0.0)
    stream = Terminal()
    bar = Progress(4, 0, epochs, True, stream=stream, **options)
    bar.step(1, {"loss": torch.tensor(3.0)}, 2, 50, 0.25)
    bar.close()
    return stream.getvalue()


def test_epochs_and_units(monkeypatch):
    text = shown(monkeypatch, 7)
    assert "epoch 2/7" in text
    assert "sentences/s" in text
    assert "loss 1.500" in text
    assert "step 1/4" in text


def test_other_units_and_no_end(monkeypatch):
    text = shown(monkeypatch, None, unit="pieces")
    assert "epoch 2 " in text
    assert "pieces/s" in text
