"""The models that come with the program, `discoparse models`, and which model a text is parsed with."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner
from random_model import save_random_model

import discoparse.parser.finding
from discoparse import load
from discoparse.cli import cli
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.finding import find_model, installed_models

_LARGEST = 10_000_000  # bytes of a shipped model


def install(monkeypatch, folder):
    """Make the models in a folder the only installed ones."""

    def spec(name):
        return SimpleNamespace(submodule_search_locations=[str(folder / name)])

    def entries(group):
        return [SimpleNamespace(name=path.parent.name, value=path.parent.name) for path in folder.glob("*/config.json")]

    monkeypatch.setattr(discoparse.parser.finding, "entry_points", entries)
    monkeypatch.setattr(discoparse.parser.finding, "find_spec", spec)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Two models, as if they came with the program: English, and English with every word reversed."""
    save_random_model(tmp_path / "en", "en")
    save_random_model(tmp_path / "xx", "xx", mirrored=True)
    install(monkeypatch, tmp_path)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(cli, ["models", *arguments])


def test_models_are_listed_with_their_figures(shipped):
    header, first, second = run().stdout.splitlines()
    assert header.split("  ")[0] == "name"
    assert "12.3" in first
    assert "4.5" in first
    assert "67.8" in first
    assert "three sentences" in second
    facts = json.loads(run("--json").stdout)
    assert [fact["language"] for fact in facts] == ["en", "xx"]
    assert facts[0]["figures"] == {"dev": {"f1": 12.3, "disc_f1": 4.5, "pos": 67.8, "sentences": 3}}
    assert facts[0]["bytes"] == sum(path.stat().st_size for path in (shipped / "en").iterdir())


def test_the_card_of_a_model_by_name_and_by_directory(shipped):
    card = run("en").stdout
    assert "three sentences" in card
    assert "CC0" in card
    assert run(str(shipped / "en")).stdout == card


def test_loading_by_name_and_by_directory(shipped):
    text = "What did you see?"
    named = load("en")
    assert named.language == "en"
    assert named.device.type in ("cpu", "cuda")
    assert load(str(shipped / "en"), device="cpu").parse(text) == load(shipped / "en", device="cpu").parse(text)


def test_a_folder_with_the_name_of_a_shipped_model_is_not_taken_for_it(shipped, tmp_path, monkeypatch):
    """The shipped one prevails, and says so; an unrelated folder of that name is no reason to."""
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    (tmp_path / "mine" / "en").mkdir()
    shipped_card = run("en")
    assert shipped_card.stderr == ""
    save_random_model(tmp_path / "mine" / "en" / "model", "mine")
    for arguments in (["models", "en"], ["parse", "--model", "en", "a"]):
        assert "en is the model that comes with the program" in CliRunner().invoke(cli, arguments).stderr
        assert "write ./en" in CliRunner().invoke(cli, arguments).stderr
    assert run("en").stdout == shipped_card.stdout
    assert run("./en").stdout != shipped_card.stdout
    assert run("./en").stderr == ""
    monkeypatch.chdir(shipped)
    assert run("en").stderr == "", "the folder is the shipped model itself"


def test_what_is_no_model_is_refused(shipped, tmp_path):
    with pytest.raises(UsageError, match="there is no model 'fr': choose one of en, xx, or give the directory"):
        load("fr")
    with pytest.raises(UsageError, match="holds no model"):
        load(tmp_path)
    (shipped / "en" / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(DiscoparseError, match=r"model\.safetensors"):
        load("en")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no GPU"):
            load("xx", device="cuda")


def test_the_model_is_chosen_by_the_words_of_the_text(shipped):
    """A text whose words tell nothing is refused with the list of models."""
    chosen = CliRunner().invoke(cli, ["parse", "The dog barks."])
    assert chosen.exit_code == 0
    assert "--model en" in chosen.stderr
    several = CliRunner().invoke(cli, ["parse", "The dog barks.", "ehT god skrab.", "What did you see?"])
    assert "--model en and xx" in several.stderr
    texts = {"The dog barks.": "en", "ehT god skrab.": "xx", "What did you see?": "en"}
    alone = [CliRunner().invoke(cli, ["parse", "--model", name, text]).stdout for text, name in texts.items()]
    assert several.stdout == "".join(alone), "each text is parsed with the model of its language"
    streamed = CliRunner().invoke(cli, ["parse"], input="The dog\n" * 200)
    assert streamed.stdout.count("=dog") == 200, "what was looked at is parsed too"
    unclear = CliRunner().invoke(cli, ["parse", "Quux"])
    assert isinstance(unclear.exception, UsageError)
    assert "--model (en, xx)" in str(unclear.exception)


def test_a_second_model_of_a_language_is_used_by_its_name_alone(shipped):
    """It knows the same words, and would leave no language clearly ahead."""
    save_random_model(shipped / "en-large", "en-large")
    chosen = CliRunner().invoke(cli, ["parse", "The dog barks."])
    assert "--model en\n" in chosen.stderr
    assert "--model (en, xx)" in str(CliRunner().invoke(cli, ["parse", "Quux"]).exception)
    assert CliRunner().invoke(cli, ["parse", "--model", "en-large", "The dog barks."]).exit_code == 0
    assert "choose one of en, en-large, xx" in str(CliRunner().invoke(cli, ["parse", "--model", "fr", "a"]).exception)


def test_the_text_that_no_model_suits_is_quoted(shipped):
    """Of several texts the message names the one to blame, shortened and on one line."""
    unclear = CliRunner().invoke(cli, ["parse", "The dog barks.", "In\nQuux.", "What did you see?"])
    assert unclear.stdout == "", "nothing is parsed"
    assert "the text 'In Quux.': name it" in str(unclear.exception)
    long = CliRunner().invoke(cli, ["parse", "quux " * 100])
    assert f"the text '{'quux ' * 9}quux…'" in str(long.exception)
    endless = CliRunner().invoke(cli, ["parse", "q" * 10_000])
    assert f"the text '{'q' * 49}…'" in str(endless.exception)
    assert "from an empty text" in str(CliRunner().invoke(cli, ["parse", " "]).exception)


def test_without_models_the_user_is_told_what_to_do(tmp_path, monkeypatch):
    install(monkeypatch, tmp_path)
    assert run().exit_code == 0
    assert "discoparse train" in run().stderr
    assert isinstance(CliRunner().invoke(cli, ["parse", "text"]).exception, UsageError)


@pytest.mark.parametrize("name", installed_models() or [None])
def test_installed_models_are_small_complete_and_work(name):
    """Each has a language, a licence, figures, a full card, fits into 10 MB, and gives trees for a sentence."""
    if name is None:
        pytest.skip("this installation has no models")
    listed = discoparse.parser.finding.describe_model(name)
    assert listed.size <= _LARGEST
    assert listed.info.name == name
    assert listed.info.language
    assert listed.info.treebanks
    assert listed.info.licence
    assert all(scores["f1"] > 50 and scores["pos"] > 80 for scores in listed.info.dev_sets.values())
    assert listed.info.data
    assert listed.info.notes
    assert listed.info.training["command"]
    assert listed.info.licence in run(name).stdout
    (tree,) = load(find_model(name), device="cpu").parse("Hm , ( a ) .", lines=True)
    assert len(tree) == 6
