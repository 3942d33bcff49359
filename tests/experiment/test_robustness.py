"""scripts/robustness.py: what is damaged and what is not, and a table that compares models on the same text."""

from __future__ import annotations

import json
import random

import pytest
import robustness
from tiny_models import example_trees, tiny_model

from discoparse import load, write_trees

KINDS = robustness.damages(set("abcdefg"), set("abcdefg") | {robustness.SCRIPTS[0], robustness.EMOJI[0]})
WORDS = ["Haus", "x", "B-52", "1,000", "...", "naïve", "O'Brien"] * 40


@pytest.mark.parametrize("kind", KINDS)
def test_only_letters_are_damaged_and_only_their_share(kind):
    """None at 0 percent; no word is ever empty; numbers and punctuation stay."""
    chance = random.Random(1)
    assert [KINDS[kind](word, 0.0, chance) for word in WORDS] == WORDS
    half = [KINDS[kind](word, 0.5, chance) for word in WORDS]
    assert all(half)
    changed = [word != other for word, other in zip(WORDS, half, strict=True)]
    assert any(changed)
    assert not all(changed)
    for word, other in zip(WORDS, half, strict=True):
        if not any(map(str.isalpha, word)):
            assert other == word


@pytest.mark.parametrize("kind", ["letters of another script", "emoji", "words in another script"])
def test_what_replaces_letters_is_unknown_to_the_models(kind):
    """Every letter at 100 percent, by characters that no model knows, length and other characters kept."""
    known = {robustness.SCRIPTS[0], robustness.EMOJI[0]}
    pool = set(robustness.EMOJI if kind == "emoji" else robustness.SCRIPTS) - known
    for word in WORDS:
        other = KINDS[kind](word, 1.0, random.Random(1))
        assert len(other) == len(word)
        assert all((new in pool) if old.isalpha() else (new == old) for old, new in zip(word, other, strict=True))


def test_words_in_another_script_change_as_wholes():
    changed = [KINDS["words in another script"]("Haus", 0.3, random.Random(k)) for k in range(400)]
    assert all(word == "Haus" or not set(word) & set("Haus") for word in changed)
    share = sum(word != "Haus" for word in changed) / 400
    assert abs(share - 0.3) < 4 * (0.21 / 400) ** 0.5


def test_typos_are_of_four_kinds():
    typed = {KINDS["typos"]("du", 0.3, random.Random(k)) for k in range(400)}
    assert {"d", "u", "ddu", "duu", "ud", "du"} < typed
    assert any(len(word) == 2 and word[0] in "abcefg" for word in typed)


def test_models_are_compared_on_the_same_text(tmp_path, capsys):
    """One row for each kind and share and one for the text as it is, a column for each model; the same again."""
    write_trees(example_trees(), tmp_path / "dev.discbracket")
    for seed in (1, 2):
        tiny_model(tmp_path / f"model{seed}", seed)
    models = [str(tmp_path / f"model{seed}") for seed in (1, 2)]
    arguments = [str(tmp_path / "dev.discbracket"), *models, "--share", "5", "20", "--seeds", "2"]
    robustness.main([*arguments, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [(row["damage"], row["percent"]) for row in rows] == [
        ("none", 0),
        *((kind, percent) for kind in KINDS for percent in (5, 20)),
    ]
    parser = load(models[0])
    assert rows[0][models[0]] == robustness.measure(parser, example_trees())
    robustness.main([*arguments, "--json"])
    assert json.loads(capsys.readouterr().out) == rows
    robustness.main(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(rows)
    assert {line.count("|") for line in lines} == {5}
