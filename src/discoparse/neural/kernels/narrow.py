"""The recurrence of a narrow bi-LSTM layer, such as that over characters, for few sequences.

The kernel of `recurrence` fetches the weights again at every position. Those of a narrow layer fit into the registers
of one program, which then takes one sequence in one direction from its first position to its last with the state in
registers, too. For very many sequences `recurrence` is better, since sixteen of them share what it fetches.

Products are in single precision. Shapes as in `recurrence`.
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

WIDEST = 64  # units
_WARPS = 8


@triton.jit
def _weights(weight, direction, unit, hidden: tl.constexpr):  # type: ignore[no-untyped-def]
    """The four gates' weights of one direction, [units, units] each."""
    w = weight + direction * 4 * hidden * hidden + unit[:, None] * hidden + unit[None, :]
    both = (unit < hidden)[:, None] & (unit < hidden)[None, :]
    enter = tl.load(w, mask=both, other=0.0)
    forget = tl.load(w + hidden * hidden, mask=both, other=0.0)
    fresh = tl.load(w + 2 * hidden * hidden, mask=both, other=0.0)
    leave = tl.load(w + 3 * hidden * hidden, mask=both, other=0.0)
    return enter, forget, fresh, leave


@triton.jit(do_not_specialize=["width"])
def _forward(  # type: ignore[no-untyped-def]
    inputs,  # [B, N, 2, 4H] of the gates, before the recurrent part is added
    weight,  # [2, 4H, H]
    lengths,  # [B]
    state,  # [B, N, 2, H] out
    cell,  # [B, N, 2, H] out
    gates,  # [B, N, 2, 4H] out, after their sigmoid or tanh
    width,
    hidden: tl.constexpr,
    units: tl.constexpr,
):
    row, direction = tl.program_id(0), tl.program_id(1)
    unit = tl.arange(0, units)
    known = unit < hidden
    w_enter, w_forget, w_fresh, w_leave = _weights(weight, direction, unit, hidden)
    length = tl.load(lengths + row).to(tl.int32)
    h, c = tl.zeros([units], tl.float32), tl.zeros([units], tl.float32)
    for t in range(0, length):
        now = (row * width + tl.where(direction == 0, t, length - 1 - t)) * 2 + direction
        at = now * 4 * hidden + unit
        enter = tl.load(inputs + at, mask=known, other=0.0) + tl.sum(w_enter * h[None, :], axis=1)
        forget = tl.load(inputs + at + hidden, mask=known, other=0.0) + tl.sum(w_forget * h[None, :], axis=1)
        fresh = tl.load(inputs + at + 2 * hidden, mask=known, other=0.0) + tl.sum(w_fresh * h[None, :], axis=1)
        leave = tl.load(inputs + at + 3 * hidden, mask=known, other=0.0) + tl.sum(w_leave * h[None, :], axis=1)
        enter, forget, fresh, leave = sigmoid(enter), sigmoid(forget), tanh(fresh), sigmoid(leave)
        c = forget * c + enter * fresh
        h = leave * tanh(c)
        tl.store(cell + now * hidden + unit, c, mask=known)
        tl.store(state + now * hidden + unit, h, mask=known)
        tl.store(gates + at, enter, mask=known)
        tl.store(gates + at + hidden, forget, mask=known)
        tl.store(gates + at + 2 * hidden, fresh, mask=known)
        tl.store(gates + at + 3 * hidden, leave, mask=known)


@triton.jit(do_not_specialize=["width"])
def _backward(  # type: ignore[no-untyped-def]
    grad_state,  # [B, N, 2, H]
    weight,  # [2, 4H, H]
    lengths,  # [B]
    cell,  # [B, N, 2, H]
    gates,  # [B, N, 2, 4H]
    grad_gates,  # [B, N, 2, 4H] out, before their sigmoid or tanh
    width,
    hidden: tl.constexpr,
    units: tl.constexpr,
):
    row, direction = tl.program_id(0), tl.program_id(1)
    unit = tl.arange(0, units)
    known = unit < hidden
    w_enter, w_forget, w_fresh, w_leave = _weights(weight, direction, unit, hidden)
    length = tl.load(lengths + row).to(tl.int32)
    carried = tl.zeros([units], tl.float32)  # the gradient of the cell, from the position after this one
    d_enter, d_forget = tl.zeros([units], tl.float32), tl.zeros([units], tl.float32)
    d_fresh, d_leave = tl.zeros([units], tl.float32), tl.zeros([units], tl.float32)
    for step in range(0, length):
        t = length - 1 - step
        now = (row * width + tl.where(direction == 0, t, length - 1 - t)) * 2 + direction
        before = now + tl.where(direction == 0, -2, 2)
        at = now * 4 * hidden + unit
        grad = tl.load(grad_state + now * hidden + unit, mask=known, other=0.0)
        products = w_enter * d_enter[:, None] + w_forget * d_forget[:, None]
        products += w_fresh * d_fresh[:, None] + w_leave * d_leave[:, None]
        grad += tl.sum(products, axis=0)
        enter = tl.load(gates + at, mask=known, other=0.0)
        forget = tl.load(gates + at + hidden, mask=known, other=0.0)
        fresh = tl.load(gates + at + 2 * hidden, mask=known, other=0.0)
        leave = tl.load(gates + at + 3 * hidden, mask=known, other=0.0)
        new = tanh(tl.load(cell + now * hidden + unit, mask=known, other=0.0))
        old = tl.load(cell + before * hidden + unit, mask=known & (t > 0), other=0.0)
        inner = carried + grad * leave * (1 - new * new)
        carried = inner * forget
        d_enter, d_forget = inner * fresh * enter * (1 - enter), inner * old * forget * (1 - forget)
        d_fresh, d_leave = inner * enter * (1 - fresh * fresh), grad * new * leave * (1 - leave)
        tl.store(grad_gates + at, d_enter, mask=known)
        tl.store(grad_gates + at + hidden, d_forget, mask=known)
        tl.store(grad_gates + at + 2 * hidden, d_fresh, mask=known)
        tl.store(grad_gates + at + 3 * hidden, d_leave, mask=known)


class _Narrow(torch.autograd.Function):
    """States from the gates' inputs; the arguments are those of `narrow`."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
        batch, width, _, size = inputs.shape
        hidden = size // 4
        state = inputs.new_zeros(batch, width, 2, hidden)  # padding stays 0
        cell = torch.empty_like(state)
        gates = torch.empty_like(inputs)
        sizes = {"hidden": hidden, "units": max(16, triton.next_power_of_2(hidden)), "num_warps": _WARPS}
        with torch.cuda.device_of(inputs):  # Triton launches on the current GPU
            _forward[batch, 2](inputs, weight, lengths, state, cell, gates, width, **sizes)
        ctx.save_for_backward(weight, lengths, state, cell, gates)
        ctx.sizes = sizes
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_state: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, lengths, state, cell, gates = ctx.saved_tensors
        batch, width = state.shape[:2]
        grad_gates = torch.zeros_like(gates)  # padding stays 0
        with torch.cuda.device_of(gates):
            _backward[batch, 2](grad_state.contiguous(), weight, lengths, cell, gates, grad_gates, width, **ctx.sizes)
        return grad_gates, weight_gradient(grad_gates, state), None


def narrow(inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
    """What `recurrence` computes, for layers of at most `WIDEST` units: [B, N, 2, 4H], [2, 4H, H] -> [B, N, 2, H]."""
    apply: Callable[..., Tensor] = _Narrow.apply  # which has no annotations
    return apply(inputs.contiguous(), weight.contiguous(), lengths.contiguous())
