"""`discoparse validate`: list every problem of treebank files."""

from __future__ import annotations

import json

import click

from discoparse.cli.options import tell
from discoparse.errors import Problem
from discoparse.treebank import READABLE, validate


@click.command("validate")
@click.argument("files", nargs=-1, required=True)
@click.option("--from", "from_", type=click.Choice(list(READABLE)), help="Format of the files [from their names].")
@click.option("--encoding", help="Encoding of the files [UTF-8; XML: as the file declares].")
@click.option("--lemmas", is_flag=True, help="Leaves of bracketed files are word-lemma.")
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
def command(files: tuple[str, ...], from_: str | None, encoding: str | None, lemmas: bool, as_json: bool) -> int:
    """List every problem of treebank FILES (or directories, or - for standard input) in one pass.

    Each line names the file, the line, the sentence and what is wrong. The exit status is 0 when there is no
    problem, 1 when there is one.
    """

    def show(problem: Problem) -> None:
        if not as_json:
            click.echo(str(problem))

    result = validate(files, from_, encoding=encoding, on_problem=show, lemmas=lemmas)
    if as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        for note in result.notes:
            tell(note)
        empty = f", {result.empty} without words" if result.empty else ""
        found = f"sentences: {result.sentences}, sound trees: {result.trees}{empty}"
        tell(f"{found}, problems: {len(result.problems)}")
    return 1 if result.problems else 0
