"""The evaluation as one self-contained HTML page: figures, plots, mistakes, the worst sentences drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from html import escape
from pathlib import PurePath

from discoparse.drawing.charts import SERIES_COLOURS, Group, bar_chart, column_chart
from discoparse.evaluation.alignment import name_sentence
from discoparse.evaluation.breakdown import break_down
from discoparse.evaluation.counts import ScoredSentence, f1_score, percentage
from discoparse.evaluation.mistakes import find_mistakes
from discoparse.evaluation.result import Result
from discoparse.evaluation.significance import Comparison
from discoparse.evaluation.structure import scored_tree
from discoparse.evaluation.style import CSS
from discoparse.evaluation.tables import MISTAKES, comparison_rows, number, summary_rows

_LABELS, _MISTAKES, _OPEN = 18, 12, 3  # labels in the plot, mistakes in a table, drawings unfolded at first
PLOTS = {
    "length": "F1 by sentence length",
    "gap-degree": "F1 by gap degree of the constituent",
    "phenomenon": "F1 by phenomenon",
    "label": f"F1 by label (the {_LABELS} most frequent)",
}


def html_report(
    result: Result,
    gold: str,
    predicted: Sequence[str],
    other: Result | None = None,
    tests: Sequence[Comparison] = (),
    worst: int = 12,
) -> str:
    """The page for `result` and, for a comparison, `other`; names of files are only shown."""
    results = [result] if other is None else [result, other]
    names = [escape(name) for name in short_names(predicted)]
    parts = [
        _header(result, escape(PurePath(gold).name), names),
        _cards(results),
        _comparison(results, names, tests) if other is not None else "",
        _figures(results, names),
        "<h2>What goes wrong</h2>",
        f'<p class="note">The {_MISTAKES} most frequent of each kind'
        + (f", in {names[0]}" if other is not None else "")
        + ". A number on the right is the first sentence with the mistake.</p>",
        _mistakes(result),
        _worst_sentences(result, worst, names),
    ]
    title = f"Evaluation of {names[0]}" + (f" and {names[1]}" if other is not None else "")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{CSS}</style></head>\n<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _header(result: Result, gold: str, names: Sequence[str]) -> str:
    compared = " and ".join(f"<code>{name}</code>" for name in names)
    missing = f" {result.missing:,} predictions are missing and scored as empty." if result.missing else ""
    return (
        "<header><h1>Discontinuous constituency parsing: evaluation</h1>"
        f"<p>{compared} against <code>{gold}</code>: {result.all.sentences:,} sentences, "
        f"{result.all.gold:,} constituents, {result.all.disc.gold:,} of them discontinuous.{missing}</p>"
        "</header>"
    )


def short_names(paths: Sequence[str]) -> list[str]:
    """File names, or the whole paths where the names alone do not tell them apart.

    >>> short_names(["a/dev.export", "b/test.export"]), short_names(["a/dev.export", "b/dev.export"])
    (['dev.export', 'test.export'], ['a/dev.export', 'b/dev.export'])
    """
    names = [PurePath(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _cards(results: Sequence[Result]) -> str:
    figures = [
        ("labelled F1", [r.all.f1 for r in results]),
        ("discontinuous F1", [r.all.disc.f1 for r in results]),
        ("exact match", [r.all.exact_match for r in results]),
        ("part-of-speech accuracy", [r.all.pos_accuracy for r in results]),
    ]
    cards = []
    for what, values in figures:
        other = ""
        if len(values) > 1:
            other = f'<div class="other">second: {number(values[1])} {_change(values[0], values[1])}</div>'
        cards.append(
            f'<div class="card"><div class="what">{what}</div>'
            f'<div class="figure">{number(values[0])}</div>{other}</div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return ""
    return f'<span class="{"up" if after >= before else "down"}">({after - before:+.2f})</span>'


def _legend(names: Sequence[str]) -> str:
    if len(names) == 1:
        return ""
    keys = (f'<span class="key" style="background:{c}"></span>{n}' for c, n in zip(SERIES_COLOURS, names, strict=False))
    return f'<p class="note">{"".join(keys)}</p>'


def _comparison(results: Sequence[Result], names: Sequence[str], tests: Sequence[Comparison]) -> str:
    """The tests, and in how many sentences either parser is ahead."""
    heads = ["", *names, "difference", "95% interval", "p (permutation)", "p (bootstrap)"]
    ahead = [0, 0, 0]
    for a, b in zip(results[0].sentences, results[1].sentences, strict=True):
        ahead[0 if a.wrong < b.wrong else 1 if b.wrong < a.wrong else 2] += 1
    rows = [[escape(cell) for cell in row] for row in comparison_rows(tests)]
    return (
        f'<h2>Comparison</h2><div class="panel">{_table(heads, rows)}'
        f'<p style="margin:12px 0 0">Fewer wrong brackets: {names[0]} in {ahead[0]:,} sentences, '
        f"{names[1]} in {ahead[1]:,}; as many in {ahead[2]:,}. Two-sided paired tests over sentences, "
        f"{tests[0].samples:,} samples, seed {tests[0].seed}.</p></div>"
    )


def _figures(results: Sequence[Result], names: Sequence[str]) -> str:
    """The summary of each prediction as a table, then the plots."""
    panels = []
    for result, name in zip(results, names, strict=True):
        heads, *rows = summary_rows(result)
        panels.append(_panel(name, _table([escape(h) for h in heads], rows)))
    panels.append(_panel("Sentences by their F1", _legend(names) + _histogram(results)))
    for by, title in PLOTS.items():
        groups = [{g.group: g for g in break_down(result, by)} for result in results]
        most = _LABELS if by == "label" else None
        rows_ = [
            Group(
                name,
                f"{g.sentences:,} sent." if by == "length" else f"{g.gold:,} in gold",
                [found[name].f1 if name in found else None for found in groups],
            )
            for name, g in list(groups[0].items())[:most]
        ]
        panels.append(_panel(title, _legend(names) + bar_chart(rows_, title)))
    return f'<h2>Figures</h2><div class="two">{"".join(panels)}</div>'


def _panel(title: str, content: str) -> str:
    return f'<div class="panel"><h3>{title}</h3>{content}</div>'


def _histogram(results: Sequence[Result]) -> str:
    """How many sentences reach which F1."""
    names = ["below 40", "40–60", "60–80", "80–90", "90–100", "all right"]
    counts = [[0] * len(names) for _ in results]
    for found, result in zip(counts, results, strict=True):
        for sentence in result.sentences:
            step = bisect_right((40, 60, 80, 90), _sentence_f1(sentence))
            found[-1 if sentence.counts.exact else step] += 1
    sentences = max(len(results[0].sentences), 1)
    rows = [
        Group(name, f"{100 * counts[0][k] / sentences:.0f}%", [float(found[k]) for found in counts])
        for k, name in enumerate(names)
    ]
    return column_chart(rows, "Number of sentences by their F1")


def _mistakes(result: Result) -> str:
    found = find_mistakes(result)
    panels = []
    for name, title, heads in MISTAKES:
        rows = [
            [*(escape(cell) or "<i>top</i>" for cell in mistake), str(count), f"{example}"]
            for mistake, count, example in getattr(found, name).top(_MISTAKES)
        ]
        if rows:
            shown = _table([*heads, "count", "e.g."], rows, left=len(heads))
            panels.append(_panel(title, shown))
    return f'<div class="three">{"".join(panels)}</div>' if panels else "<p>Nothing.</p>"


def _worst_sentences(result: Result, most: int, names: Sequence[str]) -> str:
    """The sentences with the most wrong brackets, gold above predicted."""
    ranked = sorted(result.sentences, key=lambda s: (-s.wrong, _sentence_f1(s), s.number))
    wrong = [sentence for sentence in ranked[:most] if sentence.wrong]
    if not wrong:
        return ""
    of = f" in {names[0]}" if len(names) > 1 else ""
    note = (
        "As they are scored: without function tags and deleted tokens (punctuation). Gold above, predicted "
        "below; − is missing, + is spurious, ≠ has another label or tag. Discontinuous ones are coloured."
    )
    drawn = "".join(_sentence(s, unfolded=k < _OPEN) for k, s in enumerate(wrong))
    return f'<h2>The sentences with the most wrong brackets{of}</h2><p class="note">{note}</p>{drawn}'


def _sentence(sentence: ScoredSentence, unfolded: bool) -> str:
    from discoparse.drawing import draw_svg

    c = sentence.counts
    figures = (
        f"{c.gold - c.matched} missing, {c.predicted - c.matched} spurious of {c.gold} brackets; "
        f"recall {number(percentage(c.matched, c.gold))}, "
        f"precision {number(percentage(c.matched, c.predicted))}, "
        f"F1 {number(f1_score(c.matched, c.gold, c.predicted))}"
    )
    gold = scored_tree(sentence.gold, sentence.gold_bits, sentence.gold_brackets)
    if sentence.predicted is None:
        picture = f"{draw_svg(gold)}<p>No prediction.</p>"
    else:
        found = scored_tree(sentence.predicted, sentence.predicted_bits, sentence.predicted_brackets)
        picture = draw_svg(gold, compare=found)
    heading = name_sentence(sentence.number, sentence.gold).capitalize()
    return (
        f'<details class="sentence"{" open" if unfolded else ""}><summary><b>{escape(heading)}</b>: {figures}'
        f'<div class="words">{escape(" ".join(sentence.gold.words))}</div></summary>'
        f'<div class="trees">{picture}</div></details>'
    )


def _sentence_f1(sentence: ScoredSentence) -> float:
    c = sentence.counts
    return f1_score(c.matched, c.gold, c.predicted) or 0.0


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Cells are HTML already; columns after the first `left` are numbers."""

    def row(cells: Sequence[str], tag: str) -> str:
        if tag == "td" and not any(cells[1:]):  # a heading within the table, or an empty line
            return f'<tr class="section"><td colspan="{len(cells)}">{cells[0]}</td></tr>' if cells[0] else ""
        first = " class=part" if cells[0].startswith(" ") else ""
        kinds = [first, *[""] * (left - 1), *[" class=n"] * (len(cells) - left)]
        shown = (f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"
