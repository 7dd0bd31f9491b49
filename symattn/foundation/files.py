"""Files and folders: what people name is read within limits, whatever is wrong with it being one sentence; what is
written is whole or not there at all, by one run at a time; and zips, the same bytes for the same files.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from symattn.errors import InputError

_LOG = logging.getLogger("symattn")

LARGEST = 64 * 2**20  # bytes; an `exam.json` of 500 papers has a tenth
DEEPEST = 16
"""How deep a key of TOML, `a.b.c`, may go; one of ours has three parts."""


def read_text(path: Path, named: str = "", where: str = "") -> str:
    """A text file in UTF-8; `InputError` if it is not there, is no text, or has no end.

    Messages call it `named`, by default "file notes.toml", and looked for `where`.
    """
    content, named = read_bytes(path, named, where), named or f"file {path}"
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The {named} is not text in UTF-8 (byte {error.start}).") from error


def read_bytes(path: Path, named: str = "", where: str = "") -> bytes:
    """A file that is not too large; `InputError` as for a text."""
    named = named or f"file {path}"
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise InputError(f"There is no {named}{where}.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"The {named} cannot be read: {_reason(error)}.") from error
    if len(content) > LARGEST:
        raise InputError(f"The {named} is larger than {LARGEST // 2**20} MB.")
    return content


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file; one sentence if it isn't there or isn't TOML."""
    named = f"file {path}"
    return toml(read_text(path, named), f"The {named}")


def toml(text: str, where: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The contents of a TOML file; `InputError` begins with `where`.

    tomllib's time grows with the square of the depth of keys, so that depth is looked at before.
    """
    if _TOO_DEEP.search(_STRING.sub('""', text)):
        raise InputError(f"{where} has a key of more than {DEEPEST} parts.")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"{where} is nested too deep.") from error
    except ValueError as error:
        raise InputError(f"{where} has a number or a date that cannot be used: {error}.") from error


_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|' r"'''.*?(?:'''|\Z)|" r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?|' r"'[^'\n]*+'?|#[^\n]*",
    re.DOTALL,
)
_TOO_DEEP = re.compile(rf'(?<![\w"-])(?:[\w"-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}')


# Zips: the same bytes for the same files, which can be read where they are unpacked.

UNIX = 3
"""The system on which modes of files mean something."""


def zipped(files: Iterable[tuple[str, bytes]], level: int = 9) -> bytes:
    """A zip of files by their names, in their order, without a date."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED, compresslevel=level) as archive:
        for name, data in files:
            entry = ZipInfo(name)
            entry.create_system, entry.external_attr, entry.compress_type = UNIX, 0o644 << 16, ZIP_DEFLATED
            archive.writestr(entry, data)
    return whole.getvalue()


def zipped_texts(files: Iterable[tuple[str, str]]) -> bytes:
    """The same of texts."""
    return zipped((name, text.encode()) for name, text in files)


# Folders that are written to: by one run at a time, and every file whole or not at all.


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
