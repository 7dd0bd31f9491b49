"""Sheets that other programs filled in and saved: Chromium pages and forms (PDFium), Firefox forms (pdf.js)."""

import json
import os
import subprocess
from io import BytesIO
from pathlib import Path

import browser
import pytest
from forms import MILLIMETRE, boxes, texts_of, typed
from test_submissions_markdown import agree, numbers_only, question
from test_submissions_pdf import form

from symattn.foundation.identity import identity
from symattn.marking.submissions import read_submission
from symattn.page.writers import html
from symattn.teaching.explanation import question_document

NAMES = ("full", "choice")
SIGNS = ("−1/2", "√3/2", "1,5", "e^-1/(1 + e)")
"""Ways of writing numbers that a font or an encoding may not have."""


def texts(name):
    """What is typed into which field: something into every part, and everything that may be lost on its way."""
    q = question(name)
    sheet = identity(q.frozen)
    found = texts_of(sheet, [q], [numbers_only(q)], letters=False) | {f"{sheet}/head/Name": "Zoë Łuk"}
    cells = [field for field in found if "/grid/" in field and found[field] != "x"]
    return found | dict(zip(cells, SIGNS, strict=False))


def is_read(name, filled, source):
    """What is read is what was typed, field by field, as it is where a form is filled in by hand."""
    q = question(name)
    expected = read_submission(typed(form(name), texts(name)), [q])
    found = read_submission(filled, [q], source=source)
    agree(found.attempts[0], expected.attempts[0])
    assert found.attempts[0].answers
    assert (found.sheet, found.name) == (identity(q.frozen), "Zoë Łuk")
    assert not found.remarks
    assert not found.attempts[0].remarks


def in_pdfium(data, told):
    """A form filled in with the mouse and the keyboard."""
    import pypdfium2
    from pypdfium2 import raw

    document = pypdfium2.PdfDocument(data)
    document.init_forms()
    fields = document.formenv.raw
    for number in range(len(document)):
        page = document[number]
        for box in boxes(data):
            if box.page != number or box.name not in told:
                continue
            text = told[box.name]
            x, y = (MILLIMETRE * (low + high) / 2 for low, high in ((box.left, box.right), (box.low, box.high)))
            raw.FORM_OnMouseMove(fields, page.raw, 0, x, y)
            raw.FORM_OnLButtonDown(fields, page.raw, 0, x, y)
            raw.FORM_OnLButtonUp(fields, page.raw, 0, x, y)
            for letter in text if text != "x" else "":
                raw.FORM_OnChar(fields, page.raw, ord("\r" if letter == "\n" else letter), 0)
        raw.FORM_ForceToKillFocus(fields)
    done = BytesIO()
    document.save(done)
    return done.getvalue()


def in_node(runner, *arguments):
    command = ["node", str(Path(__file__).with_name(runner)), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CHROMIUM": browser.chromium()})
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_form_that_chrome_filled_in_is_read(name):
    pytest.importorskip("pypdfium2")
    is_read(name, in_pdfium(form(name), texts(name)), "a.pdf")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_form_that_firefox_filled_in_is_read(name, tmp_path):
    if lacking := browser.missing_of_node("pdfjs-dist/legacy/build/pdf.mjs"):
        pytest.skip(lacking)
    blank, told, into = (tmp_path / file for file in ("blank.pdf", "texts.json", "filled.pdf"))
    blank.write_bytes(form(name))
    told.write_text(json.dumps(texts(name)), "utf-8")
    in_node("filled_form.cjs", blank, told, into)
    is_read(name, into.read_bytes(), "a.pdf")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[1:])
def test_a_page_that_was_filled_in_and_saved_is_read(name, tmp_path):
    """Browsers save a page as it was loaded; without its script, all that was typed would be gone."""
    if lacking := browser.missing("playwright-core"):
        pytest.skip(lacking)
    q = question(name)
    page, told = tmp_path / "sheet.html", tmp_path / "texts.json"
    page.write_text(html.write(question_document(q, identity(q.frozen), "symattn worksheet x")), "utf-8")
    typed_in = texts(name)
    told.write_text(json.dumps([typed_in.get(box.name, "") for box in boxes(form(name))]), "utf-8")
    said = json.loads(in_node("filled_page.cjs", page, told))
    for way in ("kept", "saved"):
        is_read(name, said[way], "a.html")
    assert identity(q.frozen) in said["name"]
