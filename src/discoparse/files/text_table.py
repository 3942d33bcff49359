"""Plain-text tables for the terminal, aligned by cells, so that wide and combining characters stay in column."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.files.widths import cells


def text_table(rows: Sequence[Sequence[str]], align: str = "<", *, minimum: Sequence[int] = (), gap: str = "  ") -> str:
    """Rows as lines whose columns are aligned, headings included if the first row has them.

    `align` has one of `<`, `^` and `>` for each column, and `minimum` the least width; further columns take the last
    alignment and any width.

    >>> print(text_table([["label", "F1"], ["NP", "94.90"], ["日本", "100.00"]], "<>"))
    label      F1
    NP      94.90
    日本   100.00
    """
    if not rows:
        return ""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    widths = [max(width, least) for width, least in zip(widths, [*minimum, *[0] * len(widths)], strict=False)]
    aligns = align.ljust(len(widths), align[-1])
    return "\n".join(gap.join(map(_aligned, row, aligns, widths)).rstrip() for row in rows)


def _aligned(text: str, align: str, width: int) -> str:
    """`format` counts characters, which may take no or two cells of a terminal."""
    return format(text, f"{align}{width - cells(text) + len(text)}")
