"""Every problem of treebank files, found in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from discoparse.errors import Problem
from discoparse.files.streams import printable
from discoparse.treebank.report import Report
from discoparse.treebank.streams import read_trees


@dataclass
class Validation:
    """What was found: the problems, and how much was read."""

    problems: list[Problem] = field(default_factory=list)
    sentences: int = 0  # found, sound or not
    trees: int = 0  # sound ones
    empty: int = 0  # sentences without words, which are not a problem
    notes: list[str] = field(default_factory=list)  # what readers skip

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


def validate(
    paths: Iterable[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    on_problem: Callable[[Problem], None] | None = None,
    **options: Any,
) -> Validation:
    """Read files to their end whatever is wrong with them; `on_problem` is called with each problem at once."""
    result = Validation()
    met: dict[str, int | None] = {}  # id: line, in the current file
    current: str | None = None

    def add(problem: Problem) -> None:
        result.problems.append(problem)
        if on_problem is not None:
            on_problem(problem)

    def see(file: str, line: int | None, name: str | None) -> None:
        nonlocal current
        if file != current:
            current = file
            met.clear()
        result.sentences += 1
        if name is not None and name in met:
            first = "" if met[name] is None else f", first in line {met[name]}"
            add(Problem(f"the sentence id {name} is used twice{first}", file, line, name))
        elif name is not None:
            met[name] = line

    report = Report(on_problem=add, on_sentence=see)
    for path in paths:
        try:
            trees = read_trees(path, format, encoding=encoding, on_error="skip", report=report, **options)
            for _ in trees:
                result.trees += 1
        except OSError as error:
            add(Problem(f"the file cannot be read ({error.strerror or error})", printable(path)))
    result.empty = report.empty
    report.skipped = report.empty = 0  # the problems say this themselves
    result.notes = report.messages()
    return result
