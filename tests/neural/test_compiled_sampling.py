"""The compiled network draws the samples that PyTorch's draws, from the same random numbers, and concludes the same."""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest
import torch
from compiled_networks import CONFIGS, LENGTHS, compiled, inside, network_of
from random_model import random_parser, save_random_model

from discoparse.errors import DiscoparseError
from discoparse.neural.beam import search
from discoparse.neural.belief import Belief
from discoparse.neural.calibration import Calibration
from discoparse.neural.compiled.library import VARIABLE, supported
from discoparse.neural.draws import draws, seeds_of
from discoparse.neural.marginals import labeller_states, marginals
from discoparse.neural.network import Network
from discoparse.neural.replay import replay, yields
from discoparse.neural.sampling import distinct_foci, sample
from discoparse.neural.scoring import FoldedScorers
from discoparse.neural.torch_belief import believe
from discoparse.parser.finding import load
from discoparse.parser.parser import Parser

if not supported():
    pytest.skip("the compiled network was not built", allow_module_level=True)

WARM = (2.0, 1.5, 3.0)  # temperatures of structure, labels and tags


def mask_of(bits: np.ndarray) -> int:
    return sum(int(word) << 64 * k for k, word in enumerate(bits))


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("samples", [1, 12])
@pytest.mark.parametrize("config", CONFIGS)
def test_samples(config, samples, stored, kind):
    """From the same token vectors: the same foci as often, labels and probabilities of foci, tags and trees."""
    network = network_of(config, stored, seed=samples)
    torch.manual_seed(samples)
    first, last = torch.rand(2, len(LENGTHS), max(LENGTHS), 2 * config.hidden) * 2 - 1
    lengths, seeds = torch.tensor(LENGTHS), np.arange(len(LENGTHS))
    folded = FoldedScorers.of(network.scorers)
    theirs = distinct_foci(sample(network.scorers, folded, last, lengths, samples, WARM[0], seeds))
    known = marginals(network.scorers, labeller_states(folded, last, lengths, theirs), theirs, WARM[1])
    vectors = inside(first).numpy(), inside(last).numpy()
    ours = compiled(network, kind).sample(np.array(LENGTHS), *vectors, WARM, draws(seeds, LENGTHS, samples))

    exact = {"atol": 4e-3, "rtol": 0} if stored else {"atol": 1e-4, "rtol": 0}
    chance, tag = (network.tag_scores(inside(first), inside(last)) / WARM[2]).softmax(-1).max(-1)
    assert ours.tags.tolist() == tag.tolist()
    np.testing.assert_allclose(ours.tag_probabilities, chance.numpy(), **exact)
    greedy = theirs.action[~theirs.sampled]
    masks = {}  # PyTorch's foci
    for x, (row, step) in enumerate(zip(theirs.row.tolist(), theirs.step.tolist(), strict=True)):
        sentence = row // (samples + 1)
        actions = theirs.action[row, : 2 * LENGTHS[sentence] - 1].tolist()
        masks[sentence, yields(replay(actions))[step]] = x
    found = {(s, mask_of(bits)): x for x, (s, bits) in enumerate(zip(ours.sentence.tolist(), ours.bits, strict=True))}
    assert len(found) == len(ours.sentence), "a set stands twice"
    start = 0
    for sentence, n in enumerate(LENGTHS):
        steps = slice(start, start + 2 * n - 1)
        start = steps.stop
        assert ours.actions[steps].tolist() == greedy[sentence, : 2 * n - 1].tolist()
        foci = yields(replay(ours.actions[steps].tolist()))
        assert ours.index[steps].tolist() == [found[sentence, focus] for focus in foci]
    both = sorted(found.keys() & masks.keys())
    missing = len(found.keys() ^ masks.keys())
    assert missing <= (0.02 * len(found) if stored else 0), "more than a few draws that fall on an edge"
    one, other = [found[key] for key in both], torch.tensor([masks[key] for key in both])
    shares = np.abs(ours.count[one] / samples - theirs.share[other].numpy())
    assert shares.mean() < (0.01 if stored else 1e-6)
    gapped = theirs.positions[other, 2] <= theirs.positions[other, 1]
    assert ours.gapped[one].tolist() == gapped.tolist()
    assert (ours.codes[one] != known.code[other].numpy()).mean() < (0.01 if stored else 1e-9)
    np.testing.assert_allclose(ours.probabilities[one], known.code_probability[other].numpy(), **exact)
    np.testing.assert_allclose(ours.expected[one], known.expected[other].numpy(), **exact)
    if not missing:
        np.testing.assert_allclose(ours.tree_probabilities, known.tree_probability.numpy(), **exact)


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_samples_come_as_often_as_they_are_probable(temperature, kind):
    """Foci of four tokens: in all 15 derivations, which a wide beam finds with their probabilities."""
    network = network_of(CONFIGS[0], stored=False)
    torch.manual_seed(0)
    tokens = torch.rand(1, 4, 14) * 2 - 1
    beam = search(FoldedScorers.of(network.scorers), tokens, torch.tensor([4]), 15, temperature)
    exact: dict[int, float] = {}
    for row, value in zip(beam.found.action.tolist(), beam.log_probability.tolist(), strict=True):
        for mask in yields(replay(row)):
            exact[mask] = exact.get(mask, 0.0) + math.exp(value)
    count = 4000
    numbers = draws(np.array([1]), [4], count)
    found = compiled(network, kind).sample(
        np.array([4]), tokens[0].numpy(), tokens[0].numpy(), (temperature, 1, 1), numbers
    )
    shares = {mask_of(bits): drawn / count for bits, drawn in zip(found.bits, found.count, strict=True)}
    assert shares.keys() <= exact.keys()
    for mask, p in exact.items():
        assert abs(shares.get(mask, 0.0) - p) <= 4 * math.sqrt(max(p * (1 - p), 0) / count) + 1e-4


def test_a_sample_is_where_its_numbers_fall():
    """The smallest number takes the first action, the largest the last, whatever the scores are: of a memory in order,
    then SHIFT."""
    ours = compiled(network_of(CONFIGS[0], stored=False), supported()[0])
    tokens = np.random.default_rng(0).uniform(-1, 1, (4, 14))
    shifts_last = ours.sample(np.array([4]), tokens, tokens, (1, 1, 1), np.zeros(7))
    assert sorted(mask_of(bits) for bits, n in zip(shifts_last.bits, shifts_last.count, strict=True) if n) == [
        *(0b1, 0b10, 0b11, 0b100, 0b111, 0b1000, 0b1111)
    ]
    shifts_first = ours.sample(np.array([4]), tokens, tokens, (1, 1, 1), np.full(7, 1 - 2**-24))
    assert sorted(mask_of(bits) for bits, n in zip(shifts_first.bits, shifts_first.count, strict=True) if n) == [
        *(0b1, 0b10, 0b100, 0b1000, 0b1100, 0b1110, 0b1111)
    ]


@pytest.mark.parametrize("kind", supported())
def test_what_does_not_fit_is_refused(kind):
    ours = compiled(network_of(CONFIGS[0], stored=False), kind)
    three, vectors, numbers = np.array([3]), np.zeros((3, 14)), np.zeros(10)
    assert len(ours.sample(three, vectors, vectors, WARM, numbers).index) == 5
    attempts = [
        lambda: ours.sample(np.array([4]), vectors, vectors, WARM, numbers),
        lambda: ours.sample(three, vectors, vectors, WARM, numbers[1:]),
        lambda: ours.sample(three, vectors, vectors, WARM, numbers[:0]),
        lambda: ours.sample(np.array([]), vectors[:0], vectors[:0], WARM, numbers),
        *(
            lambda wrong=wrong: ours.sample(three, vectors, vectors, wrong, numbers)
            for wrong in ((0, 1, 1), (1, -1, 1), (1, 1, math.nan))
        ),
    ]
    for attempt in attempts:
        with pytest.raises(DiscoparseError, match="sizes that do not fit"):
            attempt()


# -- beliefs ----------------------------------------------------------------------------------------------------------

CALIBRATION = Calibration(structure=1.5, labels=1.2, tags=0.7, gap_offset=1.0)


def sentences(seed: int, count: int, longest: int) -> list[list[str]]:
    rng = random.Random(seed)
    words = ["The", "dog", "barks", "see", "What", "old", *(f"w{k}" for k in range(20))]
    return [[rng.choice(words) for _ in range(rng.randint(1, longest))] for _ in range(count)]


def believed(parser: Parser, given: list[list[str]], samples: int = 10) -> list[Belief]:
    found = dict(believe(parser.decoder, given, samples, CALIBRATION, least=0.1))
    return [found[k] for k in range(len(given))]


def assert_alike(one: Belief, other: Belief) -> None:
    for field in dataclasses.fields(Belief):
        ours, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name == "shared":  # of equal shares, either may come first
            ours, theirs = ({(label, mask): p for label, mask, p in found} for found in (ours, theirs))
        if field.name == "probabilities":
            assert [len(nodes) for nodes in ours] == [len(nodes) for nodes in theirs]
            ours, theirs = ([value for nodes in found for value in nodes] for found in (ours, theirs))
        assert ours == pytest.approx(theirs, abs=2e-4), field.name


@pytest.mark.parametrize("kind", supported())
def test_the_compiled_network_believes_what_the_other_does(kind, monkeypatch):
    given = sentences(1, 40, 14) + sentences(2, 2, 80)
    monkeypatch.setenv(VARIABLE, "off")
    expected = believed(random_parser(), given)
    monkeypatch.setenv(VARIABLE, kind)
    for one, other in zip(believed(random_parser(), given), expected, strict=True):
        assert_alike(one, other)
    assert any(one.shared for one in expected)


def test_beliefs_do_not_depend_on_neighbours(every_network):
    """Or on the order of sentences, or how many are sampled at once; the same sentence always has the same samples."""
    parser = random_parser()
    short = sentences(3, 30, 12)
    given = [*short, *(words * 4 for words in short)]
    together = believed(parser, [*given, *given[::-1]])
    for k, words in enumerate(given):
        (alone,) = believed(parser, [words])
        assert_alike(alone, together[k])
        assert_alike(alone, together[-1 - k])


def parser_without_lstms() -> Parser:
    """The compiled network gets its token vectors from PyTorch, as from a pretrained encoder."""
    spelling = random_parser()
    torch.manual_seed(3)
    network = Network(dataclasses.replace(spelling.network.config, layers=0))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)
    return Parser(network, spelling.vocabulary)


def test_token_vectors_may_come_from_pytorch(monkeypatch):
    # Without context, the same or unknown words have the same vectors: two in a sentence would be ties.
    words, rng = ["The", "dog", "barks", "see", "What", "old", "cats", "did", "you"], random.Random(5)
    given = [rng.sample(words, rng.randint(1, 9)) for _ in range(20)]
    monkeypatch.setenv(VARIABLE, "off")
    plain = parser_without_lstms()
    assert plain.decoder.compiled is None
    expected = believed(plain, given)
    constraints = [
        {"constituents": [[0, len(words) - 1]], "forbidden": [[1]]} if words[2:] else None for words in given
    ]
    trees = plain.parse_tokens(given, constraints=constraints)
    monkeypatch.delenv(VARIABLE)
    parser = parser_without_lstms()
    assert parser.decoder.compiled is not None
    assert not parser.decoder.compiled.network.has_encoder
    for one, other in zip(believed(parser, given), expected, strict=True):
        assert_alike(one, other)
    assert parser.parse_tokens(given, constraints=constraints) == trees


def test_a_stored_model_samples_without_the_decoder(tmp_path):
    save_random_model(tmp_path / "model")
    parser = load(tmp_path / "model", "cpu")
    given = sentences(4, 10, 9)
    trees = parser.parse_tokens(given, probabilities=7)
    assert "decoder" not in vars(parser)
    again = load(tmp_path / "model", "cpu", threads=2).parse_tokens(given, probabilities=7)
    assert [tree.expected_f1 for tree in trees] == [tree.expected_f1 for tree in again]
    assert trees == parser.parse_tokens(given)


# -- random numbers ---------------------------------------------------------------------------------------------------


def test_numbers_are_evenly_spread_and_independent():
    """Of one sentence, of different sentences, and of samples: means, and correlations of neighbours."""
    seeds = seeds_of([["word", str(k)] for k in range(200)])
    numbers = draws(seeds, [6] * 200, 50).reshape(200, 50, 11)
    assert 0 <= numbers.min() < 0.001
    assert 0.999 < numbers.max() < 1
    error = 1 / math.sqrt(12 * numbers.size)
    assert abs(numbers.mean() - 0.5) < 4 * error
    assert np.abs(np.histogram(numbers, 20, (0, 1))[0] / numbers.size - 0.05).max() < 0.002
    centred = numbers - 0.5
    for axis in range(3):
        ahead, behind = (np.take(centred, range(s, numbers.shape[axis] - 1 + s), axis) for s in (0, 1))
        assert abs((ahead * behind).mean() * 12) < 4 / math.sqrt(ahead.size)


def test_numbers_belong_to_a_sentence():
    words = [["a", "b"], ["ab"], ["b", "a"], ["\ud800"]]
    assert len(set(seeds_of(words).tolist())) == 4
    one, other = seeds_of([["x", "y"], ["z"]])
    both = draws(np.array([one, other]), [2, 1], 3)
    assert both[:9].tolist() == draws(np.array([one]), [2], 3).tolist()
    assert both[9:].tolist() == draws(np.array([other]), [1], 3).tolist()
