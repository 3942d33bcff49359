"""The systems that are replaced: their derivations rebuild the tree, and cost what is said."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from strategies import trees
from walks import random_gold

from discoparse.system.constituents import tree_constituents
from discoparse.system.derivation_lengths import SYSTEMS, crossing_pairs, derivation_statistics, structural_length
from discoparse.system.gap import Gap, GapConfiguration
from discoparse.system.shift_reduce import Reduce, Unary
from discoparse.system.swap import Swap, SwapConfiguration
from discoparse.system.transition import Configuration, IllegalAction, Shift

INITIAL = {"set": Configuration.initial, "swap": SwapConfiguration.initial, "gap": GapConfiguration.initial}


def replay(system, gold, length):
    c = INITIAL[system](length)
    for action in SYSTEMS[system](gold):
        assert not c.is_final or isinstance(action, Unary)  # a single token is there before it has its label
        c = c.apply(action)
    assert c.is_final
    return c.constituents


def is_continuous(gold):
    return all(max(s) - min(s) + 1 == len(s) for _, s in gold)


@given(trees(max_tokens=12))
@settings(max_examples=150, deadline=None)
def test_every_system_rebuilds_random_trees(tree):
    gold = tree_constituents(tree)
    for system in SYSTEMS:
        assert replay(system, gold, len(tree)) == gold


@pytest.mark.parametrize("seed", range(30))
def test_every_system_rebuilds_larger_trees(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 40)
    gold = random_gold(rng, n)
    for system in SYSTEMS:
        assert replay(system, gold, n) == gold


@given(trees(max_tokens=10))
@settings(max_examples=100, deadline=None)
def test_the_number_of_transitions(tree):
    """2n-1 structural transitions, one more a gap, two more a swap; continuous trees need neither."""
    gold, n = tree_constituents(tree), len(tree)
    lengths = {name: structural_length(derive(gold)) for name, derive in SYSTEMS.items()}
    assert lengths["set"] == 2 * n - 1
    assert lengths["gap"] == 2 * n - 1 + SYSTEMS["gap"](gold).count(Gap())
    assert lengths["swap"] == 2 * n - 1 + 2 * SYSTEMS["swap"](gold).count(Swap())
    for system in ("gap", "swap"):
        assert (lengths[system] == 2 * n - 1) == is_continuous(gold)


def test_lazy_swaps_move_a_continuous_constituent_as_one():
    """The NP {2, 3, 4} is built before it moves over {1}: one swap, not three."""
    gold = {("S", frozenset(range(5))), ("VP", frozenset({0, 2, 3, 4})), ("NP", frozenset({2, 3, 4}))}
    assert SYSTEMS["swap"](gold).count(Swap()) == 1


@pytest.mark.parametrize("n", range(1, 60))
def test_crossing_pairs_cost_linear_memories_a_quadratic_number_of_transitions(n):
    gold = crossing_pairs(n)
    m = n // 2 if n > 2 else 0
    lengths = {name: structural_length(derive(gold)) for name, derive in SYSTEMS.items()}
    assert lengths["set"] == 2 * n - 1
    assert lengths["gap"] == 2 * n - 1 + m * (m - 1) // 2 + max(0, m - 1)
    assert lengths["swap"] == 2 * n - 1 + m * (m - 1)


@pytest.mark.parametrize("n", [4, 6])
def test_no_oracle_derives_crossing_pairs_with_fewer_gaps_or_swaps(n):
    """The lower bound of docs/reference/oracle.md, by trying every derivation."""
    gold, m = crossing_pairs(n), n // 2
    label_of = {s: label for label, s in gold}
    assert fewest(GapConfiguration.initial(n), Gap(), label_of, gold) == m * (m - 1) // 2 + m - 1
    assert fewest(SwapConfiguration.initial(n), Swap(), label_of, gold) == m * (m - 1) // 2


def fewest(start, counted, label_of, gold):
    """The fewest `counted` actions in any derivation of the gold tree: breadth-first by their number."""
    layer, seen, number = [start], {start}, 0
    while layer:
        later = []
        while layer:
            c = layer.pop()
            if c.is_final and c.constituents == gold:
                return number
            for action in (Shift(), counted, Reduce()):
                try:
                    following = c.apply(action)
                except IllegalAction:
                    continue
                if isinstance(action, Reduce):  # with its label where it has one
                    (joined,) = set(items_of(following)) - set(items_of(c))
                    following = c.apply(Reduce(label_of.get(joined)))
                if following not in seen:
                    seen.add(following)
                    (later if action == counted else layer).append(following)
        layer, number = later, number + 1
    raise AssertionError("no derivation")


def items_of(c):
    return c.stack + (c.deque if isinstance(c, GapConfiguration) else c.buffer)


@pytest.mark.parametrize(
    ("configuration", "action"),
    [
        (SwapConfiguration.initial(2), Swap()),
        (SwapConfiguration.initial(2), Reduce("X")),
        (SwapConfiguration((frozenset({1}), frozenset({0})), (), frozenset()), Swap()),  # was swapped before
        (SwapConfiguration((), (), frozenset()), Shift()),
        (GapConfiguration.initial(2), Gap()),
        (GapConfiguration.initial(2), Reduce("X")),
        (GapConfiguration((frozenset({0}),), (frozenset({1}),), 2, frozenset(), 2), Gap()),
        (GapConfiguration((frozenset({0}),), (frozenset({1}),), 2, frozenset(), 2), Shift()),
    ],
)
def test_illegal_actions_are_refused(configuration, action):
    with pytest.raises(IllegalAction):
        configuration.apply(action)


def test_statistics_count_sentences_transitions_and_memory():
    from discoparse.treebank.discbracket import parse_tree

    statistics = derivation_statistics(
        [parse_tree("(S (VP (V 0=wake) (P 2=up)) (N 1=them))"), parse_tree("(NP (N 0=tea))")]
    )
    assert (statistics.sentences, statistics.tokens) == (2, 4)
    assert statistics.systems["set"].all == {10: 1, 2: 1}
    assert statistics.systems["set"].structural == {5: 1, 1: 1}
    assert statistics.systems["gap"].all == {6: 1, 2: 1}  # with a gap, and with a unary reduction
    assert statistics.systems["swap"].structural == {7: 1, 1: 1}
    assert statistics.memory == {0: 3, 1: 2, 2: 1}
    json = statistics.to_json()
    assert json["systems"]["gap"]["shortest_possible"] == 1
    assert json["memory"]["distribution"] == [[0, 3], [1, 2], [2, 1]]
