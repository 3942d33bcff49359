"""How well a model knows the words of a text, and a warning where it knows neither their language nor their script.

Vocabularies hold names and foreign words, too: of French text, half of the words are somewhere in an English one. But
few are frequent there. So a word counts by the logarithm of its rank: 1 for the most frequent one, 0.4 for the 1,000th,
0 for those at the end and those that are not there. The thresholds were chosen on the development sets of all shipped
models and on text in other languages; docs/guides/probabilities.md has the figures.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from discoparse.parser.passages import Passage

if TYPE_CHECKING:
    from discoparse.neural.vocabulary import Vocabulary

FEWEST_KNOWN = 1000  # words of a vocabulary by which a text can be judged
LETTERS = 100  # characters of a vocabulary, the most frequent first
END = 100_000  # the rank at which a word counts no more
_LOG_END = math.log(END)
LEAST_FAMILIAR = 0.25  # mean of a text's words: where it is smaller, it is in another language
LEAST_LETTERS = 0.5  # a smaller share of frequent characters is another script
FEWEST, ENOUGH = 10, 50  # words before a text can be judged, and when it is
# Letters and the signs that combine with them: \w has neither the vowel signs of Indic scripts nor lone accents.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711-\u074a"
    "\u0900-\u0963\u0981-\u09e3\u0a01-\u0a51\u0a70-\u0ae3\u0b01-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0ce3"
    "\u0d00-\u0d57\u0d82-\u0ddf\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u1dc0-\u1dff\u200c\u200d"
)
WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_SIGNS}])*")

Rank = Callable[[str], "int | None"]  # of a word in a vocabulary, from 1 on; None where it is not there


def familiarity(word: str, rank: Rank) -> float:
    """From 0 to 1, by its most frequent spelling.

    >>> ranks = {"the": 1, "Monday": 1000, "東京": 300_000}
    >>> [round(familiarity(word, ranks.get), 1) for word in ("The", "MONDAY", "lundi", "東京")]
    [1.0, 0.4, 0.0, 0.0]
    """
    best = min(_rank(word, rank) or END, END)
    return 1 - math.log(best) / _LOG_END


def _rank(word: str, rank: Rank) -> int | None:
    """Of its most frequent spelling."""
    composed = unicodedata.normalize("NFC", word)
    found = [rank(spelling) for spelling in (word, composed, composed.lower(), composed.capitalize())]
    return min((one for one in found if one is not None), default=None)


class Familiarity:
    """Watches the words that go into a parser, and tells once if its model does not know their language."""

    def __init__(self, vocabulary: Vocabulary, notice: Callable[[str], None], model: str | None = None) -> None:
        self.rank = vocabulary.ranks.get
        self.letters = {character.lower() for character in vocabulary.characters[:LETTERS]}
        self.notice = notice
        self.model = "the model" if model is None else f"the model {model!r}"
        self.seen: list[str] = []
        # Of a model with few words, as after training on a few sentences, nothing can be said.
        self.judged = len(vocabulary.words) < FEWEST_KNOWN or len(vocabulary.characters) < LETTERS

    def watch(self, passages: Iterable[Passage | None]) -> Iterator[Passage | None]:
        """The same passages. What was seen is judged as soon as it is enough, or at the end."""
        for passage in passages:
            if passage is not None and not self.judged:
                self.seen += [part for word in passage.words for part in WORD.findall(word)]
                if len(self.seen) >= ENOUGH:
                    self._judge()
            yield passage
        if not self.judged and self.seen:
            self._judge()

    def _judge(self) -> None:
        self.judged = True
        problem = self.problem(self.seen[: 10 * ENOUGH])
        if problem is not None:
            self.notice(f"warning: {problem}: its trees will hardly be of use")

    def problem(self, words: list[str]) -> str | None:
        """What seems wrong with a text, if anything."""
        letters = [letter for word in words for letter in word.lower()]
        if sum(letter in self.letters for letter in letters) < LEAST_LETTERS * len(letters):
            return f"the text is in a script that {self.model} does not know"
        familiar = [familiarity(word, self.rank) for word in words]
        if len(words) >= FEWEST and sum(familiar) < LEAST_FAMILIAR * len(words):
            new = sum(_rank(word, self.rank) is None for word in words)
            rest = "" if new == len(words) else ", and few of the others frequent"
            reason = f"{new} of {len(words)} words are new to it{rest}"
            return f"the text seems to be in a language that {self.model} does not know ({reason})"
        return None
