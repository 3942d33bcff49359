"""Samples, beams and what is concluded from them, against the definitions on sentences small enough to list all."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random

import numpy as np
import pytest
import torch
from random_model import random_parser

from discoparse.neural import torch_belief
from discoparse.neural.beam import RankedTree, best_trees, calibrated, cheapest, search, top_codes
from discoparse.neural.belief import UNSCORED, Foci, agreed, beliefs
from discoparse.neural.calibration import RAW, Calibration
from discoparse.neural.chains import ChainScores
from discoparse.neural.codes import spell_code
from discoparse.neural.decoder import ROW_TOKENS
from discoparse.neural.marginals import expected_labels, labeller_states
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import distinct_foci, sample
from discoparse.neural.structure import structural_pass
from discoparse.neural.torch_belief import believe
from discoparse.parser.parser import Parser
from discoparse.tree import gap_count

WORDS = ["The", "dog", "barks", "see", "What", "old", "w1", "w2"]


@pytest.fixture
def parser(every_network: str) -> Parser:
    return random_parser()


def sentences(seed: int, count: int, longest: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [[rng.choice(WORDS) for _ in range(rng.randint(1, longest))] for _ in range(count)]


def encoded(parser: Parser, given: list[list[str]]):
    with torch.inference_mode():
        _, last, lengths = parser.decoder.encode(given)
    return last, lengths


def sampled(parser: Parser, given: list[list[str]], count: int, temperature: float = 1.0):
    last, lengths = encoded(parser, given)
    seeds = np.arange(len(given))
    with torch.inference_mode():
        scorers, folded = parser.network.scorers, parser.decoder.fast_scorers
        return distinct_foci(sample(scorers, folded, last, lengths, count, temperature, seeds))


def searched(parser: Parser, given: list[list[str]], width: int, temperature: float = 1.0):
    last, lengths = encoded(parser, given)
    with torch.inference_mode():
        return search(parser.decoder.fast_scorers, last, lengths, width, temperature)


def test_rows_are_derivations_and_the_first_is_the_greedy_one(parser):
    given = sentences(1, 12, 14)
    found = sampled(parser, given, 5)
    last, lengths = encoded(parser, given)
    with torch.inference_mode():
        greedy, _ = structural_pass(parser.network.scorers, last, lengths, parser.decoder.fast_scorers)
    for b, words in enumerate(given):
        steps = 2 * len(words) - 1
        assert found.action[6 * b, :steps].tolist() == greedy[b, :steps].tolist()
        rows = {tuple(found.action[6 * b + k, :steps].tolist()) for k in range(1, 6)}
        assert len(rows) > 1 or len(words) < 4
        for row in rows:
            assert yields(replay(row))[-1] == (1 << len(words)) - 1
    assert found.sampled.tolist() == ([False] + [True] * 5) * 12


def test_distinct_foci_are_counted(parser):
    given = sentences(2, 8, 10)
    found = sampled(parser, given, 7)
    shares: dict[tuple[int, int], float] = {}
    for row in range(8 * 8):
        b = row // 8
        steps = 2 * len(given[b]) - 1
        masks = yields(replay(found.action[row, :steps].tolist()))
        for t, mask in enumerate(masks):
            x = int(found.index[row, t])
            assert int(found.sentence[x]) == b
            assert bool(found.whole[x]) == (mask == (1 << len(given[b])) - 1)
            assert found.positions[x, 0] == (mask & -mask).bit_length() - 1
            assert found.positions[x, 1] == mask.bit_length() - 1
            shares.setdefault((b, mask), 0.0)
            if row % 8:
                shares[b, mask] += 1 / 7
        assert not found.valid[row, steps:].any()
    assert len(shares) == len(found.share)  # equal sets have one entry
    for x, share in enumerate(found.share.tolist()):
        masks = yields(replay(found.action[found.row[x], : 2 * len(given[int(found.sentence[x])]) - 1].tolist()))
        assert share == pytest.approx(shares[int(found.sentence[x]), masks[int(found.step[x])]], abs=1e-5)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_a_wide_beam_finds_all_derivations(parser, temperature):
    """1 · 3 · 5 derivations of four tokens; together they are certain. Shorter neighbours are not disturbed."""
    given = [["The", "dog", "barks", "see"], ["dog"], ["What", "see", "dog"], ["old", "dog"]]
    found = searched(parser, given, 15, temperature)
    for b, expected in enumerate([15, 1, 3, 1]):
        rows = slice(15 * b, 15 * b + 15)
        value = found.log_probability[rows]
        assert int((value > -math.inf).sum()) == expected
        assert float(value.exp().sum()) == pytest.approx(1, abs=1e-4)
        assert value[:expected].tolist() == sorted(value[:expected].tolist(), reverse=True)
        steps = 2 * len(given[b]) - 1
        distinct = {tuple(found.found.action[15 * b + k, :steps].tolist()) for k in range(expected)}
        assert len(distinct) == expected
        for row in distinct:
            assert yields(replay(row))[-1] == (1 << len(given[b])) - 1


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_samples_come_as_often_as_they_are_probable(parser, temperature):
    given = [["The", "dog", "barks", "see"]]
    beam = searched(parser, given, 15, temperature)
    chance = {
        tuple(row): math.exp(value)
        for row, value in zip(beam.found.action.tolist(), beam.log_probability.tolist(), strict=True)
    }
    count = 4000
    drawn = [tuple(row) for row in sampled(parser, given, count, temperature).action[1:].tolist()]
    assert set(drawn) <= set(chance)
    for row, p in chance.items():
        assert abs(drawn.count(row) / count - p) <= 4 * math.sqrt(p * (1 - p) / count) + 1e-9


def test_expected_labels_are_those_of_all_chains(parser):
    torch.manual_seed(4)
    scorers = parser.network.scorers.requires_grad_(False)
    chains = ChainScores(scorers, torch.randn(6, scorers.label_hidden.out_features), torch.arange(6) < 2, 1.5)
    chains.longest = 3
    spelled = [chain for n in range(4) for chain in itertools.product(range(1, chains.count), repeat=n)]
    codes = torch.tensor([sum(label * chains.count**k for k, label in enumerate(chain)) for chain in spelled])
    found = expected_labels(chains)
    for row in range(6):
        chance = chains.of_codes(torch.full_like(codes, row), codes).exp().tolist()
        for label in range(1, chains.count):
            mean = sum(p * chain.count(label) for p, chain in zip(chance, spelled, strict=True))
            assert float(found[row, label]) == pytest.approx(mean, abs=5e-3)
        assert float(found[row, 0]) == pytest.approx(chance[0], abs=1e-5)


def believed(parser: Parser, given: list[list[str]], count: int, calibration: Calibration = RAW, least: float = 1.0):
    return dict(believe(parser.decoder, given, count, calibration, least))


def ranked(parser: Parser, given: list[list[str]], count: int) -> dict[int, list[RankedTree]]:
    return {k: trees for k, trees, _ in best_trees(parser.decoder, given, count, RAW)}


def constituents(parser: Parser, actions: list[int], codes: list[int]) -> set[tuple[str, int]]:
    chains = [parser.decoder.chains[code] for code in codes]
    return {(label, mask) for mask, chain in zip(yields(replay(actions)), chains, strict=True) for label in chain}


def test_the_probability_of_a_tree_is_that_of_its_derivations(parser):
    """By samples, and summed over all derivations that can become it; the beam's tree has some of that sum."""
    given = [["dog", "see", "dog", "What"], ["The", "dog", "barks"], ["What", "old"], *sentences(11, 10, 4)]
    found = believed(parser, given, 4000)
    trees = ranked(parser, given, 40)
    cut_off = summed = 0
    for k, words in enumerate(given):
        wanted = constituents(parser, found[k].actions, found[k].codes)
        code = dict(zip(yields(replay(found[k].actions)), found[k].codes, strict=True))
        beam = searched(parser, [words], 15)
        last, lengths = encoded(parser, [words])
        with torch.inference_mode():
            states = labeller_states(parser.decoder.fast_scorers, last, lengths, beam.found)
            chains = ChainScores(parser.network.scorers, states, beam.found.whole)
        single = []
        for row, value in enumerate(beam.log_probability.tolist()):
            masks = yields(replay(beam.found.action[row].tolist())) if value > -math.inf else []
            if value > -math.inf and {mask for mask in code if code[mask]} <= set(masks):
                labels = torch.tensor([code.get(mask, 0) for mask in masks])
                single.append(math.exp(value + float(chains.of_codes(beam.found.index[row], labels).detach().sum())))
            elif value > -math.inf:
                cut_off += 1
        exact = sum(single)
        assert found[k].probability == pytest.approx(exact, rel=0.15)
        same = [one for one in trees[k] if constituents(parser, one.actions, one.codes) == wanted]
        assert len(same) == 1
        assert max(single) - 1e-6 <= same[0].probability <= exact + 1e-6
        summed += same[0].probability > 1.01 * max(single)
    assert cut_off  # some derivations cannot become the tree
    assert summed  # of some trees, the beam has several derivations


def test_the_probability_of_a_constituent_is_its_share_times_that_of_its_label(parser):
    given = [["The", "dog", "barks", "see"]]
    found = believed(parser, given, 4000)[0]
    beam = searched(parser, given, 15)
    last, lengths = encoded(parser, given)
    with torch.inference_mode():
        states = labeller_states(parser.decoder.fast_scorers, last, lengths, beam.found)
        expected = expected_labels(ChainScores(parser.network.scorers, states, beam.found.whole))
    weight: dict[int, float] = {}
    number: dict[int, int] = {}
    for row in range(15):
        for t, mask in enumerate(yields(replay(beam.found.action[row].tolist()))):
            weight[mask] = weight.get(mask, 0.0) + math.exp(beam.log_probability[row])
            number[mask] = int(beam.found.index[row, t])
    for mask, code, values in zip(yields(replay(found.actions)), found.codes, found.probabilities, strict=True):
        ids = spell_code(code, len(parser.vocabulary.labels) + 1)
        assert len(ids) == len(values)
        for label, value in zip(ids, values, strict=True):
            exact = weight[mask] * min(1.0, float(expected[number[mask], label]))
            assert value == pytest.approx(np.clip(exact, 0.005, 0.995), abs=0.03)
    scored = [k for k, (label,) in enumerate(parser.vocabulary.labels, 1) if label not in UNSCORED]
    size = sum(weight[mask] * float(expected[number[mask], scored].sum()) for mask in weight)
    assert len(scored) < len(parser.vocabulary.labels)
    assert found.expected_size == pytest.approx(size, abs=0.05)


def test_sentences_in_parts_are_believed_as_together(pytorch_network, monkeypatch):
    """A part is sampled before the conclusions from the one before it are drawn, so that a GPU need not wait."""
    parser, given = random_parser(), sentences(9, 12, 9)
    together = believed(parser, given, 5, least=0.3)
    events: list[str] = []

    def noted(name: str, function):
        def call(*arguments):
            events.append(name)
            return function(*arguments)

        return call

    monkeypatch.setitem(ROW_TOKENS, "cpu", 6 * 20)
    monkeypatch.setattr(torch_belief, "sample", noted("sample", torch_belief.sample))
    monkeypatch.setattr(torch_belief, "beliefs", noted("conclude", torch_belief.beliefs))
    parts = believed(parser, given, 5, least=0.3)
    count = events.count("sample")
    assert count > 3
    assert events == ["sample", *["sample", "conclude"] * (count - 1), "conclude"]
    assert sorted(parts) == list(range(12))
    for k, one in parts.items():
        other = together[k]
        assert (one.actions, one.codes, one.tags) == (other.actions, other.codes, other.tags)
        assert [mask for _, mask, _ in one.shared] == [mask for _, mask, _ in other.shared]
        assert one.probability == pytest.approx(other.probability, abs=1e-5)
        assert [p for node in one.probabilities for p in node] == pytest.approx(
            [p for node in other.probabilities for p in node], abs=1e-5
        )
    assert any(one.shared for one in parts.values())


def test_discontinuous_constituents_have_a_map_of_their_own(parser):
    given = sentences(8, 20, 9)
    raw, shifted = believed(parser, given, 10), believed(parser, given, 10, dataclasses.replace(RAW, gap_offset=2.0))
    gaps = 0
    for k in range(len(given)):
        for mask, one, other in zip(
            yields(replay(raw[k].actions)), raw[k].probabilities, shifted[k].probabilities, strict=True
        ):
            gaps += bool(gap_count(mask) and one)
            for before, after in zip(one, other, strict=True):
                assert (after > before + 1e-6) == (gap_count(mask) > 0)
    assert gaps


def test_more_than_half_is_always_a_tree(parser):
    """Constituents that more than half of the samples have are compatible; with lower shares the larger ones win."""
    given = sentences(5, 40, 14)
    found = believed(parser, given, 20, least=0.5)
    low = believed(parser, given, 20, least=0.1)
    dropped = 0
    for k in range(len(given)):
        assert agreed(found[k].shared) == found[k].shared
        kept = agreed(low[k].shared)
        dropped += len(low[k].shared) - len(kept)
        for (_, one, _), (_, other, _) in itertools.combinations(kept, 2):
            assert one & other in (0, one, other)
        assert {mask for _, mask, _ in found[k].shared} <= {mask for _, mask, _ in kept}
    assert dropped  # there is something to choose from


def test_what_foci_say():
    """Two tokens; the second has A in half of the samples, one and a half times. B stands over C as one label."""
    whole, first, second = 0, 1, 2  # foci
    found = Foci(
        *([[0, 1, 0]], [[first, second, whole]], np.array([0.25])),
        *([[5, 6]], [[0.5, 0.75]]),
        sentence=np.zeros(3, dtype=int),
        share=np.array([1.0, 1.0, 0.5]),
        gapped=np.array([False, False, False]),
        code=np.array([2 + 4 * 3, 0, 1]),  # ROOT above B and C; none; A
        code_probability=np.array([0.9, 0.8, 0.7]),
        expected=np.array([[0, 0.1, 0.8, 0.9], [0.9, 0.1, 0.0, 0.0], [0.0, 1.5, 0.2, 0.0]]),
        mask=[0b11, 0b01, 0b10].__getitem__,
    )
    (belief,) = beliefs(found, [("A",), ("B", "C"), ("ROOT",)], dataclasses.replace(RAW, tree_power=2.0), least=0.3)
    assert belief.probabilities == [(), pytest.approx((0.5,)), pytest.approx((0.9, 0.8, 0.8))]
    assert belief.codes == [0, 1, 14]
    assert belief.label_probabilities == [0.8, 0.7, 0.9]
    assert belief.probability == 0.25**2
    assert belief.expected_size == pytest.approx(0.1 + 2 * 0.8 + 0.1 + 0.5 * (1.5 + 2 * 0.2))  # ROOT does not count
    assert (belief.tags, belief.tag_probabilities) == ([5, 6], [0.5, 0.75])
    assert belief.shared == [("A", 0b10, pytest.approx(0.5))]  # the whole sentence is always there


def test_the_same_text_gives_the_same_samples(parser):
    given = sentences(6, 10, 9)
    assert believed(parser, given, 8) == believed(parser, given, 8)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_choices_are_the_best(seed):
    """Against all choices; values may be equal, and some are impossible."""
    rng = random.Random(seed)
    values = [
        sorted(rng.choice([-0.1, -0.5, -1.0, rng.uniform(-3, 0), -math.inf]) for _ in range(rng.randint(1, 3)))[::-1]
        for _ in range(rng.randint(1, 5))
    ]
    values = [options if options[0] > -math.inf else [0.0] for options in values]
    every = [
        sum(options[k] for options, k in zip(values, choice, strict=True))
        for choice in itertools.product(*(range(len(options)) for options in values))
    ]
    possible = sorted((value for value in every if value > -math.inf), reverse=True)
    found = list(cheapest(values, 12))
    assert [value for value, _ in found] == pytest.approx(possible[:12])
    assert len({tuple(choice) for _, choice in found}) == len(found)
    for value, choice in found:
        assert value == pytest.approx(sum(options[k] for options, k in zip(values, choice, strict=True)))


def test_top_codes_come_in_order(parser):
    torch.manual_seed(3)
    scorers = parser.network.scorers.requires_grad_(False)
    chains = ChainScores(scorers, torch.randn(20, scorers.label_hidden.out_features), torch.zeros(20, dtype=torch.bool))
    codes, values = top_codes(chains)
    assert (values[:, 1:] <= values[:, :-1]).all()
    rows = torch.arange(20)
    for k in range(codes.shape[1]):
        torch.testing.assert_close(chains.of_codes(rows, codes[:, k]), values[:, k])
    assert all(len(set(row)) == len(row) for row in codes.tolist())


def test_best_trees_differ_and_are_in_order(parser):
    given = sentences(9, 15, 9)
    for k, trees in ranked(parser, given, 6).items():
        seen = [frozenset(constituents(parser, one.actions, one.codes)) for one in trees]
        assert len(set(seen)) == len(seen) == (6 if len(given[k]) > 2 else len(seen))
        values = [one.probability for one in trees]
        assert values == sorted(values, reverse=True)
        assert sum(values) <= 1 + 1e-4


def test_a_larger_share_never_means_less():
    shares = np.linspace(0, 1, 200)
    for curve in (-0.1, 0.0, 0.2):
        for gap in (False, True):
            found = Calibration(curve=curve, slope=0.4, gap_slope=0.3).probability(shares, np.array(gap))
            assert (np.diff(found) >= -1e-12).all()


def test_a_calibration_from_facts():
    """What is missing is as usual; what a later version may add is left aside."""
    assert Calibration.from_json({"structure": 2.0, "colour": 1.0}) == Calibration(structure=2.0)
    assert Calibration.from_json(RAW.to_json()) == RAW


@pytest.mark.parametrize("power", [0.3, 0.75, 1.0, 1.6])
def test_probabilities_of_different_trees_are_those_of_one_sentence(power):
    """Together at most 1, in the order of the raw ones; the best one's does not depend on how many there are."""
    rng = random.Random(power)
    for _ in range(200):
        weights = sorted((rng.random() ** rng.choice([1, 9]) for _ in range(rng.randint(1, 12))), reverse=True)
        whole = sum(weights) + rng.choice([0.0, rng.random()])
        raw = [weight / whole for weight in weights]
        found = calibrated(raw, power)
        assert sum(found) <= 1 + 1e-9
        assert found == sorted(found, reverse=True)
        assert found[0] == raw[0] ** power
        assert found[:3] == calibrated(raw[:3], power)
    assert calibrated([0.6, 0.3], 1) == pytest.approx([0.6, 0.3])
    assert calibrated([1.0000001, 1e-9], 0.5) == pytest.approx([1, 0], abs=1e-4)
    assert calibrated([], 2) == []
