"""Split Icelandic words as IcePaHC does: `steinninn` is `steinn$ $inn`, `skaltu` is `skal$ $tu`.

No tokenizer does so. Which words are split is learnt from the treebank (see `scripts/learn_clitics.py`): a table of
endings, of which the longest that matches a word decides.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

TABLE = "clitics.is.txt"
WHOLE = "^"  # stands before an entry that is a whole word
LONGEST = 9  # letters of an ending


def split_clitic(word: str) -> list[str]:
    """A word and its clitic article or pronoun, if it has one.

    >>> split_clitic("Hesturinn"), split_clitic("gamall")
    (['Hestur', 'inn'], ['gamall'])
    """
    table = _table()
    lower = word.lower()
    if len(lower) != len(word) or not lower.isalpha():
        return [word]
    length = table.get(WHOLE + lower)
    if length is None:
        endings = (lower[start:] for start in range(max(0, len(lower) - LONGEST), len(lower)))
        length = next((table[ending] for ending in endings if ending in table), 0)
    return [word[:-length], word[-length:]] if 0 < length < len(word) else [word]


@cache
def _table() -> dict[str, int]:
    """Length of the clitic for each ending."""
    lines = files("discoparse.text").joinpath(TABLE).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return {ending: int(length) for length, endings in pairs for ending in endings.split()}
