"""Files and directories are replaced whole, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discoparse.files.atomic import existing_directory, replace_directory, replace_file, replacing, replacing_together
from discoparse.files.streams import open_for_writing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file may grow beyond this many bytes."""
    resource = pytest.importorskip("resource", reason="this system cannot limit the size of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("room", [0, 100000])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str, room: int) -> None:
    """Also where the failure shows only when the last bytes are flushed; the error names the file of the user."""
    path = tmp_path / name
    path.write_bytes(b"old")
    text = random.Random(1).randbytes(150000).hex()[: 300000 if room else 10]
    with pytest.raises(OSError, match="File too large") as found, full_disk(room), open_for_writing(path) as stream:
        stream.write(text)
    assert found.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [name]


def test_a_full_disk_leaves_the_old_directory(tmp_path: Path) -> None:
    replace_directory(tmp_path / "d", {"a": b"old"})
    with pytest.raises(OSError, match="File too large") as found, full_disk(1000):
        replace_directory(tmp_path / "d", {"a": b"new", "b": bytes(2000)})
    assert found.value.filename == str(tmp_path / "d")
    assert (tmp_path / "d" / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["d"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as found:
        replace_file(tmp_path / "missing" / "a", b"")
    assert found.value.filename == str(tmp_path / "missing" / "a")
    with pytest.raises(IsADirectoryError) as taken:
        replace_file(tmp_path, b"")
    assert (taken.value.filename, taken.value.filename2) == (str(tmp_path), None)
    with pytest.raises(FileNotFoundError) as within:
        replace_directory(tmp_path / "d", {"missing/a": b""})
    assert within.value.filename == str(tmp_path / "d")


def test_permissions(tmp_path: Path, umask) -> None:
    """Those of the old file, or those that any new file gets."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_bytes(b"")
    old.chmod(0o604)
    for path in (new, old):
        replace_file(path, b"x")
    assert (mode(new), mode(old)) == (0o640, 0o604)
    replace_directory(tmp_path / "folder", {"a": b""})
    assert (mode(tmp_path / "folder"), mode(tmp_path / "folder" / "a")) == (0o750, 0o640)
    (tmp_path / "folder").chmod(0o700)
    replace_directory(tmp_path / "folder", {"a": b""})
    assert mode(tmp_path / "folder") == 0o700


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name, write in (("file", lambda path: replace_file(path, b"")), ("model", lambda p: replace_directory(p, {}))):
        link, target = tmp_path / name, tmp_path / "elsewhere" / name
        link.symlink_to(target)
        write(link)
        write(link)
        assert link.is_symlink()
        assert target.exists()
        assert not target.is_symlink()
    assert names(tmp_path / "elsewhere") == ["file", "model"]


def test_long_names(tmp_path: Path) -> None:
    """A name that the file system just allows, of characters of several bytes."""
    path = tmp_path / ("語" * 85)
    replace_file(path, b"x")
    assert names(tmp_path) == [path.name]


def test_two_writers_at_once(tmp_path: Path) -> None:
    """Neither disturbs the other; the last to end wins."""
    path = tmp_path / "a.unfinished"
    with replacing(path) as first, replacing(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a.unfinished"]


def test_many_writers_of_one_directory(tmp_path: Path) -> None:
    """Every content that is found was written by one of them alone."""
    path = tmp_path / "model"
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for _ in range(20):
                replace_directory(path, {name: str(number).encode() for name in "abc"})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({(path / name).read_bytes() for name in "abc"}) == 1
    assert names(tmp_path) == ["model"]


def test_an_interrupted_replacement_of_a_directory(tmp_path: Path, monkeypatch) -> None:
    """Whichever rename fails, the old content is found and nothing half done stays."""
    path = tmp_path / "model"
    replace_directory(path, {"a": b"old"})
    really, left = os.rename, 0

    def rename(*arguments: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        really(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", rename)
    for allowed in (0, 1):
        left = allowed
        with pytest.raises(KeyboardInterrupt):
            replace_directory(path, {"a": b"new"})
        assert (existing_directory(path) / "a").read_bytes() == b"old"
        assert len(names(tmp_path)) == 1
    left = 2
    replace_directory(path, {"a": b"new"})
    assert (path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["model"]


def test_files_that_appear_together(tmp_path: Path) -> None:
    folder = tmp_path / "sets"

    def interrupted() -> None:
        with replacing_together(folder) as new:
            (new / "train").write_text("x")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        interrupted()
    assert not folder.exists()
    folder.mkdir()
    (folder / "train").write_text("old")
    (folder / "train").chmod(0o600)
    (folder / "other").write_text("stays")
    with replacing_together(folder) as new:
        (new / "train").write_text("new")
        (new / "dev").write_text("new")
        assert (folder / "train").read_text() == "old"
    assert names(folder) == ["dev", "other", "train"]
    assert (folder / "train").read_text() == "new"
    assert mode(folder / "train") == 0o600


def test_everything_is_on_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch) -> None:
    """Otherwise a power failure could leave an empty file where the old one was."""
    steps: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (steps.append("sync"), sync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("rename"), replace(*names)))
    replace_file(tmp_path / "a", b"x")
    assert steps == ["sync", "rename", "sync"]
    steps.clear()
    with replacing(tmp_path / "a", sync=False), open_for_writing(tmp_path / "b"):
        pass  # a text can be made again, and there may be thousands: one for each picture
    assert steps == ["rename", "rename"]


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="this system has no SIGTERM")
def test_termination_clears_away_what_is_unfinished(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from discoparse.files.atomic import replacing\n"
        "from discoparse.files.termination import termination_as_exit\n"
        "with termination_as_exit(), replacing(sys.argv[1]):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(names(tmp_path)) == 1
        process.terminate()
        assert process.wait(60) == 143
    assert names(tmp_path) == []


def test_file_systems_without_locks(tmp_path: Path, monkeypatch) -> None:
    fcntl = pytest.importorskip("fcntl", reason="this system has no locks")

    def refuse(*arguments: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuse)
    replace_directory(tmp_path / "model", {"a": b"1"})
    assert names(tmp_path / "model") == ["a"]
    assert existing_directory(tmp_path / "model") == tmp_path / "model"
