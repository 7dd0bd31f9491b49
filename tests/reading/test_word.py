"""Documents of word processors: what stands in them, and what does not."""

import io
import zipfile

import pytest
from layouts import docx, open_table, opendocument, paragraph, word_table, workbook
from sentences import refused_saying
from test_layouts import sheet, work

from symattn.marking.submissions import read_submission
from symattn.marking.submissions.office import document_text, workbook_text
from symattn.marking.submissions.opendocument import opendocument_text
from symattn.marking.submissions.richtext import rich_text

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
BAR = '<m:accPr><m:chr m:val="\u0304"/></m:accPr>'
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
    "an accent": (f"<w:p>{math(m('acc', m('accPr'), m('e', typed('N'))))}</w:p>", "N\u0302"),
    "a bar over a letter": (f"<w:p>{math(m('acc', BAR, m('e', typed('x'))))}</w:p>", "x\u0304"),
    "e to the power of −1": (f"<w:p>{math(m('sSup', m('e', typed('e')), m('sup', typed('-1'))))}</w:p>", "e^(-1)"),
}


OPEN_ROWS = "<text:p>1<text:tab/>2</text:p><text:p>3<text:tab/>4</text:p>"
CELLS = {
    "Word, a break": (document_text, docx(word_table([["S", "1 2</w:t><w:br/><w:t>3 4"]]))),
    "Word, a paragraph": (document_text, docx(word_table([["S", "1 2</w:t></w:r></w:p><w:p><w:r><w:t>3 4"]]))),
    "OpenDocument": (
        opendocument_text,
        opendocument(open_table([["S", "x"]]).replace("<text:p>x</text:p>", OPEN_ROWS)),
    ),
    "rich text": (rich_text, rb"{\rtf1 \trowd\cellx1\cellx2 \pard\intbl S\cell 1 2\line 3 4\cell\row }"),
}


@pytest.mark.parametrize("what", CELLS)
def test_rows_of_a_matrix_in_a_cell_stay_apart(what):
    read, content = CELLS[what]
    assert "| S | 1 2<br>3 4 |" in read(content).split("\n")


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


def test_rows_that_are_items_of_a_list_have_no_minus():
    """What stands before an item is no text: [[-1, 4], [1, -1]] with a dot before each row."""
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="4"><w:abstractNumId w:val="0"/></w:num>'
    )
    item = '<w:p><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    rows = ["-1, 0, 0.5", "4, 4, -1"]
    content = docx(f"<w:p>{run('S:')}</w:p>" + "".join(map(item.format, rows)), numbering=numbering)
    grid = read_submission(content, [sheet("two queries")]).attempts[0].answers["S"]
    assert [", ".join(entry.text for entry in row) for row in grid.rows] == rows


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


STYLES = (
    '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="low"><style:text-properties style:text-position="-33% 58%"/></style:style>'
    '<style:style style:name="out"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="in"><style:text-properties style:text-line-through-style="none"/></style:style>'
    '<text:list-style style:name="abc"><text:list-level-style-number style:num-format="a"/></text:list-style>'
    '<text:list-style style:name="from 3">'
    '<text:list-level-style-number style:num-format="1" text:start-value="3"/></text:list-style>'
    '<text:list-style style:name="dots"><text:list-level-style-bullet/></text:list-style>'
)
MATHML = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>S</mi><mo>=</mo><mrow><mo>[</mo><mtable>'
    "<mtr><mtd><mn>1</mn></mtd><mtd><mfrac><mn>1</mn><mn>2</mn></mfrac></mtd></mtr></mtable><mo>]</mo></mrow></mrow>"
    '<annotation encoding="StarMath 5.0">S = left [ matrix{1 # 1 over 2} right ]</annotation></semantics></math>'
)
ITEMS = "<text:list-item><text:p>D</text:p></text:list-item>" * 2
OPEN_LINES = {
    "a power": ('<text:p>e<text:span text:style-name="up">-3</text:span></text:p>', "e^(-3)"),
    "an index": ('<text:p>S<text:span text:style-name="low">1</text:span></text:p>', "S_1"),
    "what is crossed out": ('<text:p><text:span text:style-name="out">7</text:span> 8</text:p>', "~~7~~ 8"),
    "what is not crossed out any more": ('<text:p><text:span text:style-name="in">7</text:span></text:p>', "7"),
    "spaces and tabs": ('<text:p>1<text:s text:c="3"/>2<text:tab/>3<text:line-break/>4</text:p>', "1   2\t3\n4"),
    "spaces without end": ('<text:p>1<text:s text:c="99999999"/>2</text:p>', f"1{' ' * 64}2"),
    "a heading": ('<text:h text:outline-level="2">Scores</text:h>', "## Scores"),
    "letters before items": (f'<text:list text:style-name="abc">{ITEMS}</text:list>', "(a) D\n\n(b) D"),
    "numbers before items": (f'<text:list text:style-name="from 3">{ITEMS}</text:list>', "3. D\n\n4. D"),
    "dots before items": (f'<text:list text:style-name="dots">{ITEMS}</text:list>', "• D\n\n• D"),
    "a picture": ("<text:p>S: <draw:frame><draw:image/></draw:frame></text:p>", "S:  ![picture](…)"),
    "a box": ("<text:p><draw:frame><draw:text-box><text:p>A = 1</text:p></draw:text-box></draw:frame></text:p>",
              "A = 1"),
    "an equation": (
        '<text:p><draw:frame><draw:object xlink:href="./Object 1"/><draw:image/></draw:frame></text:p>',
        r"S=[\pmatrix{1 & \frac{1}{2} \\ }]",
    ),
    "a chart": ('<text:p><draw:frame><draw:object xlink:href="./Object 2"/></draw:frame></text:p>', "![picture](…)"),
    "what was deleted": ("<text:tracked-changes><text:p>3</text:p></text:tracked-changes><text:p>2</text:p>", "2"),
    "a remark of a reader": ("<text:p>2<office:annotation><text:p>why?</text:p></office:annotation></text:p>", "2"),
}  # fmt: skip


@pytest.mark.parametrize("what", OPEN_LINES)
def test_a_paragraph_of_opendocument_is_a_line(what):
    source, line = OPEN_LINES[what]
    assert opendocument_text(opendocument(source, styles=STYLES, **{"Object 1": MATHML})) == f"{line}\n"


def test_cells_of_opendocument_that_stand_for_several():
    cells = '<table:table-cell table:number-columns-repeated="{}"><text:p>{}</text:p></table:table-cell>'
    row = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    rows = row.format(2, cells.format(2, 5) + cells.format(16381, "")) + row.format(1048574, "")
    assert (
        opendocument_text(opendocument(f"<table:table>{rows}</table:table>", "spreadsheet")) == "5\t5\t\n5\t5\t\n\n\n"
    )


def test_a_number_of_a_spreadsheet_has_all_its_digits():
    cell = (
        '<table:table-cell office:value-type="float" office:value="0.123456"><text:p>0.12</text:p></table:table-cell>'
    )
    table = f'<table:table table:name="A"><table:table-row>{cell}</table:table-row></table:table>'
    assert opendocument_text(opendocument(table, "spreadsheet")).split("\n")[:2] == ["A", "0.123456"]


@pytest.mark.parametrize(
    "content",
    [
        opendocument("<text:p>" * 4000),
        opendocument("<text:section>" * 200 + "</text:section>" * 200),
        opendocument('<text:p><draw:frame><draw:object xlink:href="x"/></draw:frame></text:p>', x="<!DOCTYPE x><x/>"),
        opendocument("").replace(b"content.xml", b"another.xml"),
    ],
    ids=["broken", "without end", "entities", "without its text"],
)
def test_a_broken_opendocument_is_refused(content):
    with refused_saying("This document cannot be read"):
        opendocument_text(content)


def test_few_cells_of_opendocument_cannot_stand_for_gigabytes():
    table = open_table([["7" * 20_000]]).replace("-cell>", '-cell table:number-columns-repeated="50">', 1)
    table = table.replace("-row>", '-row table:number-rows-repeated="2000">', 1)
    with refused_saying("more than 20 MB"):
        opendocument_text(opendocument(table))


ROW = r"\trowd\cellx1\cellx2 \pard\intbl {}\cell {}\cell\row "
RICH_LINES = {
    "a paragraph": (r"S = 1\par\pard T = 2", "S = 1\nT = 2"),
    "a power": (r"e{\super -3}", "e^(-3)"),
    "an index": (r"S\sub 1\nosupersub  = 2", "S_1 = 2"),
    "what is crossed out": (r"{\strike 7} 8", "~~7~~ 8"),
    "what is not crossed out any more": (r"\strike 7\strike0  8", "~~7~~ 8"),
    "a table": (ROW.format("1", r"{\b 2}") + ROW.format("3", r"\u8722 ?4"), "| 1 | 2 |\n| 3 | \u22124 |\n"),
    "signs by their numbers": (r"\u8730 ?2 \'b7 3 \uc0\u960 \{1\}\~\u-10179 \u-9088 ", "√2 · 3 π{1}\u00a0💀"),
    "a picture in two formats": (
        r"S: {\*\shppict{\pict\pngblip 89504e47}}{\nonshppict{\pict\wmetafile8 0100}}", "S:  ![picture](…) ",
    ),
    "a picture of TextEdit": (r"{{\NeXTGraphic 1.png \width1}\'ac}", " ![picture](…) ¬"),
    "the number of an item": (r"{\listtext\tab 1.\tab }D", "\t1.\tD"),
}  # fmt: skip


@pytest.mark.parametrize("what", RICH_LINES)
def test_a_paragraph_of_rich_text_is_a_line(what):
    source, line = RICH_LINES[what]
    head = r"{\rtf1\ansi{\fonttbl\f0 Arial;}{\stylesheet{Normal;}}{\*\generator Riched20;}"
    assert rich_text(f"{head}{source}}}".encode("latin-1")) == line


@pytest.mark.parametrize("inside", ["{" * 100_000, "}" * 100_000, r"\cell\row" * 1000])
def test_rich_text_whose_groups_are_not_closed_is_read(inside):
    assert rich_text((r"{\rtf1 S = 1\par " + inside + "T = 2").encode()).strip("| ").startswith("S = 1")
