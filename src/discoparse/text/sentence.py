"""What raw text becomes: sentences of tokens that know where in the text they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import add
from typing import NamedTuple, overload

_NON_SPACE = re.compile(r"\S+")


class TextToken(NamedTuple):
    """A token: `form` is what the parser reads, `text[start:end]` what stands in the original text.

    They differ only where the treebanks write something else, as `"` for any double quotation mark.
    """

    form: str
    start: int
    end: int


class Parts(NamedTuple):
    """What a run without spaces is cut into: the forms of its tokens, and where in the run each starts and ends."""

    forms: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class Spans(Sequence[tuple[int, int]]):
    """Where the tokens of a sentence start and end in the text, as a sequence of pairs.

    They are only computed if somebody asks, since brackets have no places, and kept as two lists of numbers, since a
    tuple for each token of a large text keeps Python's garbage collector busy.

    >>> spans = Spans("it  is, ", 100, ["it", "is,"], [(1, Parts(("is", ","), (0, 2), (2, 3)))])
    >>> list(spans), spans[-1], spans.start, spans.end
    ([(100, 102), (104, 106), (106, 107)], (106, 107), 100, 107)
    """

    def __init__(self, sentence: str, offset: int, runs: list[str], cuts: Sequence[tuple[int, Parts]]) -> None:
        """Of a sentence that starts at `offset` of the text, spaces around it included, and its runs without spaces:
        one token each, except those of the numbers in `cuts`, which are in order."""
        self._sentence = sentence
        self._offset = offset
        self._runs = runs
        self._cuts = cuts
        self._places: tuple[list[int], list[int]] | None = None

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the tokens start, and where they end."""
        if self._places is None:
            starts = run_starts(self._sentence, self._runs, self._offset)
            ends = list(map(add, starts, map(len, self._runs)))
            for k, parts in reversed(self._cuts):
                run = starts[k]
                starts[k : k + 1] = [run + start for start in parts.starts]
                ends[k : k + 1] = [run + end for end in parts.ends]
            self._places = starts, ends
        return self._places

    @property
    def start(self) -> int:
        """Where the first token starts."""
        k, parts = self._cuts[0] if self._cuts else (-1, None)
        if k == 0 and parts is not None and parts.starts[:1] != (0,):
            return self.places[0][0]  # what comes first prints nothing
        return self._offset + len(self._sentence) - len(self._sentence.lstrip())

    @property
    def end(self) -> int:
        """Where the last token ends."""
        k, parts = self._cuts[-1] if self._cuts else (-1, None)
        if k == len(self._runs) - 1 and parts is not None and parts.ends[-1:] != (len(self._runs[k]),):
            return self.places[1][-1]  # what comes last prints nothing
        return self._offset + len(self._sentence.rstrip())

    def __len__(self) -> int:
        return len(self.places[0])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(*self.places, strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, int]]: ...

    def __getitem__(self, index: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        starts, ends = self.places
        if isinstance(index, slice):
            return list(zip(starts[index], ends[index], strict=True))
        return starts[index], ends[index]


def run_starts(sentence: str, runs: list[str], offset: int = 0) -> list[int]:
    """Where the runs without spaces of a sentence, which starts at `offset`, start.

    >>> run_starts(" it is  so", ["it", "is", "so"], 100)
    [101, 104, 108]
    """
    lengths = list(map(len, runs))
    stripped = sentence.lstrip()
    offset += len(sentence) - len(stripped)
    if len(stripped.rstrip()) == sum(lengths) + len(runs) - 1:  # there is one space between each two
        starts = list(accumulate(map(add, lengths, repeat(1)), initial=offset))
        del starts[-1]  # of what would come next
        return starts
    starts, place = [], 0
    for run in runs:
        place = stripped.index(run, place)
        starts.append(offset + place)
        place += len(run)
    return starts


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence in order; never empty."""

    tokens: tuple[TextToken, ...]

    @property
    def start(self) -> int:
        """Where the first token starts."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Where the last token ends."""
        return self.tokens[-1].end

    @property
    def forms(self) -> list[str]:
        """The tokens as the parser reads them."""
        return [token.form for token in self.tokens]


def read_pretokenized(line: str, offset: int = 0) -> Sentence | None:
    """One sentence whose tokens stand between spaces, taken as they are; None for a blank line.

    >>> read_pretokenized("Is n't it ?").forms
    ['Is', "n't", 'it', '?']
    """
    tokens = tuple(
        TextToken(match.group(), offset + match.start(), offset + match.end()) for match in _NON_SPACE.finditer(line)
    )
    return Sentence(tokens) if tokens else None
