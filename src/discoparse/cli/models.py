"""`discoparse models`: list the models, or show the card of one."""

from __future__ import annotations

import json

import click

from discoparse.cli.options import tell_namesake
from discoparse.parser.finding import Listed, advice, describe_model, installed_models, read_card

_HEADER = ("name", "language", "treebanks", "licence", "dev set", "F1", "disc. F1", "POS", "MB")


@click.command()
@click.argument("model", required=False, callback=tell_namesake)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(model: str | None, as_json: bool) -> None:
    """List the models that come with discoparse, or show the card of MODEL, a name or a directory."""
    if model is not None and not as_json:
        click.echo(read_card(model), nl=False)
        return
    models = [describe_model(name) for name in ([model] if model is not None else installed_models())]
    if as_json:
        click.echo(json.dumps([listed.to_json() for listed in models], ensure_ascii=False, indent=2))
    elif models:
        for line in _table([row for listed in models for row in _rows(listed)]):
            click.echo(line)
    else:
        click.echo(f"no models come with this installation: {advice()}", err=True)


def _rows(listed: Listed) -> list[tuple[str, ...]]:
    """A row for each set that a model was evaluated on; what is the same for all stands in the first."""
    info = listed.info
    facts = (info.name, info.language or "–", ", ".join(info.treebanks) or "–", info.licence or "–")
    rows: list[tuple[str, ...]] = []
    for name, scores in (info.dev_sets or {"–": {}}).items():
        shown = (f"{scores[key]:.1f}" if scores.get(key) is not None else "–" for key in ("f1", "disc_f1", "pos"))
        alike = (*facts, f"{listed.size / 1e6:.1f}") if not rows else ("",) * 5
        rows.append((*alike[:4], name, *shown, alike[4]))
    return rows


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    table = [_HEADER, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(_HEADER))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
