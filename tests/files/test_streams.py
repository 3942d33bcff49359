"""Standard streams, devices, open files by other names, compressed files."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import zlib
from pathlib import Path

import pytest

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files import streams
from discoparse.files.streams import DAMAGED, open_bytes, open_for_writing, open_text
from discoparse.treebank import read_trees


def test_closed_standard_streams(monkeypatch) -> None:
    """Python has None for a stream that was closed when it started."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard input is closed"), open_bytes("-"):
        pass
    with pytest.raises(UsageError, match="standard output is closed"), open_for_writing("-"):
        pass


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")
def test_open_files_by_other_names_are_written_to(tmp_path: Path) -> None:
    """As `/dev/stdout` of a shell: the file that is open gets the text, and no other takes its name."""
    path = tmp_path / "a"
    with open(path, "wb") as stream:
        before = os.stat(path).st_ino
        with open_for_writing(f"/dev/fd/{stream.fileno()}") as text:
            text.write("new")
        assert os.stat(path).st_ino == before
    assert path.read_text() == "new"


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no /dev/shm")
def test_memory_is_a_folder_like_others() -> None:
    path = Path(f"/dev/shm/discoparse-test-{os.getpid()}.gz")
    try:
        with open_for_writing(path) as stream:
            stream.write("new")
            assert not path.exists()
        assert gzip.decompress(path.read_bytes()) == b"new"
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
def test_compressed_files_are_read_whatever_their_names(tmp_path, pack):
    path = tmp_path / "text"
    path.write_bytes(pack(b"some text"))
    with open_bytes(str(path)) as stream:
        assert stream.peek(4)[:4] == b"some"
        assert stream.read() == b"some text"


def test_xz_needs_a_python_that_has_it(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LZMAFile", None)
    path = tmp_path / "text.xz"
    path.write_bytes(lzma.compress(b"some text"))
    with pytest.raises(UsageError, match="decompress it first"), open_bytes(str(path)):
        pass
    with pytest.raises(UsageError, match=r"text\.xz: this Python cannot write xz"), open_for_writing(path):
        pass


@pytest.mark.parametrize("module", [gzip, lzma])
def test_a_cut_file_is_read_up_to_the_cut(tmp_path, module):
    """All that can be decompressed, also where it is less than a buffer."""
    text = "".join(f"{k} {k**7 % 1009}\n" for k in range(4000)).encode()
    packed = module.compress(text)
    for size in (len(packed) // 4, len(packed) // 2, len(packed) - 9):
        unpacker = lzma.LZMADecompressor() if module is lzma else zlib.decompressobj(31)
        whole = unpacker.decompress(packed[:size])
        path = tmp_path / "cut"
        path.write_bytes(packed[:size])
        with open_bytes(str(path)) as stream:
            found = b""
            while len(found) < len(whole):
                found += stream.read1(999)
            assert found == whole
            with pytest.raises(DAMAGED):
                stream.read1(999)
    assert len(whole) > 20_000


def _altered(packed: bytes, place: int) -> bytes:
    changed = bytearray(packed)
    changed[place] ^= 0xFF
    return bytes(changed)


_PACKED, _PACKED_XZ = gzip.compress(b"some text\n" * 99, mtime=0), lzma.compress(b"some text\n" * 99)
_BROKEN = {
    "gzip, cut": _PACKED[:-12],
    "gzip, cut in its header": _PACKED[:3],
    "gzip, header": _altered(_PACKED, 2),
    "gzip, data": _altered(_PACKED, 12),
    "gzip, checksum": _altered(_PACKED, -8),
    "xz, cut": _PACKED_XZ[:-40],
    "xz, cut in its header": _PACKED_XZ[:9],
    "xz, header": _altered(_PACKED_XZ, 7),
    "xz, data": _altered(_PACKED_XZ, 30),
}


@pytest.mark.parametrize("content", _BROKEN.values(), ids=_BROKEN)
def test_text_of_a_damaged_file_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / "some text"
    path.write_bytes(content)
    with pytest.raises(DiscoparseError, match=r"/some text: the compressed file is cut off or damaged \(\S"):
        _read(path)


def test_text_is_utf_8_or_utf_16(tmp_path):
    path = tmp_path / "text"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_text("Þau\nsáu\n", encoding=encoding)
        assert _read(path) == "Þau\nsáu\n"
    path.write_bytes("Þau".encode("utf-16")[:-1])
    with pytest.raises(DiscoparseError, match=r"/text: not UTF-16, though it begins like it .*: convert it to UTF-8"):
        _read(path)


def _read(path: Path) -> str:
    with open_text(str(path)) as stream:
        return stream.read()


@pytest.mark.parametrize("module", [gzip, lzma])
def test_one_can_go_to_a_place_in_a_compressed_file(tmp_path, module):
    path = tmp_path / "packed"
    path.write_bytes(module.compress(bytes(range(256)) * 1000))
    with open_bytes(str(path)) as stream:
        assert stream.seek(100_003) == stream.tell() == 100_003
        assert stream.read(2) == bytes([100_003 % 256, 100_004 % 256])
        stream.seek(7)
        assert stream.read(1) == b"\x07"


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".xz", lzma)])
def test_output_is_compressed_as_its_name_says(tmp_path, ending, module):
    path = tmp_path / f"text{ending}"
    with open_for_writing(path) as stream:
        stream.write("Þau sáu hús\n")
    assert module.decompress(path.read_bytes()).decode() == "Þau sáu hús\n"


def test_treebanks_may_be_compressed_with_xz(tmp_path):
    path = tmp_path / "trees.discbracket.xz"
    path.write_bytes(lzma.compress(b"(S (X 0=a) (X 1=b))\n"))
    assert [str(tree) for tree in read_trees(str(path))] == ["(S (X 0=a) (X 1=b))"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DiscoparseError, match=r"trees\.discbracket\.xz"):
        list(read_trees(str(path)))
