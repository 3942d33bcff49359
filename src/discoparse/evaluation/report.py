"""The evaluation as one self-contained HTML page: figures, charts, mistakes, the sentences that have them drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from discoparse.drawing.charts import SERIES_COLOURS, Group, bar_chart, column_chart
from discoparse.drawing.compare import compare_trees
from discoparse.drawing.svg import draw_svg
from discoparse.evaluation.alignment import name_sentence
from discoparse.evaluation.breakdown import break_down
from discoparse.evaluation.calibration import Calibrated
from discoparse.evaluation.counts import ScoredSentence, f1_score, percentage
from discoparse.evaluation.mistakes import find_mistakes
from discoparse.evaluation.reliability import CALIBRATION_HEADS, calibration_rows, diagrams
from discoparse.evaluation.result import Result
from discoparse.evaluation.significance import Comparison
from discoparse.evaluation.structure import scored_tree
from discoparse.evaluation.tables import MISTAKES, comparison_rows, number, summary_rows

if TYPE_CHECKING:
    from jinja2 import Template

_LABELS, _MISTAKES, _UNFOLDED = 18, 12, 3  # labels in the chart, mistakes in a table, drawings unfolded at first
_WIDTH = 1270  # pixels of a picture; longer sentences go on in panels
CHARTS = {
    "length": "F1 by sentence length",
    "gap-degree": "F1 by gap degree of the constituent",
    "phenomenon": "F1 by phenomenon",
    "label": f"F1 by label (the {_LABELS} most frequent)",
}


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("discoparse.evaluation", "templates")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("report.html")


def html_report(
    result: Result,
    gold: str,
    predicted: Sequence[str],
    other: Result | None = None,
    tests: Sequence[Comparison] = (),
    worst: int = 12,
    calibrated: Calibrated | None = None,
) -> str:
    """The page for `result` and, for a comparison, `other`; names of files are only shown. With `calibrated`, it has a
    section on the probabilities of the first prediction."""
    results = [result] if other is None else [result, other]
    names = short_names(predicted)
    mistakes = _mistakes(result)
    ranked = sorted(result.sentences, key=lambda s: (-s.wrong, _sentence_f1(s), s.number))
    drawn = [sentence for sentence in ranked[:worst] if sentence.wrong]
    linked = {example - 1 for kind in mistakes for *_, example in kind["rows"]} - {s.number for s in drawn}
    return _template().render(
        names=names,
        gold=PurePath(gold).name,
        scores=result.all,
        missing=result.missing,
        cards=_cards(results),
        comparison=_comparison(results, names, tests) if other is not None else None,
        colours=list(zip(SERIES_COLOURS, names, strict=False)),
        summaries=[(name, summary_rows(r)) for name, r in zip(names, results, strict=True)],
        charts=_charts(results),
        calibration=None if calibrated is None else _calibration(calibrated),
        most=_MISTAKES,
        mistakes=mistakes,
        worst=[_drawn(sentence, unfolded=k < _UNFOLDED) for k, sentence in enumerate(drawn)],
        examples=[_drawn(sentence) for sentence in result.sentences if sentence.number in linked],
    )


def short_names(paths: Sequence[str]) -> list[str]:
    """File names, or the whole paths where the names alone do not tell them apart.

    >>> short_names(["a/dev.export", "b/test.export"]), short_names(["a/dev.export", "b/dev.export"])
    (['dev.export', 'test.export'], ['a/dev.export', 'b/dev.export'])
    """
    names = [PurePath(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _cards(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The most important figures, and how they change in a comparison."""
    figures = {
        "labelled F1": [r.all.f1 for r in results],
        "discontinuous F1": [r.all.disc.f1 for r in results],
        "exact match": [r.all.exact_match for r in results],
        "part-of-speech accuracy": [r.all.pos_accuracy for r in results],
    }
    cards = []
    for what, values in figures.items():
        before, after = values[0], values[-1]
        change = None if before is None or after is None else after - before
        cards.append({"what": what, "shown": [number(value) for value in values], "change": change})
    return cards


def _comparison(results: Sequence[Result], names: Sequence[str], tests: Sequence[Comparison]) -> dict[str, Any]:
    """The tests, and in how many sentences either parser is ahead."""
    ahead = [0, 0, 0]
    for a, b in zip(results[0].sentences, results[1].sentences, strict=True):
        ahead[0 if a.wrong < b.wrong else 1 if b.wrong < a.wrong else 2] += 1
    return {
        "heads": ["", *names, "difference", "95% interval", "p (permutation)", "p (bootstrap)"],
        "rows": comparison_rows(tests),
        "ahead": ahead,
        "samples": tests[0].samples,
        "seed": tests[0].seed,
    }


def _charts(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Title and SVG of the charts."""
    from markupsafe import Markup

    charts: list[tuple[str, str]] = [("Sentences by their F1", Markup(_histogram(results)))]
    for by, title in CHARTS.items():
        found = [{g.group: g for g in break_down(result, by)} for result in results]
        groups = [
            Group(
                name,
                f"{g.sentences:,} sent." if by == "length" else f"{g.gold:,} in gold",
                [of[name].f1 if name in of else None for of in found],
            )
            for name, g in list(found[0].items())[: _LABELS if by == "label" else None]
        ]
        charts.append((title, Markup(bar_chart(groups, title))))
    return charts


def _calibration(found: Calibrated) -> dict[str, Any]:
    """The table and the diagrams of the section on probabilities."""
    from markupsafe import Markup

    rows = calibration_rows(found)
    return {
        "heads": CALIBRATION_HEADS,
        "rows": rows,
        "charts": [(title, Markup(svg)) for title, svg in diagrams(found)],
    }


def _histogram(results: Sequence[Result]) -> str:
    """How many sentences reach which F1."""
    names = ["below 40", "40–60", "60–80", "80–90", "90–100", "all right"]
    counts = [[0] * len(names) for _ in results]
    for found, result in zip(counts, results, strict=True):
        for sentence in result.sentences:
            step = bisect_right((40, 60, 80, 90), _sentence_f1(sentence))
            found[-1 if sentence.counts.exact else step] += 1
    sentences = max(len(results[0].sentences), 1)
    groups = [
        Group(name, f"{100 * counts[0][k] / sentences:.0f}%", [float(found[k]) for found in counts])
        for k, name in enumerate(names)
    ]
    return column_chart(groups, "Number of sentences by their F1")


def _mistakes(result: Result) -> list[dict[str, Any]]:
    """The most frequent mistakes of every kind that occurs: the mistake, its count, the number of a sentence."""
    found = find_mistakes(result)
    tables = ((title, heads, getattr(found, name).top(_MISTAKES)) for name, title, heads in MISTAKES)
    return [{"title": title, "heads": heads, "rows": rows} for title, heads, rows in tables if rows]


@dataclass(frozen=True)
class DrawnSentence:
    """A sentence on the page: what its head says, and its picture as SVG that needs no escaping."""

    anchor: str
    heading: str
    figures: str
    words: str
    picture: str
    missing: bool
    unfolded: bool


def _drawn(sentence: ScoredSentence, unfolded: bool = False) -> DrawnSentence:
    """Gold above predicted, as they are scored. The head counts what the picture marks."""
    from markupsafe import Markup

    c = sentence.counts
    gold = scored_tree(sentence.gold, sentence.gold_bits, sentence.gold_brackets)
    if sentence.predicted is None:
        differences = f"{c.gold} missing"
        picture = draw_svg(gold, width=_WIDTH)
    else:
        found = scored_tree(sentence.predicted, sentence.predicted_bits, sentence.predicted_brackets)
        for token, of_gold in zip(found.tokens, gold.tokens, strict=True):
            token.word = of_gold.word  # words that count as equal may be spelled differently
        hidden = {tree.root for tree in (gold, found) if not tree.root.label}
        kinds = compare_trees(gold, found, hidden).by_kind()
        differences = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "no differences"
        picture = draw_svg(gold, compare=found, width=_WIDTH, legend=False)
    return DrawnSentence(
        f"sentence-{sentence.number + 1}",
        name_sentence(sentence.number, sentence.gold).capitalize(),
        f"{differences}; {c.gold} gold and {c.predicted} predicted brackets, {c.matched} in both: "
        f"recall {number(percentage(c.matched, c.gold))}, precision {number(percentage(c.matched, c.predicted))}, "
        f"F1 {number(f1_score(c.matched, c.gold, c.predicted))}",
        " ".join(sentence.gold.words),
        Markup(picture),
        sentence.predicted is None,
        unfolded,
    )


def _sentence_f1(sentence: ScoredSentence) -> float:
    c = sentence.counts
    return f1_score(c.matched, c.gold, c.predicted) or 0.0
