"""Limits of many sentences at once: those of each sentence alone, or none where that one has to be looked at."""

from __future__ import annotations

import random

import numpy as np
import pytest

from discoparse.neural import plain_limits as module
from discoparse.neural.limits import Limits, limits_for
from discoparse.neural.plain_limits import plain_limits
from discoparse.neural.vocabulary import Vocabulary
from discoparse.system.constraints import ConstraintError, Constraints, Required

VOCABULARY = Vocabulary([], [], ["X"], [("S",), ("VP",), ("NP", "S")], rare=1)
LABELS = [None, "S", "VP", "NP"]


def alone(constraints: Constraints, words: list[str]) -> Limits | None:
    """What is plain and possible, by the way that looks at one sentence."""
    try:
        return limits_for(constraints, words, VOCABULARY, True)
    except ConstraintError:
        return None


def together(pairs: list[tuple[Constraints | None, int]]) -> list[Limits | None]:
    return plain_limits([one for one, _ in pairs], [["w"] * length for _, length in pairs], VOCABULARY)


def random_set(rng: random.Random, length: int) -> frozenset[int]:
    return frozenset(rng.sample(range(length), rng.randint(1, min(length, 4))))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_one_by_one(seed, monkeypatch):
    """Random sets, of which many are nested and many are not; sometimes the whole sentence, or a set twice."""
    monkeypatch.setattr(module, "_MOST_PAIRS", 200)
    rng = random.Random(seed)
    pairs = []
    for _ in range(400):
        length = rng.choice([1, 2, 3, 5, 8, 62, 63])
        sets = [random_set(rng, length) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.3:
            sets.insert(rng.randint(0, len(sets)), frozenset(range(length)))
        pairs.append((Constraints(tuple(Required(one, rng.choice(LABELS)) for one in sets)), length))
    found = together(pairs)
    possible = 0
    for (constraints, length), limits in zip(pairs, found, strict=True):
        if limits is None:
            sets = [entry.tokens for entry in constraints.constituents]
            assert len(set(sets)) < len(sets) or alone(constraints, ["w"] * length) is None
        else:
            assert limits == alone(constraints, ["w"] * length)
            possible += 1
    assert 100 < possible < 350


@pytest.mark.parametrize(
    "constraints",
    [
        None,
        Constraints(),
        Constraints((Required(frozenset({0, 1})), Required(frozenset({1, 2})))),  # overlap
        Constraints((Required(frozenset({0, 1}), "S"), Required(frozenset({0, 1}), "VP"))),  # two labels
        Constraints((Required(frozenset({0, 3})),)),  # tokens that are none of the sentence
        Constraints((Required(frozenset({-1, 0})),)),
        Constraints((Required(frozenset({0, 10**15})),)),
        Constraints((Required(frozenset()),)),
        Constraints((Required(frozenset({0, 1}), "?"),)),  # a label that the model does not know
        Constraints((Required(frozenset({0, 1}), labels=("S", "VP")),)),  # more than plain
        Constraints((Required(frozenset({0, 1})),), forbidden=(frozenset({0, 2}),)),
        Constraints((Required(frozenset({0, 1})),), tags={0: "X"}),
        Constraints((Required(frozenset({0, 1})),), words=("a", "b", "c")),
        Constraints((Required(frozenset({0, 1})),), words=()),
        Constraints(tuple(Required(frozenset({k % 3})) for k in range(6))),  # as many as 2n
        Constraints(tuple(Required(frozenset({k % 3})) for k in range(10**5))),  # their pairs would not fit into memory
    ],
)
def test_what_is_left_to_be_looked_at(constraints):
    """None, and the neighbours have what they have without it."""
    plain = Constraints((Required(frozenset({0, 2}), "VP"),))
    first, left_out, last = together([(plain, 3), (constraints, 3), (plain, 3)])
    assert left_out is None
    assert first == last == Limits(3, [0b111, 0b101], [0, 0], [[], [2]], [], {})


def test_long_sentences_are_left():
    plain = Constraints((Required(frozenset({0, 2})),))
    assert [limits is None for limits in together([(plain, 63), (plain, 64), (plain, 2000)])] == [False, True, True]


def test_numbers_beyond_64_bits_leave_all_to_be_looked_at():
    plain = Constraints((Required(frozenset({0, 2})),))
    assert together([(plain, 3), (Constraints((Required(frozenset({0, 10**30})),)), 3)]) == [None, None]


def test_what_is_no_number_of_a_token_is_refused():
    for token in (0.0, "0", None):
        with pytest.raises(TypeError):
            together([(Constraints((Required(frozenset({token, 2})),)), 3)])  # type: ignore[arg-type]
    numbers = frozenset(np.array([0, 2]))
    assert together([(Constraints((Required(numbers),)), 3)]) == [Limits(3, [0b111, 0b101], [0, 0], [[], []], [], {})]
