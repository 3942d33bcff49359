"""The card of a model: facts of a person, sizes and figures of the program; how this project's models are made."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import run_main
from project_models import project_facts
from tiny_models import SIZES, tiny_model, toy_treebank

from discoparse.evaluation import evaluate
from discoparse.files.sealed import encode_json, read_sealed, write_sealed
from discoparse.model.info import FILES, ModelInfo, model_directory, read_info
from discoparse.model.model import replace_info
from discoparse.model.names import PUBLISHED
from discoparse.parser.finding import load_parser
from discoparse.training.treebanks import set_name
from discoparse.treebank import read_trees, write_trees

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = str(ROOT / "scripts" / "make_model.sh")
QUICK = [*(f"--set={name}={value}" for name, value in SIZES.items()), "--epochs=1", "--threads=1", "--device=cpu"]
FACTS: dict[str, Any] = {
    "name": "toys",
    "language": "en",
    "licence": "CC0",
    "sources": {
        "news": {"name": "Toy News", "text": "Headlines", "licence": "CC BY 4.0", "attribution": "Cite A. Author"},
        "talk": {"name": "Toy Talk", "text": "Talk", "licence": "MIT", "attribution": "B. Body", "url": "http://a.b"},
    },
    "origins": [{"name": "Toy Encoder", "text": "Small", "licence": "Apache-2.0", "attribution": "By C. Coder"}],
    "good_for": ["dogs that saw maps"],
    "not_good_for": ["anything else"],
    "conventions": ["the period hangs from the root"],
}


def changed(**changes: Any) -> dict[str, Any]:
    """The facts with some fields changed; None takes one away."""
    return {name: value for name, value in {**FACTS, **changes}.items() if value is not None}


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    for seed, name in enumerate(["news", "talk"]):
        (tmp_path / name).mkdir()
        write_trees(toy_treebank(10 + seed, seed), tmp_path / name / "train.discbracket.gz")
        write_trees(toy_treebank(5 + seed, 7 + seed), tmp_path / name / "dev.discbracket.gz")
    return tmp_path


def train(treebanks: Path, facts: Any, *options: str) -> tuple[int, str, str]:
    """Train on both treebanks, the first of them twice, with these facts on the card."""
    card = treebanks / "facts.json"
    card.write_text(facts if isinstance(facts, str) else json.dumps(facts))
    train_files = [f"{treebanks}/{name}/train.discbracket.gz" for name in ("news", "news", "talk")]
    dev_files = [f"{treebanks}/{name}/dev.discbracket.gz" for name in ("news", "talk")]
    files = ["--train", *train_files, "--dev", *dev_files, "--output", str(treebanks / "out"), "--card", str(card)]
    return run_main("train", *files, *QUICK, "--quiet", *options)


def test_facts_sizes_figures_and_the_command_are_on_the_card(treebanks):
    """Everything that a user of the model must know, from the file and from the training."""
    status, _, errors = train(treebanks, FACTS, "--seed=3", "--json")
    assert status == 0, errors
    card = " ".join(run_main("models", str(treebanks / "out"))[1].split())
    tokens = sum(len(tree) for tree in toy_treebank(10, 0))
    assert f"**Toy News** (`news`): 10 sentences, {tokens} tokens for training, each counted 2 times." in card
    assert "**Toy Talk** (`talk`): 11 sentences" in card
    assert "## Started from - **Toy Encoder**. Licence: Apache-2.0. Small. By C. Coder. ## Figures" in card
    for stated in ("Licence: CC0", "CC BY 4.0", "Cite A. Author.", "http://a.b", *FACTS["good_for"]):
        assert stated in card
    assert card.index("anything else") < card.index("the period hangs from the root")
    command = card[card.index("discoparse train") : card.index("- Recipe")]
    assert "--train news/train.discbracket.gz news/train.discbracket.gz talk/train.discbracket.gz" in command
    assert "--set hidden=16" in command
    assert "--seed 3" in command
    assert "--json" not in command
    assert "Recipe: fast" in card
    assert "hidden 16" in card
    assert "cores" in card
    for name, content in read_sealed(model_directory(treebanks / "out"), FILES, "model").items():
        assert str(treebanks).encode() not in content, f"{name} tells where the files of this machine lie"


def test_every_development_set_has_figures_under_its_name(treebanks):
    """Those that an evaluation of each set alone gives, in metrics.json, on the card and in the list of models."""
    assert train(treebanks, FACTS)[0] == 0
    parser = load_parser(treebanks / "out")
    dev = read_info(treebanks / "out").metrics["dev"]
    assert list(dev["sets"]) == ["news", "talk"]
    assert dev["sentences"] == 11
    card = run_main("models", str(treebanks / "out"))[1]
    for name, figures in dev["sets"].items():
        gold = list(read_trees(treebanks / name / "dev.discbracket.gz"))
        scores = evaluate(gold, parser.parse_tokens([tree.words for tree in gold])).all
        assert figures["sentences"] == len(gold)
        assert figures["f1"] == pytest.approx(scores.f1 or 0)
        assert figures["disc_recall"] == pytest.approx(scores.disc.recall or 0)
        assert figures["pos"] == pytest.approx(scores.pos_accuracy)
        (row,) = [line for line in card.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {figures['pos']:.2f} |" in row
    (listed,) = json.loads(run_main("models", str(treebanks / "out"), "--json")[1])
    assert listed["figures"] == dev["sets"]
    assert [entry["times"] for entry in listed["data"]] == [2, 1]
    assert listed["notes"]["not_good_for"] == ["anything else"]


def test_options_have_the_last_word_and_may_replace_the_file(treebanks):
    """--name, --language and --licence prevail over the facts, and fill what these leave out."""
    options = ["--name=other", "--licence=MIT"]
    assert train(treebanks, changed(name=None, licence=None), *options)[0] == 0
    info = read_info(treebanks / "out")
    assert (info.name, info.language, info.licence) == ("other", "en", "MIT")
    assert info.treebanks == ("Toy News", "Toy Talk")
    (treebanks / "out").rename(treebanks / "before")
    assert train(treebanks, FACTS, "--language=is")[0] == 0
    info = read_info(treebanks / "out")
    assert (info.name, info.language, info.licence) == ("toys", "is", "CC0")


def test_without_facts_the_card_has_what_can_be_counted(treebanks):
    """No --card: sizes, figures and the command are there all the same."""
    files = ["--train", f"{treebanks}/news/train.discbracket.gz", "--dev", f"{treebanks}/talk/dev.discbracket.gz"]
    assert run_main("train", *files, "--output", str(treebanks / "out"), *QUICK, "--quiet")[0] == 0
    info = read_info(treebanks / "out")
    assert (info.name, info.licence, info.treebanks) == ("out", None, ("news/train.discbracket.gz",))
    card = run_main("models", str(treebanks / "out"))[1]
    assert "`news`: 10 sentences" in card
    assert "| `talk` | 6 |" in card


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ("{", "not JSON"),
        ("[]", "the file must be an object"),
        (changed(autor="me"), "unknown field autor; the fields are sources, good_for"),
        (changed(good_for=None, conventions=None), "field good_for, conventions is missing"),
        (changed(good_for="all"), "good_for must be a list of texts"),
        (changed(good_for=["all", 1]), "good_for[1] must be a text"),
        (changed(name=""), "name must be a text that is not empty"),
        (changed(sources={}), "sources must be an object with an entry for each treebank"),
        (changed(sources={"news": {}}), "field name, text, licence, attribution is missing in sources.news"),
        (changed(origins={}), "origins must be a list of objects"),
        (changed(origins=[{"name": "A"}]), "field text, licence, attribution is missing in origins[0]"),
        (changed(sources={"news": FACTS["sources"]["news"]}), "does not describe talk; it needs news, talk"),
        (changed(sources={**FACTS["sources"], "web": FACTS["sources"]["news"]}), "describes web, which this training"),
    ],
)
def test_facts_that_are_not_as_they_should_be_are_refused(treebanks, facts, message):
    """With the file and the field, before anything is trained."""
    status, _, errors = train(treebanks, facts)
    assert status == 1
    assert "facts.json: " in errors
    assert message in errors
    assert not (treebanks / "out").exists()


def test_a_card_needs_a_licence(treebanks):
    """From the file or from the option; and the file must be there."""
    status, _, errors = train(treebanks, changed(licence=None))
    assert status == 2
    assert "add it there, or give --licence" in errors
    status, _, errors = train(treebanks, FACTS, "--card=nowhere.json")
    assert status == 1
    assert "nowhere.json" in errors


def test_sets_are_named_by_file_or_folder(tmp_path, monkeypatch):
    """A file gets the same name from wherever it is looked at; files of one name are one set."""
    (tmp_path / "nl").mkdir()
    monkeypatch.chdir(tmp_path / "nl")
    names = [set_name(path) for path in ("dev.export", f"{tmp_path}/nl/train.more.export.gz", "../nl/test", "a.b.gz")]
    assert names == ["nl", "nl", "nl", "a"]


def test_a_saved_model_gets_a_new_card(tmp_path):
    """Facts and card change, the parser does not."""
    tiny_model(tmp_path / "m")
    sentences = [["dogs", "saw", "maps", "."]]
    before = load_parser(tmp_path / "m").parse_tokens(sentences)
    replace_info(tmp_path / "m", ModelInfo("renamed", "en", licence="CC0", notes={"good_for": ["cats"]}))
    parser = load_parser(tmp_path / "m")
    assert parser.parse_tokens(sentences) == before
    assert parser.info.name == "renamed"
    assert "## Good for\n\n- cats\n" in run_main("models", str(tmp_path / "m"))[1]


def test_models_from_before_the_fuller_card_still_work(tmp_path):
    """Format version 1 without the newer fields, and figures of several sets beside each other."""
    tiny_model(tmp_path / "m")
    files = read_sealed(tmp_path / "m", FILES, "model")
    config = json.loads(files["config.json"])
    for name in ("data", "notes", "training"):
        del config[name]
    metrics = {"dev": {"f1": 50.0}, "news": {"f1": 40.0, "disc_f1": 30.0, "pos": 90.0}}
    write_sealed(tmp_path / "m", {**files, "config.json": encode_json(config), "metrics.json": encode_json(metrics)})
    assert load_parser(tmp_path / "m").parse_tokens([["dogs"]])
    assert read_info(tmp_path / "m").dev_sets == metrics
    replace_info(tmp_path / "m", read_info(tmp_path / "m"))
    assert "| `news` | 40.00 | 30.00 | 90.00 |" in run_main("models", str(tmp_path / "m"))[1]


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_script_makes_the_models_of_this_project(tmp_path, name):
    """Its files, its options and the facts fit together: with toy treebanks a model with a full card comes out."""
    language, _, _ = name.partition("-")
    facts = project_facts(name)
    environment, quick = {**os.environ, "PYTHON": sys.executable}, QUICK
    if name == "en-large":
        pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
        from tiny_encoders import save_encoder

        environment["ENCODER"] = str(save_encoder("mpnet", tmp_path / "made" / "encoder"))
        quick = [*QUICK, "--set=encoder_layers=2"]
    elif facts.origins:
        environment |= toy_texts(tmp_path / "texts", language)
    first = ["en_silver"] if name == "en" else []  # what the model that it starts from had
    info = make_with_toys(tmp_path, name, [*facts.sources, *first], quick, environment)
    assert (info.name, info.language) == (name, language)
    assert {entry["set"] for entry in info.data} == set(facts.sources)
    assert info.notes == facts.notes
    assert list(info.origins) == facts.origins
    assert not any(str(tmp_path) in part for part in info.training["command"])
    assert set(info.dev_sets) <= set(facts.sources)
    if "TEXT" in environment:
        start, encoder_name = info.training["start"], "out-encoder"
        if first:
            assert start.startswith("the model en-first (en_masc, en_craft, en_silver")
            start, encoder_name = read_info(tmp_path / "out-first").training["start"], "out-first-encoder"
        assert start.startswith(f"the encoder {encoder_name} (")
        assert "tatoeba, commonvoice" in start
        encoder = json.loads((tmp_path / encoder_name / "encoder" / "config.json").read_text())
        kept = [part for part in encoder["training"]["command"] if part.startswith("--vocabulary-from")]
        assert len(kept) == 1
        assert all(name in kept[0] for name in facts.sources if not name.endswith("_silver"))


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("name", "settings"),
    [("de", {"epochs=50", "updates=7000"}), ("nl", {"updates=10000"}), ("is", {"epochs=40", "updates=6000"})],
)
def test_the_script_makes_teachers(name, settings, tmp_path):
    """They learn from gold trees alone: the silver ones are what they make. They have `settings` of their own."""
    environment = {**os.environ, "PYTHON": sys.executable, "TEACHER": "yes", **toy_texts(tmp_path / "texts", name)}
    treebanks = [treebank for treebank in project_facts(name).sources if not treebank.endswith("_silver")]
    info = make_with_toys(tmp_path, name, treebanks, QUICK, environment)
    assert {entry["set"] for entry in info.data} == set(treebanks)
    assert info.language == name
    assert settings <= {part.removeprefix("--set").strip(" =") for part in info.training["command"]}


def make_with_toys(
    folder: Path, name: str, treebanks: Iterable[str], options: Sequence[str], environment: Mapping[str, str]
) -> ModelInfo:
    """Run the script on toy treebanks in `folder`; what it made is in `folder/out`."""
    for treebank in treebanks:
        (folder / treebank).mkdir()
        for part in ("train", "dev"):
            write_trees(toy_treebank(4, 1), folder / treebank / f"{part}.discbracket.gz")
    command = ["bash", SCRIPT, name, str(folder), str(folder / "out"), *options, "--quiet"]
    made = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert made.returncode == 0, made.stderr
    return read_info(folder / "out")


def toy_texts(folder: Path, language: str) -> dict[str, str]:
    """Toy sentences as the text of every source that a model's encoder may read; the script's variables for it."""
    (folder / language).mkdir(parents=True)
    sources = "biomedical bundestag commonvoice errorcorpus europarl europarl2 laws micepahc novels plays tatoeba"
    for name in sources.split():
        lines = "".join(" ".join(tree.words) + "\n" for tree in toy_treebank(20, len(name)))
        (folder / language / f"{name}.txt.gz").write_bytes(gzip.compress(lines.encode()))
    sizes = [f"--set {size}={value}" for size, value in SIZES.items() if size != "scorer_hidden"]
    quick = ["--epochs=1 --device=cpu --threads=1 --quiet --set held_out=2", *sizes]
    return {"TEXT": str(folder), "PRETRAIN": " ".join(quick)}


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_script_has_the_settings_of_the_published_models(name, tmp_path):
    """Seed, settings, treebanks and texts, as their configurations say."""
    echo = tmp_path / "python"
    echo.write_text('#!/bin/sh\nprintf "%s\\n" "$@" ""\n')
    echo.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "PYTHON": str(echo), "TEXT": "text"}
    command = ["bash", SCRIPT, name, "treebanks", "out"]
    made = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    *pretraining, training = (part.split("\n") for part in made.stdout.rstrip("\n").split("\n\n"))
    info = read_info(ROOT / "models" / name / "src" / f"discoparse_model_{name.replace('-', '_')}")
    recorded = [part for line in info.training["command"] for part in line.split()]

    def stated(command: Sequence[str]) -> set[str]:
        return {value for option, value in pairwise(command) if option == "--set"}

    differing = {"is": {"min_frequency=2"}, "en-large": {"layers=0"}}  # see the script; the recipe had it then
    assert stated(training) - differing.get(name, set()) == stated(recorded)
    assert [value for option, value in pairwise(training) if option == "--seed"][-1] == str(info.training["seed"])
    trained = Counter(Path(value).parent.name for value in training if value.endswith("train.discbracket.gz"))
    assert set(trained) == {entry["set"] for entry in info.data}
    for entry in info.data:
        if not entry["set"].endswith("_silver"):
            assert trained[entry["set"]] == recorded.count(f"{entry['set']}/train.discbracket.gz")
    if pretraining:
        texts = [Path(value).name.removesuffix(".txt.gz") for value in pretraining[0] if value.startswith("text/")]
        assert f"({', '.join(texts)})" in info.training["start"]
    for first in pretraining[1:]:  # the training that it goes on from
        assert all(setting in info.training["start"] for setting in stated(first))


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_makes_no_teachers_of_english():
    environment = {**os.environ, "TEACHER": "yes", "TEXT": "text", "PYTHON": "false"}
    made = subprocess.run(["bash", SCRIPT, "en", "a", "b"], capture_output=True, text=True, env=environment)
    assert made.returncode == 2
    assert "the teacher of en is en-large" in made.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_asks_for_an_encoder_or_text(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name not in ("ENCODER", "TEXT")}
    made = subprocess.run(["bash", SCRIPT, "de", "a", str(tmp_path)], capture_output=True, text=True, env=environment)
    assert made.returncode == 2
    assert "set ENCODER to one, or TEXT to the folder of the text" in made.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_explains_itself(tmp_path):
    """Too few arguments, or a model that there is not."""
    for arguments, message in (
        ([], f"NAME is one of: {' '.join(sorted(PUBLISHED))}"),
        (["fr", "a", "b"], f"choose one of {' '.join(sorted(PUBLISHED))}"),
    ):
        made = subprocess.run(["bash", SCRIPT, *arguments], capture_output=True, text=True)
        assert made.returncode == 2
        assert message in made.stderr
