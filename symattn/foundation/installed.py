"""What is installed, and where: version, package, fonts, templates; and by what machines write the same bytes."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

VERSION = "0.1.0"
"""Also written in every frozen exam."""

PACKAGE = Path(__file__).resolve().parents[1]


def templates(package: Path = PACKAGE) -> Path:
    """The folder of templates: inside the package where one was built, else beside it, as in a checkout."""
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def fonts() -> Path:
    """The folder of the fonts that pages are made with, with their licences."""
    return PACKAGE / "page" / "fonts"


PACKAGES = ("sympy", "typst", "jinja2", "pypdf", "polib")
"""Whatever else the bytes of a page depend on."""


@cache
def software() -> dict[str, str]:
    """Versions by name, and digests of symattn's files and of the user's own in `SYMATTN_PATH`."""
    from symattn.foundation.additions import VARIABLE

    added = [Path(root) for root in os.environ.get(VARIABLE, "").split(os.pathsep) if root]
    return {
        "symattn": VERSION,
        "files of symattn": _files(PACKAGE),
        "templates": _files(templates()),
        f"files in {VARIABLE}": "-".join(map(_files, added)) or "none",
        **{name: _version(name) for name in PACKAGES},
    }


def _files(folder: Path) -> str:
    """A digest of the files of a folder and those below it; what Python compiles does not count."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # most runs need no versions

    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
