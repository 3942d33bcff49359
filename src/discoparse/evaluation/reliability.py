"""Calibration for people: the table on the command line and the diagrams of the HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discoparse.drawing.reliability import reliability_diagram
from discoparse.evaluation.calibration import BINS, Calibrated, Reliability
from discoparse.files.text_table import text_table

_NAMES = {"probability": "probability", "label_probability": "label probability"}
CALIBRATION_HEADS = ["", "constituents", "mean probability", "right", "ECE", "AUC"]
_LABELS = 12  # in the table and among the diagrams


def calibration_table(found: Calibrated) -> str:
    """All constituents by kind of probability, then by gap degree and by label."""
    parts = [text_table([CALIBRATION_HEADS, *calibration_rows(found)], "<>")]
    if found.sentences is not None:
        one = found.sentences
        correlation = "–" if one.correlation is None else f"{one.correlation:.2f}"
        line = f"{one.sentences} sentences: expected F1 {one.expected_f1:.2f}, reached {one.f1:.2f} (mean of sentences)"
        line += f", correlation {correlation}"
        if one.probability is not None and one.exact is not None:
            line += f"; whole trees: mean probability {one.probability:.3f}, right {one.exact:.3f}"
        parts.append(line)
    return "\n\n".join(parts)


def calibration_rows(found: Calibrated) -> list[list[str]]:
    """A row for each group."""
    rows = [_row(_NAMES[kind], figures) for kind, figures in found.kinds.items()]
    for title, groups in _groups(found):
        rows += [[title, "", "", "", "", ""], *(_row(f"  {name}", figures) for name, figures in groups.items())]
    return rows


def _groups(found: Calibrated) -> Iterator[tuple[str, Mapping[str, Reliability]]]:
    yield "by gap degree", found.gaps
    yield "by label", dict(list(found.labels.items())[:_LABELS])


def _row(name: str, one: Reliability) -> list[str]:
    area = "–" if one.auc is None else f"{one.auc:.3f}"
    return [name, str(one.count), f"{one.probability:.3f}", f"{one.right:.3f}", f"{one.error:.4f}", area]


def diagrams(found: Calibrated) -> list[tuple[str, str]]:
    """Title and SVG of the reliability diagrams."""
    drawn = [(f"All constituents: {_NAMES[kind]}", figures) for kind, figures in found.kinds.items()]
    drawn += [(f"Gap degree {name}" if name.isdigit() else name, figures) for name, figures in found.gaps.items()]
    drawn += [(f"Label {name}", figures) for name, figures in list(found.labels.items())[:_LABELS]]
    return [(f"{title}: ECE {one.error:.3f}", reliability_diagram(_points(one), title, BINS)) for title, one in drawn]


def _points(one: Reliability) -> list[tuple[int, float, float]]:
    return [(b.count, b.probability, b.right) for b in one.bins]
