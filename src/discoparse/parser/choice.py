"""Which installed model suits a text: of the models that stand for their languages, the one that knows most words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice

from discoparse.errors import DiscoparseError, UsageError
from discoparse.model.info import ModelFiles, read_info
from discoparse.parser.finding import Installed, advice, search_installed

_PIECES = 50  # of a text that are looked at; each is a line, or a part of a long one
_BLANK = 10_000  # pieces within which they must be found
_WORD = re.compile(r"[^\W\d_]+")
# The best model must know this share of the words, and this many times as many as the next. For single sentences of the
# development sets that gives the right model for 97% (German) to 99% (Icelandic), and none for nearly all others.
_KNOWN = 0.4
_CLEARLY = 1.2
_QUOTED = 50  # characters of a text in a message


def look_ahead(pieces: Iterable[str]) -> tuple[str, Iterable[str]]:
    """The beginning of a text that comes in pieces, and all of it. Blank pieces do not count, but there are limits."""
    iterator = iter(pieces)
    first: list[str] = []
    found = 0
    for piece in islice(iterator, _BLANK):
        first.append(piece)
        found += not piece.isspace()
        if found == _PIECES:
            break
    return "".join(first), chain(first, iterator)


class ModelChoice:
    """Chooses installed models by the words of texts; what it cannot use, `notice` is told once."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self.notice = notice
        self.left_out = False  # a model that is installed cannot be used

    def choose(self, sample: str) -> str:
        """The name of the model for a text; an error that lists the models where none is clearly the best."""
        names = self._defaults
        if not names:
            raise UsageError(self._nothing_to_choose())
        if len(names) == 1 and not self.left_out:
            return names[0]
        best = clearly_best(sample, self._vocabularies) if self._vocabularies else None
        if best is None:
            raise UsageError(
                f"which model to use cannot be told from the text {_quoted(sample)}: name it with --model "
                f"({', '.join(names)})"
            )
        return best

    @cached_property
    def _installed(self) -> Installed:
        installed = search_installed()
        for name, problem in installed.problems.items():
            self._leave_out(name, problem)
        return installed

    @cached_property
    def _defaults(self) -> list[str]:
        """The models that are used unasked."""
        languages: dict[str, str | None] = dict.fromkeys(self._installed.models)
        for name, directory in self._installed.models.items():
            with self._told(name):
                languages[name] = read_info(directory).language
        return default_models(languages)

    @cached_property
    def _vocabularies(self) -> dict[str, set[str]]:
        """The words that each of these models knows."""
        words = {}
        for name in self._defaults:
            with self._told(name):
                words[name] = ModelFiles(self._installed.models[name]).words()
        return words

    def _nothing_to_choose(self) -> str:
        if self._installed.models:
            names = ", ".join(self._installed.models)
            return f"no installed model stands for a language: name one with --model ({names})"
        return f"no models are installed: {advice()}"

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """A damaged model does not keep the others from being used."""
        try:
            yield
        except (DiscoparseError, OSError) as error:
            self._leave_out(name, error)

    def _leave_out(self, name: str, problem: object) -> None:
        self.left_out = True
        self.notice(f"warning: the installed model {name!r} is left out: {problem}")


def default_models(languages: Mapping[str, str | None]) -> list[str]:
    """Of models by name, with the language of each if it is known: those that are used without being asked for.

    That is the one that is called like its language, or the only one of its language. Where there is but one model, it
    is used for everything.

    >>> default_models({"nl": "nl", "nl-large": "nl", "de-news": "de", "fy-a": "fy", "fy-b": "fy-NL", "some": None})
    ['nl', 'de-news']
    >>> default_models({"some": None})
    ['some']
    """
    if len(languages) == 1:
        return list(languages)
    groups: dict[str, list[str]] = {}
    for name, language in languages.items():
        if language is not None:
            groups.setdefault(re.split("[-_]", language.lower())[0], []).append(name)
    chosen = [[language] if language in names else names for language, names in groups.items()]
    return [names[0] for names in chosen if len(names) == 1]


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
