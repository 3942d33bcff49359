"""The directory of a training: what is in it, and who may write to it.

model        the best model so far by F1 on the development set (the first of equals)
encoder      instead of it, what a pretraining makes
latest       the state to continue from, there from before the first step on
log.jsonl    a record for every epoch and every evaluation
curves.svg   a picture of the log
.lock        held while a training runs
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discoparse.errors import UsageError
from discoparse.files.atomic import existing_directory
from discoparse.files.lock import Locked, exclusive
from discoparse.model.info import ENCODER_FOLDER, MODEL

LATEST, LOG, CURVES, _LOCK = "latest", "log.jsonl", "curves.svg", ".lock"


@contextmanager
def open_output(output: Path, resume: bool) -> Iterator[Path | None]:
    """Make the directory ours while this is entered; gives the state to resume from, None to start afresh.

    Refuses a directory that another training writes to, or that holds something that would be overwritten.
    """
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file: a training needs a directory")
    output.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(output / _LOCK):
            yield _state(output, resume)
    except Locked:
        message = f"{output}: another training is writing to this directory; wait for it, or choose another one"
        raise UsageError(message) from None


def _state(output: Path, resume: bool) -> Path | None:
    latest = existing_directory(output / LATEST)
    if resume and latest.exists():
        return latest
    found = [
        name
        for name in (LATEST, MODEL, ENCODER_FOLDER, "config.json", LOG)
        if existing_directory(output / name).exists()
    ]
    if not found:
        return None
    there = f"{output} already holds a training ({', '.join(found)})"
    if latest.exists():
        raise UsageError(f"{there}: continue it with --resume, or choose another directory")
    reason = f" but no state to resume from ({LATEST})" if resume else ""
    raise UsageError(f"{there}{reason}: choose another directory, or remove what is there")
