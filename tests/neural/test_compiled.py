"""The compiled network decides as PyTorch's does, at every step, for any sizes and every kind of CPU."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
import torch
from compiled_networks import CONFIGS, EXACT, LENGTHS, ROUNDED, compiled, inside, network_of
from random_model import random_parser

import discoparse.neural.compiled.forms
from discoparse.errors import DiscoparseError, UsageError
from discoparse.neural.compiled import build
from discoparse.neural.compiled.decoder import CompiledDecoder
from discoparse.neural.compiled.forms import FormTable
from discoparse.neural.compiled.library import KINDS, VARIABLE, describe, library, supported
from discoparse.neural.compiled.network import CompiledNetwork
from discoparse.neural.config import NetworkConfig
from discoparse.neural.few import FewScorers, few_pass
from discoparse.neural.labelling import label_codes
from discoparse.neural.network import Inputs
from discoparse.neural.scoring import FoldedScorers

if not supported():
    pytest.skip("the compiled network was not built", allow_module_level=True)


def random_inputs(config: NetworkConfig, seed: int = 1) -> Inputs:
    """Sentences of `LENGTHS`, padded."""
    chance = np.random.default_rng(seed)
    forms = 40
    form_lengths = chance.integers(1, 12, forms)
    return Inputs(
        words=torch.from_numpy(chance.integers(0, config.words, forms)),  # of each form
        forms=torch.from_numpy(chance.integers(0, forms, (len(LENGTHS), max(LENGTHS)))),
        characters=torch.from_numpy(chance.integers(0, config.characters, (forms, 11))),
        form_lengths=torch.from_numpy(form_lengths),
        lengths=torch.tensor(LENGTHS),
    )


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("config", CONFIGS)
def test_token_vectors(config, stored, kind):
    """Section 3.1: h(1) and h of the last layer."""
    network = network_of(config, stored)
    inputs = random_inputs(config)
    first, last = network.encoder.token_vectors(
        inputs.words[inputs.forms],
        network.encoder.form_vectors(inputs.characters, inputs.form_lengths)[inputs.forms],
        inputs.lengths,
    )
    ours = compiled(network, kind)
    table = np.empty((len(inputs.words), ours.form_size), dtype=np.float32)
    spelled = [ids[:n] for ids, n in zip(inputs.characters.tolist(), inputs.form_lengths.tolist(), strict=True)]
    flat = np.array([character for ids in spelled for character in ids])
    ours.forms(flat, inputs.form_lengths.numpy(), inputs.words.numpy(), table)
    found = ours.encode(np.array(LENGTHS), table, inside(inputs.forms).numpy())
    for expected, vectors in zip((first, last), found, strict=True):
        torch.testing.assert_close(torch.from_numpy(vectors), inside(expected), **(ROUNDED if stored else EXACT))


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("config", CONFIGS)
def test_derivations(config, seed, stored, kind):
    """From the same token vectors: every structural action, label, probability and tag."""
    network = network_of(config, stored, seed)
    torch.manual_seed(seed)
    first, last = torch.rand(2, len(LENGTHS), max(LENGTHS), 2 * config.hidden) * 2 - 1
    lengths = torch.tensor(LENGTHS)
    actions, states = few_pass(FewScorers(FoldedScorers.of(network.scorers)), last, lengths)
    final = torch.arange(actions.shape[1]) == (2 * lengths - 2)[:, None]
    codes, probabilities = label_codes(network.scorers, states, final)
    tags = network.tag_scores(first, last).argmax(-1)
    found = compiled(network, kind).decide(np.array(LENGTHS), inside(first).numpy(), inside(last).numpy())
    steps = torch.arange(actions.shape[1]) < (2 * lengths - 1)[:, None]
    assert found.actions.tolist() == actions[steps].tolist()
    assert found.tags.tolist() == inside(tags).tolist()
    same = torch.from_numpy(found.codes) == codes[steps]
    assert (~same).sum() <= (1 if stored else 0), "more than a tie"
    tolerance = ROUNDED if stored else {"atol": 1e-4, "rtol": 1e-4}
    chances = torch.from_numpy(found.probabilities)[same]
    torch.testing.assert_close(chances, probabilities[steps][same], **tolerance)


@pytest.mark.parametrize("kind", supported())
def test_some_foci_have_gaps(kind):
    """Or half of the first layers would go unseen."""
    network = network_of(CONFIGS[0], stored=False)
    tokens = torch.rand(sum(LENGTHS), 14).numpy()
    found = compiled(network, kind).decide(np.array(LENGTHS), tokens, tokens)
    starts = np.cumsum([0, *(2 * n - 1 for n in LENGTHS)])
    longest = found.actions[starts[-2] : starts[-1]].tolist()
    combined = [slot for slot in longest if longest.count(slot) > 1]
    assert len(set(combined)) > 5


@pytest.mark.parametrize("kind", supported())
def test_unbounded_token_vectors_are_not_rounded(kind):
    """Without LSTM layers, token vectors can be larger than one."""
    config = NetworkConfig(words=9, characters=7, tags=40, labels=30, hidden=60, layers=0, scorer_hidden=70)
    network = network_of(config, stored=True)
    tokens = 9 * torch.randn(2, 1, 30, 120)
    few_actions, _ = few_pass(FewScorers(FoldedScorers.of(network.scorers)), tokens[0], torch.tensor([30]))
    found = compiled(network, kind).decide(np.array([30]), tokens[1, 0].numpy(), tokens[0, 0].numpy())
    assert found.actions.tolist() == few_actions[0].tolist()
    assert found.tags.tolist() == network.tag_scores(tokens[1], tokens[0])[0].argmax(-1).tolist()


def test_sentences_do_not_depend_on_their_neighbours():
    network = network_of(CONFIGS[2], stored=True)
    ours = compiled(network, supported()[-1])
    tokens = (torch.rand(sum(LENGTHS), 180) * 2 - 1).numpy()
    together = ours.decide(np.array(LENGTHS), tokens, tokens)
    start = 0
    for k, n in enumerate(LENGTHS):
        alone = ours.decide(np.array([n]), tokens[start : start + n], tokens[start : start + n])
        steps = slice(2 * start - k, 2 * (start + n) - k - 1)
        assert alone.actions.tolist() == together.actions[steps].tolist()
        assert alone.codes.tolist() == together.codes[steps].tolist()
        assert alone.tags.tolist() == together.tags[start : start + n].tolist()
        start += n


@pytest.mark.parametrize("kind", supported())
def test_what_does_not_fit_is_refused(kind):
    """Wrong sizes on this side cannot make the other side read what is not there."""
    network = network_of(CONFIGS[0], stored=False)
    ours = compiled(network, kind)
    parameters = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    table = np.zeros((4, ours.form_size), dtype=np.float32)
    three, vectors = np.array([3]), np.zeros((3, 14), dtype=np.float32)
    found = library(kind)
    attempts = [
        lambda: CompiledNetwork(found, CONFIGS[1], parameters),
        lambda: CompiledNetwork(found, CONFIGS[0], dict(list(parameters.items())[:-1])),
        lambda: CompiledNetwork(found, CONFIGS[0], {**parameters, "more": np.zeros(3)}),
        lambda: ours.forms(np.array([1, 2, 7]), three, np.array([0]), table),  # there are characters 0 to 6
        lambda: ours.forms(np.array([1, 2, -1]), three, np.array([0]), table),
        lambda: ours.forms(np.array([1, 2, 3]), three, np.array([9]), table),  # words 0 to 8
        lambda: ours.forms(np.array([1, 2]), three, np.array([0]), table),
        lambda: ours.forms(np.array([1, 2, 3]), np.array([4, -1]), np.array([0, 0]), table),
        lambda: ours.forms(np.arange(5), np.ones(5), np.zeros(5), table),  # no room
        lambda: ours.encode(three, table, np.array([0, 1, 4])),
        lambda: ours.encode(three, table, np.array([0, -1, 1])),
        lambda: ours.encode(np.array([2]), table, np.array([0, 1, 1])),
        lambda: ours.encode(np.array([0, 3]), table, np.array([0, 1, 1])),
        lambda: ours.encode(np.array([]), table, np.array([])),
        lambda: ours.decide(np.array([4]), vectors, vectors),
        lambda: ours.decide(np.array([2**62, 3 - 2**62]), vectors, vectors),
        lambda: ours.decide(np.array([0, 0, 0, 0, 0, 0, 0, 3]), vectors, vectors),
    ]
    for attempt in attempts:
        with pytest.raises(DiscoparseError, match="sizes that do not fit"):
            attempt()


# -- forms and sentences ----------------------------------------------------------------------------------------------


def compiled_decoder() -> CompiledDecoder:
    decoder = random_parser().decoder.compiled
    assert decoder is not None
    return decoder


def test_a_full_table_of_forms_starts_anew(monkeypatch):
    decoder = compiled_decoder()
    assert decoder.forms is not None
    monkeypatch.setattr(discoparse.neural.compiled.forms, "_MOST_BYTES", 10 * 4 * decoder.network.form_size)
    forms = FormTable(decoder.network, decoder.forms.vocabulary)
    (first, *_), table = forms.look_up([["dog"]])
    expected = table[first].copy()
    for k in range(100):
        rows, grown = forms.look_up([[f"x{k}", "dog"], [f"y{k}"]])
        assert len(forms.rows) <= len(grown) <= 10
        np.testing.assert_allclose(grown[rows[1]], expected, atol=1e-5)
    np.testing.assert_array_equal(table[first], expected)  # what was handed out stays as it was
    words = [f"z{k}" for k in range(25)]
    rows, grown = forms.look_up([words])  # more than would fit
    assert sorted(rows.tolist()) == list(range(25))
    assert len(grown) == 25


def test_the_table_of_forms_is_bounded_in_characters(monkeypatch):
    monkeypatch.setattr(discoparse.neural.compiled.forms, "_MOST_CHARACTERS", 1000)
    parser = random_parser()
    for k in range(50):
        parser.parse_tokens([[f"{k:0100}"]])
        assert sum(map(len, parser.decoder.compiled.forms.rows)) <= 1100
    assert len(parser.decoder.compiled.forms.rows) > 1, "nothing is kept"


def sentences(count: int) -> list[list[str]]:
    chance = random.Random(count)
    words = ["the", "dog", "barks", "What", "see", *(f"w{k}" for k in range(300))]
    return [[chance.choice(words) for _ in range(chance.randint(1, 40))] for _ in range(count)]


def test_several_threads_decide_as_one_does():
    """The caller's threads on one parser with few known forms, and the decoder's own."""
    given = sentences(600)
    expected = [str(tree) for tree in random_parser().parse_tokens(given)]
    parser = random_parser()
    results: dict[int, list[str]] = {}

    def work(part: int) -> None:
        results[part] = [str(tree) for tree in parser.parse_tokens(given[part::4])]

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[part] == expected[part::4] for part in range(4))
    parser = random_parser()
    parser.decoder.compiled.threads = 3
    assert [str(tree) for tree in parser.parse_tokens(given)] == expected


# -- the library ------------------------------------------------------------------------------------------------------


def test_the_fastest_library_is_chosen(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert library() is library(supported()[-1])
    assert describe() == f"compiled network: {supported()[-1]}"


def test_the_library_can_be_named_or_turned_off(monkeypatch):
    monkeypatch.setenv(VARIABLE, "plain")
    assert library() is library("plain")
    assert describe() == "compiled network: plain"
    monkeypatch.setenv(VARIABLE, "off")
    assert library() is None
    assert describe() == f"compiled network: off ({VARIABLE})"
    assert random_parser().decoder.compiled is None
    monkeypatch.setenv(VARIABLE, "sse9")
    with pytest.raises(UsageError, match="DISCOPARSE_COMPILED=sse9: choose one of off, plain, avx2, avx512"):
        library()


def test_the_build_makes_all_kinds_that_are_known():
    assert set(build.kinds()) <= set(KINDS)
    assert "plain" in build.kinds()


def test_without_a_compiler_nothing_is_built(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    problems = build.build(tmp_path)
    assert len(problems) == len(build.kinds())
    assert all("no C++ compiler" in problem for problem in problems)
    assert not list(tmp_path.iterdir())
