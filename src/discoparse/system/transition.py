"""The set-based transition system: Table 1 of the paper, one rule a line.

A configuration is `(S, s_f, i, C) : j`. Structural actions (`Shift`, `Combine`) happen at even steps j,
labelling actions (`Label`, `NoLabel`) at odd ones, and every derivation of a sentence of n tokens takes
exactly 4n-2 steps: n shifts and n-1 combinations, each followed by a labelling action (Section 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discoparse.tree import Constituent

Item = frozenset[int]  # a set of token indexes: a (possibly partial) constituent


@dataclass(frozen=True, slots=True)
class Shift:
    """Make the next token the focus; the former focus goes to the memory."""

    def __str__(self) -> str:
        return "SH"


@dataclass(frozen=True, slots=True)
class Combine:
    """Join an item of the memory with the focus."""

    item: Item

    def __str__(self) -> str:
        """COMB-i, where i is the left index of the item: unique in a memory, since its items are disjoint."""
        return f"COMB-{min(self.item)}"


@dataclass(frozen=True, slots=True)
class Label:
    """The focus is a constituent with this label."""

    label: str

    def __str__(self) -> str:
        return f"LABEL-{self.label}"


@dataclass(frozen=True, slots=True)
class NoLabel:
    """The focus is not a constituent."""

    def __str__(self) -> str:
        return "NO-LABEL"


Action = Shift | Combine | Label | NoLabel


class IllegalAction(ValueError):
    """An action was applied to a configuration that does not meet its preconditions."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A parsing configuration `(S, s_f, i, C) : j` of a sentence of n tokens.

    >>> c = Configuration.initial(2).apply(Shift()).apply(NoLabel()).apply(Shift()).apply(NoLabel())
    >>> c = c.apply(Combine(frozenset({0}))).apply(Label("NP"))
    >>> c.is_final, c.step, c.constituents == {("NP", frozenset({0, 1}))}
    (True, 6, True)
    """

    memory: frozenset[Item]  # S
    focus: Item | None  # s_f, None (the paper's null) before the first shift
    next_token: int  # i
    constituents: frozenset[Constituent]  # C
    step: int  # j
    length: int  # n

    @classmethod
    def initial(cls, length: int) -> Configuration:
        """(∅, null, 0, ∅) : 0"""
        if length < 1:
            raise ValueError(f"a sentence of {length} tokens has no derivation: it needs at least one token")
        return cls(frozenset(), None, 0, frozenset(), 0, length)

    @property
    def is_final(self) -> bool:
        """Whether this is (∅, {0, 1, …, n-1}, n, C) : 4n-2."""
        return self.step == 4 * self.length - 2

    @property
    def is_labelling_step(self) -> bool:
        """Whether j is odd: the next action labels the focus, or declines to."""
        return self.step % 2 == 1

    def legal_actions(self, labels: Iterable[str] = ()) -> frozenset[Action]:
        """The actions whose preconditions hold, with `labels` as the labels X of LABEL-X."""
        actions: list[Action]
        if self.is_labelling_step:
            actions = [NoLabel(), *map(Label, labels)]
        else:
            actions = [Shift(), *map(Combine, self.memory)]
        return frozenset(action for action in actions if self.failed_precondition(action) is None)

    def failed_precondition(self, action: Action) -> str | None:
        """The last column of Table 1: the first precondition of the action that does not hold, or None."""
        j_is_odd = self.is_labelling_step
        match action:
            case Shift() | Combine() if j_is_odd:
                return f"j is even (a structural action, but step {self.step} is a labelling step)"
            case Label() | NoLabel() if not j_is_odd:
                return f"j is odd (a labelling action, but step {self.step} is a structural step)"
            case Shift() if not self.next_token < self.length:
                return f"i < n (all {self.length} tokens are shifted)"
            case Combine(item) if item not in self.memory:
                return f"s ∈ S (the memory has no item {sorted(item)})"
            case NoLabel() if self.next_token == self.length and not self.memory:
                return "i ≠ n or S ≠ ∅ (the whole sentence must have a label)"
        return None

    def apply(self, action: Action) -> Configuration:
        """The configuration after the action; `IllegalAction` if one of its preconditions does not hold."""
        failed = self.failed_precondition(action)
        if failed is not None:
            raise IllegalAction(f"{action} needs {failed}")
        S, s_f, i, C, j, n = (
            self.memory, self.focus, self.next_token, self.constituents, self.step, self.length,
        )  # fmt: skip
        match action:
            case Shift():
                return Configuration(S if s_f is None else S | {s_f}, frozenset({i}), i + 1, C, j + 1, n)
            case Combine(s):
                return Configuration(S - {s}, _focus(s_f) | s, i, C, j + 1, n)
            case Label(X):
                return Configuration(S, s_f, i, C | {(X, _focus(s_f))}, j + 1, n)
            case NoLabel():
                return Configuration(S, s_f, i, C, j + 1, n)


def _focus(s_f: Item | None) -> Item:
    """The focus where there must be one: after the first shift, which every other action follows."""
    assert s_f is not None
    return s_f
