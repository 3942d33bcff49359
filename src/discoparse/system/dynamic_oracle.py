"""The oracles of `oracle` for whole derivations: the same sets, from the gold tree instead of from all pairs of sets.

`reach` compares every gold constituent with every item. Here the tree says which constituents an item damages: those
that hold some of its tokens but not all, which are the nodes below the lowest one over all of its tokens.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from discoparse.system.constituents import Nesting
from discoparse.system.oracle import Gold
from discoparse.system.transition import Action, Combine, Configuration, Item, Label, NoLabel, Shift


class DynamicOracle:
    """What to do in any configuration of a sentence whose gold constituents are given.

    >>> oracle = DynamicOracle({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))})
    >>> c = Configuration.initial(3)
    >>> while not c.is_final:
    ...     c = c.apply(oracle.preferred(c))
    >>> c.constituents == oracle.gold
    True
    """

    def __init__(self, gold: Gold) -> None:
        self.gold = frozenset(gold)
        self._nesting = Nesting(self.gold)  # which also checks that it is a tree
        self.length = self._nesting.length
        self._label = {s: Label(X) for X, s in self.gold}
        self._right = [max(s) for s in self._nesting.yields]

    def best_actions(self, c: Configuration) -> frozenset[Action]:
        """The paper's set of best actions; empty in a final configuration."""
        return self._actions(c, complete=False)

    def optimal_actions(self, c: Configuration) -> frozenset[Action]:
        """The complete set of optimal actions; `best_actions` is a part of it."""
        return self._actions(c, complete=True)

    def preferred(self, c: Configuration, complete: bool = False) -> Action:
        """The one action of either set that Section 3.5 chooses: combine before shift, and combine with the
        item that has the highest right index."""
        actions = self._actions(c, complete)
        if not actions:
            raise ValueError("the configuration is final: there is nothing left to do")
        return max(actions, key=_preference)

    def _actions(self, c: Configuration, complete: bool) -> frozenset[Action]:
        if c.length != self.length:
            raise ValueError(f"the configuration has {c.length} tokens, the gold tree {self.length}")
        if c.is_final:
            return frozenset()
        if c.focus is None:
            return frozenset({Shift()})
        if c.is_labelling_step:
            return frozenset({self._label.get(c.focus, NoLabel())})
        return self._structural_actions(c, c.focus, complete)

    def _structural_actions(self, c: Configuration, s_f: Item, complete: bool) -> frozenset[Action]:
        """o_complete or o_even at an even step."""
        homes = _Homes(self._nesting)
        for s in (*c.memory, s_f):
            homes.add(s)
        right = max(s_f)
        # What is in C was a focus: it is s_f, ends before s_f, or is damaged by what it was combined with.
        reachable = [
            number
            for number, s_g in enumerate(self._nesting.yields)
            if number not in homes.damaged and right <= self._right[number] and s_g != s_f
        ]
        if not reachable:
            raise ValueError("no gold constituent is reachable")
        if complete:  # the same reachable constituents lie around s and s_f: the lowest of them is the same
            allowed = set(reachable)
            around = homes.lowest(s_f, allowed)
            actions: set[Action] = {Combine(s) for s in c.memory if homes.lowest(s, allowed) == around}
            shift = all(self._right[number] != right for number in reachable)
        else:  # both lie inside next(c, t*)
            number = min(reachable, key=lambda k: (self._right[k], len(self._nesting.yields[k])))
            s_g = self._nesting.yields[number]
            actions = {Combine(s) for s in c.memory if s <= s_g} if s_f <= s_g else set()
            shift = self._right[number] > right
        return frozenset(actions | {Shift()} if shift else actions)


class _Homes:
    """Where items lie in the gold tree: the lowest constituent over each, and the constituents that items damage.

    A constituent is damaged by an item that has tokens inside and outside of it.
    """

    def __init__(self, nesting: Nesting) -> None:
        self.nesting = nesting
        self.damaged: set[int] = set()
        self._home: dict[Item, int] = {}
        self._lowest: dict[int, int | None] = {}  # of constituents, the lowest allowed one at or above

    def add(self, item: Item) -> None:
        """Find the lowest constituent over an item; what lies below it on the way there is damaged."""
        parents = self.nesting.parents
        # Larger numbers are smaller constituents, so the deepest of the nodes so far is never above another.
        nodes = {self.nesting.lowest[token] for token in item}
        queue = [-number for number in nodes]
        heapify(queue)
        while len(queue) > 1:
            number = -heappop(queue)
            self.damaged.add(number)
            parent = parents[number]
            assert parent is not None  # the whole sentence is above all others and never alone in being popped
            if parent not in nodes:
                nodes.add(parent)
                heappush(queue, -parent)
        self._home[item] = -queue[0]

    def lowest(self, item: Item, allowed: set[int]) -> int | None:
        """The lowest of some constituents, always the same ones, that holds an item."""
        path: list[int] = []
        number: int | None = self._home[item]
        while number is not None and number not in self._lowest and number not in allowed:
            path.append(number)
            number = self.nesting.parents[number]
        found = self._lowest.get(number, number) if number is not None else None
        self._lowest.update(dict.fromkeys(path, found))
        return found


def _preference(action: Action) -> int:
    return max(action.item) if isinstance(action, Combine) else -1
