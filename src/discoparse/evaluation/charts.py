"""Small bar charts as inline SVG, for the report: one or two series of percentages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discoparse.drawing.plots import svg_text

COLOURS = ("#2b6cb0", "#dd7b1e")  # the first and the second parser
_BAR, _GAP, _ROW_GAP = 13, 2, 9
_NAMES, _BARS, _NUMBERS = 158, 330, 130  # widths: names, bars, numbers


@dataclass(frozen=True)
class Row:
    """A group: its name, what to say about it, and a percentage for each series (None: nothing to score)."""

    name: str
    note: str
    values: Sequence[float | None]


def bars(rows: Sequence[Row], title: str) -> str:
    """Horizontal bars from 0 to 100, one line for each group."""
    step = _ROW_GAP + max((len(row.values) for row in rows), default=1) * (_BAR + _GAP)
    height, width = len(rows) * step + 24, _NAMES + _BARS + _NUMBERS
    parts = [_opening(width, height, title)]
    for tick in range(0, 101, 25):
        x = _NAMES + _BARS * tick / 100
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(svg_text("tick", x, height - 6, str(tick)))
    for k, row in enumerate(rows):
        top = k * step + _ROW_GAP / 2
        middle = top + len(row.values) * (_BAR + _GAP) / 2 + 4
        parts.append(svg_text("name", _NAMES - 8, middle, row.name, "end"))
        for j, value in enumerate(row.values):
            parts.append(_bar(row, j, value, top + j * (_BAR + _GAP)))
        parts.append(svg_text("tick", width - 4, middle, row.note, "end"))
    return "".join([*parts, "</svg>"])


def _bar(row: Row, series: int, value: float | None, y: float) -> str:
    length = _BARS * (value or 0) / 100
    shown = "–" if value is None else f"{value:.1f}"
    box = _box(_NAMES, y, length, _BAR, series, f"{row.name}: {shown} ({row.note})")
    return box + svg_text("value", _NAMES + length + 5, y + _BAR - 2.5, shown, "start")


def columns(rows: Sequence[Row], title: str, width: int = 618, height: int = 210) -> str:
    """Vertical bars; the tallest reaches the top, for counts and percentages alike."""
    tallest = max((v for row in rows for v in row.values if v), default=1.0)
    room, base = height - 62, height - 36
    step = width / max(len(rows), 1)
    series = max((len(row.values) for row in rows), default=1)
    wide = min(34.0, (step - 10) / series)
    parts = [_opening(width, height, title)]
    parts.append(f'<line class="axis" x1="0" y1="{base}" x2="{width}" y2="{base}"/>')
    for k, row in enumerate(rows):
        centre = step * (k + 0.5)
        for j, value in enumerate(row.values):
            tall = room * (value or 0) / tallest
            x = centre + (j - series / 2) * wide
            shown = "–" if value is None else f"{value:.0f}" if value == int(value) else f"{value:.1f}"
            parts.append(_box(x + 1, base - tall, wide - 2, tall, j, f"{row.name}: {shown} ({row.note})"))
            parts.append(svg_text("value", x + wide / 2, base - tall - 5, shown))
        parts.append(svg_text("name", centre, base + 16, row.name))
        parts.append(svg_text("tick", centre, base + 30, row.note))
    return "".join([*parts, "</svg>"])


def _box(x: float, y: float, width: float, height: float, series: int, hint: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
        f'fill="{COLOURS[series]}"><title>{escape(hint)}</title></rect>'
    )


def _opening(width: float, height: float, title: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(title, quote=True)}" xmlns="http://www.w3.org/2000/svg">'
    )
