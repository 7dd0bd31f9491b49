"""The methods of dataclasses, which Python compiles anew at every start, kept compiled in the user's cache folder.

`dataclasses` writes the methods of each class as text and executes that: some two thousand texts, a quarter of the
time in which a first worksheet is there.  What is kept is found by its text, for one version of Python, so it is never
stale.
"""

from __future__ import annotations

import atexit
import dataclasses
import marshal
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import CodeType
from typing import Any

from symattn.foundation import remembered

MOST = 20_000
"""Texts that are kept; some 3,000 are in use, and others once were."""
_SIZE = 16


class Compiled:
    """Code by the text that it was compiled from, as a file has it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.known = 0

    @cached_property
    def codes(self) -> dict[str, CodeType]:
        """Read when the first class is made: help and lists make none."""
        codes = _read(self.file)
        self.known = len(codes)
        return codes

    def execute(self, text: str, *names: dict[str, Any] | None) -> None:
        """What `exec` does."""
        if text not in self.codes:
            self.codes[text] = compile(text, "<string>", "exec")
        exec(self.codes[text], *names)

    def keep(self) -> None:
        """Write what is new, whole or not at all; where it cannot be kept, it is compiled again the next time."""
        if "codes" not in vars(self) or len(self.codes) == self.known:
            return
        new = dict([*self.codes.items()][self.known :]) if len(self.codes) > MOST else self.codes
        content = marshal.dumps(new)
        with suppress(OSError):
            remembered.put(self.file, blake2b(content, digest_size=_SIZE).digest() + content)
        self.known = len(self.codes)


def _read(file: Path) -> dict[str, CodeType]:
    try:
        content = file.read_bytes()
    except OSError:
        return {}
    digest, codes = content[:_SIZE], content[_SIZE:]
    whole = digest == blake2b(codes, digest_size=_SIZE).digest()  # what is damaged could end the process
    compiled: dict[str, CodeType] = marshal.loads(codes) if whole else {}
    return compiled


def keep_methods() -> Compiled | None:
    """From here on, methods come from what is kept; new ones are kept when this process ends, or when that is told to.

    None if there is no folder for it.
    """
    folder = remembered.folder()
    if folder is None:
        return None
    compiled = Compiled(folder / f"methods-{remembered.place()}.bin")
    dataclasses.exec = compiled.execute  # type: ignore[attr-defined]  # it stands before the builtin of this name
    atexit.register(compiled.keep)
    return compiled
