"""Every small tree, every configuration, and the best score from each: found by search, without the
oracle's ideas.

Everything here works on bit masks (bit i is token i) and restates Table 1 in its own words, so that the
search is independent of `discoparse.system.transition` and `discoparse.system.oracle`, which the tests compare with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple

Family = frozenset[int]  # the yields of a tree, as masks


class State(NamedTuple):
    """A configuration but for C: no action's effect on S, s_f and i, and no precondition, looks at C."""

    memory: frozenset[int]
    focus: int  # 0 before the first shift
    next_token: int
    labelling: bool


Move = tuple[str, int]  # ("shift", 0), ("combine", item), ("label", 0 or 1) of two labels, ("no-label", 0)


def moves(state: State, length: int) -> list[tuple[Move, State]]:
    """Table 1: the legal actions and what they lead to; labels are two, 0 and 1."""
    memory, focus, i, labelling = state
    if labelling:
        after = State(memory, focus, i, False)
        names = [("label", 0), ("label", 1)] + ([("no-label", 0)] if i != length or memory else [])
        return [(name, after) for name in names]
    found: list[tuple[Move, State]] = []
    if i < length:
        kept = memory | {focus} if focus else memory
        found.append((("shift", 0), State(kept, 1 << i, i + 1, True)))
    for item in sorted(memory):
        found.append((("combine", item), State(memory - {item}, focus | item, i, True)))
    return found


@cache
def graph(length: int) -> dict[State, list[tuple[Move, State]]]:
    """All reachable states with their moves, in an order in which every move leads to a later state."""
    found: dict[State, list[tuple[Move, State]]] = {}
    layer = [State(frozenset(), 0, 0, False)]
    while layer:  # one layer a step: all paths to a state have one length, 2(i + combinations so far)
        following: dict[State, None] = {}
        for state in layer:
            found[state] = moves(state, length)
            following.update((after, None) for _, after in found[state])
        layer = list(following)
    return found


def gold_label(mask: int) -> int:
    """The label of a gold constituent: both occur, so that a wrong label is possible everywhere."""
    return mask.bit_count() % 2


def gain(move: Move, state: State, family: Family) -> int:
    """What a move adds to the score. One gold constituent outweighs any number of wrong ones that can be
    added."""
    if move[0] != "label":
        return 0
    return 1000 if state.focus in family and move[1] == gold_label(state.focus) else -1


def best_scores(length: int, family: Family) -> dict[State, int]:
    """The best score of the rest of the derivation from every state, by trying everything."""
    best: dict[State, int] = {}
    for state, options in reversed(graph(length).items()):
        best[state] = max((gain(move, state, family) + best[after] for move, after in options), default=0)
    return best


def families(length: int) -> Iterator[Family]:
    """Every tree over `length` tokens as the set of its yields: every laminar family with the whole
    sentence in it, with every choice of the single tokens that are constituents themselves."""
    whole = (1 << length) - 1
    tokens = [1 << i for i in range(length)] if length > 1 else []  # a single token is the whole sentence
    for branching in hierarchies(whole):
        for size in range(len(tokens) + 1):
            for unary in combinations(tokens, size):
                yield branching.union(unary)


@cache
def hierarchies(mask: int) -> list[Family]:
    """The laminar families over the tokens of a mask that hold the mask itself and no single tokens (but
    the mask)."""
    found = []
    for blocks in _partitions(mask):
        if len(blocks) == 1 and mask.bit_count() > 1:
            continue
        choices: list[Family] = [frozenset({mask})]
        for block in blocks:
            if block.bit_count() > 1:
                choices = [chosen | inner for chosen in choices for inner in hierarchies(block)]
        found += choices
    return found


@cache
def _partitions(mask: int) -> list[tuple[int, ...]]:
    """All ways to divide the tokens of a mask into blocks."""
    if not mask:
        return [()]
    lowest = mask & -mask
    rest, found, part = mask ^ lowest, [], mask ^ lowest
    while True:  # `part` runs over the subsets of the rest: the company of the lowest token
        found += [(lowest | part, *blocks) for blocks in _partitions(rest ^ part)]
        if not part:
            return found
        part = (part - 1) & rest
