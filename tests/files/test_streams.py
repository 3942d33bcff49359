"""Standard streams, devices and open files by other names."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from discoparse.errors import UsageError
from discoparse.files.streams import open_bytes, open_for_writing


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
