"""Pretrained encoders: words to pieces and back, windows, every architecture, exactly as the library computes."""

from __future__ import annotations

import base64
import json
import math
import pickle
import random
import struct
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from discoparse.errors import DiscoparseError, UsageError
from discoparse.neural.pieces import PieceSentence, PieceVocabulary, _best_windows, _window_starts, piece_batch

pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from tiny_encoders import DECODERS, ENCODERS, SPACED, save_encoder

from discoparse.neural.pretrained import Pieces, Pretrained, read_pretrained

SENTENCES = [
    ["The", "dog", "barks", "."],
    ["What"],
    ["cats", "(", "unbelievably", "old", ")", "-LRB-"],
    ["Привет", "🙂", "\x07", "dog", "東京"],  # other scripts, a word that some tokenizers make nothing of
]


@pytest.fixture(scope="module", params=sorted(ENCODERS))
def encoder(request, tmp_path_factory):
    """Directory, configuration, pieces and a module with the encoder's parameters."""
    folder = save_encoder(request.param, tmp_path_factory.mktemp("encoder"))
    return request.param, folder, *loaded(folder)


def loaded(folder, **options) -> tuple[PieceVocabulary, Pretrained]:
    config, pieces, parameters, _ = read_pretrained(folder, **options)
    module = Pretrained(config).eval()
    module.transformer.load_state_dict(parameters)
    return pieces, module


@torch.inference_mode()
def vectors(pieces: PieceVocabulary, module: Pretrained, sentences: list[list[str]]) -> torch.Tensor:
    """[B, N, E]."""
    width = max(map(len, sentences))
    batch = piece_batch([pieces.sentence(words) for words in sentences], width, pieces, module.config.pooling)
    return module(Pieces.of(batch, torch.device("cpu")), len(sentences), width)


@torch.inference_mode()
def plain_states(folder, module, words: list[str]) -> tuple[torch.Tensor, list[int | None]]:
    """The states of a sentence's pieces and the word of each, by the library alone."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    if ENCODERS[module.config.transformer["model_type"]][0] in SPACED:
        words = [f" {word}" for word in words]
    encoded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    model = AutoModel.from_pretrained(folder).eval()
    mask = encoded["attention_mask"]
    if module.config.bidirectional:
        n = mask.shape[1]
        mask = torch.zeros(1, 1, n, n)
    return model(input_ids=encoded["input_ids"], attention_mask=mask).last_hidden_state[0], encoded.word_ids(0)


def test_vectors_are_those_of_the_library(encoder):
    """The first piece of every word, sentences padded together or alone."""
    _, folder, pieces, module = encoder
    found = vectors(pieces, module, SENTENCES[:3])
    for b, words in enumerate(SENTENCES[:3]):
        states, word_of = plain_states(folder, module, ["(" if word == "-LRB-" else word for word in words])
        expected = [states[word_of.index(k)] for k in range(len(words))]
        torch.testing.assert_close(found[b, : len(words)], torch.stack(expected), atol=1e-4, rtol=1e-4)
        assert not found[b, len(words) :].any()


def test_words_are_cut_as_in_a_text(encoder):
    """That is, after a space; the first one, too."""
    from transformers import AutoTokenizer

    _, folder, pieces, _ = encoder
    words = ["The", "old", "dog", "sees", "unbelievably", "old", "cats"]
    text = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)(" " + " ".join(words), add_special_tokens=False)
    assert [piece for word in words for piece in pieces.pieces(word)] == text["input_ids"]


def test_a_tokenizer_that_cannot_cut_so_stays_as_it_is(tmp_path):
    """It does not know the word that is tried, and makes one piece of any number of unknown ones."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    folder = save_encoder("bert", tmp_path)
    tokenizer = Tokenizer(models.BPE({"<unk>": 0, "и": 1}, [], unk_token="<unk>", fuse_unk=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<unk>").save_pretrained(folder)
    pieces, _ = loaded(folder)
    assert json.loads(pieces.tokenizer)["normalizer"] is None
    assert pieces.pieces("ии") == [1, 1]


@pytest.mark.parametrize("known", [True, False])
def test_a_space_that_is_a_piece_of_its_own_stands_for_no_word(tmp_path, known):
    """Where pieces are characters, a space before a word would be the first piece of every word."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder = save_encoder("bert", tmp_path)
    characters = ["<unk>", *"abcdehint", *([" "] if known else [])]
    tokenizer = Tokenizer(models.WordLevel({character: k for k, character in enumerate(characters)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), behavior="isolated")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<unk>").save_pretrained(folder)
    pieces, _ = loaded(folder)
    assert pieces.pieces("bad") == [2, 1, 4]


def test_half_precision_on_disk_is_single_precision_here(tmp_path):
    """The library would make parameters of the precision that a configuration names."""
    from transformers import AutoModel

    folder = save_encoder("bert", tmp_path)
    AutoModel.from_pretrained(folder).half().save_pretrained(folder)
    assert '"float16"' in (folder / "config.json").read_text()
    pieces, module = loaded(folder)
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
    assert vectors(pieces, module, SENTENCES).isfinite().all()


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_other_pieces_of_a_word(encoder, pooling):
    _, folder, _, module = encoder
    pieces, module = loaded(folder, pooling=pooling)
    words = ["unbelievably", "dog", "unbelievably"]
    found = vectors(pieces, module, [words])[0]
    states, word_of = plain_states(folder, module, words)
    for k in range(3):
        own = states[[p for p, word in enumerate(word_of) if word == k]]
        assert len(own) > 1 or k == 1
        torch.testing.assert_close(found[k], own[-1] if pooling == "last" else own.mean(0), atol=1e-4, rtol=1e-4)


def test_any_word_has_pieces(encoder):
    """Other scripts, control characters, and words of a hundred pieces and more."""
    _, _, pieces, module = encoder
    odd = [*SENTENCES[3], "", " ", "\ud800", "x" * 5000, "\u200b"]
    assert all(0 < len(pieces.pieces(word)) <= 128 for word in odd)
    found = vectors(pieces, module, [odd[:4], odd])
    assert found.isfinite().all()
    assert found[1].any(1).all()


def test_what_follows_a_word_is_seen(encoder):
    """Also by decoders, whose attention is opened."""
    name, _, pieces, module = encoder
    assert module.config.bidirectional == (name in DECODERS)
    one, other = vectors(pieces, module, [["The", "dog", "barks"], ["The", "dog", "sleep"]])
    assert not torch.allclose(one[0], other[0])


def test_long_sentences_are_read_in_windows(encoder):
    """Each word is read where it is farthest from an edge of a window; nothing is left out."""
    _, _folder, pieces, module = encoder
    chance = random.Random(1)
    words = [chance.choice(["dog", "The", "unbelievably", "cats", "."]) for _ in range(90)]
    sentence = pieces.sentence(words)
    room = pieces.window - len(pieces.prefix) - len(pieces.suffix)
    assert len(sentence.ids) > 2 * room
    found = vectors(pieces, module, [words])[0]
    starts, first = _window_starts(len(sentence.ids), room), np.cumsum(sentence.counts) - sentence.counts
    states = [window_states(pieces, module, sentence.ids[start : start + room]) for start in starts]
    for k, place in enumerate(first.tolist()):
        margins = {}
        for w, start in enumerate(starts):
            if start <= place < start + room:
                left = room if start == 0 else place - start
                right = room if start == starts[-1] else start + room - 1 - place
                margins[w] = min(left, right)
        best = max(margins, key=margins.__getitem__)
        torch.testing.assert_close(found[k], states[best][place - starts[best]], atol=1e-4, rtol=1e-4)
        assert margins[best] >= min(room // 4, 5)


@torch.inference_mode()
def window_states(pieces, module, ids) -> torch.Tensor:
    """A window as a sentence of its own, one piece a word."""
    alone = PieceSentence(ids, np.ones(len(ids), dtype=np.int64))
    batch = piece_batch([alone], len(ids), pieces, "first")
    assert len(batch.ids) == 1
    return module(Pieces.of(batch, torch.device("cpu")), 1, len(ids))[0]


@given(st.integers(1, 200), st.integers(2, 60))
def test_windows_cover_every_piece(length, room):
    starts = _window_starts(length, room)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert all(start + room <= length or len(starts) == 1 for start in starts)
    chosen = _best_windows(np.arange(length), starts, room)
    begin = np.array(starts)[chosen]
    assert ((begin <= np.arange(length)) & (np.arange(length) < begin + room)).all()


def test_fewer_layers_and_a_mixture(encoder):
    name, folder, _, whole = encoder
    pieces, cut = loaded(folder, layers=2)
    assert sum(p.numel() for p in cut.parameters()) < sum(p.numel() for p in whole.parameters())
    assert not torch.allclose(vectors(pieces, cut, SENTENCES[:2]), vectors(pieces, whole, SENTENCES[:2]))
    _, mixed = loaded(folder, mix=True)
    with torch.no_grad():
        mixed.mixture.copy_(torch.tensor([-99.0, -99.0, -99.0, 0.0]))  # the last layer alone
    if name != "electra":  # whose embeddings are smaller than its layers
        torch.testing.assert_close(vectors(pieces, mixed, SENTENCES[:2]), vectors(pieces, whole, SENTENCES[:2]))
    with pytest.raises(UsageError, match="choose 1 to 3"):
        read_pretrained(folder, layers=4)


def test_pieces_survive_pickling_and_json(encoder):
    _, _, pieces, _ = encoder
    for copy in (
        pickle.loads(pickle.dumps(pieces)),
        PieceVocabulary.from_json(pieces.to_json(), pieces.tokenizer),
    ):
        assert copy == pieces
        assert [copy.pieces(word) for word in SENTENCES[2]] == [pieces.pieces(word) for word in SENTENCES[2]]


def test_what_is_no_encoder_is_refused(tmp_path):
    with pytest.raises(DiscoparseError, match="cannot be loaded"):
        read_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "nonsense"}')
    with pytest.raises(DiscoparseError, match="cannot be loaded"):
        read_pretrained(tmp_path)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'discoparse\[transformers\]'"):
        read_pretrained(tmp_path)


def test_reading_prints_nothing(tmp_path, capfd):
    """Not even about the layers that are left out, and what the library would print otherwise is as before."""
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    folder = save_encoder("bert", tmp_path)
    capfd.readouterr()
    read_pretrained(folder, layers=1)
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_trying_out_changes_nothing(tmp_path):
    """No random numbers are drawn, as dropout does in training, and training goes on where it was on."""
    _, module = loaded(save_encoder("bert", tmp_path))
    for training in (True, False):
        module.train(training)
        state = torch.get_rng_state()
        module.try_out()
        assert torch.equal(torch.get_rng_state(), state)
        assert all(part.training == training for part in module.modules())


def test_vectors_of_another_shape_are_refused(tmp_path, monkeypatch):
    """As of architectures that have fewer vectors than pieces."""
    _, module = loaded(save_encoder("bert", tmp_path))
    monkeypatch.setattr(module, "_states", lambda ids, lengths: torch.zeros(1, 1, module.config.size))
    with pytest.raises(DiscoparseError, match=r"does not work: its vectors are \[1, 1, 16\]"):
        module.try_out()


def test_older_versions_of_the_library_are_refused(tmp_path, monkeypatch):
    folder = save_encoder("bert", tmp_path)
    monkeypatch.setattr("transformers.__version__", "4.57.3")
    with pytest.raises(UsageError, match=r"transformers 5 or newer, not 4\.57\.3"):
        read_pretrained(folder)


def _rewrite_parameters(change):
    def damage(folder):
        file = folder / "model.safetensors"
        save_file(change(load_file(file)), file, {"format": "pt"})

    return damage


def _cut_off(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-50])


def _without_tokenizer(folder):
    for file in folder.glob("tokenizer*"):
        file.unlink()


def _other_tokenizer(folder):
    save_encoder("roberta", folder / "other")
    (folder / "other" / "tokenizer.json").replace(folder / "tokenizer.json")


def _one_embedding_too_few(folder):
    name = "embeddings.word_embeddings.weight"
    _rewrite_parameters(lambda tensors: tensors | {name: tensors[name][:-1].clone()})(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": config["vocab_size"] - 1}))


def _no_unknown_piece(folder):
    file = folder / "tokenizer.json"
    file.write_text(file.read_text().replace('"unk_token": "<unk>"', '"unk_token": "nothing"'))


def _no_length(folder):
    file = folder / "tokenizer.json"
    data = json.loads(file.read_text()) | {"pre_tokenizer": {"type": "FixedLength", "length": 0}}
    file.write_text(json.dumps(data))


def _pickled(folder):
    (folder / "model.safetensors").unlink()
    torch.save({"x": Ran(folder / "ran")}, folder / "pytorch_model.bin")


class Ran:
    """Leaves a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut_off, "cannot be loaded"),
        (_pickled, "cannot be loaded"),
        (_without_tokenizer, "has no tokenizer"),
        (_other_tokenizer, "it is another's"),
        (_one_embedding_too_few, "it is another's"),
        (_no_unknown_piece, "tokenizer of .* does not work"),
        (_no_length, "tokenizer of .* does not work"),
        (_rewrite_parameters(lambda tensors: {f"x.{name}": t for name, t in tensors.items()}), "have no embeddings"),
        (_rewrite_parameters(lambda tensors: {name: t for name, t in tensors.items() if ".2." not in name}), "layer.2"),
        (_rewrite_parameters(lambda tensors: {name: t * math.nan for name, t in tensors.items()}), "not numbers"),
    ],
)
def test_directories_that_are_not_complete_are_refused(tmp_path, damage, message):
    """The library would train random numbers in place of what is missing, and take any word for an unknown one."""
    folder = save_encoder("bert", tmp_path)
    damage(folder)
    with pytest.raises(DiscoparseError, match=message):
        read_pretrained(folder)
    assert not (folder / "ran").exists()


def test_a_tokenizer_that_fails_at_some_words_only(tmp_path):
    """The map of characters has one entry, which leads out of it: an "a" is looked up, and the library panics."""
    cut_off = base64.b64encode(struct.pack("<II", 4, 500 << 10) + b"\0").decode()
    tokenizer = read_pretrained(save_encoder("bert", tmp_path))[1]
    data = json.loads(tokenizer.tokenizer) | {"normalizer": {"type": "Precompiled", "precompiled_charsmap": cut_off}}
    pieces = PieceVocabulary.from_json(tokenizer.to_json(), json.dumps(data))
    for cut in (pieces.pieces, lambda word: pieces.pieces_of([word])):
        with pytest.raises(DiscoparseError, match="tokenizer fails: index out of bounds"):
            cut("a")


def test_tokens_that_the_encoder_has_no_embedding_for_are_left_out(tmp_path):
    """Some tokenizers have more added tokens than their text model: it can be trained all the same, and loaded."""
    from transformers import AutoTokenizer

    folder = save_encoder("bert", tmp_path)
    before = read_pretrained(folder)[1]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<picture>"]})
    tokenizer.save_pretrained(folder)
    pieces = read_pretrained(folder)[1]
    assert pieces.piece_id("<picture>") is None
    assert pieces.largest_id() == before.largest_id()
