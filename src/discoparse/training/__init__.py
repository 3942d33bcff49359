"""Training (Section 3.5): recipes as data, the loop, exploration, checkpoints.

`train` does all of it; the rest of what is exported here is for those who build on its parts. What needs PyTorch is
imported on first use, so the command line can look at recipes without it.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names
from discoparse.training.recipe import ORACLES, RECIPES, Recipe

if TYPE_CHECKING:
    from discoparse.training.loop import Trainer
    from discoparse.training.session import Outcome
    from discoparse.training.training import train

__all__ = ["ORACLES", "RECIPES", "Outcome", "Recipe", "Trainer", "train"]

__getattr__, __dir__ = lazy_names(__name__, {"Outcome": "session", "Trainer": "loop", "train": "training"})
