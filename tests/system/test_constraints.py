"""Constraints: what is read and refused, and the theorem behind parsing within them, checked by exhaustion."""

from __future__ import annotations

import random
from itertools import permutations

import exhaustive
import numpy as np
import pytest
from exhaustive import State, families, graph

from discoparse.system.constraints import ConstraintError, Constraints, Required
from discoparse.system.dynamic_oracle import DynamicOracle
from discoparse.system.transition import Combine, Configuration, NoLabel, Shift
from discoparse.tree import indexes
from discoparse.treebank.discbracket import parse_tree

WORDS = ["What", "did", "you", "see", "?"]


def required(*tokens: int, label: str | None = None, labels: tuple[str, ...] | None = None) -> Required:
    return Required(frozenset(tokens), label, labels)


def test_json_there_and_back():
    data = {
        "constituents": [{"tokens": [0, 3], "label": "VP"}, {"tokens": [2]}, {"tokens": [0], "labels": ["NP", "WHNP"]}],
        "forbidden": [[1, 2]],
        "tags": {"0": "WP", "3": "VB"},
        "words": WORDS,
    }
    constraints = Constraints.from_json(data)
    constraints.check(WORDS)
    assert constraints.to_json() == data
    assert constraints.tags == {0: "WP", 3: "VB"}
    assert Constraints.from_json({}).to_json() == {}
    assert not Constraints.from_json({"words": WORDS})
    assert constraints


def test_short_forms():
    """Tokens alone, objects for forbidden sets, numbers as keys of tags: what Python users write."""
    found = Constraints.from_json(
        {"constituents": [(1, 2), {2}], "forbidden": [{"tokens": range(2)}], "tags": {3: "VB"}}
    )
    assert found == Constraints((required(1, 2), required(2)), (frozenset({0, 1}),), {3: "VB"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "constraints must be an object"),
        ({"constituent": []}, "constraints have no 'constituent'"),
        ({"constituents": [{"token": [1]}]}, "constituents have no 'token'"),
        ({"constituents": {}}, "constituents must be a list"),
        ({"constituents": [{"label": "NP"}]}, "the tokens of a constituent must be a list of numbers"),
        ({"constituents": [[]]}, "the tokens of a constituent"),
        ({"constituents": [[True]]}, "the tokens of a constituent"),
        ({"constituents": [{"tokens": [1], "label": 3}]}, "label must be text"),
        ({"constituents": [{"tokens": [1], "label": "A", "labels": ["A"]}]}, "not both"),
        ({"constituents": [{"tokens": [1], "labels": []}]}, "is empty"),
        ({"constituents": [{"tokens": [1], "labels": "NP"}]}, "labels must be a list"),
        ({"forbidden": ["01"]}, "the tokens of a forbidden set"),
        ({"tags": ["WP"]}, "tags must be an object"),
        ({"tags": {"first": "WP"}}, "by the numbers of tokens, and 'first' is not one"),
        ({"tags": {"1_0": "WP"}}, "'1_0' is not one"),
        ({"tags": {"9" * 5000: "WP"}}, "numbers of tokens, and '9{38}… is not one"),
        ({"tags": {0: "x" * 999, "0": "y" * 999}}, "token 0 has two tags, 'x{38}… and 'y{38}…$"),
        ({"tags": {"9" * 999: "x", "09" + "9" * 998: "y"}}, "token 9{39}… has two tags"),
        ({"t" * 999: {}}, "constraints have no 't{38}…: they have constituents"),
        ({"words": 10**5000}, "words must be a list, not a huge number"),
        ({"tags": {"0": ""}}, "tags must be text"),
        ({"tags": {"0": 3}}, "tags must be text, not 3"),
        ({"tags": {"0": "WP", "00": "VB"}}, "token 0 has two tags, 'WP' and 'VB'"),
        ({"words": "What"}, "words must be a list"),
    ],
)
def test_what_is_not_of_this_form_is_refused(data, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_json(data)


@pytest.mark.parametrize(
    ("constraints", "message", "pair"),
    [
        (Constraints((required(0, 1), required(1, 2, label="NP"))), "NP over .*'did you' and a constituent", True),
        (Constraints((required(0, 1, 2), required(0, 3), required(2))), "overlap, and neither contains", True),
        (Constraints((required(1, 2, label="NP"), required(1, 2, label="VP"))), "same tokens but different", True),
        (Constraints((required(1, label="NP"), required(1, labels=("S", "NP")))), "same tokens but different", True),
        (Constraints((required(1, 2),), (frozenset({1, 2}),)), "both required and forbidden", True),
        (Constraints(forbidden=(frozenset(range(5)),)), "always a constituent", False),
        (Constraints((required(5),)), "no token 5: the sentence has tokens 0 to 4", False),
        (Constraints((required(0, 1), required(-1, 2))), "no token -1", False),
        (Constraints((required(2), required(0, 10**12))), "no token 1000000000000", False),
        (Constraints((required(2), Required(frozenset()))), "without tokens", False),
        (Constraints((required(2, label="NP", labels=("VP",)),)), 'either "label" .* or "labels"', False),
        (Constraints((required(2, labels=()),)), '"labels" is empty', False),
        (Constraints(forbidden=(frozenset({-1}),)), "no token -1", False),
        (Constraints(tags={9: "VB"}), "no token 9", False),
        (Constraints(tags={10**999: "VB"}), "no token 10{38}…: the sentence", False),
        (Constraints((required(0, 10**5000),)), "no token a huge number", False),
        (Constraints(words=("What",)), "are for the sentence 'What', not 'What did you see", False),
    ],
)
def test_what_no_tree_can_meet_is_refused(constraints, message, pair):
    with pytest.raises(ConstraintError, match=message) as caught:
        constraints.check(WORDS)
    assert (caught.value.pair is not None) == pair
    if pair:
        for one in caught.value.pair:
            assert set(one) & {"tokens", "forbidden"}


def test_messages_are_short_whatever_the_constraints():
    words = ["w" * 99] * 2000
    constraints = Constraints((required(*range(1500), label="x" * 999), required(*range(900, 2000))))
    with pytest.raises(ConstraintError, match=r"and x{49}… over the tokens 0, 1, .*… 'w{49}…' overlap") as caught:
        constraints.check(words)
    assert len(str(caught.value)) < 500


def test_numbers_of_numpy_are_shown_as_numbers():
    with pytest.raises(ConstraintError, match="no token 9: the sentence"):
        Constraints((required(0, np.int64(9)),)).check(WORDS)


def test_what_a_tree_can_meet_is_not():
    """Nested, disjoint, twice the same, once without a label; a forbidden set may overlap anything."""
    entries = (required(0, 3), required(0, 1, 3), required(2), required(2, label="NP"), required(0, 3))
    constraints = Constraints(entries, (frozenset({1, 2}), frozenset({0, 1, 2})))
    constraints.check(WORDS)
    assert constraints.by_mask[0b100] == required(2, label="NP")
    assert len(constraints.by_mask) == 3
    for order in permutations((required(1), required(1, label="NP"), required(1, labels=("NP",)))):
        assert Constraints(order).by_mask == {0b10: required(1, labels=("NP",))}  # the most specific one


@pytest.mark.parametrize("seed", range(4))
def test_overlaps_are_found_wherever_there_are_some(seed):
    """Random sets, few enough that about half of the lists have none: against all pairs of sets."""
    rng = random.Random(seed)
    fine = 0
    for _ in range(300):
        sets = [frozenset(rng.sample(range(5), rng.choice([1, 1, 2, 2, 3, 4]))) for _ in range(rng.randint(2, 5))]
        constraints = Constraints(tuple(Required(tokens) for tokens in sets))
        clashes = [(a, b) for a in sets for b in sets if a & b and not a <= b and not b <= a]
        if clashes:
            with pytest.raises(ConstraintError, match="overlap") as caught:
                constraints.check(WORDS)
            assert tuple(frozenset(one["tokens"]) for one in caught.value.pair) in clashes
        else:
            constraints.check(WORDS)
            fine += 1
    assert 50 < fine < 250


def test_the_same_constraints_are_checked_against_every_sentence():
    """What was found out about them for one sentence does not hide what is wrong for another."""
    constraints = Constraints((required(0, 3),), (frozenset({0, 1, 2}),))
    constraints.check(WORDS)
    with pytest.raises(ConstraintError, match="no token 3: the sentence has tokens 0 to 2"):
        constraints.check(WORDS[:3])
    with pytest.raises(ConstraintError, match="the whole sentence is forbidden"):
        Constraints(forbidden=constraints.forbidden).check(WORDS[:3])
    clashing = Constraints((required(0, 1), required(1, 2)))
    for words in (WORDS, ["a", "b", "c"]):
        with pytest.raises(ConstraintError, match=f"'{words[1]} {words[2]}' and .* '{words[0]} {words[1]}' overlap"):
            clashing.check(words)
    tags = {0: "WP"}
    tagged = Constraints(tags=tags)
    tagged.check(WORDS)
    tags[7] = "VB"
    with pytest.raises(ConstraintError, match="no token 7"):
        tagged.check(WORDS)


def test_partial_trees():
    tree = parse_tree("(ROOT (S (VP (_ (NP (WP 0=What))) (VB 2=see)) (_ 1=did) (NP (QP (CD 3=one)))))")
    found = Constraints.from_tree(tree, tags=True)
    assert set(found.constituents) == {
        required(0, 1, 2, 3, label="S"),
        required(0, 2, label="VP"),
        required(0, label="NP"),
        required(3, labels=("NP", "QP")),
    }
    assert found.tags == {0: "WP", 2: "VB", 3: "CD"}
    assert Constraints.from_tree(tree).tags == {}
    chain = parse_tree("(S (A (_ (B (_ (C 0=a) (D 1=b))))) (_ (E (F 2=c))) (_ (_ (G 3=d))))")
    assert set(Constraints.from_tree(chain).constituents) == {
        required(0, 1, 2, 3, label="S"),
        required(0, 1, labels=("A", "B")),  # what is not known stands for nothing
        required(2, label="E"),
        required(3),
    }


# -- the theorem: a derivation builds all required constituents iff all of its actions are in the complete set ------


def structural_graph(length: int) -> tuple[list[list[tuple[State, State]]], dict[State, list]]:
    """All structural derivations as lists of steps from a structural state to the next labelling state, and the
    structural states with their moves."""
    start = State(frozenset(), 0, 0, False)
    derivations: list[list[tuple[State, State]]] = []

    def extend(state: State, steps: list[tuple[State, State]]) -> None:
        found = graph(length)[state]
        if not found:
            derivations.append(steps)
        for _, after in found:
            extend(after._replace(labelling=False), [*steps, (state, after)])

    extend(start, [])
    return derivations, {state: found for state, found in graph(length).items() if not state.labelling and found}


def configuration_of(state: State, length: int) -> Configuration:
    memory = frozenset(frozenset(indexes(mask)) for mask in state.memory)
    focus = frozenset(indexes(state.focus)) if state.focus else None
    step = 2 * (2 * state.next_token - len(memory) - 1) if state.focus else 0
    return Configuration(memory, focus, state.next_token, frozenset(), step, length)


def check_theorem(length: int, chosen) -> int:
    derivations, states = structural_graph(length)
    everything = (1 << len(derivations)) - 1
    through: dict[tuple[State, State], int] = {}  # by step, the derivations that take it, as bits
    having: dict[int, int] = {}  # by set, the derivations that have it as a focus
    for k, steps in enumerate(derivations):
        for step in steps:
            through[step] = through.get(step, 0) | 1 << k
            having[step[1].focus] = having.get(step[1].focus, 0) | 1 << k
    configurations = {state: configuration_of(state, length) for state in states}
    count = 0
    for family in chosen:
        oracle = DynamicOracle({("X", frozenset(indexes(mask))) for mask in family})
        cut = 0
        reached = {State(frozenset(), 0, 0, False)}
        for state, found in states.items():  # in an order in which moves lead to later states
            if state not in reached:
                continue
            allowed = oracle.optimal_actions(configurations[state])
            assert allowed  # never stuck
            for (kind, value), after in found:
                action = Shift() if kind == "shift" else Combine(frozenset(indexes(value)))
                if action in allowed:
                    reached.add(after._replace(labelling=False))
                else:
                    cut |= through[state, after]
        wanted = everything
        for mask in family:
            wanted &= having[mask]
        assert everything & ~cut == wanted, family
        assert wanted
        count += 1
    return count


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_derivations_within_constraints_are_those_that_build_them(length):
    """For every set of constituents that a tree can have: none is missed, no derivation that has them is cut off."""
    assert check_theorem(length, families(length)) == [1, 4, 32, 416][length - 1]


@pytest.mark.parametrize(("length", "sample"), [(5, 400), (6, 60)])
def test_derivations_within_sampled_constraints(length, sample):
    rng = random.Random(19)
    shapes = exhaustive.hierarchies((1 << length) - 1)
    chosen = []
    for _ in range(sample):
        full = rng.choice(shapes).union(1 << i for i in range(length) if rng.random() < 0.3)
        chosen.append(frozenset(mask for mask in full if rng.random() < 0.6) | {(1 << length) - 1})
    assert check_theorem(length, chosen) == sample


def test_configurations_are_those_of_the_transition_system():
    """The configurations that the theorem is checked in can be reached, with the right number of steps."""
    reached = {Configuration.initial(4)}
    for _ in range(6):
        reached = {
            c.apply(action).apply(NoLabel())
            for c in reached
            for action in c.legal_actions()
            if c.apply(action).failed_precondition(NoLabel()) is None
        }
        _, states = structural_graph(4)
        assert reached
        assert reached <= {configuration_of(state, 4) for state in states}
