"""What browsers, learning platforms and spreadsheets save: web pages, workbooks, CSV of Windows."""

from __future__ import annotations

import io
import json
import quopri
import re
import zipfile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_free_text import Rows, key, lines, question, values
from trials import tries

import symattn
from symattn.errors import InputError
from symattn.foundation.identity import identity
from symattn.marking.attempt import Attempt, Submission
from symattn.marking.submissions import read_submission, sheet_of
from symattn.marking.submissions.files import decoded, form_of
from symattn.marking.submissions.names import Names
from symattn.marking.submissions.webpage import as_markdown
from symattn.page.document import Document, FillIn, FillIns, Words
from symattn.page.writers import html
from symattn.teaching.explanation import question_document

SHEET = identity("a sheet")


def read(content: str | bytes, form: str = "") -> Submission:
    return read_submission(content, [question()], form=form)


def is_key(attempt: Attempt) -> bool:
    return {name: values(said) for name, said in attempt.answers.items()} == key()


# ------------------------------------------------------------------------------------ web pages


def blank() -> str:
    return html.write(question_document(question(), SHEET, "symattn worksheet x"))


def saved() -> str:
    """The sheet as a browser saves it: what was typed stands in attributes."""
    entries = iter(["Ada", "17", "", *(entry for rows in key().values() for row in rows for entry in row)])
    return re.sub(r'<input type="text"', lambda found: f'{found[0]} value="{next(entries)}"', blank())


def test_a_sheet_filled_in_in_a_browser_is_read() -> None:
    found = read(saved())
    assert is_key(found.attempts[0])
    assert (found.sheet, found.name, found.student) == (SHEET, "Ada", "17") == sheet_of(saved())
    assert not found.attempts[0].remarks


def test_a_blank_sheet_holds_no_answer() -> None:
    [attempt] = read(blank()).attempts
    assert (dict(attempt.answers), attempt.remarks) == ({}, ())


def archived(page: str, boundary: str = "--MultipartBoundary--x") -> bytes:
    """A page in a file of its own, as Chromium saves it (RFC 2557)."""
    head = f'From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="{boundary}"'
    part = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\nContent-Location: file:///sheet.html"
    body = quopri.encodestring(page.encode()).decode()
    return f"{head}\n\n\n--{boundary}\n{part}\n\n{body}\n--{boundary}--\n".encode()


def test_a_page_saved_as_a_single_file_is_the_same_page() -> None:
    found = read(archived(saved()))
    assert is_key(found.attempts[0])
    assert (found.sheet, found.name, found.student) == (SHEET, "Ada", "17") == sheet_of(archived(saved()))


@pytest.mark.parametrize(
    "text", ["From: Ada\nQ = [[1]]", "From: x\nContent-Type: multipart/related\n\nQ = [[1]]", "MIME-Version: 1.0"]
)
def test_what_only_begins_like_one_is_a_text(text: str) -> None:
    assert decoded(text) == text


@pytest.mark.parametrize("number", ["1815", "18 15", "A1815", ""])
def test_a_number_typed_into_boxes_for_single_characters_is_one(number: str) -> None:
    fields = FillIns((FillIn((Words("Name"),)), FillIn((Words("Student ID"),), boxes=6), FillIn((Words("Seat"),))))
    page = html.write(Document("Exam", (fields,), sheet="1KSW-X03Y"))
    name, *boxes = re.findall("<input [^>]*>", page)
    for box, typed in [(name, "Ada Lovelace"), *zip(boxes, number, strict=False)]:
        page = page.replace(box, box.replace("<input", f'<input value="{typed}"'))
    assert sheet_of(page) == ("1KSW-X03Y", "Ada Lovelace", number.replace(" ", ""))


def test_what_was_typed_into_the_space_of_an_empty_part_is_told() -> None:
    text = re.sub(r"(<textarea[^>]*>)", r"\1so it goes", blank(), count=1)
    assert ["so it goes" in remark.says for remark in read(text).attempts[0].remarks] == [True]


def test_a_text_typed_into_a_learning_platform() -> None:
    tables = "".join(f"<p><b>{name}</b></p><table>{_table(rows)}</table>" for name, rows in key().items())
    assert is_key(read(tables, "html").attempts[0])
    paragraphs = "".join(f"<p>{name} =<br>{lines(rows, below='<br>')}</p>" for name, rows in key().items())
    assert is_key(read(paragraphs, "html").attempts[0])


def _table(rows: Rows) -> str:
    return "".join("<tr>" + "".join(f"<td>{entry}</td>" for entry in row) + "</tr>" for row in rows)


@tries(25)
@given(st.text(alphabet="<>/ab\"'= tdrhinput&;!-", max_size=200))
def test_any_page_is_taken_apart(text: str) -> None:
    assert isinstance(as_markdown(text), str)
    assert form_of("<!DOCTYPE html>" + text) == "html"


# ------------------------------------------------------------------------------------ workbooks


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(out)
    return out.getvalue()


def test_a_workbook_with_all_on_one_sheet() -> None:
    rows: list[list[object]] = [["Name", "Ada"], ["Sheet", SHEET], []]
    for name, matrix in key().items():
        rows += [[name], *([int(x) if x.isdigit() else x for x in row] for row in matrix), []]
    found = read(workbook({"Sheet1": rows}))
    assert is_key(found.attempts[0])
    assert (found.name, found.sheet) == ("Ada", SHEET)


def test_a_workbook_with_a_sheet_for_every_part() -> None:
    assert is_key(
        read(workbook({name.replace("'", "′"): [list(row) for row in rows] for name, rows in key().items()})).attempts[
            0
        ]
    )


def test_other_zips_and_broken_workbooks_are_refused_in_a_sentence() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("xl/workbook.xml", "<broken")
    with pytest.raises(InputError, match="workbook cannot be read"):
        read(out.getvalue(), "csv")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", "")
    with pytest.raises(InputError, match="word-processor document: save it as plain text"):
        read(out.getvalue())


def test_a_workbook_that_unpacks_to_very_much_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 21_000_000)
    with pytest.raises(InputError, match="20 MB"):
        read(out.getvalue(), "csv")


# ------------------------------------------------------------------------------------ CSV of Excel


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_csv_as_excel_saves_it(encoding: str, mark: str) -> None:
    text = f"Name{mark}Zoë Müller\n\n" + "\n\n".join(f"{name}\n{lines(rows, mark)}" for name, rows in key().items())
    found = read(text.replace("\n", "\r\n").encode(encoding), "csv")
    assert is_key(found.attempts[0])
    assert found.name == "Zoë Müller"


# ------------------------------------------------------------------------------------ small letters as names


@pytest.mark.parametrize("backwards", [False, True])
def test_a_small_a_is_the_weights_of_whoever_writes_q_and_k(backwards: bool) -> None:
    names = sorted(key(), reverse=backwards)
    text = "\n".join(f"{json.dumps(name.lower())} = {json.dumps(key()[name])}" for name in names)
    [attempt] = read(text, "toml").attempts
    assert is_key(attempt)
    assert not attempt.remarks


def test_a_small_a_is_part_a_of_whoever_writes_letters() -> None:
    text = "\n".join(f"{'abcdefg'[k]} = {json.dumps(rows)}" for k, rows in enumerate(key().values()))
    assert is_key(read(text, "toml").attempts[0])


@pytest.mark.parametrize("name", ["Y", "O", "y", "Outputs"])
def test_other_names_of_the_output(name: str) -> None:
    rows = {name if part == "Z" else part: rows for part, rows in key().items()}
    assert is_key(read(json.dumps(rows)).attempts[0])
    assert is_key(read("\n\n".join(f"{part} =\n{lines(matrix)}" for part, matrix in rows.items())).attempts[0])


@pytest.mark.parametrize("name", ["z{}", "z_{}", "Z_{{{}}}", "Z[{}]"])
def test_the_output_row_by_row(name: str) -> None:
    matrices = {part: rows for part, rows in key().items() if part != "Z"}
    rows = {name.format(i): [row] for i, row in enumerate(key()["Z"], 1)}
    assert is_key(read(json.dumps({**matrices, **rows})).attempts[0])
    assert is_key(read("\n".join(f"{part} = {json.dumps(m)}" for part, m in {**matrices, **rows}.items())).attempts[0])


def test_csv_below_a_name_that_nobody_knows_is_told_and_costs_nothing() -> None:
    text = "\n\n".join(f"{name}\n{lines(rows, ',')}" for name, rows in key().items())
    found = read(text + "\n\nBanana\n5,6\n7,8\n", "csv")
    assert is_key(found.attempts[0])
    assert any("Banana" in remark.says for remark in (*found.remarks, *found.attempts[0].remarks))


@pytest.mark.parametrize(
    "name", ["dV", "∂V", "dL/dV", "∂L/∂V", "∇V", "\\frac{\\partial L}{\\partial V}", "gradient of V"]
)
def test_gradients_are_not_taken_for_what_they_are_gradients_of(name: str) -> None:
    names = Names(next(iter(symattn.worksheet("self_attention_gradient", seed=1))).question)
    assert names.find(name) == "dV"
    assert names.find("V") == "V"
