"""The spans that Alpino's phrases state, checked against what is in them: a word in the wrong phrase shows there."""

from __future__ import annotations

_FAR = 1 << 30


class Extent:
    """What a phrase covers: its words alone, and its words with its empty nodes, which have spans of antecedents."""

    __slots__ = ("begin", "certain", "end", "first", "last")

    def __init__(self) -> None:
        self.first, self.last = _FAR, -1  # of the words: where the first begins, where the last ends
        self.begin, self.end = _FAR, -1  # of everything
        self.certain = True  # everything in it has a span

    def add_word(self, begin: int, end: int) -> None:
        """A word of the phrase."""
        if begin < self.first:
            self.first = begin
        if end > self.last:
            self.last = end
        self.add_empty(begin, end)

    def add_empty(self, begin: int, end: int) -> None:
        """An empty node of the phrase."""
        if begin < self.begin:
            self.begin = begin
        if end > self.end:
            self.end = end

    def add(self, inner: Extent) -> None:
        """A phrase inside this one."""
        if inner.last >= 0:
            self.add_word(inner.first, inner.last)
        if inner.end >= 0:
            self.add_empty(inner.begin, inner.end)
        self.certain = self.certain and inner.certain

    def admits(self, begin: int, end: int) -> bool:
        """Whether a phrase may state this span: that of its words or, as Alpino does it, that of everything in it.

        If something in it has no span, the words must still be inside.
        """
        if self.last < 0:
            return True
        if self.certain:
            return (begin, end) in ((self.first, self.last), (self.begin, self.end))
        return begin <= self.first and self.last <= end
