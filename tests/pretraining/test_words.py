"""Our encoder guesses hidden words: what is hidden, what is guessed, which words it knows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_texts import small_recipe, write_text

from discoparse.neural.vocabulary import UNKNOWN
from discoparse.pretraining.corpus import TextCorpus, prepare_corpus
from discoparse.pretraining.reading import Splitting
from discoparse.pretraining.word_batches import WordBatches, _spans
from discoparse.pretraining.words import WordTask, text_vocabulary

CPU = torch.device("cpu")


def corpus_of(tmp_path, lines: list[str]) -> TextCorpus:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return prepare_corpus(tmp_path / "cache", [str(path)], Splitting(pretokenized=True))


def toy_task(tmp_path, sentences: int = 120, **settings: object) -> WordTask:
    corpus = prepare_corpus(tmp_path / "c", [write_text(tmp_path / "t", sentences)], Splitting(pretokenized=True))
    torch.manual_seed(0)
    return WordTask(small_recipe("bilstm", **settings), corpus, (), CPU, seed=1)


def test_frequent_words_are_known_and_those_of_a_treebank_that_occur(tmp_path):
    corpus = corpus_of(tmp_path, ["a a a b b -LRB- ( c", "a b c d ж жa"])
    recipe = small_recipe("bilstm", min_frequency=2, most_words=3, unk_share=0.5)
    vocabulary = text_vocabulary(corpus, ["d", "absent"], recipe)
    assert vocabulary.words == ["a", "b", "(", "d"]  # brackets are one word however they are spelled
    assert vocabulary.rare == 3
    assert set(vocabulary.characters) == {"a", "d"}  # those of words to keep, and those that occur five times
    assert not vocabulary.tags


def test_every_word_is_read_once_in_an_epoch(tmp_path):
    task = toy_task(tmp_path, longest=3)
    for epoch in (0, 1):
        count = task.start_epoch(epoch)
        read = np.concatenate([words_of(task.text, batch) for batch in task.text.batches])
        held = words_of(task.held_out, np.arange(len(task.held_out.starts)))
        assert sorted([*read, *held]) == list(range(len(task.text.corpus.ids)))
        assert sum(task.guess(k).units for k in range(count)) == len(read)
        assert max(task.text.lengths) == 3
        padded = [len(batch) * task.text.lengths[batch].max() for batch in task.text.batches]
        assert max(padded) <= task.recipe.batch_tokens


def words_of(batches: WordBatches, chosen: np.ndarray) -> np.ndarray:
    """The places of words in the corpus."""
    parts = zip(batches.starts[chosen], batches.lengths[chosen], strict=True)
    return np.concatenate([np.arange(start, start + length) for start, length in parts])


def test_epochs_have_orders_of_their_own(tmp_path):
    task = toy_task(tmp_path)
    orders = []
    for epoch in (0, 1, 0):
        task.start_epoch(epoch)
        orders.append([batch.tolist() for batch in task.text.batches])
    assert orders[0] == orders[2] != orders[1]


@pytest.mark.parametrize("span", [1.0, 3.0])
def test_the_share_that_is_hidden(span):
    hidden = _spans((200, 400), 0.2, span, np.random.default_rng(0))
    assert abs(hidden.mean() - 0.2) < 0.02
    runs = np.diff(np.flatnonzero(np.diff(hidden[:, 1:-1].ravel().astype(int)) != 0))[::2]
    assert runs.mean() > 2.5 if span > 1 else runs.mean() < 1.6


def test_the_vectors_of_a_hidden_word_do_not_depend_on_it(tmp_path):
    """Whatever stands at a hidden place, the encoder computes the same; elsewhere it does not."""
    task = toy_task(tmp_path)
    task.network.eval()
    task.start_epoch(0)
    batch = task.text.hide(0, np.random.default_rng(0))
    before = task.network.states(batch)
    batch.inputs.words[batch.hidden] = 1
    batch.inputs.forms[batch.hidden] = 0
    assert torch.equal(task.network.states(batch), before)
    shown = batch.inputs.words.masked_fill(~batch.hidden, 2)
    batch.inputs.words[~batch.hidden] = shown[~batch.hidden]
    assert not torch.equal(task.network.states(batch), before)


def test_characters_of_some_hidden_words_may_be_shown(tmp_path):
    task = toy_task(tmp_path, hidden_characters=0.5)
    task.start_epoch(0)
    batch = task.text.hide(0, np.random.default_rng(0))
    assert 0 < batch.characters_hidden.sum() < batch.hidden.sum()
    assert not (batch.characters_hidden & ~batch.hidden).any()


def test_what_is_guessed_is_the_hidden_word(tmp_path):
    task = toy_task(tmp_path, outputs=4)
    task.start_epoch(0)
    batch = task.text.hide(0, np.random.default_rng(0))
    words = batch.inputs.words.flatten()[batch.place]
    target = task.word_targets[batch.form]
    assert torch.equal(target, torch.where(words <= 4, words - 1, -100))
    assert (target == -100).any()
    assert (target >= 0).any()
    guess = task._guess(batch)
    assert guess.count == (target >= 0).sum()
    task.network.eval()
    chosen = target >= 0
    with torch.no_grad():
        scores = task.network.words(task.network.states(batch))
        expected = torch.nn.functional.cross_entropy(scores[chosen], target[chosen])
        assert torch.allclose(task._guess(batch).loss, expected)


def test_endings_are_guessed_as_well(tmp_path):
    task = toy_task(tmp_path, endings=3, ending_length=2, hidden_share=0.5)
    forms = task.text.corpus.forms
    target = task.ending_targets.tolist()
    by_ending = {forms[k][-2:]: number for k, number in enumerate(target)}
    assert sorted(set(target)) == [-100, 0, 1, 2]
    assert all(by_ending[forms[k][-2:]] == number for k, number in enumerate(target))
    task.start_epoch(0)
    guess = task.guess(0)
    assert float(guess.loss.detach()) > float(guess.likelihood / guess.count) + 0.1
    guess.loss.backward()
    assert task.network.endings is not None
    assert task.network.endings.weight.grad is not None


def test_unknown_words_and_characters_are_trained(tmp_path):
    """Rare words give way to the unknown one now and then, and characters too; held-out words stay as they are."""
    for settings in ({"unk_probability": 1.0, "unk_share": 1.0}, {"unk_probability": 0.0, "unk_characters": 0.9}):
        task = toy_task(tmp_path, **settings)
        task.start_epoch(0)
        task.guess(0).loss.backward()
        gradient = task.network.encoder.word_embedding.weight.grad
        assert gradient is not None
        assert gradient[UNKNOWN].abs().sum() > 0
        if "unk_characters" in settings:
            characters = task.network.encoder.character_embedding.weight.grad
            assert characters is not None
            assert characters[UNKNOWN].abs().sum() > 0
        else:
            assert gradient[1:].abs().sum() == 0


def test_it_learns(tmp_path):
    task = toy_task(tmp_path, 400, dropout_hidden=0.0)
    before, _, count = task.guess_held_out()
    assert task.guess_held_out()[0] == before  # the same words are hidden every time
    assert count > 0
    adam = torch.optim.Adam(task.network.parameters(), lr=0.02)
    for epoch in range(8):
        for number in range(task.start_epoch(epoch)):
            adam.zero_grad()
            task.guess(number).loss.backward()
            adam.step()
    after, right, _ = task.guess_held_out()
    assert after < 0.75 * before
    assert 0.3 < right <= 1
