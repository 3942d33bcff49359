"""Shift-reduce with a split stack and GAP (Coavoux and Crabbé 2017): a stack, a deque and the buffer.

| action   | effect on (stack, deque, i)                         | needs                     |
| -------- | --------------------------------------------------- | ------------------------- |
| SHIFT    | (S, D, i) ⇒ (S D, {i}, i+1)                         | i < n                     |
| GAP      | (S s0, D, i) ⇒ (S, s0 D, i)                         | two items left in S       |
| REDUCE-X | (S s0, D d0, i) ⇒ (S D, s0 ∪ d0, i)                 | an item in S and in D     |
| UNARY-X  | (S, D d0, i) ⇒ the same, and X is over d0           | d0 is a token without one |

The item d0 on top of the deque is reduced with the item s0 on top of the stack; GAP moves s0 out of the
way, to the bottom of the deque. So an item under k others costs k gaps. The final configuration has one
item, and the action that parsers take there to pass the time (IDLE) is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.system.oracle import Gold
from discoparse.system.oracle import static_derivation as set_derivation
from discoparse.system.shift_reduce import Reduce, Unary
from discoparse.system.transition import Combine, IllegalAction, Item, Label, Shift
from discoparse.tree import Constituent


@dataclass(frozen=True, slots=True)
class Gap:
    """Move the top of the stack to the bottom of the deque."""

    def __str__(self) -> str:
        return "GAP"


Action = Shift | Gap | Reduce | Unary


@dataclass(frozen=True, slots=True)
class GapConfiguration:
    """Stack and deque, tops to the right, the next token, and the constituents built."""

    stack: tuple[Item, ...]
    deque: tuple[Item, ...]
    next_token: int
    constituents: frozenset[Constituent]
    length: int

    @classmethod
    def initial(cls, length: int) -> GapConfiguration:
        return cls((), (), 0, frozenset(), length)

    @property
    def is_final(self) -> bool:
        """Whether all tokens are in one item."""
        return self.next_token == self.length and not self.stack and len(self.deque) == 1

    def apply(self, action: Action) -> GapConfiguration:
        """The configuration after the action; `IllegalAction` if there is nothing to apply it to."""
        S, D, i, C, n = self.stack, self.deque, self.next_token, self.constituents, self.length
        match action:
            case Shift() if i < n:
                return GapConfiguration(S + D, (frozenset({i}),), i + 1, C, n)
            case Gap() if len(S) > 1 and D:
                return GapConfiguration(S[:-1], (S[-1], *D), i, C, n)
            case Reduce(X) if S and D:
                joined = S[-1] | D[-1]
                C = C if X is None else C | {(X, joined)}
                return GapConfiguration(S[:-1] + D[:-1], (joined,), i, C, n)
            case Unary(X) if len(D) == 1 and len(D[0]) == 1 and all(s != D[0] for _, s in C):
                return GapConfiguration(S, D, i, C | {(X, D[0])}, n)
        raise IllegalAction(f"{action} is not possible with stack {self.stack}, deque {self.deque}")


def static_derivation(gold: Gold) -> list[Action]:
    """Reduce as soon as possible: the set-based derivation, with the way to each item made explicit.

    Both systems combine the newest item with an older one. Stack and deque hold the older ones in the order
    of their right index, and the way to one of them leads over those that are more recent.

    >>> print(*static_derivation({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))}))
    SH SH SH GAP REDUCE-VP REDUCE-S
    """
    actions: list[Action] = []
    items: list[Item] = []  # the items of stack and deque; the newest is the last
    derivation = set_derivation(gold)
    next_token = 0
    for structural, labelling in zip(derivation[::2], derivation[1::2], strict=True):
        label = labelling.label if isinstance(labelling, Label) else None
        if isinstance(structural, Combine):
            newest = items.pop()
            depth = items.index(structural.item)
            actions += [Gap()] * (len(items) - 1 - depth)
            actions.append(Reduce(label))
            items.append(items.pop(depth) | newest)
        else:
            actions.append(Shift())
            if label is not None:
                actions.append(Unary(label))
            items.append(frozenset({next_token}))
            next_token += 1
    return actions
