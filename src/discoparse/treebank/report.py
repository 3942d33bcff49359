"""What happened while trees were read or written: problems, sentences left out, what a format cannot hold."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from discoparse.errors import Problem, TreebankError, TreebankWarning
from discoparse.files.streams import DAMAGED, UnknownEncodingError, printable

ON_ERROR = ("fail", "skip", "repair")
ATTRIBUTE = "the attribute "  # begins the names of features that a format cannot hold


@dataclass
class Report:
    """Collects what readers and writers have to say; one report may serve a whole run of several files."""

    on_problem: Callable[[Problem], None] | None = None  # called with every problem that does not end the run
    on_sentence: Callable[[str, int | None, str | None], None] | None = None  # file, line, id of each one read
    skipped: int = 0  # sentences left out because of problems
    repaired: int = 0  # sentences kept although something was wrong with them
    empty: int = 0  # sentences without words, left out
    treeless: int = 0  # sentences of which a file says that they have no tree
    unread: dict[str, Counter[str]] = field(default_factory=dict)  # format: what of its files is not kept
    unwritten: dict[str, Counter[str]] = field(default_factory=dict)  # format: what it cannot hold

    def not_read(self, format: str, what: str) -> None:
        """Note something in a file that is not part of a `Tree`."""
        self.unread.setdefault(format, Counter())[what] += 1

    def not_written(self, format: str, what: str, times: int = 1) -> None:
        """Note something of a tree that the target format cannot hold."""
        self.unwritten.setdefault(format, Counter())[what] += times

    def add(self, other: Report) -> None:
        """Add what another report has collected, about what formats cannot hold."""
        for name, lost in other.unwritten.items():
            self.unwritten.setdefault(name, Counter()).update(lost)

    def messages(self) -> list[str]:
        """The report as sentences, for standard error.

        >>> report = Report(skipped=2)
        >>> report.not_written("discbracket", "lemmas", 7)
        >>> report.messages()
        ['2 sentences left out because of problems', 'discbracket cannot hold: lemmas (7)']
        """
        counts = [
            (self.skipped, "left out because of problems"),
            (self.repaired, "repaired"),
            (self.empty, "without words left out"),
            (self.treeless, "without a tree (null) left out"),
        ]
        lines = [f"{n} {'sentence' if n == 1 else 'sentences'} {what}" for n, what in counts if n]
        lines += [f"not kept from {name}: {_listed(found)}" for name, found in self.unread.items()]
        lines += [f"{name} cannot hold: {_listed(lost)}" for name, lost in self.unwritten.items()]
        return lines

    def warn(self) -> None:
        """Say everything as Python warnings, for callers that gave no report of their own."""
        for message in self.messages():
            warnings.warn(message, TreebankWarning, stacklevel=3)


def _listed(found: Counter[str]) -> str:
    attributes = [what.removeprefix(ATTRIBUTE) for what in found if what.startswith(ATTRIBUTE)]
    listed = [f"{what} ({count})" for what, count in found.items() if not what.startswith(ATTRIBUTE)]
    return ", ".join([*listed, *(["the attributes " + " ".join(attributes)] if attributes else [])])


@dataclass(frozen=True)
class Defect:
    """Something wrong in a sentence; a repairable one has a fix that keeps every word."""

    message: str
    line: int | None = None
    repairable: bool = False


class Reading:
    """The reading of one file: its name, what to do about problems, and where to report them."""

    def __init__(self, file: str, on_error: str = "fail", report: Report | None = None) -> None:
        self.file = file
        self.on_error = on_error
        self.report = Report() if report is None else report

    def problem(self, message: str, line: int | None = None, sentence: str | None = None) -> None:
        """Report something wrong; raises `TreebankError` when problems are to end the run."""
        sentence = None if sentence is None else printable(sentence)
        problem = Problem(printable(message), self.file, line, sentence)
        if self.on_error == "fail":
            raise TreebankError(problem)
        if self.report.on_problem is not None:
            self.report.on_problem(problem)

    def skip(self, message: str, line: int | None = None, sentence: str | None = None) -> None:
        """Report a problem for which a sentence is left out."""
        self.problem(message, line, sentence)
        self.report.skipped += 1

    def accept(self, defects: Iterable[Defect], sentence: str | None = None) -> bool:
        """Report the defects of one sentence; returns whether to keep it, its repairable defects repaired."""
        defects = list(defects)
        for defect in defects:
            self.problem(defect.message, defect.line, sentence)
        if not defects:
            return True
        if self.on_error == "repair" and all(defect.repairable for defect in defects):
            self.report.repaired += 1
            return True
        self.report.skipped += 1
        return False

    def sentence(self, name: str | None, line: int | None) -> None:
        """Report that a sentence was found, sound or not."""
        if self.report.on_sentence is not None:
            self.report.on_sentence(self.file, line, name)

    def empty(self) -> None:
        """Count a sentence that has no words."""
        self.report.empty += 1

    def treeless(self) -> None:
        """Count a sentence that has no tree, as `null` in JSON says."""
        self.report.treeless += 1

    def not_read(self, format: str, what: str) -> None:
        """Note something in the file that is not part of a `Tree`."""
        self.report.not_read(format, what)


def bad_bytes(text: str, line: int | None = None) -> Defect | None:
    """The defect of text with bytes that its encoding could not decode (kept as lone surrogates), or None.

    >>> bad_bytes("na\\udcefve").message
    'bytes that the encoding does not know (0xef): name the right one with --encoding'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        what = f"0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"U+{code:04X}"
        message = f"bytes that the encoding does not know ({what}): name the right one with --encoding"
        place = None if line is None else line + text.count("\n", 0, error.start)
        return Defect(message, place)
    return None


@contextmanager
def damage_reported(reading: Reading) -> Iterator[None]:
    """Turns errors that appear while reading (cut `.gz`, broken UTF-16) into a problem of the file."""
    try:
        yield
    except DAMAGED as error:
        reading.problem(f"the compressed file is cut off or damaged ({error})")
    except UnknownEncodingError as error:
        reading.problem(
            f"the file declares {error}, which is not a known text encoding: name the right one with --encoding", 1
        )
    except UnicodeError as error:
        reading.problem(f"bytes that the encoding does not know ({error}): name the right one with --encoding")
