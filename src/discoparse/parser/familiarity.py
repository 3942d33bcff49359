"""Text in a language or script that a model does not know: told by how many words are among its most frequent ones.

Vocabularies hold names and foreign words, too: of French text, half of the words are somewhere in an English one. But
few are among its 1,000 most frequent words, which make up about 60% of any text in the language itself. The thresholds
were chosen on the development sets of all shipped models and on text in other languages; docs/guides/probabilities.md
has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from discoparse.parser.passages import Passage

if TYPE_CHECKING:
    from discoparse.neural.vocabulary import Vocabulary

FREQUENT, LETTERS = 1000, 100  # words and characters of a vocabulary, the most frequent first
LEAST_WORDS = 0.25  # of a text: a smaller share of frequent words is another language
LEAST_LETTERS = 0.5  # a smaller share of frequent characters is another script
FEWEST, ENOUGH = 10, 50  # words before a text can be judged, and when it is
_WORD = re.compile(r"[^\W\d_]+")


class Familiarity:
    """Watches the words that go into a parser, and tells once if its model does not know their language."""

    def __init__(self, vocabulary: Vocabulary, notice: Callable[[str], None], model: str | None = None) -> None:
        self.words = {word.lower() for word in vocabulary.words[:FREQUENT] if word.isalpha()}
        self.letters = {character.lower() for character in vocabulary.characters[:LETTERS]}
        self.notice = notice
        self.model = "the model" if model is None else f"the model {model!r}"
        self.seen: list[str] = []
        # Of a model with few words, as after training on a few sentences, nothing can be said.
        self.judged = len(vocabulary.words) < FREQUENT or len(vocabulary.characters) < LETTERS

    def watch(self, passages: Iterable[Passage | None]) -> Iterator[Passage | None]:
        """The same passages. What was seen is judged as soon as it is enough, or at the end."""
        for passage in passages:
            if passage is not None and not self.judged:
                self.seen += [part for word in passage.words for part in _WORD.findall(word)]
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
        known = sum(word.lower() in self.words for word in words)
        if len(words) >= FEWEST and known < LEAST_WORDS * len(words):
            share = f"{known} of {len(words)} words are among its {FREQUENT:,} most frequent ones"
            return f"the text seems to be in a language that {self.model} does not know ({share})"
        return None
