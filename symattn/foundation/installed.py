"""Where symattn's own files lie: the package, and the templates of its pages, which a checkout has beside it."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def templates(package: Path = PACKAGE) -> Path:
    """The folder of templates: inside the package where one was built, else beside it, as in a checkout."""
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"
