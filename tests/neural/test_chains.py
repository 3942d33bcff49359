"""Label chains and their probabilities, against all chains of a labeller with few labels."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from random_model import random_parser

import discoparse.neural.chains as chains_module
from discoparse.neural.chains import ChainScores
from discoparse.neural.codes import spell_code


def chains_up_to(count: int, longest: int) -> list[tuple[int, ...]]:
    """All chains of labels, the lowest first."""
    return [chain for n in range(longest + 1) for chain in itertools.product(range(1, count), repeat=n)]


@pytest.fixture(scope="module")
def small_chains() -> tuple[ChainScores, list[tuple[int, ...]]]:
    """The labeller of a network with few labels, on some foci; the first two must have a label."""
    parser = random_parser(seed=5)
    torch.manual_seed(5)
    scorers = parser.network.scorers.requires_grad_(False)
    states = torch.randn(5, scorers.label_hidden.out_features)
    scores = ChainScores(scorers, states, torch.tensor([True, True, False, False, False]), temperature=2.0)
    scores.longest = 3  # so that all chains can be listed
    return scores, chains_up_to(scores.count, 3)


def code_of(chain: tuple[int, ...], count: int) -> int:
    return sum(label * count**level for level, label in enumerate(chain))


def test_the_probabilities_of_all_chains_sum_to_one(small_chains):
    scores, chains = small_chains
    codes = torch.tensor([code_of(chain, scores.count) for chain in chains])
    for row in range(5):
        total = scores.of_codes(torch.full_like(codes, row), codes).exp()
        assert math.isclose(total.sum(), 1, abs_tol=1e-4)
        assert (total[0] == 0) == (row < 2)


def test_the_best_chain_with_a_label_is_the_best(small_chains):
    """Against all chains, for every label and for sets of labels; also where no label at all is far more probable."""
    scores, chains = small_chains
    scores.first[4, 0] = 20.0
    codes = torch.tensor([code_of(chain, scores.count) for chain in chains])
    for row in range(5):
        values = scores.of_codes(torch.full_like(codes, row), codes)
        for ids in [[k] for k in range(1, scores.count)] + [[1, 3], [2, 4]]:
            having = [k for k, chain in enumerate(chains) if set(ids) & set(chain)]
            best = max(having, key=lambda k: values[k])
            wanted = torch.zeros(1, scores.count, dtype=torch.bool)
            wanted[0, ids] = True
            found = scores.best_with(torch.tensor([row]), wanted)
            assert scores.of_codes(torch.tensor([row]), found) == pytest.approx(float(values[best]), abs=1e-5)
            assert set(spell_code(int(found), scores.count)) & set(ids)


@pytest.mark.parametrize("chunk", [1, 1 << 23])
def test_a_gpu_gives_chains_the_same_probabilities(small_chains, monkeypatch, chunk):
    """Where asking which chains go on is expensive, all steps are computed, a part of the rows at a time."""
    scores, chains = small_chains
    codes = torch.tensor([code_of(chain, scores.count) for chain in chains])
    rows = torch.arange(len(codes)) % 5
    expected = scores.of_codes(rows, codes)
    monkeypatch.setattr(chains_module, "cheap_to_ask", lambda tensor: False)
    monkeypatch.setattr(chains_module, "_CHUNK", chunk)
    assert torch.allclose(scores.of_codes(rows, codes), expected)


def test_the_best_chains_of_many_foci_are_found_a_few_at_a_time(small_chains, monkeypatch):
    scores, _ = small_chains
    rows = torch.tensor([0, 1, 2, 3, 4])
    wanted = torch.zeros(5, scores.count, dtype=torch.bool)
    wanted[rows, 1 + rows % (scores.count - 1)] = True
    expected = torch.cat([scores.best_with(rows[k : k + 1], wanted[k : k + 1]) for k in range(5)])
    asked: list[int] = []
    viterbi = ChainScores._viterbi
    monkeypatch.setattr(ChainScores, "_viterbi", lambda s, r, w: asked.append(len(r)) or viterbi(s, r, w))
    monkeypatch.setattr(chains_module, "_CHUNK", 2 * (2 * scores.count) ** 2)
    assert scores.best_with(rows, wanted).tolist() == expected.tolist()
    assert asked == [2, 2, 1]


def test_samples_follow_the_probabilities(small_chains):
    scores, chains = small_chains
    torch.manual_seed(0)
    count = 20_000
    for row in (0, 3):
        drawn = scores.sample(torch.full((count,), row))
        for chain in sorted(chains, key=len)[:30]:
            code = code_of(chain, scores.count)
            p = float(scores.of_codes(torch.tensor([row]), torch.tensor([code])).exp())
            share = float((drawn == code).float().mean())
            assert abs(share - p) <= 4 * math.sqrt(p * (1 - p) / count) + 1e-9
