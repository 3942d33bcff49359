"""The library is asked about doubtful marks only: what is proposed must be what it says about the whole paragraph."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discoparse.text import proposals, split, split_text
from discoparse.text.proposals import propose
from discoparse.text.split import segments

SENTENCES = [
    "Mr. Fox left at 10. Then, on 3. maí 1944 kl. 10.30, he came back!",
    'She asked: "Why?" I said nothing... And you?!',
    "Hann kom kl. 10 og fór. Sbr. 3. gr. laga nr. 5/1990, t.d. um þetta.",
    "Das ist z. B. die Nr. 3. Er wohnt in der Goethestr. 5. Karl V. kam.",
    "Het was (o.a. in Den Haag) koud . De heer Jansen e.a. bleven thuis .",
    "See www.mbl.is. It costs $5.50. [1] Next. 5 km. XIV. Louis.",
    "Mrs. Maij-Weggen. Nieuw-Zeeland? The EU-lidmaatschap! A-b. T-d. Dr-Ing. It is a T-shirt. He is ex-gov. Then.",
    "a plain one without any doubt that goes on for many more words than the library gets to see. Another one.",
]


def whole(paragraph: str) -> tuple[set[int], set[int]]:
    """What the library says when it reads everything."""
    ends: set[int] = set()
    periods: set[int] = set()
    text = proposals.harmless(paragraph)
    if text.strip():
        proposals._ask_library(text, [(0, len(text))], ends, periods)
    return ends, periods


def check(paragraph: str) -> None:
    ends, periods = propose(paragraph)
    expected, known = whole(paragraph)
    last = len(paragraph.rstrip())
    assert {end for end in ends if end < last} == {end for end in expected if end < last}
    assert periods == known


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(SENTENCES)), 2)))
def test_pairs_of_sentences(order):
    check(" ".join(SENTENCES[k] for k in order))


@given(st.lists(st.sampled_from(" ".join(SENTENCES).split()), max_size=60))
@settings(max_examples=300, deadline=None)
def test_words_of_such_sentences_in_any_order(words):
    check(" ".join(words))


@given(
    st.text(max_size=200) | st.lists(st.sampled_from([*' .?!…\n[]"“”(10a', "Mr.", "x" * 300]), max_size=40).map("".join)
)
@settings(max_examples=200, deadline=None)
def test_any_text_has_proposals_inside(text):
    ends, periods = propose(text)
    assert all(0 < end <= len(text) for end in ends)
    assert all(text[place] == "." for place in periods)


def test_the_library_reads_little_of_plain_text(monkeypatch):
    read = []

    def ask(text, windows, ends, periods):
        read.extend(text[start:end] for start, end in windows)

    monkeypatch.setattr(proposals, "_ask_library", ask)
    assert propose("The dog barks. The cat, which is old, sleeps. Is it so? Yes.") == ({14, 45, 55, 60}, set())
    assert read == []
    propose("Some words that nobody needs to see, as Mr. Fox would say if he were here today, dear reader")
    assert read == ["to see, as Mr. Fox would say if he"]


def test_what_is_in_doubt_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(proposals, "_ask_library", lambda text, windows, ends, periods: asked.extend(windows))
    for word in ("2-way.", "a-way.", "way-t.", "x-EU.", "Herra-dr.", "EU.", "b.", "1992.", 'way".', "way...", "[["):
        asked.clear()
        propose(f"The {word} Then it went on")
        assert asked, word


def test_the_library_gets_plain_spaces_and_no_endless_words():
    text = "a\u00a0b\u200bc\td\ne\r\u2028f“é” " + "x" * 200 + " " + "y." * 101 + " z"
    assert proposals.harmless(text) == "a b c d e  f“é” " + "x" * 200 + " " + "x" * 202 + " z"
    for length in range(190, 420, 7):
        for before in range(0, 110, 13):
            text = "a " * before + "-" * length + " end"
            assert ("-" in proposals.harmless(text)) == (length <= 200)


LONG = "The dog saw it. Mr. Fox did not, though he was there at 10. And then?\nIt went on. "


def test_a_long_paragraph_is_cut_between_sentences(monkeypatch):
    """The sentences are those of the paragraph as a whole, and the parts are the text."""
    text = LONG * 400
    whole = [sentence.forms for sentence in split_text(text, "en")]
    parts = list(segments([text], "en"))
    assert "".join(part for _, part in parts) == text
    assert [offset for offset, _ in parts] == list(itertools.accumulate([0, *(len(part) for _, part in parts[:-1])]))
    monkeypatch.setattr(split, "LONG_PARAGRAPH", 10**9)
    assert [sentence.forms for sentence in split_text(text, "en")] == whole
    monkeypatch.undo()
    assert len(parts) > 1
    assert max(len(part) for _, part in parts) < 3 * split.LONG_PARAGRAPH


def test_a_paragraph_without_ends_of_sentences_is_cut_between_words(monkeypatch):
    monkeypatch.setattr(split, "LONGEST_PARAGRAPH", 1000)
    cut: list[int] = []
    text = "word " * 500 + "x" * 5000 + " end"
    parts = list(segments([text], None, on_cut_word=cut.append))
    assert "".join(part for _, part in parts) == text
    assert all(part.endswith(" ") for _, part in parts[:2])
    assert cut == [2500]
