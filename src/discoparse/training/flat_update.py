"""Averaged SGD on parameters that lie one after the other in memory: few kernels, and nothing to ask the host.

It does what `Optimisation.update` does. What changes from update to update (the rate, the noise, the share of the
average) is computed beforehand for a whole epoch, so that a CUDA graph can find it on the device.

Shapes: P numbers in all parameters together.
"""

from __future__ import annotations

import torch
from torch import Tensor

from discoparse.neural import kernels
from discoparse.training.optimisation import Optimisation, learning_rate, noise_deviation


class FlatUpdate:
    """Moves the parameters of an `Optimisation` and their averages into two tensors, and updates these.

    The network and the `Optimisation` go on to see the same numbers, as views.
    """

    def __init__(self, optimisation: Optimisation, most_updates: int) -> None:
        """`most_updates` is how many are scheduled at once, at most."""
        self.optimisation = optimisation
        given, averages = optimisation.parameters, optimisation.average
        # Matrix products are faster with operands at multiples of 16 bytes, so odd sizes, all biases, come last. The
        # weights of the two directions of a bi-LSTM lie side by side: they are used together.
        names = [name.replace(".forward_lstm.", ".").replace(".backward_lstm.", ".") for name in optimisation.names]
        order = sorted(range(len(given)), key=lambda k: (given[k].numel() % 4 != 0, names[k]))
        self.parameters = [given[k] for k in order]
        self.values = torch.cat([parameter.detach().flatten() for parameter in self.parameters])  # [P]
        self.average = torch.cat([averages[k].flatten() for k in order])  # [P] in double precision
        self.gradient = torch.zeros_like(self.values)  # [P]
        start = 0
        for k in order:
            end, shape = start + given[k].numel(), given[k].shape
            given[k].data = self.values[start:end].view(shape)
            averages[k] = self.average[start:end].view(shape)
            start = end
        device = self.values.device
        self.zeros = self.values.new_zeros(max(parameter.numel() for parameter in self.parameters))
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
        found = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        parts = [
            self.zeros[: parameter.numel()] if gradient is None else gradient.flatten()
            for parameter, gradient in zip(self.parameters, found, strict=True)
        ]
        torch.cat(parts, out=self.gradient)
        norm = torch.linalg.vector_norm(self.gradient)
        recipe = self.optimisation.recipe
        if self.values.is_cuda and kernels.available():
            from discoparse.neural.kernels.averaging import averaged_update

            numbers = (self.schedule, self.cursor)
            noisy = recipe.gradient_noise > 0
            averaged_update(self.gradient, norm, self.values, self.average, *numbers, recipe.clip_norm, noisy, averaged)
        else:
            self._update(norm, averaged)
        self.cursor += 1

    @torch.no_grad()
    def _update(self, norm: Tensor, averaged: int) -> None:
        """What the kernel does."""
        recipe = self.optimisation.recipe
        rate, deviation, share = self.schedule.index_select(0, self.cursor)[0]
        if averaged == 2:
            self.average += (self.values - self.average) * self.schedule.index_select(0, self.cursor - 1)[0, 2]
        step = self.gradient * (recipe.clip_norm / (norm + 1e-6)).clamp(max=1.0)
        if recipe.gradient_noise:
            step += torch.randn_like(step) * deviation
        self.values -= rate * step
        if averaged:
            self.average += (self.values - self.average) * share
