"""A row of terminal cells to paint on, with a style for each cell."""

from __future__ import annotations

from discoparse.drawing.compare import DIFFERENT, MISSING, SPURIOUS
from discoparse.files.widths import cell_width

# ANSI codes; colours of the terminal's own palette, which its user chose to be readable.
_CODES = {"quiet": "2", MISSING: "31", SPURIOUS: "32", DIFFERENT: "35"}
_CODES |= {f"accent{k}": code for k, code in enumerate(("36", "33", "35", "32"))}


class Row:
    """The cells from column `start` to `end` (exclusive); a wide character takes two, a combining mark none."""

    def __init__(self, start: int, end: int) -> None:
        self._start, self._end = start, end
        self._characters = [" "] * (end - start)
        self._styles: list[str | None] = [None] * (end - start)
        self._marks: dict[int, str] = {}  # combining marks before the cell, which words may begin with

    def put(self, column: int, text: str, style: str | None = None) -> None:
        """Write `text` from a column onwards; what lies outside of the row is left out."""
        last: int | None = None  # where the character before stands
        marks = next((k for k, character in enumerate(text) if cell_width(character)), len(text))
        if marks and self._start <= column < self._end:
            self._marks[column - self._start] = text[:marks]
        for character in text[marks:]:
            size = cell_width(character)
            if size == 0:
                if last is not None:
                    self._characters[last - self._start] += character
                continue
            last = None
            for k in range(size):
                if self._start <= column + k < self._end:
                    self._characters[column + k - self._start] = "" if k else character
                    self._styles[column + k - self._start] = style
                    last = column
            column += size

    def text(self, color: bool) -> str:
        """The row as text, with colours if wanted."""
        cells = [self._marks.get(k, "") + character for k, character in enumerate(self._characters)]
        if not color:
            return "".join(cells)
        pieces = []
        style: str | None = None
        for character, wanted in zip(cells, self._styles, strict=True):
            if wanted != style:
                pieces.append("\x1b[0m" if wanted is None else f"\x1b[0;{_CODES[wanted]}m")
                style = wanted
            pieces.append(character)
        if style is not None:
            pieces.append("\x1b[0m")
        return "".join(pieces)
