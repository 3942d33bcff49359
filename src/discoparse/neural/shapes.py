"""The shapes of a network's parameters, to check a model before memory is allocated for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from discoparse.neural.config import NetworkConfig
from discoparse.neural.network import Network


def parameter_shapes(config: NetworkConfig) -> dict[str, torch.Size]:
    """The shapes in `Network(config).state_dict()`: the network is made without memory for its parameters.

    >>> shapes = parameter_shapes(NetworkConfig(words=10**9, characters=60, tags=12, labels=25))
    >>> shapes["encoder.word_embedding.weight"], shapes["scorers.pair_input.weight"]
    (torch.Size([1000000000, 32]), torch.Size([200, 3200]))
    """
    with torch.device("meta"), _NoInitialValues():
        return {name: tensor.shape for name, tensor in Network(config).state_dict().items()}


class _NoInitialValues(TorchFunctionMode):
    """Skips the functions of `torch.nn.init`: without memory they do nothing, but load a second's worth of modules."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == torch.nn.init.__name__:
            return kwargs.get("tensor", args[0] if args else None)
        return func(*args, **kwargs)
