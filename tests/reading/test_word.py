"""Documents of Word: what stands in them, and what does not."""

import io
import zipfile

import pytest
from layouts import docx, paragraph, word_table, workbook
from sentences import refused_saying
from test_layouts import sheet, work

from symattn.marking.submissions import read_submission
from symattn.marking.submissions.office import document_text, workbook_text

SHAPES = 'xmlns:wps="http://schemas.microsoft.com/wps" xmlns:mc="http://schemas.openxmlformats.org/markup"'
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def run(text, look=""):
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def aligned(text, place):
    return run(text, f'<w:vertAlign w:val="{place}"/>')


KEPT = '<w:strike w:val="0"/>'


def math(inside):
    return f"<m:oMath {MATH}>{inside}</m:oMath>"


def m(kind, *inside):
    return f"<m:{kind}>{''.join(inside)}</m:{kind}>"


def typed(text):
    return m("r", m("t", text))


MATRIX = m("d", m("e", m("m", *(m("mr", *(m("e", typed(x)) for x in row)) for row in (("1", "0"), ("4", "2"))))))
BOX = f"<wps:txbx {SHAPES}><w:txbxContent><w:p>{run('A = 1')}</w:p></w:txbxContent></wps:txbx>"
LINES = {
    "a picture": (f"<w:p>{run('S:')}<w:r><w:drawing/></w:r></w:p>", "S: ![picture](…)"),
    "a box, which stands there for older programs as well": (
        f"<w:p><w:r><mc:AlternateContent {SHAPES}><mc:Choice><w:drawing>{BOX}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{BOX}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        "A = 1",
    ),
    "what was deleted": (f"<w:p>{run('S = 2')}<w:del>{run('3')}</w:del></w:p>", "S = 2"),
    "what was put in": (f"<w:p>{run('S = ')}<w:ins>{run('3')}</w:ins></w:p>", "S = 3"),
    "what is crossed out": (f"<w:p>{run('7', '<w:strike/>')}{run(' 8')}</w:p>", "~~7~~ 8"),
    "what is not crossed out any more": (f"<w:p>{run('7', KEPT)}</w:p>", "7"),
    "a power": (f"<w:p>{run('e')}{aligned('2', 'superscript')}</w:p>", "e^2"),
    "a long power": (f"<w:p>{run('e')}{aligned('-3', 'superscript')}</w:p>", "e^(-3)"),
    "an index": (f"<w:p>{run('S')}{aligned('1', 'subscript')}</w:p>", "S_1"),
    "a heading": (f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{run("Scores")}</w:p>', "## Scores"),
    "a tab": ("<w:p><w:r><w:t>1</w:t><w:tab/><w:t>2</w:t></w:r></w:p>", "1\t2"),
    "a matrix": (f"<w:p>{run('S = ')}{math(MATRIX)}</w:p>", "S = [1 & 0; 4 & 2]"),
    "a fraction": (f"<w:p>{math(m('f', m('num', typed('1')), m('den', typed('2'))))}</w:p>", "(1)/(2)"),
    "a root": (f"<w:p>{math(m('rad', m('deg'), m('e', typed('3'))))}</w:p>", "√(3)"),
    "e to the power of −1": (f"<w:p>{math(m('sSup', m('e', typed('e')), m('sup', typed('-1'))))}</w:p>", "e^(-1)"),
}


@pytest.mark.parametrize("what", LINES)
def test_a_paragraph_is_a_line(what):
    source, line = LINES[what]
    assert document_text(docx(source)).split("\n") == [line, ""]


def test_a_picture_in_a_workbook_is_told():
    content = io.BytesIO(workbook({"S": [["1", "2"]]}))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("xl/media/image1.png", b"")
    assert "![picture](…)" in workbook_text(content.getvalue()).split("\n")


def test_items_of_lists_have_their_numbers():
    item = '<w:p><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    lines = document_text(docx("".join(map(item.format, "DDA")))).split("\n")
    assert [line for line in lines if line] == ["1. D", "2. D", "3. A"]


def test_names_stand_above_tables_or_in_their_first_cell():
    for write in (lambda a: paragraph(a.sign) + word_table(a.texts),
                  lambda a: word_table([[a.sign, *[""] * (len(a.texts[0]) - 1)], *a.texts])):  # fmt: skip
        content = docx("".join(map(write, work("two queries"))))
        attempt = read_submission(content, [sheet("two queries")]).attempts[0]
        assert set(attempt.answers) == {"S", "S'", "A", "Z"}


@pytest.mark.parametrize("body", ["<w:p>" * 4000, "<w:tbl><w:tr><w:tc>" * 200 + "</w:tc></w:tr></w:tbl>" * 200])
def test_a_broken_document_and_one_that_has_no_end_are_refused(body):
    with refused_saying("This document cannot be read"):
        document_text(docx(body))
