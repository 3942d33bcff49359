"""Installed models by name, `discoparse models`, and which model a text is parsed with."""

from __future__ import annotations

import json
import shutil
import sys
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

import pytest
import torch
from click.testing import CliRunner
from installed_models import Packages
from random_model import save_random_model

import discoparse.parser.finding
from discoparse import load
from discoparse.cli import cli
from discoparse.errors import DiscoparseError, UsageError
from discoparse.model.names import PUBLISHED
from discoparse.parser.finding import find_model, installed_models, search_installed

MODELS = Path(__file__).resolve().parents[2] / "models"
_LARGEST = {False: 10_000_000, True: 75_000_000}  # bytes of a model of this project, and of one with an encoder
_LARGEST_FILE = 50_000_000  # which some hosts of repositories refuse


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two models in an environment of their own: English, and English with every word reversed."""
    packages = Packages(tmp_path / "site", monkeypatch)
    packages.add("en", "en")
    packages.add("xx", "xx", mirrored=True)
    return packages


def run(*arguments: str):
    return CliRunner().invoke(cli, ["models", *arguments])


def test_models_are_listed_with_their_figures(installed):
    header, first, second = run().stdout.splitlines()
    assert header.split("  ")[0] == "name"
    assert "12.3" in first
    assert "4.5" in first
    assert "67.8" in first
    assert "three sentences" in second
    facts = json.loads(run("--json").stdout)
    assert [(fact["name"], fact["language"]) for fact in facts] == [("en", "en"), ("xx", "xx")]
    assert facts[0]["figures"] == {"dev": {"f1": 12.3, "disc_f1": 4.5, "pos": 67.8, "sentences": 3}}
    assert facts[0]["bytes"] == sum(path.stat().st_size for path in installed_models()["en"].iterdir())


def test_the_card_of_a_model_by_name_and_by_directory(installed):
    card = run("en").stdout
    assert "three sentences" in card
    assert "CC0" in card
    assert run(str(installed_models()["en"])).stdout == card


def test_loading_by_name_and_by_directory(installed):
    text = "What did you see?"
    named = load("en")
    assert named.language == "en"
    assert named.device.type in ("cpu", "cuda")
    directory = installed_models()["en"]
    assert load(str(directory), device="cpu").parse(text) == load(directory, device="cpu").parse(text)


def test_a_folder_with_the_name_of_an_installed_model_is_not_taken_for_it(installed, tmp_path, monkeypatch):
    """The installed one prevails, and the user is told; an unrelated folder of that name is no reason to."""
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    (tmp_path / "mine" / "en").mkdir()
    card = run("en")
    assert card.stderr == ""
    save_random_model(tmp_path / "mine" / "en" / "model", "mine")
    for arguments in (["models", "en"], ["parse", "--model", "en", "a"]):
        assert "en is the name of an installed model" in CliRunner().invoke(cli, arguments).stderr
        assert "write ./en" in CliRunner().invoke(cli, arguments).stderr
    assert run("en").stdout == card.stdout
    assert run("./en").stdout != card.stdout
    assert run("./en").stderr == ""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").symlink_to(installed_models()["en"])
    assert run("en").stderr == "", "the folder is the installed model itself"


def test_what_is_not_a_model_is_refused(installed, tmp_path):
    with pytest.raises(UsageError, match="there is no model 'fr': choose one of en, xx, or give the directory"):
        load("fr")
    with pytest.raises(UsageError, match="does not hold a model"):
        load(tmp_path)
    (installed_models()["en"] / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(DiscoparseError, match=r"model\.safetensors"):
        load("en")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no GPU"):
            load("xx", device="cuda")


def test_a_model_that_is_not_installed_is_offered(installed):
    """With the command that installs it; misspelt names get the nearest, by its name or its language."""
    with pytest.raises(UsageError) as caught:
        load("nl-large")
    assert str(caught.value) == (
        "the model 'nl-large' (Dutch, larger and slower) is not installed: pip install discoparse-model-nl-large "
        "(or, in a checkout of discoparse, pip install ./models/nl-large)"
    )
    for wrong, message in {
        "nl_large": r"'nl_large': did you mean nl-large\? It is not installed: pip install discoparse-model-nl-large ",
        "EN": r"'EN': did you mean en\?$",
        "german": r"'german': did you mean de\? It is not installed: pip install discoparse-model-de ",
        "xxx": r"'xxx': did you mean xx\?$",
    }.items():
        with pytest.raises(UsageError, match=message):
            load(wrong)
    assert run("englsh").exit_code == 1
    assert "did you mean en?" in str(run("englsh").exception)


def test_without_models_the_user_is_told_what_to_do(tmp_path, monkeypatch):
    Packages(tmp_path / "site", monkeypatch)
    assert run().exit_code == 0
    assert json.loads(run("--json").stdout) == []
    for said in (run().stderr, str(CliRunner().invoke(cli, ["parse", "text"]).exception)):
        assert "no models are installed: install one with pip install discoparse-model-NAME (or," in said
        assert "nl (Dutch), " in said
        assert "discoparse train" in said
    assert isinstance(CliRunner().invoke(cli, ["parse", "text"]).exception, UsageError)


def test_the_models_of_this_project_are_those_of_its_folder():
    """One table says which; the folder has a package for each, and nothing else, so that ./models/* installs them."""
    folders = list(MODELS.iterdir())
    assert {path.name for path in folders if (path / "pyproject.toml").is_file()} == set(PUBLISHED)
    assert len(folders) == len(PUBLISHED)


# -- packages of others ------------------------------------------------------------------------------------------------


def broken_packages(packages: Packages) -> dict[str, str]:
    """Packages that bring no usable model, and what is said about each."""
    (packages.folder / "just_a_module.py").write_text("raise SystemExit('the code of a model ran')\n")
    (packages.folder / "empty_package").mkdir()
    (packages.folder / "empty_package" / "__init__.py").write_text("raise SystemExit('the code of a model ran')\n")
    (packages.folder / "outer" / "inner").mkdir(parents=True)
    (packages.folder / "outer" / "__init__.py").write_text("raise SystemExit('the code of a model ran')\n")
    packages.announce("a-gone", "gone = no_such_package")
    packages.announce("a-module", "module = just_a_module")
    packages.announce("a-empty", "empty = empty_package")
    packages.announce("a-inner", "inner = outer.inner")
    packages.announce("a-object", "object = empty_package:model")
    packages.announce("a-nothing", "nothing =")
    packages.announce("a-odd", "../odd = empty_package")
    packages.announce("a-twin", "twin = empty_package")
    packages.announce("another-twin", "twin = discoparse_model_en")
    packages.announce("a-damage", "neither this nor that")
    packages.announce("a-bytes", b"[discoparse.models]\n\xff = a\n")
    packages.announce("nameless", "nameless = no_such_package", metadata=None)
    return {
        "gone": "there is no package no_such_package: install it again (from a-gone)",
        "module": "just_a_module is not a package with a model",
        "empty": "empty_package is not a package with a model (no config.json) (from a-empty)",
        "inner": "must name a package at the top, not 'outer.inner'",
        "object": "must name a package at the top, not 'empty_package:model'",
        "nothing": "must name a package at the top, not ''",
        "../odd": "a model cannot have this name",
        "twin": "several packages bring a model of this name: uninstall all but one (from a-twin and another-twin)",
        "a-damage": "entry_points.txt of this package cannot be read",
        "a-bytes": "entry_points.txt of this package cannot be read",
        "nameless": "there is no package no_such_package",
    }


def test_broken_packages_leave_the_other_models_alone(installed):
    """They are reported in the list, refused by name, and none of their code runs."""
    before = run().stdout
    for name, problem in (broken := broken_packages(installed)).items():
        with pytest.raises(DiscoparseError) as caught:
            find_model(name)
        assert problem in str(caught.value)
    assert run().stdout == before
    assert run().exit_code == 0
    for name, problem in broken.items():
        (line,) = [line for line in run().stderr.splitlines() if f"the installed model {name!r} cannot be used" in line]
        assert problem in line
    assert set(installed_models()) == {"en", "xx"}
    assert load("en", device="cpu").parse("The dog barks.")


def test_a_module_that_cannot_be_looked_up_is_no_model(installed, monkeypatch):
    """As one that a program made itself, without saying where it is from."""
    monkeypatch.setitem(sys.modules, "homemade", ModuleType("homemade"))
    installed.announce("a-homemade", "homemade = homemade")
    assert search_installed().problems == {
        "homemade": "there is no package homemade: install it again (from a-homemade)"
    }


def test_a_package_that_is_found_twice_is_one(installed, tmp_path, monkeypatch):
    """As where a folder on PYTHONPATH comes before the one that pip installs into: Python imports the first."""
    other = tmp_path / "other"
    shutil.copytree(installed.folder, other)
    (other / "discoparse_model_en-1.0.dist-info" / "entry_points.txt").write_text("[discoparse.models]\nen = older\n")
    paths = [str(installed.folder), str(other)]
    monkeypatch.setattr(discoparse.parser.finding, "distributions", partial(distributions, path=paths))
    assert search_installed().problems == {}
    assert installed_models()["en"].is_relative_to(installed.folder)


def test_a_damaged_model_is_listed_as_such(installed):
    (installed_models()["en"] / "config.json").write_text("{}")
    listed = run()
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["name", "xx"]
    assert "the installed model 'en' cannot be used" in listed.stderr
    assert "config.json is not what was written" in listed.stderr


def test_a_package_is_listed_under_the_name_it_is_found_by(installed):
    """Whatever the model called itself when it was trained."""
    assert [line.split()[0] for line in run().stdout.splitlines()] == ["name", "en", "xx"]
    assert load("en", device="cpu").info.name == "random"


@pytest.mark.parametrize("name", installed_models() or [None])
def test_installed_models_are_small_complete_and_work(name):
    """Each has a language, a licence, figures, a full card, is small for its kind, and gives trees for a sentence."""
    if name is None:
        pytest.skip("this installation has no models")
    listed = discoparse.parser.finding.describe_model(name)
    with_encoder = any(find_model(name).glob("encoder-*"))
    assert listed.size <= _LARGEST[with_encoder]
    assert max(file.stat().st_size for file in find_model(name).iterdir() if file.is_file()) < _LARGEST_FILE
    assert bool(listed.info.origins) == (with_encoder or "start" in listed.info.training)
    assert listed.info.name == name
    assert listed.info.language
    assert listed.info.treebanks
    assert listed.info.licence
    assert all(scores["f1"] > 50 and scores["pos"] > 80 for scores in listed.info.dev_sets.values())
    assert listed.info.data
    assert listed.info.notes
    assert listed.info.training["command"]
    assert listed.info.licence in run(name).stdout
    if with_encoder:
        pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
    (tree,) = load(find_model(name), device="cpu").parse("Hm , ( a ) .", lines=True)
    assert len(tree) == 6
