"""What raw text becomes: sentences of tokens that know where in the text they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_NON_SPACE = re.compile(r"\S+")


class TextToken(NamedTuple):
    """A token: `form` is what the parser reads, `text[start:end]` what stands in the original text.

    They differ only where the treebanks write something else, as `"` for any double quotation mark.
    """

    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence in order; never empty."""

    tokens: tuple[TextToken, ...]

    @property
    def start(self) -> int:
        """Where the first token starts."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Where the last token ends."""
        return self.tokens[-1].end

    @property
    def forms(self) -> list[str]:
        """The tokens as the parser reads them."""
        return [token.form for token in self.tokens]


def read_pretokenized(line: str, offset: int = 0) -> Sentence | None:
    """One sentence whose tokens stand between spaces, taken as they are; None for a blank line.

    >>> read_pretokenized("Is n't it ?").forms
    ['Is', "n't", 'it', '?']
    """
    tokens = tuple(
        TextToken(match.group(), offset + match.start(), offset + match.end()) for match in _NON_SPACE.finditer(line)
    )
    return Sentence(tokens) if tokens else None
