"""The recurrence of a bi-LSTM layer as one kernel, and its gradient as another.

cuDNN launches several small kernels for every position and direction; launching them takes three times as long as
running them. Here one program takes some sequences in one direction from their first position to their last. What does
not depend on the state before (the product of inputs and weights, the gradients of all weights) is left to large matrix
products around it.

Products are in TF32, as cuDNN's are by default. (The kernel of `derivation` is more exact: what it computes decides.)

Shapes: B sequences of at most N positions, 2 directions, H units, four gates in PyTorch's order: input, forget, cell,
output. The second direction reads every sequence backwards from its own end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from discoparse.neural.kernels.functions import sigmoid, tanh

_ROWS = 16  # sequences of one program, the fewest rows of a matrix product
_WARPS = 8


@triton.jit(do_not_specialize=["batch", "width"])
def _forward(  # type: ignore[no-untyped-def]
    inputs,  # [B, N, 2, 4H] of the gates, before the recurrent part is added
    weight,  # [2, 4H, H]
    lengths,  # [B]
    state,  # [B, N, 2, H] out
    cell,  # [B, N, 2, H] out
    gates,  # [B, N, 2, 4H] out, after their sigmoid or tanh
    batch,
    width,
    hidden: tl.constexpr,
    keep_gates: tl.constexpr,
    rows: tl.constexpr,
    units: tl.constexpr,
    depth: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    direction = tl.program_id(1)
    there = row < batch
    length = tl.load(lengths + row, mask=there, other=0).to(tl.int32)
    weight += direction * 4 * hidden * hidden
    column = tl.arange(0, depth)
    for t in range(0, tl.max(length, axis=0)):
        active = (t < length)[:, None]
        position = row * width + tl.where(direction == 0, t, length - 1 - t)
        now = (position * 2 + direction)[:, None]
        before = now + tl.where(direction == 0, -2, 2)
        for first in range(0, hidden, units):
            unit = first + tl.arange(0, units)
            known = unit < hidden
            mask = active & known[None, :]
            at = now * 4 * hidden + unit[None, :]
            enter = tl.load(inputs + at, mask=mask, other=0.0)
            forget = tl.load(inputs + at + hidden, mask=mask, other=0.0)
            fresh = tl.load(inputs + at + 2 * hidden, mask=mask, other=0.0)
            leave = tl.load(inputs + at + 3 * hidden, mask=mask, other=0.0)
            old = tl.zeros([rows, units], tl.float32)
            if t > 0:
                old = tl.load(cell + before * hidden + unit[None, :], mask=mask, other=0.0)
                for k in range(0, hidden, depth):
                    c = k + column
                    h = tl.load(state + before * hidden + c[None, :], mask=active & (c < hidden)[None, :], other=0.0)
                    w = weight + unit[None, :] * hidden + c[:, None]
                    both = (c < hidden)[:, None] & known[None, :]
                    enter = tl.dot(h, tl.load(w, mask=both, other=0.0), enter, input_precision="tf32")
                    w += hidden * hidden
                    forget = tl.dot(h, tl.load(w, mask=both, other=0.0), forget, input_precision="tf32")
                    w += hidden * hidden
                    fresh = tl.dot(h, tl.load(w, mask=both, other=0.0), fresh, input_precision="tf32")
                    w += hidden * hidden
                    leave = tl.dot(h, tl.load(w, mask=both, other=0.0), leave, input_precision="tf32")
            enter, forget, fresh, leave = sigmoid(enter), sigmoid(forget), tanh(fresh), sigmoid(leave)
            new = forget * old + enter * fresh
            tl.store(cell + now * hidden + unit[None, :], new, mask=mask)
            tl.store(state + now * hidden + unit[None, :], leave * tanh(new), mask=mask)
            if keep_gates:
                tl.store(gates + at, enter, mask=mask)
                tl.store(gates + at + hidden, forget, mask=mask)
                tl.store(gates + at + 2 * hidden, fresh, mask=mask)
                tl.store(gates + at + 3 * hidden, leave, mask=mask)
        tl.debug_barrier()  # other threads read the state in the next step


@triton.jit(do_not_specialize=["batch", "width"])
def _backward(  # type: ignore[no-untyped-def]
    grad_state,  # [B, N, 2, H]
    weight,  # [2, 4H, H]
    lengths,  # [B]
    cell,  # [B, N, 2, H]
    gates,  # [B, N, 2, 4H]
    grad_cell,  # [B, 2, H] working space
    grad_gates,  # [B, N, 2, 4H] out, before their sigmoid or tanh
    batch,
    width,
    hidden: tl.constexpr,
    rows: tl.constexpr,
    units: tl.constexpr,
    depth: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    direction = tl.program_id(1)
    there = row < batch
    length = tl.load(lengths + row, mask=there, other=0).to(tl.int32)
    weight += direction * 4 * hidden * hidden
    column = tl.arange(0, depth)
    longest = tl.max(length, axis=0)
    for step in range(0, longest):
        t = longest - 1 - step
        active = (t < length)[:, None]
        followed = (t + 1 < length)[:, None]
        preceded = (tl.zeros([rows], tl.int32) < t)[:, None]  # a block: Triton 3.9 interprets no mask made of scalars
        position = row * width + tl.where(direction == 0, t, length - 1 - t)
        now = (position * 2 + direction)[:, None]
        before = now + tl.where(direction == 0, -2, 2)
        after = now + tl.where(direction == 0, 2, -2)
        for first in range(0, hidden, units):
            unit = first + tl.arange(0, units)
            known = unit < hidden
            mask = active & known[None, :]
            grad = tl.load(grad_state + now * hidden + unit[None, :], mask=mask, other=0.0)
            if step > 0:
                for k in range(0, 4 * hidden, depth):
                    c = k + column
                    g = tl.load(
                        grad_gates + after * 4 * hidden + c[None, :],
                        mask=followed & (c < 4 * hidden)[None, :],
                        other=0.0,
                    )
                    w = tl.load(
                        weight + c[:, None] * hidden + unit[None, :],
                        mask=(c < 4 * hidden)[:, None] & known[None, :],
                        other=0.0,
                    )
                    grad = tl.dot(g, w, grad, input_precision="tf32")
            at = now * 4 * hidden + unit[None, :]
            enter = tl.load(gates + at, mask=mask, other=0.0)
            forget = tl.load(gates + at + hidden, mask=mask, other=0.0)
            fresh = tl.load(gates + at + 2 * hidden, mask=mask, other=0.0)
            leave = tl.load(gates + at + 3 * hidden, mask=mask, other=0.0)
            new = tanh(tl.load(cell + now * hidden + unit[None, :], mask=mask, other=0.0))
            old = tl.load(cell + before * hidden + unit[None, :], mask=mask & preceded, other=0.0)
            # Loads and stores of these may be by different threads: the barrier after each step is for them, too.
            carried = grad_cell + (row * 2 + direction)[:, None] * hidden + unit[None, :]
            inner = tl.load(carried, mask=followed & known[None, :], other=0.0) + grad * leave * (1 - new * new)
            tl.store(carried, inner * forget, mask=mask)
            tl.store(grad_gates + at, inner * fresh * enter * (1 - enter), mask=mask)
            tl.store(grad_gates + at + hidden, inner * old * forget * (1 - forget), mask=mask)
            tl.store(grad_gates + at + 2 * hidden, inner * enter * (1 - fresh * fresh), mask=mask)
            tl.store(grad_gates + at + 3 * hidden, grad * new * leave * (1 - leave), mask=mask)
        tl.debug_barrier()  # other threads read the gates' gradients in the next step


@cache  # asking a GPU for its properties takes far longer than a launch
def _tiles(hidden: int, device: torch.device, products: int) -> dict[str, int]:
    """Units computed at once, columns multiplied at once, and how far weights are fetched ahead.

    `products` is the number of matrix products in a turn of the inner loop: one for each gate forward, one backward.
    The fastest on an H200; other GPUs may have room for less.
    """
    units = max(64, triton.next_power_of_2(hidden)) if hidden <= 256 else 128  # eight warps have work with 64 or more
    depth = (16 if units == 256 else 32) * (1 if products == 4 else 2)
    stages = 3
    if device.type == "cuda":
        room = triton.runtime.driver.active.utils.get_device_properties(device.index or 0)["max_shared_mem"]
        buffer = (products * units + _ROWS) * depth * 4  # weights and states in single precision; stages - 1 are held
        stages = min(stages, 1 + room // buffer)
    return {"units": units, "depth": depth, "num_warps": _WARPS, "num_stages": stages}


class _Recurrence(torch.autograd.Function):
    """States from the gates' inputs; the arguments are those of `recurrence`."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
        batch, width, _, size = inputs.shape
        hidden = size // 4
        state = inputs.new_zeros(batch, width, 2, hidden)  # padding stays 0
        cell = torch.empty_like(state)
        keep_gates = any(ctx.needs_input_grad)
        gates = torch.empty_like(inputs) if keep_gates else inputs.new_empty(0)
        tiles = _tiles(hidden, inputs.device, products=4)
        grid = (triton.cdiv(batch, _ROWS), 2)
        with torch.cuda.device_of(inputs):  # Triton launches on the current GPU
            _forward[grid](
                inputs, weight, lengths, state, cell, gates, batch, width, hidden, keep_gates, _ROWS, **tiles
            )
        ctx.save_for_backward(weight, lengths, state, cell, gates)
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_state: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, lengths, state, cell, gates = ctx.saved_tensors
        batch, width, _, hidden = state.shape
        grad_state = grad_state.contiguous()
        grad_gates = torch.zeros_like(gates)  # padding stays 0
        grad_cell = torch.empty_like(state[:, 0])
        tiles = _tiles(hidden, gates.device, products=1)
        grid = (triton.cdiv(batch, _ROWS), 2)
        with torch.cuda.device_of(gates):
            _backward[grid](
                grad_state, weight, lengths, cell, gates, grad_cell, grad_gates, batch, width, hidden, _ROWS, **tiles
            )
        return grad_gates, weight_gradient(grad_gates, state), None


def weight_gradient(grad_gates: Tensor, state: Tensor) -> Tensor:
    """The gradient of the recurrent weights: [B, N, 2, 4H], [B, N, 2, H] -> [2, 4H, H]."""
    # A state's successor is to its right in the first direction, to its left in the second.
    ahead = grad_gates[:, 1:, 0].flatten(0, 1).t() @ state[:, :-1, 0].flatten(0, 1)
    back = grad_gates[:, :-1, 1].flatten(0, 1).t() @ state[:, 1:, 1].flatten(0, 1)
    return torch.stack([ahead, back])


def recurrence(inputs: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
    """States of both directions from the gates' inputs [B, N, 2, 4H] and the recurrent weights [2, 4H, H].

    Returns [B, N, 2, H], zero past the end of a sequence.
    """
    apply: Callable[..., Tensor] = _Recurrence.apply  # which has no annotations
    return apply(inputs.contiguous(), weight.contiguous(), lengths.contiguous())
