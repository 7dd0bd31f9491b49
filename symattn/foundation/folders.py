"""Folders that are written to: by one run at a time, and every file whole or not at all."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from symattn.errors import InputError

_LOG = logging.getLogger("symattn")

LOCK = ".lock"
PAUSE = 0.1  # seconds between two looks at a lock that another run has
MOST_VANISHED = 1000  # how often a folder may vanish before it is locked


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """While it lasts, no other run writes to the folder, on this computer or, where it is shared, on another.

    Another run that is writing there is waited for, and the log says so.  The lock is the system's, on an open file:
    a run that was killed holds none.  The folder is made if need be, and taken away again if it is left empty.
    `InputError` if it cannot be written to.
    """
    new = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        held = _locked(folder)
    except OSError as error:
        raise InputError(f"Nothing can be written to the folder {folder}: {error.strerror}.") from error
    try:
        yield
    finally:
        _release(held, folder / LOCK)
        remove_empty(new)


def remove_empty(folders: Iterable[Path]) -> None:
    """Take away those of the folders in which there is nothing, the innermost first."""
    for folder in folders:
        with suppress(OSError):  # it is not empty, or another run has taken it away already
            folder.rmdir()


@contextmanager
def staging_in(folder: Path, name: str) -> Iterator[Path]:
    """A folder in another one, for files that are being made: empty at first, and gone in the end.

    What a run that was killed left there is thrown away, so this is for who is `alone_in` the folder; the name is made
    longer by something of its own, so that a process which that run started does not write here.  `InputError` if the
    folder cannot be written to.
    """
    new = [] if folder.exists() else [folder]
    try:
        folder.mkdir(exist_ok=True)
        for old in folder.glob(f"{name}*"):
            shutil.rmtree(old, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))
    except OSError as error:
        raise InputError(f"Nothing can be written to the folder {folder}: {error.strerror}.") from error
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        remove_empty(new)


def put(path: Path, content: bytes, staging: Path) -> None:
    """Write a file whole or not at all."""
    part = staging / "part"
    with part.open("xb") as file:
        file.write(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    part.replace(path)


def put_new(path: Path, content: bytes, staging: Path) -> None:
    """The same for a file that must not be there yet, on disk when this returns; `FileExistsError` otherwise."""
    part = staging / "part"
    _write_new(part, content)
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except (OSError, AttributeError):  # a file system, or in a browser a Python, without links
        _write_new(path, content)
    finally:
        part.unlink()  # else what is written to it next would be written to the file


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


# ------------------------------------------------------------------------------------------------ the lock


def _locked(folder: Path) -> int:
    """The lock file of a folder, open and locked."""
    path, told, vanished = folder / LOCK, False, 0
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except (FileNotFoundError, FileExistsError):  # who was here before may just have taken the empty folder away
            vanished += 1
            if vanished == MOST_VANISHED:
                raise
            continue
        try:
            taken = _take(held)
            if taken and _still_there(held, path):
                return held
        except BaseException:
            os.close(held)
            raise
        os.close(held)
        if not taken:
            if not told:
                _LOG.warning("Another run is writing to %s; this one waits until it has finished.", folder)
                told = True
            time.sleep(PAUSE)


def _still_there(held: int, path: Path) -> bool:
    """Whether the file is the one of that name: who had it before takes it away."""
    try:
        return os.path.samestat(os.fstat(held), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(held: int) -> bool:
        try:
            msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _release(held: int, path: Path) -> None:
        os.close(held)
        with suppress(OSError):  # another run has it open, and takes it away in its turn
            path.unlink()

else:
    import fcntl

    def _take(held: int) -> bool:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(held: int, path: Path) -> None:
        with suppress(OSError):  # before it is released, so that no other run locks a file that is about to vanish
            path.unlink()
        os.close(held)
