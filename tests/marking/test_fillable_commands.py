"""Forms written, filled in and graded from the command line, and filled in by other programs (PDFium, pdf.js)."""

import json
import os
import subprocess
from io import BytesIO
from pathlib import Path

import browser
import pytest
from commands import run
from forms import MILLIMETRE, boxes, texts_of, typed
from sentences import refused_saying
from test_submissions_markdown import agree, numbers_only, question
from test_submissions_pdf import form

from symattn.foundation.identity import identity
from symattn.marking.submissions import read_submission
from symattn.page.presentation import make_look
from symattn.page.writers import html
from symattn.teaching.explanation.documents import question_document

# One query, two keys, no scale: S = [1 0], A = [e/(e+1) 1/(e+1)], Z = [(e+2)/(e+1)]; 7 marks.
PROBLEM = 'mechanism = "attention"\nscale = "none"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
RIGHT = {"1/grid/1/1/1": "1", "1/grid/1/1/2": "0", "2/grid/1/1/1": "e/(e+1)", "2/grid/1/1/2": "1/(1+e)",
         "3/grid/1/1/1": "(e+2)/(e+1)"}  # fmt: skip
# The softmax left out.
WRONG = RIGHT | {"2/grid/1/1/1": "1", "2/grid/1/1/2": "0", "3/grid/1/1/1": "1"}
SAME = "S = [[1, 0]]\nA = [[1, 0]]\nZ = [[1]]\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("problem.toml").write_text(PROBLEM, "utf-8")
    return tmp_path


def filled(path, texts, into):
    form = Path(path).read_bytes()
    sheet = boxes(form)[0].name.partition("/")[0]
    Path(into).write_bytes(typed(form, {f"{sheet}/{where}": text for where, text in texts.items()}))


def test_a_problem_as_a_form_is_checked(folder):
    made = run("derive", "problem.toml", "--as", "worksheet", "--format", "pdf", "--fillable", "--out", "made")
    assert made.exit_code == 0, made.output
    filled("made/problem-worksheet.pdf", RIGHT, "right.pdf")
    filled("made/problem-worksheet.pdf", WRONG, "wrong.pdf")
    assert run("check", "problem.toml", "right.pdf", "--exit-code").exit_code == 0
    assert run("check", "problem.toml", "wrong.pdf", "--exit-code").exit_code == 1
    Path("same.toml").write_text(SAME, "utf-8")
    marked = [run("check", "problem.toml", file, "--format", "json").output for file in ("wrong.pdf", "same.toml")]
    form, text = (json.loads(output)["questions"] for output in marked)
    assert form == text


def test_a_look_is_fillable_or_not():
    assert make_look(fillable=True).fillable
    with refused_saying("fillable is 'yes'; true or false was expected"):
        make_look(fillable="yes")


# ---------------------------------------------------------------------------------------- filled in by other programs

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
