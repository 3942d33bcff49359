"""Text tables: one formatter for every command."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discoparse.files.text_table import text_table
from discoparse.files.widths import cells

WORDS = st.text(st.sampled_from("ab日本é\u0301"), max_size=5).map(lambda text: "x" + text)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5), st.sampled_from(["<", ">", "^<", "<>^"]))
def test_columns_are_aligned_by_cells(rows: list[tuple[str, str, str]], align: str) -> None:
    lines = text_table(rows, align).split("\n")
    aligns = align.ljust(3, align[-1])
    start = 0
    for k in range(3):
        width = max(cells(row[k]) for row in rows)
        for row, line in zip(rows, lines, strict=True):
            cell = slice_of_cells(line, start, start + width)
            assert cell.strip() == row[k]
            free = width - cells(row[k])
            left = {"<": 0, ">": free, "^": free // 2}[aligns[k]]
            assert cell.startswith(" " * left + "x")
        start += width + 2


def slice_of_cells(line: str, start: int, end: int) -> str:
    """The characters of a line in some cells of a terminal."""
    found, at = "", 0
    for character in line:
        if start <= at < end or (cells(character) == 0 and start < at <= end):
            found += character
        at += cells(character)
    return found


def test_lines_have_no_trailing_blanks_and_widths_a_minimum() -> None:
    assert text_table([("a", ""), ("bb", "c")], minimum=[4], gap=" ") == "a\nbb   c"


def test_no_rows_make_no_lines() -> None:
    assert text_table([]) == ""
