"""Directories of files sealed with checksums: nothing of a damaged one is ever used.

`SHA256SUMS` has the form that `sha256sum --check` reads. Reading gives the very bytes that were checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError
from discoparse.files.atomic import existing_directory, replace_directory

CHECKSUMS = "SHA256SUMS"


def write_sealed(path: Path, files: Mapping[str, bytes]) -> None:
    """Replace a directory by these files and their checksums."""
    replace_directory(path, {**files, CHECKSUMS: _checksums(files)})


def read_sealed(path: Path, names: Sequence[str], what: str) -> dict[str, bytes]:
    """The files of a directory, if they are what was written; `what` it is, for messages ("model").

    Other files may lie beside them: they are neither read nor checked.
    """
    path = existing_directory(path)
    if not path.is_dir():
        raise DiscoparseError(f"{path}: there is no {what} here (a {what} is a directory)")
    found: dict[str, bytes] = {}
    for name in (*names, CHECKSUMS):
        try:
            found[name] = (path / name).read_bytes()
        except FileNotFoundError:
            message = f"{path}: no usable {what}, {name} is missing; copy or make it again"
            raise DiscoparseError(message) from None
    stated = found.pop(CHECKSUMS)
    if stated != _checksums(found):
        changed = [name for name in names if _line(name, found[name]) not in stated.splitlines()]
        raise DiscoparseError(
            f"{path}: {', '.join(changed or [CHECKSUMS])} is not what was written (the checksum differs); "
            f"the {what} is damaged or was changed by hand: copy or make it again"
        )
    return found


def to_json(data: Any, indent: int | None = 2) -> bytes:
    """JSON as UTF-8, an entry a line unless `indent` is None; lone surrogates of damaged treebanks survive."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
    return (text + "\n").encode("utf-8", "surrogatepass")


def from_json(content: bytes) -> Any:
    """What `to_json` wrote."""
    return json.loads(content.decode("utf-8", "surrogatepass"))


def _line(name: str, content: bytes) -> bytes:
    return f"{hashlib.sha256(content).hexdigest()}  {name}".encode()


def _checksums(files: Mapping[str, bytes]) -> bytes:
    return b"".join(_line(name, content) + b"\n" for name, content in sorted(files.items()))
