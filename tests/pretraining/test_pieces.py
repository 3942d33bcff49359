"""A small transformer guesses hidden pieces: the stream of pieces, its slices, what is hidden."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_texts import small_recipe, write_text

from discoparse.errors import UsageError
from discoparse.pretraining import piece_stream
from discoparse.pretraining.corpus import prepare_corpus
from discoparse.pretraining.piece_stream import PieceStream
from discoparse.pretraining.pieces import END, MASK, SPECIAL, START, PieceTask, learn_pieces, piece_vocabulary
from discoparse.pretraining.reading import Splitting

CPU = torch.device("cpu")


@pytest.fixture
def corpus(tmp_path):
    path = write_text(tmp_path / "text", 150)
    return prepare_corpus(tmp_path / "cache", [path], Splitting(pretokenized=True))


def task_of(corpus, folder, **settings: object) -> PieceTask:
    recipe = small_recipe("transformer", **settings)
    torch.manual_seed(0)
    return PieceTask(recipe, corpus, folder, learn_pieces(corpus, recipe.pieces), CPU, seed=1)


def test_pieces_spell_any_word(corpus):
    vocabulary = piece_vocabulary(learn_pieces(corpus, 300), 32)
    assert len(vocabulary.pieces("dogs")) <= 2
    for word in ("Ærøskøbing", "日本語", "🙂", "x" * 200):
        assert all(piece >= len(SPECIAL) for piece in vocabulary.pieces(word))
    assert vocabulary.pieces_of(["dogs", "日本語", ""]) == [vocabulary.pieces(w) for w in ("dogs", "日本語", "")]


@pytest.mark.parametrize("at_once", [1, 7, 1 << 22])
def test_the_stream_is_the_text(corpus, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(piece_stream, "_AT_ONCE", at_once)
    task = task_of(corpus, tmp_path)
    vocabulary = piece_vocabulary(task.tokenizer, 32)
    held_out = corpus.held_out(task.recipe.held_out)
    for stream, chosen in ((task.text, ~held_out), (task.held_out, held_out)):
        expected, starts = [], []
        for k in np.flatnonzero(chosen):
            starts.append(len(expected))
            for form in corpus.ids[corpus.starts[k] : corpus.starts[k] + corpus.lengths[k]]:
                expected += vocabulary.pieces(corpus.forms[form])
            expected.append(END)
        assert stream.pieces[: len(expected)].tolist() == expected
        assert stream.starts.tolist() == starts


def test_a_device_may_have_a_number(corpus, tmp_path):
    """cuda and cuda:0 are not equal, nor are these; slices that are there already need not be moved."""
    stream = dataclasses.replace(task_of(corpus, tmp_path).text, target=torch.device("cpu", 0))
    assert stream.target != stream.device
    assert stream.slices(torch.tensor([0])).tolist() == [stream.pieces[: stream.room].tolist()]


def test_slices_are_moved_to_the_device_that_trains(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)  # needs a GPU
    stream = dataclasses.replace(task_of(corpus, tmp_path).text, target=torch.device("meta"))
    found = stream.slices(torch.tensor([0, 1]))
    assert found.device.type == "meta"
    assert found.shape == (2, stream.room)


@pytest.mark.parametrize(("memory", "moved"), [(1 << 40, True), (1, False)])
def test_the_stream_is_on_the_gpu_if_there_is_room(corpus, tmp_path, monkeypatch, memory, moved):
    of, calls = PieceStream.of, []

    def noted(*arguments, **options):
        calls.append((arguments, options))
        return of(*arguments, **options)

    monkeypatch.setattr(PieceStream, "of", noted)
    task_of(corpus, tmp_path)
    arguments, options = calls[0]
    moves = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=memory))
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, device: moves.append(device) or tensor)
    gpu = torch.device("cuda")
    stream = of(*(gpu if isinstance(argument, torch.device) else argument for argument in arguments), **options)
    assert moves == ([gpu] if moved else [])
    assert stream.target == gpu


def test_slices_begin_with_a_sentence_and_cover_the_text(corpus, tmp_path):
    task = task_of(corpus, tmp_path)
    stream = task.text
    windows = stream.windows(np.random.default_rng(0))
    at_sentence = np.isin(windows, stream.starts)
    assert at_sentence.mean() > 0.9
    read = np.unique(windows[:, None] + np.arange(stream.room))
    assert read.max() < len(stream.pieces)
    assert len(read) > 0.7 * len(stream.pieces)
    slices = stream.slices(torch.from_numpy(windows[:3]))
    assert slices.tolist() == [stream.pieces[w : w + stream.room].tolist() for w in windows[:3]]


def test_long_sentences_are_read_to_their_end(tmp_path):
    path = tmp_path / "text"
    path.write_text("\n".join(["short one"] * 60 + [" ".join(f"w{k}" for k in range(400))]), encoding="utf-8")
    corpus = prepare_corpus(tmp_path / "cache", [str(path)], Splitting(pretokenized=True))
    stream = task_of(corpus, tmp_path, held_out=1).text
    read = np.unique(stream.windows(None)[:, None] + np.arange(stream.room))
    assert len(read) > 0.9 * len(stream.pieces)


def test_a_text_shorter_than_a_slice_is_filled_up(tmp_path):
    path = tmp_path / "text"
    path.write_text("one\ntwo", encoding="utf-8")
    corpus = prepare_corpus(tmp_path / "cache", [str(path)], Splitting(pretokenized=True))
    task = task_of(corpus, tmp_path)
    assert task.start_epoch(0) == 1
    assert torch.isfinite(task.guess(0).loss)


@pytest.mark.parametrize("whole_words", [True, False])
def test_what_is_hidden(corpus, tmp_path, whole_words):
    task = task_of(corpus, tmp_path, whole_words=whole_words, hidden_share=0.3, pieces=270)  # words have many pieces
    task.start_epoch(0)
    ids = torch.nn.functional.pad(task.text.slices(task.windows[:40]), (1, 0), value=START)
    place, shown = task._hide(ids)
    assert len(place) == len(ids) * round(0.3 * task.text.room) == len(set(place.tolist()))
    changed = (shown != ids).flatten()
    hidden = torch.zeros(ids.numel(), dtype=torch.bool)
    hidden[place] = True
    assert not (changed & ~hidden).any()
    assert not (hidden & (ids.flatten() == START)).any()
    assert (shown[ids == END] == END).all()
    masked = (shown == MASK).sum() / hidden.sum()
    assert 0.6 < masked < 0.9
    # Where a piece is hidden, the next piece of the same word is hidden as well, but for one word a row.
    inside = ~task.begins_word[ids]
    pairs = inside[:, 1:]
    both = hidden.view_as(ids)
    parted = (both[:, :-1] != both[:, 1:]) & pairs
    assert (parted.sum(1) <= 2).all() if whole_words else (parted.sum(1) > 2).any()


def test_guesses_are_of_what_stood_there(corpus, tmp_path):
    task = task_of(corpus, tmp_path, dropout=0.0)
    task.start_epoch(0)
    pieces = task.text.slices(task.windows[:4])
    ids = torch.nn.functional.pad(pieces, (1, 0), value=START)
    torch.manual_seed(5)
    place, shown = task._hide(ids)
    torch.manual_seed(5)
    guess = task._guess(pieces)
    scores = task.network.model(input_ids=shown).logits.flatten(0, 1)[place]
    target = ids.flatten()[place]
    chosen = target != END
    expected = torch.nn.functional.cross_entropy(scores[chosen], target[chosen])
    assert torch.allclose(guess.loss, expected, atol=1e-5)
    assert guess.count == chosen.sum()


def test_the_same_pieces_are_hidden_in_every_evaluation(corpus, tmp_path):
    """And the random numbers of the training go on as if there had been none."""
    task = task_of(corpus, tmp_path)
    state = torch.get_rng_state()
    first = task.guess_held_out()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(77)
    assert task.guess_held_out() == first
    assert first[2] > 0
    assert task.network.training


def test_sizes_that_do_not_fit_are_refused():
    for settings, message in (({"heads": 5}, "5 heads"), ({"sequence": 64}, "positions")):
        with pytest.raises(UsageError, match=message):
            small_recipe("transformer", **settings).checked()
