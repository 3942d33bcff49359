"""What a pretraining session needs of a kind of encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from discoparse.model.info import ModelInfo


@dataclass(frozen=True)
class Guesses:
    """How well hidden words were guessed."""

    loss: Tensor  # to be made smaller: the mean over what was guessed
    likelihood: Tensor  # negative log-likelihoods of the hidden words, summed
    right: Tensor  # how many were guessed right
    count: Tensor  # how many were to be guessed
    units: int  # words, or pieces of words, that were read


def held_out_figures(guesses: Sequence[Guesses]) -> tuple[float, float, int]:
    """Over all batches: the mean negative log-likelihood, the share guessed right, and how many were to be guessed."""
    parts = ([getattr(guess, name).double() for guess in guesses] for name in ("likelihood", "right", "count"))
    likelihood, right, count = (float(torch.stack(part).sum()) for part in parts)
    return likelihood / max(count, 1), right / max(count, 1), int(count)


class Task(Protocol):
    """A network that guesses what is hidden in text."""

    unit: str  # what is read: "tokens" or "pieces"

    @property
    def network(self) -> nn.Module:
        """What is trained."""

    def start_epoch(self, epoch: int) -> int:
        """Shuffle the text; how many batches it makes."""

    def guess(self, number: int) -> Guesses:
        """Hide some of a batch of this epoch and guess it."""

    def guess_held_out(self) -> tuple[float, float, int]:
        """The `held_out_figures` of sentences that are not trained on."""

    def identity(self) -> dict[str, Any]:
        """What tells this pretraining from others, beside its recipe."""

    def encoder_files(self, info: ModelInfo) -> dict[str, bytes]:
        """The encoder as files of a directory, without what guesses the words."""


def digest(text: str) -> str:
    """Tells one text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
