"""Which installed model suits a text: of those that stand for their languages, the one that knows its words best."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice

from discoparse.errors import DiscoparseError, UsageError
from discoparse.model.info import ModelFiles, read_info
from discoparse.parser.familiarity import LEAST_FAMILIAR, WORD, Rank, familiarity
from discoparse.parser.finding import Installed, advice, search_installed

_PIECES = 50  # of a text that are looked at; each is a line, or a part of a long one
_BLANK = 10_000  # pieces within which they must be found
_CLEARLY = 1.4  # times as familiar as with the next model; docs/commands/parse.md has figures
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
    def _vocabularies(self) -> dict[str, Rank]:
        """The ranks of the words that each of these models knows."""
        ranks: dict[str, Rank] = {}
        for name in self._defaults:
            with self._told(name):
                ranks[name] = ModelFiles(self._installed.models[name]).ranks().get
        return ranks

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


def clearly_best(sample: str, vocabularies: Mapping[str, Rank]) -> str | None:
    """The vocabulary, as ranks, in which the words of a text are most frequent, if one is clearly ahead.

    >>> words = {"en": {"is": 1, "the": 2, "what": 3}.get, "nl": {"is": 1, "de": 2, "wat": 3}.get}
    >>> clearly_best("Wat is de zin?", words), clearly_best("Is is?", words), clearly_best("Quel est le sens?", words)
    ('nl', None, None)
    """
    found = WORD.findall(sample)
    scores = {name: sum(familiarity(word, rank) for word in found) for name, rank in vocabularies.items()}
    best, *others = sorted(scores, key=scores.__getitem__, reverse=True)
    second = scores[others[0]] if others else 0.0
    ahead = scores[best] >= max(LEAST_FAMILIAR * len(found), _CLEARLY * second)
    return best if found and ahead else None


def _quoted(sample: str) -> str:
    """The beginning of a text on one line, for a message.

    >>> _quoted("In\\nBerlin. ")
    "'In Berlin.'"
    """
    line = " ".join(sample[: 10 * _QUOTED].split())
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1].rstrip() + "…")
