"""What is installed, and where: the version, the package, and the templates, which a checkout has beside it."""

from __future__ import annotations

from pathlib import Path

VERSION = "0.1.0"
"""Also written in every frozen exam."""

PACKAGE = Path(__file__).resolve().parents[1]


def templates(package: Path = PACKAGE) -> Path:
    """The folder of templates: inside the package where one was built, else beside it, as in a checkout."""
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"
