"""The oracles on the paper's example, on trees too large for exhaustion, and on what is not a gold tree."""

from __future__ import annotations

import random

import pytest
from walks import derive, random_action, random_gold, walk

from discoparse.system.constituents import ConstituentError
from discoparse.system.dynamic_oracle import DynamicOracle
from discoparse.system.oracle import next, o_complete, o_even, o_odd, reach, static_derivation
from discoparse.system.transition import Combine, Configuration, NoLabel, Shift


def s(*tokens):
    return frozenset(tokens)


# The tree of Figure 1: So what 's a parent to do ?
PAPER = frozenset(
    {
        ("WHNP", s(1)),
        ("NP", s(3, 4)),
        ("VP", s(1, 6)),
        ("VP", s(1, 5, 6)),
        ("SQ", s(1, 2, 3, 4, 5, 6)),
        ("SBARQ", s(*range(8))),
    }
)

# The actions of Table 2, one row of the table after the other.
TABLE_2 = (
    "SH NO-LABEL SH LABEL-WHNP SH NO-LABEL SH NO-LABEL SH NO-LABEL COMB-3 LABEL-NP COMB-2 NO-LABEL"
    " SH NO-LABEL SH NO-LABEL COMB-1 LABEL-VP COMB-5 LABEL-VP COMB-2 LABEL-SQ COMB-0 NO-LABEL"
    " SH NO-LABEL COMB-0 LABEL-SBARQ"
)


def names(actions):
    return " ".join(map(str, actions))


def follow(gold, length, complete):
    oracle = DynamicOracle(gold)
    return [action for _, action in walk(length, lambda c: oracle.preferred(c, complete))]


def test_the_static_derivation_of_the_papers_example_is_table_2():
    assert names(static_derivation(PAPER)) == TABLE_2


def test_the_complete_set_reproduces_table_2_and_the_papers_set_does_not():
    assert names(follow(PAPER, 8, complete=True)) == TABLE_2
    assert names(follow(PAPER, 8, complete=False)) != TABLE_2


def test_where_the_papers_set_is_not_complete():
    """Table 2 combines the NP {a parent} with {'s}; next is the VP {what do}, so o_even only shifts."""
    c = derive(8, static_derivation(PAPER)[:12])
    assert c.focus == s(3, 4)
    assert next(c, PAPER) == ("VP", s(1, 6))
    oracle = DynamicOracle(PAPER)
    assert oracle.best_actions(c) == {Shift()}
    assert oracle.optimal_actions(c) == {Shift(), Combine(s(2))}
    assert oracle.preferred(c) == Shift()
    assert oracle.preferred(c, complete=True) == Combine(s(2))


def test_what_was_just_labelled_is_not_reachable_any_more():
    """Else next would be the VP that is done, nothing lies inside it, and the answer would be to shift."""
    c = derive(8, static_derivation(PAPER)[:20])
    assert (c.focus, c.step) == (s(1, 6), 20)
    assert ("VP", s(1, 6)) not in reach(c, PAPER)
    assert next(c, PAPER) == ("VP", s(1, 5, 6))
    assert o_even(c, PAPER) == {Combine(s(5))}


def test_what_was_just_declined_is_not_reachable_either():
    c = derive(8, [*static_derivation(PAPER)[:19], NoLabel()])
    assert next(c, PAPER) == ("VP", s(1, 5, 6))


def test_at_a_labelling_step_the_focus_is_reachable():
    c = derive(8, static_derivation(PAPER)[:19])
    assert next(c, PAPER) == ("VP", s(1, 6))


def test_a_final_configuration_has_no_best_action():
    oracle = DynamicOracle(PAPER)
    c = derive(8, static_derivation(PAPER))
    assert oracle.best_actions(c) == oracle.optimal_actions(c) == frozenset()
    with pytest.raises(ValueError, match="final"):
        oracle.preferred(c)


def test_the_configuration_must_be_of_the_same_sentence():
    with pytest.raises(ValueError, match="7 tokens, the gold tree 8"):
        DynamicOracle(PAPER).best_actions(Configuration.initial(7))


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        (set(), "at least one"),
        ({("S", s(0, 2))}, "none is the whole sentence"),
        ({("S", s(1, 2))}, "none is the whole sentence"),
        ({("S", s(0, 1)), ("ROOT", s(0, 1))}, "unary chain"),
        ({("S", s(0, 1, 2)), ("A", s(0, 1)), ("B", s(1, 2))}, "overlaps"),
        ({("S", s(0, 1)), ("A", s(5))}, "not in the sentence"),
        ({("S", s(0, 1)), ("A", s())}, "empty"),
    ],
)
def test_what_is_not_a_gold_tree_is_refused(gold, problem):
    with pytest.raises(ConstituentError, match=problem):
        DynamicOracle(gold)
    with pytest.raises(ConstituentError, match=problem):
        static_derivation(gold)


@pytest.mark.parametrize("seed", range(60))
def test_all_three_oracles_build_larger_trees(seed):
    """All end in the gold tree; the complete set with the tie-breaks is the static derivation."""
    rng = random.Random(seed)
    n = rng.randint(1, 30)
    gold = random_gold(rng, n)
    actions = static_derivation(gold)
    assert len(actions) == 4 * n - 2
    assert derive(n, actions).constituents == gold
    assert follow(gold, n, complete=True) == actions
    assert derive(n, follow(gold, n, complete=False)).constituents == gold


@pytest.mark.parametrize("seed", range(40))
def test_from_anywhere_everything_reachable_is_built(seed):
    """Leave a random walk at a random step: either oracle builds all that is reachable, and nothing wrong."""
    rng = random.Random(seed)
    n = rng.randint(2, 25)
    gold = random_gold(rng, n)
    oracle = DynamicOracle(gold)
    steps = [c for c, _ in walk(n, lambda c: random_action(rng, c))]
    start = rng.choice(steps)
    for complete in (False, True):
        c = start
        while not c.is_final:
            legal = c.legal_actions({label for label, _ in gold})
            assert oracle.best_actions(c) <= oracle.optimal_actions(c) <= legal
            c = c.apply(oracle.preferred(c, complete))
        assert c.constituents - start.constituents == reach(start, gold)


@pytest.mark.parametrize("seed", range(40))
def test_the_dynamic_oracle_gives_the_sets_of_the_definitions(seed):
    """In configurations that follow the gold tree for a while and then do anything, as an erring parser would."""
    rng = random.Random(seed)
    length = rng.randint(1, 11)
    gold = random_gold(rng, length)
    oracle = DynamicOracle(gold)
    chance = rng.choice([0.05, 0.3, 1.0])
    erring = walk(length, lambda c: random_action(rng, c) if rng.random() < chance else oracle.preferred(c, True))
    for c, _ in erring:
        if c.is_labelling_step:
            assert oracle.best_actions(c) == oracle.optimal_actions(c) == o_odd(c, gold)
        else:
            assert oracle.best_actions(c) == o_even(c, gold)
            assert oracle.optimal_actions(c) == o_complete(c, gold)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_deep_trees_do_not_take_for_ever(side, complete):
    """300 nested constituents; comparing each with every item at every step would be cubic."""
    length = 300
    ends = [(k, length) if side == "right" else (0, length - k) for k in range(length - 1)]
    gold = {("X", frozenset(range(*end))) for end in ends}
    assert derive(length, follow(gold, length, complete)).constituents == gold
