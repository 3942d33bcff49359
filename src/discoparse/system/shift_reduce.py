"""The transition systems that the set-based one replaces, to compare with: `swap` and `gap`.

Both are binary shift-reduce systems with a linear memory. They share the actions below; a constituent of
more than two children is built by reductions without a label, whose results are parts of it and no
constituents of their own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reduce:
    """Join the two items that the system sees; with a label if the result is a constituent."""

    label: str | None = None

    def __str__(self) -> str:
        return "REDUCE" if self.label is None else f"REDUCE-{self.label}"


@dataclass(frozen=True, slots=True)
class Unary:
    """Make a constituent of the single token on top."""

    label: str

    def __str__(self) -> str:
        return f"UNARY-{self.label}"
