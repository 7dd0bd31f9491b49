"""What would be compiled anew at every start, kept compiled in the user's cache folder: methods and templates.

`dataclasses` writes the methods of each class as text and executes that: some two thousand texts, a quarter of the
time in which a first worksheet is there.  What is kept is found by its text, for one version of Python, so it is never
stale.
"""

from __future__ import annotations

import atexit
import dataclasses
import marshal
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from symattn.foundation import remembered

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
        codes = _read(self.file)
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
            remembered.put(self.file, _sum_of(content) + content)
        self.known = len(self.codes)


def _sum_of(content: bytes) -> bytes:
    return crc32(content).to_bytes(_SIZE, "big")


def _read(file: Path) -> dict[str, bytes]:
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
    folder = remembered.folder()
    return Compiled(folder / f"code-{remembered.place()}.bin") if folder else None


def keep_methods() -> Compiled | None:
    """From here on, methods come from what is kept; new ones are kept when this process ends, or when that is told to.

    None if there is no folder for it.
    """
    if (compiled := kept()) is None:
        return None
    dataclasses.exec = compiled.execute  # type: ignore[attr-defined]  # it stands before the builtin of this name
    atexit.register(compiled.keep)
    return compiled
