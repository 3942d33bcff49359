"""What Miðeind's `tokenizer` says about a paragraph: where sentences end, and which periods are part of a word.

The library reads every word, though only the surroundings of `.`, `?`, `!` and `…` matter for this, and most of those
end a sentence without doubt: after a plain word that is not an abbreviation, before a space and a further word. So
these are answered here, and the library gets the surroundings of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from discoparse.text.characters import is_invisible

# The library needs quadratic time for a run without spaces; no word is longer than this.
_LONGEST_RUN = 200
_MARK = re.compile(r"[.?!…]+")
_PARAGRAPH_MARKS = "[[", "]]"  # the library's
_MARK_IN_PARAGRAPHS = re.compile(r"[.?!…]+|\[\[|\]\]")
# Characters that are seen at a glance to be neither invisible nor a space other than " ".
_UNUSUAL = re.compile("[^ -~¡-¬®-ɏ‘’“”„–—…€]")
_PERIOD_OF_WORD = re.compile(r"(?<=[^\s.])\.(?=\s|$)")
_BEFORE, _AFTER = 4, 4  # words that the library sees before a mark, with the marked one, and at least after it
_BETWEEN = " og "  # stands for what it does not see: a plain word, "and"


def propose(paragraph: str) -> tuple[set[int], set[int]]:
    """The library's ends of sentences, and the periods that it takes for part of a word."""
    text = harmless(paragraph.rstrip())
    ends: set[int] = set()
    windows: list[tuple[int, int]] = []  # what the library must see
    for match in marks(text):
        if windows and match.end() <= windows[-1][1] - 1 and _is_seen_well(text, match.end(), windows[-1][1]):
            continue
        word = word_before(text, match)
        if word is not None and is_plain(word):
            ends.add(match.end())
            continue
        start, end = _surroundings(text, match.start(), match.end())
        if windows and start <= windows[-1][1]:
            start, _ = windows.pop()
        windows.append((start, end))
    periods: set[int] = set()
    if windows:
        _ask_library(text, windows, ends, periods)
    return ends, periods


def marks(text: str) -> Iterator[re.Match[str]]:
    """All that may end a sentence in a text that was made `harmless`."""
    return (_MARK_IN_PARAGRAPHS if any(mark in text for mark in _PARAGRAPH_MARKS) else _MARK).finditer(text)


def word_before(text: str, mark: re.Match[str]) -> str | None:
    """The word that a mark follows, if this is a single one before a space and a further word, or the last; such a mark
    ends a sentence if the word is plain."""
    place, end = mark.span()
    if end != place + 1 or text[place] == "…":
        return None
    following = text[end : end + 2]
    if following and not (following[0] == " " and following[1:].isalnum()):
        return None
    if text[place - 1 : place] == " ":
        place -= 1  # the library does not look at spaces
    return text[text.rfind(" ", 0, place) + 1 : place]


def is_plain(word: str) -> bool:
    """Whether the library surely takes a word for one that is no abbreviation."""
    *firsts, last = word.split("-")
    return (
        len(last) > 1
        and last.isalpha()
        and not last.isupper()
        and last.lower() not in _abbreviations()
        and all(len(part) > 1 and part.isalpha() for part in firsts)
        and word.lower() not in _abbreviations()
    )


def _is_seen_well(text: str, place: int, end: int) -> bool:
    """Whether what follows a place is in a window that ends at `end`, as far as it matters."""
    return text.count(" ", place, end) >= _AFTER or end == len(text)


def _surroundings(text: str, place: int, end: int) -> tuple[int, int]:
    """Some words on either side of a mark."""
    start = place
    for _ in range(_BEFORE):
        start = text.rfind(" ", 0, start)
        if start < 0:
            break
    for _ in range(_AFTER + 1):
        end = text.find(" ", end + 1)
        if end < 0:
            end = len(text)
            break
    return start + 1, end


def _ask_library(text: str, windows: list[tuple[int, int]], ends: set[int], periods: set[int]) -> None:
    """Add what the library says about some windows of a text."""
    from tokenizer import TOK, tokenize_without_annotation  # here, so that only raw text needs it

    shown = "".join(text[start:end] + _BETWEEN for start, end in windows)
    window = iter(windows)
    start, end = next(window)
    first = 0  # where the window starts in what is shown
    position = 0
    for token in tokenize_without_annotation(shown):
        if token.kind == TOK.S_END and first < position <= first + end - start:
            ends.add(start + position - first)
        original = (token.original or "").strip()
        if not original:
            continue
        found = shown.find(original, position, position + len(original) + 1000)
        if found < 0:
            continue
        position = found + len(original)
        while found >= first + end - start + len(_BETWEEN):
            first += end - start + len(_BETWEEN)
            start, end = next(window)
        # The library joins `kl. 10` and `3. maí` into one token.
        periods.update(start - first + found + match.start() for match in _PERIOD_OF_WORD.finditer(original))


@cache
def _abbreviations() -> frozenset[str]:
    """All that the library may take for an abbreviation, in lower case and without the last period."""
    from tokenizer.abbrev import Abbreviations as Known

    Known.initialize()
    tables = (Known.DICT, Known.WRONGDICT, Known.SINGLES, Known.WRONGSINGLES, Known.FINISHERS, Known.NOT_FINISHERS)
    found = {name for table in (*tables, Known.NAME_FINISHERS, Known.WRONGDOTS) for name in table}
    return frozenset(name.lower().rstrip(".") for name in found)


def harmless(text: str) -> str:
    """The text at the same length, without what the library is slow on or changes."""
    text = text.replace("\n", " ")
    if _UNUSUAL.search(text):
        for character in set(text):
            if is_invisible(character) or (character != " " and character.isspace()):
                text = text.replace(character, " ")
    # A run that is too long covers at least one of these parts.
    if any(text.find(" ", k, k + _LONGEST_RUN // 2) < 0 for k in range(0, len(text), _LONGEST_RUN // 2)):
        text = re.sub(rf"\S{{{_LONGEST_RUN + 1},}}", lambda match: "x" * len(match.group()), text)
    return text
