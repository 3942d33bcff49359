"""The tables of the report, from the figures of one or several treebanks (see `measures`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from discoparse.evaluation.tables import METRICS, p_value
from discoparse.experiment.measures import SCORES
from discoparse.experiment.published import SCORE_HEADS
from discoparse.experiment.tables import Cell, Spread, Table
from discoparse.system.derivation_lengths import SYSTEMS

Figures = dict[str, Any]
_MOST_LABELS = 15  # in the report; the CSV file has all
_BREAKDOWNS = {"gap-degree": "gap degree", "constituent-length": "length of the constituent", "label": "label"}


def system_name(recipe: str | None, oracle: str) -> str:
    """The name of a group of runs in plots and column heads.

    >>> system_name("fast", "dynamic")
    'fast, dynamic'
    """
    return oracle if recipe is None else f"{recipe}, {oracle}"


def treebank_table(treebanks: Sequence[Figures]) -> Table:
    """What was trained and scored on."""
    heads = ["treebank", "train sentences", "dev sentences", "dev tokens", "discontinuous dev trees (%)", "longest"]
    rows: list[list[Cell]] = []
    for figures in treebanks:
        train, dev = figures["sizes"]["train"], figures["sizes"]["dev"]
        share = 100 * dev["discontinuous_trees"] / dev["sentences"]
        rows.append([figures["treebank"], train["sentences"], dev["sentences"], dev["tokens"], share, dev["longest"]])
    return Table("treebanks", "The treebanks", heads, rows)


# Parts that are scored, with what the captions call them. The last has scores that did not choose their own epoch.
HELD_OUT = "dev_held_out"
PARTS = {"dev": "dev", "test": "test", HELD_OUT: "dev, with the epoch chosen on its other half"}
_HELD_OUT_NOTE = (
    "Sentences of dev with even numbers are scored at the epoch with the best F1 on those with odd numbers, and the "
    "other way round: no sentence had a say in the choice of the epoch that it is scored at. Scores are of the "
    "evaluations while training, on the device that trained."
)


def score_table(treebanks: Sequence[Figures], part: str) -> Table | None:
    """Tables 3 and 7 of the paper."""
    rows: list[list[Cell]] = [
        [figures["treebank"], system["recipe"], system["oracle"], len(system["seeds"]), *_spreads(system["scores"])]
        for figures in treebanks
        for system in figures.get(part, {}).get("systems", ())
    ]
    if not rows:
        return None
    return Table(
        f"scores-{part}",
        f"Scores on {PARTS[part]} (Tables 3 and 7 of the paper): mean and standard deviation over seeds",
        ["treebank", "recipe", "oracle", "seeds", *SCORE_HEADS],
        rows,
        text_columns=3,
        notes=[
            "All constituents, then discontinuous ones only; the standard evaluation parameters of the field.",
            *([_HELD_OUT_NOTE] if part == HELD_OUT else []),
        ],
    )


def _spreads(scores: dict[str, Any]) -> list[Cell]:
    cells: list[Cell] = []
    for name in SCORES:
        mean = scores[name]["mean"]
        cells.append(None if mean is None else Spread(mean, scores[name]["sd"]))
    return cells


def significance_table(treebanks: Sequence[Figures], part: str) -> Table | None:
    """Paired significance tests between oracles."""
    rows: list[list[Cell]] = []
    for figures in treebanks:
        for test in figures.get(part, {}).get("tests", ()):
            names = [figures["treebank"], test["recipe"], f"{test['first_oracle']} → {test['second_oracle']}"]
            low, high = test["interval"]
            p = [p_value(test["permutation_p"]), p_value(test["bootstrap_p"])]
            interval = f"{low:+.2f} to {high:+.2f}"
            rows.append([*names, METRICS[test["metric"]], f"{test['difference']:+.2f}", interval, *p])
    if not rows:
        return None
    heads = ["treebank", "recipe", "oracles", "score", "difference", "95% interval", "permutation p", "bootstrap p"]
    return Table(
        f"tests-{part}",
        f"Differences between oracles on {part}, second less first",
        heads,
        rows,
        text_columns=4,
        notes=[
            "Paired tests over sentences (10,000 samples): the counts of a sentence are summed over the seeds, and the "
            "predictions of both oracles are swapped (permutation) or the sentence is drawn again (bootstrap, which "
            "gives the interval) as a whole. Only chance in the choice of sentences is accounted for, so these p "
            "values are too small where seeds differ; the table over seeds and sentences has both. Several "
            "tests are made: read single p values near 0.05 with care."
        ],
    )


def seed_significance_table(treebanks: Sequence[Figures], part: str) -> Table | None:
    """Tests between oracles with seeds and sentences as sources of chance."""
    tests = _of_part(treebanks, part, "seed_tests")
    if not tests:
        return None
    rows: list[list[Cell]] = []
    for (treebank, test), end in zip(tests, _tested(tests), strict=True):
        names = [treebank, test["recipe"], f"{test['first_oracle']} → {test['second_oracle']}"]
        score = SCORE_HEADS[SCORES.index(test["metric"])]
        seeds = "{} + {}".format(*test["seeds"])
        rows.append([*names, score, seeds, f"{test['difference']:+.2f}", *end])
    return Table(
        f"seed-tests-{part}",
        f"Differences between oracles on {PARTS[part]}, second less first, over seeds and sentences",
        ["treebank", "recipe", "oracles", "score", "seeds", "difference", *_TESTED_HEADS],
        rows,
        text_columns=4,
        notes=[
            "Means over seeds are compared. Their difference has a variance due to seeds and one due to sentences; a t "
            "test takes both into account, with Satterthwaite's degrees of freedom (evaluation/seed_significance.py "
            "states the model). *Due to seeds* is the share of the variance that more seeds would reduce. *Holm* is p "
            "corrected for the number of tests of the same score in this table."
        ],
    )


def effect_table(treebanks: Sequence[Figures], part: str) -> Table | None:
    """What settings add to scores, and oracles over several settings."""
    tests = _of_part(treebanks, part, "effects")
    if not tests:
        return None
    rows: list[list[Cell]] = []
    for (treebank, test), end in zip(tests, _tested(tests), strict=True):
        names = [treebank, test["recipe"], test["oracle"], test["effect"], SCORE_HEADS[SCORES.index(test["metric"])]]
        rows.append([*names, test["runs"], f"{test['estimate']:+.2f}", *end])
    return Table(
        f"effects-{part}",
        f"What settings and oracles add to scores on {PARTS[part]}, over all runs",
        ["treebank", "recipe", "oracle", "what", "score", "runs", "adds", *_TESTED_HEADS],
        rows,
        text_columns=5,
        notes=[
            "A linear model of the scores of all runs of an oracle, in which each setting that variants change adds "
            "its part; for oracles, of all runs of the variants that both have, each with a level of its own. What "
            "the model does not explain counts as chance of the seeds; the rest as in the tests over seeds and "
            "sentences. *Each doubling* of a setting adds the same in this model, so a best value in the middle would "
            "not be seen."
        ],
    )


_TESTED_HEADS = ["95% interval", "due to seeds (%)", "degrees of freedom", "p", "Holm"]


def _of_part(treebanks: Sequence[Figures], part: str, kind: str) -> list[tuple[str, Figures]]:
    return [(figures["treebank"], test) for figures in treebanks for test in figures.get(part, {}).get(kind, ())]


def _tested(tests: Sequence[tuple[str, Figures]]) -> Iterator[list[Cell]]:
    """The last cells of the rows of some tests over seeds and sentences."""
    adjusted: dict[str, list[float | None]] = {}
    for metric in dict.fromkeys(test["metric"] for _, test in tests):
        adjusted[metric] = holm([test["p"] for _, test in tests if test["metric"] == metric])
    for _, test in tests:
        interval = "–" if test["interval"] is None else "{:+.2f} to {:+.2f}".format(*test["interval"])
        share = None if test["seed_share"] is None else 100 * test["seed_share"]
        p = [None if value is None else p_value(value) for value in (test["p"], adjusted[test["metric"]].pop(0))]
        yield [interval, share, test["freedom"], *p]


def f1_only(table: Table) -> Table:
    """A table of tests as the report shows it: without precision and recall, which the CSV file has."""
    column = list(table.heads).index("score")
    rows = [row for row in table.rows if str(row[column]).endswith("F1")]
    notes = [*table.notes, f"`{table.name}.csv` also has the tests of precision and recall."]
    return dataclasses.replace(table, rows=rows, notes=notes)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for their number by Holm's method; those that are None are not tests.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    there = sorted((p, k) for k, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, k) in enumerate(there):
        largest = max(largest, min(1.0, p * (len(there) - rank)))
        corrected[k] = largest
    return corrected


def memory_table(treebanks: Sequence[Figures]) -> Table:
    """Figure 3 of the paper in numbers."""
    rows: list[list[Cell]] = []
    for figures in treebanks:
        for row in figures["memory"]:
            shares = [100 * row["at_most_7"], 100 * row["at_most_11"]]
            facts = [row["mean"], row["median"], row["p99"], row["max"]]
            rows.append([figures["treebank"], system_name(row["recipe"], row["oracle"]), *shares, *facts])
    heads = [
        "treebank",
        "derivations",
        "at most 7 (%)",
        "at most 11 (%)",
        "mean",
        "median",
        "99th percentile",
        "largest",
    ]
    return Table(
        "memory",
        "Size of the memory |S| over the configurations when dev is parsed (Figure 3 of the paper)",
        heads,
        rows,
        text_columns=2,
        notes=["The paper: at most 7 in more than 99% (Tiger, Negra), at most 11 in 98% (DPTB)."],
    )


def transition_table(treebanks: Sequence[Figures]) -> Table:
    """How long derivations are in the three systems."""
    rows: list[list[Cell]] = []
    for figures in treebanks:
        for name in SYSTEMS:
            row = figures["transitions"]["systems"][name]
            lengths = [row["per_token"], row["longest"], row["worst_ratio"]]
            rows.append([figures["treebank"], name, *lengths, 100 * row["shortest_share"]])
    heads = ["treebank", "system", "a token", "longest", "largest multiple of 2n-1", "sentences in 2n-1 (%)"]
    return Table(
        "transitions",
        "Structural transitions of the gold derivations of dev",
        heads,
        rows,
        decimals=2,
        text_columns=2,
        notes=[
            "The set-based system labels in steps of its own, one after each of its 2n-1 structural transitions, which "
            "makes 4n-2; the others label as they reduce. Every system could do either, so structural transitions are "
            "compared; the plots add 2n-1 labelling steps to all three."
        ],
    )


def speed_table(treebanks: Sequence[Figures]) -> Table | None:
    """Table 6 of the paper."""
    rows: list[list[Cell]] = []
    for figures in treebanks:
        for row in figures["speed"]:
            where = row["environment"]
            machine = f"GPU, {where['gpu']}" if row["device"] == "cuda" else f"one core, {where['cpu']}"
            rates = [round(row["tokens_per_second"]), round(row["sentences_per_second"]), row["times_encoder"]]
            rows.append([figures["treebank"], machine, *rates])
    if not rows:
        return None
    return Table(
        "speed",
        "Parsing dev, from tokens to trees (Table 6 of the paper)",
        ["treebank", "machine", "tokens/s", "sentences/s", "times the encoder alone"],
        rows,
        text_columns=2,
    )


def training_table(treebanks: Sequence[Figures]) -> Table:
    """How long the runs took."""
    groups: dict[tuple[str, str, str], list[Figures]] = {}
    for figures in treebanks:
        for run in figures["runs"]:
            groups.setdefault((figures["treebank"], run["recipe"], run["system"]), []).append(run)
    rows: list[list[Cell]] = []
    for key, runs in groups.items():
        minutes, epochs = Spread.of([r["minutes"] for r in runs]), Spread.of([float(r["epochs"]) for r in runs])
        rate = Spread.of([r["training_sentences_per_second"] for r in runs])
        at_once = "/".join(str(n) for n in sorted({r["trainings_at_once"] for r in runs}))
        rows.append([*key, len(runs), minutes, epochs, rate, at_once, " / ".join(sorted({_machine(r) for r in runs}))])
    heads = ["treebank", "recipe", "oracle", "runs", "minutes", "epochs", "sentences/s", "at once", "machine"]
    return Table(
        "training",
        "Training time, evaluations included",
        heads,
        rows,
        text_columns=3,
        notes=["Trainings that run at once on one machine slow each other down."],
    )


def _machine(run: Figures) -> str:
    where = run["environment"]
    return str(where["gpu"] or where["cpu"])


def breakdown_tables(figures: Figures, part: str = "dev") -> Iterator[Table]:
    """Scores by gap degree, by constituent length and by label, a column for each group of runs."""
    for by, title in _BREAKDOWNS.items():
        yield _breakdown_table(figures, part, by, title)


def _breakdown_table(figures: Figures, part: str, by: str, title: str) -> Table:
    groups: dict[str, dict[str, Figures]] = {}
    systems: dict[str, None] = {}
    for row in figures[part]["breakdowns"][by]:
        name = system_name(row["recipe"], row["oracle"])
        systems[name] = None
        groups.setdefault(row["group"], {})[name] = row
    measures = ("f1", "precision", "recall") if by == "gap-degree" else ("f1",)
    short = {"f1": "F1", "precision": "P", "recall": "R"}
    rows: list[list[Cell]] = []
    for group, by_system in groups.items():
        gold = max(row["gold"] for row in by_system.values())
        if not gold and by != "gap-degree":  # only ever predicted, in error
            continue
        cells = [by_system.get(name, {}).get(measure) for name in systems for measure in measures]
        rows.append([group, gold, *cells])
    if by == "label":
        rows.sort(key=lambda row: -row[1] if isinstance(row[1], int) else 0)
    heads = [title, "gold", *(f"{name}: {short[measure]}" for name in systems for measure in measures)]
    notes = ["A dash: nothing to score, or nothing right. Counts are summed over seeds."]
    return Table(
        f"{figures['treebank']}-by-{by}", f"{figures['treebank']}: scores by {title}", heads, rows, notes=notes
    )


def shortened(table: Table) -> Table:
    """A table of labels as the report shows it: the most frequent ones."""
    if len(table.rows) <= _MOST_LABELS:
        return table
    notes = [*table.notes, f"The {_MOST_LABELS} most frequent of {len(table.rows)}; `{table.name}.csv` has all."]
    return Table(table.name, table.caption, table.heads, table.rows[:_MOST_LABELS], table.decimals, notes=notes)
