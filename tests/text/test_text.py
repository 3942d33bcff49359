"""Raw text to tokens: exact offsets whatever the input, each treebank's conventions, streams."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_clitics import learn

from discoparse.text import Sentence, TextToken, read_pretokenized, split, split_stream, split_text
from discoparse.text.characters import is_invisible

LANGUAGES = ["en", "de", "nl", "is", "fr", None]


def tokenized(text: str, language: str) -> str:
    """Sentences a line, tokens between spaces."""
    return "\n".join(" ".join(sentence.forms) for sentence in split_text(text, language))


ENGLISH = [
    ("I can't see it.", "I ca n't see it ."),
    ("I cannot; you're gonna!", "I can not ; you 're gon na !"),
    ("Mr. and Mrs. Fox left at 5 p.m. yesterday.", "Mr. and Mrs. Fox left at 5 p.m. yesterday ."),
    ("She said no. Then they left.", "She said no .\nThen they left ."),
    ("See No. 5 and Fig. 3.", "See No. 5 and Fig. 3 ."),
    ('"Why?" she asked. "Because!"', '" Why ? " she asked .\n" Because ! "'),
    ("“It’s the dogs’ food,” he said.", "\" It 's the dogs ' food , \" he said ."),
    ('"Why not?" I asked. "Go!" Joe Fox cried out.', '" Why not ? " I asked .\n" Go ! " Joe Fox cried out .'),
    ('"Why?" I said, "Because." "No!" I left.', '" Why ? "\nI said , " Because . "\n" No ! "\nI left .'),
    ('She said "Go." I asked why.', 'She said " Go . "\nI asked why .'),
    ("A well-known anti-war e-mail", "A well - known anti-war e-mail"),
    ("It cost $5.50 (or 10% more).", "It cost $ 5.50 ( or 10 % more ) ."),
    ("C++ and rock 'n' roll, see ref. 5.", "C++ and rock 'n' roll , see ref. 5 ."),
    ("To do:\n1. Buy milk\n2. Go\nhome\n3. Sleep", "To do :\n1 . Buy milk\n2 . Go home\n3 . Sleep"),
    ("We met on\n3. May was cold - and\n- wet.", "We met on 3 .\nMay was cold - and - wet ."),
    ("his/her work on 9/11", "his / her work on 9/11"),
    ("p53-/- and Apc+/- mice, K+/Na+, 5+/-1", "p53 - / - and Apc + / - mice , K+ / Na + , 5 + / - 1"),
    (
        "Write to me@example.org or see http://example.org/a-b/.",
        "Write to me@example.org or see http://example.org/a-b/ .",
    ),
    ("J. R. R. Tolkien wrote it, etc.", "J. R. R. Tolkien wrote it , etc."),
    ("Well... yes--no?!", "Well ... yes -- no ?!"),
    ("1. Buy milk. 2. Go home.", "1 . Buy milk .\n2 . Go home ."),
    ("The U.S. Army came.", "The U.S. Army came ."),
    ("the '90s and 'em", "the '90s and 'em"),
    ("I'd've gone.", "I 'd 've gone ."),
    ("So do I. We left.", "So do I .\nWe left ."),
    ("She lives in D.C. He doesn't.", "She lives in D.C.\nHe does n't ."),
    ("They left the U.S. In 1990 it was “a mess.”", 'They left the U.S.\nIn 1990 it was " a mess . "'),
    ("P.S. We moved. A. It works.", "P.S. We moved .\nA. It works ."),
    ("We chose plan B. It worked.", "We chose plan B .\nIt worked ."),
    ("He left Elm St. in Dec. She stayed.", "He left Elm St. in Dec.\nShe stayed ."),
    ("K. He and X. You, e.g. The Dr. He of old", "K. He and X. You , e.g. The Dr. He of old"),
]
GERMAN = [
    ("Am 3. Oktober kam Dr. Müller z.B. nach Köln.", "Am 3. Oktober kam Dr. Müller z. B. nach Köln ."),
    ("Es kostet 3,5 Mio. Euro, d. h. viel.", "Es kostet 3,5 Mio. Euro , d. h. viel ."),
    ("„Wie geht’s?“, fragte er.", '" Wie geht \'s ? " , fragte er .'),
    ("Am 1. 5. 2020 kam Frau Dr. med. Schmidt.", "Am 1. 5. 2020 kam Frau Dr. med. Schmidt ."),
    ("Die Firma Fox & Co. KG. Das war Fox & Co. Er ging.", "Die Firma Fox & Co. KG .\nDas war Fox & Co.\nEr ging ."),
    ("Gibt's Andrea's Bier, wenn's regnet?", "Gibt 's Andrea's Bier , wenn 's regnet ?"),
    (
        "Die Ein- und Ausfuhr stieg um 5% im Jahr 2009. Gut so!",
        "Die Ein- und Ausfuhr stieg um 5 % im Jahr 2009 .\nGut so !",
    ),
    ("Die SPD-Fraktion (15) und der/die Leiter(in)", "Die SPD-Fraktion ( 15 ) und der/die Leiter(in)"),
    ("Er kaufte Äpfel, Birnen usw. Dann ging er.", "Er kaufte Äpfel , Birnen usw.\nDann ging er ."),
    ("So ist's. Er kam. Das war’s. Und du?", "So ist 's .\nEr kam .\nDas war 's .\nUnd du ?"),
    ("Er wohnt in der Goethestr. 5 in Bonn.", "Er wohnt in der Goethestr. 5 in Bonn ."),
    ("Sie stand am Marktpl. in Ulm.", "Sie stand am Marktpl. in Ulm ."),
    ("Das Büro ist in der Bonner Str. Wir sind oft dort.", "Das Büro ist in der Bonner Str.\nWir sind oft dort ."),
    ("Sie ist 15. Er kennt Karl V. Das war am 3. Mai.", "Sie ist 15 .\nEr kennt Karl V.\nDas war am 3. Mai ."),
    ("1. Der Hund bellt. 2. Die Katze schläft.", "1. Der Hund bellt .\n2. Die Katze schläft ."),
    ("Es kostet 3 Mio. Das ist viel, z. B. Der Preis.", "Es kostet 3 Mio.\nDas ist viel , z. B. Der Preis ."),
    ("»Ja«, sagte sie.", "» Ja « , sagte sie ."),
]
DUTCH = [
    ("Zo'n auto's zie je 's avonds in '69.", "Zo'n auto's zie je 's avonds in '69 ."),
    ("Dr. J. de Vries, o.a. bekend van tv, kwam.", "Dr. J. de Vries , o.a. bekend van tv , kwam ."),
    ("'t Is 1-0 voor de 25-jarige.", "'t Is 1-0 voor de 25-jarige ."),
    ("Hij zei: 'Kom mee.' Zij kwam.", "Hij zei : ' Kom mee . '\nZij kwam ."),
    (
        "De (werk)dag van de in- en uitvoer kost 10.000,- gulden.",
        "De (werk)dag van de in- en uitvoer kost 10.000,- gulden .",
    ),
    ("Ik zie auto's. Zij ook.", "Ik zie auto's .\nZij ook ."),
    ("Hij woont in de Kerkstr. 5 in Gent.", "Hij woont in de Kerkstr. 5 in Gent ."),
    ("Hij werkt bij een N.V. Zij niet. J. De Vries wel.", "Hij werkt bij een N.V.\nZij niet .\nJ. De Vries wel ."),
    ("'Hoe heet je?', vraagt zij.", "' Hoe heet je ? ' , vraagt zij ."),
]
ICELANDIC = [
    ("Hesturinn er á túninu.", "Hestur$ $inn er á tún$ $inu ."),
    (
        "Fundurinn hefst kl. 10 þann 3. maí nk. í Reykjavík.",
        "Fundur$ $inn hefst kl. 10 þann 3. maí nk. í Reykjavík .",
    ),
    ("Hann keypti epli o.s.frv. Svo fór hann heim.", "Hann keypti epli o.s.frv.\nSvo fór hann heim ."),
    ("Hún er 15. Hann er eldri.", "Hún er 15 .\nHann er eldri ."),
    ("„Hvað gerir þú?“ spurði hún.", '" Hvað gerir þú ? " spurði hún .'),
]
CASES = [
    (language, text, expected)
    for language, cases in (("en", ENGLISH), ("de", GERMAN), ("nl", DUTCH), ("is", ICELANDIC))
    for text, expected in cases
]


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_cuts_as_the_treebanks_do(language: str, text: str, expected: str) -> None:
    assert tokenized(text, language) == expected


# Texts of any characters, and of those that decide something.
PARTS = [
    *"az'’\"„“()[.!?,;:-—/%$5İß😀",
    *["..", "--", "3,5", "Dr", "It", "n't", "'s", "http://x.y/", "a@b.c", ":-)", "👩\u200d💻", "e\u0301"],
    *[" ", "  ", "\n", "\n\n", "\r\n", "\t", "\xa0", "\u2028", "\x00", "\u200b", "\u200f", "\ufeff", "\xad"],
]
RAW = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(PARTS), max_size=40).map("".join),
)


def check_offsets(text: str, sentences: list[Sentence]) -> None:
    """Tokens stand in order and apart, none is empty or has a space, and nothing visible is left over."""
    position = 0
    for sentence in sentences:
        assert sentence.tokens
        for token in sentence.tokens:
            assert position <= token.start < token.end <= len(text)
            assert token.form
            assert not any(character.isspace() for character in token.form + text[token.start : token.end])
            assert all(c.isspace() or is_invisible(c) for c in text[position : token.start])
            position = token.end
    assert all(c.isspace() or is_invisible(c) for c in text[position:])


@given(RAW, st.sampled_from(LANGUAGES), st.booleans())
@settings(max_examples=400, deadline=None)
def test_every_visible_character_is_in_one_token(text: str, language: str | None, lines: bool) -> None:
    check_offsets(text, list(split_text(text, language, lines=lines)))


@given(RAW, st.lists(st.integers(0, 200), max_size=6), st.sampled_from(LANGUAGES), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_stream_gives_the_same_sentences_however_it_is_cut(
    text: str, cuts: list[int], language: str | None, lines: bool
) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert list(split_stream(chunks, language, lines=lines)) == list(split_text(text, language, lines=lines))


@given(RAW, st.sampled_from(LANGUAGES), st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_very_long_paragraphs_keep_their_offsets(text: str, language: str | None, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split, "LONGEST_PARAGRAPH", limit)
        check_offsets(text, list(split_stream(text.splitlines(keepends=True), language)))


def test_an_endless_stream_is_split_as_it_comes() -> None:
    """Sentences come out of a stream without blank lines before it ends, so memory is bounded."""
    sentences = split_stream(("One more line here. And another one.\n" for _ in iter(int, 1)), "en")
    assert [" ".join(next(sentences).forms) for _ in range(3)] == [
        "One more line here .",
        "And another one .",
        "One more line here .",
    ]


def test_blank_lines_end_sentences_and_single_line_ends_only_on_request() -> None:
    text = "A title\n \nSome words\nand more"
    assert tokenized(text, "en") == "A title\nSome words and more"
    assert [sentence.forms for sentence in split_text(text, "en", lines=True)] == [
        ["A", "title"],
        ["Some", "words"],
        ["and", "more"],
    ]


UNITS = ["a", ".", "(", ")", '"', "'", "a.", "a.(", "A. ", "1.", "a-", "a@", '" ', "?", "'s", "x\u200b"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("language", ["en", "is"])
def test_a_line_of_100_000_characters_is_split(unit: str, language: str) -> None:
    """Quadratic time would make this take minutes."""
    text = (unit * 100_000)[:100_000]
    check_offsets(text, list(split_text(text, language)))


def test_forms_are_written_as_in_the_treebank_and_offsets_point_to_the_text() -> None:
    text = "\ufeff„Co\u00adop“…"
    [sentence] = split_text(text, "de")
    assert sentence.forms == ['"', "Coop", '"', "..."]
    assert [text[token.start : token.end] for token in sentence.tokens] == ["„", "Co\u00adop", "“", "…"]
    assert (sentence.start, sentence.end) == (1, len(text))


def test_pretokenized_lines_are_taken_as_they_are() -> None:
    sentence = read_pretokenized("  -LRB- it's\t-RRB-\n", offset=10)
    assert sentence == Sentence((TextToken("-LRB-", 12, 17), TextToken("it's", 18, 22), TextToken("-RRB-", 23, 28)))
    assert read_pretokenized(" \n") is None


def test_clitics_are_learnt_from_endings_and_exceptions_from_words() -> None:
    split = [("hest", "inn"), ("arm", "inn"), ("dal", "inn")]
    whole = [("minn",), ("minn",), ("unn",), ("enn",), ("von",)]
    table = learn(split + whole)
    assert table["inn"] == 3
    assert table["^minn"] == 0
