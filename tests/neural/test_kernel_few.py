"""Kernels for few sequences compute what PyTorch's LSTM does: on a GPU if there is one, else in Triton's interpreter.

They are `narrow`, for the characters of a sentence's words, and `stepwise`, for one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from discoparse.neural.network import BiLSTM

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("discoparse.neural.kernels.stepwise", reason="Triton is not installed", exc_type=ImportError)

from discoparse.neural.kernels import narrow, recurrence, stepwise  # noqa: E402


@pytest.fixture
def no_lucky_memory() -> Iterator[None]:
    """New memory on a CPU is full of NaN, so that reading it before anything is written there shows."""
    torch.use_deterministic_algorithms(DEVICE == "cpu")
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("no_lucky_memory")
@pytest.mark.parametrize(
    ("kernel", "hidden", "width", "lengths"),
    [
        ("stepwise", 5, 6, [4]),
        ("stepwise", 8, 1, [1]),
        ("stepwise", 8, 3, [1]),
        ("stepwise", 17, 3, [3]),
        *([("stepwise", 200, 20, [17])] if DEVICE == "cuda" else []),
        ("narrow", 5, 6, [4, 6, 1]),
        ("narrow", 50, 7, [3, 1, 7, 5]),
        ("narrow", 64, 3, [3]),
    ],
)
def test_states_and_gradients_are_those_of_the_lstm(kernel, hidden, width, lengths, monkeypatch):
    """Sizes that fill no program's share, and sequences with and without padding."""
    torch.manual_seed(1)
    layer = BiLSTM(9, hidden)
    for parameter in layer.parameters():  # larger than usual, so that a position depends on the one before
        torch.nn.init.uniform_(parameter, -0.5, 0.5)
    counts = torch.tensor(lengths)
    x = torch.randn(len(lengths), width, 9)
    inside = (torch.arange(width) < counts[:, None])[:, :, None]
    wanted = torch.randn(len(lengths), width, 2 * hidden)
    x.requires_grad_()
    expected = layer(x, counts)
    gradients = torch.autograd.grad((expected * wanted * inside).sum(), [x, *layer.parameters()])

    if kernel == "stepwise":
        monkeypatch.setattr(narrow, "WIDEST", 0)
    used = watch(monkeypatch)
    layer.to(DEVICE)
    layer.few = True
    there = x.detach().to(DEVICE).requires_grad_()
    states = layer._states(there, counts.to(DEVICE)).flatten(2)
    assert used == [kernel]
    torch.testing.assert_close(states.cpu(), expected * inside, rtol=1e-3, atol=1e-3)
    # Transposed, so that the gradient that arrives is not contiguous.
    loss = (states.transpose(1, 2) * wanted.to(DEVICE).transpose(1, 2).contiguous()).sum()
    found = torch.autograd.grad(loss, [there, *layer.parameters()])
    for ours, theirs in zip(found, gradients, strict=True):
        # A GPU may multiply with the ten bits of TF32 around the kernel.
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-3 if DEVICE == "cpu" else 2e-2, atol=1e-3)


def _noted(kernel: Callable[..., Tensor], used: list[str]) -> Callable[..., Tensor]:
    """The same kernel, which adds its name to `used`."""

    def noted(*arguments: Tensor) -> Tensor:
        used.append(kernel.__name__)
        return kernel(*arguments)

    return noted


def watch(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are used from now on."""
    used: list[str] = []
    for module, name in ((recurrence, "recurrence"), (stepwise, "stepwise"), (narrow, "narrow")):
        monkeypatch.setattr(module, name, _noted(getattr(module, name), used))
    return used


def test_which_kernel_is_used(monkeypatch):
    """Those for few sequences only where few are expected, and step by step only for one."""
    used = watch(monkeypatch)
    for hidden in (4, narrow.WIDEST + 1):
        layer = BiLSTM(3, hidden).to(DEVICE)
        for few in (False, True):
            layer.few = few
            for count in (1, 2):
                lengths = torch.full((count,), 2, device=DEVICE)
                layer._states(torch.randn(count, 2, 3, device=DEVICE), lengths)
    assert used[:4] == ["recurrence", "recurrence", "narrow", "narrow"]
    assert used[4:] == ["recurrence", "recurrence", "stepwise", "recurrence"]
