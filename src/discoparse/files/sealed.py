"""Directories of files sealed with checksums: a damaged one is never used, not even in part.

`SHA256SUMS` has the form that `sha256sum --check` reads. Reading returns the very bytes that were checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError
from discoparse.files.atomic import existing_directory, replace_directory

CHECKSUMS = "SHA256SUMS"
_LONGEST_CHECKSUMS = 100_000  # bytes
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]+)\n")


def write_sealed(path: Path, files: Mapping[str, bytes]) -> None:
    """Replace a directory by these files and their checksums."""
    replace_directory(path, {**files, CHECKSUMS: _checksums(files)})


def read_sealed(path: Path, names: Sequence[str], what: str, also: str = "") -> dict[str, bytes]:
    """The files of a directory, if they are what was written; `what` names it in messages ("model").

    Other files in the directory are neither read nor checked; those that are sealed with them must match `also`.
    """
    sealed = Sealed(path, names, what, also)
    return {name: sealed.read(name) for name in names}


class Sealed:
    """A sealed directory, opened: all of its files are there; the checksum of each is verified when it is read."""

    def __init__(self, path: Path, names: Sequence[str], what: str, also: str = "") -> None:
        """`names` must be there; others that are sealed with them must match the pattern `also`."""
        self.path = existing_directory(path)
        self.what = what
        if not self.path.is_dir():
            raise DiscoparseError(f"{path}: there is no {what} here (a {what} is a directory)")
        for name in (*names, CHECKSUMS):
            self.size(name)
        stated = self._content(CHECKSUMS, _LONGEST_CHECKSUMS).decode("utf-8", "replace")
        lines = _LINE.findall(stated)
        self._digests = {name: digest for digest, name in lines}
        others = self._digests.keys() - set(names)
        if (
            stated != "".join(f"{digest}  {name}\n" for digest, name in lines)
            or [*self._digests] != sorted({*names, *others})
            or not all(re.fullmatch(also, name) for name in others)
        ):
            raise self._damaged(CHECKSUMS)
        for name in others:
            self.size(name)

    @property
    def names(self) -> list[str]:
        """Of all files that are sealed."""
        return [*self._digests]

    def size(self, name: str) -> int:
        """The bytes of a file, which must be a regular one: opening a FIFO would wait for its writer forever."""
        try:
            status = os.stat(self.path / name)
        except FileNotFoundError:
            message = f"{self.path}: no usable {self.what}, {name} is missing; copy or make it again"
            raise DiscoparseError(message) from None
        if not stat.S_ISREG(status.st_mode):
            raise DiscoparseError(f"{self.path}: no usable {self.what}, {name} is not a regular file")
        return status.st_size

    def read(self, name: str, most: int | None = None) -> bytes:
        """The content of a file, if it is what was written and has at most `most` bytes."""
        content = self._content(name, most)
        if hashlib.sha256(content).hexdigest() != self._digests[name]:
            raise self._damaged(name)
        return content

    def _content(self, name: str, most: int | None) -> bytes:
        size = self.size(name)
        if most is not None and size > most:
            raise DiscoparseError(
                f"{self.path}: {name} has {size:,} bytes, more than the {most:,} that a {self.what} can need there"
            )
        with open(self.path / name, "rb") as stream:
            return stream.read(size)  # not more, even if the file grows or its size was a lie

    def _damaged(self, name: str) -> DiscoparseError:
        return DiscoparseError(
            f"{self.path}: {name} is not what was written (the checksum differs); "
            f"the {self.what} is damaged or was changed by hand: copy or make it again"
        )


def encode_json(data: Any, indent: int | None = 2) -> bytes:
    """JSON as UTF-8, one entry per line unless `indent` is None; lone surrogates of damaged treebanks survive."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
    return (text + "\n").encode("utf-8", "surrogatepass")


def decode_json(content: bytes) -> Any:
    """The inverse of `encode_json`."""
    return json.loads(content.decode("utf-8", "surrogatepass"))


def _checksums(files: Mapping[str, bytes]) -> bytes:
    return "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())
    ).encode()
