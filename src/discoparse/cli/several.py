"""Options that take several values: `--train a b` is `--train a --train b`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import click


class SeveralValues(click.Command):
    """A command of which some options take one value or several."""

    def __init__(self, *args: Any, several: Collection[str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.several = several

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args, self.several))


def spread(args: Sequence[str], several: Collection[str]) -> list[str]:
    """Repeat an option for each of its values.

    >>> spread(["--train", "a", "b", "--dev", "c"], ["--train", "--dev"])
    ['--train', 'a', '--train', 'b', '--dev', 'c']
    """
    found: list[str] = []
    option = ""
    for argument in args:
        if argument == "-" or not argument.startswith("-"):
            if option and found[-1] != option:
                found.append(option)
        else:
            option = argument if argument in several else ""
        found.append(argument)
    return found
