"""The figures of one treebank, from the predictions of its finished runs: everything that the report shows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discoparse.evaluation import Result, evaluate
from discoparse.evaluation.breakdown import break_down
from discoparse.evaluation.counts import Counts
from discoparse.evaluation.result import Scores, summarise
from discoparse.evaluation.seed_significance import compare_seeds
from discoparse.evaluation.significance import compare_results
from discoparse.experiment.archive import predicted_trees
from discoparse.experiment.effects import effects
from discoparse.experiment.epochs import has_counts, held_out_counts
from discoparse.experiment.plan import FinishedRun, Progress, Treebank, comparable, fingerprints, is_variant
from discoparse.experiment.tables import Spread
from discoparse.system.constituents import tree_constituents
from discoparse.system.derivation_lengths import SYSTEMS, memory_json, memory_sizes, shifts, structural_length
from discoparse.tree import Tree
from discoparse.treebank.stats import Statistics

SCORES = ("f1", "precision", "recall", "disc_f1", "disc_precision", "disc_recall", "pos")
BREAKDOWNS = ("gap-degree", "constituent-length", "label")
Groups = dict[tuple[str, str], list[FinishedRun]]  # by recipe and system
Counted = dict[tuple[str, str], list[np.ndarray]]  # for each of its runs, counts [sentence, count]


def measure(treebank: Treebank, runs: Sequence[FinishedRun], progress: Progress) -> dict[str, Any]:
    """All figures, ready to be written as JSON."""
    groups: Groups = {}
    for run in runs:
        groups.setdefault((run.run.recipe, run.run.system), []).append(run)
    progress(f"{treebank.name}: counting transitions")
    parts = {part: treebank.trees(part) for part in treebank.parts}
    dev = parts["dev"]
    now = fingerprints(parts["train"], dev)
    for run in runs:
        run.check_treebank(now)
    figures: dict[str, Any] = {
        "treebank": treebank.name,
        "sizes": {part: _size(trees) for part, trees in parts.items()},
        "transitions": transitions(dev),
        "memory": [{"recipe": None, "oracle": "gold derivation", **memory_json(gold_memory(dev))}],
        "runs": [_about(run) for run in runs],
        "curves": [{**run.metrics["run"], "points": run.metrics["curve"]} for run in runs if not run.run.variant],
    }
    figures["memory"] += [_memory_row(key, members) for key, members in groups.items()]
    for part in ("dev", "test"):
        if part in treebank.parts:
            progress(f"{treebank.name}: scoring {len(runs)} runs on {part}")
            figures[part] = score(parts[part], {key: _there(members, part) for key, members in groups.items()}, part)
    if followed := {key: there for key, members in groups.items() if (there := [r for r in members if has_counts(r)])}:
        figures["dev_held_out"] = score_held_out(followed)
    return figures


def _there(runs: Sequence[FinishedRun], part: str) -> list[FinishedRun]:
    """Runs with predictions for a part: a test set may have come later than the runs."""
    return [run for run in runs if run.predictions(part).exists()]


def _size(trees: Sequence[Tree]) -> dict[str, int]:
    statistics = Statistics()
    for tree in trees:
        statistics.add(tree)
    return {
        "sentences": len(trees),
        "tokens": sum(map(len, trees)),
        "discontinuous_trees": statistics.discontinuous_trees,
        "longest": max(map(len, trees)),
    }


def _about(run: FinishedRun) -> dict[str, Any]:
    """How a run was made."""
    kept = ("minutes", "limit_minutes", "epochs", "training_sentences_per_second", "trainings_at_once")
    return {
        **run.metrics["run"],
        "system": run.run.system,
        **{name: run.metrics[name] for name in (*kept, "environment", "settings")},
    }


# -- scores ------------------------------------------------------------------------------------------------------


def score(gold: Sequence[Tree], groups: Groups, part: str) -> dict[str, Any]:
    """Scores of every group of runs, tests between their oracles, and breakdowns."""
    results = {
        key: [evaluate(gold, predicted_trees(run, part, gold)) for run in members]
        for key, members in groups.items()
        if members
    }
    plain = {key: members for key, members in results.items() if not is_variant(key[1])}
    counts = {key: [result.counts for result in members] for key, members in results.items()}
    return {
        "systems": system_rows(counts, groups),
        "tests": significance(results),
        "seed_tests": seed_significance(counts),
        "effects": effects(counts),
        "breakdowns": {by: breakdown(plain, by) for by in BREAKDOWNS},
    }


def score_held_out(groups: Groups) -> dict[str, Any]:
    """Scores on dev where no sentence had a say in the choice of the epoch that it is scored with, and tests."""
    counts = {key: [held_out_counts(run) for run in members] for key, members in groups.items()}
    systems = system_rows(counts, groups)
    return {"systems": systems, "seed_tests": seed_significance(counts), "effects": effects(counts)}


def system_rows(counts: Counted, groups: Groups) -> list[dict[str, Any]]:
    """Mean and spread over seeds of every system."""
    rows = []
    for (recipe, system), members in counts.items():
        values = [scores_of(summarise(run)) for run in members]
        scores = {name: spread([value[name] for value in values]) for name in SCORES}
        seeds = [run.run.seed for run in groups[recipe, system]]
        rows.append({"recipe": recipe, "oracle": system, "seeds": seeds, "scores": scores})
    return rows


def scores_of(scores: Scores) -> dict[str, float | None]:
    """The figures of Table 7 under short names; F1 is 0 where nothing matches, so that means can be taken."""
    disc = scores.disc
    return {
        "f1": scores.f1 or 0.0,
        "precision": scores.precision,
        "recall": scores.recall,
        "disc_f1": (disc.f1 or 0.0) if disc.gold or disc.predicted else None,
        "disc_precision": disc.precision,
        "disc_recall": disc.recall,
        "pos": scores.pos_accuracy,
    }


def spread(values: Sequence[float | None]) -> dict[str, Any]:
    """Values with their mean and standard deviation."""
    whole = Spread.of(values)
    return {
        "mean": None if whole is None else whole.mean,
        "sd": None if whole is None else whole.deviation,
        "values": list(values),
    }


def significance(results: dict[tuple[str, str], list[Result]]) -> list[dict[str, Any]]:
    """Paired tests between the oracles of a recipe, a sentence's counts summed over seeds."""
    tests = []
    for (first, before), (second, after) in itertools.combinations(results.items(), 2):
        if first[0] == second[0] and comparable(first[1], second[1]):
            seeds = min(len(before), len(after))
            for test in compare_results(pooled(before[:seeds]), pooled(after[:seeds])):
                facts = {"recipe": first[0], "first_oracle": first[1], "second_oracle": second[1], "seeds": seeds}
                tests.append({**facts, **test.to_json()})
    return tests


def seed_significance(counts: Counted, cautious: bool = False) -> list[dict[str, Any]]:
    """Tests between the oracles of a recipe with both seeds and sentences as sources of chance, where there are two
    seeds of each; a run is its counts [sentence, count]."""
    tests: list[dict[str, Any]] = []
    for (first, before), (second, after) in itertools.combinations(counts.items(), 2):
        if first[0] == second[0] and comparable(first[1], second[1]) and min(len(before), len(after)) > 1:
            facts = {"recipe": first[0], "first_oracle": first[1], "second_oracle": second[1]}
            tests.extend({**facts, **test.to_json()} for test in compare_seeds(before, after, cautious=cautious))
    return tests


def pooled(results: Sequence[Result]) -> Result:
    """The predictions of several seeds as one: each sentence with the sum of its counts.

    So a sentence stays the unit of the tests: predictions of one sentence by several seeds are not independent
    observations.
    """
    sentences = []
    for rows in zip(*(result.sentences for result in results), strict=True):
        counts = Counts._make(np.sum([row.counts for row in rows], axis=0).tolist())
        sentences.append(rows[0]._replace(counts=counts))
    return Result(sentences, results[0].parameters)


def breakdown(results: dict[tuple[str, str], list[Result]], by: str) -> list[dict[str, Any]]:
    """Scores of each group of constituents, counts summed over seeds; `gold` is of one seed."""
    rows = []
    for (recipe, oracle), members in results.items():
        every = Result([sentence for result in members for sentence in result.sentences], members[0].parameters)
        for group in break_down(every, by):
            facts = {name: group.to_json()[name] for name in ("group", "precision", "recall", "f1")}
            rows.append({"recipe": recipe, "oracle": oracle, "gold": group.gold // len(members), **facts})
    return rows


# -- derivations -------------------------------------------------------------------------------------------------


def transitions(trees: Iterable[Tree]) -> dict[str, Any]:
    """Structural transitions of every sentence in every system: `points` are [tokens, set, swap, gap].

    Labelling steps are left out: only the set-based system has steps for them, one for each structural transition.
    """
    points = []
    for tree in trees:
        gold = tree_constituents(tree)
        points.append([len(tree), *(structural_length(derive(gold)) for derive in SYSTEMS.values())])
    table = np.array(points)
    shortest = 2 * table[:, 0] - 1
    return {
        "systems": {
            name: {
                "per_token": float(table[:, k].sum() / table[:, 0].sum()),
                "longest": int(table[:, k].max()),
                "worst_ratio": float((table[:, k] / shortest).max()),
                "shortest_share": float((table[:, k] == shortest).mean()),
            }
            for k, name in enumerate(SYSTEMS, 1)
        },
        "columns": ["tokens", *SYSTEMS],
        "points": points,
    }


def gold_memory(trees: Iterable[Tree]) -> Counter[int]:
    """|S| over the configurations of the static derivations."""
    counts: Counter[int] = Counter()
    for tree in trees:
        counts.update(memory_sizes(shifts(SYSTEMS["set"](tree_constituents(tree)))))
    return counts


def _memory_row(key: tuple[str, str], runs: Sequence[FinishedRun]) -> dict[str, Any]:
    counts: Counter[int] = Counter()
    for run in runs:
        counts.update(dict(run.metrics["memory"]))
    return {"recipe": key[0], "oracle": key[1], **memory_json(counts)}
