"""`discoparse evaluate`: score predicted trees against gold trees, and say what went wrong."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from discoparse.cli.options import Names, ReadingOptions, reading_options, require_folder, tell
from discoparse.errors import DiscoparseError, TreebankError, UsageError
from discoparse.evaluation import (
    CLASSIFIERS,
    Comparison,
    Result,
    break_down,
    compare_results,
    evaluate,
    find_mistakes,
    html_report,
    read_parameters,
    standard_parameters,
)
from discoparse.evaluation.calibration import calibrate
from discoparse.evaluation.reliability import calibration_table
from discoparse.evaluation.significance import SAMPLES, SEED
from discoparse.files.streams import STANDARD, open_for_writing, printable
from discoparse.treebank import READABLE


@click.command()
@click.argument("gold")
@click.argument("predicted")
@click.option(
    "--params",
    type=click.Path(exists=True, dir_okay=False),
    help="EVALB parameter file [the standard one, proper.prm].",
)
@click.option("--cutoff", type=click.IntRange(min=0), help="Length up to which a sentence is short [40].")
@click.option("--allow-missing", is_flag=True, help="Score missing predictions as empty, and say how many.")
@click.option("--by", type=Names(CLASSIFIERS), help=f"Scores per group; any of {', '.join(CLASSIFIERS)}.")
@click.option("--errors", type=click.IntRange(min=1), metavar="N", help="The N most frequent mistakes of each kind.")
@click.option("--compare", metavar="OTHER", help="A second prediction to test against the first.")
@click.option("--samples", type=click.IntRange(min=1), default=SAMPLES, show_default=True, help="Samples of the tests.")
@click.option("--seed", type=click.IntRange(min=0), default=SEED, show_default=True, help="Seed of the tests.")
@click.option("--calibration", is_flag=True, help="Whether the probabilities of the predicted trees (JSON) are right.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with plots and the worst sentences drawn.")
@click.option("--worst", type=click.IntRange(min=0), default=12, show_default=True, help="Sentences drawn in the page.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--predicted-from", type=click.Choice(list(READABLE)), help="Format of PREDICTED [--from].")
@reading_options
def command(
    gold: str,
    predicted: str,
    params: str | None,
    cutoff: int | None,
    allow_missing: bool,
    by: list[str] | None,
    errors: int | None,
    compare: str | None,
    samples: int,
    seed: int,
    calibration: bool,
    html: str | None,
    worst: int,
    as_json: bool,
    predicted_from: str | None,
    reading: ReadingOptions,
) -> None:
    """Score the trees in PREDICTED against those in GOLD.

    The figures are those of disco-dop's evaluator with proper.prm: labelled recall, precision and F1, the
    same over discontinuous constituents, exact match, part-of-speech accuracy.
    """
    if html == STANDARD:
        raise UsageError("the figures go to standard output: name a file for the page of --html")
    if (gold, predicted, compare).count(STANDARD) > 1:
        raise UsageError("standard input cannot have several sets of trees: name files for all others")
    if html:
        require_folder(html)
    parameters = read_parameters(params) if params else standard_parameters()
    if cutoff is not None:
        parameters = dataclasses.replace(parameters, cutoff=cutoff)
    gold_trees = list(reading.trees(gold))
    if not gold_trees:
        raise DiscoparseError(f"{gold}: no trees, nothing to score")
    predicted_reading = dataclasses.replace(reading, format=predicted_from or reading.format)

    def score(path: str) -> Result:
        trees = predicted_reading.trees(path)
        try:
            result = evaluate(gold_trees, trees, parameters, allow_missing=allow_missing)
        except (TreebankError, UsageError):  # they say themselves what is meant
            raise
        except DiscoparseError as error:
            raise DiscoparseError(f"{path} against {gold}: {error}") from None
        if result.missing:
            tell(f"{path}: {result.missing} of {len(gold_trees)} predictions are missing, scored as empty")
        return result

    result = score(predicted)
    other = score(compare) if compare else None
    tests = compare_results(result, other, samples, seed) if other else []
    calibrated = calibrate(result) if calibration else None
    if as_json:
        figures = _to_json(result, other, by or [], errors, tests)
        if calibrated is not None:
            figures["calibration"] = calibrated.to_json()
        click.echo(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        click.echo(_to_text(result, by or [], errors, tests))
        if calibrated is not None:
            click.echo("\n" + calibration_table(calibrated))
    if html:
        names = tuple(printable(name) for name in (predicted, compare) if name)
        page = html_report(result, printable(gold), names, other, tests, worst=worst, calibrated=calibrated)
        with open_for_writing(html) as stream:
            stream.write(page)


def _to_json(
    result: Result, other: Result | None, by: list[str], errors: int | None, tests: list[Comparison]
) -> dict[str, Any]:
    figures = result.to_json()
    if by:
        figures["by"] = {name: [group.to_json() for group in break_down(result, name)] for name in by}
    if errors:
        figures["errors"] = find_mistakes(result).to_json(errors)
    if other is not None:
        figures["compare"] = {**other.to_json(), "tests": {test.metric: test.to_json() for test in tests}}
    return figures


def _to_text(result: Result, by: list[str], errors: int | None, tests: list[Comparison]) -> str:
    from discoparse.evaluation import tables

    parts = [tables.summary(result)]
    parts.extend(tables.breakdown_table(name, break_down(result, name)) for name in by)
    if errors:
        parts.append(tables.mistakes_tables(find_mistakes(result), errors))
    if tests:
        parts.append(tables.comparison_table(tests))
    return "\n\n".join(parts)
