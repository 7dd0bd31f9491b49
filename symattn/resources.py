"""Where the files that ship with symattn lie: inside an installed package, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of templates."""
    shipped = _PACKAGE / "templates"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "templates"


def fonts() -> Path:
    """The folder of fonts, with their licences."""
    return _PACKAGE / "fonts"
