"""Section 3 against a second implementation, written from the paper's equations alone (tests/support).

Sentences are encoded in one batch, beside longer and shorter ones, and compared one by one, in double precision where
the code allows it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from reference_network import Configuration, ReferenceNetwork, Yield, softmax
from tiny_models import SIZES, paper_trainer, toy_treebank
from walks import random_gold

from discoparse.neural.batching import form_tensors
from discoparse.neural.network import Inputs, Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.explaining import explain
from discoparse.parser.parser import Parser
from discoparse.system.constituents import tree_constituents
from discoparse.system.oracle import static_derivation
from discoparse.system.transition import Combine, Shift
from discoparse.training.corpus import ChainTable, Corpus
from discoparse.training.decision_store import DecisionStore
from discoparse.training.loop import Trainer
from discoparse.training.objective import factored_inputs, plain_inputs, score_pairs
from discoparse.training.recipe import Recipe
from discoparse.tree import Token, Tree
from discoparse.treebank.discbracket import parse_tree

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
TREES = [
    parse_tree("(ROOT (SBARQ (VP (WP 0=What) (VB 3=see)) (MD 1=did) (NP (PRP 2=you))) (. 4=?))"),
    parse_tree("(ROOT (S (NP (DT 0=The) (NN 1=dog) (SBAR (WDT 3=that) (VBD 4=barked))) (VP (VBD 2=came))) (. 5=.))"),
    parse_tree("(ROOT (FRAG (NP (NN 0=Yes))))"),
    *toy_treebank(3, 1),
]
SENTENCES = [
    ["What", "did", "the", "dog", "see", "that", "came", "?"],
    ["Yes"],
    ["снег", "dog", "🐕", "dogs"],  # unknown words, characters never seen
    ["did", "did"],
    ["you", "saw", "that", "unforeseen", "dog", "that", "birds", "found", ".", "The", "maps"],
]


def make(
    seed: int, chains: bool = True, layers: int = 2, tag_both: bool = False
) -> tuple[Network, Vocabulary, ReferenceNetwork]:
    """A network with large random parameters, biases included, as the package has it and as the reference has it."""
    vocabulary = Vocabulary.from_trees(TREES, chains)
    torch.manual_seed(seed)
    config = NetworkConfig(
        words=len(vocabulary.words) + 1,
        characters=len(vocabulary.characters) + 1,
        tags=len(vocabulary.tags),
        labels=len(vocabulary.labels) + 1,
        layers=layers,
        chains=chains,
        tag_both=tag_both,
        **SIZES,
    )
    network = Network(config).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter.copy_(torch.randn_like(parameter) * (0.5 if parameter.dim() > 1 else 1.0))
    return network, vocabulary, reference(network, vocabulary, layers)


def reference(network: Network, vocabulary: Vocabulary, layers: int = 2) -> ReferenceNetwork:
    arrays = {name: tensor.detach().double().numpy().copy() for name, tensor in network.state_dict().items()}
    names, config = (vocabulary.words, vocabulary.characters), network.config
    return ReferenceNetwork(arrays, *names, config.chains, layers, config.tag_both)


def inputs_of(sentences: list[list[str]], vocabulary: Vocabulary) -> Inputs:
    """All sentences as one padded batch, every distinct form once, in any order."""
    forms = sorted({word for sentence in sentences for word in sentence}, key=lambda form: form[::-1])
    width = max(map(len, sentences))
    rows = [[forms.index(word) for word in sentence] + [0] * (width - len(sentence)) for sentence in sentences]
    words = [[vocabulary.word_id(forms[k]) for k in row] for row in rows]
    characters, lengths = form_tensors(forms, vocabulary, CPU)
    counts = torch.tensor([len(sentence) for sentence in sentences])
    return Inputs(torch.tensor(words), torch.tensor(rows), characters.long(), lengths, counts)


def close(found: torch.Tensor, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), np.array(expected), rtol=1e-9, atol=1e-10)


def test_character_vectors():
    """Section 3.1: a single bi-LSTM layer over the characters, in both directions to the end of the word."""
    network, vocabulary, plain = make(1)
    forms = ["dog", "a", "снег", "unforeseen", "?", "saw", "was"]
    characters, lengths = form_tensors(forms, vocabulary, CPU)
    found = network.double().encoder.form_vectors(characters.long(), lengths)
    close(found, [plain.character_vector(form) for form in forms])


@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, False), (3, False), (2, True), (3, True)])
def test_token_vectors_and_tags(layers, both):
    """Sections 3.1 and 3.4: every token of every sentence, whatever stands beside it in the batch."""
    network, vocabulary, plain = make(2, layers=layers, tag_both=both)
    first, last = network.double().encoder(inputs_of(SENTENCES, vocabulary))
    tags = network.tag_scores(first, last)
    for b, sentence in enumerate(SENTENCES):
        levels = plain.token_vectors(sentence)
        close(first[b, : len(sentence)], levels[0])
        close(last[b, : len(sentence)], levels[-1])
        close(tags[b, : len(sentence)], plain.tag_scores(levels))


def sets_of(chance: random.Random, n: int) -> list[Yield]:
    """Sets of tokens with no, one and several gaps."""
    return [frozenset(chance.sample(range(n), chance.randint(1, n))) for _ in range(12)]


def positions(s: Yield, nil: int) -> list[int]:
    gap = [i for i in range(min(s), max(s)) if i not in s]
    return [min(s), max(s), min(gap, default=nil), max(gap, default=nil)]


def test_set_representations_and_scorers():
    """Sections 3.2 and 3.3: r(s), FF_s for pairs of sets, FF_l, and the labels above it in a chain."""
    network, vocabulary, plain = make(3)
    sentence = SENTENCES[-1]
    n = len(sentence)
    scorers = network.double().scorers
    _, last = network.encoder(inputs_of([sentence], vocabulary))
    h = plain.token_vectors(sentence)[-1]
    items, foci = sets_of(random.Random(1), n), sets_of(random.Random(2), n)
    rows = scorers.with_nil(last)
    r_items, r_foci = (scorers.represent(rows, torch.tensor([positions(s, n) for s in sets])) for sets in (items, foci))
    close(r_items, [plain.represent(s, h) for s in items])
    scores = scorers.pair_scores(scorers.pair_first(r_items, r_foci))
    close(scores, [plain.structural_score(s, focus, h) for s, focus in zip(items, foci, strict=True)])
    states = scorers.label_hidden_states(scorers.label_first(r_foci))
    close(scorers.label_output(states), [plain.label_scores(s, h) for s in foci])
    assert scorers.above_output is not None
    assert scorers.above_given is not None
    below = torch.arange(len(foci)) % network.config.labels
    above = scorers.above_output(states) + scorers.above_given(below)
    close(above, [plain.label_scores_above(s, int(k), h) for s, k in zip(foci, below, strict=True)])


@pytest.mark.parametrize("inputs", [factored_inputs, plain_inputs])
def test_the_scores_that_training_sees(inputs):
    """Every legal action of every configuration of random trees' derivations, tokens projected once or plainly."""
    network, _, plain = make(4)
    chance = random.Random(1)
    trees = []
    for n in (1, 7, 3, 9):
        tokens = [Token(chance.choice(["dog", "did", "maps"]), "NN") for _ in range(n)]
        trees.append(Tree.from_constituents(tokens, [("S", s) for _, s in random_gold(chance, n)]))
    vocabulary = Vocabulary.from_trees(trees, chains=True)
    plain = ReferenceNetwork(plain.parameters, [], [], True)  # all words and characters unknown: it is about sets
    corpus = Corpus(trees, vocabulary, ChainTable(vocabulary, spell=True), CPU)
    chosen, width = np.arange(len(trees)), 9
    decisions = DecisionStore.of_oracle(corpus, complete=True).batch(chosen, torch.from_numpy(chosen), width)
    unknown = corpus.inputs(chosen, torch.from_numpy(chosen), width)
    unknown.words, unknown.characters = torch.zeros_like(unknown.words), torch.zeros_like(unknown.characters)
    scorers = network.double().scorers
    _, last = network.encoder(unknown)
    first = inputs(scorers, scorers.with_nil(last), decisions)
    found = score_pairs(scorers, first, decisions)
    labels = scorers.label_output(scorers.label_hidden_states(first.labels))
    pair = row = 0
    by_focus = torch.argsort(decisions.pair_focus, stable=True)
    for tree in trees:
        h = plain.token_vectors(tree.words)[-1]
        c = Configuration.after_first_shift()
        actions = structural_actions(tree)
        for step in range(2 * len(tree) - 1):
            close(labels[row], plain.label_scores(c.focus, h))
            row += 1
            if step < len(actions):
                expected = plain.structural_scores(c, h)
                mine = found[by_focus[pair : pair + len(expected)]]
                close(mine.sort().values, sorted(expected.values()))
                wanted = decisions.pair_optimal[by_focus[pair : pair + len(expected)]]
                close(mine[wanted], [expected[actions[step]]])
                pair += len(expected)
                c = c.apply(actions[step])
    assert (row, pair) == (len(decisions.focus), len(found))


def structural_actions(tree: Tree) -> list[Yield | None]:
    """The static derivation without labels and without the first SHIFT, as the reference has actions."""
    derivation = static_derivation(tree_constituents(tree))
    return [a.item if isinstance(a, Combine) else None for a in derivation if isinstance(a, Shift | Combine)][1:]


def label_actions(tree: Tree, vocabulary: Vocabulary, chains: bool) -> list[list[int]]:
    """For every focus of the static derivation the ids of its labels from the bottom up, or of its chain as a whole."""
    below: dict[Yield, list[str]] = {}
    yields = tree.yields()
    for node in tree.postorder():
        below.setdefault(yields[node], []).append(node.label)
    c, found = Configuration.after_first_shift(), []
    for action in [*structural_actions(tree), None]:
        names = below.get(c.focus, [])
        ids = [vocabulary.labels.index((name,)) + 1 for name in names] if chains else []
        if names and not chains:
            ids = [vocabulary.labels.index(tuple(reversed(names))) + 1]
        found.append(ids)
        if len(found) < 2 * len(tree) - 1:
            c = c.apply(action)
    return found


@pytest.mark.parametrize("chains", [True, False])
@pytest.mark.parametrize("dropout_scorer", [0.0, 1e-9])
@pytest.mark.parametrize("both", [True, False])
def test_losses(chains, dropout_scorer, both):
    """Section 3.5: negative log-likelihoods of gold tags, structural actions and labels, summed over a batch of trees.

    With a hint of dropout the scorers take the plain way instead of the factored one.
    """
    deep = parse_tree("(ROOT (S (VP (NP (N 0=dogs)))))")  # a chain of four
    trees = [*TREES, deep]
    quiet = dict.fromkeys(("dropout_tagger", "unk_probability", "unk_characters", "exploration"), 0.0)
    recipe = Recipe(**SIZES, chains=chains, oracle="static", dropout_scorer=dropout_scorer, tag_both=both, **quiet)
    trainer = Trainer(recipe, trees, CPU, seed=1)
    with torch.no_grad():
        for parameter in trainer.network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    plain = reference(trainer.network, trainer.vocabulary)
    chosen = np.arange(len(trees))
    index = torch.from_numpy(chosen)
    first, last = trainer._encode(chosen, index)
    found = (*trainer._parsing_losses(last, chosen, index), trainer._tagging_loss(first, last, index))
    expected = np.zeros(3)
    for tree in trees:
        tags = [trainer.vocabulary.tags.index(tag) for tag in tree.tags]
        labels = label_actions(tree, trainer.vocabulary, chains)
        expected += plain.losses(tree.words, tags, structural_actions(tree), labels)
    np.testing.assert_allclose([loss.item() for loss in found], expected, rtol=1e-4)


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_the_tagging_step_reads_the_layers_that_the_tagger_needs(both, graphs):
    """Section 3.5: a sentence's first step is for its tags, from h(1) or from both layers."""
    quiet = dict.fromkeys(("dropout_tagger", "dropout_scorer", "unk_probability", "exploration"), 0.0)
    trainer = paper_trainer(1, tag_both=both, **quiet)
    if graphs:
        trainer.use_sentence_steps()
    plain, tree = reference(trainer.network, trainer.vocabulary), toy_treebank(1, 1)[0]
    scores = plain.tag_scores(plain.token_vectors(tree.words))
    expected = -sum(
        np.log(softmax(row)[trainer.vocabulary.tags.index(tag)]) for row, tag in zip(scores, tree.tags, strict=True)
    )
    trainer.start_epoch()
    assert next(trainer.steps())["tag"].item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("both", [False, True])
def test_losses_of_tags_at_several_temperatures(both):
    network, vocabulary, plain = make(2, tag_both=both)
    gold = [[vocabulary.tags[(b + i) % len(vocabulary.tags)] for i in range(len(s))] for b, s in enumerate(SENTENCES)]
    expected = np.zeros(2)
    for sentence, tags in zip(SENTENCES, gold, strict=True):
        for scores, tag in zip(plain.tag_scores(plain.token_vectors(sentence)), tags, strict=True):
            expected -= [np.log(softmax(scores / t)[vocabulary.tags.index(tag)]) for t in (1.0, 2.5)]
    found = Parser(network, vocabulary).decoder.tag_losses(SENTENCES, gold, [1.0, 2.5])
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.usefixtures("every_network")
def test_all_ways_of_parsing_tag_alike():
    """With both layers: greedy, sampled, the best of several, within constraints, and step by step."""
    network, vocabulary, plain = make(3, tag_both=True)
    parser = Parser(network, vocabulary)
    for words in SENTENCES:
        tags = [vocabulary.tags[tag] for tag in plain.parse(words)[0]]
        ways = [
            parser.parse_tokens([words])[0],
            parser.parse_tokens([words], probabilities=4)[0],
            parser.parse_tokens([words], best=2)[0][0],
            parser.parse_tokens([words], constraints=[{"constituents": [list(range(len(words)))]}])[0],
            explain(parser, words)[1],
        ]
        assert [tree.tags for tree in ways] == [tags] * len(ways)


def assert_same_parse(tree: Tree, plain: ReferenceNetwork, vocabulary: Vocabulary) -> dict[Yield, list[int]]:
    """The tree has the reference's tags, and its labels in their order; returns the reference's constituents."""
    tags, found = plain.parse(tree.words)
    assert tree.tags == [vocabulary.tags[tag] for tag in tags]
    names: dict[Yield, tuple[str, ...]] = {}
    yields = tree.yields()
    for node in tree.preorder():
        names[yields[node]] = (*names.get(yields[node], ()), node.label)
    assert names == {
        s: tuple(name for label in reversed(labels) for name in vocabulary.labels[label - 1])
        for s, labels in found.items()
    }
    return found


@pytest.mark.usefixtures("every_network")
@pytest.mark.parametrize("chains", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_greedy_parsing(seed, chains):
    """Sections 2.1 and 3: the parser's trees and tags, one sentence at a time and many at once."""
    network, vocabulary, plain = make(seed, chains)
    parser = Parser(network, vocabulary)
    chance = random.Random(seed)
    words = [*vocabulary.words, "unseen", "łódź"]
    sentences = [*SENTENCES, *([chance.choice(words) for _ in range(chance.randint(1, 12))] for _ in range(12))]
    discontinuous = 0
    for trees in (parser.parse_tokens(sentences), [parser.parse_tokens([sentence])[0] for sentence in sentences]):
        for tree in trees:
            found = assert_same_parse(tree, plain, vocabulary)
            discontinuous += sum(max(s) - min(s) >= len(s) for s in found)
    assert discontinuous, "or half of r(s) would go unseen"


@pytest.mark.usefixtures("every_network")
def test_long_chains():
    """Node by node, each label knowing the one below, to the sixth at most: here every label wants the next one."""
    network, vocabulary, _ = make(1)
    labels = network.config.labels
    assert labels > 7, "or no chain would be cut"
    assert network.scorers.above_given is not None
    ladder = torch.arange(labels)
    network.scorers.above_given.weight[ladder, (ladder + 1) % labels] += 100
    lengths = set()
    for lowest in range(1, labels):
        network.scorers.label_output.bias[lowest] += 100
        plain = reference(network, vocabulary)
        trees = Parser(network, vocabulary).parse_tokens(SENTENCES)
        network.scorers.label_output.bias[lowest] -= 100
        for tree in trees:
            for chain in assert_same_parse(tree, plain, vocabulary).values():
                assert chain == list(range(lowest, min(labels, lowest + 6)))
                lengths.add(len(chain))
    assert lengths == {1, 2, 3, 4, 5, 6}


@pytest.mark.usefixtures("every_network")
def test_labels_are_never_missing_at_the_end():
    """NO-LABEL is illegal for the last focus (Table 1), however much the network wants it."""
    network, vocabulary, _ = make(1)
    network.scorers.label_output.bias[0] += 100
    plain = reference(network, vocabulary)
    for sentence in SENTENCES:
        (tree,) = Parser(network, vocabulary).parse_tokens([sentence])
        _, found = plain.parse(sentence)
        assert list(found) == [frozenset(range(len(sentence)))]
        assert set(tree.yields().values()) == set(found)
