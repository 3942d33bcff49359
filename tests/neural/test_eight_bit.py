"""Eight-bit products: what they compute, and when they are used."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from discoparse.neural import eight_bit
from discoparse.neural.eight_bit import EightBitLinear, products_are_exact

exact = pytest.mark.skipif(not products_are_exact(), reason="this machine has no exact eight-bit products")


def layer(bias: bool = True) -> EightBitLinear:
    torch.manual_seed(1)
    return EightBitLinear(24, 10, bias=bias)


@exact
@pytest.mark.parametrize("bias", [True, False])
def test_whole_numbers_are_multiplied_exactly(bias):
    """Weights and inputs that eight bits can hold, each row with its own factor."""
    linear = layer(bias)
    with torch.no_grad():
        linear.weight.copy_(torch.randint(-127, 128, (10, 24)) * torch.rand(10, 1))
        linear.weight[:, 0] = 127 * linear.weight.abs().amax(1)  # the largest of each row, so that factors are known
        linear.weight[:, 1:] = torch.randint(-127, 128, (10, 23)) * linear.weight[:, :1] / 127
    x = torch.randint(-127, 128, (2, 5, 24)).float()
    x[..., 0] = 127
    x *= torch.rand(2, 5, 1)
    with torch.inference_mode():
        torch.testing.assert_close(linear(x), F.linear(x, linear.weight, linear.bias), rtol=1e-4, atol=1e-2)


@exact
def test_other_numbers_are_rounded():
    """To within one part in a hundred of the result's size; by no more where rows differ in size by a thousand."""
    linear = layer()
    x = torch.randn(50, 24) * torch.tensor([1.0, 1000.0]).repeat(25)[:, None]
    with torch.inference_mode():
        found = linear(x)
    plain = F.linear(x, linear.weight, linear.bias).detach()
    assert not torch.equal(found, plain)
    assert ((found - plain).norm(dim=1) / plain.norm(dim=1)).max() < 0.03


def test_rows_of_zeros_give_the_bias():
    linear = layer()
    with torch.inference_mode():
        torch.testing.assert_close(linear(torch.zeros(3, 24)), linear.bias.expand(3, -1))


@exact
def test_weights_that_change_are_rounded_again():
    linear = layer()
    x = torch.randn(4, 24)
    with torch.inference_mode():
        before = linear(x)
    linear.load_state_dict({"weight": 2 * linear.weight, "bias": 2 * linear.bias})
    with torch.inference_mode():
        torch.testing.assert_close(linear(x), 2 * before)


def test_training_is_in_single_precision():
    linear = layer()
    x = torch.randn(4, 24)
    assert torch.equal(linear(x), F.linear(x, linear.weight, linear.bias))


def test_a_machine_without_exact_products_uses_single_precision(monkeypatch):
    monkeypatch.setattr(torch, "_int_mm", lambda one, other: torch.zeros(len(one), other.shape[1], dtype=torch.int32))
    products_are_exact.cache_clear()
    assert not products_are_exact()
    monkeypatch.delattr(torch, "_int_mm")
    products_are_exact.cache_clear()
    try:
        assert not products_are_exact()
        linear, x = layer(), torch.randn(4, 24)
        with torch.inference_mode():
            torch.testing.assert_close(linear(x), F.linear(x, linear.weight, linear.bias))
    finally:
        products_are_exact.cache_clear()


@pytest.mark.parametrize("sign", [1, -1])
def test_products_that_saturate_are_not_used(monkeypatch, sign):
    """At either end: as where pairs of products are added in sixteen bits."""
    exactly = torch._int_mm

    def saturating(one, other):
        return (sign * exactly(one, other)).clamp(max=100_000) * sign

    monkeypatch.setattr(torch, "_int_mm", saturating)
    products_are_exact.cache_clear()
    try:
        assert not products_are_exact()
    finally:
        products_are_exact.cache_clear()


def test_copies_make_their_own_eight_bits():
    linear = layer()
    x = torch.randn(4, 24)
    with torch.inference_mode():
        expected = linear(x)
        for other in (copy.deepcopy(linear), pickle.loads(pickle.dumps(linear))):
            assert other._copy is None
            torch.testing.assert_close(other(x), expected)
    assert eight_bit.EightBitLinear is type(linear)
    assert isinstance(linear, nn.Linear)
