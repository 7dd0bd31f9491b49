"""Where pages may end: boxes stay with what they are for, space for working goes on, marks stay with their reasons."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import pytest
from pypdf import PdfReader

import symattn
from symattn.formula import Blank, MatrixOf, Name, Number, Relation
from symattn.page.document import (
    AnswerGrid,
    Block,
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
    blocks_inside,
)
from symattn.page.writers import latex
from symattn.page.writers.common import stays_with_next
from symattn.page.writers.pdf import write_pdf
from symattn.page.writers.typst import write
from symattn.teaching.explanation.solutions import space_apart
from symattn.teaching.problems import problem_types
from symattn.teaching.sheets import Sheet


@pytest.fixture(scope="module", params=list(problem_types()))
def sheet(request: pytest.FixtureRequest) -> Sheet:
    [made] = symattn.worksheet(problem=request.param, seed=7)
    return made


def leaves(block: Block) -> list[Block]:
    inside = blocks_inside(block)
    return [leaf for part in inside for leaf in leaves(part)] if inside else [block]


def texts(document: Document) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(write_pdf(document))).pages]


@pytest.mark.covering(most=2)
def test_boxes_stay_with_what_is_asked_and_space_for_working_comes_after_them(sheet: Sheet) -> None:
    blocks = sheet.document().blocks
    starts = [k for k, block in enumerate(blocks) if isinstance(block, Heading) and block.marks]
    assert len(starts) == len(sheet.question.parts)
    numbered = zip(sheet.question.parts, starts, [*starts[1:], len(blocks)], strict=True)
    for number, (part, start, end) in enumerate(numbered, 1):
        group, *after = blocks[start + 1 : end]
        assert isinstance(group, Together)
        apart = [block for block in after if isinstance(block, WorkingSpace)]
        assert all(space.label == f"{number}." for space in apart)  # which on another page says what it is for
        printed = Counter(map(repr, [*leaves(group), *(replace(space, label="") for space in apart)]))
        assert printed == Counter(repr(leaf) for block in part.ask for leaf in leaves(block))  # nothing is lost
        boxes = any(isinstance(block, AnswerGrid) for block in group.blocks)
        within = any(isinstance(block, WorkingSpace) and not block.ruled for block in group.blocks)
        assert not within if boxes else not apart


@pytest.mark.parametrize("boxes", [AnswerGrid(Name("Q"), 2, 2), Falk(MatrixOf(()), MatrixOf(()), MatrixOf(()))])
def test_only_space_beside_boxes_is_set_apart(boxes: Block) -> None:
    asked, space, lines = Paragraph((Words("Work it out."),)), WorkingSpace(40), WorkingSpace(40, ruled=True)
    assert space_apart((asked, space, boxes), "3.") == ((asked, boxes), (WorkingSpace(40, label="3."),))
    assert space_apart((asked, space), "3.") == ((asked, space), ())
    assert space_apart((asked, lines, boxes), "3.") == ((asked, lines, boxes), ())


def test_space_for_working_has_its_number_in_the_corner() -> None:
    document = Document("A sheet", (WorkingSpace(40, label="(c)"),))
    assert "(c)" in texts(document)[0]
    assert "\\workingspace[(c)]{40}" in latex.write_beside_macros(document)


def test_space_for_working_goes_on_on_the_next_page() -> None:
    """Three spaces, each higher than half a page, take two pages and not three."""
    assert len(texts(Document("A sheet", (WorkingSpace(140),) * 3))) == 2


@pytest.mark.parametrize("size", [11, 24])
def test_a_row_of_a_table_is_on_one_page(size: int) -> None:
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


def test_no_heading_in_large_print_is_left_alone() -> None:
    """Options that are nearly as high as a page go on on the next one."""
    options = tuple((Words(f"option {k} " + "with some words " * 5),) for k in range(8))
    asked = Together((Paragraph((Words("Tick everything that is true."),)), Choices(options)))
    pages = texts(Document("A sheet", (Heading((Words("True or false"),)), asked), look=Look(text_size=24)))
    [page] = [page for page in pages if "True or false" in page]
    assert "option 0" in page.replace("\n", " ")


def test_marks_stay_with_what_earns_them() -> None:
    marks, listed = Paragraph((Words("Marks"),), "B1"), ItemList(((Words("a reason"),),))
    short, long = (Display((Relation((Name("x"), Number("1")), ("=",)),) * lines) for lines in (3, 30))
    words = Paragraph((Words("Said."),))
    assert stays_with_next([listed, marks, short, marks, long, marks, words], False) == [
        True, False, True, False, False, False, False,
    ]  # fmt: skip
    assert stays_with_next([Heading((Words("4. One token"),)), words, short], False) == [False, True, False]


def test_aligned_lines_are_one_block_however_high_if_they_fit() -> None:
    """Rows of given matrices begin at the same place, also where they are higher together than half a page."""
    column = MatrixOf(tuple((Number(str(k)),) for k in range(9)))
    lines = tuple(Relation((Name("W", (Name(c),)), column), ("=",)) for c in "abcd")
    assert write(Document("A sheet", (Display(lines),))).count("#formulas(") == 1


def test_a_blank_in_a_table_has_room_for_handwriting() -> None:
    cell = (Math(Blank("integer")),)
    table = Table(((Words("Matrix"),), (Words("Rows"),)), (((Words("Q"),), cell), ((Words("K"),), (Words("3"),))))
    assert write(Document("A sheet", (table,))).count("[#room-to-write") == 1
