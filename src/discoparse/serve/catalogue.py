"""The models of a server: loaded once when it starts, and found by name, by language or by the words of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discoparse.errors import UsageError, did_you_mean
from discoparse.model.info import ModelFiles
from discoparse.parser.choice import clearly_best, default_models
from discoparse.parser.finding import Listed, describe_model, find_model, installed_models, load, read_card
from discoparse.parser.outline import Writer
from discoparse.parser.parser import Parser
from discoparse.serve.problems import Refusal


@dataclass(frozen=True)
class Served:
    """A model that is served."""

    parser: Parser
    listed: Listed
    card: str

    @cached_property
    def writer(self) -> Writer:
        """Writes what its parser decides."""
        return Writer(self.parser.vocabulary, self.parser.chains)

    def to_json(self) -> dict[str, Any]:
        """What `models --json` says about it, and the names that it knows."""
        vocabulary = self.parser.vocabulary
        labels = sorted({label for chain in vocabulary.labels for label in chain})
        return {**self.listed.to_json(), "labels": labels, "tags": sorted(vocabulary.tags)}


class Catalogue:
    """Models by name. No request adds to them, so none can make the server read a file."""

    def __init__(self, models: dict[str, Served]) -> None:
        if not models:
            raise UsageError("no model to serve: install one, or name a directory with --model")
        self.models = models

    @classmethod
    def load(
        cls,
        names: Sequence[str],
        device: str = "auto",
        threads: int | None = 1,
        notice: Callable[[str], None] = lambda message: None,
    ) -> Catalogue:
        """The models of these names or directories; without any, all that are installed, but for those with a
        transformer, which take a server memory and time: `notice` is told of them."""
        models: dict[str, Served] = {}
        for name in names or _light(notice):
            short = name if name in installed_models() else Path(find_model(name)).resolve().name
            if short in models:
                raise UsageError(f"two models are called {short!r}: rename one of their directories")
            parser = load(name, device, threads)
            models[short] = Served(parser, describe_model(name), read_card(name))
        return cls(models)

    @cached_property
    def defaults(self) -> list[str]:
        """The models that are used without being named."""
        return default_models({name: served.parser.language for name, served in self.models.items()})

    def named(self, name: str) -> Served:
        """The model of a name; a `Refusal` where there is none."""
        if name not in self.models:
            hint = did_you_mean(name[:100], self.models)
            raise Refusal(404, f"there is no such model here: choose one of {', '.join(self.models)}.{hint}")
        return self.models[name]

    def choose(self, name: str | None, language: str | None, sample: str) -> tuple[str, Served]:
        """The model that a request means: by name, by language, or else the one that knows the words of its text."""
        if name is not None:
            try:
                return name, self.named(name)
            except Refusal as refusal:
                raise Refusal(422, refusal.message) from None
        if language is not None:
            for known in (*self.defaults, *self.models):
                if known == language or (self.models[known].parser.language or "").lower() == language.lower():
                    return known, self.models[known]
            raise Refusal(422, f"no model here is for that language: choose one of {', '.join(self.models)}")
        if len(self.models) == 1:
            return next(iter(self.models.items()))
        vocabularies = {name: self.models[name].parser.vocabulary.ranks.get for name in self.defaults}
        best = clearly_best(sample, vocabularies) if vocabularies else None
        if best is None:
            raise Refusal(
                422,
                f"which model to use cannot be told from the text: name one as model ({', '.join(self.models)})",
                choose_model=True,
            )
        return best, self.models[best]


def _light(notice: Callable[[str], None]) -> list[str]:
    """The installed models without a transformer; where there are no such, all."""
    every = list(installed_models())
    heavy = [name for name in every if ModelFiles(find_model(name)).encoder_files]
    if heavy and len(heavy) < len(every):
        named = " ".join(f"--model {name}" for name in every)
        notice(f"not served, since a transformer takes memory and time: {', '.join(heavy)} ({named} serves all)")
    return [name for name in every if name not in heavy] or every
