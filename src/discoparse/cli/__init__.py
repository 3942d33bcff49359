"""The `discoparse` command: a thin layer of subcommands, each in its own module, imported when it is called."""

from __future__ import annotations

import io
import sys
from importlib import import_module

import click

from discoparse.cli.interrupts import interrupts_after_imports
from discoparse.cli.streams import replace_closed_streams
from discoparse.errors import DiscoparseError, UsageError, did_you_mean
from discoparse.files.termination import termination_as_exit

# Name of the subcommand (and of its module) and its one line in `discoparse --help`.
COMMANDS = {
    "convert": "Convert treebanks between formats, and transform their trees.",
    "prepare": "Make the train, dev and test sets of a published treebank.",
    "validate": "List every problem in treebank files.",
    "stats": "Count what is in a treebank.",
    "draw": "Draw trees: text, SVG, TikZ, PNG, PDF.",
    "evaluate": "Score predicted trees against gold trees.",
    "derive": "Show the derivation of a tree, step by step.",
    "pretrain": "Train an encoder on raw text, for a parser to start from.",
    "train": "Train a parser on a treebank.",
    "parse": "Parse text.",
    "corpus": "Parse a corpus with many processes, here or on a cluster.",
    "serve": "Serve a page and an HTTP API.",
    "models": "List the models, or show the card of one.",
    "benchmark": "Measure the speed of training and parsing.",
    "experiment": "Reproduce the paper's tables and figures on a treebank.",
}


class LazyGroup(click.Group):
    """Imports a subcommand only when it runs, so `discoparse draw` never waits for PyTorch."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"discoparse.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from discoparse import __version__  # here: looking it up takes a while
        from discoparse.neural.compiled.library import describe

        click.echo(f"discoparse, version {__version__}\n{describe()}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Discontinuous constituency parsing: read treebanks, train, parse, evaluate, draw."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit status 0, 1 for a problem in the data, 2 for wrong use; no traceback for either."""
    replace_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):  # output is UTF-8 whatever the locale; file names stay as they are
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        with termination_as_exit(), interrupts_after_imports():
            status = cli.main(arguments, standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Abort:
        click.echo("discoparse: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except UsageError as error:
        click.echo(f"discoparse: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"discoparse: {place}{error.strerror or error}", err=True)
        sys.exit(1)
    except DiscoparseError as error:
        click.echo(f"discoparse: {error}", err=True)
        sys.exit(1)
