"""Recipes: everything that decides how a parser is trained, as data.

`paper` is Section 3.5, Section 4.2 and Appendix B of Coavoux and Cohen (2019) to the letter; `fast`, the default, is
what reached the best scores in the least time (research/lab-notebook.md).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from discoparse.errors import UsageError

ORACLES = ("static", "dynamic", "complete")

_BOUNDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("word_size", "character_size", "character_hidden", "hidden", "scorer_hidden"), (1, 1 << 16)),
    **dict.fromkeys(("layers", "evaluate_every", "min_frequency", "batch_tokens", "most_batch_tokens"), (1, 1 << 30)),
    **dict.fromkeys(("epochs", "updates", "warmup_steps"), (0, 1 << 40)),
    **dict.fromkeys(("unk_probability", "unk_share", "exploration", "exploration_start"), (0, 1)),
    **dict.fromkeys(("final_rate", "average_decay"), (0, 1)),
    **dict.fromkeys(("dropout_tagger", "dropout_scorer", "dropout_embedding", "dropout_hidden"), (0, 0.99)),
    "dropout_scorer_hidden": (0, 0.99),
    **dict.fromkeys(("learning_rate", "decay", "clip_norm", "gradient_noise", "weight_decay"), (0, 1e6)),
    "tagging_weight": (0, 1e6),
    "beta2": (0, 1 - 1e-9),
}


@dataclass(frozen=True)
class Recipe:
    """A training recipe; the defaults are the paper's."""

    # Network sizes (Table 5)
    word_size: int = 32
    character_size: int = 100
    character_hidden: int = 50
    hidden: int = 200
    layers: int = 2
    scorer_hidden: int = 200
    chains: bool = False  # label unary chains node by node, so that unseen chains can be produced

    # Vocabulary
    min_frequency: int = 1  # words seen less often have no embedding of their own
    unk_probability: float = 0.3  # how often UNK stands in for a rare word
    unk_share: float = 2 / 3  # share of word types, the least frequent, that count as rare

    # Dropout
    dropout_tagger: float = 0.5  # input of the tagger
    dropout_scorer: float = 0.2  # input of the scorers, a mask of its own for each prediction
    dropout_embedding: float = 0.0  # the character vector or the embedding of a token, each as a whole
    dropout_hidden: float = 0.0  # output of each bi-LSTM layer, one mask a sentence
    dropout_scorer_hidden: float = 0.0  # first hidden layer of the scorers

    # Oracle and exploration
    oracle: str = "dynamic"
    optimal_set: bool = False  # reward the whole set of optimal actions instead of the preferred one
    exploration: float = 0.15  # probability of exploring
    explore_whole_batches: bool = False  # explore batches when they are due, instead of sentences before each epoch
    exploration_start: float = 0.0  # share of the training that comes before the first exploration

    # Optimisation
    epochs: int = 100  # at least so many,
    updates: int = 0  # and as many as make so many updates
    batch_tokens: int = 1  # tokens a batch may have, with padding; a longer sentence is a batch of its own
    most_batch_tokens: int = 1  # larger treebanks have larger batches, up to this
    optimizer: str = "asgd"  # asgd or adamw
    learning_rate: float = 0.01
    decay: float = 1e-7  # asgd: the rate of step t is learning_rate / (1 + decay t)
    warmup_steps: int = 1000
    final_rate: float = 0.0  # adamw: the share of the learning rate that the cosine schedule ends at
    weight_decay: float = 0.0  # adamw
    beta2: float = 0.999  # adamw
    average_decay: float = 0.0  # adamw: exponential moving average of the parameters; asgd averages all steps
    clip_norm: float = 100.0
    gradient_noise: float = 0.01  # variance of the noise is this / (1 + t)^0.55
    alternate: bool = True  # a step for the tagger, then a step for the parser, instead of their sum
    tagging_weight: float = 1.0

    # Evaluation
    evaluate_every: int = 4  # epochs

    def replace(self, **changes: Any) -> Recipe:
        return dataclasses.replace(self, **changes)

    def override(self, settings: list[str]) -> Recipe:
        """Apply `name=value` settings from the command line.

        >>> RECIPES["paper"].override(["epochs=3", "alternate=no"]).epochs
        3
        """
        fields = {field.name: field for field in dataclasses.fields(self)}
        changes = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or name not in fields:
                known = ", ".join(fields)
                raise UsageError(f"--set {setting}: expected name=value with one of these names: {known}")
            changes[name] = _parse(name, value, type(getattr(self, name)))
        return self.replace(**changes).checked()

    def checked(self) -> Recipe:
        """Itself, if its values make sense together."""
        if self.oracle not in ORACLES:
            raise UsageError(f"unknown oracle {self.oracle!r}: choose one of {', '.join(ORACLES)}")
        if self.optimizer not in ("asgd", "adamw"):
            raise UsageError(f"unknown optimizer {self.optimizer!r}: choose asgd or adamw")
        if not self.epochs and not self.updates:
            raise UsageError("a recipe needs a number of epochs, or of updates to make")
        if self.optimal_set and self.oracle == "complete" and self.exploration and not self.explore_whole_batches:
            raise UsageError(
                "optimal_set with the complete oracle explores whole batches: set explore_whole_batches=yes"
            )
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                raise UsageError(f"{name} = {getattr(self, name)} is not between {least} and {most}")
        return self

    def describe(self) -> str:
        """One `name = value` a line."""
        return "\n".join(f"{field.name} = {getattr(self, field.name)}" for field in dataclasses.fields(self))


def _parse(name: str, value: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[value.lower()]
        return kind(value)
    except (ValueError, KeyError):
        kinds = {int: "a whole number", float: "a number", bool: "yes or no"}
        raise UsageError(f"--set {name}={value}: {name} takes {kinds.get(kind, 'a name')}") from None


RECIPES = {
    "paper": Recipe(),
    "fast": Recipe(
        hidden=300,
        chains=True,
        dropout_tagger=0.2,
        dropout_scorer=0.0,
        dropout_embedding=0.3,
        dropout_hidden=0.3,
        dropout_scorer_hidden=0.2,
        oracle="complete",
        exploration=0.5,
        explore_whole_batches=True,
        exploration_start=0.3,
        epochs=60,
        updates=4000,
        batch_tokens=500,
        most_batch_tokens=8000,
        optimizer="adamw",
        learning_rate=3e-3,
        warmup_steps=100,
        weight_decay=1e-2,
        beta2=0.98,
        average_decay=0.998,
        clip_norm=5.0,
        gradient_noise=0.0,
        alternate=False,
        evaluate_every=5,
    ),
}
