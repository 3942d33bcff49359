"""`discoparse models calibrate`: fit the probabilities of a model to a development set, and keep them with it."""

from __future__ import annotations

from pathlib import Path

import click

from discoparse.cli.options import ReadingOptions, device_option, reading_options, tell


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("treebank", nargs=-1, required=True)
@click.option(
    "--most", type=click.IntRange(min=1), default=6000, show_default=True, help="Sentences to fit to at most."
)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU cores to use.")
@device_option
@reading_options
def command(
    directory: Path, treebank: tuple[str, ...], most: int, threads: int, device: str, reading: ReadingOptions
) -> None:
    """Fit the probabilities of a model to gold trees that it was not trained on.

    DIR is the output of `discoparse train`, or the directory of a model; TREEBANK is a file, or several. What is fitted
    is kept among the facts of the model.
    """
    from discoparse.parser.calibrating import calibrate
    from discoparse.parser.finding import find_model

    found = calibrate(find_model(directory), list(reading.trees(treebank)), device, threads, most, tell)
    for name, value in found.to_json().items():
        click.echo(f"{name:12}{value:g}")
