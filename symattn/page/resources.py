"""Where the files lie that pages are made with."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def fonts() -> Path:
    """The folder of fonts, with their licences."""
    return _HERE / "fonts"
