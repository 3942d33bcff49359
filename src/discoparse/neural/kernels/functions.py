"""What the kernels compute element by element."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def sigmoid(x):  # type: ignore[no-untyped-def]
    return 1 / (1 + tl.exp(-x))


@triton.jit
def tanh(x):  # type: ignore[no-untyped-def]
    return 1 - 2 / (tl.exp(2 * x) + 1)
