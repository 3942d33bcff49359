"""Products of eight-bit matrices on a CPU, for a transformer whose matrices are kept in eight bits anyway.

The weights are exactly those of the model on disk (see `model.packing`). What a layer reads is rounded too, each row
with a factor of its own: two and a half times as fast, with nearly the same scores (research/lab-notebook.md).
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_MOST = 127


class EightBitLinear(nn.Linear):
    """A linear layer. Its weights stay as they are; the eight-bit copy is made when it is first needed."""

    _copy: tuple[object, Tensor, Tensor] | None = None  # of which weights, [in, out] and factors [out]

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]; in single precision while training and on a GPU."""
        if x.device.type != "cpu" or torch.is_grad_enabled() or not products_are_exact():
            return F.linear(x, self.weight, self.bias)
        weights, factors = self._eight_bit()
        rows = x.flatten(0, -2)
        factor = rows.abs().amax(1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny) / _MOST  # [rows, 1]
        sums = torch._int_mm((rows / factor).round_().to(torch.int8), weights).float()  # [rows, out]
        sums *= factor
        out = sums * factors if self.bias is None else torch.addcmul(self.bias, sums, factors)
        return out.view(*x.shape[:-1], -1)

    def _eight_bit(self) -> tuple[Tensor, Tensor]:
        """The weights in eight bits, made again when they have changed."""
        state = (self.weight.data_ptr(), 0 if self.weight.is_inference() else self.weight._version)
        if self._copy is None or self._copy[0] != state:
            weight = self.weight.detach()
            factors = weight.abs().amax(1).clamp(min=torch.finfo(weight.dtype).tiny) / _MOST
            self._copy = state, (weight / factors[:, None]).round().to(torch.int8).t(), factors
        return self._copy[1:]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_copy"}


@cache
def products_are_exact() -> bool:
    """Whether this machine multiplies eight-bit matrices, and exactly: some instructions saturate at large sums."""
    extreme = torch.full((32, 256), _MOST, dtype=torch.int8)
    sums = 256 * _MOST * _MOST
    try:
        return all(bool((torch._int_mm(extreme, sign * extreme.t()) == sign * sums).all()) for sign in (1, -1))
    except (AttributeError, RuntimeError):
        return False
