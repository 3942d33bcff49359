"""The kernel computes what PyTorch's LSTM does: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import os

import pytest
import torch

from discoparse.neural.network import BiLSTM, both_ends

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
recurrence = pytest.importorskip(
    "discoparse.neural.kernels.recurrence", reason="Triton is not installed", exc_type=ImportError
)

LENGTHS = [1, 2, 3, 7, 7, 5, 4, 6, 1, 2, 3, 4, 5, 6, 7, 1, 2, 7, 3]
SIZES = [5, 50, 200] if DEVICE == "cpu" else [5, 50, 200, 300]
# A GPU multiplies with the ten bits of TF32.
TOLERANCE = {"atol": 1e-5, "rtol": 1e-4} if DEVICE == "cpu" else {"atol": 5e-3, "rtol": 5e-3}


@pytest.mark.parametrize("hidden", SIZES)
def test_states_and_gradients_are_those_of_the_lstm(hidden):
    """More sequences than a program has rows, and no size that fills the kernel's tiles."""
    compare(hidden)


def test_more_units_than_are_computed_at_once(monkeypatch):
    """In three turns, each of which adds up three products."""
    tiles = {"units": 16, "depth": 16, "num_warps": 4, "num_stages": 2}
    monkeypatch.setattr(recurrence, "_tiles", lambda *arguments, **options: tiles)
    compare(37)


def compare(hidden: int) -> None:
    """States are the same everywhere but in the padding, where they are 0 and a gradient means nothing; all parameters
    and the input get the same gradient."""
    torch.manual_seed(1)
    layer = BiLSTM(9, hidden)
    lengths = torch.tensor(LENGTHS)
    x = torch.randn(len(LENGTHS), max(LENGTHS), 9)
    inside = (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None]
    wanted = torch.randn(*x.shape[:2], 2 * hidden)
    x.requires_grad_()

    expected = layer(x, lengths)
    (expected * wanted * inside).sum().backward()
    expected_gradients = {name: p.grad.clone() for name, p in layer.named_parameters()}
    expected_input = x.grad.clone()
    expected_ends = layer.ends(x, lengths).detach()

    layer.zero_grad()
    layer.to(DEVICE)
    there = x.detach().to(DEVICE).requires_grad_()
    states = layer._states(there, lengths.to(DEVICE)).flatten(2)
    (states * wanted.to(DEVICE)).sum().backward()
    torch.testing.assert_close(states.cpu(), expected * inside, **TOLERANCE)
    torch.testing.assert_close(there.grad.cpu(), expected_input, **TOLERANCE)
    for name, parameter in layer.named_parameters():
        scale = expected_gradients[name].abs().max()
        torch.testing.assert_close(parameter.grad.cpu() / scale, expected_gradients[name] / scale, **TOLERANCE)
    with torch.inference_mode():  # nothing is kept for a gradient
        again = layer._states(there.detach(), lengths.to(DEVICE))
        torch.testing.assert_close(again.flatten(2), states, **TOLERANCE)
        torch.testing.assert_close(both_ends(again, lengths.to(DEVICE)).cpu(), expected_ends, **TOLERANCE)


def test_sequences_of_one_element():
    """Nothing recurs, so the recurrent weights get no gradient."""
    layer = BiLSTM(3, 4).to(DEVICE)
    x = torch.randn(2, 1, 3, device=DEVICE)
    lengths = torch.tensor([1, 1], device=DEVICE)
    states = layer._states(x, lengths).flatten(2)
    states.sum().backward()
    torch.testing.assert_close(
        states, torch.cat([layer.forward_lstm(x)[0], layer.backward_lstm(x)[0]], -1), **TOLERANCE
    )
    assert not layer.forward_lstm.weight_hh_l0.grad.any()
    assert layer.forward_lstm.weight_ih_l0.grad.any()
