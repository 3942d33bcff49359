"""Derivations with alternatives: the parser's own, in the terms of the transition system, within constraints too."""

from __future__ import annotations

import pytest
from tiny_models import example_trees, tiny_model

from discoparse.parser.explaining import explain
from discoparse.parser.finding import load_parser
from discoparse.system.transition import Combine, Configuration, Label, NoLabel, Shift

SENTENCES = [tree.words for tree in example_trees()]
WORDS = ["What", "did", "you", "say", "?"]


@pytest.fixture(scope="module", params=[0, 1])
def parser(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained") / "tiny"
    tiny_model(folder, request.param)
    return load_parser(folder)


@pytest.mark.parametrize("words", [*SENTENCES, ["Go"]], ids=len)
def test_the_tree_is_the_parsers_own(parser, words):
    data, tree = explain(parser, words)
    (expected,) = parser.parse_tokens([words])
    assert tree == expected
    ours, theirs = ([node.label_probability for node in t.preorder()] for t in (tree, expected))
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert (data["words"], data["transitions"], len(data["rows"])) == (words, 4 * len(words) - 2, 2 * len(words))


def test_rows_follow_the_transition_system(parser):
    for words in SENTENCES:
        c = Configuration.initial(len(words))
        data, _ = explain(parser, words)
        for row in data["rows"][1:]:
            possible = {str(action) for action in c.legal_actions()}
            assert {option["action"] for option in row["actions"]} <= possible
            assert row["action"] in possible
            items = {str(Combine(item)): sorted(item) for item in c.memory}
            assert all(option.get("item") == items.get(option["action"]) for option in row["actions"])
            taken = next(option for option in row["actions"] if option["action"] == row["action"])
            assert row["action"] == row["actions"][0]["action"]  # greedy: the most probable one
            assert row["action_probability"] == taken["probability"]
            c = c.apply(Shift() if row["action"] == "SH" else Combine(frozenset(taken["item"])))
            assert (row["focus"], row["buffer"]) == (sorted(c.focus), list(range(c.next_token, len(words))))
            c = c.apply(NoLabel() if row["label"] == "NO-LABEL" else Label(row["label"].removeprefix("LABEL-")))
        assert c.is_final


def test_probabilities_are_of_all_that_was_possible(parser):
    data, _ = explain(parser, WORDS)
    for row in data["rows"][1:]:
        chances = [option["probability"] for option in row["actions"]]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) == pytest.approx(1, abs=0.01)
        labels = {option["label"]: option["probability"] for option in row["labels"]}
        assert len(labels) == len(row["labels"])
        assert labels[row["label"]] == pytest.approx(row["label_probability"], abs=1e-5)
        assert sum(labels.values()) <= 1.001


def test_within_constraints(parser):
    constraints = {"constituents": [{"tokens": [0, 3], "label": "VP"}], "tags": {"0": "NN"}}
    data, tree = explain(parser, WORDS, parser.limits(WORDS, constraints))
    (expected,) = parser.parse_tokens([WORDS], constraints=[constraints])
    assert tree == expected
    assert tree.tokens[0].tag == "NN"
    options = [option for row in data["rows"][1:] for option in row["actions"]]
    assert any(option.get("allowed") is False for option in options)  # some are excluded, and still shown
    for row in data["rows"][1:]:
        assert next(o for o in row["actions"] if o["action"] == row["action"]).get("allowed", True)
