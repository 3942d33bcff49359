"""A model's directory: what is saved is what is loaded, and what is damaged never gives a tree."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from handmade_models import seal
from safetensors.torch import load_file, save_file
from tiny_models import example_trees, tiny_model, tiny_recipe

from discoparse.errors import DiscoparseError
from discoparse.files.atomic import replace_directory
from discoparse.files.sealed import CHECKSUMS
from discoparse.model.info import FILES, ModelInfo, read_info
from discoparse.model.model import replace_info, save_model
from discoparse.model.packing import pack, unpack
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.finding import load_parser
from discoparse.training.loop import make_network
from discoparse.treebank.discbracket import format_tree

SENTENCES = [["what", "to", "do", "?"], ["Neverseen", "ж"], ["hann"]]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    tiny_model(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_parses_as_the_saved_one_and_says_what_it_is(tmp_path):
    """Parameters come back as they are kept, with vocabulary, metrics and facts."""
    network, vocabulary = tiny_model(tmp_path / "m")
    parser = load_parser(tmp_path / "m")
    assert parser.vocabulary == vocabulary
    for name, parameter in network.state_dict().items():
        loaded = parser.network.state_dict()[name]
        assert loaded.dtype == torch.float32
        assert torch.equal(loaded, unpack(pack({name: parameter}))[name])
        torch.testing.assert_close(loaded, parameter, atol=1e-3, rtol=1e-3)
    kinds = {tensor.dtype for tensor in load_file(tmp_path / "m" / "model.safetensors").values()}
    assert kinds == {torch.int8, torch.float32, torch.float16}
    trees = parser.parse_tokens(SENTENCES)
    assert [tree.words for tree in trees] == SENTENCES
    assert parser.info == read_info(tmp_path / "m")
    assert parser.info is not None
    assert (parser.info.name, parser.info.language, parser.info.treebanks) == ("tiny", "en", ("examples",))
    assert parser.info.metrics == {"dev": {"f1": 12.5, "sentences": 7}}
    assert parser.info.versions["torch"] == torch.__version__
    assert "# tiny" in (tmp_path / "m" / "README.md").read_text()


def test_loading_leaves_the_random_numbers_alone(model):
    """Who loads a model in the middle of an experiment gets the same experiment."""
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    load_parser(model)
    assert torch.equal(torch.rand(4), expected)


def test_the_checksums_are_those_of_sha256sum(model):
    """Users can check a model without the program."""
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    subprocess.run(["sha256sum", "--check", "--strict", CHECKSUMS], cwd=model, check=True, capture_output=True)


@pytest.mark.parametrize("name", [*FILES, CHECKSUMS])
def test_a_corrupted_file_never_gives_a_tree(model, name):
    """Bytes flipped anywhere, a file cut off, extended, emptied or gone: always an error that names the place."""
    path = model / name
    content = path.read_bytes()
    chance = random.Random(name)
    damaged = [content[: chance.randrange(len(content))] for _ in range(5)] + [b"", content + b"\n", content + b"x"]
    for _ in range(40):
        place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
        damaged.append(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
    for version in damaged:
        path.write_bytes(version)
        with pytest.raises(DiscoparseError, match="model") as caught:
            load_parser(model)
        assert str(model) in str(caught.value)
    path.unlink()
    with pytest.raises(DiscoparseError, match=f"{name} is missing"):
        load_parser(model)


def test_files_that_changed_places_are_refused(model, tmp_path):
    """A file of another model, or another file of the same."""
    tiny_model(tmp_path / "other", seed=1)
    original = (model / "model.safetensors").read_bytes()
    shutil.copy(tmp_path / "other" / "model.safetensors", model / "model.safetensors")
    with pytest.raises(DiscoparseError, match=r"model\.safetensors is not what was written"):
        load_parser(model)
    (model / "model.safetensors").write_bytes((model / "config.json").read_bytes())
    (model / "config.json").write_bytes(original)
    with pytest.raises(DiscoparseError, match="not what was written"):
        load_parser(model)


def change_config(path: Path, **changes: object) -> None:
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, **changes}))
    seal(path)


def test_what_is_not_understood_is_refused(model):
    """Even with checksums that fit: other formats, newer versions, networks of another make."""
    network = json.loads((model / "config.json").read_text())["network"]
    for changes, message in [
        ({"format_version": 5}, "format version 5"),
        ({"format": "something else"}, "not that of a discoparse model"),
        ({"network": {**network, "attention": 8}}, "attention"),
        ({"network": {**network, "hidden": "many"}}, r"network\.hidden must be a whole number"),
        ({"network": {**network, "words": 5}}, "words"),
        ({"network": {**network, "hidden": 20}}, "instead of"),
        ({"treebanks": None}, "treebanks must be a list"),
    ]:
        before = (model / "config.json").read_bytes()
        change_config(model, **changes)
        with pytest.raises(DiscoparseError, match=message):
            load_parser(model)
        (model / "config.json").write_bytes(before)
    seal(model)
    load_parser(model)


@pytest.mark.parametrize(("tag_both", "version"), [(False, 2), (True, 4)])
def test_only_models_that_need_it_have_a_newer_version(tmp_path, tag_both, version):
    """So that older programs read the others."""
    recipe = tiny_recipe(min_frequency=1, tag_both=tag_both)
    vocabulary = Vocabulary.from_trees(example_trees(), recipe.chains, 1)
    network = make_network(recipe, vocabulary)
    save_model(tmp_path, network.state_dict(), network.config, vocabulary, ModelInfo("tiny", "en"))
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["format_version"] == version
    assert config["network"].get("tag_both", False) == tag_both == ("tag_both" in config["network"])
    assert load_parser(tmp_path).network.config == network.config


def test_models_of_the_first_version_are_read_and_stay_of_it(tmp_path):
    """All their parameters are in half precision; a new card does not change that."""
    network, _ = tiny_model(tmp_path)
    save_file({name: tensor.half() for name, tensor in network.state_dict().items()}, tmp_path / "model.safetensors")
    change_config(tmp_path, format_version=1)
    replace_info(tmp_path, dataclasses.replace(read_info(tmp_path), name="other"))
    assert json.loads((tmp_path / "config.json").read_text())["format_version"] == 1
    parser = load_parser(tmp_path)
    assert parser.info is not None
    assert parser.info.name == "other"
    for name, parameter in network.state_dict().items():
        assert torch.equal(parser.network.state_dict()[name], parameter.half().float())


LARGE = "scorers.pair_input.weight"  # stored in eight bits


@pytest.mark.parametrize(
    "defect",
    [
        "missing",
        "extra",
        "shape",
        "nan",
        "rubbish",
        "no factors",
        "nan factors",
        "one factor",
        "short",
        "wide",
        "vector",
    ],
)
def test_wrong_tensors_are_refused(model, defect):
    """Parameters are exactly those of the network, or the model is not used."""
    path = model / "model.safetensors"
    tensors = load_file(path)
    if defect == "missing":
        del tensors["scorers.nil"]
    elif defect == "extra":
        tensors["scorers.more"] = torch.zeros(3)
    elif defect == "shape":
        tensors["scorers.nil"] = tensors["scorers.nil"][1:].clone()
    elif defect == "nan":
        tensors["scorers.nil"][3] = torch.nan
    elif defect == "no factors":
        del tensors[LARGE + ".scale"]
    elif defect == "nan factors":
        tensors[LARGE + ".scale"][3] = torch.nan
    elif defect == "one factor":
        tensors[LARGE + ".scale"] = tensors[LARGE + ".scale"][:1].clone()
    elif defect == "short":
        tensors[LARGE + ".scale"] = tensors[LARGE + ".scale"].to(torch.int8)
    elif defect == "wide":
        tensors[LARGE] = tensors[LARGE].long()
    elif defect == "vector":
        tensors["scorers.pair_hidden.weight"] = torch.ones(16, dtype=torch.int8)
        tensors["scorers.pair_hidden.weight.scale"] = torch.ones(16, 1)
    save_file(tensors, path)
    if defect == "rubbish":
        path.write_bytes(b"\x80\x04cos\nsystem\n")  # a pickle would run this
    seal(model)
    message = {"nan": "not numbers", "nan factors": "not numbers", "rubbish": "cannot be read"}.get(defect, "scorers")
    with pytest.raises(DiscoparseError, match=message):
        load_parser(model)


def test_a_place_without_a_model(tmp_path):
    """A folder that is not there, a file, and a folder of something else."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for name in ("nowhere", "file", "folder"):
        with pytest.raises(DiscoparseError, match="model"):
            load_parser(tmp_path / name)


def test_an_interrupted_replacement_leaves_the_old_model(model, monkeypatch):
    """Whatever moment the program dies at, the directory holds the old model or the new one."""
    really, left = os.rename, 0

    def rename(*arguments: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        really(*arguments)

    monkeypatch.setattr(os, "rename", rename)
    parser = load_parser(model)
    for allowed in (0, 1):
        left = allowed
        with pytest.raises(KeyboardInterrupt):
            save_model(model, parser.network.state_dict(), parser.network.config, parser.vocabulary, ModelInfo("new"))
        assert read_info(model).name == "tiny"
        assert read_info(model.parent).name == "tiny"  # found through the output directory, too
    left = 2
    save_model(model, parser.network.state_dict(), parser.network.config, parser.vocabulary, ModelInfo("new"))
    assert read_info(model).name == "new"
    assert sorted(path.name for path in model.parent.iterdir()) == ["model"]


def test_words_of_any_kind_survive(tmp_path):
    """Line breaks, quotes, other scripts and lone surrogates are words like others."""
    network, vocabulary = tiny_model(tmp_path / "m")
    odd = ["a\nb", '"', "\\", "語", "\ud800", "\x00", "\u2028"]
    vocabulary.words[: len(odd)] = odd
    save_model(tmp_path / "m", network.state_dict(), network.config, vocabulary, ModelInfo("odd"))
    assert load_parser(tmp_path / "m").vocabulary.words[: len(odd)] == odd


def test_reading_about_a_model_does_not_load_pytorch(model):
    """`discoparse models` must be quick."""
    code = (
        "import sys; from discoparse.model.info import read_info; read_info(sys.argv[1]); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(model)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_else_lies_in_the_directory_stays_there(tmp_path):
    """Notes that somebody put beside a model survive when the model is replaced; its own files do not."""
    replace_directory(tmp_path / "m", {"a": b"1"})
    (tmp_path / "m" / "notes.txt").write_text("mine")
    (tmp_path / "m" / "folder").mkdir()
    (tmp_path / "m" / "folder" / "more").write_text("mine")
    replace_directory(tmp_path / "m", {"a": b"2"})
    assert (tmp_path / "m" / "a").read_bytes() == b"2"
    assert (tmp_path / "m" / "notes.txt").read_text() == (tmp_path / "m" / "folder" / "more").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_equal_models_give_equal_trees(model, tmp_path):
    """A copy of the directory is the same model."""
    shutil.copytree(model, tmp_path / "copy")
    trees = [load_parser(path).parse_tokens(SENTENCES) for path in (model, tmp_path / "copy")]
    assert [format_tree(tree) for tree in trees[0]] == [format_tree(tree) for tree in trees[1]]
