"""Trees with probabilities, consensus trees, the best trees, doubtful sentences and unknown languages, from Python."""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest
from random_model import random_parser

from discoparse.errors import DiscoparseError, UsageError
from discoparse.neural.belief import UNSCORED, Foci, beliefs
from discoparse.neural.torch_belief import believe
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.belief_trees import believed_tree
from discoparse.parser.doubt import MAJORITY, SAMPLES, Doubt, Screen
from discoparse.parser.ensemble import Ensemble
from discoparse.parser.familiarity import (
    END,
    ENOUGH,
    FEWEST_KNOWN,
    LEAST_FAMILIAR,
    LETTERS,
    WORD,
    Familiarity,
    familiarity,
)
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Passage
from discoparse.tree import Node, Token
from discoparse.treebank.discbracket import parse_tree


@pytest.fixture
def parser(every_network: str) -> Parser:
    return random_parser()


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    rng = random.Random(4)
    words = ["The", "dog", "barks", "see", "What", "old", *(f"w{k}" for k in range(20))]
    return [[rng.choice(words) for _ in range(rng.randint(1, 12))] for _ in range(30)]


def test_probabilities_change_no_tree(parser, sentences):
    plain, believed = parser.parse_tokens(sentences), parser.parse_tokens(sentences, probabilities=5)
    assert believed == plain
    for tree, before in zip(believed, plain, strict=True):
        assert 0 <= tree.probability <= 1
        assert 0 <= tree.expected_f1 <= 1
        assert before.probability is before.expected_f1 is None
        assert all(0 < token.probability <= 1 for token in tree.tokens)
        assert all(token.probability is None for token in before.tokens)
        for node, other in zip(tree.preorder(), before.preorder(), strict=True):
            assert 0 < node.probability < 1
            assert other.probability is None
            assert node.label_probability == pytest.approx(other.label_probability, abs=1e-4)


def test_a_label_may_be_a_chain_of_nodes(sentences):
    """Its nodes then have the probability of the label, and the nodes after them their own."""
    parser = random_parser(chains=False)
    assert max(map(len, parser.vocabulary.labels)) > 1
    chained = 0
    for tree in parser.parse_tokens(sentences, probabilities=20):
        for node in tree.preorder():
            assert node.probability is not None
            only = node.children[0] if len(node.children) == 1 else None
            if isinstance(only, Node):
                chained += 1
                assert only.probability == node.probability
    assert chained


def test_tags_have_the_probability_of_their_temperature(parser):
    (warm,) = parser.parse_tokens([["The", "dog"]], probabilities=1)
    parser = random_parser()
    parser.calibration = type(parser.calibration)(tags=50.0)
    (hot,) = parser.parse_tokens([["The", "dog"]], probabilities=1)
    assert all(a.probability < b.probability for a, b in zip(hot.tokens, warm.tokens, strict=True))
    assert hot.tokens[0].probability == pytest.approx(1 / len(parser.vocabulary.tags), abs=0.05)


def test_expected_f1_is_that_of_the_scored_nodes(parser, sentences):
    """Twice the expected matches over the sum of the sizes; ROOT is not scored."""
    beliefs = dict(believe(parser.decoder, sentences, 20, parser.calibration))
    unscored = 0
    for k, tree in enumerate(parser.parse_tokens(sentences, probabilities=20)):
        values = [node.probability for node in tree.preorder() if node.label not in UNSCORED]
        unscored += len(values) < len(list(tree.preorder()))
        expected = 2 * sum(values) / (len(values) + beliefs[k].expected_size)
        assert tree.expected_f1 == pytest.approx(min(1, expected), abs=1e-4)
    assert unscored


def test_expected_f1_of_a_tree_without_scored_nodes(parser, sentences):
    """A drawn tree that has none, either, agrees with it: as often as its expected size is below one."""
    (plain,) = believe(parser.decoder, [["The"]], 20, parser.calibration)
    belief = plain[1]
    root = parser.vocabulary.labels.index(("ROOT",)) + 1
    for size, expected in ((0.0, 1.0), (1e-9, 1.0), (0.25, 0.75), (3.0, 0.0)):
        bare = dataclasses.replace(belief, codes=[root], probabilities=[(0.9,)], expected_size=size)
        tree = believed_tree([Token("The", "DT")], bare, parser.decoder.chains, Doubt())
        assert tree.expected_f1 == pytest.approx(expected)


def test_equal_labels_above_each_other_share_their_expected_number(parser):
    """With 1.3 such nodes on average, there is surely one, and a second one in three of ten samples."""
    foci = Foci(
        [[0]], [[0]], np.ones(1), [[0]], [[1.0]], np.zeros(1, int), np.ones(1), np.zeros(1, bool), *([None] * 4)
    )
    count = 4
    code = 2 + 2 * count  # the label 2 above itself
    found = dataclasses.replace(
        foci, code=np.array([code]), code_probability=np.ones(1), expected=np.array([[0, 0, 1.3, 0]]), mask=lambda k: 1
    )
    (belief,) = beliefs(found, [("A",), ("B",), ("C",)], parser.calibration, 1)
    certain = [parser.calibration.probability(np.array([p]), np.zeros(1, bool))[0] for p in (0.3, 1.0)]
    assert belief.probabilities == [tuple(certain)]
    assert certain[0] < certain[1]


def test_a_consensus_has_what_most_samples_have(parser, sentences):
    majority = parser.parse_tokens(sentences, probabilities=40, consensus=True)
    strict = parser.parse_tokens(sentences, probabilities=40, consensus=0.9)
    loose = parser.parse_tokens(sentences, probabilities=40, consensus=0.2)
    assert majority == parser.parse_tokens(sentences, probabilities=40, consensus=MAJORITY)
    sizes = []
    for trees in zip(strict, majority, loose, strict=True):
        found = [set(tree.constituents()) for tree in trees]
        assert found[0] <= found[1] <= found[2]
        sizes.append([len(one) for one in found])
        for tree in trees:
            assert all(node.probability is not None for node in tree.preorder())
            assert tree.probability is None
            assert 0 <= tree.expected_f1 <= 1
    assert len({tuple(one) for one in sizes}) > 5


def test_how_many_samples():
    assert Doubt.asked(0, False) is None
    assert Doubt.asked(8, False) == Doubt(8, None)
    assert Doubt.asked(0, True) == Doubt(SAMPLES, MAJORITY)
    assert Doubt.asked(8, 0.2) == Doubt(8, 0.2)
    for wrong in ((-1, False), (True, False), (10**6, False), (8, 1.0), (8, -0.1), (8, "half")):
        with pytest.raises(UsageError):
            Doubt.asked(*wrong)


def test_probabilities_within_constraints_are_refused(parser):
    with pytest.raises(DiscoparseError, match="within constraints"):
        parser.parse_tokens([["The"]], constraints=[None], probabilities=3)


def test_the_best_trees(parser, sentences):
    for words, trees in zip(sentences, parser.parse_tokens(sentences, best=4), strict=True):
        assert len({tuple(map(str, tree.constituents())) for tree in trees}) == len(trees) <= 4
        assert len(trees) == 4 or len(words) < 3
        assert [tree.probability for tree in trees] == sorted((tree.probability for tree in trees), reverse=True)
        assert all(tree.words == words for tree in trees)
        assert all(0 <= node.label_probability <= 1 for tree in trees for node in tree.preorder())
    for wrong in (0, True, 10**6):
        with pytest.raises(UsageError, match="number of best trees"):
            parser.parse_tokens(sentences, best=wrong)


def test_probabilities_of_whole_trees_have_six_digits_however_small_they_are(parser):
    """Long sentences have many trees, and even the best of them is improbable."""
    [trees] = parser.parse_tokens([["The", "dog", "barks", "see"] * 4], best=4)
    assert all(0 < tree.probability < 1e-9 for tree in trees)
    assert trees[0].probability > trees[-1].probability
    assert all(tree.probability == float(f"{tree.probability:.5e}") for tree in trees)
    [(_, belief)] = believe(parser.decoder, [["The"]], 3, parser.calibration)
    belief = dataclasses.replace(belief, probability=1.23456789e-12)
    assert believed_tree([Token("The", "DT")], belief, parser.chains, Doubt()).probability == 1.23457e-12


def test_labels_of_the_best_trees_have_the_probability_that_they_always_have(parser, sentences):
    """Whatever temperature the trees are ranked at."""
    parser.calibration = dataclasses.replace(parser.calibration, labels=3.0)
    compared = 0
    for plain, (best, *_) in zip(parser.parse_tokens(sentences), parser.parse_tokens(sentences, best=1), strict=True):
        if best == plain:
            for node, other in zip(best.preorder(), plain.preorder(), strict=True):
                assert node.label_probability == pytest.approx(other.label_probability, abs=1e-4)
                compared += 1
    assert compared


def test_the_best_trees_come_alone(parser):
    with pytest.raises(UsageError, match="ask for one thing"):
        parser.parse_tokens([["The"]], best=2, probabilities=3)
    with pytest.raises(UsageError, match="ask for one thing"):
        parser.parse_tokens([["The"]], best=2, constraints=[None])


def test_several_models_have_none_of_this():
    together = Ensemble([random_parser(), random_parser(seed=1)])
    words = [["The", "dog"]]
    assert len(together.parse_tokens(words)) == 1
    assert together.parse_tokens(words, constraints=[None]) == together.parse_tokens(words)
    for asked in ({"probabilities": 3}, {"best": 2}, {"consensus": True}, {"constraints": [{"constituents": [[0]]}]}):
        with pytest.raises(UsageError, match="of one model"):
            together.parse_tokens(words, **asked)


def test_doubtful_trees_are_left_out_or_marked():
    def trees():
        for value in (0.5, 0.75, None, 0.8):
            tree = parse_tree("(S (N 0=a))")
            tree.expected_f1 = value
            yield tree
        yield None

    left_out, marked = Screen(80, mark=False), Screen(80, mark=True)
    assert [tree and tree.expected_f1 for tree in left_out(trees())] == [None, None, None, 0.8, None]
    found = [tree and tree.comments for tree in marked(trees())]
    assert found == [["doubtful: expected F1 50.0"], ["doubtful: expected F1 75.0"], [], [], None]
    assert left_out.message() == "2 of 3 sentences have an expected F1 below 80: left out"
    assert marked.message().endswith("marked")


# -- languages --------------------------------------------------------------------------------------------------------


def vocabulary(words: int = FEWEST_KNOWN) -> Vocabulary:
    """Words of Latin letters, the most frequent first, then rare ones that other languages have, too."""
    latin = "abcdefghijklmnopqrstuvwxyz"
    names = [f"{latin[k // 676]}{latin[k // 26 % 26]}{latin[k % 26]}" for k in range(words)]
    characters = [*latin, *(chr(0x2500 + k) for k in range(LETTERS - len(latin)))]
    return Vocabulary(
        [*names, *(f"rare{k}" for k in range(5000)), "rue", "maison"], [*characters, "ж"], ["T"], [("S",)], 1
    )


def judged(words: list[str], known: Vocabulary | None = None) -> list[str]:
    told: list[str] = []
    passages = [Passage(words[k : k + 5]) for k in range(0, len(words), 5)]
    assert list(Familiarity(known or vocabulary(), told.append, "xx").watch([None, *passages])) == [None, *passages]
    return told


def test_another_language_is_told_once():
    (message,) = judged(["rue", "maison", "neuf"] * 40 + ["aab"] * 100)
    assert "a language that the model 'xx' does not know (16 of 50 words are new to it" in message
    assert judged(["Aab", "neuf"] * 40) == []  # half of the words are frequent
    assert judged(["neuf"] * 9) == []  # too few to tell
    assert len(judged(["neuf"] * 12)) == 1  # at the end
    assert judged(["12", "!"] * 100) == []  # no words


def test_words_count_by_the_logarithm_of_their_rank():
    """Which is 1 for aaa, 101 for adw, 6,001 for rue: 1, 0.60 and 0.24."""
    worth = 1 - math.log(101) / math.log(END)
    enough = math.ceil(LEAST_FAMILIAR / worth * ENOUGH)
    assert judged(["adw"] * enough + ["neuf"] * (ENOUGH - enough)) == []
    assert len(judged(["adw"] * (enough - 1) + ["neuf"] * (ENOUGH - enough + 1))) == 1
    assert judged(["aaa"] * 13 + ["neuf"] * 37) == []  # more than a quarter of the words
    assert len(judged(["aaa"] * 12 + ["neuf"] * 38)) == 1
    assert len(judged(["rue"] * 50)) == 1
    assert judged(["rue"] * 49 + ["aaa"]) == []


def test_words_count_by_their_most_frequent_spelling():
    known = vocabulary()
    known = dataclasses.replace(known, words=["Haus", "McAdam", *known.words])
    for spelling in ("haus", "HAUS", "Haus", "McAdam", "aaa", "AAA", "Aaa"):
        assert judged([spelling] * 14 + ["neuf"] * 36, known) == []


def test_words_that_a_treebank_added_have_ranks_of_their_own():
    """After `train --init`, the words of the treebank come last, though it may be of a language of its own."""
    known = vocabulary()
    words = [*known.words, *(f"nyt{k}" for k in "abcdefgh")]
    there, foreign = ["nyta", "nytb", "nytc", "nytd", "neuf"] * 10, ["rue", "neuf"] * 25
    assert len(judged(there, dataclasses.replace(known, words=words))) == 1
    joined = dataclasses.replace(known, words=words, added=(len(known.words),))
    assert judged(there, joined) == []
    assert judged(["aaa"] * 50, joined) == []
    assert len(judged(foreign, joined)) == 1


def test_words_have_the_signs_that_combine_with_letters():
    assert WORD.findall("छोटा घर, “über” 12 a_b") == ["छोटा", "घर", "über", "a", "b"]
    assert familiarity("u\u0308ber", {"über": 1}.get) == 1
    assert familiarity("u\u0308ber", {"u\u0308ber": 1}.get) == 1


def test_the_reason_counts_the_words_that_are_new():
    (message,) = judged(["neuf", "dix"] * 25)
    assert "(50 of 50 words are new to it): " in message or message.endswith("(50 of 50 words are new to it)")
    many = dataclasses.replace(vocabulary(), words=[*vocabulary().words, *(f"w{k}" for k in range(END)), "last"])
    (message,) = judged(["last", "neuf"] * 25, many)
    assert "25 of 50 words are new to it, and few of the others frequent" in message


def test_a_long_passage_is_judged_by_its_beginning():
    told: list[str] = []
    words = ["neuf"] * 10 * ENOUGH + ["aaa"] * 100 * ENOUGH
    list(Familiarity(vocabulary(), told.append).watch([Passage(words)]))
    assert len(told) == 1


def test_several_models_know_the_language_as_the_one_with_most_words_does():
    """Which need not be the first of them; a model with few words cannot tell."""
    large = random_parser(seed=1)
    known = dataclasses.replace(vocabulary(), tags=["XX"], labels=large.vocabulary.labels)
    large.decoder.vocabulary = known
    for members in ([random_parser(), large], [large, random_parser()]):
        together = Ensemble(members)
        assert len(judged(["neuf", "dix"] * 25, together.vocabulary)) == 1
        assert judged(["aaa", "aaa"] * 25, together.vocabulary) == []
        assert "XX" in together.vocabulary.tags
        assert len(together.vocabulary.tags) > 1


def test_another_script_is_told_of_a_few_words():
    (message,) = judged(["жжж", "жж"])
    assert "a script that the model 'xx' does not know" in message
    assert judged(["aaaж", "rueж"]) == []


def test_small_vocabularies_say_nothing():
    small = dataclasses.replace(vocabulary(), words=vocabulary().words[: FEWEST_KNOWN - 1])
    assert judged(["жжж"] * ENOUGH, small) == []
    just = dataclasses.replace(vocabulary(), words=vocabulary().words[:FEWEST_KNOWN])
    assert len(judged(["жжж"] * ENOUGH, just)) == 1
    few = dataclasses.replace(just, characters=just.characters[: LETTERS - 1])
    assert judged(["жжж"] * ENOUGH, few) == []
