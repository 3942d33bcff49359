"""`discoparse models`: list the models, show the card of one, fit its probabilities, or make a package of one."""

from __future__ import annotations

import json
from typing import Any

import click

from discoparse.cli import calibrate, package
from discoparse.cli.options import tell, tell_namesake
from discoparse.files.text_table import text_table
from discoparse.parser.finding import Listed, advice, describe_model, read_card, usable_models

_HEADER = ("name", "language", "treebanks", "licence", "dev set", "F1", "disc. F1", "POS", "MB")
_SUBCOMMANDS = {"calibrate": calibrate.command, "package": package.command}


class ModelsCommand(click.Group):
    """`models MODEL` is a command like others; `models package …` and `models calibrate …` are commands of their own
    (./package is a directory)."""

    allow_extra_args = False
    allow_interspersed_args = True
    parse_args = click.Command.parse_args
    invoke = click.Command.invoke
    collect_usage_pieces = click.Command.collect_usage_pieces

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in _SUBCOMMANDS:
            return _SUBCOMMANDS[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


class ModelArgument(click.Argument):
    """MODEL, which is not part of `discoparse models package` and the like."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return super().get_usage_pieces(ctx) if isinstance(ctx.command, ModelsCommand) else []


@click.group(cls=ModelsCommand, invoke_without_command=True)
@click.argument("model", cls=ModelArgument, required=False, callback=tell_namesake)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(model: str | None, as_json: bool) -> None:
    """List the models that are installed, or show the card of MODEL, a name or a directory."""
    if model is not None and not as_json:
        click.echo(read_card(model), nl=False)
        return
    models = [describe_model(model)] if model is not None else list(usable_models(_warn))
    if as_json:
        click.echo(json.dumps([listed.to_json() for listed in models], ensure_ascii=False, indent=2))
    elif models:
        click.echo(text_table([_HEADER, *(row for listed in models for row in _rows(listed))]))
    else:
        tell(f"no models are installed: {advice()}")


for _name, _subcommand in _SUBCOMMANDS.items():
    command.add_command(_subcommand, _name)


def _warn(message: str) -> None:
    tell(f"warning: {message}")


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
