"""`discoparse derive`: the derivation of a tree, as the paper's Table 2 prints it."""

from __future__ import annotations

import json
from itertools import islice

import click

from discoparse.cli.options import ReadingOptions, reading_options
from discoparse.errors import DiscoparseError, UsageError
from discoparse.system.derivation_table import ROWS, derivation_json, derivation_table

_LONGEST = 1000  # tokens: every row shows all of them, so 3,000 would make a table of 440 MB


@click.command()
@click.argument("file")
@click.option(
    "--sentence", type=click.IntRange(1), default=1, show_default=True, help="Number of the sentence in FILE."
)
@click.option(
    "--system",
    type=click.Choice(list(ROWS)),
    default="set",
    show_default=True,
    help="The set-based system, shift-reduce with swap, or a split stack with gap.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the derivation as JSON, with token indexes.")
@reading_options
def command(file: str, sentence: int, system: str, as_json: bool, reading: ReadingOptions) -> None:
    """Show the derivation of a tree, step by step.

    FILE is a treebank, or - for standard input. Unary chains are one label, joined by +.
    """
    tree = next(islice(reading.trees(file), sentence - 1, None), None)
    if tree is None:
        raise UsageError(f"there is no sentence {sentence} in {file}")
    if len(tree) > _LONGEST:
        raise DiscoparseError(
            f"sentence {sentence} of {file} has {len(tree):,} tokens: a derivation is shown for at most {_LONGEST:,}, "
            "since each of its rows lists every token"
        )
    if as_json:
        click.echo(json.dumps(derivation_json(tree, system), ensure_ascii=False))
    else:
        click.echo(derivation_table(tree, system))
