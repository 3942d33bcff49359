"""Which model a text is parsed with where none is named: by its words, among the models that stand for a language."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from handmade_models import edit
from installed_models import Packages

from discoparse.cli import cli
from discoparse.errors import UsageError
from discoparse.parser.choice import ModelChoice, clearly_best, default_models
from discoparse.parser.finding import installed_models


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """English, and English with every word reversed."""
    packages = Packages(tmp_path / "site", monkeypatch)
    packages.add("en", "en")
    packages.add("xx", "xx", mirrored=True)
    return packages


def parse(*arguments: str, **options):
    return CliRunner().invoke(cli, ["parse", *arguments], **options)


def test_the_model_is_chosen_by_the_words_of_the_text(installed):
    """A text whose words tell nothing is refused with the list of models."""
    chosen = parse("The dog barks.")
    assert chosen.exit_code == 0
    assert "--model en" in chosen.stderr
    several = parse("The dog barks.", "ehT god skrab.", "What did you see?")
    assert "--model en and xx" in several.stderr
    texts = {"The dog barks.": "en", "ehT god skrab.": "xx", "What did you see?": "en"}
    alone = [parse("--model", name, text).stdout for text, name in texts.items()]
    assert several.stdout == "".join(alone), "each text is parsed with the model of its language"
    streamed = parse(input="The dog\n" * 200)
    assert streamed.stdout.count("=dog") == 200, "what was looked at is parsed too"
    unclear = parse("Quux")
    assert isinstance(unclear.exception, UsageError)
    assert "--model (en, xx)" in str(unclear.exception)


def test_blank_lines_before_the_text_tell_nothing(installed):
    late = parse(input="\n" * 200 + "ehT god skrab.")
    assert "--model xx\n" in late.stderr
    assert "=god" in late.stdout


def test_a_second_model_of_a_language_is_used_by_its_name_alone(installed):
    """It knows the same words, and would leave no language clearly ahead."""
    installed.add("en-large", "en-GB")
    assert "--model en\n" in parse("The dog barks.").stderr
    assert "--model (en, xx)" in str(parse("Quux").exception)
    assert parse("--model", "en-large", "The dog barks.").exit_code == 0
    assert "choose one of en, en-large, xx" in str(parse("--model", "fr", "a").exception)


def test_the_only_model_of_a_language_stands_for_it_whatever_its_name(installed):
    installed.remove("en")
    installed.add("my-stories", "en")
    assert "--model my-stories\n" in parse("The dog barks.").stderr
    installed.add("my-news", "en")
    assert "--model xx\n" in parse("The dog barks.").stderr, "the only one that is left to choose"
    installed.remove("xx")
    unclear = parse("The dog barks.")
    assert isinstance(unclear.exception, UsageError)
    assert "no installed model stands for a language" in str(unclear.exception)
    assert "(my-news, my-stories)" in str(unclear.exception)


def test_the_only_model_is_used_for_everything(installed):
    installed.remove("en")
    assert "--model xx\n" in parse("Quux").stderr
    installed.remove("xx")
    installed.add("some", None)
    assert "--model some\n" in parse("Quux").stderr


@pytest.mark.parametrize(
    ("languages", "defaults"),
    [
        ({}, []),
        ({"a": None, "b": None}, []),
        ({"de": "DE", "de-old": "de_AT"}, ["de"]),
        ({"nl": "de", "de": "nl"}, ["nl", "de"]),
        ({"nl": "de", "de": "de"}, ["de"]),
    ],
)
def test_models_that_are_used_unasked(languages, defaults):
    assert default_models(languages) == defaults


@pytest.mark.parametrize("file", ["vocabulary.json", "config.json", "SHA256SUMS"])
def test_one_damaged_model_leaves_the_others_alone(installed, file):
    """It is named once, however many texts there are; texts that it would be for are not given to another."""
    (installed_models()["en"] / file).write_bytes(b"\xff{")
    parsed = parse("ehT god skrab.", "god ehT")
    assert parsed.exit_code == 0
    assert parsed.stderr.count(f"warning: the installed model 'en' is left out: {installed.folder}") == 1
    assert f"{file} is not what was written" in parsed.stderr
    assert "--model xx\n" in parsed.stderr
    assert isinstance(parse("The dog barks.").exception, UsageError)


def test_words_of_another_type_are_left_out(installed):
    edit(installed_models()["en"], "vocabulary.json", lambda names: names.update(words=[["a"], 3]))
    parsed = parse("ehT god skrab.")
    assert parsed.exit_code == 0
    assert "words must be a list of strings" in parsed.stderr


def test_models_that_are_all_damaged(installed):
    for directory in installed_models().values():
        (directory / "vocabulary.json").unlink()
    noticed: list[str] = []
    with pytest.raises(UsageError, match=r"name one with --model \(en, xx\)"):
        ModelChoice(noticed.append).choose("The dog barks.")
    assert len(noticed) == 2


def test_a_broken_package_is_told_when_a_model_has_to_be_chosen(installed):
    installed.announce("a-gone", "gone = no_such_package")
    assert "warning: the installed model 'gone' is left out: there is no package" in parse("The dog barks.").stderr
    assert parse("--model", "en", "The dog barks.").stderr == ""


def test_the_text_that_no_model_suits_is_quoted(installed):
    """Of several texts the message names the one to blame, shortened and on one line."""
    unclear = parse("The dog barks.", "In\nQuux.", "What did you see?")
    assert unclear.stdout == "", "nothing is parsed"
    assert "the text 'In Quux.': name it" in str(unclear.exception)
    long = parse("quux " * 100)
    assert f"the text '{'quux ' * 9}quux…'" in str(long.exception)
    endless = parse("q" * 10_000)
    assert f"the text '{'q' * 49}…'" in str(endless.exception)


def test_ranks_are_those_of_the_vocabulary(installed):
    """Which has its most frequent word first: a rank that is off by one would make that one unknown."""
    words = ["see", "The", "dog", "barks"]
    edit(installed_models()["en"], "vocabulary.json", lambda names: names.update(words=words))
    rank = ModelChoice(print)._vocabularies["en"]
    assert [rank(word) for word in words] == [1, 2, 3, 4]
    assert rank("Quux") is None
    edit(installed_models()["en"], "vocabulary.json", lambda names: names.update(added=[2]))
    rank = ModelChoice(print)._vocabularies["en"]
    assert [rank(word) for word in words] == [1, 2, 1, 2]
    edit(installed_models()["en"], "vocabulary.json", lambda names: names.update(added="2"))
    noticed: list[str] = []
    assert "en" not in ModelChoice(noticed.append)._vocabularies
    assert "added must be a list of whole numbers" in noticed[0]


def test_words_count_by_how_frequent_they_are():
    """Which both models know: what one of them has seen a few times does not make a text its own."""
    frequent, seldom = {"le": 10, "chat": 500, "dort": 2000}, {"le": 30_000, "chat": 60_000, "dort": 90_000}
    models = {"en": seldom.get, "fr": frequent.get}
    assert clearly_best("Le chat dort.", models) == "fr"
    assert clearly_best("Le chat dort.", {"en": seldom.get}) is None, "not the only one that there is, either"
    assert clearly_best("Le chat dort.", {"a": frequent.get, "b": frequent.get}) is None
    assert clearly_best("12!", models) is None


@pytest.mark.parametrize(("rank", "best"), [(9, "a"), (10, None), (133, None), (10_000, "b")])
def test_how_far_ahead_the_best_must_be(rank, best):
    """The word counts 0.575 for b: 1.4 times as much is what it counts at a rank between 9 and 10."""
    assert clearly_best("word " * 5, {"a": {"word": rank}.get, "b": {"word": 133}.get}) == best
