"""Parameters as they are kept on disk: large matrices as whole numbers, everything else in half precision.

A large matrix becomes numbers from -127 to 127 and a factor for each of its rows, half the size of half precision. That
costs hardly any accuracy (research/lab-notebook.md). Training evaluates parameters that went through this, so that the
scores are those of the model on disk.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from discoparse.model.unpacking import SCALE, unpack_arrays

_LARGE = 4096  # numbers; there is little to gain from smaller ones
_MOST = 127


def pack(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Parameters by name as they are kept; what is packed already stays as it is.

    >>> packed = pack({"w": torch.ones(64, 64), "b": torch.ones(64)})
    >>> {name: str(tensor.dtype) for name, tensor in packed.items()}
    {'w': 'torch.int8', 'w.scale': 'torch.float32', 'b': 'torch.float16'}
    """
    packed = {}
    for name, parameter in parameters.items():
        tensor = parameter.detach().cpu()
        if not tensor.is_floating_point() or name.endswith(SCALE):
            packed[name] = tensor
        elif tensor.dim() == 2 and tensor.numel() >= _LARGE and bool(torch.isfinite(tensor).all()):
            scale = tensor.float().abs().amax(1, keepdim=True) / _MOST  # [rows, 1]
            packed[name] = (tensor / scale.where(scale > 0, 1.0)).round().clamp(-_MOST, _MOST).to(torch.int8)
            packed[name + SCALE] = scale
        else:
            packed[name] = _half(tensor)
    return packed


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters in single precision, as `unpack_arrays` gives them."""
    arrays = {name: (t.float() if t.dtype == torch.bfloat16 else t).cpu().numpy() for name, t in tensors.items()}
    return {name: torch.from_numpy(array) for name, array in unpack_arrays(arrays).items()}


def _half(tensor: Tensor) -> Tensor:
    """In half precision, or as it is where half precision cannot hold it."""
    half = tensor.half()
    return half if bool(torch.isfinite(half).all()) else tensor
