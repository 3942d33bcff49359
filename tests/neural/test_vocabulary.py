"""What a model knows by name: ids by rank, the rare words that UNK stands in for, and characters."""

from __future__ import annotations

import random

import pytest

from discoparse.neural.vocabulary import LONGEST_FORM, UNKNOWN, Vocabulary
from discoparse.tree import Token, Tree


def treebank(counts: dict[str, int]) -> list[Tree]:
    """Trees of one word each."""
    return [Tree.from_constituents([Token(w, "X")], [("S", {0})]) for w, count in counts.items() for _ in range(count)]


COUNTS = {"m": 5, "c": 1, "z": 7, "b": 1, "a": 3, "d": 1}


def test_words_are_ranked_by_frequency_and_then_by_name():
    """Whatever the order of the trees."""
    trees = treebank(COUNTS)
    for seed in range(3):
        random.Random(seed).shuffle(trees)
        vocabulary = Vocabulary.from_trees(trees, chains=True)
        assert vocabulary.words == ["z", "m", "a", "b", "c", "d"]
        assert [vocabulary.word_id(word) for word in vocabulary.words] == [1, 2, 3, 4, 5, 6]
        assert vocabulary.word_id("never") == UNKNOWN


@pytest.mark.parametrize(
    ("share", "rare"), [(0.0, set()), (1 / 3, {"c", "d"}), (2 / 3, {"a", "b", "c", "d"}), (1.0, set(COUNTS))]
)
def test_the_rare_words_are_the_least_frequent_types(share, rare):
    """A share of the word types, not of the tokens."""
    vocabulary = Vocabulary.from_trees(treebank(COUNTS), chains=True, rare_share=share)
    assert {word for word in COUNTS if vocabulary.word_id(word) >= vocabulary.rare} == rare


@pytest.mark.parametrize(("least", "kept", "rare"), [(2, "zma", "a"), (4, "zm", ""), (100, "", "")])
def test_words_without_an_embedding_count_among_the_rare_types(least, kept, rare):
    """The two thirds are of all types, whether or not they are frequent enough to have a vector of their own."""
    vocabulary = Vocabulary.from_trees(treebank(COUNTS), chains=True, min_frequency=least)
    assert vocabulary.words == list(kept)
    assert {word for word in kept if vocabulary.word_id(word) >= vocabulary.rare} == set(rare)


def test_characters():
    """Ranked by the tokens that they are in; of words that are too long, both ends are read."""
    vocabulary = Vocabulary.from_trees(treebank({"aab": 2, "bc": 3}), chains=True)
    assert vocabulary.characters == ["b", "c", "a"]
    assert vocabulary.character_ids("cab!") == [2, 3, 1, UNKNOWN]
    long = "a" * LONGEST_FORM + "b" * LONGEST_FORM
    half = LONGEST_FORM // 2
    assert vocabulary.character_ids(long) == [3] * half + [1] * half
    assert vocabulary.character_ids(long[:LONGEST_FORM]) == [3] * LONGEST_FORM
