"""Write the options of every command, as `--help` lists them, into its page in docs/commands:

python scripts/document_options.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from discoparse.cli import COMMANDS, cli

PAGES = Path(__file__).resolve().parents[1] / "docs" / "commands"
BEGIN = "<!-- options: do not edit, run scripts/document_options.py -->"
END = "<!-- end of options -->"


def options_table(name: str) -> str:
    """The usage line and the options of a command, and those of its own subcommands if it has any, as Markdown."""
    top = click.Context(cli, info_name="discoparse")
    command = cli.get_command(top, name)
    assert command is not None
    return "\n\n".join(_tables(click.Context(command, info_name=name, parent=top)))


def _tables(context: click.Context) -> Iterator[str]:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"    {usage}", "", "| option | |", "| --- | --- |"]
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            option, description = (" ".join(text.split()).replace("|", "\\|") for text in record)
            lines.append(f"| `{option}` | {description} |")
    yield "\n".join(lines)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from _tables(click.Context(subcommand, info_name=name, parent=context))


def with_options(page: str, table: str) -> str:
    """The text of a page with the table between the two markers, which the page must have."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"the page needs one line {BEGIN!r} and after it one line {END!r}")
    return pattern.sub(lambda _: f"{BEGIN}\n\n{table}\n\n{END}", page)


def main() -> None:
    for name in COMMANDS:
        path = PAGES / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        path.write_text(with_options(page, options_table(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
