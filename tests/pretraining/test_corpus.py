"""Text as numbers on disk: made once, made again when the text or how it is split changes."""

from __future__ import annotations

import numpy as np
import pytest
from small_texts import write_text

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.lock import exclusive
from discoparse.pretraining import corpus as module
from discoparse.pretraining.corpus import prepare_corpus
from discoparse.pretraining.reading import Splitting

_LINES = Splitting(pretokenized=True)


def words(corpus: module.TextCorpus) -> list[list[str]]:
    parts = np.split(corpus.ids, np.cumsum(corpus.lengths)[:-1])
    return [[corpus.forms[k] for k in part] for part in parts]


def test_sentences_come_back(tmp_path):
    one, two = write_text(tmp_path / "one", 30), write_text(tmp_path / "two", 20, seed=1)
    corpus = prepare_corpus(tmp_path / "cache", [one, two], _LINES)
    lines = [line for path in ("one", "two") for line in (tmp_path / path).read_text().splitlines()]
    assert words(corpus) == [line.split() for line in lines]
    assert corpus.counts.tolist() == [sum(line.split().count(form) for line in lines) for form in corpus.forms]
    data, paths = corpus.describe([one, two])
    assert [(entry["set"], entry["sentences"]) for entry in data] == [("one", 30), ("two", 20)]
    assert paths == [one, two]


def test_text_is_read_once(tmp_path, monkeypatch):
    path = write_text(tmp_path / "text")
    first = prepare_corpus(tmp_path / "cache", [path], _LINES)
    monkeypatch.setattr(module, "read_blocks", None)  # a second reading would fail
    again = prepare_corpus(tmp_path / "cache", [path], _LINES)
    assert again.fingerprint == first.fingerprint
    assert words(again) == words(first)


@pytest.mark.parametrize("change", ["text", "splitting", "facts"])
def test_other_text_is_read_again(tmp_path, change):
    path = write_text(tmp_path / "text")
    first = prepare_corpus(tmp_path / "cache", [path], _LINES)
    splitting = _LINES
    if change == "text":
        write_text(tmp_path / "text", seed=3)
    elif change == "splitting":
        splitting = Splitting("en")
    else:
        (tmp_path / "cache" / "facts.json").write_text("[]")
    again = prepare_corpus(tmp_path / "cache", [path], splitting)
    assert (again.fingerprint == first.fingerprint) == (change == "facts")


def test_an_interrupted_reading_leaves_nothing_that_looks_complete(tmp_path, monkeypatch):
    path = write_text(tmp_path / "text")
    prepare_corpus(tmp_path / "cache", [path], _LINES)
    write_text(tmp_path / "text", seed=3)

    def broken(words: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_corpus(tmp_path / "cache", [path], _LINES, told=broken)
    assert not (tmp_path / "cache" / "facts.json").exists()


def test_a_cut_file_is_refused(tmp_path):
    path = write_text(tmp_path / "text")
    prepare_corpus(tmp_path / "cache", [path], _LINES)
    ids = tmp_path / "cache" / "ids.bin"
    ids.write_bytes(ids.read_bytes()[:-4])
    with pytest.raises(DiscoparseError, match="not what was written"):
        prepare_corpus(tmp_path / "cache", [path], _LINES)


def test_two_programs_do_not_write_one_cache(tmp_path):
    path = write_text(tmp_path / "text")
    (tmp_path / "cache").mkdir()
    with exclusive(tmp_path / "cache" / ".lock"), pytest.raises(UsageError, match="another program"):
        prepare_corpus(tmp_path / "cache", [path], _LINES)


def test_text_in_use_is_not_disturbed_by_another_in_the_same_cache(tmp_path):
    """A training has the text in memory-mapped files while another program prepares its own."""
    first = prepare_corpus(tmp_path / "cache", [write_text(tmp_path / "long", 300)], _LINES)
    before = first.ids.copy()
    second = prepare_corpus(tmp_path / "cache", [write_text(tmp_path / "short", 3, seed=9)], _LINES)
    assert len(second.ids) < len(before)
    assert (first.ids == before).all()


@pytest.mark.parametrize(("sentences", "most", "held"), [(1000, 2000, 20), (3000, 30, 30), (10, 5, 1), (1, 1, 1)])
def test_a_small_share_is_held_out(tmp_path, sentences, most, held):
    corpus = prepare_corpus(tmp_path / "cache", [write_text(tmp_path / "text", sentences)], _LINES)
    chosen = corpus.held_out(most)
    assert chosen.sum() == held
    if held == 30:  # from all over the text, neighbours together
        starts = np.flatnonzero(np.diff(chosen.astype(int), prepend=0) == 1)
        assert starts.tolist() == [0, 1495, 2990]
