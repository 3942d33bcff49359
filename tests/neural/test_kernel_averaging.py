"""The kernel of averaged SGD: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import math
import os

import pytest
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
averaging = pytest.importorskip(
    "discoparse.neural.kernels.averaging", reason="Triton is not installed", exc_type=ImportError
)

COUNT = 5000  # several programs, the last with less to do
SCHEDULE = [[9.0, 9.0, 9.0], [0.5, 0.25, 0.125], [9.0, 9.0, 9.0]]


def numbers(seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(COUNT, generator=torch.Generator().manual_seed(seed), dtype=dtype).to(DEVICE)


def update(gradient, values, average, clip: float, noisy: bool, averaged: int = 1) -> None:
    """By the second row of the schedule."""
    schedule = torch.tensor(SCHEDULE, dtype=torch.float64, device=DEVICE)
    cursor = torch.ones(1, dtype=torch.long, device=DEVICE)
    averaging.averaged_update(gradient, gradient.norm(), values, average, schedule, cursor, clip, noisy, averaged)


@pytest.mark.parametrize("clip", [3.0, 1000.0])
def test_clipping_step_and_average(clip):
    gradient, values, average = numbers(1), numbers(2), numbers(3, torch.float64)
    step = gradient * min(1.0, clip / gradient.norm().item())
    expected = values - 0.5 * step
    mean = average + 0.125 * (expected.double() - average)
    update(gradient, values, average, clip, noisy=False)
    torch.testing.assert_close(values, expected)
    torch.testing.assert_close(average, mean, rtol=1e-6, atol=1e-6)


def test_parameters_without_a_gradient():
    """The last ones may have none: they stay where they are, but for the noise."""
    gradient, values, average = numbers(1)[:1500], numbers(2), numbers(3, torch.float64)
    expected = torch.cat([values[:1500] - 0.5 * gradient, values[1500:]])
    update(gradient, values, average, 1000.0, noisy=False)
    torch.testing.assert_close(values, expected)


def test_nothing_is_written_beyond_the_end():
    """Of parameters that fill no whole number of programs."""
    values, average = (torch.full((COUNT + 1024,), 7.0, dtype=kind, device=DEVICE) for kind in (None, torch.float64))
    update(numbers(1), values[:COUNT], average[:COUNT], 1000.0, noisy=True)
    for memory in (values, average):
        assert (memory[:COUNT] != 7).all()
        assert (memory[COUNT:] == 7).all()


def test_two_steps_of_the_average_in_one_pass():
    """The values before the update, with the share of the row before, and those after it."""
    gradient, values, average = numbers(1), numbers(2), numbers(3, torch.float64)
    first = average + SCHEDULE[0][2] * (values.double() - average)
    after = values - 0.5 * gradient
    mean = first + 0.125 * (after.double() - first)
    update(gradient, values, average, 1000.0, noisy=False, averaged=2)
    torch.testing.assert_close(average, mean, rtol=1e-6, atol=1e-6)
    untouched = average.clone()
    update(gradient, values, average, 1000.0, noisy=False, averaged=0)
    torch.testing.assert_close(values, after - 0.5 * gradient)
    assert torch.equal(average, untouched)


def test_the_average_is_in_double_precision():
    """What single precision would round away stays."""
    values, average = torch.zeros(COUNT, device=DEVICE), torch.full((COUNT,), 1 + 1e-12, device=DEVICE).double()
    average += 1e-12
    expected = average * 0.875
    update(torch.zeros(COUNT, device=DEVICE), values, average, 1.0, noisy=False)
    torch.testing.assert_close(average, expected, rtol=1e-15, atol=0)


def test_noise_is_normal_and_new_in_every_update():
    """After clipping, with the deviation of the schedule, another one for every parameter and every update."""
    torch.manual_seed(1)
    drawn = []
    for _ in range(4):
        values, average = torch.zeros(COUNT, device=DEVICE), torch.zeros(COUNT, device=DEVICE).double()
        update(torch.ones(COUNT, device=DEVICE), values, average, clip=1e-6, noisy=True)
        drawn.append(values / -0.5)
    noise = torch.stack(drawn)
    count = noise.numel()
    assert noise.unique().numel() > 0.99 * count
    assert noise.std().item() == pytest.approx(0.25, rel=4 / math.sqrt(2 * count))
    assert abs(noise.mean().item()) < 4 * 0.25 / math.sqrt(count)
    inside = (noise.abs() < 0.25).double().mean().item()  # normal: 68 % within one deviation
    assert inside == pytest.approx(0.6827, abs=4 * math.sqrt(0.2166 / count))
    assert torch.corrcoef(noise).fill_diagonal_(0).abs().max().item() < 4 / math.sqrt(COUNT)
