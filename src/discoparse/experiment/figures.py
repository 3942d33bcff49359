"""The pictures of the report, from the figures of one treebank (see `measures`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from discoparse.drawing.charts import Series, plot
from discoparse.experiment.plan import is_variant
from discoparse.experiment.sections import system_name
from discoparse.training.recipe import ORACLES

_SYSTEMS = {"swap": 1, "gap": 2}  # their colours; those of the oracles are their places in ORACLES
_GOLD = 6
_USUAL = 0.995  # share of sentences whose lengths are usual
_CURVE_RANGE = 20.0  # points below the best of the worst run that learning curves show: differences are small
_SHOWN = 0.1  # per cent of configurations below which the tail of the memory's plot is cut


def pictures(figures: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, title and SVG of every picture."""
    yield "memory", "Size of the memory", memory_picture(figures)
    yield "transitions", "Transitions against length", transition_picture(figures)
    if figures["curves"]:  # there are none where all runs are variants
        for name, score in (("f1", "F1"), ("disc_f1", "discontinuous F1")):
            yield f"curve-{name}", f"Learning curves, {score}", curve_picture(figures, name, score)


def _colour(oracle: str) -> int:
    return ORACLES.index(oracle)


def memory_picture(figures: dict[str, Any]) -> str:
    """Figure 3: the share of configurations with a memory of each size, bars for parsers, a line for gold."""
    series = []
    largest = 1
    parsers = [row for row in figures["memory"] if row["recipe"] is not None]
    recipes = {row["recipe"] for row in parsers}
    main = "fast" if "fast" in recipes else min(recipes, default=None)
    for row in figures["memory"]:
        if row["recipe"] not in (None, main) or is_variant(row["oracle"]):
            continue
        total = max(1, sum(count for _, count in row["distribution"]))
        points = [(float(size), 100 * count / total) for size, count in row["distribution"]]
        largest = max([largest, *(int(size) for size, share in points if share >= _SHOWN)])
        if row["recipe"] is None:
            series.append(Series(row["oracle"], points, "dashed", _GOLD))
        else:
            series.append(Series(system_name(main, row["oracle"]), points, "bars", _colour(row["oracle"])))
    series = [Series(s.name, [p for p in s.points if p[0] <= largest], s.style, s.colour) for s in series]
    title = f"{figures['treebank']}: size of the memory when dev is parsed"
    return plot(series, title, "items in the memory, |S|", "% of configurations")


def transition_picture(figures: dict[str, Any]) -> str:
    """Transitions of every sentence of dev against its length, labelling counted alike, with the line 4n-2."""
    table = figures["transitions"]
    columns, points = table["columns"], table["points"]
    series = []
    for name, colour in _SYSTEMS.items():
        column = columns.index(name)
        places = [(float(row[0]), float(row[column] + 2 * row[0] - 1)) for row in points]
        series.append(Series(name, places, "dots", colour))
    longest = max(row[0] for row in points)
    shown = longest
    lengths = sorted(row[0] for row in points)
    usual = lengths[int(_USUAL * (len(lengths) - 1))]
    title = f"{figures['treebank']}: transitions of the gold trees of dev"
    if longest > 1.5 * usual:  # a few very long sentences would squeeze all others into a corner
        shown = usual
        title += f" (up to {usual} tokens)"
    series.append(Series("set: 4n-2", [(1.0, 2.0), (float(longest), 4.0 * longest - 2)], "line", 0))
    top = max(y for s in series for x, y in s.points if x <= shown)
    x_range, y_range = (0.0, 1.03 * shown), (0.0, 1.05 * top)
    names = ("tokens in the sentence, n", "transitions, 2n-1 labelling steps included")
    return plot(series, title, *names, x_range=x_range, y_range=y_range)


def curve_picture(figures: dict[str, Any], name: str, score: str) -> str:
    """A score on dev after every evaluation, a line for each seed; `fast` is drawn through, `paper` dashed."""
    series = [
        Series(
            system_name(curve["recipe"], curve["oracle"]),
            [(float(point["epoch"]), point[name]) for point in curve["points"]],
            "line" if curve["recipe"] == "fast" else "dashed",
            _colour(curve["oracle"]),
        )
        for curve in figures["curves"]
    ]
    values = [value for s in series for _, value in s.points]
    worst = min(max(value for _, value in s.points) for s in series)
    low, high = max(min(values), worst - _CURVE_RANGE), max(values)
    bounds = (5 * math.floor(low / 5), 5 * math.ceil((high + 0.1) / 5))
    title = f"{figures['treebank']}: {score} on dev while training"
    return plot(series, title, "epoch", f"{score} (%)", y_range=bounds)
