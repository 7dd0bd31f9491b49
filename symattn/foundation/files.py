"""Files that people name, read as text or TOML within limits, what is wrong being one sentence; and zips."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from symattn.errors import InputError

LARGEST = 64 * 2**20  # bytes; an `exam.json` of 500 papers has a tenth
DEEPEST = 16
"""How deep a key of TOML, `a.b.c`, may go; one of ours has three parts."""


def read_text(path: Path, named: str = "", where: str = "") -> str:
    """A text file in UTF-8; `InputError` if it is not there, is no text, or has no end.

    Messages call it `named`, by default "file notes.toml", and looked for `where`.
    """
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
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The {named} is not text in UTF-8 (byte {error.start}).") from error


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
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|' r"'''.*?(?:'''|\Z)|" r'"(?:\\.|[^"\\\n])*+"?|' r"'[^'\n]*+'?|#[^\n]*",
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
