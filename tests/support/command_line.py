"""Runs `discoparse` in this process: its exit status, standard output and standard error."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

from discoparse.cli import main


def run_main(*arguments: str) -> tuple[int, str, str]:
    """What a shell would see of `discoparse ARGUMENTS`."""
    output, errors = io.StringIO(), io.StringIO()
    status = 0
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            main(list(arguments))
        except SystemExit as end:
            status = int(end.code or 0)
    return status, output.getvalue(), errors.getvalue()
