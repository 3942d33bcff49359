"""Training (Section 3.5): recipes as data, the loop, exploration, checkpoints.

`train` does all of it; the rest of what is exported here is for those who build on its parts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discoparse.training.recipe import ORACLES, RECIPES, Recipe

if TYPE_CHECKING:
    from discoparse.training.loop import Trainer
    from discoparse.training.session import Outcome
    from discoparse.training.training import train

__all__ = ["ORACLES", "RECIPES", "Outcome", "Recipe", "Trainer", "train"]

# What needs PyTorch is imported on first use, so that the command line can look at recipes without it.
_HOMES = {"Outcome": "session", "Trainer": "loop", "train": "training"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discoparse.training' has no attribute {name!r}")
    value = getattr(import_module(f"discoparse.training.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
