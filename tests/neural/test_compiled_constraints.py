"""Within constraints, the compiled network decides as PyTorch's does, and it refuses constraints that make no sense."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from compiled_networks import CONFIGS, LENGTHS, compiled, inside, network_of
from exhaustive import families
from random_model import random_parser, save_random_model
from walks import random_gold

from discoparse.errors import DiscoparseError
from discoparse.neural.codes import longest_chain, spell_code
from discoparse.neural.compiled.library import supported
from discoparse.neural.compiled.limits import PackedLimits
from discoparse.neural.config import NetworkConfig
from discoparse.neural.constraints import LimitBatch, constrained_codes, constrained_pass
from discoparse.neural.decoder import last_steps
from discoparse.neural.limits import Limits, free
from discoparse.neural.replay import replay, yields
from discoparse.parser.finding import load

if not supported():
    pytest.skip("the compiled network was not built", allow_module_level=True)


def random_limits(rng: random.Random, length: int, config: NetworkConfig) -> Limits:
    """Some constituents of a random tree: with any label, one of some, or a chain. The same in every process."""
    limits = free(length)
    masks = sorted(sum(1 << token for token in tokens) for _, tokens in random_gold(rng, length))
    limits.required.extend(mask for mask in masks if mask not in limits.required and rng.random() < 0.5)
    limits.codes[:], limits.wanted[:] = [], []
    longest = longest_chain(config.labels) if config.chains else 1
    for _ in limits.required:
        chain = [rng.randrange(1, config.labels) for _ in range(rng.randint(1, longest))]
        labels = rng.sample(range(1, config.labels), rng.randint(1, min(3, config.labels - 1)))
        kind = rng.choice(["free", "chain", "labels"])
        limits.codes.append(sum(x * config.labels**k for k, x in enumerate(chain)) if kind == "chain" else 0)
        limits.wanted.append(labels if kind == "labels" else [])
    return limits


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("config", CONFIGS)
def test_derivations_within_constraints(config, seed, stored, kind):
    """From the same token vectors: every structural action, label and probability. Every third sentence is free."""
    network, rng = network_of(config, stored, seed), random.Random(seed)
    limits = [random_limits(rng, n, config) if k % 3 else None for k, n in enumerate(LENGTHS)]
    torch.manual_seed(seed)
    first, last = torch.rand(2, len(LENGTHS), max(LENGTHS), 2 * config.hidden) * 2 - 1
    lengths = torch.tensor(LENGTHS)
    batch = LimitBatch.of(
        [one or free(n) for one, n in zip(limits, LENGTHS, strict=True)], config.labels, torch.device("cpu")
    )
    within, states = constrained_pass(network.scorers, last, lengths, batch.gold, None)
    final = last_steps(within.action, lengths)
    codes, probabilities = constrained_codes(network.scorers, states, final, within, batch, lengths)
    found = compiled(network, kind).decide(np.array(LENGTHS), inside(first).numpy(), inside(last).numpy(), limits)
    steps = torch.arange(codes.shape[1]) < (2 * lengths - 1)[:, None]
    assert found.actions.tolist() == within.action[steps].tolist()
    # Chains that take the same steps in another order are equally probable, and of two labels that nearly are, rounding
    # may choose another one, above which there is something else.
    same = torch.from_numpy(found.codes) == codes[steps]
    assert (~same).sum() <= 4, "more than ties"
    tolerance = {"atol": 5e-3, "rtol": 0} if stored else {"atol": 1e-4, "rtol": 0}
    ours, theirs = torch.from_numpy(found.probabilities).log(), probabilities[steps].log()
    torch.testing.assert_close(ours[same], theirs[same], **tolerance)


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("seed", range(30))
def test_all_that_is_required_is_built(seed, kind):
    """Whatever the network would rather do, and however long chains have to be."""
    config, rng = CONFIGS[0], random.Random(seed)
    given = [random_limits(rng, rng.randint(1, 16), config) for _ in range(20)]
    lengths = np.array([one.length for one in given])
    tokens = np.random.default_rng(seed).uniform(-1, 1, (sum(lengths), 14))
    found = compiled(network_of(config, stored=False, seed=seed), kind).decide(lengths, tokens, tokens, given)
    start = 0
    for one in given:
        steps = slice(start, start + 2 * one.length - 1)
        start = steps.stop
        codes = dict(zip(yields(replay(found.actions[steps].tolist())), found.codes[steps].tolist(), strict=True))
        for mask, code, wanted in zip(one.required, one.codes, one.wanted, strict=True):
            assert codes[mask] > 0
            assert not code or codes[mask] == code
            assert not wanted or set(spell_code(codes[mask], config.labels)) & set(wanted)


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("length", range(1, 5))
def test_every_set_of_constraints_on_few_tokens(length, kind):
    """The allowed actions are the complete oracle's: both choose the same ones, whatever the scores are."""
    some = [sorted(family, key=lambda mask: -mask.bit_count()) for family in families(length)]
    limits = [Limits(length, masks, [0] * len(masks), [[] for _ in masks], [], {}) for masks in some]
    network, config = network_of(CONFIGS[0], stored=False), CONFIGS[0]
    gold = LimitBatch.of(limits, config.labels, torch.device("cpu")).gold
    torch.manual_seed(length)
    for _ in range(5):
        tokens = torch.rand(len(limits), length, 2 * config.hidden) * 2 - 1
        lengths = torch.full((len(limits),), length)
        within, _ = constrained_pass(network.scorers, tokens, lengths, gold, None)
        flat = tokens.flatten(0, 1).numpy()
        found = compiled(network, kind).decide(lengths.numpy(), flat, flat, limits)
        assert found.actions.tolist() == within.action.flatten().tolist()


ONE = Limits(3, [0b111, 0b101], [0, 0], [[], [2]], [], {})  # of tokens 0 to 2 and labels 1 to 4


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize(
    "wrong",
    [
        Limits(3, [0b111, 0b011, 0b110], [0, 0, 0], [[], [], []], [], {}),  # overlap
        Limits(3, [0b111, 0b011, 0b011], [0, 0, 0], [[], [], []], [], {}),  # the same twice
        Limits(3, [0b011], [0], [[]], [], {}),  # not the whole sentence
        Limits(3, [0b1111], [0], [[]], [], {}),  # beyond it
        Limits(3, [0b111, 0], [0, 0], [[], []], [], {}),  # nothing
        Limits(3, [0b111], [5], [[]], [], {}),  # the lowest label is NO-LABEL
        Limits(3, [0b111], [1 + 5**2], [[]], [], {}),  # a chain with a hole
        Limits(3, [0b111], [sum(5**k for k in range(7))], [[]], [], {}),  # longer than six
        Limits(3, [0b111], [-1], [[]], [], {}),
        Limits(3, [0b111], [0], [[0]], [], {}),
        Limits(3, [0b111], [0], [[5]], [], {}),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong, kind):
    ours = compiled(network_of(CONFIGS[0], stored=False), kind)
    vectors = np.zeros((6, 14), dtype=np.float32)
    assert len(ours.decide(np.array([3, 3]), vectors, vectors, [ONE, ONE]).codes) == 10
    with pytest.raises(DiscoparseError, match="sizes that do not fit"):
        ours.decide(np.array([3, 3]), vectors, vectors, [ONE, wrong])


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("name", ["set_count", "token_count", "wanted_count"])
@pytest.mark.parametrize("change", [-1, 1])
def test_counts_that_do_not_fit_are_refused(name, change, kind, monkeypatch):
    ours = compiled(network_of(CONFIGS[0], stored=False), kind)
    made = PackedLimits([ONE])
    setattr(made.structure, name, getattr(made.structure, name) + change)
    monkeypatch.setattr("discoparse.neural.compiled.network.PackedLimits", lambda limits: made)
    vectors = np.zeros((3, 14), dtype=np.float32)
    with pytest.raises(DiscoparseError, match="sizes that do not fit"):
        ours.decide(np.array([3]), vectors, vectors, [ONE])


def test_one_batch_may_have_limits_and_another_none():
    """Sentences of like length are together, so that a batch without any limits comes first."""
    parser = random_parser()
    given = [["dog"] * 2] * 2000 + [["dog"] * 9] * 3
    constraints = [None] * 2002 + [{"constituents": [[0, 8]], "forbidden": [[1]], "tags": {"3": "VB"}}]
    assert len(parser.decoder.batches(given)) > 1
    tree = parser.parse_tokens(given, constraints=constraints)[-1]
    assert {0, 8} in [tokens for _, tokens in tree.constituents()]
    assert tree.tokens[3].tag == "VB"


def test_a_stored_model_keeps_constraints_with_its_own_vectors(tmp_path):
    """`Parser` asks the compiled network itself, without the decoder."""
    save_random_model(tmp_path / "model")
    parser = load(tmp_path / "model", "cpu")
    (tree,) = parser.parse_tokens([["The", "dog", "barks"]], constraints=[{"constituents": [[0, 2]]}])
    assert {0, 2} in [tokens for _, tokens in tree.constituents()]
    assert "decoder" not in vars(parser)
