"""Most of a text is read by shortcuts and from memory: what comes out is what the rules say without them."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discoparse.text import boundaries, words
from discoparse.text.boundaries import find_boundaries
from discoparse.text.convention import CONVENTIONS, NEUTRAL, Convention
from discoparse.text.sentence import Spans
from discoparse.text.words import cut_words

RULES = {**CONVENTIONS, "other": NEUTRAL}
# Runs without spaces: plain words, abbreviations, contractions, and quotation marks and periods wherever they may be.
AWKWARD = """
    the dog Wet EU Maij-Weggen Nieuw-Zeeland EU-lid a-b x I Karl Hesturinn skaltu
    dog. dog? dog! Dog. x. I. EU. V. 1992. 3. Weggen. Maij-Weggen. EU-lid? a-b. t-d.
    Mr. etc. enz. z.B. usw. e.g. i.e., D.C. Str. Goethestr. no. nr. kl. t.d. bldg. ex-gov. Vize-Aufl. ref. pt. 5
    don't don't, it's. dogs' 't ('t 's collega's gibt's 'dog dog' 'dog' 'dog.' dog'. '' ’n’
    "dog" "dog. dog." dog". „dog“ «dog» (dog) (dog). (werk)dag Koordinator(in) [[ ]]
    dog, ,dog dog; dog: dog... ... … - -- dog- -ie .5 5.50 10% $5 9/11 :-)
    https://a.b/c. a@b.de www.x.is \u200b \u00addog dog\u200b
"""
RUNS = [*AWKWARD.split(), "x" * 60]
SPACES = [" ", " ", " ", " ", "  ", "\n", "\t", "\u00a0"]
texts = st.lists(st.tuples(st.sampled_from(RUNS), st.sampled_from(SPACES)), max_size=30).map(
    lambda parts: "".join(run + space for run, space in parts)
)


def fresh(rules: Convention) -> Convention:
    """The same rules without memory."""
    return dataclasses.replace(rules, words={}, known={}, plain=set())


def by_rules(
    text: str, rules: Convention, periods: frozenset[int], offset: int
) -> tuple[list[str], list[tuple[int, int]]]:
    """The tokens of a text, every run by the rules."""
    forms, spans = [], []
    quoted = False
    for run in re.finditer(r"\S+", text):
        parts, quoted = words._cut_run(text, *run.span(), rules, periods, quoted)
        forms += parts.forms
        start = run.start() + offset
        spans += [(start + first, start + last) for first, last in zip(parts.starts, parts.ends, strict=True)]
    return forms, spans


@pytest.mark.parametrize("language", RULES)
@given(st.lists(texts, min_size=1, max_size=3), st.integers(0, 3), st.data())
@settings(max_examples=150, deadline=None)
def test_runs_that_were_seen_before_are_cut_by_the_rules(language, sentences, offset, data):
    rules = fresh(RULES[language])
    for text in [*sentences, *sentences]:  # the second time from memory
        places = [place for place, character in enumerate(text) if character == "."]
        periods = frozenset(data.draw(st.sets(st.sampled_from(places)))) if places else frozenset()
        forms, spans = cut_words(text, 0, len(text), rules, periods, offset)
        expected, places_expected = by_rules(text, fresh(rules), periods, offset)
        assert forms == expected
        if forms:
            assert (spans.start, spans.end) == (places_expected[0][0], places_expected[-1][1])
        assert list(spans) == places_expected


def test_what_is_remembered_is_the_same_everywhere_and_not_too_much(monkeypatch):
    rules = fresh(RULES["en"])
    for text in ("dog dogs' 'dog dog. (dog) don't", "x" * 100):
        cut_words(text, 0, len(text), rules, frozenset())
    assert set(rules.words) == {"dog"}
    assert set(rules.known) == {"(dog)", "don't"}
    monkeypatch.setattr(words, "_MOST_KNOWN", 3)
    cut_words("cat", 0, 3, rules, frozenset())
    assert (set(rules.words), set(rules.known)) == ({"cat"}, set())


def test_places_are_a_sequence_of_pairs():
    text = "It isn't,  so."
    forms, spans = cut_words(text, 0, len(text), fresh(RULES["en"]), frozenset(), 100)
    assert isinstance(spans, Spans)
    assert forms == ["It", "is", "n't", ",", "so", "."]
    assert len(spans) == 6
    assert spans[0] == (100, 102)
    assert spans[-1] == (113, 114)
    assert spans[1:3] == [(103, 105), (105, 108)]
    assert [text[start - 100 : end - 100] for start, end in spans] == forms


@pytest.mark.parametrize("language", RULES)
@given(st.lists(texts, min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_plain_paragraphs_end_their_sentences_as_any(language, paragraphs):
    rules = fresh(RULES[language])
    for paragraph in [*paragraphs, *paragraphs]:
        if paragraph.strip():
            assert find_boundaries(paragraph, rules) == boundaries._judged_boundaries(paragraph, fresh(rules))


def test_plain_paragraphs_are_not_judged_mark_by_mark(monkeypatch):
    monkeypatch.delattr(boundaries, "_judged_boundaries")
    text = "The dog barks. The cat, which is old, sleeps!\nIs it so? In 1992 Maij-Weggen. no. 5 Yes.\n"
    rules = fresh(RULES["nl"])
    assert find_boundaries(text.replace(" no. 5", ""), rules)[0] == [14, 45, 55, 76, 81, 82]
    with pytest.raises(NameError):
        find_boundaries(text, rules)  # `no.` is an abbreviation before a number


def test_a_plain_word_says_nothing_about_how_it_begins():
    rules = fresh(RULES["en"])
    assert find_boundaries("They saw the Drama. It ended.", rules)[0] == [19, 29]
    assert find_boundaries("They saw Dr. Smith.", rules)[0] == [19]


def test_abbreviations_before_numbers_are_not_plain():
    rules = fresh(RULES["en"])
    text = "This is in ref. 5 of it. It has a ref. Then."
    assert find_boundaries(text, rules) == ([24, 38, 44], frozenset({14}))


@given(texts | st.text(alphabet="ab .'\"-/(", max_size=80))
@settings(max_examples=500, deadline=None)
def test_words_with_a_period_are_found_as_by_the_whole_expression(text):
    found = list(boundaries._words_with_period(text))
    expected, place = [], 0
    while (match := boundaries._WORD_AND_PERIOD.search(text, place)) is not None:
        expected.append((match.start(), match.group(1)))
        place = match.end()
    assert found == expected
