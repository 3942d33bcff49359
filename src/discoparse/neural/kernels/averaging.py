"""One update of averaged SGD as one kernel: clipping, noise, the step and the running mean in a single pass."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 1024  # numbers of one program


@triton.jit
def _update(  # type: ignore[no-untyped-def]
    gradient,  # [G] of the first parameters; the rest have none
    norm,  # [] of the whole gradient
    values,  # [P] in and out
    average,  # [P] in and out, in double precision
    schedule,  # [updates, 3] learning rate, deviation of the noise, share of the new values in the average
    cursor,  # [1] the row of this update
    seed,  # [1]
    count,  # P
    used,  # G
    clip,
    noisy: tl.constexpr,
    averaged: tl.constexpr,
    block: tl.constexpr,
):
    row = schedule + tl.load(cursor) * 3
    rate = tl.load(row).to(tl.float32)
    place = tl.program_id(0) * block + tl.arange(0, block)
    there = place < count
    step = tl.load(gradient + place, mask=place < used, other=0.0)
    step *= tl.minimum(clip / (tl.load(norm) + 1e-6), 1.0)  # as torch.nn.utils.clip_grad_norm_
    if noisy:
        step += tl.load(row + 1).to(tl.float32) * tl.randn(tl.load(seed), place)
    before = tl.load(values + place, mask=there, other=0.0)
    value = before - rate * step
    tl.store(values + place, value, mask=there)
    if averaged > 0:
        mean = tl.load(average + place, mask=there, other=0.0)
        if averaged == 2:
            mean += (before.to(tl.float64) - mean) * tl.load(row - 1)
        mean += (value.to(tl.float64) - mean) * tl.load(row + 2)
        tl.store(average + place, mean, mask=there)


def averaged_update(
    gradient: Tensor,
    norm: Tensor,
    values: Tensor,
    average: Tensor,
    schedule: Tensor,
    cursor: Tensor,
    clip: float,
    noisy: bool,
    averaged: int = 1,
) -> None:
    """Update parameters [P] and their average [P] by a gradient of the first of them [G <= P].

    The numbers of this update are in row `cursor` of `schedule`.
    The average takes in the new values, or the old and the new ones (2), or nothing (0): going through it takes more
    time than all the rest, so two updates may share one pass.
    """
    seed = torch.randint(1 << 31, (1,), device=values.device) if noisy else cursor
    grid = (triton.cdiv(len(values), _BLOCK),)
    with torch.cuda.device_of(values):  # Triton launches on the current GPU
        _update[grid](
            gradient,
            norm,
            values,
            average,
            schedule,
            cursor,
            seed,
            len(values),
            len(gradient),
            clip,
            noisy=noisy,
            averaged=averaged,
            block=_BLOCK,
        )
