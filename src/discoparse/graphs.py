"""CUDA graphs: a function of tensors is recorded once for each shape of its arguments and then replayed.

The lockstep loop is thousands of small kernels whose launches cost far more than their work; a replay launches them
all at once. The function must not wait for the device nor look at values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

WIDEST = 160  # tokens; longer sentences are rare and their recordings long
_STEPS = ((32, 4), (64, 8), (128, 16), (1 << 30, 32))  # up to so many tokens, round up to a multiple of


def bucket(length: int) -> int:
    """The width that a batch of sentences of this length is padded to, so that few shapes occur.

    >>> [bucket(n) for n in (1, 14, 33, 70, 200)]
    [4, 16, 40, 80, 224]
    """
    step = next(step for most, step in _STEPS if length <= most)
    return -(-length // step) * step


class Graphs:
    """Recordings of one function, by the shapes of its arguments; they share one pool of memory."""

    def __init__(self, function: Callable[..., Sequence[Tensor]]) -> None:
        self.function = function
        self.recordings: dict[tuple[torch.Size, ...], tuple[torch.cuda.CUDAGraph, list[Tensor], Sequence[Tensor]]] = {}
        self.pool: Any = None

    def __call__(self, *arguments: Tensor) -> Sequence[Tensor]:
        """The function's result; it is overwritten by the next call with the same shapes."""
        key = tuple(argument.shape for argument in arguments)
        if key not in self.recordings:
            self.recordings[key] = self._record(arguments)
        graph, inputs, outputs = self.recordings[key]
        for target, argument in zip(inputs, arguments, strict=True):
            target.copy_(argument)
        graph.replay()
        return outputs

    def _record(self, arguments: Sequence[Tensor]) -> tuple[torch.cuda.CUDAGraph, list[Tensor], Sequence[Tensor]]:
        inputs = [argument.detach().clone() for argument in arguments]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        if not self.recordings:  # libraries set themselves up on their first call
            with torch.cuda.stream(stream):
                self.function(*inputs)
            torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            outputs = self.function(*inputs)
        self.pool = graph.pool()
        return graph, inputs, outputs


def pad_batch(tensor: Tensor, batch: int) -> Tensor:
    """Repeat the first sentence until there are `batch`: [B, ...] -> [batch, ...]."""
    missing = batch - len(tensor)
    return torch.cat([tensor, tensor[:1].expand(missing, *tensor.shape[1:])]) if missing > 0 else tensor
