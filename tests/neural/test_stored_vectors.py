"""Vectors of transformers as they were when models were made with them: a library that changes them fails here.

`python tests/neural/test_stored_vectors.py` writes the file anew, for a new architecture only.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from tiny_encoders import DECODERS, ENCODERS, encoder_config

from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.pretrained import Pieces, Pretrained, PretrainedConfig

STORED = Path(__file__).with_name("stored_vectors.json")
IDS = [[1, 7, 12, 25, 31, 2], [1, 40, 2, 0, 0, 0]]
LENGTHS = [6, 3]
WORDS = ["Dog", "dogs", "unbelievable", "x", "Hund"]


def transformer(architecture: str) -> Pretrained:
    """With parameters that depend on their names only, by no random number generator."""
    config = encoder_config(architecture, vocabulary=60)
    settings = {**config.to_diff_dict(), "model_type": config.model_type}
    size = config.hidden_size
    encoder = Pretrained(PretrainedConfig(settings, size, bidirectional=architecture in DECODERS)).eval()
    with torch.no_grad():
        for name, parameter in encoder.transformer.named_parameters():
            place = torch.arange(parameter.numel(), dtype=torch.float64) * 0.7 + zlib.crc32(name.encode()) % 1000
            base = 1.0 if parameter.dim() == 1 and name.endswith("weight") else 0.0
            parameter.copy_((base + 0.3 * torch.sin(place)).view(parameter.shape))
    return encoder


@torch.inference_mode()
def vectors(architecture: str) -> list[list[float]]:
    """Some numbers of every piece's vector."""
    none = torch.zeros(0, dtype=torch.long)
    states = transformer(architecture).piece_states(Pieces(torch.tensor(IDS), torch.tensor(LENGTHS), none, none))
    inside = [states[b, : LENGTHS[b], :6] for b in range(len(IDS))]
    return [[round(number, 5) for number in row] for row in torch.cat(inside).tolist()]


@pytest.mark.parametrize("architecture", sorted(ENCODERS))
def test_vectors_are_as_they_were(architecture):
    stored = json.loads(STORED.read_text())["vectors"][architecture]
    found = vectors(architecture)
    assert all(math.isfinite(number) for row in found for number in row)
    torch.testing.assert_close(torch.tensor(found), torch.tensor(stored), atol=2e-4, rtol=2e-4)
    assert len({tuple(row) for row in stored}) == sum(LENGTHS)  # every piece has a vector of its own


def test_words_are_cut_as_they_were():
    stored = json.loads(STORED.read_text())
    pieces = PieceVocabulary(json.dumps(stored["tokenizer"]), (1,), (2,), 0, 3, 32)
    assert {word: pieces.pieces(word) for word in WORDS} == stored["pieces"]


def _write() -> None:
    tokens = ["<pad>", "<s>", "</s>", "<unk>", "dog", "##s", "un", "##believ", "##able", "h", "##un", "##d"]
    tokenizer = {
        "version": "1.0",
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "<unk>",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: k for k, token in enumerate(tokens)},
        },
    }
    pieces = PieceVocabulary(json.dumps(tokenizer), (1,), (2,), 0, 3, 32)
    stored = {
        "vectors": {architecture: vectors(architecture) for architecture in sorted(ENCODERS)},
        "tokenizer": tokenizer,
        "pieces": {word: pieces.pieces(word) for word in WORDS},
    }
    STORED.write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    _write()
