"""Pretrained encoders on disk: what is written is read, and whatever does not make sense is refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from discoparse.errors import DiscoparseError
from discoparse.files.sealed import write_sealed
from discoparse.model.encoder import encoder_files, is_own_encoder, load_encoder
from discoparse.model.info import ModelInfo
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary

WORDS, CHARACTERS = ["the", "dog", "("], list("thedog(")


def files() -> dict[str, bytes]:
    sizes = {"word_size": 4, "character_size": 3, "character_hidden": 2, "hidden": 5, "layers": 2}
    config = NetworkConfig(words=4, characters=8, tags=2, labels=2, **sizes)
    torch.manual_seed(0)
    parameters = {k: v for k, v in Network(config).state_dict().items() if k.startswith("encoder.")}
    return encoder_files(parameters, config, Vocabulary(WORDS, CHARACTERS, [], [], rare=2), ModelInfo("tiny", "en"))


def changed(content: bytes, change: Any) -> bytes:
    value = json.loads(content)
    change(value)
    return json.dumps(value).encode()


def test_what_is_written_is_read(tmp_path):
    written = files()
    write_sealed(tmp_path / "out" / "encoder", written)
    for place in (tmp_path / "out", tmp_path / "out" / "encoder"):
        stored = load_encoder(place)
        assert (stored.vocabulary.words, stored.vocabulary.characters, stored.vocabulary.rare) == (WORDS, CHARACTERS, 2)
        assert stored.config.hidden == 5
        assert stored.info.name == "tiny"
        assert stored.parameters.keys() == load(written["model.safetensors"]).keys()
        assert stored.parameters["encoder.word_embedding.weight"].dtype == torch.float32
    assert is_own_encoder(tmp_path / "out" / "encoder")
    assert not is_own_encoder(tmp_path)


def without_a_layer(content: bytes) -> bytes:
    return save({k: v for k, v in load(content).items() if "layers.1" not in k})


def not_numbers(content: bytes) -> bytes:
    tensors = load(content)
    tensors["encoder.word_embedding.weight"][0] = torch.nan
    return save(tensors)


@pytest.mark.parametrize(
    ("file", "change", "complaint"),
    [
        ("config.json", lambda c: changed(c, lambda v: v["network"].update(words=9)), "makes 4 words"),
        ("config.json", lambda c: changed(c, lambda v: v["network"].update(hidden=6)), "instead of"),
        ("config.json", lambda c: changed(c, lambda v: v["network"].update(tags=3)), "neither tags nor labels"),
        ("config.json", lambda c: changed(c, lambda v: v.update(network=3)), "must be an object"),
        (
            "config.json",
            lambda c: changed(c, lambda v: v.update(format="discoparse model")),
            "not that of a discoparse",
        ),
        ("config.json", lambda c: changed(c, lambda v: v.update(format_version=7)), "the encoder has format version 7"),
        ("vocabulary.json", lambda c: changed(c, lambda v: v.update(words=[1])), "list of strings"),
        ("vocabulary.json", lambda c: changed(c, lambda v: v.pop("rare")), "lacks rare"),
        ("model.safetensors", without_a_layer, "is missing"),
        ("model.safetensors", not_numbers, "not numbers"),
        ("model.safetensors", lambda c: b"no tensors", "cannot be read"),
    ],
)
def test_what_does_not_make_sense_is_refused(tmp_path: Path, file: str, change: Any, complaint: str):
    """Sealed anew, so that only a look at the contents can tell."""
    written = files()
    written[file] = change(written[file])
    write_sealed(tmp_path, written)
    with pytest.raises(DiscoparseError, match=complaint):
        load_encoder(tmp_path)


def test_damage_is_refused(tmp_path):
    write_sealed(tmp_path, files())
    (tmp_path / "README.md").write_text("another card")
    with pytest.raises(DiscoparseError, match=r"README\.md is not what was written"):
        load_encoder(tmp_path)
