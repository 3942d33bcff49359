"""The command that somebody gave, in a form that others can give again: with short paths and no private options."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from discoparse.files.streams import printable


def invocation(ctx: click.Context, paths: Mapping[str, int], without: Collection[str]) -> list[str]:
    """The command and each of its options, quoted for a shell.

    `paths` says which parameters are paths and how many of their last parts to show; `without` names those left out.
    """
    command = [f"discoparse {ctx.info_name}"]
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE or name in without:
            continue
        option = max(parameter.opts, key=len)
        if isinstance(parameter, click.Option) and parameter.is_flag:
            command.append(option)
            continue
        values = ctx.params[name] if parameter.multiple else [ctx.params[name]]
        if name in paths:
            shown = (shlex.quote("/".join(Path(printable(value)).parts[-paths[name] :])) for value in values)
            command.append(f"{option} {' '.join(shown)}")
        else:
            command += [f"{option} {shlex.quote(printable(str(value)))}" for value in values]
    return command
