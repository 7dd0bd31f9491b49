"""A command run in this process, and what it left in a folder."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from symattn.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
