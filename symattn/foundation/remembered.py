"""What was made before, kept for the next time in the user's cache folder: what comes of symattn's own files, and code
that would be compiled anew at every start.

It is never stale: a digest of everything in the package, and the version of Python, are kept with it, and what does not
match is made anew.  `SYMATTN_CACHE` names another folder; where it is empty, nothing is kept, and neither is anything
where folders of the user's are read as well (`SYMATTN_PATH`).
"""

from __future__ import annotations

import atexit
import dataclasses
import hashlib
import json
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

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


# ------------------------------------------------------------------------------------------------ compiled
# `dataclasses` writes the methods of each class as text and executes that: some two thousand texts, a quarter of the
# time in which a first worksheet is there.  What is kept is found by its text, for one version of Python, so it is
# never stale.

MOST = 20_000
"""Texts that are kept; some 3,000 are in use, and others once were."""
_SIZE = 4


class Compiled:
    """Code as bytes, by what it was compiled from, as a file has it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.known = 0

    @cached_property
    def codes(self) -> dict[str, bytes]:
        """Read when the first class is made: help and lists make none."""
        codes = _read_codes(self.file)
        self.known = len(codes)
        return codes

    def execute(self, text: str, *names: dict[str, Any] | None) -> None:
        """What `exec` does."""
        if text not in self.codes:
            self.codes[text] = marshal.dumps(compile(text, "<string>", "exec"))
        exec(marshal.loads(self.codes[text]), *names)

    def keep(self) -> None:
        """Write what is new, whole or not at all; where it cannot be kept, it is compiled again the next time."""
        if "codes" not in vars(self) or len(self.codes) == self.known:
            return
        new = dict([*self.codes.items()][self.known :]) if len(self.codes) > MOST else self.codes
        content = marshal.dumps(new)
        with suppress(OSError):
            put(self.file, _sum_of(content) + content)
        self.known = len(self.codes)


def _sum_of(content: bytes) -> bytes:
    return crc32(content).to_bytes(_SIZE, "big")


def _read_codes(file: Path) -> dict[str, bytes]:
    try:
        content = file.read_bytes()
    except OSError:
        return {}
    is_whole = content[:_SIZE] == _sum_of(codes := content[_SIZE:])  # what is damaged could end the process
    compiled: dict[str, bytes] = marshal.loads(codes) if is_whole else {}
    return compiled


@cache
def kept() -> Compiled | None:
    """What is kept; None if there is no folder for it."""
    kept_in = folder()
    return Compiled(kept_in / f"code-{place()}.bin") if kept_in else None


def keep_methods() -> Compiled | None:
    """From here on, methods come from what is kept; new ones are kept when this process ends, or when that is told to.

    None if there is no folder for it.
    """
    if (compiled := kept()) is None:
        return None
    dataclasses.exec = compiled.execute  # type: ignore[attr-defined]  # it stands before the builtin of this name
    atexit.register(compiled.keep)
    return compiled
