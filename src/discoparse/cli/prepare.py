"""`discoparse prepare`: the train, dev and test sets of a published treebank."""

from __future__ import annotations

import json

import click

from discoparse.cli.options import tell, tell_warnings, with_progress
from discoparse.treebank import ON_ERROR, WRITABLE, Report
from discoparse.treebank.prepare import STANDARD_SPLITS, Reader, prepare


@click.command()
@click.argument("treebank", type=click.Choice(list(STANDARD_SPLITS)))
@click.argument("source")
@click.argument("outdir")
@click.option("--to", type=click.Choice(WRITABLE), default="discbracket", show_default=True, help="Format.")
@click.option("--encoding", help="Encoding of the source [found out; XML: as the file declares].")
@click.option(
    "--on-error",
    type=click.Choice(ON_ERROR),
    help="A bad sentence ends the run, is left out, or is repaired [tiger: repair, others: fail].",
)
@click.option("--force", is_flag=True, help="Write the sets even if their sizes are not the published ones.")
@click.option("--json", "as_json", is_flag=True, help="Print the sizes of the sets as JSON.")
def command(
    treebank: str,
    source: str,
    outdir: str,
    to: str,
    encoding: str | None,
    on_error: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Make the train, dev and test sets of a published treebank, as the literature uses them.

    \b
    dptb     dptb7.export, or the folder of the Penn Treebank's .mrg files
    tiger    the folder of SPMRL's three TIGER-XML files, or the original TIGER-XML file
    negra    negra-corpus.export
    alpino   the folder of the XML files of the Alpino treebank (cdb)
    craft    the folder of CRAFT's .tree files
    icepahc  the folder of IcePaHC's .psd files

    The sets appear in OUTDIR when all three are complete and have the published sizes.
    """
    report = Report(on_problem=tell)
    reader = Reader(encoding, on_error, report, watch=with_progress)
    try:
        counts = prepare(treebank, source, outdir, reader=reader, format=to, force=force, report=report)
    finally:
        report.empty += reader.notes.emptied
        tell_warnings(reader.notes.warnings)
        for message in report.messages():
            tell(message)
    if as_json:
        click.echo(json.dumps(counts))
    else:
        for split, count in counts.items():
            click.echo(f"{split}\t{count}")
