"""One kernel a position computes what PyTorch's LSTM does: on a GPU if there is one, else in Triton's interpreter."""

from __future__ import annotations

import os

import pytest
import torch

from discoparse.neural.network import BiLSTM

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("discoparse.neural.kernels.stepwise", reason="Triton is not installed", exc_type=ImportError)


@pytest.mark.parametrize(("hidden", "width", "length"), [(5, 6, 4), (8, 1, 1), (8, 3, 1), (37, 5, 5), (200, 3, 3)])
def test_states_and_gradients_are_those_of_the_lstm(hidden, width, length):
    """Sizes that fill no program's share, and sequences with and without padding."""
    torch.manual_seed(1)
    layer = BiLSTM(9, hidden)
    for parameter in layer.parameters():  # larger than usual, so that a step depends on the one before
        torch.nn.init.uniform_(parameter, -0.5, 0.5)
    lengths = torch.tensor([length])
    x = torch.randn(1, width, 9)
    inside = (torch.arange(width) < length)[None, :, None]
    wanted = torch.randn(1, width, 2 * hidden)
    x.requires_grad_()
    expected = layer(x, lengths)
    gradients = torch.autograd.grad((expected * wanted * inside).sum(), [x, *layer.parameters()])

    layer.to(DEVICE)
    layer.stepwise = True
    there = x.detach().to(DEVICE).requires_grad_()
    states = layer._states(there, lengths.to(DEVICE)).flatten(2)
    torch.testing.assert_close(states.cpu(), expected * inside, rtol=1e-3, atol=1e-4)
    found = torch.autograd.grad((states * wanted.to(DEVICE)).sum(), [there, *layer.parameters()])
    for ours, theirs in zip(found, gradients, strict=True):
        # A GPU may multiply with the ten bits of TF32 around the kernel.
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-3 if DEVICE == "cpu" else 2e-2, atol=1e-3)


def test_only_single_sequences_go_step_by_step(monkeypatch):
    """More of them are left to the kernel that is made for many."""
    from discoparse.neural.kernels import recurrence, stepwise

    used = []
    for module, name in ((recurrence, "recurrence"), (stepwise, "stepwise")):
        really = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *x, really=really, name=name: used.append(name) or really(*x))
    layer = BiLSTM(3, 4).to(DEVICE)
    one, two = torch.randn(1, 2, 3, device=DEVICE), torch.randn(2, 2, 3, device=DEVICE)
    for stepwise_too in (False, True):
        layer.stepwise = stepwise_too
        for x in (one, two):
            layer._states(x, torch.full((len(x),), 2, device=DEVICE))
    assert used == ["recurrence", "recurrence", "stepwise", "recurrence"]
