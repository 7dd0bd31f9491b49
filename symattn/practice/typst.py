"""PDF on the page for teachers: Typst as npm's package has it for browsers, and the fonts that it prints with.

The compiler (Apache-2.0) is not part of symattn: its two files come from a folder, are known by their hashes, and are
used as they are.  The fonts are those that the Python package typst has in it, and symattn's own for Chinese.
"""

from __future__ import annotations

import importlib.util
import re
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.files import zipped
from symattn.page.resources import fonts
from symattn.practice.engine import from_npm, packed

PACKAGE, VERSION = "@myriaddreamin/typst-ts-web-compiler", "0.7.0"
SCRIPT, WASM = "pkg/typst_ts_web_compiler.mjs", "pkg/typst_ts_web_compiler_bg.wasm"
HASHES: Mapping[str, str] = {
    SCRIPT: "96735c6da3dd220255ba368e34c695227fc67e0b4104e7a8e039dd9bc2fc5312",
    WASM: "1fc968438a672366dfec39c96c842c26ed29caff4eb1bcaab19a6c60867de5fd",
}
FAMILIES = ("Libertinus Serif", "NewComputerModern10", "NewComputerModernMath", "DejaVu Sans Mono")
"""What `templates/document.typ.j2` prints with, by the beginnings of the names of fonts."""

LICENCES = (
    f"Typst for browsers, npm's package {PACKAGE} {VERSION}: Apache License 2.0 "
    "(https://www.apache.org/licenses/LICENSE-2.0).  Its source is at https://github.com/Myriad-Dreamin/typst.ts; its "
    "files are used unchanged, under other names.",
    "The fonts of PDF: New Computer Modern (GUST Font License, https://www.gust.org.pl/projects/e-foundry/licenses), "
    "Libertinus Serif (SIL Open Font License, https://openfontlicense.org), DejaVu Sans Mono "
    "(https://dejavu-fonts.github.io/License.html), and Symattn Han, part of Source Han Serif (SIL Open Font License).",
)


def typst(folder: Path, kept: bytes = b"") -> dict[str, bytes]:
    """The files of the page by name; `InputError` where one is missing, or is not of this version.

    `kept` is the compiler as it was packed before.
    """
    files = {}
    for name, expected in HASHES.items():
        files[name] = from_npm(folder, name, PACKAGE, VERSION, "--typst")
        if sha256(files[name]).hexdigest() != expected:
            raise InputError(f"{name} from {folder} is not that of {PACKAGE} {VERSION}, which this symattn goes with.")
    return {
        "teacher-typst.js": files[SCRIPT],
        "teacher-typst.bin": packed(files[WASM], kept),
        "teacher-fonts.bin": zipped(
            (*embedded_fonts().items(), *((p.name, p.read_bytes()) for p in fonts().glob("*.otf")))
        ),
    }


# ------------------------------------------------------------------------------------------------ fonts


def embedded_fonts() -> dict[str, bytes]:
    """The fonts inside the installed package typst, by their file names; `InputError` if they are not found."""
    package = importlib.util.find_spec("typst")
    binaries = Path(package.origin).parent.glob("_typst*") if package and package.origin else ()
    named = {name: font for path in binaries for name, font in _fonts_in(path.read_bytes())}
    chosen = {f"{name.replace(' ', '-')}.otf": font for name, font in named.items() if name.startswith(FAMILIES)}
    if missing := [family for family in FAMILIES if not any(name.startswith(family) for name in named)]:
        raise InputError(f"The package typst that is installed has no font {missing[0]}, with which PDF is printed.")
    return dict(sorted(chosen.items()))


_BEGINNING = re.compile(rb"OTTO|\x00\x01\x00\x00")
_TAG = re.compile(rb"[!-~]{2,4} *")
_FULL_NAME, _UNICODE = 4, (0, 3)
_MOST_TABLES, _LARGEST = 40, 2**23


def _fonts_in(binary: bytes) -> Iterator[tuple[str, bytes]]:
    """Fonts in OpenType's format, found by their tables of contents (OpenType 1.9, "Table directory")."""
    for beginning in _BEGINNING.finditer(binary):
        start = beginning.start()
        (count,) = struct.unpack_from(">H", binary, start + 4)
        if not 5 <= count <= _MOST_TABLES:
            continue
        tables = [struct.unpack_from(">4s4xII", binary, start + 12 + 16 * k) for k in range(count)]
        tags = [tag for tag, _, _ in tables]
        end = max(offset + length for _, offset, length in tables)
        if tags == sorted(tags) and b"name" in tags and all(map(_TAG.fullmatch, tags)) and end <= _LARGEST:
            font = binary[start : start + end]
            offset = next(offset for tag, offset, _ in tables if tag == b"name")
            yield _full_name(font[offset:]), font


def _full_name(table: bytes) -> str:
    """The name of a font as its table of names has it (OpenType 1.9, "name")."""
    count, storage = struct.unpack_from(">2xHH", table)
    for k in range(count):
        platform, kind, length, offset = struct.unpack_from(">H4xHHH", table, 6 + 12 * k)
        if kind == _FULL_NAME:
            text = table[storage + offset : storage + offset + length]
            return text.decode("utf-16-be" if platform in _UNICODE else "latin-1")
    return ""
