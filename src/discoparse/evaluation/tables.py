"""The evaluation as plain text: the summary, the breakdowns, the mistakes, the comparison of two parsers."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.evaluation.breakdown import GroupScores
from discoparse.evaluation.mistakes import Mistakes
from discoparse.evaluation.result import BracketScores, Result
from discoparse.evaluation.significance import Comparison
from discoparse.files.text_table import text_table

METRICS = {"f1": "F1", "disc_f1": "discontinuous F1"}

# The tables of mistakes: the attribute of `Mistakes`, its title, and the heads of its columns.
MISTAKES = (
    ("labels", "Labels confused (right yield)", ("gold", "predicted")),
    ("attachments", "Attached wrongly (right constituent)", ("label", "gold parent", "predicted parent")),
    ("yields", "Yields not quite right (right label)", ("label", "error")),
    ("unpaired", "Without a counterpart", ("label", "")),
    ("tags", "Parts of speech confused", ("gold", "predicted")),
)


def number(value: float | None) -> str:
    """A percentage as the reference prints it, or a dash for None.

    >>> number(94.5), number(None)
    ('94.50', '-')
    """
    return "-" if value is None else f"{value:.2f}"


def summary(result: Result) -> str:
    """The figures that disco-dop prints, for the sentences up to the cutoff and for all."""
    return text_table(summary_rows(result), "<>")


def summary_rows(result: Result) -> list[list[str]]:
    """The cells of the summary, the heads of its columns first."""
    scores = [result.cutoff, result.all]
    functions = [result.functions[part] for part in ("cutoff", "all")]
    no_functions = all(f.all is None and f.disc is None for f in functions)
    return [
        ["", f"<= {result.parameters.cutoff}", "ALL"],
        ["sentences", *(str(s.sentences) for s in scores)],
        ["longest sentence", *(str(s.longest) for s in scores)],
        *_bracket_rows(scores),
        ["POS accuracy", *(number(s.pos_accuracy) for s in scores)],
        *([] if no_functions else [["function tags", *(number(f.all) for f in functions)]]),
        ["", "", ""],
        ["discontinuous only", "", ""],
        ["sentences", *(str(s.disc.sentences) for s in scores)],
        *_bracket_rows([s.disc for s in scores]),
        *([] if no_functions else [["function tags", *(number(f.disc) for f in functions)]]),
    ]


def _bracket_rows(scores: Sequence[BracketScores]) -> list[list[str]]:
    """The rows that the whole and the discontinuous score share."""
    return [
        ["gold brackets", *(str(s.gold) for s in scores)],
        ["  distinct", *(str(s.gold_distinct) for s in scores)],
        ["predicted brackets", *(str(s.predicted) for s in scores)],
        ["  distinct", *(str(s.predicted_distinct) for s in scores)],
        ["matched brackets", *(str(s.matched) for s in scores)],
        ["labelled recall", *(number(s.recall) for s in scores)],
        ["labelled precision", *(number(s.precision) for s in scores)],
        ["labelled F1", *(number(s.f1) for s in scores)],
        ["exact match", *(number(s.exact_match) for s in scores)],
    ]


def breakdown_table(by: str, groups: Sequence[GroupScores]) -> str:
    """One line per group."""
    heads = [by, "sentences", "gold", "predicted", "matched", "recall", "precision", "F1"]
    rows = [
        [
            g.group,
            *map(str, (g.sentences, g.gold, g.predicted, g.gold_matched)),
            *map(number, (g.recall, g.precision, g.f1)),
        ]
        for g in groups
    ]
    return text_table([heads, *rows], "<>")


def mistakes_tables(mistakes: Mistakes, most: int) -> str:
    """The most frequent mistakes of every kind, each with the number of a sentence that has it."""
    parts = []
    for name, title, heads in MISTAKES:
        rows = [
            [*(cell or "(top)" for cell in mistake), str(count), str(example)]
            for mistake, count, example in getattr(mistakes, name).top(most)
        ]
        if rows:
            shown = text_table([[*heads, "count", "e.g. sentence"], *rows], "<" * len(heads) + ">")
            parts.append(f"{title}\n{shown}")
    return "\n\n".join(parts) or "No mistakes."


def comparison_table(tests: Sequence[Comparison]) -> str:
    """Both scores, their difference, and the tests of it."""
    heads = ["", "first", "second", "difference", "95% interval", "permutation p", "bootstrap p"]
    note = f"{tests[0].samples} samples, seed {tests[0].seed}; the difference is second less first"
    return text_table([heads, *comparison_rows(tests)], "<>") + f"\n{note}"


def comparison_rows(tests: Sequence[Comparison]) -> list[list[str]]:
    """A row for each metric."""
    return [
        [
            METRICS[t.metric],
            number(t.first),
            number(t.second),
            f"{t.difference:+.2f}",
            f"{t.interval[0]:+.2f} to {t.interval[1]:+.2f}",
            p_value(t.permutation_p),
            p_value(t.bootstrap_p),
        ]
        for t in tests
    ]


def p_value(p: float) -> str:
    """Four decimals, or an upper bound."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
