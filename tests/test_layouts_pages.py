"""Layouts: where pages may end, products in schemes and columns, and what an exam file says of them."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
import printed_lines
import pytest
from catalogue_sheets import ROWS, leaves, sheet
from commands import run
from pdf_marks import pages
from sentences import refused_saying
from trials import at_least_one
from writer_samples import paragraph, words

import symattn
from symattn.formula import Blank, Fraction, MatrixOf, Name, Number, Relation
from symattn.foundation.dice import Dice
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Box,
    Choices,
    Columns,
    Display,
    Document,
    Entries,
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
    all_blocks,
    as_text,
)
from symattn.page.writers import latex
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.common import stays_with_next
from symattn.page.writers.paper import Page, below_boxes
from symattn.page.writers.pdf import LaidOut, write_pdf
from symattn.page.writers.rows import height_on_worksheet
from symattn.page.writers.typst import write
from symattn.teaching.exam.frozen_exam import copies, freeze, make_exam
from symattn.teaching.exam.papers import key, paper
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.explanation.parts import with_answer_space


def texts(document):
    return [page.extract_text() for page in pages(write_pdf(document))]


@pytest.mark.parametrize("boxes", [AnswerGrid(Name("Q"), 2, 2), Falk(MatrixOf(()), MatrixOf(()), MatrixOf(()))])
def test_boxes_have_their_space_for_working_round_them(boxes):
    asked, space, lines = paragraph("Work it out."), WorkingSpace(40), WorkingSpace(40, ruled=True)
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
    assert below_boxes(AnswerSpace(AnswerGrid(Name("Q"), rows, columns), PIECE), Page()) == below


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
    rows = tuple((words(f"start{k} {long} end{k}"), words("x")) for k in range(30))
    document = Document("A sheet", (Table((words("What"), words("How")), rows),), look=Look(text_size=size))
    pages = texts(document)
    assert len(pages) > 1
    for k in range(30):
        assert [f"start{k} " in page.replace("\n", " ") for page in pages] == [
            f"end{k} " in page.replace("\n", " ") for page in pages
        ]


def test_no_heading_in_large_print_is_left_alone():
    """Options that are nearly as high as a page go on on the next one."""
    options = tuple(words(f"option {k} " + "with some words " * 5) for k in range(8))
    asked = Together((paragraph("Tick everything that is true."), Choices(options)))
    pages = texts(Document("A sheet", (Heading(words("True or false")), asked), look=Look(text_size=24)))
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


def test_a_rule_stays_with_its_working():
    """It stood at the foot of a page, and its entries or its boxes overleaf."""
    line = (Relation((Name("x"), Number("1")), ("=",)),)
    rule, entries, values = Display(line, step="x", role="rule"), Entries(line), Display(line, step="x", role="values")
    assert stays_with_next([rule, entries, values, rule], False) == [True, False, False, False]
    boxes = AnswerSpace(AnswerGrid(Name("Q"), 2, 2), WorkingSpace(40))
    assert stays_with_next([rule, boxes], True) == stays_with_next([rule, boxes.boxes], True) == [True, False]


def test_aligned_lines_are_one_block_however_high_if_they_fit():
    """Rows of given matrices begin at the same place, also where they are higher together than half a page."""
    column = MatrixOf(tuple((Number(str(k)),) for k in range(9)))
    lines = tuple(Relation((Name("W", (Name(c),)), column), ("=",)) for c in "abcd")
    assert write(Document("A sheet", (Display(lines),))).count("#formulas(") == 1


def test_a_blank_in_a_table_has_room_for_handwriting():
    cell = (Math(Blank("integer")),)
    table = Table((words("Matrix"), words("Rows")), ((words("Q"), cell), (words("K"), words("3"))))
    assert write(Document("A sheet", (table,))).count("[#room-to-write") == 1


# ------------------------------------------------------------------------------------------------ schemes


# ------------------------------------------------------------------------------------------------ Falk's scheme


def test_a_scheme_written_out():
    d = symattn.derive("self_attention", X=[[1, 2]], W_Q=[[1, 0], [3, 1]], W_K=[[1, 0], [0, 1]],
                       W_V=[[1], [2]], layout="falk")  # fmt: skip
    first = next(block for block in all_blocks(d.document.blocks) if isinstance(block, Falk))
    assert [on_one_line(x) for x in (first.left, first.above, first.inside)] == ["[1 2]", "[1 0; 3 1]", "[7 2]"]
    [group] = [block for block in d.document.blocks if isinstance(block, Together) and first in block.blocks]
    rule = group.blocks[0]
    assert len(rule.lines) == 1


def test_letters_are_multiplied_in_a_scheme_by_name():
    d = symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 2}, layout="falk")
    first = next(leaves(d.document, Falk))
    assert on_one_line(first.left.rows[0][0]) == "q₁₁"
    assert on_one_line(first.inside.rows[0][0]) == "s₁₁"


def test_what_is_missing_from_a_faded_example_is_in_no_factor():
    """Entries of a given matrix may be blank as well: then its numbers stand in no scheme."""
    [made] = symattn.worksheet("attention", problem="faded", seed=3, options={"backwards": True})
    blanks = made.question.frozen["blanks"]
    for scheme in at_least_one(leaves(made.document(layout="falk"), Falk)):
        for factor in (scheme.left, scheme.above):
            if (shown := printed_lines.floats(factor)) is not None:
                for name in blanks:
                    matrix = made.problem.derivation.value(name)
                    for m in (matrix, matrix.T):
                        values = np.array([[float(symattn.exact.decimal_text(x, 9)) for x in row] for row in m.rows])
                        assert values.shape != shown.shape or not np.allclose(values, shown)


# ------------------------------------------------------------------------------------------------ columns


def test_columns_hold_every_question_of_the_usual_worksheet():
    """The first asks for a shape as well, in a sentence."""
    (made,) = symattn.worksheet(seed=7)
    blocks = made.document(layout="columns").blocks
    (columns,) = (block for block in blocks if isinstance(block, Columns))
    assert len(columns.rows) == len(made.question.parts) == 7


# ------------------------------------------------------------------------------------------------ choosing


def test_the_frozen_set_knows_no_layout(tmp_path):
    for layout in ("matrix", "falk", "columns"):
        done = run("worksheet", "--seed", "3", "--layout", layout, "--format", "text", "--out", tmp_path / layout)
        assert done.exit_code == 0, done.output
    frozen = {layout.name: (layout / "self-attention-3.json").read_bytes() for layout in tmp_path.iterdir()}
    assert len(set(frozen.values())) == 1
    papers = {(layout / "self-attention-3-01.txt").read_text() for layout in tmp_path.iterdir()}
    assert len(papers) == 3


def test_a_layout_that_there_is_not_is_named():
    with refused_saying("layout is 'fancy'; one of matrix, falk, columns, flow was expected"):
        sheet(ROWS[0]).document(layout="fancy")
    with refused_saying("A note as it was written has a layout of its own"):
        assert symattn.derive("note-000", corrected=False, layout="falk").document


def test_a_note_in_another_layout_keeps_its_errata():
    headings = [block for block in symattn.derive("note-000", layout="columns").document.blocks
                if isinstance(block, Heading)]  # fmt: skip
    assert Words("Errata corrected here") in [part for heading in headings for part in heading.content]


# ------------------------------------------------------------------------------------------------ exams

QUESTION = {"type": "full", "mechanism": "attention", "level": "starter", "points": 8}


@cache
def exam(layout, conventions="full"):
    """A paper, its key, and the frozen exam."""
    data = {"layout": layout, "conventions": conventions, "variants": 1, "question": [QUESTION, {"type": "choice"}]}
    spec = exam_spec(MappingProxyType(data), Path("midterm.toml"))
    dice = Dice.seeded(3)
    made = make_exam(spec, dice)
    [(_, copy)] = copies(made)
    return paper(spec, copy, made.questions(0)), key(spec, copy.sheet, made.questions(0)), freeze(made, dice)


def found(document, kind):
    return [block for block in all_blocks(document.blocks) if isinstance(block, kind)]


@pytest.mark.slow
def test_papers_and_keys_have_the_layout_that_the_exam_states_and_the_frozen_questions_none():
    (page, answers, _), columns, usual = exam("falk"), exam("columns")[0], exam("matrix")[0]
    assert len(found(page, Falk)) == 2  # scores and output
    assert found(answers, Falk)  # exact weights may be too wide for one
    assert not found(usual, Falk)
    [both] = found(columns, Columns)
    assert len(both.rows) == 3
    assert found(columns, AnswerGrid) == found(usual, AnswerGrid)
    assert len({json.dumps(json.loads(exam(layout)[2])["questions"]) for layout in ("matrix", "falk", "columns")}) == 1


@pytest.mark.slow
def test_conventions_may_be_bare_and_never_left_out():
    bare, full = (exam("matrix", conventions)[0] for conventions in ("bare", "full"))
    assert bare != full
    with refused_saying("conventions is 'none'; one of full, bare was expected"):
        exam("matrix", "none")
    with refused_saying(r"midterm.toml: layout is 'fancy'; one of matrix, falk, columns"):
        exam("fancy")


SENTENCE = "A paragraph of words that goes on until it certainly takes more than one line of a page, which is wide. "
STATED = Display((Relation((Name("X"), MatrixOf(tuple((Number("1"),) * 3 for _ in range(3)))), ("=",)),))


@pytest.mark.parametrize(
    "block",
    [
        Paragraph(as_text("A line of words.")),
        Paragraph(as_text(f"{SENTENCE}{SENTENCE[:60]}")),
        STATED,
        ItemList(tuple(as_text(f"item {k}") for k in range(5))),
        Box("Conventions", (ItemList(tuple(as_text(f"item {k}") for k in range(5))),)),
        Choices(tuple(as_text(f"option {k}") for k in range(4))),
        Choices(tuple(as_text(f"An option that has room in half a line, and no more, number {k}") for k in range(4))),
        Choices(tuple(as_text(f"{SENTENCE}{SENTENCE} {k}") for k in range(3))),
        Choices(tuple((Math(Fraction(Number("1"), Number("2"))), *as_text(f" {SENTENCE[:60]} {k}")) for k in range(4))),
        Choices(((Math(STATED.lines[0]),),) * 3),
    ],
)
def test_a_height_that_is_estimated_is_that_on_paper(block):
    """By where the last line of a page stands that typst has set, three times with the block and without it."""

    def ends(*blocks):
        [high] = LaidOut(write_pdf(Document("T", blocks))).heights(Page())
        return high

    end = Paragraph(as_text("the end"))
    printed = (ends(end, *(block, end) * 3) - ends(*[end] * 4)) / 3
    assert height_on_worksheet(block, Page()) == pytest.approx(printed, rel=0.12)
