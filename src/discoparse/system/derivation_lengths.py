"""How long derivations are, in the set-based system and in those it replaces, and how large its memory gets.

*Structural* transitions are those that move or join items: shift and combine; shift, swap and reduce; shift,
gap and reduce. With n tokens there are 2n-1 of them at least, and always in the set-based system. *All*
transitions add the labelling steps of the set-based system (4n-2 in all) and the unary reductions of the
others, whose reductions carry the label themselves. So systems are to be compared by structural transitions:
every system could label in steps of its own, as often as it shifts a token or joins two items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from discoparse.files.text_table import text_table
from discoparse.system import gap, swap
from discoparse.system.constituents import tree_constituents
from discoparse.system.oracle import Gold, static_derivation
from discoparse.system.shift_reduce import Unary
from discoparse.system.transition import Combine, Label, NoLabel, Shift
from discoparse.tree import Constituent, Tree

SYSTEMS: dict[str, Callable[[Gold], Sequence[Any]]] = {
    "set": static_derivation,
    "swap": swap.static_derivation,
    "gap": gap.static_derivation,
}

REPORTED_SIZES = (7, 11)  # of the memory: the paper has the shares of configurations up to these (Section 4.4)


def structural_length(actions: Iterable[object]) -> int:
    """The number of actions that move or join items."""
    return sum(not isinstance(action, Label | NoLabel | Unary) for action in actions)


def shifts(actions: Iterable[object]) -> list[bool]:
    """Whether each structural action of a set-based derivation is SHIFT."""
    return [isinstance(action, Shift) for action in actions if isinstance(action, Shift | Combine)]


def memory_sizes(shifts: Iterable[bool]) -> list[int]:
    """|S| after each structural action, given which of them are SHIFT; the others are COMBINE.

    >>> memory_sizes(shifts(static_derivation({("NP", frozenset({0, 1}))})))
    [0, 1, 0]
    """
    sizes, size = [], -1  # the first SHIFT adds nothing to the memory
    for shift in shifts:
        size += 1 if shift else -1
        sizes.append(size)
    return sizes


@dataclass
class Lengths:
    """The lengths of the derivations of one system: length -> number of sentences."""

    structural: Counter[int] = field(default_factory=Counter)
    all: Counter[int] = field(default_factory=Counter)
    shortest: int = 0  # sentences derived in 2n-1 structural transitions


@dataclass
class DerivationStatistics:
    """The derivations of a treebank in all systems, and the memory of the set-based one (Figure 3)."""

    sentences: int = 0
    tokens: int = 0
    systems: dict[str, Lengths] = field(default_factory=lambda: {name: Lengths() for name in SYSTEMS})
    memory: Counter[int] = field(default_factory=Counter)  # |S| -> number of configurations

    def add(self, gold: Gold, length: int) -> None:
        """Count the derivations of one sentence."""
        self.sentences += 1
        self.tokens += length
        for name, derive in SYSTEMS.items():
            actions = derive(gold)
            structural = structural_length(actions)
            lengths = self.systems[name]
            lengths.structural[structural] += 1
            lengths.all[len(actions)] += 1
            lengths.shortest += structural == 2 * length - 1
            if name == "set":
                self.memory.update(memory_sizes(shifts(actions)))

    def to_json(self) -> dict[str, Any]:
        """Everything, with whole distributions as lists of [value, count]."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "systems": {
                name: {
                    "structural": {**summary(lengths.structural), "distribution": _pairs(lengths.structural)},
                    "all": {**summary(lengths.all), "distribution": _pairs(lengths.all)},
                    "structural_per_token": lengths_total(lengths.structural) / max(1, self.tokens),
                    "shortest_possible": lengths.shortest,
                }
                for name, lengths in self.systems.items()
            },
            "memory": memory_json(self.memory),
        }


def derivation_statistics(trees: Iterable[Tree]) -> DerivationStatistics:
    """Derive every tree in every system, and count."""
    statistics = DerivationStatistics()
    for tree in trees:
        statistics.add(tree_constituents(tree), len(tree))
    return statistics


def share_up_to(counts: Counter[int], limit: int) -> float:
    """The share of a distribution that is at most `limit`.

    >>> share_up_to(Counter({0: 2, 1: 1, 5: 1}), 1)
    0.75
    """
    return sum(count for value, count in counts.items() if value <= limit) / max(1, counts.total())


def memory_json(sizes: Counter[int]) -> dict[str, Any]:
    """The distribution of |S|: its summary, the shares that the paper reports, and all of it."""
    shares = {f"at_most_{limit}": share_up_to(sizes, limit) for limit in REPORTED_SIZES}
    return {**summary(sizes), **shares, "distribution": _pairs(sizes)}


def lengths_total(counts: Counter[int]) -> int:
    """The sum of all values of a distribution."""
    return sum(value * count for value, count in counts.items())


def summary(counts: Counter[int]) -> dict[str, float]:
    """Mean, median, 90th and 99th percentile and maximum of a distribution.

    >>> summary(Counter({1: 3, 5: 1}))
    {'mean': 2.0, 'median': 1, 'p90': 5, 'p99': 5, 'max': 5}
    """
    total = counts.total()
    if not total:
        return {"mean": 0.0, "median": 0, "p90": 0, "p99": 0, "max": 0}
    return {
        "mean": lengths_total(counts) / total,
        "median": _percentile(counts, 0.5),
        "p90": _percentile(counts, 0.9),
        "p99": _percentile(counts, 0.99),
        "max": max(counts),
    }


def _percentile(counts: Counter[int], share: float) -> int:
    """The smallest value that at least this share of the distribution does not exceed."""
    seen, needed = 0, share * counts.total()
    for value in sorted(counts):
        seen += counts[value]
        if seen >= needed:
            return value
    raise ValueError("an empty distribution has no percentiles")


def _pairs(counts: Counter[int]) -> list[list[int]]:
    return [[value, counts[value]] for value in sorted(counts)]


def format_statistics(statistics: DerivationStatistics) -> str:
    """Two tables: the lengths of derivations in every system, and the size of the memory."""
    rows = [["Transitions", "mean", "median", "90%", "99%", "max", "per token", "in 2n-1"]]
    for name, lengths in statistics.systems.items():
        share = lengths.shortest / max(1, statistics.sentences)
        rows.append(_length_row(f"{name}, structural", lengths.structural, statistics.tokens, f"{share:.1%}"))
        rows.append(_length_row(f"{name}, all", lengths.all, statistics.tokens, ""))
    sizes = [["Memory |S|", "configurations", "share", "at most"]]
    total = max(1, statistics.memory.total())
    for size in sorted(statistics.memory):
        count, up_to = statistics.memory[size], share_up_to(statistics.memory, size)
        sizes.append([str(size), f"{count:,}", f"{count / total:.1%}", f"{up_to:.2%}"])
    of_lengths = text_table(rows, "<>", minimum=[19, 7, 7, 7, 7, 7, 11, 9], gap=" ")
    return f"{of_lengths}\n\n{text_table(sizes, '>', minimum=[10, 19, 7, 9], gap=' ')}"


def _length_row(title: str, counts: Counter[int], tokens: int, shortest: str) -> list[str]:
    values = summary(counts)
    figures = (str(values[name]) for name in ("median", "p90", "p99", "max"))
    return [title, f"{values['mean']:.1f}", *figures, f"{lengths_total(counts) / max(1, tokens):.2f}", shortest]


def crossing_pairs(length: int) -> frozenset[Constituent]:
    """A tree that costs linear memories a quadratic number of transitions: pairs {k, m+k} with m = n // 2.

    When a pair is joined, the left tokens of all later pairs lie between its two tokens, one by one. Any
    oracle needs m(m-1)/2 swaps, or that many gaps and m-1 more (docs/reference/oracle.md has the proof).

    >>> sorted(sorted(s) for _, s in crossing_pairs(5))
    [[0, 1, 2, 3, 4], [0, 2], [1, 3]]
    """
    if length < 1:
        raise ValueError("a tree has at least one token")
    half = length // 2
    pairs = {("X", frozenset({k, half + k})) for k in range(half)} if length > 2 else set()
    return frozenset({("ROOT", frozenset(range(length))), *pairs})
