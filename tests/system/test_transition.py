"""The transition system: Table 1, its preconditions, and the length of derivations."""

from __future__ import annotations

import dataclasses
import random

import pytest
from walks import LABELS, random_action, walk

from discoparse.system.transition import Combine, Configuration, IllegalAction, Label, NoLabel, Shift

ZERO = frozenset({0})
ONE = frozenset({1})


def after(length, *actions):
    c = Configuration.initial(length)
    for action in actions:
        c = c.apply(action)
    return c


def test_the_rules_of_table_1_one_by_one():
    c = Configuration.initial(3)
    assert c == Configuration(frozenset(), None, 0, frozenset(), 0, 3)
    c = c.apply(Shift())  # null does not go to the memory
    assert c == Configuration(frozenset(), ZERO, 1, frozenset(), 1, 3)
    c = c.apply(Label("NP"))
    assert c == Configuration(frozenset(), ZERO, 1, frozenset({("NP", ZERO)}), 2, 3)
    c = c.apply(Shift())
    assert c == Configuration(frozenset({ZERO}), ONE, 2, frozenset({("NP", ZERO)}), 3, 3)
    c = c.apply(NoLabel())
    assert c == Configuration(frozenset({ZERO}), ONE, 2, frozenset({("NP", ZERO)}), 4, 3)
    c = c.apply(Combine(ZERO))
    assert c == Configuration(frozenset(), ZERO | ONE, 2, frozenset({("NP", ZERO)}), 5, 3)


@pytest.mark.parametrize(
    ("configuration", "action", "precondition"),
    [
        (after(2, Shift()), Shift(), "j is even"),
        (after(2, Shift(), NoLabel(), Shift()), Combine(ZERO), "j is even"),
        (after(2), Label("X"), "j is odd"),
        (after(2, Shift(), NoLabel()), NoLabel(), "j is odd"),
        (after(1, Shift(), Label("X")), Shift(), "i < n"),
        (after(2, Shift(), NoLabel()), Combine(ZERO), "s ∈ S"),  # the focus is not in the memory
        (after(2), Combine(ZERO), "s ∈ S"),
        (after(1, Shift()), NoLabel(), "i ≠ n or S ≠ ∅"),
        (after(2, Shift(), NoLabel(), Shift(), NoLabel(), Combine(ZERO)), NoLabel(), "i ≠ n or S ≠ ∅"),
    ],
)
def test_an_illegal_action_says_which_precondition_failed(configuration, action, precondition):
    with pytest.raises(IllegalAction, match=precondition):
        configuration.apply(action)
    assert action not in configuration.legal_actions(["X"])


def test_no_label_is_legal_while_something_is_left_to_combine():
    c = after(2, Shift(), NoLabel(), Shift())
    assert NoLabel() in c.legal_actions(LABELS)


def test_a_sentence_without_tokens_is_refused():
    with pytest.raises(ValueError, match="at least one token"):
        Configuration.initial(0)


def test_one_token_takes_two_steps():
    c = after(1, Shift(), Label("NP"))
    assert c.is_final
    assert c.step == 2
    assert not c.legal_actions(LABELS)


def test_configurations_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Configuration.initial(1).step = 3  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(30))
def test_every_walk_ends_after_4n_minus_2_steps(seed):
    """Whatever the actions, a derivation never gets stuck, and ends in the goal configuration of Table 1."""
    rng = random.Random(seed)
    n = rng.randint(1, 25)
    *_, (c, action) = walk(n, lambda c: random_action(rng, c))
    c = c.apply(action)
    assert (c.step, c.memory, c.focus, c.next_token) == (4 * n - 2, frozenset(), frozenset(range(n)), n)


@pytest.mark.parametrize("seed", range(10))
def test_the_invariants_of_section_2(seed):
    """max(s_f) = i - 1, and memory and focus divide the tokens that were shifted."""
    rng = random.Random(seed)
    for c, _ in walk(15, lambda c: random_action(rng, c)):
        if c.focus is not None:
            assert max(c.focus) == c.next_token - 1
            assert sorted(i for item in [*c.memory, c.focus] for i in item) == list(range(c.next_token))
