"""The decoder: batches, cached word forms, labelled yields, and the replay of derivations."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
from random_model import random_parser
from walks import random_action, walk

import discoparse.neural.forms
from discoparse.errors import ComputationError
from discoparse.neural.decoder import BATCH_TOKENS, Decoder
from discoparse.neural.forms import FormCache
from discoparse.neural.replay import SHIFT, bracketed, build_tree, replay, yields
from discoparse.parser.parser import Parser
from discoparse.system.transition import Combine, Configuration, Label, Shift
from discoparse.tree import Token


@pytest.fixture(scope="module")
def parser() -> Parser:
    return random_parser()


def sentences(seed: int, count: int, longest: int = 12) -> list[list[str]]:
    """Sentences of new and known words; some have no words."""
    chance = random.Random(seed)
    words = ["the", "dog", "barks", "What", "see", *(f"w{k}" for k in range(50))]
    return [[chance.choice(words) for _ in range(chance.randint(0, longest))] for _ in range(count)]


def slots_of(steps: list[tuple[Configuration, object]]) -> list[int]:
    """The structural actions of a derivation as slots (see `lockstep`)."""
    found = []
    for c, action in steps:
        if isinstance(action, Shift):
            found.append(c.next_token)
        elif isinstance(action, Combine):
            found.append(min(action.item))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_replay_follows_the_transition_system(seed):
    """Random derivations: every focus, and the tree of the labels that were given on the way."""
    rng = random.Random(seed)
    length = rng.randint(1, 9)
    steps = list(walk(length, lambda c: random_action(rng, c)))
    foci, labels = [], []
    for c, action in steps:
        after = c.apply(action)
        if isinstance(action, Shift | Combine):
            foci.append(sum(1 << k for k in after.focus))
        else:
            labels.append((action.label,) if isinstance(action, Label) else ())
    final = steps[-1][0].apply(steps[-1][1])
    joined = replay(slots_of(steps))
    assert yields(joined) == foci
    assert joined.count(SHIFT) == length
    tree = build_tree([Token("w", "T") for _ in range(length)], joined, labels)
    assert {(label, frozenset(s)) for label, s in tree.constituents()} == final.constituents


def test_scores_that_are_not_numbers_are_an_error(parser):
    """A network that overflows gives the whole sentence no label. That must not come out as a tree without a root."""
    network = copy.deepcopy(parser.network)
    with torch.no_grad():
        network.scorers.label_output.bias.fill_(torch.nan)
    decoder = Decoder(network, parser.vocabulary, torch.device("cpu"))
    decoder.compiled = None  # as on a GPU
    for words in (["a"], ["a", "b"]):
        ((_, decoded),) = decoder.decode([words])
        actions, labels = decoded.actions[0], decoded.labels[0]
        chains = [decoder.chains[code] for code in labels]
        with pytest.raises(ComputationError, match="not numbers"):
            build_tree([Token(word, "X") for word in words], replay(actions), chains)
        with pytest.raises(ComputationError, match="not numbers"):
            bracketed(actions, labels, words, {})


def test_batches_hold_every_sentence_once_and_fit_the_budget(parser):
    found = parser.decoder.batches(given := sentences(1, 3000))
    assert sorted(np.concatenate(found).tolist()) == [k for k, words in enumerate(given) if words]
    assert len(found) > 2
    for chosen in found:
        longest = max(len(given[k]) for k in chosen)
        assert longest * len(chosen) <= BATCH_TOKENS["cpu"]


def test_decoding_uses_those_batches(parser):
    given = sentences(2, 3000, 8)
    decoded = [chosen.tolist() for chosen, _ in parser.decoder.decode(given)]
    assert decoded == [chosen.tolist() for chosen in parser.decoder.batches(given)]


def test_labelled_yields_are_those_of_the_trees(parser):
    """Also where sentences without words stand between the others."""
    given = sentences(3, 60)
    found = parser.decoder.labelled_yields(given)
    trees = list(parser.stream_tokens(given))
    assert (found.sentence[1:] >= found.sentence[:-1]).all()
    tags = iter(found.tag.tolist())
    for k, tree in enumerate(trees):
        rows = np.flatnonzero(found.sentence == k)
        if tree is None:
            assert len(rows) == 0
            continue
        expected = sorted((label, tuple(sorted(s))) for label, s in tree.constituents())
        got = [
            (label, tuple(found.token[found.start[c] : found.start[c + 1]].tolist()))
            for c in rows
            for label in found.labels[found.label[c]]
        ]
        assert sorted(got) == expected
        assert [found.tags[next(tags)] for _ in tree.tokens] == tree.tags
    assert next(tags, None) is None


def test_labelled_yields_of_nothing(parser):
    for nothing in ([], [[], []]):
        found = parser.decoder.labelled_yields(nothing)
        assert found.start.tolist() == [0]
        assert len(found.sentence) == len(found.label) == len(found.token) == len(found.tag) == 0


def cache_of(decoder: Decoder) -> FormCache:
    return FormCache(decoder.network, decoder.vocabulary, decoder.device)


@torch.inference_mode()
def test_forms_keep_their_vectors_while_the_cache_grows(parser):
    """Tables handed out before others were added stay valid; a form's vector does not depend on its neighbours."""
    cache = cache_of(parser.decoder)
    forms = [f"form{k}" for k in range(5000)]
    (rows,), vectors, words = cache.look_up([forms[:3]])
    before = vectors[rows].clone()
    for start in range(0, 5000, 7):
        cache.look_up([forms[start : start + 7]])
    assert torch.equal(vectors[rows], before)
    (again,), grown, grown_words = cache.look_up([forms])
    torch.testing.assert_close(grown[again[:3]], before)
    assert grown_words[again].tolist() == [parser.vocabulary.word_id(form) for form in forms]
    assert words[rows].tolist() == grown_words[again[:3]].tolist()
    alone = cache_of(parser.decoder)
    for k in (0, 2500, 4999):
        (row,), table, _ = alone.look_up([[forms[k]]])
        torch.testing.assert_close(table[row[0]], grown[again[k]])


@torch.inference_mode()
def test_new_forms_do_not_copy_the_table(parser):
    """The table moves a few times only, however many forms are added a few at a time."""
    cache = cache_of(parser.decoder)
    places = set()
    for k in range(400):
        cache.look_up([[f"x{k}y{n}" for n in range(10)]])
        places.add(cache.tables[0].data_ptr())
    assert len(places) <= 3


@torch.inference_mode()
def test_a_full_cache_starts_anew(parser, monkeypatch):
    monkeypatch.setattr(discoparse.neural.forms, "_MOST_FORMS", 10)
    cache = cache_of(parser.decoder)
    for k in range(100):
        (rows,), vectors, _ = cache.look_up([[f"x{k}", "dog"]])
        assert len(cache.rows) <= 12
        torch.testing.assert_close(vectors[rows[1]], cache_of(parser.decoder).look_up([["dog"]])[1][0])
