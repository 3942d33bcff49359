"""The width of text: in terminal cells, and in thousandths of the font size on paper."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Advance widths of a wide sans serif (DejaVu Sans, Verdana): Helvetica, Arial and Computer Modern need less
# room, so what fits with these fits with whatever font the reader has.
_ADVANCES = {
    270: "'", 290: "ijlIJ", 320: " ,.", 340: "/:;\\|", 360: "-f", 400: "()[]t!", 420: "r", 460: '"',
    500: "*_`", 530: "sz?", 560: "cL", 590: "Fkvxy", 620: "PTYaoe", 640: "ESbdghnpqu$0123456789{}",
    700: "KAVBRXZC", 750: "UHN", 790: "DG&OQ", 840: "w#+<=>^~", 870: "M", 1000: "%mW@",
}  # fmt: skip
_ADVANCE = {character: width for width, characters in _ADVANCES.items() for character in characters}
_OTHER = 800  # letters of other alphabets, few of which are wider
_WIDE = 1050  # East Asian wide characters, and the few of ours that are as wide


def visible(text: str) -> str:
    """`text` with control characters, which pictures cannot show, replaced.

    >>> visible("a\\tb")
    'a\ufffdb'
    """
    return text if text.isprintable() else "".join("\ufffd" if _is_control(c) else c for c in text)


def cells(text: str) -> int:
    """Columns that a terminal gives to `text`: two for East Asian wide characters, none for combining marks.

    >>> cells("Haus"), cells("日本"), cells("e\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(cell_width, text))


@lru_cache(maxsize=4096)
def cell_width(character: str) -> int:
    """Columns that a terminal gives to one character: 0, 1 or 2."""
    if character == "\u00ad":  # the soft hyphen is shown
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def advance(text: str) -> int:
    """Width of `text` in a proportional font, in thousandths of the font size, estimated generously.

    >>> advance("ill") < advance("WWW")
    True
    """
    return sum(map(_character_advance, text))


@lru_cache(maxsize=4096)
def _character_advance(character: str) -> int:
    if character in _ADVANCE:
        return _ADVANCE[character]
    if cell_width(character) != 1:
        return _WIDE * cell_width(character) // 2
    base = unicodedata.normalize("NFD", character)[0]
    if base in _ADVANCE:
        return _ADVANCE[base]
    return _WIDE if base in "ÆæŒœ—―…©®‰ЖШЩЮЉЊжшщ" or unicodedata.category(base) == "So" else _OTHER


def _is_control(character: str) -> bool:
    """Whether XML or a terminal would choke on it: controls, line ends, surrogates, non-characters."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "\ufffe\uffff"
