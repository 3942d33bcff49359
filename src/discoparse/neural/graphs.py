"""A transformer's forward and backward passes as CUDA graphs: thousands of small kernels with one launch.

A graph belongs to a shape, so batches are padded to few shapes. Shapes: W windows of P pieces, E units.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_WARM_UP = 2  # passes before a capture, for libraries that set themselves up
ALIGNED = 8  # widths are multiples of this
Recorded = TypeVar("Recorded")
States = Callable[[Tensor, Tensor], Tensor]  # ids [W, P], lengths [W] -> [W, P, E]


def aligned(width: int) -> int:
    """The next width that has graphs.

    >>> aligned(8), aligned(9), aligned(100)
    (8, 16, 112)
    """
    step = ALIGNED if width <= 8 * ALIGNED else 2 * ALIGNED
    return -(-width // step) * step


class _Pass:
    """The two graphs of one shape, and the memory that they read and write."""

    def __init__(
        self,
        states: States,
        shape: tuple[int, int],
        gradients: dict[nn.Parameter, Tensor],
        pool: Any,
        stream: torch.cuda.Stream,
    ) -> None:
        device = next(iter(gradients)).device
        self.ids = torch.zeros(shape, dtype=torch.long, device=device)
        self.lengths = torch.full(shape[:1], shape[1], device=device)
        parameters = list(gradients)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                out = states(self.ids, self.lengths)
                torch.autograd.grad(out, parameters, torch.zeros_like(out), allow_unused=True)
            self.gradient = torch.zeros_like(out)
            del out
            torch.cuda.synchronize()
            self.forward, self.backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
            with captured(self.forward, pool):
                self.out = states(self.ids, self.lengths)
            with captured(self.backward, pool):
                found = torch.autograd.grad(self.out, parameters, self.gradient, allow_unused=True)
                for buffer, gradient in zip(gradients.values(), found, strict=True):
                    if gradient is not None:
                        buffer.copy_(gradient)
        self.out = self.out.detach()
        torch.cuda.current_stream().wait_stream(stream)


class captured:
    """Record a graph on the current stream. Unlike `torch.cuda.graph` without collecting garbage, which takes longer
    than the capture where a treebank is in memory."""

    def __init__(self, graph: torch.cuda.CUDAGraph, pool: Any) -> None:
        self.graph = graph
        self.pool = pool

    def __enter__(self) -> None:
        self.graph.capture_begin(pool=self.pool)

    def __exit__(self, *error: object) -> None:
        self.graph.capture_end()


def or_warn(record: Callable[[], Recorded], device: torch.device) -> Recorded | None:
    """What `record` gives; None, after a warning, where graphs cannot be captured: the code asks the GPU something in
    the middle of a pass, or there is no memory left."""
    generator = torch.cuda.default_generators[device.index]
    random = generator.clone_state()
    try:
        return record()
    except RuntimeError as error:
        warnings.warn(f"training is slower without CUDA graphs: {str(error).splitlines()[0]}", stacklevel=3)
        generator.graphsafe_set_state(random)  # the capture that failed still holds the one in use
        return None


class _Replay(torch.autograd.Function):
    """Replays a pass. The gradients of the parameters go from the graph's memory to `grad` without a copy."""

    @staticmethod
    def forward(ctx: Any, ids: Tensor, lengths: Tensor, graphs: Graphs, _: Tensor) -> Tensor:
        ctx.graphs, ctx.chosen = graphs, graphs.passes[tuple(ids.shape)]
        ctx.chosen.ids.copy_(ids)
        ctx.chosen.lengths.copy_(lengths)
        ctx.chosen.forward.replay()
        return ctx.chosen.out.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, None, None]:
        ctx.chosen.gradient.copy_(gradients[0])
        ctx.chosen.backward.replay()
        for parameter, gradient in ctx.graphs.gradients.items():
            parameter.grad = gradient
        return None, None, None, None


class Graphs:
    """Graphs of a function of ids and lengths, one pair for each shape that occurs.

    Only for training in which every forward pass is followed by its backward pass: the next one overwrites its memory,
    and the parameters' gradients are set, not added to.
    """

    def __init__(self, states: States, parameters: Sequence[nn.Parameter], padding: int, budget: int) -> None:
        self.states = states
        self.gradients = {parameter: torch.zeros_like(parameter) for parameter in parameters}
        self.padding = padding
        self.budget = budget  # pieces of a batch with padding: how many windows of a width are one shape
        self.passes: dict[tuple[int, ...], _Pass] = {}
        # Graphs are never in use at the same time, so they share memory: one pool, and one stream, since a pool gives
        # what was freed on a stream to that stream only.
        self.pool = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream()
        self.usable = True
        self.lever = torch.zeros((), device=parameters[0].device, requires_grad=True)  # makes the output differentiable

    def __call__(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[W, P] ids, [W] lengths -> [W, P, E]."""
        windows, width = ids.shape
        wide = aligned(width)
        many = max(self.budget // wide, 1)
        if not self.usable or windows > many:
            return self.states(ids, lengths)
        padded = F.pad(ids, (0, wide - width, 0, many - windows), value=self.padding)
        counted = F.pad(lengths, (0, many - windows), value=1)  # attention over nothing is undefined
        if (many, wide) not in self.passes:
            shape = (many, wide)
            made = or_warn(lambda: _Pass(self.states, shape, self.gradients, self.pool, self.stream), ids.device)
            if made is None:
                self.usable = False
                return self.states(ids, lengths)
            self.passes[shape] = made
        states: Tensor = _Replay.apply(padded, counted, self, self.lever)  # type: ignore[no-untyped-call]
        return states[:windows, :width]
