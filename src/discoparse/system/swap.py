"""Shift-reduce with SWAP (Versley 2014; Maier 2015): tokens are reordered until every constituent is
contiguous.

| action   | effect on (stack, buffer)                 | needs                                       |
| -------- | ----------------------------------------- | ------------------------------------------- |
| SHIFT    | (S, b0 B) ⇒ (S b0, B)                     | a buffer that is not empty                  |
| SWAP     | (S s1 s0, B) ⇒ (S s0, s1 B)               | two items, s1 to the left of s0 in the text |
| REDUCE-X | (S s1 s0, B) ⇒ (S (s1 ∪ s0), B)           | two items                                   |
| UNARY-X  | (S s0, B) ⇒ the same, and X is over s0    | s0 is a token without one                   |

Text order is the order of left indexes; the condition on SWAP lets no pair of items be swapped twice. Each
swap costs two transitions, since what went back to the buffer is shifted again. Actions that parsers take
after the end (FINISH, IDLE) are not counted.

The oracle is the lazy one of Nivre, Kuhlmann and Hall (2009) as Stanojević and Garrido Alhama (2017) carry it
over to constituents. The tokens are to be sorted into the order in which the tree, its children ordered by
their left index, has no crossing branches. Two items out of order are swapped, but not yet when the upper one
and the next in the buffer are in the same maximal continuous constituent: then that is built first, and moves
as one item.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from discoparse.system.constituents import Nesting
from discoparse.system.oracle import Gold
from discoparse.system.shift_reduce import Reduce, Unary
from discoparse.system.transition import IllegalAction, Item, Shift
from discoparse.tree import Constituent


@dataclass(frozen=True, slots=True)
class Swap:
    """Move the second item of the stack back to the buffer."""

    def __str__(self) -> str:
        return "SWAP"


Action = Shift | Swap | Reduce | Unary


@dataclass(frozen=True, slots=True)
class SwapConfiguration:
    """Stack, top to the right, buffer, next item to the left, and the constituents built."""

    stack: tuple[Item, ...]
    buffer: tuple[Item, ...]
    constituents: frozenset[Constituent]

    @classmethod
    def initial(cls, length: int) -> SwapConfiguration:
        return cls((), tuple(frozenset({i}) for i in range(length)), frozenset())

    @property
    def is_final(self) -> bool:
        """Whether all tokens are in one item."""
        return not self.buffer and len(self.stack) == 1

    def apply(self, action: Action) -> SwapConfiguration:
        """The configuration after the action; `IllegalAction` if what it needs is not there."""
        S, B, C = self.stack, self.buffer, self.constituents
        match action:
            case Shift() if B:
                return SwapConfiguration((*S, B[0]), B[1:], C)
            case Swap() if len(S) > 1 and min(S[-2]) < min(S[-1]):
                return SwapConfiguration((*S[:-2], S[-1]), (S[-2], *B), C)
            case Reduce(X) if len(S) > 1:
                joined = S[-2] | S[-1]
                return SwapConfiguration((*S[:-2], joined), B, C if X is None else C | {(X, joined)})
            case Unary(X) if S and len(S[-1]) == 1 and all(s != S[-1] for _, s in C):
                return SwapConfiguration(S, B, C | {(X, S[-1])})
        raise IllegalAction(f"{action} is not possible with stack {self.stack}, buffer {self.buffer}")


def static_derivation(gold: Gold) -> list[Action]:
    """Reduce as soon as the two items on top are parts of one constituent, else swap lazily, else shift.

    >>> print(*static_derivation({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))}))
    SH SH SH SWAP REDUCE-VP SH REDUCE-S
    """
    nesting = Nesting(gold)
    place = _places(nesting)
    component = _components(nesting)
    actions: list[Action] = []
    # Items with the smallest unfinished constituent around them.
    stack: list[tuple[Item, int | None]] = []
    buffer: deque[tuple[Item, int | None]] = deque()
    for i, lowest in enumerate(nesting.lowest):
        buffer.append((frozenset({i}), lowest))
    while buffer or len(stack) > 1:
        if len(stack) > 1:
            (s1, around), (s0, same) = stack[-2:]
            if around == same:
                del stack[-2:]
                stack.append(_finished(nesting, s1 | s0, around))
                actions.append(Reduce(_label(nesting, s1 | s0, around)))
                continue
            left = min(s0)
            waits = buffer and component[left] == component[min(buffer[0][0])]
            if place[left] < place[min(s1)] and not waits:
                actions.append(Swap())
                buffer.appendleft(stack.pop(-2))
                continue
        item, around = buffer.popleft()
        actions.append(Shift())
        label = _label(nesting, item, around)
        if label is not None:
            actions.append(Unary(label))
        stack.append(_finished(nesting, item, around))
    return actions


def _label(nesting: Nesting, item: Item, around: int | None) -> str | None:
    """The label of an item that fills the constituent around it."""
    if around is None or len(item) < len(nesting.yields[around]):
        return None
    return nesting.labels[around]


def _finished(nesting: Nesting, item: Item, around: int | None) -> tuple[Item, int | None]:
    """An item that fills the constituent around it lies in the next larger one from now on."""
    if around is not None and len(item) == len(nesting.yields[around]):
        around = nesting.parents[around]
    return item, around


def _places(nesting: Nesting) -> list[int]:
    """Each token's place in the order in which no branches cross, children being ordered by their left index.

    >>> _places(Nesting({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))}))
    [0, 2, 1]
    """
    paths: list[tuple[int, ...]] = []  # left indexes of a constituent and of those around it, from the top
    for s, parent in zip(nesting.yields, nesting.parents, strict=True):
        paths.append((*(() if parent is None else paths[parent]), min(s)))
    tokens = sorted(range(nesting.length), key=lambda i: (*paths[nesting.lowest[i]], i))
    places = [0] * nesting.length
    for place, i in enumerate(tokens):
        places[i] = place
    return places


def _components(nesting: Nesting) -> list[int]:
    """For each token the number of its maximal continuous constituent: without gaps in it or below it.

    A token in no such constituent is one by itself, with a negative number.
    """
    continuous = [max(s) - min(s) + 1 == len(s) for s in nesting.yields]
    for number in reversed(range(1, len(continuous))):  # children come after their parents
        parent = nesting.parents[number]
        if parent is not None and not continuous[number]:
            continuous[parent] = False
    top: list[int | None] = []
    for number, parent in enumerate(nesting.parents):
        above = None if parent is None else top[parent]
        top.append(above if above is not None else number if continuous[number] else None)
    return [-1 - i if (found := top[lowest]) is None else found for i, lowest in enumerate(nesting.lowest)]
