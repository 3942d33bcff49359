"""The plan of a job: what the input is, down to its bytes, and the units of work it is cut into.

The plan depends on the input alone, not on engines or workers, so the same input is always cut in the same places.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from discoparse.corpus.sources import Source
from discoparse.files.streams import DAMAGED, open_bytes
from discoparse.treebank.arrow_schema import import_arrow

# Bytes of text in a unit: what a worker loses when it dies, which is seconds to half a minute of work. A small corpus
# has smaller units, so that there are enough for all workers.
MOST_BYTES = 1 << 22
LEAST_BYTES = 1 << 16
_UNITS = 64  # that a corpus has, if these bounds allow it
_INFLATED = 4  # how many times larger a compressed file is, by guess, before it was read
# A compressed file can only be read from its beginning: it is cut into few units, each of which reads all before it.
_MOST_CUTS = 16
_BLOCK = 1 << 20
_THREADS = 8  # files that are read at once: hashing releases Python's lock


@dataclass(frozen=True)
class Fingerprint:
    """By what a file is recognised. Its content is read again only where size or time have changed."""

    name: str
    kind: str
    size: int  # bytes on disk
    modified: int  # nanoseconds
    digest: str  # of the content, decompressed

    def same_content(self, other: Fingerprint) -> bool:
        """Whether this is the same input, whatever its time."""
        return (self.name, self.kind, self.digest) == (other.name, other.kind, other.digest)

    def is_stale(self, source: Source) -> bool:
        """Whether the file now has another content; it is read only if its size or time say so."""
        return not self.same_content(fingerprint_of(source, self))


@dataclass(frozen=True)
class Part:
    """Documents of one file, one after another. `start` and `stop` are bytes of the (decompressed) content, or rows of
    a Parquet file; a `stop` of None is the end of the file. `first` is the number of the first line or row, from 1."""

    source: int
    start: int = 0
    stop: int | None = None
    first: int = 1


@dataclass(frozen=True)
class Unit:
    """What a worker does at once, and what is in one file of the output."""

    parts: tuple[Part, ...]
    size: int  # bytes of text

    def to_json(self) -> dict[str, Any]:
        return {"size": self.size, "parts": [[p.source, p.start, p.stop, p.first] for p in self.parts]}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Unit:
        return Unit(tuple(Part(*part) for part in data["parts"]), data["size"])


@dataclass(frozen=True)
class Plan:
    """A corpus, recognisable and cut into units."""

    fingerprints: list[Fingerprint]
    units: list[Unit]

    def to_json(self) -> dict[str, Any]:
        return {"input": list(map(asdict, self.fingerprints)), "units": [unit.to_json() for unit in self.units]}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Plan:
        return Plan([Fingerprint(**f) for f in data["input"]], [Unit.from_json(unit) for unit in data["units"]])


Progress = Callable[[int], None]  # told of bytes that were read


def make_plan(sources: Sequence[Source], text_field: str, progress: Progress = lambda count: None) -> Plan:
    """Read all of the input once, and cut it into units."""
    total = sum(_guessed_size(source) for source in sources)
    size = min(max(total // _UNITS, LEAST_BYTES), MOST_BYTES)

    def scan(numbered: tuple[int, Source]) -> tuple[Fingerprint, list[tuple[Part, int]]]:
        return _scan(*numbered, size, text_field, progress)

    with ThreadPoolExecutor(_THREADS) as threads:
        scanned = list(threads.map(scan, enumerate(sources)))
    pieces = [piece for _, found in scanned for piece in found]
    return Plan([fingerprint for fingerprint, _ in scanned], list(_joined(pieces, size)))


def _joined(pieces: Sequence[tuple[Part, int]], size: int) -> Iterator[Unit]:
    """Units of pieces that follow each other, small ones together."""
    parts: list[Part] = []
    total = 0
    for part, count in pieces:
        if parts and total + count > size:
            yield Unit(tuple(parts), total)
            parts, total = [], 0
        parts.append(part)
        total += count
    if parts:
        yield Unit(tuple(parts), total)


def fingerprint_of(source: Source, known: Fingerprint | None = None) -> Fingerprint:
    """The fingerprint of a file; its content is not read if size and time are those that are known."""
    size, modified = _status(source.path)
    if known is not None and (known.size, known.modified) == (size, modified):
        digest = known.digest
    else:
        digest, _ = _read_all(source, lambda block: None)
    return Fingerprint(source.name, source.kind, size, modified, digest)


def _guessed_size(source: Source) -> int:
    size, _ = _status(source.path)
    return size * _INFLATED if source.path.endswith((".gz", ".xz")) else size


def _status(path: str) -> tuple[int, int]:
    """Size and time of a file; one that cannot be looked at is a problem for whoever reads it."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _scan(
    number: int, source: Source, size: int, text_field: str, progress: Progress
) -> tuple[Fingerprint, list[tuple[Part, int]]]:
    """The fingerprint of a file, and its parts of about `size` bytes, each with its bytes."""
    on_disk, modified = _status(source.path)
    cuts = _LineCuts(size)

    def see(block: bytes) -> None:
        progress(len(block))
        if source.kind in ("lines", "jsonl"):
            cuts.see(block)

    digest, length = _read_all(source, see)
    fingerprint = Fingerprint(source.name, source.kind, on_disk, modified, digest)
    if source.kind == "parquet":
        return fingerprint, _row_parts(number, source, size, text_field)
    starts = [start for start in cuts.starts if start[0] < length]
    if length > on_disk:
        starts = starts[:: max(1, -(-len(starts) // _MOST_CUTS))]
    places = [(0, 1), *starts]
    ends = [*(start for start, _ in starts), None]
    return fingerprint, [
        (Part(number, start, end, first), (length if end is None else end) - start)
        for (start, first), end in zip(places, ends, strict=True)
    ]


def _read_all(source: Source, see: Callable[[bytes], None]) -> tuple[str, int]:
    """A digest of what can be read of a file, and its length; `see` is shown all of it."""
    digest = hashlib.blake2b(digest_size=16)
    length = 0
    try:
        with open_bytes(source.path) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                length += len(block)
                see(block)
    except (OSError, *DAMAGED):  # whoever reads the documents reports it
        digest.update(b"unreadable")
    return digest.hexdigest(), length


class _LineCuts:
    """Where lines begin, every `size` bytes or so."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.starts: list[tuple[int, int]] = []  # byte, and number of the line
        self._offset = 0
        self._lines = 0  # that have ended
        self._wanted = size  # the next cut is at the end of the line that this byte is in

    def see(self, block: bytes) -> None:
        counted = 0
        while self._wanted < self._offset + len(block):
            end = block.find(b"\n", max(0, self._wanted - self._offset))
            if end < 0:
                break
            self._lines += block.count(b"\n", counted, end + 1)
            counted = end + 1
            self.starts.append((self._offset + counted, self._lines + 1))
            self._wanted = self._offset + counted + self.size
        self._lines += block.count(b"\n", counted)
        self._offset += len(block)


def _row_parts(number: int, source: Source, size: int, text_field: str) -> list[tuple[Part, int]]:
    """The rows of a Parquet file, by the size of its text."""
    arrow, parquet = import_arrow(), import_arrow("pyarrow.parquet")
    try:
        metadata = parquet.read_metadata(source.path)
    except (OSError, arrow.ArrowException):  # whoever reads it reports it
        return [(Part(number), 0)]
    rows = metadata.num_rows
    columns = (
        metadata.row_group(k).column(c) for k in range(metadata.num_row_groups) for c in range(metadata.num_columns)
    )
    total = sum(c.total_uncompressed_size for c in columns if c.path_in_schema == text_field)
    count = max(1, min(rows, -(-total // size)))
    bounds = [rows * k // count for k in range(count)]
    ends = [*bounds[1:], None]
    return [(Part(number, start, end, start + 1), total // count) for start, end in zip(bounds, ends, strict=True)]
