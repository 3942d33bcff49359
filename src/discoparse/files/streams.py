"""Opening files: one, several or a directory, compressed (`.gz`, `.xz`) or not, any encoding, standard streams."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.atomic import PathLike, replacing

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STANDARD = "-"  # standard input or output
_DESCRIPTORS = ("/dev/std", "/dev/fd/", "/proc/")  # open files by other names, which cannot be replaced
try:
    from lzma import LZMAError, LZMAFile
except ImportError:  # a Python that was built without it
    LZMAFile = None  # type: ignore[misc, assignment]
    LZMAError = EOFError  # type: ignore[misc, assignment]
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, LZMAError)  # what reading a cut or damaged compressed file raises
_XZ = b"\xfd7zXZ\x00"  # begins an xz file
_UNDECODED = re.compile("[\udc80-\udcff]")  # how Python keeps bytes that it cannot decode
_SURROGATES = re.compile("[\ud800-\udfff]")
_DECLARED = re.compile(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def path_list(paths: PathLike | Iterable[PathLike]) -> list[str]:
    """One path or several, as a list of strings."""
    if isinstance(paths, str | os.PathLike):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def printable(path: PathLike) -> str:
    """A path, or other text, that can be printed and written to files: bytes that are not UTF-8 become `\\xe9`.

    >>> printable("caf\\udce9") == r"caf\\xe9", printable("\\ud800") == r"\\ud800", printable("café")
    (True, True, 'café')
    """
    text = _UNDECODED.sub(lambda found: f"\\x{ord(found.group()) - 0xDC00:02x}", os.fspath(path))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable(text: str) -> str:
    """Text as it can be written: `�` for half a surrogate pair, as emoji have that were cut in two.

    >>> encodable("ok " + chr(0xD83D))
    'ok �'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATES.sub("�", text)
    return text


def folder_files(folder: str, wanted: Callable[[str], bool]) -> list[str]:
    """The wanted files under a folder in the order of their names; hidden ones are skipped."""
    found: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = in_order(name for name in folders if not name.startswith("."))
        visible = (name for name in names if not name.startswith(".") and wanted(name))
        found += [os.path.join(parent, name) for name in in_order(visible)]
    return found


def in_order(names: Iterable[str]) -> list[str]:
    """Names sorted as names, or as numbers where all of them are numbers.

    >>> in_order(["10.xml", "2.xml", "1.xml.gz"])
    ['1.xml.gz', '2.xml', '10.xml']
    >>> in_order(["10.xml", "2.xml", "a.xml"])
    ['10.xml', '2.xml', 'a.xml']
    """
    listed = sorted(names)
    stems = [name.partition(".")[0] for name in listed]
    if all(stem.isascii() and stem.isdigit() for stem in stems):
        return [name for _, name in sorted(zip(map(int, stems), listed, strict=True))]
    return listed


def suffix(path: str) -> str:
    """The ending that names the format, `.gz` and `.xz` aside.

    >>> suffix("corpus/dev.Export.gz")
    '.export'
    """
    return Path(uncompressed(path)).suffix.lower()


def uncompressed(path: str) -> str:
    """A path without the ending of a compressed file.

    >>> uncompressed("dev.export.gz"), uncompressed("dev.export.xz"), uncompressed("dev.export")
    ('dev.export', 'dev.export', 'dev.export')
    """
    return path.removesuffix(".gz").removesuffix(".xz")


@contextmanager
def open_bytes(path: str) -> Iterator[BinaryIO]:
    """A file, decompressed if it is gzip or xz whatever its name, or standard input; `peek` works on all."""
    if path == STANDARD:
        if sys.stdin is None:
            raise UsageError("standard input is closed: name a file")
        raw: BinaryIO = sys.stdin.buffer
    elif os.path.isdir(path):
        raise UsageError(f"{path} is a directory")
    else:
        raw = open(path, "rb")  # noqa: SIM115  (closed below)
    try:
        buffered = raw if hasattr(raw, "peek") else io.BufferedReader(cast(io.RawIOBase, raw))
        start = buffered.peek(len(_XZ))
        if start[:2] == b"\x1f\x8b":
            buffered = _decompressed(gzip.GzipFile(fileobj=buffered))
        elif start.startswith(_XZ):
            if LZMAFile is None:
                raise UsageError(f"{path} is compressed with xz, which this Python cannot read: decompress it first")
            buffered = _decompressed(LZMAFile(buffered))
        yield buffered
    finally:
        if path != STANDARD:
            raw.close()


def _decompressed(file: io.BufferedIOBase) -> BinaryIO:
    """All that a compressed file has, up to its end or to where it is damaged."""
    return cast(BinaryIO, io.BufferedReader(_WhatThereIs(file), 1 << 16))


class _WhatThereIs(io.RawIOBase):
    """Reads what can be had at once. A plain `read` goes on until it has as much as it was asked for, and where a file
    is cut off it raises an exception and keeps what came before."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        found = self._file.read1(len(view))
        view[: len(found)] = found
        return len(found)


@contextmanager
def decoded(stream: BinaryIO, encoding: str | None, xml: bool) -> Iterator[TextIO]:
    """The text of a stream. Bytes that cannot be decoded become lone surrogates, for readers to report."""
    known = encoding or _guessed_encoding(stream.peek(512)[:512], xml)  # type: ignore[attr-defined]
    if not _is_text_encoding(known):
        if encoding is None:
            raise UnknownEncodingError(known)
        raise UsageError(f"{encoding!r} is not a text encoding that Python knows")
    text = io.TextIOWrapper(stream, encoding=known, errors="surrogateescape", newline=None)
    try:
        yield text
    finally:
        text.detach()  # the bytes are closed by the code that opened them


@contextmanager
def open_text(path: str) -> Iterator[TextIO]:
    """The text of a file, UTF-8 or UTF-16 with a byte order mark. What reading raises about damage names the file."""
    try:
        with open_bytes(path) as raw, decoded(raw, None, xml=False) as stream:
            yield stream
    except DAMAGED as error:
        raise DiscoparseError(f"{printable(path)}: the compressed file is cut off or damaged ({error})") from None
    except UnicodeError as error:
        raise DiscoparseError(
            f"{printable(path)}: not UTF-16, though it begins like it ({error}): convert it to UTF-8"
        ) from None


class UnknownEncodingError(Exception):
    """A file declares an encoding that is not known, or not one of text."""


def _is_text_encoding(name: str) -> bool:
    """Whether text can be decoded from it: Python's codecs include some from bytes to bytes, such as `zlib`."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=name)
    except (LookupError, ValueError):
        return False
    return True


def _guessed_encoding(start: bytes, xml: bool) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    declared = _DECLARED.match(start.lstrip()) if xml else None
    return declared.group(1).decode("ascii") if declared else "utf-8"


@contextmanager
def open_for_writing(path: PathLike, encoding: str = "utf-8") -> Iterator[TextIO]:
    """A text file that appears only when it is complete; `.gz` and `.xz` are compressed, `-` is standard output."""
    name = os.fspath(path)
    if name == STANDARD:
        if sys.stdout is None:
            raise UsageError("standard output is closed: name a file")
        yield sys.stdout
        sys.stdout.flush()
    elif name.startswith(_DESCRIPTORS) or (os.path.exists(name) and not os.path.isfile(name)):
        with open(name, "w", encoding=encoding, newline="\n") as stream:  # a pipe or a device: nothing to replace
            yield stream
    else:
        with replacing(name, sync=False) as raw, ExitStack() as layers:
            packed = raw
            if name.endswith(".gz"):
                packed = cast(BinaryIO, layers.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0)))
            elif name.endswith(".xz"):
                if LZMAFile is None:
                    raise UsageError(f"{name}: this Python cannot write xz: choose a name that ends in .gz")
                packed = cast(BinaryIO, layers.enter_context(LZMAFile(raw, "wb")))
            text = io.TextIOWrapper(packed, encoding=encoding, newline="\n")
            layers.callback(text.detach)  # flushes; `replacing` closes the file
            yield text
