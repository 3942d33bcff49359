"""Several models of one language as one parser, and how far they agree about a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discoparse.errors import UsageError
from discoparse.neural.ensemble import EnsembleDecoder
from discoparse.parser.finding import load
from discoparse.parser.parser import Parser
from discoparse.tree import Tree

if TYPE_CHECKING:
    import torch

_AT_ONCE = 2000  # trees that are compared at once


class Ensemble(Parser):
    """Parses with several models at once: the mean of their probabilities decides, at every step of a derivation.

    Models may differ in all but their language: words, sizes, encoders, tags and labels, which are matched by name.
    """

    def __init__(self, members: Sequence[Parser]) -> None:
        languages = {member.language for member in members if member.language is not None}
        if len(members) < 2:
            raise UsageError("several models are needed to parse together: one is as good alone")
        if len(languages) > 1:
            named = " and ".join(sorted(languages))
            raise UsageError(f"models that parse together must be of one language, not {named}")
        if len({member.device for member in members}) > 1:
            raise UsageError("models that parse together must be on one device")
        self.members = list(members)
        first = members[0]
        self.device, self.threads, self.network = first.device, first.threads, first.network
        self.info = next((member.info for member in members if member.language is not None), first.info)
        self.decoder = EnsembleDecoder([member.decoder for member in members])
        self.vocabulary, self.chains = self.decoder.vocabulary, self.decoder.chains
        self._device, self._compiled = str(first.device), None

    def __repr__(self) -> str:
        return f"<Ensemble of {', '.join(map(repr, self.members))}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ensemble, (self.members,)

    def require_one_model(self) -> None:
        raise UsageError("constraints, probabilities and several trees are of one model: load a single one")

    def agreement(self, trees: Sequence[Tree]) -> list[float]:
        """How much the models' own trees are like these, from 0 to 100: the mean F1 of their labelled constituents."""
        sentences = [tree.words for tree in trees]
        each = [member.parse_tokens(sentences) for member in self.members]
        return [
            sum(constituent_f1(own, tree) for own in owns) / len(owns)
            for tree, owns in zip(trees, zip(*each, strict=True), strict=True)
        ]

    def with_agreement(self, trees: Iterable[Tree]) -> Iterator[tuple[Tree, float]]:
        """Each tree of a stream of any length with its `agreement`."""
        iterator = iter(trees)
        while window := list(islice(iterator, _AT_ONCE)):
            yield from zip(window, self.agreement(window), strict=True)


def load_ensemble(
    models: Sequence[str | Path], device: str | torch.device = "auto", threads: int | None = None
) -> Ensemble:
    """Several models as one parser, by their names or directories; as `load` for one."""
    return Ensemble([load(model, device, threads) for model in models])


def constituent_f1(one: Tree, other: Tree) -> float:
    """How like two trees of one sentence are: F1 of labelled constituents, roots included, in percent.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> one, other = parse_tree("(S (NP (X 0=a) (X 1=b)) (X 2=c))"), parse_tree("(S (X 0=a) (NP (X 1=b) (X 2=c)))")
    >>> constituent_f1(one, one), constituent_f1(one, other)
    (100.0, 50.0)
    """
    ours, theirs = _constituents(one), _constituents(other)
    return 200.0 * (ours & theirs).total() / (ours.total() + theirs.total())


def _constituents(tree: Tree) -> Counter[tuple[str, int]]:
    masks = tree.masks()
    return Counter((node.label, masks[node]) for node in tree.preorder())
