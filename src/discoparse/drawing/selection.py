"""Which sentences of a treebank are wanted: `3`, `2-5,9`, `7-`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from discoparse.errors import DiscoparseError, UsageError
from discoparse.tree import Tree

_PART = re.compile(r"\s*([0-9]+)\s*(?:(-)\s*([0-9]*)\s*)?", re.ASCII)


@dataclass(frozen=True)
class Selection:
    """Ranges of sentence numbers, which begin at 1; a range without an end goes on to the last sentence."""

    ranges: tuple[tuple[int, int | None], ...] = ((1, None),)

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read ranges as a user writes them.

        >>> selection = Selection.parse("2-5,9")
        >>> [number for number in range(1, 12) if number in selection]
        [2, 3, 4, 5, 9]
        """
        ranges: list[tuple[int, int | None]] = []
        for part in text.split(","):
            match = _PART.fullmatch(part)
            if match is None:
                raise UsageError(f"{part!r} is not a sentence number or range: write for example 3, 2-5,9 or 7-")
            first, dash, last = int(match[1]), match[2], match[3]
            end = first if not dash else int(last) if last else None
            if first < 1 or (end is not None and end < first):
                raise UsageError(f"the range {part.strip()!r} is empty: sentences are counted from 1")
            ranges.append((first, end))
        return cls(tuple(ranges))

    def __contains__(self, number: int) -> bool:
        return any(first <= number and (end is None or number <= end) for first, end in self.ranges)

    @property
    def is_single(self) -> bool:
        """Whether only one sentence is wanted."""
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]

    @property
    def last(self) -> int | None:
        """The last wanted sentence, or None if all to the end are wanted."""
        ends = [end for _, end in self.ranges if end is not None]
        return max(ends) if len(ends) == len(self.ranges) else None

    def pick(self, trees: Iterable[Tree], others: Iterable[Tree] | None) -> Iterator[tuple[int, Tree, Tree | None]]:
        """Number, tree and counterpart in `others` of every wanted sentence; reads no further than needed."""
        number = 0
        pairs = zip_longest(trees, () if others is None else others)
        for number, (tree, other) in enumerate(pairs, 1):
            if number in self:
                if tree is None or (other is None and others is not None):
                    which = "first" if tree is None else "second"
                    raise DiscoparseError(f"the {which} file ends before sentence {number}, the other one goes on")
                yield number, tree, other
            if number == self.last:
                return
        beyond = max((first if end is None else end) for first, end in self.ranges)
        if number < beyond and not (number == 0 and self == Selection()):
            raise UsageError(f"there is no sentence {beyond}: the treebank has {number}")
