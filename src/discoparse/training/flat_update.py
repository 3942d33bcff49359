"""Averaged SGD on parameters that lie one after the other in memory: few kernels, and nothing to ask the host.

It does what `Optimisation.update` does. What changes from update to update (the rate, the noise, the share of the
average) is computed beforehand for a whole epoch, so that a CUDA graph can find it on the device.

Shapes: P numbers in all parameters together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from discoparse.neural import kernels
from discoparse.training.optimisation import Optimisation, learning_rate, noise_deviation

# In numbers of four bytes: matrix products are faster with operands at multiples of 16 bytes, and the kernel loads four
# numbers at once only if their count is a multiple of 16.
_ALIGNED, _ALL_ALIGNED = 4, 16


def _gaps(sizes: Sequence[int], groups: Sequence[bool]) -> list[int]:
    """What is left free behind each parameter, so that the next one is aligned, and the next group even more so.

    >>> _gaps([8, 3, 5, 16], [False, False, False, True])
    [0, 1, 15, 0]
    """
    gaps, end = [], 0
    for k, size in enumerate(sizes):
        last = k + 1 == len(sizes) or groups[k] != groups[k + 1]
        gaps.append(-(end + size) % (_ALL_ALIGNED if last else _ALIGNED))
        end += size + gaps[-1]
    return gaps


class FlatUpdate:
    """Moves the parameters of an `Optimisation` and their averages into two tensors, and updates these.

    The network and the `Optimisation` go on to see the same numbers, as views.
    """

    def __init__(
        self, optimisation: Optimisation, most_updates: int, comes_last: Callable[[str], bool] = lambda name: False
    ) -> None:
        """`most_updates` is how many are scheduled at once, at most. Parameters that have no gradient in many updates
        should come last: they then take less time."""
        self.optimisation = optimisation
        given, averages = optimisation.parameters, optimisation.average
        # The weights of the two directions of a bi-LSTM lie side by side: they are used together.
        names = [name.replace(".forward_lstm.", ".").replace(".backward_lstm.", ".") for name in optimisation.names]
        order = sorted(range(len(given)), key=lambda k: (comes_last(names[k]), names[k]))
        self.parameters = [given[k] for k in order]
        sizes = [parameter.numel() for parameter in self.parameters]
        self.gaps = _gaps(sizes, [comes_last(names[k]) for k in order])
        self.values = given[0].new_zeros(sum(sizes) + sum(self.gaps), requires_grad=False)  # [P]
        self.average = torch.zeros_like(self.values, dtype=optimisation.precision)  # [P]
        self.gradient = torch.zeros_like(self.values)  # [P]
        start = 0
        for k, size, gap in zip(order, sizes, self.gaps, strict=True):
            for flat, tensor in ((self.values, given[k]), (self.average, averages[k])):
                flat[start : start + size] = tensor.detach().flatten()
            given[k].data = self.values[start : start + size].view(given[k].shape)
            averages[k] = self.average[start : start + size].view(given[k].shape)
            start += size + gap
        device = self.values.device
        self.zeros = self.values.new_zeros(max(*sizes, *self.gaps))
        self.schedule = torch.zeros(most_updates, 3, dtype=torch.float64, device=device)
        self.cursor = torch.zeros(1, dtype=torch.long, device=device)  # the row of the next update

    def plan(self, updates: int) -> None:
        """Compute the rate, the deviation of the noise and the share of the average for the next updates."""
        optimisation, recipe = self.optimisation, self.optimisation.recipe
        rows = [
            (learning_rate(recipe, step, optimisation.total_steps), noise_deviation(recipe, step), 1 / step)
            for step in range(optimisation.step + 1, optimisation.step + updates + 1)
        ]
        self.schedule[:updates] = torch.tensor(rows, dtype=torch.float64).to(self.schedule.device)
        self.cursor.zero_()

    def __call__(self, loss: Tensor, averaged: int = 1) -> None:
        """Gradient of the loss, clipped and noised; one step; one step of the average. The host counts the steps.

        With `averaged` 0 the average is left behind, and the next update, with 2, takes both steps of it in one pass.
        """
        gradient = self._gradient(loss)
        norm = torch.linalg.vector_norm(gradient)
        recipe = self.optimisation.recipe
        if self.values.is_cuda and kernels.available():
            from discoparse.neural.kernels.averaging import averaged_update

            numbers = (self.schedule, self.cursor, recipe.clip_norm, recipe.gradient_noise > 0)
            averaged_update(gradient, norm, self.values, self.average, *numbers, averaged)
        else:
            self._update(gradient, norm, averaged)
        self.cursor += 1

    def _gradient(self, loss: Tensor) -> Tensor:
        """The gradient of all parameters, up to the last one that has any [at most P]."""
        found = list(torch.autograd.grad(loss, self.parameters, allow_unused=True))
        while found[-1] is None:
            found.pop()
        parts = []
        for parameter, gradient, gap in zip(self.parameters, found, self.gaps, strict=False):
            parts.append(self.zeros[: parameter.numel()] if gradient is None else gradient.flatten())
            if gap:
                parts.append(self.zeros[:gap])
        return torch.cat(parts, out=self.gradient[: sum(map(len, parts))])

    @torch.no_grad()
    def _update(self, gradient: Tensor, norm: Tensor, averaged: int) -> None:
        """What the kernel does."""
        recipe = self.optimisation.recipe
        rate, deviation, share = self.schedule.index_select(0, self.cursor)[0]
        if averaged == 2:
            self.average += (self.values - self.average) * self.schedule.index_select(0, self.cursor - 1)[0, 2]
        scale = (recipe.clip_norm / (norm + 1e-6)).clamp(max=1.0)
        self.values[: len(gradient)] -= rate * scale * gradient
        if recipe.gradient_noise:
            self.values -= rate * deviation * torch.randn_like(self.values)
        if averaged:
            self.average += (self.values - self.average) * share
