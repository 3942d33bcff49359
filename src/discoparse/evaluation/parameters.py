"""What the evaluation ignores and equates: EVALB parameter files, and the standard one as package data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from discoparse.errors import DiscoparseError

PROPER_PRM = Path(__file__).with_name("proper.prm")

_NUMBERS = {"CUTOFF_LEN", "LABELED", "DELETE_ROOT_PRETERMS"}
_SETS = {"DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "DELETE_WORD"}
_PAIRS = {"EQ_LABEL", "EQ_WORD"}
# Accepted so that files made for other programs can be used, but without effect: both scores are always
# computed, errors are never tolerated, and the other metrics are not implemented.
_IGNORED = {"DEBUG", "MAX_ERROR", "DISC_ONLY", "LA", "TED", "DEP"}


@dataclass(frozen=True)
class Parameters:
    """One parameter file. The defaults delete nothing; `standard_parameters` gives the field's."""

    cutoff: int = 40  # CUTOFF_LEN
    labelled: bool = True  # LABELED
    delete_labels: frozenset[str] = frozenset()  # DELETE_LABEL: nodes vanish, tokens with such a gold tag too
    delete_words: frozenset[str] = frozenset()  # DELETE_WORD
    delete_labels_for_length: frozenset[str] = frozenset()  # DELETE_LABEL_FOR_LENGTH
    delete_root_tokens: bool = False  # DELETE_ROOT_PRETERMS: tokens right under the gold root
    equal_labels: dict[str, str] = field(default_factory=dict)  # EQ_LABEL: label to its class's name
    equal_words: dict[str, str] = field(default_factory=dict)  # EQ_WORD


@cache
def standard_parameters() -> Parameters:
    """The parameters that published figures use (`proper.prm`)."""
    return read_parameters(PROPER_PRM)


def read_parameters(path: str | Path) -> Parameters:
    """Read an EVALB parameter file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # some editors begin it with a byte order mark
    except UnicodeDecodeError:
        raise DiscoparseError(f"{path}: not a parameter file: it is not UTF-8 text") from None
    return parse_parameters(text.splitlines(), str(path))


def parse_parameters(lines: Iterable[str], file: str = "<parameters>") -> Parameters:
    """Parameters from lines: a key and a value each, `#` starts a comment line.

    >>> parse_parameters(["DELETE_LABEL TOP", "EQ_LABEL ADVP PRT", "CUTOFF_LEN 70"]).cutoff
    70
    """
    numbers: dict[str, int] = {}
    sets: dict[str, set[str]] = {key: set() for key in _SETS}
    pairs: dict[str, list[tuple[str, str]]] = {key: [] for key in _PAIRS}
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, *rest = line.split(None, 1)
        value = rest[0] if rest else ""
        if key in _SETS and value:
            sets[key].add(value)
        elif key in _PAIRS:
            words = value.split()
            if len(words) != 2:
                raise DiscoparseError(f"{file}:{number}: {key} needs two values, not {value!r}")
            pairs[key].append((words[0], words[1]))
        elif key in _NUMBERS | _IGNORED:
            if key in numbers:
                raise DiscoparseError(f"{file}:{number}: {key} is given twice")
            try:
                numbers[key] = int(value)
            except ValueError:
                raise DiscoparseError(f"{file}:{number}: {key} needs a whole number, not {value!r}") from None
        else:
            known = ", ".join(sorted(_NUMBERS | _SETS | _PAIRS | _IGNORED))
            raise DiscoparseError(f"{file}:{number}: {line!r} is not a parameter; known are {known}")
    return Parameters(
        cutoff=numbers.get("CUTOFF_LEN", 40),
        labelled=numbers.get("LABELED", 1) != 0,
        delete_labels=frozenset(sets["DELETE_LABEL"] | _other_spellings(sets["DELETE_LABEL"])),
        delete_words=frozenset(sets["DELETE_WORD"]),
        delete_labels_for_length=frozenset(
            sets["DELETE_LABEL_FOR_LENGTH"] | _other_spellings(sets["DELETE_LABEL_FOR_LENGTH"])
        ),
        delete_root_tokens=numbers.get("DELETE_ROOT_PRETERMS", 0) != 0,
        equal_labels=representatives(pairs["EQ_LABEL"]),
        equal_words=representatives(pairs["EQ_WORD"]),
    )


def _other_spellings(labels: Iterable[str]) -> set[str]:
    """Labels with round brackets as square ones and the reverse: bracketed files hide `$(` as `$[`, and a
    parameter file may name either."""
    return {label.translate(table) for label in labels for table in (_ROUND, _SQUARE)}


_ROUND, _SQUARE = str.maketrans("[]", "()"), str.maketrans("()", "[]")


def representatives(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The transitive closure of equalities, as a map from each member to the first member named.

    >>> representatives([("A", "B"), ("C", "D"), ("D", "B")])
    {'A': 'A', 'B': 'A', 'C': 'A', 'D': 'A'}
    """
    classes: dict[str, list[str]] = {}
    for a, b in pairs:
        first, second = classes.setdefault(a, [a]), classes.setdefault(b, [b])
        if first is not second:
            first.extend(second)
            for member in second:
                classes[member] = first
    first_named: dict[int, str] = {}
    return {member: first_named.setdefault(id(found), member) for member, found in classes.items()}
