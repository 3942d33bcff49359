"""Text parsed by several processes: the trees of one process, in order, whatever is asked for."""

from __future__ import annotations

import itertools
import os
import threading
import warnings

import pytest
from pool_work import Imports
from random_model import random_parser, save_random_model

from discoparse import load, models
from discoparse.errors import UsageError
from discoparse.neural.compiled.library import supported
from discoparse.parser.doubt import Doubt
from discoparse.parser.jobs import Pool
from discoparse.parser.jobs.tasks import line_tasks, segment_tasks, tree_tasks, word_tasks
from discoparse.parser.jobs.texts import IN_PARTS, TextWork, parse_parts
from discoparse.parser.passages import read_text
from discoparse.parser.tokens import LONGEST_SENTENCE

TEXT = [
    "What did you see? The dog (old) isn't “here”…\n",
    "\n",
    "Cats bark 🎉 at 10 %. ",
    "What a dog!\n",
    " \n",
    "1. The old cats.\n2. You see?\n",
] * 40


def told_of(parser, **options):
    """The parts of TEXT with so small tasks that workers take turns, and what was told."""
    told: list[str] = []
    work = options.pop("work", None) or TextWork([parser], **options)
    tasks = segment_tasks(0, TEXT, "en", told.append, size=60)
    return list(parse_parts(work, tasks, 2, notice=told.append, refuse=told.append)), told


@pytest.fixture(scope="module")
def parser():
    return random_parser()


def same_trees(found, expected) -> None:
    found, expected = list(found), list(expected)
    assert [str(tree) for tree in found] == [str(tree) for tree in expected]
    assert [(tree.id, tree.text) for tree in found] == [(tree.id, tree.text) for tree in expected]
    assert [[token.span for token in tree.tokens] for tree in found] == [
        [token.span for token in tree.tokens] for tree in expected
    ]


@pytest.mark.parametrize("lines", [False, True])
def test_a_stream_of_text_has_the_same_trees(parser, lines):
    same_trees(parser.stream(iter(TEXT), jobs=2, lines=lines), parser.stream(iter(TEXT), lines=lines))


def test_a_stream_of_tokens_has_a_result_for_each_sentence(parser):
    sentences = [["What", "did", "you", "see", "?"], [], ["Go", ""], ["The"] * 7] * 300
    expected = [None if tree is None else str(tree) for tree in parser.stream_tokens(sentences)]
    found = [None if tree is None else str(tree) for tree in parser.stream_tokens(iter(sentences), jobs=3)]
    assert found == expected
    assert expected[:3] != [None] * 3
    with pytest.raises(TypeError, match="sentence 2 is a string"):
        list(parser.stream_tokens([["Go"], "Go on"], jobs=2))


def test_a_stream_without_end_is_parsed_as_it_comes(parser):
    """Memory is bounded: what is read ahead does not grow."""
    read = 0

    def endless():
        nonlocal read
        for read in itertools.count(1):
            yield f"The dog saw cat {read}.\n\n" * 50

    stream = parser.stream(endless(), jobs=2)
    first = [next(stream) for _ in range(3000)]
    assert first[-1].words == ["The", "dog", "saw", "cat", "60", "."]
    assert read < 1000
    stream.close()


def test_streams_in_several_threads(parser):
    expected = [str(tree) for tree in parser.stream(TEXT)]
    found: dict[int, list[str]] = {}

    def parse(number: int) -> None:
        found[number] = [str(tree) for tree in parser.stream(TEXT, jobs=2)]

    threads = [threading.Thread(target=parse, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == {0: expected, 1: expected}


def test_what_is_cut_is_told_as_without_jobs(parser):
    text = ["word " * (LONGEST_SENTENCE + 1), "\n\n", "x" * 500_000, "\n\nThe end."]

    def noticed(**options) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trees = list(parser.stream(text, **options))
        return [*sorted(str(warning.message) for warning in caught), *(str(tree.words)[:50] for tree in trees)]

    assert noticed(jobs=2) == noticed()
    assert "cut into 2 parts" in noticed(jobs=2)[0]


@pytest.mark.parametrize("format", IN_PARTS)
@pytest.mark.parametrize("gpu", [False, True])
def test_parts_are_numbered_through(parser, format, gpu, monkeypatch):
    """Also where one process decides for all, as with a GPU: on a CPU, by the same way."""
    alone = list(
        parse_parts(TextWork([parser], format), segment_tasks(0, TEXT, "en", print), 1, notice=print, refuse=print)
    )
    if gpu:
        monkeypatch.setattr(type(parser), "runs_on_gpu", True)
        monkeypatch.setattr(parser.decoder, "decode_arrays", _lists_as_arrays(parser))
    parts, _ = told_of(parser, format=format)
    assert len(parts) > 10
    between = ",\n" if format == "json" else ""
    assert between.join(part.text for part in parts) == between.join(part.text for part in alone)
    assert sum(part.count for part in parts) == sum(part.count for part in alone)


def _lists_as_arrays(parser):
    """What a GPU's decoder gives, from the decisions of whatever network there is."""
    from discoparse.parser.jobs.deciding import _padded

    def arrays(sentences):
        for chosen, batch in parser.decoder.decode(sentences, probabilities=True):
            assert batch.probabilities is not None
            yield chosen, [_padded(rows) for rows in (batch.actions, batch.labels, batch.tags, batch.probabilities)]

    return arrays


def test_trees_of_decisions_from_elsewhere(parser, monkeypatch):
    expected = list(parser.stream(TEXT))
    monkeypatch.setattr(type(parser), "runs_on_gpu", True)
    monkeypatch.setattr(parser.decoder, "decode_arrays", _lists_as_arrays(parser))
    same_trees(parser.stream(TEXT, jobs=2), expected)


def test_several_trees_and_doubt(parser):
    parts, _ = told_of(parser, best=2)
    passages = list(read_text(TEXT, "en", print))
    expected = [
        (f"{k}.{rank}", str(tree).partition("\t")[0])
        for k, trees in enumerate(parser.stream_best(passages, 2), 1)
        for rank, tree in enumerate(trees, 1)
    ]
    assert [(t.id, str(t).partition("\t")[0]) for part in parts for t in part.trees if t is not None] == expected
    parts, _ = told_of(parser, doubt=Doubt(4), format="jsonl", screen=(101.0, False))
    count = sum(part.count for part in parts)
    assert count == len(passages)
    assert [sum(numbers) for numbers in zip(*(part.screened for part in parts), strict=True)] == [count, count]
    assert "".join(part.text for part in parts) == "null\n" * count


def test_a_language_that_the_model_does_not_know_is_told_once():
    if "nl" not in [model["name"] for model in models()]:
        pytest.skip("the model nl is not installed")
    told: list[str] = []
    work = TextWork(["nl"], "discbracket", familiar=True)
    tasks = segment_tasks(0, ["Это другой язык. " * 20 + "\n\n"] * 10, "nl", print, size=60)
    list(parse_parts(work, tasks, 2, notice=told.append, refuse=told.append))
    assert ["script" in message for message in told] == [True]


def test_refused_lines_have_their_numbers(parser):
    lines = ["The dog\n", "\n", "word " * 2001 + "\n"] * 30
    told: list[str] = []
    parts = list(
        parse_parts(TextWork([parser], "jsonl"), line_tasks(0, lines, size=500), 2, notice=print, refuse=told.append)
    )
    assert [message.partition(" is")[0] for message in told] == [f"line {number}" for number in range(3, 91, 3)]
    text = "".join(part.text for part in parts).splitlines()
    assert len(text) == 90
    assert [number for number, line in enumerate(text, 1) if line != "null"] == list(range(1, 90, 3))
    assert '"id": "88"' in text[87]


def test_what_is_kept_of_a_treebank(parser):
    gold = list(parser.parse_tokens([["What", "did", "you", "see", "?"]] * 40))
    for number, tree in enumerate(gold):
        tree.id = f"s{number}"
    work = TextWork([parser], keep=["brackets", "tags"])
    parts = list(parse_parts(work, tree_tasks(0, gold, size=20), 2, notice=print, refuse=print))
    assert [str(tree) for part in parts for tree in part.trees] == [str(tree) for tree in gold]
    assert [tree.id for part in parts for tree in part.trees if tree is not None] == [tree.id for tree in gold]


@pytest.mark.skipif(not supported(), reason="the compiled network is not built")
def test_workers_do_not_import_pytorch(tmp_path):
    save_random_model(tmp_path / "model")
    tasks = word_tasks(0, [["The", "dog"]] * 10, size=2)
    with Pool(2, Imports(TextWork([str(tmp_path / "model")], "discbracket"))) as pool:
        assert list(pool.run(tasks)) == [False] * 10
    parser = load(tmp_path / "model", "cpu")
    with Pool(2, Imports(TextWork([parser]))) as pool:
        assert list(pool.run(word_tasks(0, [["The", "dog"]] * 10, size=2))) == [False] * 10


def test_wrong_numbers_of_jobs(parser):
    for wrong in (0, -2, 1.5):
        with pytest.raises(UsageError, match="from 1 to"):
            list(parser.stream(["Go."], jobs=wrong))  # type: ignore[arg-type]


def test_no_process_is_left_behind_by_a_stream_that_is_not_read_to_its_end(parser):
    others = set(_children())
    stream = parser.stream(TEXT * 5, jobs=2)
    next(stream)
    children = set(_children()) - others
    assert children
    stream.close()
    assert not children & set(_children())


def _children() -> list[int]:
    """The processes whose parent is this one."""
    with os.popen(f"ps -o pid= --ppid {os.getpid()}") as listing:
        return [int(line) for line in listing]
