"""The recurrence of a bi-LSTM layer over one sequence, one kernel a position, for CUDA graphs.

The kernel of `recurrence` takes sixteen sequences at once, and all of a direction's weights go through one
multiprocessor at every position. For a single sequence most of that is lost. Here the units are shared out among many
programs instead, which must wait for each other after every position: a launch of its own for each does that, and
costs almost nothing within a CUDA graph. Outside of one it would be slow.

Products are in single precision. Shapes as in `recurrence`, with B = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from discoparse.neural.kernels.functions import sigmoid, tanh
from discoparse.neural.kernels.recurrence import weight_gradient

_UNITS = 2  # of one program
_WARPS = 1  # sums within one warp need no barrier


@triton.jit(do_not_specialize=["t"])
def _forward(  # type: ignore[no-untyped-def]
    inputs,  # [N, 2, 4H] of the gates, before the recurrent part is added
    weight,  # [2, 4H, H]
    lengths,  # [1]
    state,  # [N, 2, H] out
    cell,  # [N, 2, H] out
    gates,  # [N, 2, 4H] out, after their sigmoid or tanh
    t,
    hidden: tl.constexpr,
    units: tl.constexpr,
    depth: tl.constexpr,
):
    direction = tl.program_id(1)
    unit = tl.program_id(0) * units + tl.arange(0, units)
    known = unit < hidden
    length = tl.load(lengths).to(tl.int32)
    active = known & (t < length)  # no branch: weights are fetched before the length is there
    now = tl.where(direction == 0, t, length - 1 - t) * 2 + direction
    before = now + tl.where(direction == 0, -2, 2)
    at = now * 4 * hidden + unit
    enter = tl.load(inputs + at, mask=active, other=0.0)
    forget = tl.load(inputs + at + hidden, mask=active, other=0.0)
    fresh = tl.load(inputs + at + 2 * hidden, mask=active, other=0.0)
    leave = tl.load(inputs + at + 3 * hidden, mask=active, other=0.0)
    old = tl.zeros([units], tl.float32)
    if t > 0:
        c = tl.arange(0, depth)
        w = weight + direction * 4 * hidden * hidden + unit[:, None] * hidden + c[None, :]
        both = known[:, None] & (c < hidden)[None, :]
        enter_weight = tl.load(w, mask=both, other=0.0)
        forget_weight = tl.load(w + hidden * hidden, mask=both, other=0.0)
        fresh_weight = tl.load(w + 2 * hidden * hidden, mask=both, other=0.0)
        leave_weight = tl.load(w + 3 * hidden * hidden, mask=both, other=0.0)
        h = tl.load(state + before * hidden + c, mask=(c < hidden) & (t < length), other=0.0)[None, :]
        old = tl.load(cell + before * hidden + unit, mask=active, other=0.0)
        enter += tl.sum(enter_weight * h, axis=1)
        forget += tl.sum(forget_weight * h, axis=1)
        fresh += tl.sum(fresh_weight * h, axis=1)
        leave += tl.sum(leave_weight * h, axis=1)
    enter, forget, fresh, leave = sigmoid(enter), sigmoid(forget), tanh(fresh), sigmoid(leave)
    new = forget * old + enter * fresh
    tl.store(cell + now * hidden + unit, new, mask=active)
    tl.store(state + now * hidden + unit, leave * tanh(new), mask=active)
    tl.store(gates + at, enter, mask=active)
    tl.store(gates + at + hidden, forget, mask=active)
    tl.store(gates + at + 2 * hidden, fresh, mask=active)
    tl.store(gates + at + 3 * hidden, leave, mask=active)


@triton.jit(do_not_specialize=["t"])
def _backward(  # type: ignore[no-untyped-def]
    grad_state,  # [N, 2, H]
    weight,  # [2, H, 4H], transposed
    lengths,  # [1]
    cell,  # [N, 2, H]
    gates,  # [N, 2, 4H]
    grad_cell,  # [2, H] working space
    grad_gates,  # [N, 2, 4H] out, before their sigmoid or tanh
    t,
    hidden: tl.constexpr,
    units: tl.constexpr,
    depth: tl.constexpr,
):
    direction = tl.program_id(1)
    unit = tl.program_id(0) * units + tl.arange(0, units)
    known = unit < hidden
    c = tl.arange(0, depth)
    both = known[:, None] & (c < 4 * hidden)[None, :]
    w = tl.load(
        weight + direction * 4 * hidden * hidden + unit[:, None] * 4 * hidden + c[None, :], mask=both, other=0.0
    )
    length = tl.load(lengths).to(tl.int32)
    active, followed = known & (t < length), t + 1 < length
    now = tl.where(direction == 0, t, length - 1 - t) * 2 + direction
    before = now + tl.where(direction == 0, -2, 2)
    after = now + tl.where(direction == 0, 2, -2)
    g = tl.load(grad_gates + after * 4 * hidden + c, mask=(c < 4 * hidden) & followed, other=0.0)
    grad = tl.load(grad_state + now * hidden + unit, mask=active, other=0.0) + tl.sum(w * g[None, :], axis=1)
    at = now * 4 * hidden + unit
    enter = tl.load(gates + at, mask=active, other=0.0)
    forget = tl.load(gates + at + hidden, mask=active, other=0.0)
    fresh = tl.load(gates + at + 2 * hidden, mask=active, other=0.0)
    leave = tl.load(gates + at + 3 * hidden, mask=active, other=0.0)
    new = tanh(tl.load(cell + now * hidden + unit, mask=active, other=0.0))
    old = tl.load(cell + before * hidden + unit, mask=active & (t > 0), other=0.0)
    carried = grad_cell + direction * hidden + unit
    inner = tl.load(carried, mask=active & followed, other=0.0) + grad * leave * (1 - new * new)
    tl.store(carried, inner * forget, mask=active)
    tl.store(grad_gates + at, inner * fresh * enter * (1 - enter), mask=active)
    tl.store(grad_gates + at + hidden, inner * old * forget * (1 - forget), mask=active)
    tl.store(grad_gates + at + 2 * hidden, inner * enter * (1 - fresh * fresh), mask=active)
    tl.store(grad_gates + at + 3 * hidden, grad * new * leave * (1 - leave), mask=active)


class _Stepwise(torch.autograd.Function):
    """States from the gates' inputs; the arguments are those of `stepwise`."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
        _, width, _, size = inputs.shape
        hidden = size // 4
        state = inputs.new_zeros(1, width, 2, hidden)  # padding stays 0
        cell = torch.empty_like(state)
        gates = torch.empty_like(inputs)
        sizes = {"hidden": hidden, "units": _UNITS, "depth": triton.next_power_of_2(hidden), "num_warps": _WARPS}
        with torch.cuda.device_of(inputs):  # Triton launches on the current GPU
            for t in range(width):
                _forward[triton.cdiv(hidden, _UNITS), 2](inputs, weight, lengths, state, cell, gates, t, **sizes)
        ctx.save_for_backward(weight, lengths, state, cell, gates)
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_state: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, lengths, state, cell, gates = ctx.saved_tensors
        _, width, _, hidden = state.shape
        grad_state, turned = grad_state.contiguous(), weight.transpose(1, 2).contiguous()
        grad_gates = torch.zeros_like(gates)  # padding stays 0
        grad_cell = torch.empty_like(state[0, 0])
        sizes = {"hidden": hidden, "units": _UNITS, "depth": triton.next_power_of_2(4 * hidden), "num_warps": _WARPS}
        with torch.cuda.device_of(gates):
            for t in reversed(range(width)):
                _backward[triton.cdiv(hidden, _UNITS), 2](
                    grad_state, turned, lengths, cell, gates, grad_cell, grad_gates, t, **sizes
                )
        return grad_gates, weight_gradient(grad_gates, state), None


def stepwise(inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
    """What `recurrence` computes, for one sequence: [1, N, 2, 4H] and [2, 4H, H] -> [1, N, 2, H]."""
    apply: Callable[..., Tensor] = _Stepwise.apply  # which has no annotations
    return apply(inputs.contiguous(), weight.contiguous(), lengths.contiguous())
