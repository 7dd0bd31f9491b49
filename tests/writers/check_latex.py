"""Everything that is wrong with a document as LaTeX: `complaints(document)` compiles it with every TeX there is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from symattn.document import Document
from symattn.errors import InputError
from symattn.writers import latex, pdf

ENGINES = ("pdflatex", "lualatex")
_TROUBLE = re.compile(
    r"^(?:Overfull|Missing character|.*[Uu]ndefined|LaTeX(?: Font)? Warning|Class \w+ Warning|Package \w+ Warning).*",
    re.MULTILINE,
)
_HARMLESS = re.compile(r"Font shape .* (?:undefined|not available)|Some font shapes|size substitutions")


def engines() -> dict[str, Path]:
    """The embedded TeX, and those that are installed."""
    found = {"embedded": pdf._embedded_engine()} | {
        name: Path(path) if (path := shutil.which(name)) else None for name in ENGINES
    }
    return {name: path for name, path in found.items() if path}


def complaints(document: Document) -> list[str]:
    source = latex.write(document)
    return [f"{name}: {line}" for name, engine in engines().items() for line in trouble(source, engine)]


def trouble(source: str, engine: Path) -> Iterator[str]:
    """What one TeX says of a source."""
    try:
        data, log = pdf.latex_pdf(source, engine)
    except InputError as error:
        yield str(error)
        return
    if not data.startswith(b"%PDF"):
        yield "what came out is no PDF"
    for line in _TROUBLE.findall(log):
        if not _HARMLESS.search(line):
            yield line
