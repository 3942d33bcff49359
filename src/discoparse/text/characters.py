"""Characters that matter for cutting text: quotation marks, brackets, and those that print nothing."""

from __future__ import annotations

import unicodedata

DOUBLE_QUOTES = '"“”„‟«»'
SINGLE_QUOTES = "'’‘‚‛`´"
OPENING = DOUBLE_QUOTES + SINGLE_QUOTES + "([{¿¡"
CLOSING = DOUBLE_QUOTES + SINGLE_QUOTES + ")]}"

# Control, format, surrogate and unassigned characters.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn"})
# The joiners inside emoji and words of some scripts print nothing but change what stands beside them.
_JOINERS = "\u200c\u200d"

_AS_IN_TREEBANKS = str.maketrans({**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("’‘‚‛´", "'"), "…": "..."})


def is_invisible(character: str) -> bool:
    """Whether a character, though no space, prints nothing: NUL, zero-width space, right-to-left mark, …"""
    return unicodedata.category(character) in _INVISIBLE


def treebank_form(surface: str) -> str:
    """A token as the treebanks write it: straight quotation marks, `...`, nothing invisible.

    >>> treebank_form("„"), treebank_form("isn’t"), treebank_form("co\\u00adop")
    ('"', "isn't", 'coop')
    """
    if surface.isascii() and surface.isprintable():
        return '"' if surface in ("''", "``") else surface
    if not surface.isprintable():
        surface = "".join(c for c in surface if c in _JOINERS or not is_invisible(c))
    return surface.translate(_AS_IN_TREEBANKS)
