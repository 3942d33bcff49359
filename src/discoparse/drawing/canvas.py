"""A grid of terminal cells to paint on, with a style for each cell."""

from __future__ import annotations

from discoparse.files.widths import cell_width

# ANSI codes; colours of the terminal's own palette, which its user chose to be readable.
_CODES = {"quiet": "2", "discontinuous": "36", "missing": "31", "spurious": "32", "different": "35"}


class Canvas:
    """Rows of cells; a wide character takes two, a combining mark none."""

    def __init__(self, width: int, height: int) -> None:
        self.height = height
        self._characters = [[" "] * width for _ in range(height)]
        self._styles: list[list[str | None]] = [[None] * width for _ in range(height)]

    def put(self, row: int, column: int, text: str, style: str | None = None) -> None:
        """Write `text` from a cell onwards."""
        last = column
        for character in text:
            size = cell_width(character)
            if size == 0:
                self._characters[row][last] += character
                continue
            self._characters[row][column] = character
            self._styles[row][column] = style
            if size == 2:
                self._characters[row][column + 1] = ""
                self._styles[row][column + 1] = style
            last, column = column, column + size

    def line(self, row: int, start: int, end: int, color: bool) -> str:
        """A part of a row as text, with colours if wanted."""
        characters = self._characters[row][start:end]
        if not color:
            return "".join(characters)
        pieces = []
        style: str | None = None
        for character, wanted in zip(characters, self._styles[row][start:end], strict=True):
            if wanted != style:
                pieces.append("\x1b[0m" if wanted is None else f"\x1b[0;{_CODES[wanted]}m")
                style = wanted
            pieces.append(character)
        if style is not None:
            pieces.append("\x1b[0m")
        return "".join(pieces)
