"""Random gold trees and random walks through the transition system, for tests of anything that must agree
with it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from discoparse.system.transition import Action, Configuration
from discoparse.tree import Constituent

LABELS = ("A", "B", "C")


def random_gold(rng: random.Random, length: int, labels: tuple[str, ...] = LABELS) -> frozenset[Constituent]:
    """Gold constituents over `length` tokens, joined at random: gaps, ill-nested yields and singletons are
    common."""
    items = [frozenset({i}) for i in range(length)]
    yields = {s for s in items if rng.random() < 0.3}
    while len(items) > 1 and rng.random() < 0.9:
        chosen = rng.sample(range(len(items)), rng.randint(2, min(4, len(items))))
        joined = frozenset().union(*(items[k] for k in chosen))
        items = [item for k, item in enumerate(items) if k not in chosen] + [joined]
        yields.add(joined)
    yields.add(frozenset(range(length)))
    return frozenset((rng.choice(labels), s) for s in sorted(yields, key=sorted))


def random_action(rng: random.Random, c: Configuration, labels: tuple[str, ...] = LABELS) -> Action:
    """Any legal action, chosen in an order that does not depend on the hash seed."""
    return rng.choice(sorted(c.legal_actions(labels), key=repr))


def walk(length: int, policy: Callable[[Configuration], Action]) -> Iterator[tuple[Configuration, Action]]:
    """The configurations from the initial one to the last but the final, each with the action that the
    policy takes."""
    c = Configuration.initial(length)
    while not c.is_final:
        action = policy(c)
        yield c, action
        c = c.apply(action)


def derive(length: int, actions: list[Action]) -> Configuration:
    """The configuration after all actions."""
    c = Configuration.initial(length)
    for action in actions:
        c = c.apply(action)
    return c
