"""A treebank as tensors: batches have what their trees have, and memory follows each sentence's own length."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_models import toy_treebank

from discoparse.neural.lockstep import BITS, gold_tensors
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.transform.unary import chains_of
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


def right_branching(n: int) -> Tree:
    """As many constituents as tokens, each but the first inside all before it."""
    return Tree.from_constituents([Token("a", "X")] * n, [("S", set(range(k, n))) for k in range(n)])


def corpus_of(trees: list[Tree]) -> Corpus:
    vocabulary = Vocabulary.from_trees(trees, chains=True)
    return Corpus(trees, vocabulary, ChainTable(vocabulary, spell=True), CPU)


def test_gold_constituents_of_a_batch_are_those_of_its_trees():
    """Tables of different size, gathered in another order and padded further than needed."""
    trees = [*toy_treebank(4, 1), right_branching(2 * BITS + 5), *toy_treebank(4, 2), right_branching(BITS)]
    corpus = corpus_of(trees)
    chains = ChainTable(Vocabulary.from_trees(trees, chains=True), spell=True)
    rows = [[(chains.id(chain), mask) for chain, mask in chains_of(tree)] for tree in trees]
    for chosen in ([3, 0, 7], [4, 1], [9, 2, 4, 9]):
        width = max(len(trees[k]) for k in chosen)
        expected = gold_tensors([rows[k] for k in chosen], [len(trees[k]) for k in chosen])
        found = corpus.gold_batch(np.array(chosen), torch.tensor(chosen), width + 3)
        for ours, theirs in zip(found.tensors(), expected.tensors(), strict=True):
            assert torch.equal(ours[tuple(slice(size) for size in theirs.shape)], theirs)
            assert ours.sum() == theirs.sum()  # zeros elsewhere


def test_a_long_sentence_costs_only_what_it_needs():
    """One of 500 tokens beside many short ones: the tables grow by its own, and not by a column for every token."""
    short, long = toy_treebank(50, 1), right_branching(500)
    sizes = [
        sum(table.values.numel() for table in (corpus.member, corpus.before))
        for corpus in map(corpus_of, (short, [long], [*short, long]))
    ]
    assert sizes[2] == sizes[0] + sizes[1]
    assert sizes[0] == sum(2 * len(tree) + 1 for tree in short)  # one word of bits a token
