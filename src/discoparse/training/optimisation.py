"""One update of the parameters: learning rate, gradient clipping and noise, the optimiser, and averaging."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn, get_swa_multi_avg_fn

from discoparse.training.recipe import Recipe

Share = Callable[[str], float]  # of the learning rate, by the name of a parameter


def learning_rate(recipe: Recipe, step: int, total_steps: int, time_used: float = 0.0) -> float:
    """The rate of step t >= 1: a linear warm-up from 0, then the paper's slow decay or a cosine.

    The cosine ends with the last of `total_steps` or when all of the time is used, whichever comes first. The paper's
    rate depends on the number of the step alone.
    """
    if recipe.optimizer == "asgd":
        warm = max(recipe.warmup_steps, 1)
        peak = recipe.learning_rate / (1 + recipe.decay * max(step, warm))
        return peak * min(1.0, step / warm)
    progress = (step - recipe.warmup_steps) / max(1, total_steps - recipe.warmup_steps)
    progress = min(1.0, max(0.0, progress, time_used))
    cosine = (1 + math.cos(math.pi * progress)) / 2
    peak = recipe.learning_rate * (recipe.final_rate + (1 - recipe.final_rate) * cosine)
    return peak * min(1.0, step / max(recipe.warmup_steps, 1))


def noise_deviation(recipe: Recipe, step: int) -> float:
    """Standard deviation of the noise added to every gradient before update t (Neelakantan et al., 2015)."""
    return math.sqrt(recipe.gradient_noise / (1 + step) ** 0.55)


def _groups(trained: Sequence[tuple[str, Tensor]], weight_decay: float, share_of: Share) -> list[dict[str, Any]]:
    """Parameters by weight decay, and by the `share` of the learning rate that they have.

    Matrices decay; embeddings, biases and the nil vector do not.
    """
    groups: dict[tuple[bool, float], list[Tensor]] = {(True, 1.0): [], (False, 1.0): []}
    for name, parameter in trained:
        decays = parameter.dim() > 1 and "embedding" not in name
        groups.setdefault((decays, share_of(name)), []).append(parameter)
    return [
        {"params": parameters, "weight_decay": weight_decay if decays else 0.0, "share": share}
        for (decays, share), parameters in groups.items()
    ]


class Optimisation:
    """Updates a network and keeps the average of its parameters."""

    def __init__(
        self, network: nn.Module, recipe: Recipe, total_steps: int, share_of: Share = lambda name: 1.0
    ) -> None:
        self.recipe = recipe
        self.total_steps = total_steps
        self.time_used = 0.0  # share of the time that training may take, where it is limited
        self.step = 0
        trained = [(name, parameter) for name, parameter in network.named_parameters() if parameter.requires_grad]
        self.names = [name for name, _ in trained]
        self.parameters = [parameter for _, parameter in trained]
        self.frozen = {name: p.detach() for name, p in network.named_parameters() if not p.requires_grad}
        # The mean of all steps is kept in double precision: what the millionth adds to it would be lost in single.
        self.precision = torch.float64 if recipe.optimizer == "asgd" else torch.float32
        self.average = [parameter.detach().to(self.precision, copy=True) for parameter in self.parameters]
        self.adam: torch.optim.AdamW | None = None
        if recipe.optimizer == "adamw":
            self.adam = torch.optim.AdamW(
                _groups(trained, recipe.weight_decay, share_of),
                lr=recipe.learning_rate,
                betas=(0.9, recipe.beta2),
                fused=True,
            )

    def update(self, loss: Tensor) -> None:
        """Gradient of the loss, clipped and noised; one step of the optimiser; one step of the average.

        Noise comes last: the paper adds it before the update, and clipping would change its variance.
        """
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()
        self.step += 1
        rate = learning_rate(self.recipe, self.step, self.total_steps, self.time_used)
        nn.utils.clip_grad_norm_(self.parameters, self.recipe.clip_norm)
        self._add_noise()
        if self.adam is not None:
            for group in self.adam.param_groups:
                group["lr"] = rate * group["share"]
            self.adam.step()
        else:
            with torch.no_grad():
                for parameter in self.parameters:
                    if parameter.grad is not None:
                        parameter.add_(parameter.grad, alpha=-rate)
        self._update_average()

    def _update_average(self) -> None:
        """Add the parameters to their average."""
        current = [parameter.detach().to(self.precision) for parameter in self.parameters]
        if self.adam is None:  # the mean of all steps (Polyak and Juditsky, 1992)
            get_swa_multi_avg_fn()(self.average, current, self.step - 1)
        else:  # a short memory at first: the start of training is soon forgotten
            decay = min(self.recipe.average_decay, (1 + self.step) / (10 + self.step))
            get_ema_multi_avg_fn(decay)(self.average, current, self.step - 1)

    def finite(self) -> bool:
        """Whether all averaged parameters are finite numbers."""
        return bool(torch.stack([average.isfinite().all() for average in self.average]).all())

    def progress(self) -> float:
        """The share of the training that is over, in updates or in time, whichever is more."""
        return max(self.step / self.total_steps, self.time_used)

    def _add_noise(self) -> None:
        if not self.recipe.gradient_noise:
            return
        deviation = noise_deviation(self.recipe, self.step)
        for parameter in self.parameters:
            if parameter.grad is None:  # noise goes to the gradient of every parameter
                parameter.grad = torch.zeros_like(parameter)
            parameter.grad.add_(torch.randn_like(parameter), alpha=deviation)

    def averaged(self) -> dict[str, Tensor]:
        """The averaged parameters by name, and those that are not trained."""
        averages = {name: average.float() for name, average in zip(self.names, self.average, strict=True)}
        return averages | self.frozen

    # -- state, for checkpoints -----------------------------------------------------------------------------------

    def tensors(self) -> dict[str, Tensor]:
        """All that the next updates depend on, by name, but for the numbers `step` and `time_used`."""
        found = {f"parameter.{name}": p.detach() for name, p in zip(self.names, self.parameters, strict=True)}
        found.update({f"average.{name}": average for name, average in zip(self.names, self.average, strict=True)})
        if self.adam is not None:
            for number, state in self.adam.state_dict()["state"].items():
                found.update({f"adam.{number}.{key}": value for key, value in state.items()})
        return found

    @torch.no_grad()
    def load_tensors(self, found: dict[str, Tensor]) -> None:
        """Continue from what `tensors` gave."""
        for name, parameter, average in zip(self.names, self.parameters, self.average, strict=True):
            parameter.copy_(found[f"parameter.{name}"])
            average.copy_(found[f"average.{name}"])
        if self.adam is not None:
            states: dict[int, dict[str, Tensor]] = {}
            for name, tensor in found.items():
                kind, _, rest = name.partition(".")
                if kind == "adam":
                    number, _, key = rest.partition(".")
                    states.setdefault(int(number), {})[key] = tensor
            self.adam.load_state_dict({**self.adam.state_dict(), "state": states})
