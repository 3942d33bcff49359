"""Several networks as one decoder, against a second implementation that averages step by step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from reference_network import Configuration, ReferenceNetwork, softmax
from tiny_encoders import save_encoder
from tiny_models import SIZES, tiny_recipe, toy_treebank

from discoparse.neural.decoder import Decoder
from discoparse.neural.ensemble import ChainNumbers, EnsembleDecoder, _Spellings
from discoparse.neural.network import Network
from discoparse.neural.replay import replay, yields
from discoparse.neural.vocabulary import Vocabulary
from discoparse.training.loop import make_network
from discoparse.training.starting_encoder import read_encoder
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
OTHERS = [
    parse_tree("(ROOT (SBARQ (VP (WP 0=What) (VB 3=see)) (MD 1=did) (NP (PRP 2=you))) (. 4=?))"),
    parse_tree("(S (NP (N 0=dogs)) (VP (V 1=sleep)) ($. 2=.))"),
    parse_tree("(FRAG (NP (N 0=cats)))"),
]
SENTENCES = [
    ["dogs", "saw", "maps", "."],
    ["Yes"],
    ["What", "did", "you", "see", "that", "dogs", "found", "?"],
    ["снег", "dogs", "🐕"],
    ["maps", "did", "dogs", "see"],
]


def random_member(trees: list[Tree], chains: bool, seed: int, hidden: int = 16, tag_both: bool = False) -> Decoder:
    """A network with random parameters that are large enough to have opinions."""
    torch.manual_seed(seed)
    vocabulary = Vocabulary.from_trees(trees, chains)
    network = make_network(tiny_recipe(chains=chains, tag_both=tag_both, **{**SIZES, "hidden": hidden}), vocabulary)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return Decoder(network, vocabulary, CPU)


def reference(decoder: Decoder) -> ReferenceNetwork:
    network, vocabulary = decoder.network, decoder.vocabulary
    arrays = {name: tensor.detach().double().numpy() for name, tensor in network.state_dict().items()}
    names, config = (vocabulary.words, vocabulary.characters), network.config
    return ReferenceNetwork(arrays, *names, config.chains, tag_both=config.tag_both)


def chain_chance(decoder: Decoder, plain: ReferenceNetwork, s, h, final: bool, chain: tuple[str, ...]) -> float:
    """The probability that one network gives to a chain, from the top down."""
    scores = plain.label_scores(s, h)
    if final:
        scores[0] = -np.inf
    labels = decoder.vocabulary.labels
    if not chain:
        return float(softmax(scores)[0])
    if not plain.chains:
        return float(softmax(scores)[labels.index(chain) + 1]) if chain in labels else 0.0
    if any((label,) not in labels for label in chain):
        return 0.0
    spelled = [labels.index((label,)) + 1 for label in reversed(chain)]
    chance = float(softmax(scores)[spelled[0]])
    ended = [0] if len(spelled) < 6 else []  # the longest chain ends by itself
    for below, above in zip(spelled, [*spelled[1:], *ended], strict=False):
        chance *= float(softmax(plain.label_scores_above(s, below, h))[above])
    return chance


def parse_together(members: list[Decoder], words: list[str]):
    """Tags, chains by yield with their probability, as `EnsembleDecoder` should find them."""
    plain = [reference(member) for member in members]
    levels = [network.token_vectors(words) for network in plain]
    tags = []
    for k in range(len(words)):
        total: dict[str, float] = {}
        for member, network, level in zip(members, plain, levels, strict=True):
            chances = softmax(network.tag_scores(level)[k])
            for tag, chance in zip(member.vocabulary.tags, chances, strict=True):
                total[tag] = total.get(tag, 0) + float(chance)
        tags.append(max(total, key=lambda tag: total[tag]))
    c, found = Configuration.after_first_shift(), {}
    while True:
        done = c.i == len(words) and not c.memory
        candidates = {}
        for member, network, level in zip(members, plain, levels, strict=True):
            names = member.vocabulary.labels
            own = network.label(c.focus, level[-1], done, 6)
            chain = tuple(name for label in reversed(own) for name in names[label - 1])
            chances = [
                chain_chance(m, n, c.focus, lv[-1], done, chain)
                for m, n, lv in zip(members, plain, levels, strict=True)
            ]
            candidates[chain] = sum(chances) / len(chances)
        best = max(candidates, key=lambda chain: candidates[chain])
        if best:
            found[c.focus] = (best, candidates[best])
        if done:
            return tags, found
        scores: dict[object, float] = {}
        for network, level in zip(plain, levels, strict=True):
            mine = network.structural_scores(c, level[-1])
            for action, chance in zip(mine, softmax(np.array(list(mine.values()))), strict=True):
                scores[action] = scores.get(action, 0) + float(chance)
        c = c.apply(max(scores, key=lambda action: scores[action]))


def decoded(decoder: Decoder, sentences: list[list[str]]):
    """The same from a decoder."""
    results: list = [None] * len(sentences)
    for chosen, found in decoder.decode(sentences, probabilities=True):
        assert found.probabilities is not None
        for b, k in enumerate(chosen.tolist()):
            steps = 2 * len(sentences[k]) - 1
            tags = [decoder.vocabulary.tags[tag] for tag in found.tags[b][: len(sentences[k])]]
            chains = {}
            foci = yields(replay(found.actions[b][:steps]))
            for mask, code, chance in zip(foci, found.labels[b], found.probabilities[b], strict=False):
                if code:
                    s = frozenset(i for i in range(len(sentences[k])) if mask >> i & 1)
                    chains[s] = (decoder.chains[code], chance)
            results[k] = (tags, chains)
    return results


def names(sentences):
    """What `decoded` found, without probabilities."""
    return [(tags, {s: chain for s, (chain, _) in chains.items()}) for tags, chains in sentences]


MEMBERS = {
    "alike": lambda: [random_member(OTHERS, True, seed) for seed in (1, 2, 3)],
    "other names": lambda: [random_member(toy_treebank(9, 1), True, 1), random_member(OTHERS, True, 2, hidden=12)],
    "tags by two layers": lambda: [random_member(OTHERS, True, seed, tag_both=seed > 1) for seed in (1, 2)],
    "chains as one label": lambda: [random_member(OTHERS, False, 1), random_member(OTHERS, True, 2)],
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_decisions_are_those_of_the_mean(kind):
    members = MEMBERS[kind]()
    found = decoded(EnsembleDecoder(members), SENTENCES)
    for words, (tags, chains) in zip(SENTENCES, found, strict=True):
        expected_tags, expected = parse_together(members, words)
        assert tags == expected_tags
        assert {s: chain for s, (chain, _) in chains.items()} == {s: chain for s, (chain, _) in expected.items()}
        for s, (_, chance) in expected.items():
            assert chains[s][1] == pytest.approx(chance, abs=1e-4)
    alone = [decoded(member, SENTENCES) for member in members]
    assert all(names(found) != names(one) for one in alone)  # otherwise the mean would not be tested


def test_copies_of_a_network_decide_as_it_does():
    member = random_member(OTHERS, True, 1)
    both, alone = decoded(EnsembleDecoder([member, member]), SENTENCES), decoded(member, SENTENCES)
    for (tags, chains), (own_tags, own_chains) in zip(both, alone, strict=True):
        assert tags == own_tags
        assert {s: chain for s, (chain, _) in chains.items()} == {s: chain for s, (chain, _) in own_chains.items()}
        for s, (_, chance) in own_chains.items():
            assert chains[s][1] == pytest.approx(chance, abs=1e-5)


def test_a_transformer_and_a_network_without_one_decide_together(tmp_path):
    pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
    recipe = tiny_recipe("pretrained")
    encoder = read_encoder(save_encoder("bert", tmp_path), recipe)
    vocabulary = Vocabulary.from_trees(OTHERS, recipe.chains)
    object.__setattr__(vocabulary, "pieces", encoder.pieces)
    torch.manual_seed(0)
    network: Network = make_network(recipe, vocabulary, encoder.config)
    encoder.prepare(network, recipe, CPU)
    with_pieces, without = Decoder(network, vocabulary, CPU), random_member(OTHERS, True, 2)
    ensemble = EnsembleDecoder([without, with_pieces])
    assert ensemble.slowest is with_pieces
    assert len(decoded(ensemble, SENTENCES)) == len(SENTENCES)
    found = ensemble.labelled_yields(SENTENCES)
    assert len(found.tag) == sum(map(len, SENTENCES))
    assert set(found.tags) == set(vocabulary.tags)


def test_chain_numbers():
    numbers = ChainNumbers(Vocabulary([], [], [], [], rare=1))
    assert [numbers.number(chain) for chain in [(), ("NP",), ("S", "NP"), ("NP",)]] == [0, 1, 2, 1]
    assert numbers[2] == ("S", "NP")


def test_spellings_are_those_of_all_chains_whatever_other_threads_keep():
    """The network's table is kept for the next time; another thread may put a shorter one there at any moment."""

    class Disturbed(_Spellings):
        kept = property(lambda self: torch.empty(0, 1, dtype=torch.long), lambda self, table: None)

    vocabulary = Vocabulary([], [], [], [("NP",), ("VP",)], rare=1)
    numbers = ChainNumbers(vocabulary)
    for chain in [("NP",), ("VP", "NP")]:
        numbers.number(chain)
    member = random_member(OTHERS, True, seed=1)
    assert Disturbed(member).table(numbers).shape[0] == _Spellings(member).table(numbers).shape[0] == 3
