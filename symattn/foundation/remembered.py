"""What was made of symattn's own files, kept for the next time in the user's cache folder.

It is never stale: a digest of everything in the package, and the version of Python, are kept with it, and what does not
match is made anew.  `SYMATTN_CACHE` names another folder; where it is empty, nothing is kept, and neither is anything
where folders of the user's are read as well (`SYMATTN_PATH`).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from symattn.foundation.additions import VARIABLE
from symattn.foundation.installed import PACKAGE

T = TypeVar("T")
BYTECODE = "__pycache__"
FOLDER = "SYMATTN_CACHE"


def remembered(group: str, name: str, make: Callable[[], T]) -> T:
    """What `make` gives, which is JSON, or what it gave the last time; what belongs to a group is read at once."""
    kept_in = folder()
    if kept_in is None or os.environ.get(VARIABLE) or not (state := installation()):
        return make()
    file = kept_in / f"{group}-{place()}.json"
    kept = _read(file, state)
    if name not in kept:
        kept[name] = json.loads(json.dumps(make()))
        if _digest() == state:  # no file has changed meanwhile
            with suppress(OSError):  # where it cannot be kept, it is made again the next time
                put(file, json.dumps({"state": state, "kept": kept}).encode())
    known: T = kept[name]
    return known


def folder() -> Path | None:
    """Where things are kept; None if there is no such place."""
    named = os.environ.get(FOLDER)
    if named is not None:
        return Path(named) if named else None
    try:
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"]) / "symattn" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "symattn"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "symattn"
    except (KeyError, RuntimeError):  # there is no home folder
        return None


@cache
def installation() -> str:
    """The digest of this installation as it was when it was first asked for."""
    return _digest()


def place() -> str:
    """Which installation this is, and of which Python, in short."""
    return hashlib.blake2b(f"{PACKAGE} {sys.version}".encode(), digest_size=4).hexdigest()


def _digest() -> str:
    """Of every file of the package, and of the version of Python; "" if they cannot be read, as in an archive."""
    known = hashlib.blake2b(sys.version.encode())
    try:
        for file in _files(str(PACKAGE)):
            content = Path(file).read_bytes()
            known.update(f"{file}\0{len(content)}\0".encode())
            known.update(content)
    except OSError:
        return ""
    return known.hexdigest()


def _files(folder: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.is_dir():
            yield entry.path
        elif entry.name != BYTECODE:
            yield from _files(entry.path)


def _read(file: Path, state: str) -> dict[str, Any]:
    try:
        known = json.loads(file.read_bytes())
        return dict(known["kept"]) if known["state"] == state else {}
    except (OSError, ValueError, KeyError, TypeError):  # not there, or not as it was written
        return {}


def put(file: Path, content: bytes) -> None:
    """Write a file of the cache, whole or not at all."""
    part = file.with_suffix(f".{os.getpid()}")
    file.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(content)
    part.replace(file)
