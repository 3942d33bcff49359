"""Reliability diagrams as SVG, styled by the page around them: probabilities against the share that is right."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.drawing.charts import SERIES_COLOURS, Axis, opening, svg_box, svg_text

_WIDTH, _HEIGHT = 300, 292
_LEFT, _TOP, _SIDE = 42, 10, 240  # of the square


def reliability_diagram(points: Sequence[tuple[int, float, float]], title: str, bins: int) -> str:
    """For each bin that is not empty, how many things are in it, their mean probability, and the share that is right.

    Bars are the shares; a line marks the mean probability of each bar, and where the two agree it lies on its top. The
    wider a bar, the more of all things are in it.

    >>> reliability_diagram([(3, 0.95, 2 / 3)], "all", 10).count("<rect")
    1
    """
    x, y = Axis(0, 1, _LEFT, _SIDE), Axis(0, 1, _TOP + _SIDE, -_SIDE)
    parts = [opening(_WIDTH, _HEIGHT, title)]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{y.place(tick)}" x2="{_LEFT + _SIDE}" y2="{y.place(tick)}"/>'
        )
        parts.append(svg_text("tick", _LEFT - 6, y.place(tick) + 4, f"{tick:g}", "end"))
        parts.append(svg_text("tick", x.place(tick), _TOP + _SIDE + 15, f"{tick:g}"))
    most = max((count for count, _, _ in points), default=1)
    step = _SIDE / bins
    for count, probability, right in points:
        place = min(int(probability * bins), bins - 1)
        wide = max(3.0, (step - 2) * count / most)
        left = _LEFT + (place + 0.5) * step - wide / 2
        hint = f"{count} with a mean probability of {probability:.3f}: {right:.3f} are right"
        parts.append(svg_box(left, y.place(right), wide, y.start - y.place(right), 0, hint))
        parts.append(
            f'<line x1="{_LEFT + place * step + 1:.1f}" y1="{y.place(probability):.1f}" '
            f'x2="{_LEFT + (place + 1) * step - 1:.1f}" y2="{y.place(probability):.1f}" '
            f'stroke="{SERIES_COLOURS[1]}" stroke-width="2"/>'
        )
    parts.append(f'<line class="axis" x1="{x.place(0)}" y1="{y.place(0)}" x2="{x.place(1)}" y2="{y.place(1)}"/>')
    parts.append(svg_text("name", _LEFT + _SIDE / 2, _HEIGHT - 8, "probability"))
    return "".join([*parts, "</svg>"])
