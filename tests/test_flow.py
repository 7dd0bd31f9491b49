"""Flow sheets: each asked entry has one box in one picture, keys hold what NumPy gives, a blank tells nothing."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html import escape, unescape
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from check_pdf import complaints
from forms import boxes, texts_of, typed
from oracles import floats
from pdf_marks import pages
from printed_lines import value
from test_submissions_markdown import agree, numbers_only
from trials import at_least_one

import symattn
from symattn.formula import NOTHING, Fraction, Name, Relation
from symattn.formula.nodes import children
from symattn.formula.speech import speak
from symattn.foundation.identity import identity
from symattn.foundation.languages import speaking
from symattn.marking.submissions import read_submission
from symattn.page.document import AnswerGrid, Flow, FlowSheet, Look, Solved, all_blocks
from symattn.page.presentation import presented
from symattn.page.writers import flow, html, latex
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.figures import Line
from symattn.page.writers.measure import inlines_width
from symattn.page.writers.paper import Page
from symattn.page.writers.pdf import write_pdf
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.sheets import make_sheet

CASES = [("attention", "standard"), ("self_attention", "columns"), ("multi_head_attention", "standard")]
SMALLEST = 8 / 11  # of 11 pt: 8 pt


@cache
def drawn_sheet(name, notation="standard", exact=True, **sizes):
    [made] = symattn.worksheet(name, seed=7, notation=notation, exact=exact, sizes=sizes or None)
    return made


def pictures_of(made):
    """The flow sheets that may stand in the place of the question."""
    [block] = made.document("key", layout="flow").blocks
    [solved] = block.sheet
    return solved


def only(blocks):
    [sheet] = blocks
    return sheet


def entries_of(grid):
    """The boxes of a grid, by the step and the place that they are the answer's."""
    inside = grid.inside
    return (
        (inside.step, i + grid.start[0], j + grid.start[1]) for i in range(inside.rows) for j in range(inside.columns)
    )


def asked(made):
    shapes = {step.name: step.result.shape for step in made.problem.asked_steps}
    return Counter(
        (name, i, j) for name, (rows, columns) in shapes.items() for i in range(rows) for j in range(columns)
    )


# ------------------------------------------------------------------------------------------------ boxes


@pytest.mark.parametrize(("name", "notation"), CASES)
def test_every_entry_that_is_asked_for_has_one_box(name, notation):
    made = drawn_sheet(name, notation)
    sheet = only(pictures_of(made).ask)
    placed = [grid for picture in flow.fitted(sheet, Page()) for grid in picture.grids]
    for grids in (sheet.grids, placed):
        assert Counter(entry for grid in grids if grid.heading for entry in entries_of(grid)) == asked(made)
    for grid in sheet.grids:
        assert not isinstance(grid.inside, AnswerGrid) or not grid.inside.filled
    headings = [grid.heading for grid in placed if grid.heading]
    assert len(set(headings)) == len(made.question.parts) == len(sheet.headings)


@pytest.mark.parametrize(("name", "notation"), CASES)
def test_the_boxes_of_a_key_hold_the_results_of_their_steps(name, notation):
    made = drawn_sheet(name, notation)
    sheet = only(pictures_of(made).worked)
    heads = {grid.head: grid for grid in sheet.grids if grid.role == "sum"}
    for grid in at_least_one(sheet.grids):
        if not isinstance(grid.inside, AnswerGrid):
            continue
        assert len(grid.inside.filled) == grid.inside.rows * grid.inside.columns
        if grid.inside.step not in asked_names(made):
            continue
        values = floats(made.problem.derivation.value(grid.inside.step))
        sums = [shown(x, {}) for _, x in heads[grid.head].inside.filled] if grid.head in heads else ()
        for (i, j), formula in grid.inside.filled:
            expected = values[i + grid.start[0], j + grid.start[1]]
            assert shown(formula, dict(enumerate(sums, 1))) == pytest.approx(expected, abs=5e-3), (grid.role, i, j)


def asked_names(made):
    return {step.name for step in made.problem.asked_steps}


def shown(formula, sums):
    """What stands in a box, as floating point: a number, one over the name of a sum, or a rounded one."""
    match formula:
        case Relation((first, rounded), ("≈",)) if first == NOTHING:
            return float(value(rounded))
        case Fraction(above, Name("r", (index,))):
            return float(value(above)) / sums[int(value(index))]
    return -np.inf if on_one_line(formula) == "−∞" else float(value(formula))


@pytest.mark.parametrize("notation", ["standard", "columns"])
def test_the_first_token_is_done_on_a_partly_worked_sheet(notation):
    sheet = only(pictures_of(drawn_sheet("self_attention", notation)).partly)
    line = 0 if notation == "standard" else 1
    for grid in at_least_one(sheet.grids):
        if isinstance(grid.inside, AnswerGrid):
            turned = grid.role == "K^T"
            assert {cell[1 - line if turned else line] for cell, _ in grid.inside.filled} == {0}


def test_a_key_gives_exactly_what_has_no_room_in_its_box():
    made = drawn_sheet("self_attention", n=4, d_model=4, d_k=4, d_v=4)
    solved = pictures_of(made)
    rounded = {
        grid.inside.step
        for grid in only(solved.worked).grids
        if isinstance(grid.inside, AnswerGrid) and any("≈" in on_one_line(x) for _, x in grid.inside.filled)
    }
    wording = wording_of(made.problem)
    said = [repr(block) for block in solved.key]
    assert rounded
    for step in rounded:
        assert any(repr(wording.number(made.problem.derivation.value(step)[0, 0])) in block for block in said)


# ------------------------------------------------------------------------------------------------ the picture


@pytest.mark.parametrize(("name", "notation"), CASES)
def test_factors_stand_beside_and_below_their_products_and_nothing_overlaps(name, notation):
    for version in (pictures_of(drawn_sheet(name, notation)).ask, pictures_of(drawn_sheet(name, notation)).worked):
        [picture] = flow.fitted(only(version), Page())
        placed = [shape.grid for shape in picture.shapes if isinstance(shape, flow.Boxes)]
        taken = (area for kind, area in areas_of(picture) if kind == "boxes")
        spans = {(grid.role, grid.head): area for grid, area in zip(placed, taken, strict=True)}
        for one, (left, top, right, bottom) in spans.items():
            assert min(left, top) >= 0, one
            assert right <= picture.width + 0.1, one
            assert bottom <= picture.height + 0.1, one
            for other, (x, y, x_end, y_end) in spans.items():
                assert one == other or right <= x or x_end <= left or bottom <= y or y_end <= top, (one, other)
        beside, below = ({"S": "Q", "Z": "A"}, {"S": "K^T", "Z": "V", "A": "S", "exp": "S"})
        if notation == "columns":
            beside, below = ({"S": "K^T", "Z": "V", "Q": "W_Q"}, {"S": "Q", "Q": "X", "Z": "A", "A": "S"})
        for (role, head), (left, top, right, bottom) in spans.items():
            if (factor := spans.get((beside.get(role, ""), head))) is not None:
                assert (factor[1], factor[3]) == pytest.approx((top, bottom), abs=0.15), role
                assert factor[2] < left
            if (factor := spans.get((below.get(role, ""), head))) is not None:
                assert (factor[0], factor[2]) == pytest.approx((left, right), abs=0.15), role
                assert factor[1] > bottom


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("name", "notation"), CASES[1:2])
def test_no_words_touch_anything_else_or_stand_out_of_the_picture(name, notation, exact):
    for version in (blocks := pictures_of(drawn_sheet(name, notation, exact))).ask, blocks.worked:
        [picture] = flow.fitted(only(version), Page())
        things = list(areas_of(picture))
        for k, (kind, (left, top, right, bottom)) in enumerate(things):
            assert kind != "words" or (left > -0.1 and right < picture.width + 0.1), picture.shapes[k]
            for other, (x, y, x_end, y_end) in things[k + 1 :]:
                apart = right <= x or x_end <= left or bottom <= y or y_end <= top
                assert apart or "words" not in (kind, other), ((left, top, right, bottom), (x, y, x_end, y_end))


def areas_of(picture):
    """What every shape takes of the picture, words by their estimated width; an arrow for each of its pieces."""
    em, x_height = 3.88 * 0.95, 1.7  # in millimetres at 11 pt: widths are reckoned generously
    for shape in picture.shapes:
        match shape:
            case flow.Boxes(grid, x, y):
                rows, columns = flow.shape_of(shape.grid)
                yield "boxes", (x, y, x + columns * grid.cell[0], y + rows * grid.cell[1])
            case flow.Token(_, x, y, wide, high):
                yield "token", (x, y, x + wide, y + high)
            case flow.Title(_, lines, x, y, ends):
                for k, line in enumerate(reversed(lines)):
                    wide, middle = inlines_width(line) * em, y - (k + 0.5) * flow.TITLE
                    left = x - wide * ends
                    yield "words", (left, middle - x_height, left + wide, middle + x_height)
            case flow.Note(content, x, y):
                yield "words", (x, y - x_height, x + inlines_width(content) * em, y + x_height)
            case Line(points):
                for (x, y), (x_end, y_end) in pairwise(points):
                    yield "arrow", (min(x, x_end), min(y, y_end), max(x, x_end), max(y, y_end))


def given_sheet(n, d, exact):
    """A sheet of n tokens of d features, with any numbers: such that come out well take long to find for many."""
    rng = Random(n)
    shapes = {"X": (n, d), "W_Q": (d, d), "W_K": (d, d), "W_V": (d, d)}
    given = {
        name: [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]
        for name, (rows, columns) in shapes.items()
    }
    return make_sheet(replace(symattn.derive("self_attention", **given).problem, exact=exact))


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("n", "d", "exact"), [(2, 6, False), (4, 3, True), (6, 6, True)])
def test_nothing_is_too_small_to_read_whatever_the_sizes(n, d, exact):
    made = given_sheet(n, d, exact)
    for paper in ("a4", "letter"):
        page = Page(Look(paper=paper))
        pictures = flow.fitted(only(pictures_of(made).ask), page)
        assert 1 <= len(pictures) <= 2
        assert all(picture.smaller(page) >= SMALLEST for picture in pictures)
        assert Counter(e for p in pictures for g in p.grids if g.heading for e in entries_of(g)) == asked(made)


def test_tokens_differ_in_their_marks():
    sheet = only(pictures_of(drawn_sheet("cross_attention")).ask)
    [picture] = flow.fitted(sheet, Page())
    told = {shape.token for shape in picture.shapes if isinstance(shape, flow.Token)}
    assert told == set(range(len(sheet.tokens))) == set(range(2 + 3))
    assert len({token % flow.PATTERNS for token in told}) == len(told)


def test_the_dot_product_tells_no_number_on_a_blank_sheet():
    for sheet, numbers in ((only(pictures_of(drawn_sheet("self_attention")).ask), False),
                           (only(pictures_of(drawn_sheet("self_attention")).worked), True)):  # fmt: skip
        names = [on_one_line(part) for part in sheet.dot]
        assert names[:2] == ["s₃₁", "q₃₁·k₁₁ + q₃₂·k₁₂ + q₃₃·k₁₃ + q₃₄·k₁₄"]
        assert (len(names) > 2) == numbers


# ------------------------------------------------------------------------------------------------ on paper


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "notation"), CASES[1:])
def test_a_sheet_is_one_page_and_accessible(name, notation):
    made = drawn_sheet(name, notation)
    blank = presented(replace(made.document(layout="flow"), look=Look(fillable=True)))
    data = write_pdf(blank)
    assert len(list(pages(data))) == 1
    assert complaints(blank) == []
    assert complaints(replace(blank, look=Look(language="de", decimal=","))) == []
    assert len(list(pages(write_pdf(made.document("key", layout="flow"))))) == 1
    fields = Counter(box.name.partition("/")[2] for box in boxes(data) if box.kind == "grid")
    parts = [part.name for part in made.question.parts]
    assert fields == Counter(f"{parts.index(step) + 1}/grid/1/{i + 1}/{j + 1}" for step, i, j in asked(made))


def test_a_key_of_two_heads_is_one_page_with_its_exact_values_marks_and_checks():
    for made in symattn.worksheet("multi_head_attention", n=4, seed=3):
        assert len(list(pages(write_pdf(made.document("key", layout="flow"))))) == 1


def test_latex_draws_every_number_of_a_key_and_none_of_a_blank_sheet():
    made = drawn_sheet("self_attention")
    blank, worked = (latex.write(made.document(s, layout="flow")) for s in ("blank", "worked"))
    body = blank[blank.index("\\begin{document}") :]
    assert body.count("\\begin{flowsheet}") == 1
    assert worked.count("\\begin{flowsheet}") > 1  # all versions, with a switch
    given = sum(m.shape[0] * m.shape[1] for m in made.problem.givens.values())
    assert body.count("\\flowentry") == given


def test_large_print_has_the_usual_form():
    made = drawn_sheet("self_attention")
    look = Look(text_size=24, paper="letter")
    usual, other = (html.write(replace(made.document(layout=x), look=look)) for x in ("matrix", "flow"))
    assert main_of(other) == main_of(usual)


def main_of(page):
    return page[page.index("<main>") :]


# ------------------------------------------------------------------------------------------------ reading back


def test_a_form_filled_in_is_read_back():
    q = drawn_sheet("multi_head_attention").question
    sheet, wanted = identity(q.frozen), numbers_only(q)
    document = question_document(q, sheet, "symattn worksheet x", layout="flow")
    data = write_pdf(presented(replace(document, look=Look(fillable=True))))
    texts = texts_of(sheet, [q], [wanted], letters=False)
    copied = {box.name: "1" for box in boxes(data) if box.kind == "copy"}
    found = read_submission(typed(data, texts | copied), [q])
    agree(found.attempts[0], wanted)
    assert copied
    assert len(found.attempts[0].remarks) == 1  # what is written beside the boxes was not marked


@pytest.mark.parametrize(("name", "notation", "language"), [(*CASES[1], "en"), ("cross_attention", "standard", "de")])
def test_a_page_filled_in_is_all_right_whatever_stands_in_the_boxes_for_working(name, notation, language):
    made = drawn_sheet(name, notation)
    page = html.write(presented(replace(made.document(layout="flow"), look=Look(language=language))))
    assert "<details" not in page
    with speaking(language):
        page = filled(page, made, "5")
    marking = symattn.check(made, page)
    assert marking.right


def filled(page, made, working):
    """The page with every answer in its box, found by what is read out for it, and something in all others."""
    wording = wording_of(made.problem)
    steps = {speak(wording.name(step.name)): step for step in made.problem.asked_steps}

    def answered(found):
        label = re.search(r'aria-label="([^"]*)"', found[0])
        assert label
        numbers = re.findall(r"\d+", label[1])
        name = max((n for n in steps if unescape(label[1]).startswith((f"{n},", f"{n}，"))), key=len, default="")
        if len(numbers) < 2:
            return found[0]  # a line of the head
        i, j = (int(x) - 1 for x in numbers[-2:])
        value = str(steps[name].result[i, j]) if name else working
        return found[0].replace('placeholder=" "', f'placeholder=" " value="{escape(value)}"')

    return re.sub(r'<input type="text"[^>]*/>', answered, page)


# ------------------------------------------------------------------------------------------------ the usual form


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("multi_head_attention", {"heads": 3, "sizes": {"d_k": 2}}),
        ("self_attention", {"by": "token"}),
        ("linear_attention", {}),
        ("layer_norm", {}),
        ("attention", {"problem": "masks"}),
    ],
)
def test_what_has_no_flow_sheet_stands_in_the_usual_form(name, more):
    [made] = symattn.worksheet(name, seed=3, **more) if "problem" not in more else symattn.worksheet(seed=3, **more)
    for solutions in ("blank", "key"):
        usual, other = (made.document(solutions, layout=layout) for layout in ("matrix", "flow"))
        assert other == usual


@pytest.mark.parametrize("writer", ["text", "markdown", "notebook"])
def test_formats_without_pictures_have_the_usual_form(writer):
    write = __import__(f"symattn.page.writers.{writer}", fromlist=["write"]).write
    made = drawn_sheet("self_attention")
    for solutions in ("partly", "key"):
        usual, other = (made.document(solutions, layout=layout) for layout in ("matrix", "flow"))
        assert write(other) == write(usual)


def test_a_derivation_begins_with_its_sheet_and_says_all_that_it_said():
    numbers = {"Q": [[1, 0], [2, 1]], "K": [[1, 2], [0, 1]], "V": [[1, 3], [2, 0]]}
    usual, other = (symattn.derive("attention", layout=layout, **numbers).document for layout in ("matrix", "flow"))
    [picture] = [block for block in other.blocks if isinstance(block, Flow)]
    assert not picture.otherwise
    assert [block for block in other.blocks if block is not picture] == list(usual.blocks)
    assert all(len(grid.inside.filled) == grid.inside.rows * grid.inside.columns
               for grid in only(picture.sheet).grids if isinstance(grid.inside, AnswerGrid))  # fmt: skip


def test_no_solution_is_in_a_blank_document():
    for name, _ in CASES:
        document = drawn_sheet(name).document(layout="flow")
        assert not any(isinstance(block, Solved) for block in all_blocks(document.blocks))
        for sheet in (block for block in all_blocks(document.blocks) if isinstance(block, FlowSheet)):
            assert all(isinstance(x, Name) for part in sheet.dot for x in _leaves(part))


def _leaves(formula):
    if isinstance(formula, Name) or not (inside := tuple(children(formula))):
        yield formula
    for child in () if isinstance(formula, Name) else inside:
        yield from _leaves(child)
