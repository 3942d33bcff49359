"""The log of a training, one JSON record per line for every epoch and every evaluation, and a picture of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discoparse.drawing.charts import Series, plot
from discoparse.files.atomic import replace_file

_SCORES = (("F1", "f1"), ("disc. F1", "disc_f1"), ("POS", "pos"))
_LOSSES = (("structure", "structure"), ("labels", "label"), ("tags", "tag"))
WIDTH, _HEIGHT = 640, 420  # of one of the two plots, legend included


class Log:
    """Records in memory and in a file; each is on disk before training goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []

    def resume(self, count: int) -> None:
        """Go on after the first `count` records of the file: later ones belong to steps that will be taken again."""
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        self.records = [record for line in lines[:count] if (record := _record(line)) is not None]
        replace_file(self.path, b"".join(map(_line, self.records)))

    def add(self, kind: str, **values: Any) -> None:
        """Append a record."""
        record = {"type": kind, **values}
        line = _line(record)
        with self.path.open("ab") as stream:
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self.records.append(record)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"  # NaN is not JSON


def _record(line: bytes) -> dict[str, Any] | None:
    """The record in a line, None if the line is damaged: resuming does not depend on what was logged."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "type" in record else None


def draw_curves(records: Sequence[dict[str, Any]], title: str) -> str:
    """Scores on the development set, and losses, by epoch, as one SVG picture."""
    evaluations = [record for record in records if record["type"] == "evaluation"]
    epochs = [record for record in records if record["type"] == "epoch"]
    scores = plot(_series(evaluations, _SCORES), f"{title}: scores on dev", "epoch", "%", width=WIDTH)
    losses = plot(_series(epochs, _LOSSES), f"{title}: loss per token", "epoch", "loss", width=WIDTH)
    return stacked(scores, losses)


def stacked(upper: str, lower: str) -> str:
    """Two plots, one above the other, as one SVG picture."""
    lower = lower.replace('id="area"', 'id="area2"').replace("url(#area)", "url(#area2)")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{2 * _HEIGHT}">',
            upper,
            f'<g transform="translate(0 {_HEIGHT})">',
            lower,
            "</g>",
            "</svg>\n",
        ]
    )


def _series(records: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]]) -> list[Series]:
    return [
        Series(name, [(record["epoch"], record[key]) for record in records], colour=k)
        for k, (name, key) in enumerate(columns)
    ]
