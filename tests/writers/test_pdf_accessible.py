"""Accessible PDF: independent checkers find nothing, everything is inside the margins, and words say what is shown."""

import re
from dataclasses import replace

import pytest
from check_pdf import complaints, faults
from pdf_marks import pages, tags, words_on
from test_writers_formulas import numbers
from writer_exam_samples import EVERYTHING
from writer_samples import W_Q, WEIGHT, equal, indexed, matrix, n, over, paragraph, sheet, words

import symattn
from symattn.formula.nodes import Blank, MatrixOf, Name, Number, Text
from symattn.formula.speech import speak
from symattn.formula.width import width
from symattn.page.document import (
    AnswerGrid,
    Choices,
    Columns,
    Display,
    Entries,
    Falk,
    Heading,
    Look,
    Math,
    Paragraph,
    Solved,
    Strong,
    Table,
    Words,
    WorkingSpace,
    all_blocks,
    settled,
)
from symattn.page.writers import typst
from symattn.page.writers.compiling import COMPILER
from symattn.page.writers.pdf import write_pdf

LEFT, ABOVE, PRODUCT = matrix([1, -2, 3], [0, 12, 1]), matrix([1, 0], [-2, 5], [3, 1]), matrix([14, -7], [-21, 61])
BLANKS = MatrixOf(((Blank(),) * 3,) * 3)

LAYOUTS = sheet(
    Falk(LEFT, ABOVE, PRODUCT, (n("X"), W_Q)),
    Falk(LEFT, ABOVE, AnswerGrid(n("Q"), 2, 2), (n("X"), W_Q)),
    Falk(BLANKS, BLANKS, AnswerGrid(n("S"), 3, 3, filled=(((0, 0), n(4)),))),
    Falk(matrix([WEIGHT, over(1, 2)]), matrix([1], [2], bracket="("), matrix([WEIGHT])),
    Falk(matrix([*range(20)]), matrix(*[[*range(20)]] * 20), AnswerGrid(n("A"), 1, 20, "exponential")),
    Columns((words("Step"), words("Working")), (
        ((Paragraph((Strong("Queries "), Math(n("Q")))), Display((equal("Q", W_Q),))),
         (Display((equal("Q", PRODUCT, PRODUCT, PRODUCT, PRODUCT),)), AnswerGrid(n("Q"), 3, 4, "exponential"))),
        ((Paragraph(words("Output"), "[3]"),),
         (WorkingSpace(40), Entries(tuple(equal(indexed("q", i, j), WEIGHT) for i in (1, 2) for j in (1, 2)), 2))),
    )),
    Solved((paragraph("asked"),), (), (paragraph("solution"),), (paragraph("marks"),)),
)  # fmt: skip

LOOKS = [
    Look(text_size=11),
    Look(text_size=18, paper="letter", spacing="compact"),
    Look(text_size=24, spacing="compact"),
]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", ["empty", "all", "wide", "hostile", "exam", "pictures", "all at 24 pt"])
def test_checkers_find_nothing(name, monkeypatch):
    monkeypatch.setattr("symattn.page.writers.pdf.COMPILER.printable", lambda characters: "")
    assert complaints(EVERYTHING[name]) == []


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.text_size}-{look.paper}-{look.spacing}")
def test_checkers_find_nothing_in_any_layout(look):
    assert complaints(replace(LAYOUTS, look=look)) == []


def test_the_checks_find_faults():
    wide = sheet(paragraph("a"), sheet="x" * 5)
    data = write_pdf(wide)
    assert faults(data) == []
    spoilt = data.replace(b"<pdfuaid:part>1", b"<pdfuaid:part>2").replace(b"/Lang(en)", b"/Lang(??)")
    assert len(faults(spoilt)) >= 2


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_paper(paper, size):
    first = pages(write_pdf(sheet(look=Look(paper=paper))))[0]
    assert (round(float(first.mediabox.width)), round(float(first.mediabox.height))) == size


def test_lines_break_at_the_same_words_on_both_papers():
    page = sheet(*[paragraph("some words that go on and on, " * 30)] * 3)
    a4, letter = (
        [line for part in pages(write_pdf(replace(page, look=Look(paper=paper)))) for line in
         part.extract_text().split("\n") if "words" in line]
        for paper in ("a4", "letter")
    )  # fmt: skip
    assert a4 == letter


def test_compact_pages_are_fewer():
    page = sheet(*[AnswerGrid(n("S"), 3, 3), WorkingSpace(60), Display((equal("S", PRODUCT),))] * 12)
    roomy, compact = (len(pages(write_pdf(replace(page, look=Look(spacing=s))))) for s in ("roomy", "compact"))
    assert compact < roomy


def test_a_matrix_that_is_much_too_wide_is_set_row_by_row():
    numbers = [[10**8 + 100 * i + j for j in range(15)] for i in range(3)]
    data = write_pdf(sheet(Display((equal("A", matrix(*numbers)),))))
    words = " ".join(map(words_on, pages(data)))
    assert [f"row {i}" in words for i in (1, 2, 3, 4)] == [True, True, True, False]
    for row in numbers:
        assert all(str(number) in words for number in row)
    assert faults(data) == []


def test_lines_that_belong_together_leave_no_page_too_full():
    page = sheet(Display((equal("x", WEIGHT),) * 40), Entries((equal("x", *range(40)),) * 3))
    assert faults(write_pdf(page)) == []


@pytest.mark.slow
def test_formulas_about_as_wide_as_a_line_stay_within_the_margins():
    pieces = (lambda k: Number("8" * k), lambda k: Text("W" * k), lambda k: Name("Ж" * k), lambda k: Text("注" * k))
    sums = (
        equal("S", *[piece(k)] * parts) for piece in pieces for parts in (1, 2, 4, 8) for k in range(1, 60 // parts + 1)
    )
    lines = [
        line for line in sums if 16 < width(line) < 20 or 36 < width(line) < 43.3
    ]  # words may be 2.2 times as wide
    between = paragraph("and")
    blocks = [block for line in lines for block in (Display((line,)), between, Entries((line,) * 4, 4), between)]
    assert faults(write_pdf(sheet(*blocks))) == []


def test_what_is_not_measured_comes_out_as_if_it_were():
    """Boxes, equations side by side, tables as wide as a line, narrow or to write in, options: measured, they are the
    same page."""
    words = (Words("what a long cell of a table says, so that its columns share the line " * 3),)
    page = sheet(
        AnswerGrid(n("S"), 2, 3),
        AnswerGrid(n("A"), 2, 2, filled=(((0, 0), n(1)),)),
        Entries(tuple(equal("x", k, k + 1) for k in range(6)), 3),
        Table((words, words), ((words, words),)),
        Table(((Words("Size"),), (Math(equal("x", 1)),)), (((Words("Å"),), (Math(Blank("decimal")),)),)),
        Table(((Words("Marks"),), (Words("5"),)), (((Words("Awarded"),), ()),)),
        Choices(tuple((Math(over(k, 7)),) for k in range(4))),
    )
    source = typst.write(page)
    assert source.count("fits: true") == 5
    assert source.count("[#high(") == 4
    assert always_measured(source) != source
    assert COMPILER.compile(source.encode()) == COMPILER.compile(always_measured(source).encode())


def always_measured(source):
    for not_measured, measured in (
        ("= if fits {", "= if false {"),
        ("if shared or fits {", "if false {"),
        ("[#high(", "[#whole("),
    ):
        source = source.replace(not_measured, measured)
    return source


@pytest.mark.parametrize("letter", ["r", "h", "m", "Q", "W", "\N{LATIN CAPITAL LETTER W WITH CIRCUMFLEX}"])
def test_a_table_of_the_widest_letters_that_is_not_measured_has_room(letter):
    tables = (Table(((Strong(letter * k),),), (((Words("x"),),),)) for k in range(120, 0, -1))
    source = next(source for table in tables if "fits: true" in (source := typst.write(sheet(table))))
    assert COMPILER.compile(source.encode()) == COMPILER.compile(always_measured(source).encode())


@pytest.mark.parametrize("size", [11, 18])
@pytest.mark.parametrize("letter", ["r", "h", "m", "Q", "W"])
def test_a_heading_of_the_widest_letters_that_is_not_measured_has_room(letter, size):
    headings = (Heading((Words(letter * k + " "), Math(equal("Q", 1))), 1, "[12]") for k in range(120, 0, -1))
    pages = (typst.write(sheet(heading, look=Look(text_size=size))) for heading in headings)
    source = next(source for source in pages if "fits: true)" in source)
    measured = source.replace(", fits: true)", ")")
    assert COMPILER.compile(source.encode()) == COMPILER.compile(measured.encode())


# --- a reader who does not see -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def key():
    (made,) = symattn.worksheet("self_attention", seed=3)
    return made.key


@pytest.mark.slow
def test_the_words_for_a_key_read_in_order_contain_every_number_of_it(key):
    """What is read aloud: the text of the page where there is no formula, and the words for each formula."""
    spoken = [alternative for kind, alternative in tags(write_pdf(key)) if kind == "/Formula"]
    blocks = all_blocks(settled(key).blocks)
    shown = [block.lines if isinstance(block, Display) else block.equations for block in blocks
             if isinstance(block, Display | Entries)]  # fmt: skip
    wanted = [number for lines in shown for line in lines for number in numbers(line)]
    heard = iter(re.findall(r"\d+(?:\.\d+)?", " ".join(spoken)))
    missing = [number for number in wanted if number not in heard]  # `in` goes on from the last one that was found
    assert missing == []


def test_boxes_and_schemes_are_described():
    spoken = [alternative for kind, alternative in tags(write_pdf(LAYOUTS)) if kind == "/Figure"]
    assert len(spoken) == 6
    assert spoken[0].endswith(speak(PRODUCT))
    assert "Q" in spoken[1]
    assert "row 1: 4, " in spoken[2]
