"""The options of `discoparse parse` about trust: constraints, probabilities, several trees, doubtful sentences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from discoparse.cli.options import Names, Number
from discoparse.errors import UsageError
from discoparse.parser.constraining import ConstraintLines
from discoparse.parser.documents import KEPT, Wish
from discoparse.parser.doubt import MAJORITY, MOST_SAMPLES, SAMPLES, Doubt, Screen

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class TrustOptions:
    """What the user wants to know of each sentence, and what stays of those that are in doubt."""

    constraints: str | None
    keep: list[str] | None
    probabilities: int | None
    consensus: bool
    share: float | None
    best: int | None
    skip_below: float | None
    mark_below: float | None

    def check(self, treebank: bool, standard_input: bool, several: bool) -> None:
        """Refuse options that do not go together, or not with where the text comes from or with `several` models."""
        if self.keep and not treebank:
            raise UsageError(
                "--keep is for a treebank, whose trees have something to keep: name its format with --from"
            )
        if self.keep and self.constraints is not None:
            raise UsageError("give --keep or --constraints, not both")
        if self.constraints == "-" and standard_input:
            raise UsageError(
                "standard input cannot be both the text and the --constraints: name a file for one of them"
            )
        if self.share is not None and not self.consensus:
            raise UsageError("--share is for --consensus")
        if self.skip_below is not None and self.mark_below is not None:
            raise UsageError("give --skip-below or --mark-below, not both")
        constrained = self.constraints is not None or self.keep
        if several and (constrained or self.best is not None or self.doubt is not None):
            raise UsageError("constraints, probabilities and several trees are of one model: give --model once")
        if constrained and (self.best is not None or self.doubt is not None):
            raise UsageError("within constraints there is one tree for each sentence, without probabilities")
        if self.best is not None and self.doubt is not None:
            raise UsageError("--best gives the probabilities of whole trees: leave out the other options about doubt")

    @property
    def plain(self) -> bool:
        """Whether one greedy tree for each sentence is all that is wanted."""
        return self.constraints is None and not self.keep and self.best is None and self.doubt is None

    @property
    def only_probabilities(self) -> bool:
        """Whether samples are drawn for nothing but the figures about the tree."""
        return self.probabilities is not None and not self.consensus and not self.screened

    @property
    def screened(self) -> bool:
        """Whether doubtful sentences are left out or marked."""
        return self.skip_below is not None or self.mark_below is not None

    @property
    def doubt(self) -> Doubt | None:
        """The samples that are needed, if any."""
        if self.probabilities is None and not self.consensus and not self.screened:
            return None
        share = self.share if self.share is not None else MAJORITY
        return Doubt(self.probabilities or SAMPLES, share if self.consensus else None)

    def wish(self, refuse: Callable[[str], None], notice: Callable[[str], None]) -> Wish:
        """For `parse_documents`; `refuse` is told of unusable constraints, `notice` of a language that is not known."""
        lines = None if self.constraints is None else ConstraintLines(self.constraints, refuse)
        return Wish(lines, self.doubt, self.best, notice)

    def screen(self) -> Screen | None:
        """What to do with sentences in doubt."""
        least = self.skip_below if self.skip_below is not None else self.mark_below
        return None if least is None else Screen(least, mark=self.mark_below is not None)


def trust_options(command: Command) -> Command:
    """Adds the options; the command gets them as `trust: TrustOptions`."""

    @click.option("--constraints", metavar="FILE", help="JSON lines: what the tree of each sentence must be like.")
    @click.option(
        "--keep",
        type=Names(KEPT),
        help=f"With --from: what stays of the trees, which may be partial; any of {', '.join(KEPT)}.",
    )
    @click.option(
        "--probabilities",
        type=click.IntRange(1, MOST_SAMPLES),
        metavar="N",
        help="Probabilities of constituents, tags and trees, from N samples (JSON).",
    )
    @click.option("--consensus", is_flag=True, help="Trees of what more than half of the samples have.")
    @click.option("--share", type=Number(0, 1, max_open=True), help=f"With --consensus: more than this [{MAJORITY}].")
    @click.option(
        "--best", type=click.IntRange(1, 1000), metavar="K", help="The K most probable trees of each sentence."
    )
    @click.option("--skip-below", type=Number(0, 100), metavar="F1", help="Leave out sentences of less expected F1.")
    @click.option("--mark-below", type=Number(0, 100), metavar="F1", help="Mark them with a comment instead.")
    @functools.wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        names = TrustOptions.__dataclass_fields__
        trust = TrustOptions(**{name: options.pop(name) for name in names})
        return command(*args, trust=trust, **options)

    return wrapped  # type: ignore[return-value]
