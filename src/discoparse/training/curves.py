"""The curves of a training as one SVG picture: scores on the development set, and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discoparse.drawing.charts import Series, plot

_SCORES = (("F1", "f1"), ("disc. F1", "disc_f1"), ("POS", "pos"))
_LOSSES = (("structure", "structure"), ("labels", "label"), ("tags", "tag"))
_WIDTH, _HEIGHT = 640, 420  # of one of the two plots, legend included


def draw_curves(records: Sequence[dict[str, Any]], title: str) -> str:
    """Draw the records of a training's log."""
    evaluations = [record for record in records if record["type"] == "evaluation"]
    epochs = [record for record in records if record["type"] == "epoch"]
    scores = plot(_series(evaluations, _SCORES), f"{title}: scores on dev", "epoch", "%", width=_WIDTH)
    losses = plot(_series(epochs, _LOSSES), f"{title}: loss per token", "epoch", "loss", width=_WIDTH)
    losses = losses.replace('id="area"', 'id="area2"').replace("url(#area)", "url(#area2)")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{2 * _HEIGHT}">',
            scores,
            f'<g transform="translate(0 {_HEIGHT})">',
            losses,
            "</g>",
            "</svg>\n",
        ]
    )


def _series(records: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]]) -> list[Series]:
    return [
        Series(name, [(record["epoch"], record[key]) for record in records], colour=k)
        for k, (name, key) in enumerate(columns)
    ]
