"""Worksheets that are filled in by hand have room for it; their pictures stand in docs/pages.md."""

from dataclasses import replace

import handwriting
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.api import make_recipe
from symattn.exact import Matrix
from symattn.formula import Name, Number
from symattn.formula.width import width
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Heading,
    Look,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
)
from symattn.page.writers.paper import Page, space_height
from symattn.page.writers.rows import InRow, in_rows
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.sheets import sheets

NEEDS_FONT = pytest.mark.skipif(not handwriting.FONT.exists(), reason="the handwriting font is not installed")


@pytest.mark.covering(most=1)
@NEEDS_FONT
@pytest.mark.parametrize("each", handwriting.PICTURES, ids=lambda each: each.name)
def test_everything_that_is_written_has_room(each):
    source = handwriting.filled(each.sheet, each.closer)
    pieces, lost = handwriting.without_room(source)
    assert pieces > 40
    assert lost == 0


@NEEDS_FONT
def test_what_has_no_room_is_counted():
    source = handwriting.filled(handwriting.PICTURES[0].sheet)
    smaller = source.replace("size: 14.5pt", "size: 29pt")
    assert smaller != source
    assert handwriting.without_room(smaller)[1] > 20


@given(st.lists(st.fractions(max_denominator=10**4, min_value=-(10**5), max_value=10**5), min_size=1, max_size=6))
def test_every_entry_has_room_in_its_box(entries):
    """By the widths of print: where an entry is too wide, all of its matrix has wider boxes, and nothing ends."""
    kind = cell_kind(Matrix.of([[int(x) if x.denominator == 1 else x for x in entries]]), exact=True)
    parts = [[Number(str(abs(x.numerator))), Number(str(x.denominator))] for x in entries]
    wide = [
        max(map(width, part if x.denominator > 1 else part[:1])) + 0.8 * (x < 0)
        for x, part in zip(entries, parts, strict=True)
    ]
    assert 5 * max(wide) <= {"integer": 12, "decimal": 20, "fraction": 16, "exponential": 32}[kind]


def test_a_step_asked_alone_has_room_for_all_that_leads_to_it():
    recipe = make_recipe("self_attention", seed=1)
    [whole], [alone] = sheets(recipe, 1), sheets(replace(recipe, ask=("A",)), 1)
    page = Page()

    def room(sheet, names):
        spaces = {part.name: part.ask for part in sheet.question.parts if part.name in names}
        return sum(
            space_height(block, page)
            for block in all_blocks([block for ask in spaces.values() for block in ask])
            if isinstance(block, WorkingSpace)
        )

    needed = room(whole, ("Q", "K", "S", "S'", "A"))
    assert room(whole, ("A",)) < needed / 3
    assert needed <= room(alone, ("A",)) <= page.height


@pytest.mark.parametrize("notation", ["note-002", "note-004"])
def test_a_fraction_on_a_line_is_not_too_wide_for_its_box(notation):
    """-21/40 ended the command, where notations print it on a line."""
    (sheet,) = sheets(make_recipe("self_attention_gradient", seed=2, notation=notation), 1)
    assert {"fraction"} == {grid.kind for grid in grids(sheet.question) if grid.step == "dS"}


def grids(question):
    blocks = (block for part in question.parts for block in all_blocks(part.ask))
    return [block for block in blocks if isinstance(block, AnswerGrid)]


def test_the_pictures_are_small_and_stand_in_the_page():
    page = (handwriting.DOCS / "pages.md").read_text("utf-8")
    for each in handwriting.PICTURES:
        assert f"]({each.picture.name})" in page
        assert 10_000 < each.picture.stat().st_size < 150_000


# ------------------------------------------------------------------------------------------------ rows of questions


def question(number, columns, level=1):
    boxes = AnswerSpace(AnswerGrid(Name("Q"), 3, columns), WorkingSpace(7, width=40, count=3 * columns))
    return [Heading((Words(f"{number}. Queries"),), level), Together((boxes,))]


def shown(blocks, page):
    """How many questions stand in each row; 0 for what is no row."""
    return [len(block.questions) if isinstance(block, InRow) else 0 for block in in_rows(blocks, page)]


def test_questions_stand_side_by_side_only_where_that_saves_a_page():
    few = [block for k in range(3) for block in question(k, 2)]
    many = [block for k in range(11) for block in question(k, 2)]
    assert set(shown(few, Page())) == {0}
    assert in_rows(few, Page()) == few
    assert max(shown(many, Page())) > 1


def test_questions_in_a_row_are_no_wider_than_the_page_and_of_one_level():
    wide = [block for k in range(9) for block in question(k, 7)]
    assert max(shown(wide, Page())) <= 1  # two of 7 boxes of 12 mm are more than 174 mm
    levels = [block for k in range(12) for block in question(k, 2, 1 + k % 2)]
    assert max(shown(levels, Page())) <= 1
    for block in in_rows([block for k in range(11) for block in question(k, 2)], Page()):
        if isinstance(block, InRow):
            assert sum(block.widths) <= 174


@pytest.mark.parametrize("page", [Page(Look(text_size=18)), Page(Look(text_size=24)), Page(share=0.5)])
def test_large_print_and_columns_have_one_question_after_the_other(page):
    many = [block for k in range(11) for block in question(k, 2)]
    assert in_rows(many, page) == many
