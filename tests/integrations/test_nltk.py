"""The parser as NLTK's `ParserI`: its methods mean what NLTK says they mean."""

from __future__ import annotations

import pickle

import pytest
from tiny_models import tiny_model

from discoparse import DiscoparseError, load

nltk = pytest.importorskip("nltk", reason="the extra `nltk` is not installed")

from discoparse.integrations.nltk_parser import NltkParser  # noqa: E402
from discoparse.treebank.nltk_trees import from_nltk  # noqa: E402

SENTENCES = [["What", "did", "she", "say", "?"], ["Go"], ["Wake", "us", "up", "!"]]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "tiny"
    tiny_model(directory)
    return directory


@pytest.fixture(scope="session")
def parser(model):
    return NltkParser(model, device="cpu")


@pytest.fixture(scope="session")
def expected(model):
    return load(model, "cpu").parse_tokens(SENTENCES)


def test_it_is_a_parser_of_nltk(parser):
    assert isinstance(parser, nltk.parse.api.ParserI)
    with pytest.raises(NotImplementedError):
        parser.grammar()


def test_one_tree_for_a_sentence(parser, expected):
    """`parse` gives an iterator, `parse_one` a tree, `parse_all` a list; words in gaps come back in their places."""
    for sentence, tree in zip(SENTENCES, expected, strict=True):
        (found,) = parser.parse(sentence)
        assert isinstance(found, nltk.Tree)
        assert from_nltk(found) == tree
        assert parser.parse_one(sentence) == found
        assert parser.parse_all(sentence) == [found]
    assert sum(tree.is_discontinuous for tree in expected) > 0


def test_many_sentences_in_order(parser, expected):
    found = [list(trees) for trees in parser.parse_sents(iter(SENTENCES))]
    assert [from_nltk(tree) for (tree,) in found] == expected


def test_sentences_without_words(parser, expected):
    """An error alone; among others no tree, so that the others are not lost."""
    with pytest.raises(DiscoparseError, match="sentence 1 cannot be parsed"):
        parser.parse_one([])
    found = [list(trees) for trees in parser.parse_sents([SENTENCES[0], [], SENTENCES[1]])]
    assert [len(trees) for trees in found] == [1, 0, 1]
    assert from_nltk(found[2][0]) == expected[1]


def test_raw_text(parser):
    trees = list(parser.parse_text("Go\nhome. Don't wait!"))
    assert [sorted(tree.leaves(), key=lambda leaf: leaf.position) for tree in trees] == [
        ["Go", "home", "."],
        ["Do", "n't", "wait", "!"],
    ]


def test_it_takes_a_parser_and_is_picklable(model):
    loaded = load(model, "cpu")
    parser = NltkParser(loaded)
    assert parser.parser is loaded
    assert pickle.loads(pickle.dumps(parser)).parse_one(["Go"]) == parser.parse_one(["Go"])
