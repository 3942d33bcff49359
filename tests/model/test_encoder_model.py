"""Models with a pretrained encoder are models: saved, sealed, loaded, pickled, packaged; damaged ones are refused."""

from __future__ import annotations

import dataclasses
import json
import pickle
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.modules.module as torch_module
from random_model import random_parser

import discoparse.model.model
from discoparse.errors import DiscoparseError
from discoparse.files.sealed import CHECKSUMS, write_sealed
from discoparse.model.checks import expected_shapes
from discoparse.model.info import ModelInfo
from discoparse.model.model import load_model, replace_info, save_model
from discoparse.neural.decoder import BATCH_PIECES, BATCH_TOKENS
from discoparse.neural.network import Network
from discoparse.parser.finding import load_parser
from discoparse.parser.parser import Parser

pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from tiny_encoders import save_encoder

from discoparse.neural import unfilled
from discoparse.neural.pretrained import read_pretrained
from discoparse.neural.unfilled import transformer_of

SENTENCES = [["The", "dog", "barks", "."], ["What"], ["unbelievably", "old", "cats", "(", "Привет", ")"] * 12]


def encoder_parser(folder, architecture: str = "bert", **sizes) -> Parser:
    """A parser with random parameters but those of the encoder."""
    plain = random_parser()
    config, pieces, parameters, _ = read_pretrained(save_encoder(architecture, folder), pooling="mean")
    torch.manual_seed(1)
    network = Network(dataclasses.replace(plain.network.config, pretrained=config, **sizes))
    network.encoder.pretrained.transformer.load_state_dict(parameters)
    vocabulary = dataclasses.replace(plain.vocabulary, pieces=pieces)
    return Parser(network, vocabulary, info=ModelInfo("tiny", "en", ("three sentences",), "MIT"))


def save(path, parser: Parser) -> None:
    save_model(path, parser.network.state_dict(), parser.network.config, parser.vocabulary, parser.info)


@pytest.fixture(scope="module")
def parser(tmp_path_factory) -> Parser:
    return encoder_parser(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def model(tmp_path, parser, monkeypatch):
    monkeypatch.setattr(discoparse.model.model, "_LARGEST_FILE", 2000)  # several files
    save(tmp_path / "m", parser)
    return tmp_path / "m"


def test_what_is_saved_is_loaded(model, parser):
    """Up to the rounding of storage, which saving again does not change."""
    files = {path.name for path in model.iterdir()}
    assert {"tokenizer.json", "encoder-1.safetensors", "encoder-2.safetensors"} <= files
    loaded = load_parser(model)
    assert loaded.vocabulary == parser.vocabulary
    assert loaded.network.config == parser.network.config
    for name, tensor in parser.network.state_dict().items():
        torch.testing.assert_close(loaded.network.state_dict()[name], tensor, atol=0.02, rtol=0.02)
    save(model.with_name("again"), loaded)
    again = load_parser(model.with_name("again"))
    assert [str(tree) for tree in again.parse_tokens(SENTENCES)] == [str(t) for t in loaded.parse_tokens(SENTENCES)]


def test_trees_do_not_depend_on_the_company(model):
    """One by one, together and pickled: the same trees, long sentences in windows included."""
    parser = load_parser(model)
    together = [str(tree) for tree in parser.parse_tokens(SENTENCES)]
    assert [str(tree) for words in SENTENCES for tree in parser.parse_tokens([words])] == together
    copy = pickle.loads(pickle.dumps(parser))
    assert [str(tree) for tree in copy.parse_tokens(SENTENCES)] == together


def test_facts_can_be_replaced(model):
    before = [str(tree) for tree in load_parser(model).parse_tokens(SENTENCES)]
    replace_info(model, ModelInfo("other", "nl", (), "MIT"))
    assert load_model(model).info.name == "other"
    assert [str(tree) for tree in load_parser(model).parse_tokens(SENTENCES)] == before


@pytest.mark.parametrize("sizes", [{"layers": 0}, {"word_size": 0}, {"character_size": 0}])
def test_without_parts_of_our_own(tmp_path, sizes):
    """Bi-LSTM layers, word embeddings and characters can be left out."""
    parser = encoder_parser(tmp_path / "encoder", **sizes)
    save(tmp_path / "m", parser)
    loaded = load_parser(tmp_path / "m")
    assert len(loaded.network.state_dict()) < len(random_parser().network.state_dict()) + len(
        parser.network.encoder.pretrained.state_dict()
    ) + 2 * (sizes == {"layers": 0})
    assert len(loaded.parse_tokens(SENTENCES)) == len(SENTENCES)


@pytest.mark.parametrize("file", ["tokenizer.json", "encoder-2.safetensors"])
def test_damaged_files_are_refused(model, file):
    content = (model / file).read_bytes()
    (model / file).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DiscoparseError, match="checksum"):
        load_model(model)
    (model / file).unlink()
    with pytest.raises(DiscoparseError, match="is missing"):
        load_model(model)


def sealed_again(model, **changes) -> None:
    """Other contents with right checksums; None leaves a file out."""
    files = {path.name: path.read_bytes() for path in model.iterdir() if path.name != CHECKSUMS}
    for name, change in changes.items():
        (file,) = (known for known in files if known.startswith(name))
        if change is None:
            del files[file]
        else:
            files[file] = change(files[file])
    for path in model.iterdir():
        path.unlink()
    write_sealed(model, files)


def changed_config(**changes):
    def change(content: bytes) -> bytes:
        config = json.loads(content)
        for name, value in changes.items():
            target, path = config["network"]["pretrained"], name.split("__")
            for part in path[:-1]:
                target = target[part]
            target[path[-1]] = value
        return json.dumps(config).encode()

    return change


def changed_tokenizer(change):
    def changed(content: bytes) -> bytes:
        tokenizer = json.loads(content)
        change(tokenizer)
        return json.dumps(tokenizer).encode()

    return changed


DAMAGED_MAP = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}  # at which the library panics
NO_LENGTH = {"type": "FixedLength", "length": 0}  # as here, when it cuts a word


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer": None},
        {"encoder-2": None},
        {"tokenizer": lambda content: b"nonsense"},
        {"tokenizer": lambda content: b"{}"},
        {"encoder-1": lambda content: b"nonsense"},
        {"config": changed_config(transformer__model_type="nonsense")},
        {"config": changed_config(transformer__model_type=None)},
        {"config": changed_config(transformer__num_hidden_layers=10**6)},
        {"config": changed_config(transformer__hidden_size=10**12)},
        {"config": changed_config(transformer__hidden_size=32)},
        {"config": changed_config(transformer__vocab_size=3)},
        {"config": changed_config(transformer={})},
        {"config": changed_config(size=10)},
        {"config": changed_config(pooling="sum")},
        {"config": changed_config(pieces__window=2)},
        {"config": changed_config(pieces__prefix=[10**6])},
        {"config": changed_config(pieces={})},
        {"config": changed_config(surprise=1)},
        {"config": changed_config(transformer__hidden_size="x")},
        {"config": changed_config(transformer__get_text_config=1)},
        {"config": changed_config(pieces__window=1000)},
        {"tokenizer": changed_tokenizer(lambda tokenizer: tokenizer.update(normalizer=DAMAGED_MAP))},
        {"tokenizer": changed_tokenizer(lambda tokenizer: tokenizer.update(pre_tokenizer=NO_LENGTH))},
        {"tokenizer": changed_tokenizer(lambda tokenizer: tokenizer["model"].update(unk_token="nothing"))},
    ],
)
def test_hand_made_models_are_refused(model, changes):
    sealed_again(model, **changes)
    with pytest.raises(DiscoparseError):
        load_model(model)


@pytest.mark.parametrize(
    "settings",
    [
        {"return_dict": False},
        {"chunk_size_feed_forward": 7},
        {"dtype": "nonsense"},
        {"id2label": 5},
        {"num_labels": 10**7},
        {"attn_implementation": "kernels-community/flash-attn2"},
    ],
)
def test_what_does_not_change_the_vectors_is_not_listened_to(model, parser, settings):
    """How the library computes is ours to say: some of it would be fetched, or take minutes."""
    expected = [str(tree) for tree in load_parser(model).parse_tokens(SENTENCES)]
    sealed_again(model, config=changed_config(**{f"transformer__{name}": value for name, value in settings.items()}))
    assert [str(tree) for tree in load_parser(model).parse_tokens(SENTENCES)] == expected


@pytest.mark.parametrize(
    "transformer", [{"model_type": "edgetam"}, {"model_type": "dpt", "backbone": "somebody/something"}]
)
def test_nothing_is_fetched(model, monkeypatch, transformer):
    """Architectures that have a part from the hub by default, or by a setting."""
    asked = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: asked.append(address) or [])
    sealed_again(model, config=changed_config(transformer=transformer))
    with pytest.raises(DiscoparseError, match=r"config\.json is not that of a working model"):
        load_model(model)
    assert not asked


def test_layers_by_any_name_are_limited():
    """Each architecture has its own; a thousand million of them would never be made."""
    sizes = {"dim": 16, "n_heads": 4, "hidden_dim": 20, "vocab_size": 50, "n_layers": 10**9}
    with pytest.raises(ValueError, match="parts"), torch.device("meta"):
        transformer_of({"model_type": "distilbert", **sizes})


@pytest.mark.parametrize("setting", ["dtype", "torch_dtype"])
def test_a_transformer_that_was_published_in_half_precision_is_made_in_single(setting):
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 20, "vocab_size": 50}
    made = transformer_of({"model_type": "bert", "num_hidden_layers": 1, **sizes, setting: "bfloat16"})
    assert {parameter.dtype for parameter in made.parameters()} == {torch.float32}


def in_another_thread(what):
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(what).result()


def test_threads_that_load_models_leave_the_hub_as_it_was(monkeypatch):
    """The switch is the library's, for all threads; the one that comes first need not be the one that leaves last."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with unfilled._offline:
        in_another_thread(unfilled._offline.__enter__)
    assert constants.HF_HUB_OFFLINE
    in_another_thread(unfilled._offline.__exit__)
    assert not constants.HF_HUB_OFFLINE


def test_only_the_modules_of_the_model_are_counted(monkeypatch):
    """Other threads may make any number; the hook that counts is put there once, since they may be going through all
    hooks at any time."""
    monkeypatch.setattr(unfilled, "_MOST_MODULES", 5)
    with unfilled._limit:
        hooks = dict(torch_module._global_module_registration_hooks)
        assert in_another_thread(lambda: made(20)) == 20
        assert in_another_thread(lambda: made_within_the_limit(5)) == 5
        with pytest.raises(ValueError, match="more than 5 parts"):
            made(6)
        assert torch_module._global_module_registration_hooks == hooks
    assert torch_module._global_module_registration_hooks == hooks
    assert made(20) == 20


def made(number: int) -> int:
    return len(torch.nn.Sequential(*(torch.nn.Identity() for _ in range(number))))


def made_within_the_limit(number: int) -> int:
    with unfilled._limit:
        return made(number)


def test_tables_that_are_not_on_disk_are_limited(parser):
    """This one has a mask of all pairs of positions in every layer: 20 GB beside 6 MB of parameters."""
    sizes = {"hidden_size": 16, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}
    ends = {"vocab_size": 50, "bos_token_id": 1, "eos_token_id": 2}
    transformer = {"model_type": "gpt_neo", "max_position_embeddings": 100_000, **sizes, **ends}
    pretrained = dataclasses.replace(parser.network.config.pretrained, transformer=transformer)
    with pytest.raises(ValueError, match="tables of"):
        expected_shapes(dataclasses.replace(parser.network.config, pretrained=pretrained))


def test_eight_bit_matrices_are_multiplied_in_eight_bits(model, parser, monkeypatch):
    """Where a model keeps them so; not where it keeps all of its numbers, and not in training."""
    from discoparse.neural.eight_bit import EightBitLinear, products_are_exact

    def linear_layers(network: Network) -> set[type]:
        return {type(layer) for layer in network.encoder.pretrained.modules() if isinstance(layer, torch.nn.Linear)}

    monkeypatch.setattr("discoparse.model.packing._LARGE", 16)
    save(model, parser)
    loaded = load_parser(model)
    assert linear_layers(loaded.network) == {EightBitLinear}
    assert linear_layers(pickle.loads(pickle.dumps(loaded)).network) == {EightBitLinear}
    assert linear_layers(parser.network) == {torch.nn.Linear}
    if products_are_exact():
        products = []
        plain = torch._int_mm
        monkeypatch.setattr(torch, "_int_mm", lambda one, other: products.append(one.shape) or plain(one, other))
        loaded.parse_tokens(SENTENCES)
        assert products
    parameters = parser.network.state_dict()
    info = parser.info
    save_model(model, parameters, parser.network.config, parser.vocabulary, info, rounded=False)
    assert linear_layers(load_parser(model).network) == {torch.nn.Linear}


def test_batches_with_an_encoder_are_small_on_a_cpu(parser):
    """Counted in pieces: its layers are wide, and what they make should stay in the CPU's cache."""
    words = ["unbelievably", "old", "cats"] * 4
    pieces = sum(len(parser.vocabulary.pieces.pieces(word)) for word in words)
    for batch in parser.decoder.batches([words] * 200):
        assert len(batch) * pieces <= BATCH_PIECES["cpu"]
    assert BATCH_PIECES["cpu"] < BATCH_TOKENS["cpu"]
