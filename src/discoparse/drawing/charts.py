"""Charts as SVG: `plot` draws lines, points and bars over two axes as a file that stands alone, for learning curves and
measurements; `bar_chart` and `column_chart` compare one or two parsers by group, styled by the page around them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

# Okabe and Ito's colours: told apart by everyone, and in print by their lightness.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 18, 40, 50  # margins around the plotting area
_LEGEND_LINE, _LEGEND_CHARACTER, _LEGEND_KEY = 18, 6.4, 34
_TICKS = 6  # on an axis, about
SERIES_COLOURS = ("#2b6cb0", "#dd7b1e")  # of the first and the second parser in a chart by group
_BAR, _GAP, _ROW_GAP = 13, 2, 9
_NAMES, _BARS, _NUMBERS = 158, 330, 130  # widths: names, bars, numbers

_STYLE = """
text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1d2430; }
.title { font-size: 14px; font-weight: 600; } .tick { fill: #667085; font-size: 11px; }
.grid { stroke: #e3e7ee; } .axis { stroke: #98a2b3; }
"""


@dataclass(frozen=True)
class Series:
    """One thing measured: its name in the legend, its points, and how they are drawn."""

    name: str
    points: Sequence[tuple[float, float]]
    style: str = "line"  # line, dashed, dots or bars
    colour: int = 0  # one of `COLOURS`


@dataclass(frozen=True)
class Axis:
    """A range of values on `room` pixels from `start`; y axes count down."""

    low: float
    high: float
    start: float
    room: float

    def place(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + self.room * (value - self.low) / (self.high - self.low)


def plot(
    series: Sequence[Series],
    title: str,
    x_name: str,
    y_name: str,
    *,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    width: int = 640,
    height: int = 380,
) -> str:
    """Draw series over two axes. Bars of several series stand side by side, at x values one apart.

    >>> plot([Series("F1", [(1, 40.0), (2, 60.0)])], "Learning", "epoch", "F1").startswith("<svg")
    True
    """
    legend = _legend_lines(series, width - _LEFT - _RIGHT)
    height += _LEGEND_LINE * len(legend)
    bars = [s for s in series if s.style == "bars"]
    xs = [x for s in series for x, _ in s.points] or [0.0]
    ys = [y for s in series for _, y in s.points] or [0.0]
    pad = 0.5 if bars else 0.0
    x_low, x_high = x_range or (min(xs) - pad, max(xs) + pad)
    y_low, y_high = y_range or (_rounded(ys) if not bars else (0.0, _rounded([0.0, *ys])[1]))
    bottom = height - _BOTTOM - _LEGEND_LINE * len(legend)
    x = Axis(x_low, max(x_high, x_low + 1e-9), _LEFT, width - _LEFT - _RIGHT)
    y = Axis(y_low, max(y_high, y_low + 1e-9), bottom, _TOP - bottom)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title, quote=True)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        svg_text("title", _LEFT, 22, title, "start"),
        *_grid(x, y, x_name, y_name, whole=bool(bars)),
        f'<clipPath id="area"><rect x="{_LEFT}" y="{_TOP}" width="{x.room}" height="{-y.room}"/></clipPath>',
        '<g clip-path="url(#area)">',
    ]
    for s in sorted(series, key=lambda s: s.style != "bars"):  # lines stay visible before bars
        parts.extend(_marks(s, x, y, bars))
    parts.append("</g>")
    parts.extend(_legend(legend, height - _LEGEND_LINE * len(legend) + 6))
    return "\n".join([*parts, "</svg>\n"])


def ticks(low: float, high: float) -> list[float]:
    """Round values between two bounds, about six of them.

    >>> ticks(0, 100), ticks(61.2, 63.1)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [61.5, 62.0, 62.5, 63.0])
    """
    step = _step(low, high)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def _step(low: float, high: float) -> float:
    raw = max(high - low, 1e-9) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)


def _rounded(values: Sequence[float]) -> tuple[float, float]:
    """The range of some values, widened to round numbers."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    step = _step(low, high)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _grid(x: Axis, y: Axis, x_name: str, y_name: str, whole: bool) -> Iterator[str]:
    left, right, top, bottom = x.start, x.start + x.room, y.start + y.room, y.start
    for value in ticks(y.low, y.high):
        at = y.place(value)
        yield f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>'
        yield svg_text("tick", left - 7, at + 4, f"{value:,g}", "end")
    for value in ticks(x.low, x.high):
        if not (whole and value != int(value)):
            yield svg_text("tick", x.place(value), bottom + 17, f"{value:,g}")
    yield f'<line class="axis" x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
    yield svg_text("name", (left + right) / 2, bottom + 37, x_name)
    middle = (top + bottom) / 2
    yield (
        f'<text x="15" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 15 {middle:.1f})">'
        f"{escape(y_name)}</text>"
    )


def _marks(s: Series, x: Axis, y: Axis, bars: Sequence[Series]) -> Iterator[str]:
    colour = COLOURS[s.colour % len(COLOURS)]
    if s.style == "bars":
        wide = 0.8 * x.room / (x.high - x.low) / len(bars)
        shift = (next(k for k, other in enumerate(bars) if other is s) - len(bars) / 2) * wide
        for a, b in s.points:
            top = y.place(b)
            yield (
                f'<rect x="{x.place(a) + shift:.1f}" y="{top:.1f}" width="{max(wide - 1, 0.5):.1f}" '
                f'height="{y.start - top:.1f}" fill="{colour}">'
                f"<title>{escape(s.name)}: {a:g}, {b:.3g}</title></rect>"
            )
    elif s.style == "dots":
        for a, b in dict.fromkeys(s.points):  # many sentences share a place
            yield f'<circle cx="{x.place(a):.1f}" cy="{y.place(b):.1f}" r="2" fill="{colour}" fill-opacity="0.55"/>'
    else:
        path = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in s.points)
        dashes = ' stroke-dasharray="6 4"' if s.style == "dashed" else ""
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>'


def _legend_lines(series: Sequence[Series], room: float) -> list[list[tuple[float, Series]]]:
    """Names that fit side by side, each with its place from the left."""
    lines: list[list[tuple[float, Series]]] = []
    used = room
    for s in _named(series):
        wide = _LEGEND_KEY + _LEGEND_CHARACTER * len(s.name) + 12
        if used + wide > room:
            lines.append([])
            used = 0.0
        lines[-1].append((used, s))
        used += wide
    return lines


def _named(series: Sequence[Series]) -> Iterator[Series]:
    """Series with the same name and look (seeds of one setting) have one entry in the legend."""
    seen = set()
    for s in series:
        if s.name and (s.name, s.style, s.colour) not in seen:
            seen.add((s.name, s.style, s.colour))
            yield s


def _legend(lines: list[list[tuple[float, Series]]], top: float) -> Iterator[str]:
    for k, line in enumerate(lines):
        y = top + k * _LEGEND_LINE
        for place, s in line:
            x, colour = _LEFT + place, COLOURS[s.colour % len(COLOURS)]
            if s.style == "bars":
                yield f'<rect x="{x + 8:.1f}" y="{y - 9}" width="11" height="11" rx="2" fill="{colour}"/>'
            elif s.style == "dots":
                yield f'<circle cx="{x + 14:.1f}" cy="{y - 4}" r="3.5" fill="{colour}"/>'
            else:
                dashes = ' stroke-dasharray="6 4"' if s.style == "dashed" else ""
                yield (
                    f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 26:.1f}" y2="{y - 4}" stroke="{colour}" '
                    f'stroke-width="2"{dashes}/>'
                )
            yield svg_text("name", x + _LEGEND_KEY - 2, y, s.name, "start")


def svg_text(kind: str, x: float, y: float, text: str, anchor: str = "middle") -> str:
    """A text element of the class `kind`."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


@dataclass(frozen=True)
class Group:
    """A row or column of a chart: a name, a note, and a value for each series (None: nothing to score)."""

    name: str
    note: str
    values: Sequence[float | None]


def bar_chart(groups: Sequence[Group], title: str) -> str:
    """Horizontal bars from 0 to 100, one line for each group."""
    step = _ROW_GAP + max((len(group.values) for group in groups), default=1) * (_BAR + _GAP)
    height, width = len(groups) * step + 24, _NAMES + _BARS + _NUMBERS
    parts = [opening(width, height, title)]
    for tick in range(0, 101, 25):
        x = _NAMES + _BARS * tick / 100
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(svg_text("tick", x, height - 6, str(tick)))
    for k, group in enumerate(groups):
        top = k * step + _ROW_GAP / 2
        middle = top + len(group.values) * (_BAR + _GAP) / 2 + 4
        parts.append(svg_text("name", _NAMES - 8, middle, group.name, "end"))
        for j, value in enumerate(group.values):
            parts.append(_bar(group, j, value, top + j * (_BAR + _GAP)))
        parts.append(svg_text("tick", width - 4, middle, group.note, "end"))
    return "".join([*parts, "</svg>"])


def _bar(group: Group, series: int, value: float | None, y: float) -> str:
    length = _BARS * (value or 0) / 100
    shown = "–" if value is None else f"{value:.1f}"
    box = svg_box(_NAMES, y, length, _BAR, series, f"{group.name}: {shown} ({group.note})")
    return box + svg_text("value", _NAMES + length + 5, y + _BAR - 2.5, shown, "start")


def column_chart(groups: Sequence[Group], title: str, width: int = 618, height: int = 210) -> str:
    """Vertical bars; the tallest reaches the top, for counts and percentages alike."""
    tallest = max((v for group in groups for v in group.values if v), default=1.0)
    room, base = height - 62, height - 36
    step = width / max(len(groups), 1)
    series = max((len(group.values) for group in groups), default=1)
    wide = min(34.0, (step - 10) / series)
    parts = [opening(width, height, title)]
    parts.append(f'<line class="axis" x1="0" y1="{base}" x2="{width}" y2="{base}"/>')
    for k, group in enumerate(groups):
        centre = step * (k + 0.5)
        for j, value in enumerate(group.values):
            tall = room * (value or 0) / tallest
            x = centre + (j - series / 2) * wide
            shown = "–" if value is None else f"{value:.0f}" if value == int(value) else f"{value:.1f}"
            parts.append(svg_box(x + 1, base - tall, wide - 2, tall, j, f"{group.name}: {shown} ({group.note})"))
            parts.append(svg_text("value", x + wide / 2, base - tall - 5, shown))
        parts.append(svg_text("name", centre, base + 16, group.name))
        parts.append(svg_text("tick", centre, base + 30, group.note))
    return "".join([*parts, "</svg>"])


def svg_box(x: float, y: float, width: float, height: float, series: int, hint: str) -> str:
    """A bar in the colour of a series, with a hint."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
        f'fill="{SERIES_COLOURS[series]}"><title>{escape(hint)}</title></rect>'
    )


def opening(width: float, height: float, title: str) -> str:
    """The first tag of a chart that is styled by the page around it."""
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(title, quote=True)}" xmlns="http://www.w3.org/2000/svg">'
    )
