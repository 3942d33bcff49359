"""`discoparse corpus`: documents by the million in, Parquet or JSON lines out."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout

import click

from discoparse.cli.options import Number, tell, tell_namesakes
from discoparse.corpus.documents import Fields
from discoparse.corpus.job import FORMATS
from discoparse.corpus.run import ENGINES, Engine, Result, parse_corpus
from discoparse.corpus.sources import KINDS
from discoparse.errors import UsageError
from discoparse.treebank.arrow_schema import SCHEMAS, schema_text

_SHOWN = 10  # problems on standard error; the report has all


def _print_schema(ctx: click.Context, parameter: click.Parameter, kind: str | None) -> None:
    if kind is not None:
        click.echo(schema_text(kind), nl=False)
        ctx.exit()


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="INPUT [INPUT ...] OUTPUT")
@click.option(
    "-m",
    "--model",
    "models",
    metavar="NAME|DIR",
    multiple=True,
    callback=tell_namesakes,
    help="A shipped model or a directory [by the language of the first documents].",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Processes of this machine, or actors of a Ray cluster.",
)
@click.option("--address", metavar="HOST:PORT", help="Of the Ray cluster [$RAY_ADDRESS, or one on this machine].")
@click.option(
    "--num-workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes or actors that parse [as many as there are CPUs, or as share the GPUs].",
)
@click.option(
    "--gpus-per-worker",
    type=Number(0, 1),
    metavar="N",
    default=0,
    show_default=True,
    help="GPUs of each worker; 0.5: two share one; 0: parse on CPUs.",
)
@click.option("--resume", is_flag=True, help="Go on with the job in OUTPUT, or begin it if there is none.")
@click.option("--from", "from_", type=click.Choice(KINDS), help="What the input is [by the names of the files].")
@click.option("--to", type=click.Choice(FORMATS), default="parquet", show_default=True, help="Format of the output.")
@click.option("--text-field", metavar="NAME", default="text", show_default=True, help="JSON and Parquet: the text.")
@click.option("--id-field", metavar="NAME", help="JSON and Parquet: the document's id [id, or file and line].")
@click.option("--pretokenized", is_flag=True, help="A line is a sentence, with spaces between its tokens.")
@click.option("--lines", is_flag=True, help="Raw text: every line end ends a sentence, not only a blank line.")
@click.option("--json", "as_json", is_flag=True, help="Print figures as JSON on standard output.")
@click.option(
    "--schema",
    type=click.Choice(list(SCHEMAS)),
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the schema of the output, and exit.",
)
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    models: tuple[str, ...],
    engine: str,
    address: str | None,
    num_workers: int | None,
    gpus_per_worker: float,
    resume: bool,
    from_: str | None,
    to: str,
    text_field: str,
    id_field: str | None,
    pretokenized: bool,
    lines: bool,
    as_json: bool,
) -> None:
    """Parse a corpus of documents with many processes, here or on a Ray cluster.

    INPUT is a file, a directory or a quoted pattern: text files (a document each), JSON lines or Parquet, compressed or
    not. OUTPUT is a new folder, which gets files with a row for each sentence. A job that was interrupted goes on with
    the same command and --resume, and ends with the same rows.
    """
    *inputs, output = paths
    if not inputs:
        raise UsageError(f"corpus needs an input and an output: discoparse corpus {output} OUTPUT")
    if len(models) > 1:
        raise UsageError("several models together are for discoparse parse: give corpus one --model")
    if pretokenized and lines:
        raise UsageError("--lines is for raw text: with --pretokenized every line is a sentence anyway")
    if address is not None and engine != "ray":
        raise UsageError("--address is that of a Ray cluster: add --engine ray")
    try:
        with redirect_stdout(sys.stderr):  # Ray writes messages on standard output, which is for --json
            result = parse_corpus(
                inputs,
                output,
                models[0] if models else None,
                engine=Engine(engine, num_workers, gpus_per_worker, address),
                resume=resume,
                kind=from_,
                to=to,
                lines=lines,
                pretokenized=pretokenized,
                fields=Fields(text_field, id_field),
                notice=tell,
            )
    except (KeyboardInterrupt, SystemExit):
        tell("what is done is kept: go on with --resume")
        raise
    _tell_result(result)
    if as_json:
        click.echo(json.dumps(result.figures(), ensure_ascii=False, indent=2))
    if not result.complete:
        ctx.exit(1)


def _tell_result(result: Result) -> None:
    figures = result.figures()
    tell(
        f"{figures['documents']:,} documents, {figures['sentences']:,} sentences, {figures['tokens']:,} tokens "
        f"in {result.output}; {result.seconds:,.1f} s, {figures['tokens_per_second']:,} tokens/s"
    )
    for place, problem in result.problems[:_SHOWN]:
        tell(f"{place}: {problem}")
    if len(result.problems) > _SHOWN:
        tell(f"… and {len(result.problems) - _SHOWN:,} more documents that are left out")
    for name in result.changed[:_SHOWN]:
        tell(f"{name} was changed while the job ran: its rows may be of both versions; start it again")
    if result.incidents.given_up:
        tell(f"{len(result.incidents.given_up):,} units were given up: try them again with --resume")
    if result.incidents.lost:
        tell(f"{len(result.incidents.lost):,} workers were lost; others have done their work")
    if not result.complete or result.incidents.lost:
        tell(f"all that happened is in {result.report}")
