"""Trees that are written without being built: byte for byte what the treebank formats write for the same trees."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_model import random_parser
from strategies import AWKWARD_WORDS

from discoparse.neural.codes import Chains
from discoparse.neural.replay import build_tree, replay
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.jobs.deciding import decisions, packed_decisions
from discoparse.parser.outline import Decisions, Writer, _rounded, outline
from discoparse.parser.passages import Passage, tagged
from discoparse.parser.writing import numbered
from discoparse.tree import Tree
from discoparse.treebank import Report, format_trees

TAGS = ["NN", "$(", "-LRB-", "$[", "."]
LABELS = [("S",), ("VP", "NP"), ("ROOT",), ("a b",), ("N(P",), ("#LRB#",)]
PLAIN = Vocabulary([], [], ["NN", "$("], [("S",), ("VP", "NP")], rare=1)
ODD = Vocabulary([], [], TAGS, LABELS, rare=1)


@st.composite
def derivations(draw, vocabulary: Vocabulary) -> tuple[Passage, Decisions]:
    """A sentence and any derivation of it: discontinuous constituents, chains of labels, odd words and names."""
    words = draw(st.lists(st.sampled_from(["dog", "é", "a b", "\t", '"', "\\", "\u2028", *AWKWARD_WORDS]), min_size=1))
    actions: list[int] = []
    memory: list[int] = []  # left indexes of items
    left = upcoming = 0
    for step in range(2 * len(words) - 1):
        shifts = upcoming < len(words)
        if step == 0 or (shifts and (not memory or draw(st.booleans()))):
            if step:
                memory.append(left)
            left = upcoming
            upcoming += 1
            actions.append(left)
        else:
            joined = memory.pop(draw(st.integers(0, len(memory) - 1)))
            actions.append(joined)
            left = min(left, joined)
    names = len(vocabulary.labels)
    code = st.sampled_from([0, 0, *range(1, names + 1), (names + 1) * names + 1])  # the last is a chain of two
    codes = [draw(code) for _ in actions]
    codes[-1] = codes[-1] or 1
    tags = [draw(st.integers(0, len(vocabulary.tags) - 1)) for _ in words]
    probabilities = [draw(st.floats(0, 1, width=32)) for _ in actions]
    spans = draw(st.none() | st.just([(3 * k, 3 * k + 2) for k in range(len(words))]))
    text = draw(st.none() | st.just(" ".join(words)))
    return Passage(words, spans, text), Decisions(actions, codes, tags, probabilities)


def built(passage: Passage, decided: Decisions, vocabulary: Vocabulary) -> Tree:
    chains = Chains(vocabulary)
    labels = [chains[code] for code in decided.codes]
    tokens = tagged(passage, decided.tags, vocabulary.tags)
    tree = build_tree(tokens, replay(decided.actions), labels, decided.probabilities)
    tree.text = passage.text
    return tree


@pytest.mark.parametrize("vocabulary", [PLAIN, ODD], ids=["plain", "odd"])
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_brackets_and_what_is_noted_are_the_same(vocabulary, data):
    passage, decided = data.draw(derivations(vocabulary))
    expected, found = Report(), Report()
    line = "".join(format_trees([built(passage, decided, vocabulary)], "discbracket", expected))
    assert Writer(vocabulary, Chains(vocabulary)).discbracket(passage.words, decided, found) == line
    assert found.messages() == expected.messages()


@given(data=st.data(), name=st.sampled_from([None, "7", 'a"é']))
@settings(max_examples=300, deadline=None)
def test_json_is_the_same(data, name):
    passage, decided = data.draw(derivations(ODD))
    tree = built(passage, decided, ODD)
    tree.id = name
    line = "".join(format_trees([tree], "jsonl", Report()))
    writer = Writer(ODD, Chains(ODD))
    assert writer.json_line(passage, decided, name) == line
    assert writer.tree(passage, decided).to_json() == {k: v for k, v in tree.to_json().items() if k != "id"}
    if name is not None:
        data = writer.json_data(passage, decided, name)
        assert json.dumps(data, ensure_ascii=False) + "\n" == line  # the order of keys, too


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_an_outline_lists_the_nodes_of_the_tree(data):
    passage, decided = data.draw(derivations(ODD))
    tree = built(passage, decided, ODD)
    found = outline(decided, Chains(ODD))
    numbers = {node: k for k, node in enumerate(tree.preorder())}
    parents, yields = tree.parents(), tree.yields()
    assert found.labels == [node.label for node in numbers]
    assert found.parents == [numbers[parents[node]] if node in parents else -1 for node in numbers]
    assert found.label_probabilities == [node.label_probability for node in numbers]
    assert [list(own) for own in found.tokens] == [sorted(yields[node]) for node in numbers]
    for own in found.tokens:
        assert isinstance(own, range) is (own[-1] - own[0] == len(own) - 1)  # as long as there is no gap
    assert found.token_parents == [numbers[parents[k]] for k in range(len(tree))]


@given(st.floats(0, 1) | st.floats(0, 1, width=32) | st.integers(0, 2 * 10**6).map(lambda k: k / (2 * 10**6)))
@settings(max_examples=1000, deadline=None)
@example(0.0001)
@example(0.9999995)
def test_probabilities_are_rounded_and_written_as_python_does(probability):
    assert _rounded(probability) == json.dumps(round(probability, 6))


SENTENCES = [["What", "did", "you", "see", "?"], [], ["cats", "(", "old", ")"], ["Go"], ["The", "dog"] * 30]


def test_decisions_are_those_of_trees(every_network):
    """As lists, and as arrays that were cut into parts."""
    parser = random_parser()
    words = [sentence for sentence in SENTENCES if sentence]
    trees = parser.parse_tokens(words)
    writer = Writer(parser.vocabulary, parser.chains)
    packed = packed_decisions(parser, SENTENCES)
    parts = [decided for part in packed.parts([2, 0, 3]) for decided in part]
    for found in (decisions(parser, SENTENCES), list(packed), parts):
        assert found[1] is None
        lines = [writer.discbracket(w, d, Report()) for w, d in zip(SENTENCES, found, strict=True) if d is not None]
        assert "".join(lines) == "".join(format_trees(trees, "discbracket", Report()))
        assert all(d is None or len(d.probabilities) == 2 * len(d.tags) - 1 for d in found)


def test_arrays_from_a_gpu_are_the_same(monkeypatch):
    """The way of a GPU, on a CPU: rows of a batch are padded, and what is in the padding does not matter."""
    parser = random_parser()
    expected = list(packed_decisions(parser, SENTENCES))
    monkeypatch.setattr(type(parser), "runs_on_gpu", True)
    monkeypatch.setattr(parser.decoder, "compiled", None)
    found = list(packed_decisions(parser, SENTENCES))
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one[:3] == other[:3]
            assert one.probabilities == pytest.approx(other.probabilities, abs=1e-3)


def test_real_sentences_are_written_as_their_trees_are(shared):
    """Through the models that are installed, on sentences of the treebanks."""
    from discoparse import load, models, read_trees

    if "nl" not in [model["name"] for model in models()]:
        pytest.skip("the model nl is not installed")
    parser = load("nl", "cpu")
    sentences = [tree.words for tree in read_trees(shared / "data" / "nl_alpino" / "dev.discbracket.gz")][:300]
    trees = list(numbered(parser.parse_tokens(sentences), "jsonl"))
    found = decisions(parser, sentences)
    writer = Writer(parser.vocabulary, parser.chains)
    for number, (words, decided, tree) in enumerate(zip(sentences, found, trees, strict=True), 1):
        assert decided is not None
        assert tree is not None
        assert json.loads(writer.json_line(Passage(words), decided, str(number))) == tree.to_json()
        tree.id = None
        assert writer.discbracket(words, decided, Report()) == f"{tree}\n"
