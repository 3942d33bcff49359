"""The parser from Python: any text gives sound trees that line up with it, alone or in a stream, in any company."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_model import random_parser, save_random_model

import discoparse.neural.forms
import discoparse.parser.parser
from discoparse import Parser, Tree, load
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.passages import read_lines
from discoparse.parser.tokens import LONGEST_SENTENCE

PARSER = random_parser()
TEXT = "What did you see? The dog isn't old (yet), “Fox” said…\n\nCats bark 🎉 loudly: 10 % of them.\nOr so?"
SENTENCES = [
    ["What", "did", "you", "see", "?"],
    ["cats"],
    ["The", "dog", "-LRB-", "old", "-RRB-", "barks", "."],
    ["(", "…", "\u200d", "日本", "a b"],
    ["dog"] * 30,
]

# What users paste: words, punctuation, quotes, brackets, controls, emoji, and anything else.
texts = st.lists(
    st.one_of(
        st.sampled_from(["The dog ", "isn't ", "(“x”) ", "\n", "\n\n", ". ", "\x00", "\ufeff", "🎉", "…", "e\u0301"]),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)
words = st.text(min_size=1, max_size=6)


def check_tree(tree: Tree, text: str) -> None:
    """A sound tree whose tokens and constituents are where they say they are in the text."""
    masks = tree.masks()
    assert masks[tree.root] == (1 << len(tree)) - 1
    assert sorted(c for n in tree.preorder() for c in n.children if isinstance(c, int)) == list(range(len(tree)))
    assert tree.copy() == tree
    spans = [token.span for token in tree.tokens]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert tree.text == text[spans[0][0] : spans[-1][1]]
    for node, blocks in tree.spans().items():
        covered = {i for start, end in blocks for i, span in enumerate(spans) if start <= span[0] and span[1] <= end}
        assert covered == tree.yields()[node]
        assert len(blocks) == 1 + sum(a + 1 < b for a, b in pairwise(sorted(covered)))
    assert all(node.label_probability is not None and 0 <= node.label_probability <= 1 for node in tree.preorder())


@settings(deadline=None, max_examples=40)
@given(texts)
def test_any_text_gives_sound_trees_that_line_up_with_it(text):
    trees = PARSER.parse(text)
    for tree in trees:
        check_tree(tree, text)
    spans = [token.span for tree in trees for token in tree.tokens]
    assert spans == sorted(spans)
    rest = "".join(
        text[end:start] for (_, end), (start, _) in zip([(0, 0), *spans], [*spans, (len(text), 0)], strict=True)
    )
    assert not any(character.isalnum() for character in rest), "a visible character is in no token"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(words, min_size=1, max_size=8), max_size=6))
def test_words_come_back_as_they_were_given(sentences):
    assert [tree.words for tree in PARSER.parse_tokens(sentences)] == sentences


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(words, max_size=5), max_size=8))
def test_a_stream_keeps_the_order_and_the_places_of_empty_sentences(sentences):
    streamed = list(PARSER.stream_tokens(iter(sentences)))
    assert [tree.words if tree else [] for tree in streamed] == sentences


@settings(deadline=None, max_examples=20)
@given(st.lists(texts, max_size=4))
def test_a_list_of_texts_gives_the_trees_of_each(several):
    together = PARSER.parse(several)
    assert together == [PARSER.parse(text) for text in several]
    for trees, text in zip(together, several, strict=True):
        for tree in trees:
            check_tree(tree, text)


def test_in_a_list_of_texts_lines_and_warnings_are_those_of_each():
    long = "word " * (LONGEST_SENTENCE + 1)
    with pytest.warns(UserWarning, match="text 2: the sentence at characters 0 to "):
        assert [len(trees) for trees in PARSER.parse(("a\nb", long, ""), lines=True)] == [2, 2, 0]
    assert [len(trees) for trees in PARSER.parse(iter(["a\nb"]))] == [1]
    assert PARSER.parse([]) == []


@pytest.mark.parametrize("parse", [PARSER.parse_tokens, PARSER.stream_tokens])
@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["a"], "no words"], "sentence 2 is a string: give lists of words, or call `parse` for raw text"),
        ([["a"], [1, 2]], "word 1 of sentence 2 is of type int, not a string"),
        ([["a", None]], "word 2 of sentence 1 is None, not a string"),
        ([["a", b"b"]], "word 2 of sentence 1 is of type bytes, not a string"),
        ([["a"], None], "sentence 2 is None, not a list of words"),
        ([b"ab"], "sentence 1 is of type bytes, not a list of words"),
        ([3], "sentence 1 is of type int, not a list of words"),
        ("text", "expected a list of sentences, each a list of words, not of type str"),
        (b"text", "expected a list of sentences, each a list of words, not of type bytes"),
        (None, "expected a list of sentences, each a list of words, not None"),
    ],
)
def test_what_is_not_a_list_of_words_is_named(parse, sentences, message):
    with pytest.raises(TypeError) as raised:
        list(parse(sentences))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "takes a text or a list of texts, not NoneType"),
        (b"text", "takes a text or a list of texts, not bytes"),
        (7, "takes a text or a list of texts, not int"),
        (["text", ["some", "words"]], "text 2 is a list, not a string: for words, call `parse_tokens`"),
        (["text", None], "text 2 is a NoneType, not a string"),
    ],
)
def test_what_is_not_a_text_is_named(text, message):
    with pytest.raises(TypeError, match=message):
        PARSER.parse(text)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "it has 0 words; a tree needs 1 to 2,000"),
        (["word"] * (LONGEST_SENTENCE + 1), "it has 2,001 words; a tree needs 1 to 2,000"),
        (["a", ""], "word 2 is empty"),
        (["a", "b", "x" * 1_000_001], "word 3 has 1,000,001 characters, more than 1,000,000"),
    ],
)
def test_sentences_without_a_tree_are_refused_alone_and_left_out_of_a_stream(words, problem):
    with pytest.raises(DiscoparseError) as raised:
        PARSER.parse_tokens([["a"], words])
    assert str(raised.value) == f"sentence 2 cannot be parsed: {problem}"
    assert [tree and tree.words for tree in PARSER.stream_tokens([["a"], words, ["b"]])] == [["a"], None, ["b"]]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_cut_anywhere_gives_the_trees_of_the_whole(size, monkeypatch):
    """Windows smaller than the text, too: sentences do not depend on where the stream is cut or who is near."""
    monkeypatch.setitem(discoparse.parser.parser.WINDOW_TOKENS, "cpu", 4 * size)
    text = TEXT * 5
    streamed = list(PARSER.stream(text[k : k + size] for k in range(0, len(text), size)))
    whole = PARSER.parse(text)
    assert streamed == whole
    assert [t.text for t in streamed] == [t.text for t in whole]
    assert [t.tokens[-1].span for t in streamed] == [t.tokens[-1].span for t in whole]


def test_a_stream_reads_no_further_than_it_must():
    """An endless stream gives trees: memory is bounded by a window."""
    consumed = 0

    def endless():
        nonlocal consumed
        while True:
            consumed += 1
            yield "The dog barks.\n\n"

    stream = PARSER.stream(endless())
    assert next(stream).words == ["The", "dog", "barks", "."]
    assert consumed < 1000


@pytest.mark.parametrize("text", [False, True])
def test_long_words_fill_a_window_too(text):
    """Memory is bounded in characters, not only in tokens."""
    consumed = 0

    def endless():
        nonlocal consumed
        while True:
            consumed += 1
            yield "x" * 10_000 + f"{consumed}\n\n" if text else ["x" * 10_000 + str(consumed)]

    stream = PARSER.stream(endless()) if text else PARSER.stream_tokens(endless())
    assert next(stream).words == ["x" * 10_000 + "1"]
    assert consumed < 10


@pytest.mark.usefixtures("pytorch_network")
def test_the_cache_of_forms_is_bounded_in_characters(monkeypatch):
    monkeypatch.setattr(discoparse.neural.forms, "_MOST_CHARACTERS", 1000)
    parser = random_parser()
    for k in range(50):
        parser.parse_tokens([[f"{k:0100}"]])
        cache = parser.decoder._forms
        assert sum(map(len, cache.rows)) <= 1100
    assert len(cache.rows) > 1, "nothing is kept"


def test_a_word_without_end_is_cut_and_told_of_once():
    text = "The dog. " + "x" * 1_000_001 + " barks."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trees = PARSER.parse(text)
    assert [str(warning.message) for warning in caught] == [
        "the word at character 9 has more than 200,000 characters: cut into parts, each in a sentence of its own"
    ]
    for tree in trees:
        check_tree(tree, text)
    assert "".join(word for tree in trees for word in tree.words).count("x") == 1_000_001


def test_company_does_not_matter():
    """The tree of a sentence and the scores behind it do not depend on the sentences parsed beside it."""
    together = PARSER.parse_tokens(SENTENCES * 3)
    for k, sentence in enumerate(SENTENCES * 3):
        (alone,) = PARSER.parse_tokens([sentence])
        assert alone == together[k]
        for one, other in zip(alone.preorder(), together[k].preorder(), strict=True):
            assert one.label_probability == pytest.approx(other.label_probability, abs=1e-4)


def test_brackets_are_read_in_any_spelling_and_given_back_as_they_came():
    penn, plain, hidden = PARSER.parse_tokens(
        [["a", *pair] for pair in (("-LRB-", "-RRB-"), ("(", ")"), ("#LRB#", "#RRB#"))]
    )
    assert penn.words == ["a", "-LRB-", "-RRB-"]
    assert penn.constituents() == plain.constituents() == hidden.constituents()
    assert penn.tags == plain.tags == hidden.tags


def test_probabilities_are_those_of_the_labeller():
    """The probability is that of the lowest label of a set, times that of each step up its chain, and of its end."""
    (tree,) = PARSER.parse_tokens([["cats"]])
    scorers = PARSER.network.scorers
    labels = [PARSER.vocabulary.labels.index((node.label,)) + 1 for node in tree.preorder()][::-1]
    with torch.inference_mode():
        _, last, _ = PARSER.decoder.encode([["cats"]])
        first = scorers.label_first(scorers.represent(scorers.with_nil(last), torch.tensor([[0, 0, 1, 1]])))
        state = scorers.label_hidden_states(first)[0]
        scores = scorers.label_output(state)
        scores[0] = -torch.inf  # the whole sentence must be labelled
        expected = scores.softmax(0)[labels[0]]
        for label, higher in pairwise([*labels, 0]):
            expected = (
                expected * (scorers.above_output(state) + scorers.above_given(torch.tensor(label))).softmax(0)[higher]
            )
    assert [node.label_probability for node in tree.preorder()] == [pytest.approx(float(expected), abs=2e-6)] * len(
        labels
    )


def test_a_pickled_parser_parses_alike():
    before = torch.get_rng_state()
    copy = pickle.loads(pickle.dumps(PARSER))
    assert torch.equal(torch.get_rng_state(), before)
    assert isinstance(copy, Parser)
    assert copy.language == PARSER.language
    assert copy.parse(TEXT) == PARSER.parse(TEXT)


def test_a_parser_says_what_it_is():
    assert repr(PARSER) == "<Parser 'random', language en, trained on three sentences, on cpu>"
    assert repr(Parser(PARSER.network, PARSER.vocabulary)) == "<Parser 6 labels, 10 tags, on cpu>"


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", 1025, 10**6])
def test_numbers_of_threads_that_make_no_sense(tmp_path, monkeypatch, threads):
    save_random_model(tmp_path)
    told = []
    monkeypatch.setattr(torch, "set_num_threads", told.append)
    with pytest.raises(UsageError, match=r"threads: from 1 to 1,024 are possible"):
        load(tmp_path, threads=threads)
    assert not told


def test_devices_may_be_those_of_pytorch(tmp_path):
    save_random_model(tmp_path)
    assert load(tmp_path, torch.device("cpu")).device == torch.device("cpu")
    with pytest.raises(UsageError, match="unknown device None"):
        load(tmp_path, None)


def test_loading_leaves_the_threads_of_pytorch_alone(tmp_path):
    """Unless it is told to set them; a copy in the same process changes nothing."""
    save_random_model(tmp_path)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        pickle.loads(pickle.dumps(load(tmp_path)))
        assert torch.get_num_threads() == 3
        parser = load(tmp_path, threads=2)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(3)
        assert pickle.loads(pickle.dumps(parser)).threads == 2
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("told", "worker", "expected"), [(3, False, "3"), (3, True, "3"), (None, True, "1"), (None, False, "alone")]
)
def test_the_number_of_threads_travels_with_a_parser(tmp_path, told, worker, expected):
    """To another process: what `load` was told, else one thread in a worker of a pool, else what PyTorch likes."""
    parser = pickle.loads(pickle.dumps(PARSER))
    parser.threads = told
    (tmp_path / "parser").write_bytes(pickle.dumps(parser))
    program = """
import multiprocessing, pickle, sys, torch
def show(parser):
    print(torch.get_num_threads())
if __name__ == "__main__":
    before = torch.get_num_threads()
    parser = pickle.load(open(sys.argv[1], "rb"))
    if sys.argv[2] == "True":
        torch.set_num_threads(before)
        worker = multiprocessing.get_context("spawn").Process(target=show, args=[parser])
        worker.start()
        worker.join()
    elif torch.get_num_threads() == before:
        print("alone")
    else:
        show(parser)
"""
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py", tmp_path / "parser", str(worker)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"},
    )
    assert done.stdout == f"{expected}\n"


def test_threads_share_a_parser():
    """Eight threads that start together on a parser that has seen nothing get the trees that one gets."""
    expected = random_parser().parse_tokens(SENTENCES * 4)
    parser = random_parser()
    start = threading.Barrier(8)

    def work(_: int) -> list[Tree]:
        start.wait()
        return [tree for sentence in SENTENCES * 4 for tree in parser.parse_tokens([sentence])]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(8)):
            assert found == expected


def test_overlong_sentences_are_cut_in_text():
    text = "word " * (LONGEST_SENTENCE + 1)
    with pytest.warns(
        UserWarning, match=f"has {LONGEST_SENTENCE + 1:,} tokens, more than {LONGEST_SENTENCE:,}: cut into 2 parts"
    ):
        trees = PARSER.parse(text)
    assert [len(tree) for tree in trees] == [LONGEST_SENTENCE // 2, LONGEST_SENTENCE // 2 + 1]
    for tree in trees:
        assert tree.text == text[tree.tokens[0].span[0] : tree.tokens[-1].span[1]]


def test_tokens_have_no_spans():
    with pytest.raises(ValueError, match="not parsed from text"):
        PARSER.parse_tokens([["dog"]])[0].spans()
    assert PARSER.parse("") == PARSER.parse(" \n\t\x00") == PARSER.parse_tokens([]) == []


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(alphabet="a \t\n\r\u2028(", max_size=6)))
def test_lines_of_tokens_have_a_result_each_wherever_the_stream_is_cut(pieces):
    text = "".join(pieces)
    results = list(read_lines(pieces, pytest.fail))
    lines = text.split("\n")
    lines = lines if lines[-1] else lines[:-1]
    assert [passage.words if passage else [] for passage in results] == [line.split() for line in lines]
    for passage in filter(None, results):
        assert [text[start:end] for start, end in passage.spans] == passage.words
