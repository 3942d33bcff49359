"""The API for trees at hand: derive, draw, convert, evaluate."""

from __future__ import annotations

import pytest
from serving import error, post

from discoparse.drawing import draw_svg
from discoparse.evaluation import evaluate
from discoparse.system.derivation_table import derivation_json
from discoparse.treebank.discbracket import parse_tree

WORDS = ["What", "did", "you", "say", "?"]
WAKE = "(S (VP (V 0=wake) (P 2=up)) (N 1=them))"
FLAT = "(S (V 0=wake) (N 1=them) (P 2=up))"


def test_the_derivation_of_a_tree(client):
    answer = post(client, "derive", tree=WAKE, system="gap").json()
    assert answer == derivation_json(parse_tree(WAKE), "gap")


def test_the_derivation_of_a_parser(client, catalogue):
    answer = post(client, "derive", tokens=WORDS, model="one").json()
    tree = catalogue.models["one"].parser.parse_tokens([WORDS])[0]
    assert answer["tree"] == tree.to_json()
    assert answer["transitions"] == 4 * len(WORDS) - 2
    assert len(answer["rows"]) == 2 * len(WORDS)
    for row in answer["rows"][1:]:
        assert row["action"] in [option["action"] for option in row["actions"]]
        assert row["label"] in [option["label"] for option in row["labels"]]
        assert sum(option["probability"] for option in row["actions"]) == pytest.approx(1, abs=0.02)


def test_the_second_sentence_of_a_text(client):
    answer = post(client, "derive", text="Go on. I see.", model="one", sentence=2).json()
    assert answer["words"] == ["I", "see", "."]
    assert "no sentence 3" in error(post(client, "derive", text="Go on. I see.", model="one", sentence=3), 422)
    assert "at most 20" in error(post(client, "derive", tokens=["a"] * 21, model="one"), 422)


def test_draw(client):
    answer = post(client, "draw", tree=WAKE)
    assert answer.headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert answer.text == draw_svg(parse_tree(WAKE)) + "\n"
    assert "wake" in post(client, "draw", tree=WAKE, format="text").text
    assert "tikzpicture" in post(client, "draw", tree=parse_tree(WAKE).to_json(), format="tikz").text
    assert "missing" in post(client, "draw", tree=WAKE, compare=FLAT).text
    two, one = (
        post(client, "draw", tree=trees, format="text").text for trees in ([parse_tree(WAKE).to_json()] * 2, WAKE)
    )
    assert [line for line in two.splitlines() if line[:1].isdigit()] == ["1", "2"]
    assert not any(line[:1].isdigit() for line in one.splitlines())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "tree is missing"),
        ({"tree": "nothing"}, "cannot tell the format"),
        ({"tree": "(S (", "from": "discbracket"}, "tree"),
        ({"tree": {"tokens": [], "nodes": []}}, "no words"),
        ({"tree": {"words": 1}}, "unknown key"),
        ({"tree": WAKE, "subtree": "XP"}, "no subtree XP"),
        ({"tree": WAKE, "subtree": "9"}, "no tokens 9"),
        ({"tree": WAKE, "gloss": ["a"]}, "gloss"),
        ({"tree": WAKE, "compare": "(S (V 0=wake))"}, "cannot be compared"),
        ({"tree": WAKE, "from": "latex"}, "from must be one of"),
    ],
)
def test_what_draw_refuses(client, fields, said):
    assert said in error(post(client, "draw", **fields), 422)


def test_user_text_is_never_markup(client):
    word = "<script>alert(1)</script>"
    picture = post(client, "parse", tokens=[word, "&"], model="one", format="svg").text
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture


def test_convert(client):
    assert "#BOS" in post(client, "convert", tree=WAKE, format="export").text
    again = post(client, "convert", tree=post(client, "convert", tree=WAKE, format="json").json()).text
    assert again.strip() == WAKE


def test_evaluate(client):
    answer = post(client, "evaluate", gold=WAKE, predicted=FLAT, sentences=True, by=["label"], errors=3).json()
    expected = evaluate([parse_tree(WAKE)], [parse_tree(FLAT)]).to_json()
    assert {key: answer[key] for key in expected} == expected
    (sentence,) = answer["sentences"]
    assert sentence["marks"] == {"gold": {"nodes": {"1": "missing"}, "tokens": {}}, "predicted": _NO_MARKS}
    assert (sentence["exact"], sentence["discontinuous"]) == (False, True)
    assert "2 predicted" in error(post(client, "evaluate", gold=WAKE, predicted=f"{FLAT}\n{FLAT}"), 422)


def test_too_many_trees_are_not_read_to_the_end(client):
    """What comes after them would be told of otherwise."""
    data = post(client, "convert", tree="(S (N 0=I))", format="json").json()
    for trees in ("(S (N 0=I))\n" * 21 + "(S", data * 21 + [{}]):
        assert "more than 20 trees" in error(post(client, "convert", tree=trees), 422)
    assert post(client, "convert", tree=data * 20).status_code == 200


_NO_MARKS = {"nodes": {}, "tokens": {}}
