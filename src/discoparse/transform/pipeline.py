"""Several transforms of a stream of trees, in the one order in which they make sense together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from discoparse.errors import UsageError
from discoparse.transform.empty import remove_empty
from discoparse.transform.functions import remove_functions
from discoparse.transform.punctuation import move_punctuation, remove_punctuation
from discoparse.transform.shape import binarize, ensure_root, unbinarize
from discoparse.transform.spelling import penn_brackets
from discoparse.transform.trace_writing import write_traces
from discoparse.transform.traces import reattach_traces
from discoparse.transform.unary import collapse_unaries, expand_unaries
from discoparse.tree import Tree

PUNCT = ("keep", "move", "remove")
FUNCTIONS = ("keep", "remove")
TRACES = ("keep", "reattach", "remove", "write")

Step = Callable[[Tree], Tree | None]


@dataclass(frozen=True)
class Transforms:
    """What is to be done to every tree."""

    punct: str = "keep"
    functions: str = "keep"
    traces: str = "keep"
    penn_brackets: bool = False
    root: str | None = None
    unbinarize: bool = False
    expand_unaries: bool = False
    collapse_unaries: bool = False
    binarize: bool = False

    def __post_init__(self) -> None:
        for name, choices in (("punct", PUNCT), ("functions", FUNCTIONS), ("traces", TRACES)):
            if getattr(self, name) not in choices:
                raise UsageError(f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if self.root == "":
            raise UsageError("the label of the root may not be empty")


@dataclass
class TransformNotes:
    """What users should know about a run of transforms."""

    emptied: int = 0  # sentences of which no word was left
    warnings: list[str] = field(default_factory=list)


def transform_trees(
    trees: Iterable[Tree], transforms: Transforms, notes: TransformNotes | None = None
) -> Iterator[Tree]:
    """The transformed trees; those of which no word is left are skipped and counted in the notes."""
    notes = TransformNotes() if notes is None else notes
    for number, tree in enumerate(trees, 1):
        result: Tree | None = tree
        for step in _steps(transforms, notes, tree.id or f"number {number}"):
            result = step(result) if result is not None else None
        if result is None:
            notes.emptied += 1
        else:
            yield result


def _steps(transforms: Transforms, notes: TransformNotes, sentence: str) -> Iterator[Step]:
    """Encodings are undone first and made last; traces come before functions, since labels hold co-indexes."""
    if transforms.unbinarize:
        yield unbinarize
    if transforms.expand_unaries:
        yield expand_unaries
    if transforms.traces == "reattach":
        yield lambda tree: reattach_traces(
            tree, lambda message: notes.warnings.append(f"sentence {sentence}: {message}")
        )
    elif transforms.traces == "remove":
        yield remove_empty
    if transforms.functions == "remove":
        yield remove_functions
    if transforms.punct == "move":
        yield move_punctuation
    elif transforms.punct == "remove":
        yield remove_punctuation
    if transforms.penn_brackets:
        yield penn_brackets
    if transforms.root is not None:
        root = transforms.root
        yield lambda tree: ensure_root(tree, root)
    if transforms.collapse_unaries:
        yield collapse_unaries
    if transforms.binarize:
        yield binarize
    if transforms.traces == "write":
        yield write_traces
