"""Replacing files and whole directories so that an interruption leaves the old or the new, never a mixture."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_PREVIOUS = ".previous"  # what a directory is called for the moment between its old and its new content


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name, make sure that it is on the disk, and give it its name."""
    unfinished = path.with_name(path.name + ".unfinished")
    _write(unfinished, content)
    os.replace(unfinished, path)
    _sync_directory(path.parent)


def replace_directory(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a directory beside its place and then put it there; what else was in the old one is taken along.

    A directory cannot be renamed over another, so the old one steps aside first; `existing_directory` finds it if the
    program dies at that moment.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished, previous = path.with_name(path.name + ".unfinished"), path.with_name(path.name + _PREVIOUS)
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir()
    for name, content in files.items():
        _write(unfinished / name, content)
    for other in existing_directory(path).glob("*"):
        if other.name not in files:
            copy = shutil.copytree if other.is_dir() else shutil.copy2
            copy(other, unfinished / other.name)
    _sync_directory(unfinished)
    if path.exists():
        if previous.exists():
            shutil.rmtree(previous)
        os.rename(path, previous)
    os.rename(unfinished, path)
    _sync_directory(path.parent)
    if previous.exists():
        shutil.rmtree(previous)


def existing_directory(path: Path) -> Path:
    """The directory itself, or the old one if replacing it was cut short."""
    previous = path.with_name(path.name + _PREVIOUS)
    return previous if not path.exists() and previous.is_dir() else path


def _write(path: Path, content: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_directory(path: Path) -> None:
    """Make renames in a directory last, where the system can do that."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # Windows cannot open directories
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
