"""Constraints on many sentences: a list of them, or a stream and a file of JSON lines (line n is about sentence n)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discoparse.errors import DiscoparseError
from discoparse.files.streams import STANDARD, open_text
from discoparse.neural.plain_limits import plain_limits
from discoparse.parser.passages import Notice, Passage
from discoparse.system.constraints import ConstraintError, Constraints

if TYPE_CHECKING:
    from discoparse.neural.limits import Limits
    from discoparse.parser.parser import Parser


def all_limits(
    parser: Parser,
    sentences: Sequence[Sequence[str]],
    constraints: Sequence[Constraints | Mapping[str, Any] | None],
) -> list[Limits | None]:
    """`Parser.limits` of all sentences, faster than one by one; a `ConstraintError` is about the first that has any."""
    if len(constraints) != len(sentences):
        raise DiscoparseError(f"{len(constraints)} constraints for {len(sentences)} sentences: give one for each")
    if any(given is not None for given in constraints):
        parser.require_one_model()
    known: list[Constraints | None] = []
    problem: ConstraintError | None = None
    for given in constraints:
        try:
            known.append(given if given is None or isinstance(given, Constraints) else Constraints.from_json(given))
        except ConstraintError as error:
            problem = error  # that of a sentence before comes first
            break
    number = len(known) + 1
    found = plain_limits(known, sentences[: len(known)], parser.vocabulary)
    for k, one in enumerate(known):
        if found[k] is None and one is not None:
            try:
                found[k] = parser.limits(sentences[k], one)
            except ConstraintError as error:
                number, problem = k + 1, error
                break
    if problem is not None:
        raise ConstraintError(f"sentence {number}: {problem}", problem.pair) from None
    return found


class ConstraintLines:
    """The constraints in a file. A line is `null`, blank, or an object as docs/guides/constraints.md describes it.

    `refuse` is told of lines that cannot be used; their sentences get no tree.
    """

    def __init__(self, path: str, refuse: Notice) -> None:
        self.path = path
        self.name = "standard input" if path == STANDARD else path
        self.refuse = refuse
        self._number = 0
        self._lines = self._read()

    def _read(self) -> Iterator[str]:
        with open_text(self.path) as stream:
            for line in stream:
                self._number += 1
                yield line

    def limit(self, passages: Iterable[Passage | None], parser: Parser) -> Iterator[Passage | None]:
        """The passages with their limits; None where the line of a passage cannot be used, and for None."""
        passages = iter(passages)
        for passage in passages:
            line = next(self._lines, None)
            if line is None and passage is None:  # blank lines at the end of the text, say
                yield None
                continue
            if line is None:
                lines = "line" if self._number == 1 else "lines"
                self.refuse(
                    f"{self.name} has {self._number} {lines}, and there are more sentences: they have no constraints"
                )
                yield passage
                break
            try:
                limited = self._limited(passage, line, parser)
            except ConstraintError as error:
                self.refuse(f"{self.name}:{self._number}: the sentence is left out: {error}")
                limited = None
            yield limited
        yield from passages

    def skip(self) -> None:
        """Pass over the line of a sentence that is not there: a blank line, in a text that needs no parser."""
        next(self._lines, None)

    def _limited(self, passage: Passage | None, line: str, parser: Parser) -> Passage | None:
        if passage is None or not line.strip():
            return passage
        try:
            data = json.loads(line.rstrip())  # or an error at its end would be in another line
        except json.JSONDecodeError as error:
            raise ConstraintError(f"not JSON (column {error.colno}: {error.msg})") from None
        except (ValueError, RecursionError) as error:
            raise ConstraintError(f"not JSON ({error})") from None
        return dataclasses.replace(passage, limits=parser.limits(passage.words, data))

    def finish(self) -> None:
        """Complain of lines that no sentence was left for."""
        read = self._number
        left = sum(1 for line in self._lines if line.strip())
        if left:
            lines = "line" if left == 1 else "lines"
            self.refuse(f"{self.name} has {left} more {lines} than there are sentences ({read})")
