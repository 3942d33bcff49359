"""Text as blocks of sentences: the same however it is compressed, cut and shared out among processes."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import pytest

from discoparse.errors import DiscoparseError, UsageError
from discoparse.pretraining import reading
from discoparse.pretraining.corpus import prepare_corpus
from discoparse.pretraining.reading import Splitting, file_digest, read_blocks
from discoparse.text import split_text

_PARAGRAPHS = [f"Mr. Fox saw {k} dogs. They ran\naway, didn't they? Nobody knows." for k in range(40)]
_TEXT = "\n\n".join(_PARAGRAPHS)


def sentences(paths: list[str], splitting: Splitting, processes: int = 1) -> list[list[str]]:
    found = []
    for block in read_blocks(paths, splitting, processes):
        for part in np.split(block.ids, np.cumsum(block.lengths)[:-1]):
            found.append([block.forms[k] for k in part])
    return found


@pytest.mark.parametrize("size", [7, 60, 500, 10**6])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_the_same_sentences_whatever_the_size_of_the_blocks(tmp_path, monkeypatch, size, pack):
    monkeypatch.setattr(reading, "_BLOCK", size)
    monkeypatch.setattr(reading, "_LONGEST_BLOCK", 1000)
    path = tmp_path / "text"
    path.write_bytes(pack(_TEXT.encode()))
    assert sentences([str(path)], Splitting("en")) == [s.forms for s in split_text(_TEXT, "en")]


def test_pretokenized_lines_are_sentences(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_BLOCK", 5)
    path = tmp_path / "text"
    path.write_text("Mr . Fox\n\n  saw  dogs \nend", encoding="utf-8")
    assert sentences([str(path)], Splitting(pretokenized=True)) == [["Mr", ".", "Fox"], ["saw", "dogs"], ["end"]]


def test_lines_end_sentences_where_that_is_wanted(tmp_path):
    path = tmp_path / "text"
    path.write_text("one two\nthree", encoding="utf-8")
    assert sentences([str(path)], Splitting(lines=True)) == [["one", "two"], ["three"]]
    assert sentences([str(path)], Splitting()) == [["one", "two", "three"]]


def test_text_without_any_place_to_cut_is_cut_between_words(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_BLOCK", 10)
    path = tmp_path / "text"
    path.write_text("word " * 100, encoding="utf-8")
    found = sentences([str(path)], Splitting(pretokenized=True))
    assert [word for sentence in found for word in sentence] == ["word"] * 100
    assert len(found) > 1


def test_several_processes_read_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_BLOCK", 50)
    paths = []
    for k in range(2):
        path = tmp_path / f"{k}.txt"
        path.write_text("\n\n".join(_PARAGRAPHS[k::2]), encoding="utf-8")
        paths.append(str(path))
    assert sentences(paths, Splitting("en"), 2) == sentences(paths, Splitting("en"), 1)


def test_bytes_that_are_not_text_become_replacement_characters(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"caf\xe9 au lait\n")
    assert sentences([str(path)], Splitting(pretokenized=True)) == [["caf\ufffd", "au", "lait"]]
    told: list[str] = []
    list(read_blocks([str(path)], Splitting(pretokenized=True), notice=told.append))
    (message,) = told
    assert message.endswith(
        "1 byte that cannot be decoded is read as U+FFFD, the first on line 1: convert the text to UTF-8"
    )


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "text.xz"
    path.write_bytes(lzma.compress(_TEXT.encode())[:-40])
    with pytest.raises(DiscoparseError, match=r"text\.xz: the compressed file is cut off or damaged"):
        sentences([str(path)], Splitting())


def test_standard_input_is_refused():
    with pytest.raises(UsageError, match="standard input"):
        file_digest("-")


def test_a_file_without_sentences_is_named(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n \n")
    with pytest.raises(DiscoparseError, match=r"empty\.txt: no sentences"):
        prepare_corpus(tmp_path / "cache", [str(path)], Splitting())
