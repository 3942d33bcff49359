"""The oracles of Section 2.2: reach, next, o_odd and o_even as the paper writes them, and two companions.

These are definitions to read beside the paper; `dynamic_oracle.DynamicOracle` gives the same sets, and quickly.
`o_complete` lists *every* structural action after which no reachable gold constituent is lost; the paper's
`o_even` is a part of it. `static_derivation` is the canonical derivation of Table 2, which the complete set
with the paper's tie-breaks reproduces. docs/reference/oracle.md has the proofs;
tests/system/test_oracle_exhaustive.py checks them on every small tree.

In the arguments, c is a `Configuration` (S, s_f, i, C) and t* (here `gold`) is a set of constituents (label,
yield) with one label a yield and one constituent over the whole sentence. Unary chains are one label.
"""

from __future__ import annotations

from collections.abc import Collection

from discoparse.system.constituents import Nesting
from discoparse.system.transition import Action, Combine, Configuration, Item, Label, NoLabel, Shift
from discoparse.tree import Constituent

Gold = Collection[Constituent]  # t*


def reach(c: Configuration, gold: Gold) -> frozenset[Constituent]:
    """The gold constituents that are not in C and can still be constructed from c.

    At a labelling (odd) step, (X, s_g) is reachable iff
      1. max(s_f) ≤ max(s_g), and
      2. every s in S ∪ {s_f} lies inside s_g or is disjoint from it.
    At a structural (even) step the focus has had its labelling step and is never the focus again, so also
      3. s_g ≠ s_f.
    Before the first shift everything is reachable.
    """
    S, s_f, C = c.memory, c.focus, c.constituents
    if s_f is None:
        return frozenset(gold)
    right, items = max(s_f), [*S, s_f]
    return frozenset(
        (X, s_g)
        for X, s_g in gold
        if (X, s_g) not in C
        and right <= max(s_g)
        and all(s <= s_g or s.isdisjoint(s_g) for s in items)
        and (c.is_labelling_step or s_g != s_f)
    )


def precedence(constituent: Constituent) -> tuple[int, int]:
    """A sort key for the order ≼: by right index, then by inclusion.

    Constituents of one tree with one right index share that token, so they are nested: size decides.
    """
    _, s = constituent
    return max(s), len(s)


def next(c: Configuration, gold: Gold) -> Constituent:
    """The smallest reachable gold constituent in the order ≼."""
    reachable = reach(c, gold)
    if not reachable:  # never but in a final configuration, if the whole sentence is a gold constituent
        raise ValueError("no gold constituent is reachable")
    return min(reachable, key=precedence)


def o_odd(c: Configuration, gold: Gold) -> frozenset[Action]:
    """{label-X} if (X, s_f) is gold, {no-label} otherwise."""
    return frozenset(Label(X) for X, s_g in gold if s_g == c.focus) or frozenset({NoLabel()})


def o_even(c: Configuration, gold: Gold) -> frozenset[Action]:
    """The actions that lead towards next(c, t*) = (X, s_g): the combinations inside s_g, and a shift
    if max(s_g) > max(s_f)."""
    s_f = c.focus
    if s_f is None:
        return frozenset({Shift()})
    _, s_g = next(c, gold)
    actions: set[Action] = {Combine(s) for s in c.memory if s_f | s <= s_g}
    if max(s_g) > max(s_f):
        actions.add(Shift())
    return frozenset(actions)


def o_complete(c: Configuration, gold: Gold) -> frozenset[Action]:
    """All structural actions after which every reachable gold constituent is still reachable.

    A shift loses the constituents that end at max(s_f), and no others. Combine-s loses those that
    contain one of s and s_f but not the other, and no others.
    """
    s_f = c.focus
    if s_f is None:
        return frozenset({Shift()})
    R = [s_g for _, s_g in reach(c, gold)]
    actions: set[Action] = {Combine(s) for s in c.memory if all((s <= s_g) == (s_f <= s_g) for s_g in R)}
    if all(max(s_g) != max(s_f) for s_g in R):
        actions.add(Shift())
    return frozenset(actions)


def static_derivation(gold: Gold) -> list[Action]:
    """The canonical derivation of Section 2.2.1: combine as soon as possible, with the most recent item.

    Two items may be combined when the smallest unfinished constituents around them are the same one.
    Combining at once leaves at most one item of each unfinished constituent in the memory, so "the most recent" is
    the only one and nothing is searched for. The time goes into the sets themselves: it is linear in the sizes of all
    foci together, so quadratic in the number of tokens for a tree that branches to one side.

    >>> print(*static_derivation({("S", frozenset({0, 1, 2})), ("VP", frozenset({0, 2}))}))
    SH NO-LABEL SH NO-LABEL SH NO-LABEL COMB-0 LABEL-VP COMB-1 LABEL-S
    """
    nesting = Nesting(gold)
    parents, yields = nesting.parents, nesting.yields
    labels = [Label(X) for X in nesting.labels]
    shift, no_label = Shift(), NoLabel()
    memory: dict[int, Item] = {}  # unfinished constituent -> the item inside it
    actions: list[Action] = []
    for i, lowest in enumerate(nesting.lowest):
        actions.append(shift)
        focus: Item = frozenset((i,))
        around: int | None = lowest  # the smallest unfinished constituent around the focus
        while around is not None:
            if len(focus) == len(yields[around]):
                actions.append(labels[around])
                around = parents[around]
            else:
                actions.append(no_label)
            if around is None:  # the whole sentence is built
                break
            if around not in memory:
                memory[around] = focus
                break
            item = memory.pop(around)
            actions.append(Combine(item))
            focus |= item
    return actions
