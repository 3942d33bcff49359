"""`discoparse models`: list the models, or show the card of one."""

from __future__ import annotations

import json

import click

from discoparse.models import Listed, advice, describe_model, read_card, shipped_models

_HEADER = ("name", "language", "treebanks", "licence", "F1", "disc. F1", "POS", "MB")


@click.command()
@click.argument("model", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(model: str | None, as_json: bool) -> None:
    """List the models that come with discoparse, or show the card of MODEL, a name or a directory."""
    if model is not None and not as_json:
        click.echo(read_card(model), nl=False)
        return
    models = [describe_model(name) for name in ([model] if model is not None else shipped_models())]
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
    figures = list(listed.figures.values()) or [{}]
    rows = []
    for number, scores in enumerate(figures):
        shown = tuple(f"{scores[key]:.1f}" if key in scores else "–" for key in ("f1", "disc_f1", "pos"))
        first = number == 0
        rows.append((*(facts if first else ("",) * 4), *shown, f"{listed.size / 1e6:.1f}" if first else ""))
    return rows


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    table = [_HEADER, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(_HEADER))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
