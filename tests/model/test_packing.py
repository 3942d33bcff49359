"""Parameters come back from disk as nearly as was promised, and nothing is made up where something is missing."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from discoparse.model.packing import pack, unpack


@given(st.integers(0, 1 << 30), st.integers(-8, 6), st.integers(1, 90))
def test_a_large_matrix_is_off_by_half_a_step_of_its_row_at_most(seed, power, width):
    """Rows of very different size do not disturb each other."""
    generator = torch.Generator().manual_seed(seed)
    rows = -(-4096 // width)
    matrix = torch.randn(rows, width, generator=generator) * 10.0 ** (power * torch.rand(rows, 1, generator=generator))
    packed = pack({"w": matrix})
    assert packed["w"].dtype == torch.int8
    step = matrix.abs().amax(1, keepdim=True) / 127
    assert ((unpack(packed)["w"] - matrix).abs() <= step * 0.5001).all()


def test_rows_of_zeros_and_small_tensors():
    """Zeros stay zeros; what is small is kept in half precision, or in full where that cannot hold it."""
    parameters = {"w": torch.zeros(64, 64), "b": torch.tensor([0.1, 2.0]), "large": torch.tensor([1.0, 1e6])}
    parameters["w"][3, 5] = -0.3
    packed = pack(parameters)
    assert packed["b"].dtype == torch.float16
    assert torch.equal(packed["large"], parameters["large"])
    found = unpack(packed)
    assert found.keys() == parameters.keys()
    assert torch.equal(found["w"] != 0, parameters["w"] != 0)
    assert all(tensor.dtype == torch.float32 for tensor in found.values())


def test_what_is_packed_stays_as_it_is():
    packed = pack({"w": torch.randn(64, 80), "b": torch.randn(5)})
    again = pack(packed)
    assert again.keys() == packed.keys()
    assert all(torch.equal(again[name], packed[name]) for name in packed)


@pytest.mark.parametrize("scale", [None, torch.ones(1, 1), torch.ones(65, 1)])
def test_a_matrix_without_its_factors_is_left_out(scale):
    """Whoever loads it finds it missing, instead of using wrong numbers."""
    packed = pack({"w": torch.randn(64, 80)})
    del packed["w.scale"]
    if scale is not None:
        packed["w.scale"] = scale
    assert "w" not in unpack(packed)


def test_numbers_that_are_none_are_not_hidden():
    """A training that went wrong is found out when the model is loaded."""
    broken = torch.randn(64, 80)
    broken[1, 1] = torch.nan
    assert unpack(pack({"w": broken}))["w"].isnan().any()
