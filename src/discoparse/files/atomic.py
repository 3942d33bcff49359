"""The one way in which files and directories are replaced: an interruption leaves the old or the new, never a mixture.

New content is written beside its place under a hidden name that no other program uses, synced to disk, and renamed. Two
programs that write to one place at once do not disturb each other: the one that ends last wins. An exception, SIGTERM
included (`termination_as_exit`), leaves nothing behind; only a program that is killed outright (SIGKILL) may leave a
hidden `.NAME.….unfinished`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]
_PREVIOUS = ".previous"  # what a directory is called for the moment between its old and its new content
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of writing that do not name the file
_SHOWN = 40  # characters of the name in the name of the unfinished file, which must not get too long


@contextmanager
def replacing(path: PathLike, sync: bool = True) -> Iterator[BinaryIO]:
    """A stream for the new content of a file, which appears under its name when the block ends without an exception.

    Of a symbolic link, the file that it points to is replaced. Permissions are those of the old file, or those that any
    new file gets. Without `sync`, which takes some milliseconds a file, a power failure may leave an incomplete file.
    """
    target = os.path.realpath(path)
    unfinished = _unused_name(target)
    try:
        with open(unfinished, "xb") as stream:
            yield stream
            if sync:
                _sync(stream)
        _put(unfinished, target)
        if sync:
            _sync_directory(os.path.dirname(target))
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.remove(unfinished)
        _rename_in(error, unfinished, path)
        raise


def replace_file(path: PathLike, content: bytes) -> None:
    """Replace the content of a file, or make a new file."""
    with replacing(path) as stream:
        stream.write(content)


@contextmanager
def replacing_together(folder: PathLike) -> Iterator[Path]:
    """A folder for new files, which move into `folder` together when the block ends without an exception.

    `folder` is made if it does not exist, and taken away again if the block fails.
    """
    import shutil  # here, as below: it takes longer to import than everything else

    target = os.path.realpath(folder)
    made = not os.path.exists(target)
    os.makedirs(target, exist_ok=True)
    unfinished = _unused_name(os.path.join(target, "files"))
    try:
        os.mkdir(unfinished)
        yield Path(unfinished)
        for name in sorted(os.listdir(unfinished)):
            _put(os.path.join(unfinished, name), os.path.join(target, name))
        _sync_directory(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        if made:
            with suppress(OSError):  # another program may use it by now
                os.rmdir(target)
        raise
    os.rmdir(unfinished)


def replace_directory(path: PathLike, files: Mapping[str, bytes]) -> None:
    """Replace a directory by these files; other files in the old one are copied to the new one.

    A directory cannot be renamed over another one, so the old one is renamed first; `existing_directory` finds it if
    the program dies at that moment.
    """
    import shutil

    target = Path(os.path.realpath(path))
    previous = target.with_name(target.name + _PREVIOUS)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(_unused_name(str(target)))
    try:
        unfinished.mkdir()
        for name, content in files.items():
            with open(unfinished / name, "xb") as stream:
                stream.write(content)
                _sync(stream)
        with _locked(target.parent):
            for other in existing_directory(target).glob("*"):
                if other.name not in files:
                    copy = shutil.copytree if other.is_dir() else shutil.copy2
                    copy(other, unfinished / other.name)
            _sync_directory(unfinished)
            if target.exists():
                _keep_mode(target, unfinished)
                if previous.exists():
                    shutil.rmtree(previous)
                os.rename(target, previous)
            os.rename(unfinished, target)
            _sync_directory(target.parent)
            if previous.exists():
                shutil.rmtree(previous)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        _rename_in(error, str(unfinished), path)
        raise


def existing_directory(path: Path) -> Path:
    """The directory itself, or the old one if replacing it was cut short."""
    target = Path(os.path.realpath(path))
    previous = target.with_name(target.name + _PREVIOUS)
    return previous if not target.exists() and previous.is_dir() else path


def _rename_in(error: BaseException, unfinished: str, path: PathLike) -> None:
    """Let an error name what the user asked for, and not what is written first, or nothing at all."""
    if isinstance(error, OSError) and (str(error.filename).startswith(unfinished) or error.errno in _NO_ROOM):
        error.filename, error.filename2 = os.fspath(path), None


def _unused_name(target: str) -> str:
    """A hidden name in the same folder."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:_SHOWN]}.{os.urandom(8).hex()}.unfinished")


def _put(unfinished: str, target: str) -> None:
    """Give a complete file its name, and the permissions of the file that had it before."""
    _keep_mode(target, unfinished)
    os.replace(unfinished, target)


def _keep_mode(old: PathLike, new: PathLike) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(old).st_mode)
        if mode != stat.S_IMODE(os.stat(new).st_mode):  # some file systems refuse changes
            os.chmod(new, mode)


def _sync(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _sync_directory(path: PathLike) -> None:
    """Make renames in a directory last, where the system can do that."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # Windows cannot open directories
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: PathLike) -> Iterator[None]:
    """Keep other programs from replacing directories in a folder, where the system can lock it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # network file systems without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
