"""Models with right checksums and wrong contents: refused at once and in one sentence, whatever reads them."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import run_main
from handmade_models import edit, seal
from safetensors.torch import load_file, save_file
from tiny_models import tiny_model

from discoparse.errors import DiscoparseError
from discoparse.files.sealed import CHECKSUMS
from discoparse.model.info import FILES, ModelInfo, read_info
from discoparse.model.model import Model, load_model, replace_info, save_model
from discoparse.neural import network as network_module
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.shapes import parameter_shapes
from discoparse.parser.finding import load_parser

SENTENCES = [["what", "to", "do", "?"], ["x"]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "sound"
    tiny_model(path)
    return path


@pytest.fixture
def model(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def text(file: str, content: str | bytes) -> Callable[[Path], None]:
    """A file with another content."""

    def write(path: Path) -> None:
        (path / file).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        seal(path)

    return write


def field(file: str, value: Any, *keys: str) -> Callable[[Path], None]:
    """A JSON file with another value in one place."""

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return lambda path: edit(path, file, change)


def tensors(change: Callable[[dict[str, torch.Tensor]], None]) -> Callable[[Path], None]:
    """Other parameters."""

    def write(path: Path) -> None:
        parameters = load_file(path / "model.safetensors")
        change(parameters)
        save_file(parameters, path / "model.safetensors")
        seal(path)

    return write


def larger(count: float) -> Callable[[dict[str, torch.Tensor]], None]:
    """The parameters so many times as large."""

    def scale(parameters: dict[str, torch.Tensor]) -> None:
        for name, tensor in parameters.items():
            if tensor.is_floating_point():
                parameters[name] = tensor.float() * count

    return scale


def other_kind(make: Callable[[Path], None], file: str) -> Callable[[Path], None]:
    """Something that is not a file in place of one."""

    def replace(path: Path) -> None:
        (path / file).unlink()
        make(path / file)

    return replace


DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "1" + "0" * 5000
CONFIG, METRICS, VOCABULARY = "config.json", "metrics.json", "vocabulary.json"

# Whatever reads these is told.
ABOUT: dict[str, tuple[Callable[[Path], None], str]] = {
    "config is not JSON": (text(CONFIG, "{"), r"config\.json is not JSON"),
    "config is a list": (text(CONFIG, "[]"), "not that of a discoparse model"),
    "config is not UTF-8": (text(CONFIG, b'{"format": "\xff"}'), r"config\.json is not JSON as UTF-8"),
    "config is too deep": (text(CONFIG, DEEP), r"config\.json .*nested too deeply"),
    "config has long integers": (text(CONFIG, f'{{"format": {DIGITS}}}'), "limit .* digits|not that of"),
    "config is endless": (text(CONFIG, " " * 3_000_000), r"config\.json has 3,000,000 bytes, more than"),
    "config has NaN": (text(CONFIG, '{"format": NaN}'), "NaN is not JSON"),
    "format version is a list": (field(CONFIG, [2], "format_version"), "format_version must be a number"),
    "versions of a future model are a list": (
        lambda path: edit(path, CONFIG, lambda config: config.update(format_version=9, versions=["torch"])),
        "versions must be an object",
    ),
    "name is a number": (field(CONFIG, 3, "name"), "name must be a text"),
    "name is empty": (field(CONFIG, " ", "name"), "name must be one line"),
    "name has escapes": (field(CONFIG, "a\x1b[2J", "name"), "name has control characters"),
    "name has a surrogate": (field(CONFIG, "a\ud800", "name"), r"name has .*surrogates: 'a\\ud800'"),
    "a surrogate in UTF-8": (
        lambda path: text(CONFIG, (path / CONFIG).read_text().replace('"tiny"', '"\ud800"'))(path),
        "surrogates",
    ),
    "versions is a list": (field(CONFIG, ["torch"], "versions"), "versions must be an object"),
    "versions has numbers": (field(CONFIG, 3, "versions", "torch"), r"versions\.torch must be a text"),
    "language is a list": (field(CONFIG, ["nl"], "language"), "language must be a text"),
    "treebanks is a text": (field(CONFIG, "alpino", "treebanks"), "treebanks must be a list"),
    "treebanks has numbers": (field(CONFIG, [1], "treebanks"), r"treebanks\[0\] must be a text"),
    "licence is a number": (field(CONFIG, 1, "licence"), "licence must be a text"),
    "data is an object": (field(CONFIG, {}, "data"), "data must be a list"),
    "data lacks sizes": (field(CONFIG, [{"set": "a"}], "data"), r"data\[0\] lacks sentences, tokens, times"),
    "notes are a text": (field(CONFIG, "good", "notes"), "notes must be an object"),
    "training is a list": (field(CONFIG, [], "training"), "training must be an object"),
    "the command is a text": (field(CONFIG, {"command": "train"}, "training"), r"training\.command must be a list"),
    "the recipe is deep": (field(CONFIG, json.loads("[" * 30 + "]" * 30), "recipe", "x"), r"deeply in recipe\.x"),
    "a number is too large": (
        field(CONFIG, 10**400, "recipe", "epochs"),
        r"recipe\.epochs must be a number of at most",
    ),
    "no treebanks": (
        lambda path: edit(path, CONFIG, lambda config: config.pop("treebanks") and None),
        "lacks treebanks",
    ),
    "metrics is not JSON": (text(METRICS, "dev"), r"metrics\.json is not JSON"),
    "metrics is a list": (text(METRICS, "[1]"), "the file must be an object"),
    "metrics of dev is a number": (text(METRICS, '{"dev": 80.5}'), "dev must be an object"),
    "a score beside dev is a text": (text(METRICS, '{"news": {"f1": "good"}}'), r": news\.f1 must be a number"),
    "a score of a set is a text": (text(METRICS, '{"dev": {"sets": {"a": {"pos": []}}}}'), r"sets\.a\.pos must be"),
    "a score is a text": (text(METRICS, '{"dev": {"f1": "good"}}'), r"dev\.f1 must be a number"),
    "a score is infinite": (text(METRICS, '{"dev": {"f1": 1e999}}'), r"dev\.f1 must be a number of at most"),
    "a score is NaN": (text(METRICS, '{"dev": {"f1": NaN}}'), "NaN is not JSON"),
    "sets is a list": (text(METRICS, '{"dev": {"f1": 1, "sets": [3]}}'), r"dev\.sets must be an object"),
    "a set is a number": (text(METRICS, '{"dev": {"sets": {"a": 3}}}'), r"dev\.sets\.a must be an object"),
}
# Whatever loads these is told.
WORKING: dict[str, tuple[Callable[[Path], None], str]] = {
    "no network": (
        lambda path: edit(path, CONFIG, lambda config: config.pop("network") and None),
        "network must be an object",
    ),
    "the network is a list": (field(CONFIG, [], "network"), "network must be an object"),
    "no words in the network": (
        lambda path: edit(path, CONFIG, lambda config: config["network"].pop("words") and None),
        "network lacks words",
    ),
    "a million layers": (
        field(CONFIG, 10**6, "network", "layers"),
        r"network\.layers must be a whole number up to 100$",
    ),
    "a hundred layers": (field(CONFIG, 100, "network", "layers"), r"encoder\.layers\.10\..* is missing"),
    "no layers": (field(CONFIG, 0, "network", "layers"), r"encoder\.projection\.bias is missing"),
    "20,000 units": (field(CONFIG, 20_000, "network", "hidden"), "instead of"),
    "more units than can be": (
        field(CONFIG, 10**9, "network", "scorer_hidden"),
        "must be a whole number up to 10,000,000$",
    ),
    "a negative size": (field(CONFIG, -3, "network", "word_size"), r"network\.word_size must be a whole number"),
    "no units": (field(CONFIG, 0, "network", "hidden"), r"config\.json .*: a network of these sizes cannot be made"),
    "a scorer without units": (field(CONFIG, 0, "network", "scorer_hidden"), "a network of these sizes cannot be made"),
    "half a unit": (field(CONFIG, 2.5, "network", "hidden"), r"network\.hidden must be a whole number"),
    "true as a size": (field(CONFIG, True, "network", "word_size"), r"network\.word_size must be a whole number"),
    "a size for a flag": (field(CONFIG, 1, "network", "chains"), r"network\.chains must be true or false"),
    "no chains": (field(CONFIG, False, "network", "chains"), r"the network has no scorers\.above_given"),
    "the vocabulary is a list": (text(VOCABULARY, "[]"), r"vocabulary\.json .*the file must be an object"),
    "the vocabulary is too deep": (text(VOCABULARY, DEEP), r"vocabulary\.json .*nested too deeply"),
    "words are an object": (field(VOCABULARY, {}, "words"), "words must be a list of strings"),
    "words are numbers": (field(VOCABULARY, [1, 2], "words"), "words must be a list of strings"),
    "a word is a list": (field(VOCABULARY, [["a"]], "words"), "words must be a list of strings"),
    "words added somewhere": (field(VOCABULARY, ["a"], "added"), "added must be a list of whole numbers"),
    "words added between words": (field(VOCABULARY, [0.5], "added"), "added must be a list of whole numbers"),
    "words added before all": (field(VOCABULARY, [-1], "added"), "added must be a list of whole numbers"),
    "fewer words": (field(VOCABULARY, ["a"], "words"), "the vocabulary makes 2 words, the network has"),
    "no labels": (field(VOCABULARY, [], "labels"), "labels must be a list .* not empty"),
    "no labels and a network for that": (
        lambda path: (field(VOCABULARY, [], "labels")(path), field(CONFIG, 1, "network", "labels")(path)),
        "labels must be a list .* not empty",
    ),
    "a chain without labels": (
        lambda path: edit(path, VOCABULARY, lambda names: names["labels"].__setitem__(1, [])),
        r"labels\[1\] is empty",
    ),
    "a label is a number": (
        lambda path: edit(path, VOCABULARY, lambda names: names["labels"].__setitem__(0, [1])),
        r"labels\[0\] must be a list of strings",
    ),
    "a label is a surrogate": (
        lambda path: edit(path, VOCABULARY, lambda names: names["labels"].__setitem__(0, ["\ud800"])),
        r"labels\[0\] has lone surrogates: '\\ud800'",
    ),
    "a tag is a surrogate": (
        lambda path: edit(path, VOCABULARY, lambda names: names["tags"].__setitem__(0, "\udfff")),
        "tags has lone surrogates",
    ),
    "no tags": (field(VOCABULARY, [], "tags"), "tags is empty"),
    "rare is a text": (field(VOCABULARY, "many", "rare"), "rare must be a number"),
    "weights of 1e36": (tensors(larger(1e37)), "not numbers, or larger than 1e"),
    "weights of 1e7": (tensors(larger(1e9)), "not numbers, or larger than 1e"),
    "parameters of other networks": (
        tensors(lambda parameters: parameters.update(more=torch.zeros(3_000_000))),
        r"model\.safetensors has 12,\d+,\d+ bytes, more than",
    ),
    "more parameters": (tensors(lambda parameters: parameters.update(more=torch.zeros(3))), "the network has no more"),
    "parameters of another type": (
        tensors(lambda parameters: parameters.update({"scorers.nil": torch.zeros(32, dtype=torch.complex64)})),
        r"scorers\.nil is missing",
    ),
}


def loads_quickly(path: Path) -> Model:
    """Loads a model without ever taking memory for a network much larger than the sound one."""
    made = Network.__init__

    def make(self: Network, config: NetworkConfig, *arguments: Any) -> None:
        taken = 0 if torch.get_default_device().type == "meta" else config.hidden * config.layers
        assert taken <= 1000, "the network was made before its sizes were checked"
        made(self, config, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network_module.Network, "__init__", make)
        return load_model(path)


@pytest.mark.parametrize("defect", ABOUT)
def test_what_a_model_says_about_itself_is_checked(model, defect):
    """By everything that reads it: loading, the list and the card."""
    make, message = ABOUT[defect]
    make(model)
    for read in (loads_quickly, read_info):
        with pytest.raises(DiscoparseError, match=message) as caught:
            read(model)
        assert str(caught.value).startswith(str(model))
        assert len(str(caught.value)) < 500
    status, output, errors = run_main("models", str(model), "--json")
    assert (status, output) == (1, "")
    assert errors.startswith("discoparse: ")
    assert "Traceback" not in errors


@pytest.mark.parametrize("defect", WORKING)
def test_a_model_that_cannot_work_is_not_loaded(model, defect):
    """Sizes are compared before memory is taken."""
    make, message = WORKING[defect]
    make(model)
    with pytest.raises(DiscoparseError, match=message) as caught:
        loads_quickly(model)
    assert str(caught.value).startswith(str(model))
    assert len(str(caught.value)) < 500
    status, output, errors = run_main("parse", "--model", str(model), "text")
    assert (status, output) == (1, "")
    assert errors.startswith("discoparse: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
@pytest.mark.parametrize("file", [*FILES, CHECKSUMS])
@pytest.mark.parametrize("kind", ["fifo", "device", "directory", "socket"])
def test_only_regular_files_are_opened(model, file, kind):
    """A FIFO would wait for a writer without end, a device has no end."""
    make: dict[str, Callable[[Path], None]] = {
        "fifo": os.mkfifo,
        "device": lambda path: path.symlink_to("/dev/zero"),
        "directory": Path.mkdir,
        "socket": lambda path: path.symlink_to("/dev/null"),
    }
    other_kind(make[kind], file)(model)
    answers: list[BaseException | object] = []

    def ask() -> None:
        for read in (load_model, read_info):
            try:
                answers.append(read(model))
            except BaseException as error:
                answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(60)
    assert len(answers) == 2, "it waits"
    for answer in answers:
        assert isinstance(answer, DiscoparseError)
        assert f"{file} is not a regular file" in str(answer)


def test_links_to_files_are_files(model, tmp_path):
    """Caches and package managers keep files elsewhere."""
    (model / "model.safetensors").rename(tmp_path / "blob")
    (model / "model.safetensors").symlink_to(tmp_path / "blob")
    assert load_parser(model).parse_tokens(SENTENCES)


def test_a_damaged_card_is_not_shown(model):
    """Its checksum is looked at, and one that was sealed by hand must be text."""
    (model / "README.md").write_bytes(b"\xff\xfe")
    assert "README.md is not what was written" in run_main("models", str(model))[2]
    seal(model)
    assert "README.md is not a text as UTF-8" in run_main("models", str(model))[2]
    (model / "README.md").write_text("# \x1b]0;title\x07")
    seal(model)
    status, output, errors = run_main("models", str(model))
    assert (status, output) == (1, "")
    assert "control characters" in errors
    (model / "README.md").write_text("a\n\tb – c\n")
    seal(model)
    assert run_main("models", str(model))[1] == "a\n\tb – c\n"


def test_a_huge_card_is_not_read(model):
    with open(model / "README.md", "wb") as stream:
        stream.truncate(1 << 40)  # takes no space on the disk
    status, _, errors = run_main("models", str(model))
    assert status == 1
    assert "README.md has 1,099,511,627,776 bytes, more than" in errors


def test_huge_parameters_are_not_read(model):
    with open(model / "model.safetensors", "r+b") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(DiscoparseError, match=r"model\.safetensors has 1,099,511,627,776 bytes, more than"):
        load_model(model)


def test_parameters_as_large_as_allowed_give_scores(model):
    """The limit on parameters is low enough: nothing overflows, and every sentence has a tree."""
    tensors(larger(1.0))(model)
    parameters = load_file(model / "model.safetensors")
    largest = {
        name: torch.full(shape, 1e6) * (-1) ** torch.arange(shape[0]).view(-1, *[1] * (len(shape) - 1))
        for name, shape in parameter_shapes(load_model(model).network.config).items()
    }
    save_file(largest, model / "model.safetensors")
    seal(model)
    trees = load_parser(model).parse_tokens([*SENTENCES, ["a"] * 40])
    assert [len(tree) for tree in trees] == [4, 1, 40]
    assert parameters.keys() != largest.keys(), "those were packed, these are not"
    for tree in trees:
        probabilities = [node.probability for node in tree.preorder()]
        assert all(p is None or 0 <= p <= 1 for p in probabilities)


def test_what_cannot_be_shown_is_replaced_when_a_model_is_saved(tmp_path):
    """Names of files that are not UTF-8, and scores of a training that diverged."""
    tiny_model(tmp_path / "m")
    dev = {"f1": float("nan"), "epoch": 3, "seconds": float("inf")}
    info = ModelInfo("caf\udce9", treebanks=("a\x07/b",), metrics={"dev": dev}, notes={"good_for": ["two\nlines"]})
    replace_info(tmp_path / "m", info)
    kept = read_info(tmp_path / "m")
    assert (kept.name, kept.treebanks) == ("caf\ufffd", ("a\ufffd/b",))
    assert kept.metrics == {"dev": {"f1": None, "epoch": 3, "seconds": None}}
    assert kept.notes == info.notes
    assert run_main("models", str(tmp_path / "m"))[0] == 0


def test_models_of_later_versions_may_say_more(model):
    """As long as the format version is one that is known."""
    edit(model, CONFIG, lambda config: config.update(trees=["a"], training={"temperature": [3, None]}))
    edit(model, METRICS, lambda metrics: metrics["dev"].update(device="cpu", runs=[1, 2], sets={"a": {"kind": "news"}}))
    edit(model, METRICS, lambda metrics: metrics.update(seeds=[1, 2], by="me"))
    assert load_model(model).info.metrics["seeds"] == [1, 2]
    assert run_main("models", str(model), "--json")[0] == 0
    replace_info(model, read_info(model))


def test_a_vocabulary_that_could_not_be_loaded_is_not_saved(tmp_path):
    network, vocabulary = tiny_model(tmp_path / "m")
    vocabulary.tags[0] = "\ud800"
    with pytest.raises(DiscoparseError, match="tags has lone surrogates"):
        save_model(tmp_path / "m", network.state_dict(), network.config, vocabulary, ModelInfo("m"))
    assert load_model(tmp_path / "m").info.name == "tiny"


def test_trees_with_odd_labels_can_be_learnt_and_loaded(tmp_path):
    """What treebanks with a wrong encoding have is no reason to refuse the model."""
    network, vocabulary = tiny_model(tmp_path / "m")
    vocabulary.labels[0] = ("N\x85P",)
    vocabulary.tags[0] = "\x92"
    save_model(tmp_path / "m", network.state_dict(), network.config, vocabulary, ModelInfo("m"))
    assert load_model(tmp_path / "m").vocabulary == vocabulary
    assert load_parser(tmp_path / "m").parse_tokens(SENTENCES)
