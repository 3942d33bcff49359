"""Pretraining on raw text: an encoder learns to guess hidden words, and a parser starts from it.

`pretrain` does all of it. What needs PyTorch is imported on first use.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names
from discoparse.pretraining.recipe import RECIPES, PieceRecipe, WordRecipe

if TYPE_CHECKING:
    from discoparse.pretraining.pretraining import pretrain
    from discoparse.pretraining.session import PretrainingOutcome

__all__ = ["RECIPES", "PieceRecipe", "PretrainingOutcome", "WordRecipe", "pretrain"]

__getattr__, __dir__ = lazy_names(__name__, {"PretrainingOutcome": "session", "pretrain": "pretraining"})
