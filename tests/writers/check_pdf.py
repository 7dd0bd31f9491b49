"""What is wrong with a document as PDF: what independent checkers, and a look at the page, complain about."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pdf_marks import MILLIMETRE, pages, tags

from symattn.page.writers.pdf import write_pdf

BESIDE = 1.0 * MILLIMETRE  # what stands so little in the margin is no overflow
LEFT, RIGHT = 17, 17  # margins in millimetres, at least
# Rules of `page` that complain of what is right: lengths of streams (by hand, and for qpdf), and widths of glyphs in
# fonts that consist of parts, as those of East Asian scripts do that belong to a machine.
FALSE_ALARMS = ("STREAM-LENGTH", "GLYPH-WIDTH")


def complaints(document):
    """Everything wrong with the PDF of this document."""
    data = write_pdf(document)
    again = [] if write_pdf(document) == data else ["The bytes differ when it is written again."]
    return [*again, *faults(data)]


def faults(data):
    """Everything wrong with a PDF."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "document.pdf"
        path.write_bytes(data)
        return [*_of_checkers(path), *_of_tags(data), *_of_pages(data), *_of_margins(path)]


def _of_checkers(path):
    import page
    import pdfua

    for profile in (page.ValidationProfile.PDF_UA_1, page.ValidationProfile.PDF_A_2A):
        for failure in page.validate_pdf(path, profile=profile).failures:
            if not any(rule in failure.rule_id for rule in FALSE_ALARMS):
                yield f"page, {profile.name}: {failure.rule_id}: {failure.message}"
    for finding in pdfua.validate(path).findings:
        yield f"pdfua: {finding.rule_id}: {finding.message}"
    if qpdf := shutil.which("qpdf"):
        done = subprocess.run([qpdf, "--check", path], capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"qpdf: {done.stdout} {done.stderr}"


def _of_tags(data):
    """Formulas and figures without words, and a document without language or title."""
    for kind, alternative in tags(data):
        if kind in ("/Formula", "/Figure") and not alternative.strip():
            yield f"A {kind[1:]} has no alternative text."
    catalogue = pages(data)[0].pdf.trailer["/Root"]
    if not re.fullmatch(r"[a-z]{2,3}(-\w+)*", str(catalogue.get("/Lang", ""))):
        yield f"The language is {catalogue.get('/Lang')!r}."
    if not str((pages(data)[0].pdf.metadata or {}).get("/Title", "")):
        yield "There is no title."


def _of_pages(data):
    for number, page in enumerate(pages(data), 1):
        yield from (f"The font {name} on page {number} is not embedded." for name in _fonts_outside(page))


def _fonts_outside(page):
    for font in page["/Resources"].get("/Font", {}).values():
        for part in font.get_object().get("/DescendantFonts", [font]):
            descriptor = part.get_object().get("/FontDescriptor", {}).get_object()
            if not {"/FontFile", "/FontFile2", "/FontFile3"} & set(descriptor):
                yield str(part.get_object()["/BaseFont"])


_PAGE = re.compile(r'<page width="([\d.]+)" height="([\d.]+)">')
_WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')


def _of_margins(path):
    """Words that stand in a margin, where poppler says they stand."""
    if not (reader := shutil.which("pdftotext")):
        return
    boxes = subprocess.run([reader, "-bbox", path, "-"], capture_output=True, check=True).stdout.decode()
    size = (0.0, 0.0)
    for line in boxes.split("\n"):
        if found := _PAGE.search(line):
            size = (float(found[1]), float(found[2]))
        elif found := _WORD.search(line):
            left, top, right, bottom = map(float, found.groups()[:4])
            if left < LEFT * MILLIMETRE - BESIDE or right > size[0] - RIGHT * MILLIMETRE + BESIDE:
                yield f"{found[5]} stands in a margin ({left:.0f} to {right:.0f} of {size[0]:.0f} points)."
            if not 0 < (top + bottom) / 2 < size[1]:  # fonts of formulas are said to be much higher than their letters
                yield f"{found[5]} stands outside the page."
