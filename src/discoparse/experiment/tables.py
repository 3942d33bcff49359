"""Tables as data, and as Markdown, LaTeX (booktabs) and CSV."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Spread:
    """A figure over several seeds: its mean and its sample standard deviation (None for one seed)."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """Over the values that there are; None where there is none.

        >>> Spread.of([70.0, 71.0, 72.0])
        Spread(mean=71.0, deviation=1.0)
        """
        there = [value for value in values if value is not None]
        if not there:
            return None
        return cls(statistics.fmean(there), statistics.stdev(there) if len(there) > 1 else None)


Cell = str | int | float | Spread | None


@dataclass(frozen=True)
class Table:
    """A table: a short name (that of its files), what it shows, its columns and rows."""

    name: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    decimals: int = 1
    text_columns: int = 1  # how many columns, from the left, hold names
    notes: Sequence[str] = field(default_factory=tuple)


def shown(cell: Cell, decimals: int) -> str:
    """A cell as readers see it; a dash where there is nothing.

    >>> shown(Spread(71.04, 0.52), 1), shown(1234, 1), shown(None, 1)
    ('71.0 ± 0.5', '1,234', '–')
    """
    if cell is None:
        return "–"
    if isinstance(cell, Spread):
        mean = f"{cell.mean:,.{decimals}f}"
        return mean if cell.deviation is None else f"{mean} ± {cell.deviation:.{decimals}f}"
    if isinstance(cell, float):
        return f"{cell:,.{decimals}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def markdown(table: Table) -> str:
    """A pipe table with its caption above it and its notes below.

    >>> print(markdown(Table("t", "Scores.", ["oracle", "F1"], [["static", 80.0]])))
    **Scores.**
    <BLANKLINE>
    | oracle | F1 |
    | --- | ---: |
    | static | 80.0 |
    """
    ruler = ["---" if k < table.text_columns else "---:" for k in range(len(table.heads))]
    body = [[_pipe(shown(cell, table.decimals)) for cell in row] for row in table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in [[_pipe(head) for head in table.heads], ruler, *body]]
    return "\n".join([f"**{table.caption}**", "", *lines, *(f"\n{note}" for note in table.notes)])


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


def latex(table: Table) -> str:
    """A table environment for a paper that loads booktabs."""
    alignment = "l" * table.text_columns + "r" * (len(table.heads) - table.text_columns)
    rows = [" & ".join(_tex(shown(cell, table.decimals)) for cell in row) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            " & ".join(_tex(head) for head in table.heads) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_tex(' '.join([table.caption + '.', *table.notes]))}}}",
            rf"\label{{tab:{table.name}}}",
            r"\end{table}",
            "",
        ]
    )


_TEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "–": "--",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "−": r"$-$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def _tex(text: str) -> str:
    """Escape what LaTeX would read as its own.

    >>> _tex("100% & 71.0 ± 0.5")
    '100\\\\% \\\\& 71.0 $\\\\pm$ 0.5'
    """
    return "".join(_TEX.get(character, character) for character in text)


def as_csv(table: Table) -> str:
    """Unrounded figures; a spread takes two columns, the second for its standard deviation."""
    spread = [any(isinstance(row[k], Spread) for row in table.rows) for k in range(len(table.heads))]
    heads = [name for head, wide in zip(table.heads, spread, strict=True) for name in _csv_heads(head, wide)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    for row in table.rows:
        writer.writerow([value for cell, wide in zip(row, spread, strict=True) for value in _csv_cells(cell, wide)])
    return stream.getvalue()


def _csv_heads(head: str, spread: bool) -> list[str]:
    return [head, f"{head} sd"] if spread else [head]


def _csv_cells(cell: Cell, spread: bool) -> list[str | int | float]:
    if isinstance(cell, Spread):
        return [cell.mean, "" if cell.deviation is None else cell.deviation]
    return ["" if cell is None else cell, ""] if spread else ["" if cell is None else cell]
