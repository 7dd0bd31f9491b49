"""Where pages may end: boxes and space for working stay with what they are for, marks stay with their reasons."""

import io
import shutil
import subprocess

import pytest
from pypdf import PdfReader

from symattn.formula import Blank, MatrixOf, Name, Number, Relation
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Choices,
    Display,
    Document,
    Falk,
    Heading,
    ItemList,
    Look,
    Math,
    Paragraph,
    Table,
    Together,
    Words,
    WorkingSpace,
)
from symattn.page.writers import latex
from symattn.page.writers.common import Page, below_boxes, stays_with_next
from symattn.page.writers.pdf import write_pdf
from symattn.page.writers.typst import write
from symattn.teaching.explanation.parts import with_answer_space


def texts(document):
    return [page.extract_text() for page in PdfReader(io.BytesIO(write_pdf(document))).pages]


@pytest.mark.parametrize("boxes", [AnswerGrid(Name("Q"), 2, 2), Falk(MatrixOf(()), MatrixOf(()), MatrixOf(()))])
def test_boxes_have_their_space_for_working_round_them(boxes):
    asked, space, lines = Paragraph((Words("Work it out."),)), WorkingSpace(40), WorkingSpace(40, ruled=True)
    assert with_answer_space((asked, space, boxes)) == (asked, AnswerSpace(boxes, space))
    assert with_answer_space((asked, space)) == (asked, space)
    assert with_answer_space((asked, lines, boxes)) == (asked, lines, boxes)


PIECE = WorkingSpace(7, width=50, count=12)


@pytest.mark.parametrize(
    ("rows", "columns", "below"),
    [
        # 174 mm less the boxes, 12 mm wide and 10 mm high, and their name: so many pieces of 50 mm in lines of 7 mm.
        (3, 2, 14),  # 2 beside in each of 4 lines, since pieces are not equally wide; 3 below in each line
        (3, 6, 21),  # 1 beside in each line
        (8, 2, 0),  # 11 lines of 2 beside
    ],
)
def test_space_below_boxes_is_what_has_no_room_beside_them(rows, columns, below):
    room = 174 - columns * 12 - 16 - 9
    beside = max(min(1, room // 50), int(0.85 * room / 50)) * ((rows * 10 + 3) // 7)
    expected = 7 * -(-max(0, 12 - beside) // 3)
    assert below_boxes(AnswerSpace(AnswerGrid(Name("Q"), rows, columns), PIECE), Page()) == below == expected


def test_space_for_working_is_named():
    for block in (WorkingSpace(40), AnswerSpace(AnswerGrid(Name("Q"), 2, 2), PIECE)):
        document = Document("A sheet", (block,))
        assert "Working" in texts(document)[0]
        assert "{Working}" in latex.write_beside_macros(document)


def test_space_for_working_is_on_one_page():
    """Three spaces, each higher than half a page, take three pages."""
    assert len(texts(Document("A sheet", (WorkingSpace(140),) * 3))) == 3


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm is not installed")
def test_what_is_left_of_a_page_is_space_for_working(tmp_path):
    """A frame that cannot be followed by the next one on its page goes down to its end."""
    answer = Together((AnswerSpace(AnswerGrid(Name("Q"), 3, 2), WorkingSpace(100)),))
    (tmp_path / "a.pdf").write_bytes(write_pdf(Document("A sheet", (answer,) * 2)))
    subprocess.run(["pdftoppm", "-r", "72", "-gray", "-f", "1", "-l", "1", "a.pdf", "a"], cwd=tmp_path, check=True)
    [picture] = tmp_path.glob("a*.pgm")
    data = picture.read_bytes()
    wide, high = map(int, data.split(maxsplit=4)[1:3])
    pixels = data[-wide * high :]
    column = [y for y in range(high) if pixels[y * wide + wide // 2] < 220]  # the middle of the page
    footer = high - 21 * 72 / 25.4  # the lower margin
    assert footer - 12 < max(y for y in column if y < footer + 2)


@pytest.mark.parametrize("size", [11, 24])
def test_a_row_of_a_table_is_on_one_page(size):
    """Also where a table is too high for what is left of a page: its rows have the same word at start and end."""
    long = " ".join(["word"] * 40)
    rows = tuple(((Words(f"start{k} {long} end{k}"),), (Words("x"),)) for k in range(30))
    document = Document("A sheet", (Table(((Words("What"),), (Words("How"),)), rows),), look=Look(text_size=size))
    pages = texts(document)
    assert len(pages) > 1
    for k in range(30):
        assert [f"start{k} " in page.replace("\n", " ") for page in pages] == [
            f"end{k} " in page.replace("\n", " ") for page in pages
        ]


def test_no_heading_in_large_print_is_left_alone():
    """Options that are nearly as high as a page go on on the next one."""
    options = tuple((Words(f"option {k} " + "with some words " * 5),) for k in range(8))
    asked = Together((Paragraph((Words("Tick everything that is true."),)), Choices(options)))
    pages = texts(Document("A sheet", (Heading((Words("True or false"),)), asked), look=Look(text_size=24)))
    [page] = [page for page in pages if "True or false" in page]
    assert "option 0" in page.replace("\n", " ")


def test_marks_stay_with_what_earns_them():
    marks, listed = Paragraph((Words("Marks"),), "B1"), ItemList(((Words("a reason"),),))
    short, long = (Display((Relation((Name("x"), Number("1")), ("=",)),) * lines) for lines in (3, 30))
    words = Paragraph((Words("Said."),))
    assert stays_with_next([listed, marks, short, marks, long, marks, words], False) == [
        True, False, True, False, False, False, False,
    ]  # fmt: skip
    assert stays_with_next([Heading((Words("4. One token"),)), words, short], False) == [False, True, False]


def test_aligned_lines_are_one_block_however_high_if_they_fit():
    """Rows of given matrices begin at the same place, also where they are higher together than half a page."""
    column = MatrixOf(tuple((Number(str(k)),) for k in range(9)))
    lines = tuple(Relation((Name("W", (Name(c),)), column), ("=",)) for c in "abcd")
    assert write(Document("A sheet", (Display(lines),))).count("#formulas(") == 1


def test_a_blank_in_a_table_has_room_for_handwriting():
    cell = (Math(Blank("integer")),)
    table = Table(((Words("Matrix"),), (Words("Rows"),)), (((Words("Q"),), cell), ((Words("K"),), (Words("3"),))))
    assert write(Document("A sheet", (table,))).count("[#room-to-write") == 1
