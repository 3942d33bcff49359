"""Where sentences end: Miðeind's `tokenizer` proposes, each language's abbreviations decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import partial

from discoparse.text.characters import CLOSING, DOUBLE_QUOTES, OPENING, SINGLE_QUOTES
from discoparse.text.convention import Convention
from discoparse.text.proposals import harmless, is_plain, marks, propose, word_before

_EDGE = re.escape(OPENING) + r"\s/-"
_QUOTE = re.escape(SINGLE_QUOTES)
# An apostrophe inside a word (`ist's`) is not an edge: what follows it is not a one-letter word.
_LONGEST_ABBREVIATION = 30
_MOST_PLAIN = 20_000  # words that are remembered
_WORD_AND_PERIOD = re.compile(
    rf"(?<![^{_EDGE}])(?<!\w[{_QUOTE}])((?:[^{_EDGE}]|(?<=\w)[{_QUOTE}](?=\w)){{1,{_LONGEST_ABBREVIATION}}})\.(?![\w.])"
)
_NEXT = re.compile(rf"[{re.escape(CLOSING)}]{{0,3}}\s*[{re.escape(OPENING)}]{{0,3}}(\S?)")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_ORDINAL = re.compile(r"\d\d?|[IVXLC]+")
_ASKED = re.compile(rf"[?!…][{re.escape(DOUBLE_QUOTES + SINGLE_QUOTES)}]{{1,2}}")
_GOES_ON = frozenset("-—–,;:)")  # no sentence starts so; a dash comes before the source of a quotation
_ITEM_NUMBER = re.compile(r"\s*[(\[]?(?:\d{1,3}|[a-zA-Z])[.)]\s*")


class _Period(Enum):
    """What the period after a word is."""

    ABBREVIATION = 1  # part of the word, ends no sentence
    BOTH = 2  # part of the word, ends a sentence where a capital follows
    END = 3  # no part of the word, ends a sentence
    OTHER = 4  # the table says nothing


def find_boundaries(paragraph: str, convention: Convention) -> tuple[list[int], frozenset[int]]:
    """Where sentences end, lastly where the paragraph does, and which periods belong to a word."""
    plain = _plain_ends(paragraph, convention)
    if plain is not None:
        return plain, frozenset()
    return _judged_boundaries(paragraph, convention)


def _plain_ends(paragraph: str, convention: Convention) -> list[int] | None:
    """Where sentences end, if all marks follow plain words, as in most paragraphs; else None."""
    text = harmless(paragraph.rstrip())
    known = convention.plain
    ends = []
    for match in marks(text):
        word = word_before(text, match)
        if word is None:
            return None
        if word not in known:
            if not _is_plain(word, convention):
                return None
            if len(known) >= _MOST_PLAIN:
                known.clear()
            known.add(word)
        end = match.end()
        if not text[end + 1 : end + 2].islower():
            ends.append(end)
    if not ends or ends[-1] < len(paragraph):
        ends.append(len(paragraph))
    return ends


def _is_plain(word: str, convention: Convention) -> bool:
    """Whether a mark after a word ends a sentence wherever no small letter follows."""
    last = word.rpartition("-")[2]
    return is_plain(word) and all(
        _judge(last, letter, " ", convention) is _Period.OTHER for letter in ("x", "X", "1", "")
    )


def _judged_boundaries(paragraph: str, convention: Convention) -> tuple[list[int], frozenset[int]]:
    """The same, however much is in doubt."""
    ends, known_to_library = propose(paragraph)
    periods = set()
    for start, word in _words_with_period(paragraph):
        end = start + len(word) + 1
        letter = _next(paragraph, end)
        kind = _judge(word, letter, paragraph[end : end + 1], convention)
        if kind is _Period.ABBREVIATION and letter.isupper():
            kind = _judge_before_opener(paragraph, start, word, convention)
        from_library = kind is _Period.OTHER and end - 1 in known_to_library
        if kind in (_Period.ABBREVIATION, _Period.BOTH) or (from_library and convention.trust_library):
            periods.add(end - 1)
        small = letter.isalnum() and not letter.isupper()
        if kind is _Period.ABBREVIATION or (kind is _Period.BOTH and small):
            ends.discard(end)
        elif kind is _Period.END:
            ends.add(end)
        elif letter.isupper() and (kind is _Period.BOTH or (from_library and not convention.trust_library)):
            ends.add(end)  # to the library, an abbreviation of Icelandic
    kept: list[int] = []
    for end in sorted(end for end in map(partial(_settle, paragraph, convention), ends) if end):
        if not _ITEM_NUMBER.fullmatch(paragraph, kept[-1] if kept else 0, end):
            kept.append(end)
    if not kept or kept[-1] < len(paragraph):
        kept.append(len(paragraph))
    return kept, frozenset(periods)


def _words_with_period(paragraph: str) -> Iterator[tuple[int, str]]:
    """All matches of `_WORD_AND_PERIOD`: where each word starts, and the word. Text far from a period is skipped."""
    place = 0
    while (period := paragraph.find(".", place)) >= 0:
        start = paragraph.rfind(" ", place, period) + 1
        word = paragraph[start:period]
        simple = start and word.isalpha() and paragraph[period + 1 : period + 2] == " "  # as most are
        if simple and len(word) <= _LONGEST_ABBREVIATION:
            yield start, word
            place = period + 1
            continue
        # A match that starts there or before is in here, and what must not follow it, too.
        nearby = max(place, period - _LONGEST_ABBREVIATION - 1), period + _LONGEST_ABBREVIATION + 3
        match = _WORD_AND_PERIOD.search(paragraph, *nearby)
        place = period + 1
        if match is not None and match.start() <= period:
            yield match.start(), match.group(1)
            place = match.end()


def _next(paragraph: str, end: int) -> str:
    """The character that starts the next word, quotes and brackets skipped; empty at the end."""
    following = paragraph[end + 1 : end + 2]
    if following.isalnum() and paragraph[end] == " ":
        return following
    match = _NEXT.match(paragraph, end)
    return match.group(1) if match else ""


def _settle(paragraph: str, convention: Convention, end: int) -> int:
    """Move an end to after closing quotes, or to before an opening one; 0 if no sentence can end there."""
    while end < len(paragraph) and paragraph[end] in CLOSING:
        end += 1
    if end < len(paragraph) and not paragraph[end].isspace():
        while end and paragraph[end - 1] in OPENING:
            end -= 1
        if not (end and paragraph[end - 1].isspace()):
            return 0
        while end and paragraph[end - 1].isspace():
            end -= 1
    following = _next(paragraph, end)
    return 0 if following.islower() or following in _GOES_ON or _is_quoted(paragraph, convention, end) else end


def _is_quoted(paragraph: str, convention: Convention, end: int) -> bool:
    """Whether what ends there is a quoted question or cry and who said it comes next: `"Why?" I asked.`"""
    asked = _ASKED.search(paragraph, max(0, end - 3), end)
    return bool(asked and paragraph[end : end + 1].isspace() and convention.speaker.match(paragraph, end + 1))


def _judge(word: str, letter: str, after: str, convention: Convention) -> _Period:
    """What the period after `word` is; `after` is the next character, `letter` what starts the next word."""
    lower = word.lower()
    if lower in convention.before_number:
        return _Period.ABBREVIATION if letter.isdigit() else _Period.OTHER
    if lower in convention.final or lower.endswith(convention.final_endings):
        return _Period.BOTH
    if lower in convention.abbreviations:
        return _Period.ABBREVIATION
    if _INITIALS.fullmatch(word):
        return _Period.ABBREVIATION
    if convention.ordinals and letter.isalnum() and _ORDINAL.fullmatch(word):  # `3. Oktober`, `1. 5. 2020`
        return _Period.ABBREVIATION
    if len(word) == 1 and word.isalpha():
        named = letter.isupper() and word.isupper() and word not in convention.no_initial
        small = letter.islower() or letter.isdigit()
        if named or small or after == "," or (convention.initials_always and letter):
            return _Period.ABBREVIATION
    return _Period.OTHER


def _judge_before_opener(paragraph: str, start: int, word: str, convention: Convention) -> _Period:
    """What the period of an abbreviation is before a word with a capital, which may show that a sentence starts."""
    following = _NEXT.match(paragraph, start + len(word) + 1)
    if not (following and convention.opener.match(paragraph, following.start(1))):
        return _Period.ABBREVIATION
    before = paragraph[max(0, start - 5) : start].rstrip()[-1:]
    if not before or before in ".?!…":  # starts a sentence itself: `P.S. You`, `2. Die`
        return _Period.ABBREVIATION
    if convention.ordinals and _ORDINAL.fullmatch(word):
        if not before.isalpha():  # the number of an item
            return _Period.ABBREVIATION
        return _Period.END if word.isdigit() else _Period.BOTH  # `Sie ist 15. Er`, `Karl V. Er`
    if len(word) == 1:
        return _Period.END if word.isupper() and not convention.initials_always else _Period.ABBREVIATION
    # Small initials lead on: `e.g. The Times`.
    closing = (_INITIALS.fullmatch(word) and word[0].isupper()) or word.lower() in convention.final_before_opener
    return _Period.BOTH if closing else _Period.ABBREVIATION
