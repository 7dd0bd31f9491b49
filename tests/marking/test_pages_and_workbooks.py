"""What browsers, learning platforms and spreadsheets save: web pages, workbooks, CSV of Windows."""

import io
import quopri
import re
import zipfile
from functools import cache
from xml.sax.saxutils import quoteattr

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import decimals, key_of, marked, texts
from sentences import refused_saying
from trials import tries

from symattn.api import make_recipe
from symattn.foundation.identity import identity
from symattn.marking.submissions import read_submission, sheet_of
from symattn.marking.submissions.files import decoded, form_of
from symattn.marking.submissions.names import Names
from symattn.marking.submissions.office import workbook_text
from symattn.marking.submissions.webpage import as_markdown
from symattn.page.document import Document, FillIn, FillIns, Words
from symattn.page.writers import html
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.sheets import sheets

SHEET = identity("a sheet")


@cache
def question(mechanism="attention"):
    (sheet,) = sheets(make_recipe(mechanism, seed=1), 1)
    return sheet.question


@cache
def key(mechanism="attention"):
    return texts(key_of(question(mechanism)), decimals(4))


def all_right(content, form="", mechanism="attention"):
    """Whether all of the key was read, with nothing to be said of it."""
    [attempt] = read_submission(content, [question(mechanism)], form=form).attempts
    report = marked(question(mechanism), attempt)
    wrong = [event for event in report.events if event.kind != "rounding"]
    return report.total == report.available and not (wrong or attempt.remarks)


# ------------------------------------------------------------------------------------ web pages


def blank(mechanism="attention"):
    return html.write(question_document(question(mechanism), SHEET, "symattn worksheet x"))


def saved(mechanism="attention"):
    """The sheet as a browser saves it: what was typed stands in attributes."""
    page = blank(mechanism)
    inputs = iter(re.findall(r'<input type="text"[^>]*>', page))
    heads = iter(["Ada", "17"])
    entries = iter([x for rows in key(mechanism).values() for row in rows for x in row])

    def typed(found):
        text = next(heads, "") if 'class="line"' in next(inputs) else next(entries)
        return f"{found[0]} value={quoteattr(text)}"

    return re.sub(r'<input type="text"', typed, page)


SIGNED = ("attention", "layer_norm", "rms_norm", "kv_cache", "multi_head_gradient", "recurrent_network",
          "online_softmax", "linear_attention", "positional_encoding", "rotary_attention")  # fmt: skip


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("mechanism", SIGNED)
def test_a_sheet_filled_in_in_a_browser_earns_everything(mechanism):
    """Of mechanisms with signs of all kinds, so that they are found again: N̂ is not N."""
    assert all_right(saved(mechanism), "html", mechanism)
    [attempt] = read_submission(blank(mechanism), [question(mechanism)]).attempts
    assert (dict(attempt.answers), attempt.remarks) == ({}, ())


def archived(page):
    """A page in a file of its own, as Chromium saves it (RFC 2557)."""
    boundary = "--MultipartBoundary--x"
    head = f'From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="{boundary}"'
    part = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\nContent-Location: file:///sheet.html"
    body = quopri.encodestring(page.encode()).decode()
    return f"{head}\n\n\n--{boundary}\n{part}\n\n{body}\n--{boundary}--\n".encode()


def test_a_page_saved_as_a_single_file_is_the_same_page():
    assert all_right(archived(saved()))
    found = read_submission(archived(saved()), [question()])
    assert (found.sheet, found.name, found.student) == (SHEET, "Ada", "17") == sheet_of(archived(saved()))
    assert sheet_of(saved()) == (SHEET, "Ada", "17")
    for text in ("From: Ada\nQ = [[1]]", "From: x\nContent-Type: multipart/related\n\nQ = [[1]]", "MIME-Version: 1.0"):
        assert decoded(text) == text


@pytest.mark.parametrize("number", ["1815", "18 15", "A1815", ""])
def test_a_number_typed_into_boxes_for_single_characters_is_one(number):
    fields = FillIns((FillIn((Words("Name"),)), FillIn((Words("Student ID"),), boxes=6), FillIn((Words("Seat"),))))
    page = html.write(Document("Exam", (fields,), sheet="1KSW-X03Y"))
    name, *boxes = re.findall("<input [^>]*>", page)
    for box, typed in [(name, "Ada Lovelace"), *zip(boxes, number, strict=False)]:
        page = page.replace(box, box.replace("<input", f'<input value="{typed}"'))
    assert sheet_of(page) == ("1KSW-X03Y", "Ada Lovelace", number.replace(" ", ""))


def test_what_was_typed_into_the_space_of_an_empty_part_is_told():
    text = re.sub(r"(<textarea[^>]*>)", r"\1so it goes", blank(), count=1)
    [attempt] = read_submission(text, [question()]).attempts
    assert ["so it goes" in remark.says for remark in attempt.remarks] == [True]


@tries(25)
@given(st.text(alphabet="<>/ab\"'= tdrhinput&;!-", max_size=200))
def test_any_page_is_taken_apart(text):
    assert isinstance(as_markdown(text), str)
    assert form_of("<!DOCTYPE html>" + text) == "html"


# ------------------------------------------------------------------------------------ workbooks


def workbook(sheets):
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(out)
    return out.getvalue()


def test_workbooks_on_one_sheet_or_with_a_sheet_for_every_part():
    rows = [["Name", "Ada"], ["Sheet", SHEET], []]
    for name, matrix in key().items():
        rows += [[name], *map(list, matrix), []]
    rows[4] = [float(x) for x in rows[4]]
    whole = workbook({"Sheet1": rows})
    assert all_right(whole)
    found = read_submission(whole, [question()])
    assert (found.name, found.sheet) == ("Ada", SHEET)
    assert all_right(workbook({name.replace("'", "′"): rows for name, rows in key().items()}))


@pytest.mark.parametrize(
    ("name", "content", "form", "says"),
    [
        ("xl/workbook.xml", b"<broken", "csv", "workbook cannot be read"),
        ("word/document.xml", b"<broken", "", "document cannot be read"),
        ("word/document.xml", b"<!DOCTYPE x [<!ENTITY a '1'>]><x>&a;</x>", "", "document cannot be read"),
        ("word/document.xml", b" " * 21_000_000, "", "20 MB"),
        ("mimetype", b"", "", "save it as .docx, .odt or plain text"),
        ("xl/workbook.xml", b" " * 21_000_000, "csv", "20 MB"),
    ],
    ids=["broken", "a broken document", "entities", "a document of 20 MB", "another document", "20 MB"],
)
def test_other_zips_and_broken_workbooks_are_refused(name, content, form, says):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    with refused_saying(says):
        read_submission(out.getvalue(), [question()], form=form)


def test_all_sheets_and_all_columns_of_a_workbook_are_read():
    """A sheet for each of many steps, and many matrices side by side: nothing is cut off."""
    many = {f"step {k}": [[1000 + k]] for k in range(60)} | {"wide": [[*range(2000, 2200)]]}
    written = {str(value) for rows in many.values() for row in rows for value in row}
    assert written <= set(re.findall(r"\d+", workbook_text(workbook(many))))


@pytest.mark.parametrize("book", [{f"step {k}": [[1]] for k in range(101)}, {"A": [[1] * 301]}, {"A": [[1]] * 2001}])
def test_a_workbook_with_more_than_could_be_answers_is_refused(book):
    with refused_saying("more than 100 sheets, or one with more than 2000 rows or 300 columns"):
        workbook_text(workbook(book))


@pytest.mark.parametrize(("encoding", "mark"), [("cp1252", ";"), ("utf-8-sig", ","), ("utf-16", "\t")])
def test_csv_as_excel_saves_it(encoding, mark):
    blocks = (f"{name}\n" + "\n".join(mark.join(row) for row in rows) for name, rows in key().items())
    text = f"Name{mark}Zoë Müller\n\n" + "\n\n".join(blocks)
    content = text.replace("\n", "\r\n").encode(encoding)
    assert all_right(content, "csv")
    assert read_submission(content, [question()], form="csv").name == "Zoë Müller"


def test_gradients_are_not_taken_for_what_they_are_gradients_of():
    names = Names(question("self_attention_gradient"))
    for name in ("dV", "∂V", "dL/dV", "∂L/∂V", "∇V", "\\frac{\\partial L}{\\partial V}", "gradient of V"):
        assert names.find(name) == "dV", name
    assert names.find("V") == "V"
