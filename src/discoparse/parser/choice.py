"""Which shipped model suits a text: the one that knows most of its words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain, islice

from discoparse.errors import UsageError
from discoparse.parser.finding import advice, find_model, installed_models

_PIECES = 50  # of a text that are looked at; each is a line, or a part of a long one
_WORD = re.compile(r"[^\W\d_]+")
# The best model must know this share of the words, and so many times as many as the next. For single sentences of the
# development sets that gives the right model for 97 (German) to 99 % (Icelandic), and none for nearly all others.
_KNOWN = 0.4
_CLEARLY = 1.2
_QUOTED = 50  # characters of a text in a message


def look_ahead(pieces: Iterable[str]) -> tuple[str, Iterable[str]]:
    """The beginning of a text that comes in pieces, and all of it."""
    iterator = iter(pieces)
    first = list(islice(iterator, _PIECES))
    return "".join(first), chain(first, iterator)


def choose_model(sample: str) -> str:
    """The name of the shipped model for a text; an error that lists the models where none is clearly the best."""
    names = [name for name in installed_models() if "-" not in name]  # nl-large and the like have to be asked for
    if not names:
        raise UsageError(f"no models come with this installation: {advice()} with --model")
    if len(names) == 1:
        return names[0]
    vocabularies = {name: _known_words(name) for name in names}
    best = clearly_best(sample, vocabularies)
    if best is None:
        text = f"the text {_quoted(sample)}" if sample.strip() else "an empty text"
        raise UsageError(f"which model to use cannot be told from {text}: name it with --model ({', '.join(names)})")
    return best


def clearly_best(sample: str, vocabularies: dict[str, set[str]]) -> str | None:
    """The vocabulary that most words of a text are in, if one is clearly ahead. Words that several share tell less.

    >>> words = {"en": {"what", "is", "the"}, "nl": {"wat", "is", "de"}}
    >>> clearly_best("Wat is de zin?", words), clearly_best("Is is?", words), clearly_best("Quel est le sens?", words)
    ('nl', None, None)
    """
    scores = dict.fromkeys(vocabularies, 0.0)
    known = dict.fromkeys(vocabularies, 0)
    found = _WORD.findall(sample)
    for word in found:
        knowing = [name for name, words in vocabularies.items() if word in words or word.lower() in words]
        for name in knowing:
            scores[name] += 1 / len(knowing)
            known[name] += 1
    best, *others = sorted(scores, key=scores.__getitem__, reverse=True)
    second = scores[others[0]] if others else 0.0
    return best if found and known[best] >= _KNOWN * len(found) and scores[best] >= _CLEARLY * second else None


def _quoted(sample: str) -> str:
    """The beginning of a text on one line, for a message.

    >>> _quoted("In\\nBerlin. ")
    "'In Berlin.'"
    """
    line = " ".join(sample[: 10 * _QUOTED].split())
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1].rstrip() + "…")


def _known_words(name: str) -> set[str]:
    vocabulary = json.loads((find_model(name) / "vocabulary.json").read_bytes())
    return set(vocabulary["words"])
