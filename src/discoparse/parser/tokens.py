"""Sentences as lists of words: what can be parsed, and what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

LONGEST_SENTENCE = 2000  # words: docs/commands/parse.md says what a longer one would cost
LONGEST_WORD = 1_000_000  # characters; of a word, the network reads only the ends


def word_lists(sentences: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """The sentences as lists of words; a TypeError says which one is something else."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise TypeError(f"expected a list of sentences, each a list of words, not {_kind(sentences)}")
    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, str):
            raise TypeError(f"sentence {number} is a string: give lists of words, or call `parse` for raw text")
        if isinstance(sentence, bytes) or not isinstance(sentence, Iterable):
            raise TypeError(f"sentence {number} is {_kind(sentence)}, not a list of words")
        words = list(sentence)
        try:
            "".join(words)  # the fastest way to look at them all
        except TypeError:
            place, word = next((k, word) for k, word in enumerate(words, 1) if not isinstance(word, str))
            raise TypeError(f"word {place} of sentence {number} is {_kind(word)}, not a string") from None
        yield words


def texts(given: Iterable[str]) -> Iterator[str]:
    """The texts, if that is what they are."""
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(f"`parse` takes a text or a list of texts, not {type(given).__name__}")
    for number, text in enumerate(given, 1):
        if not isinstance(text, str):
            raise TypeError(f"text {number} is a {type(text).__name__}, not a string: for words, call `parse_tokens`")
        yield text


def unparsable(words: Sequence[str]) -> str | None:
    """Why no tree can be made of these words; None for the usual case.

    >>> unparsable(["Go", "!"]), unparsable([]), unparsable(["Go", ""])
    (None, 'it has 0 words; a tree needs 1 to 2,000', 'word 2 is empty')
    """
    if not 0 < len(words) <= LONGEST_SENTENCE:
        return f"it has {len(words):,} words; a tree needs 1 to {LONGEST_SENTENCE:,}"
    if "" in words:
        return f"word {words.index('') + 1} is empty"
    longest = max(words, key=len)
    if len(longest) > LONGEST_WORD:
        return f"word {words.index(longest) + 1} has {len(longest):,} characters, more than {LONGEST_WORD:,}"
    return None


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
