"""Layouts: Falk's scheme and two columns say what the usual form says, for every mechanism and on every sheet."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from math import e, prod, sqrt

import numpy as np
import pytest
from click.testing import CliRunner

import symattn
from symattn.cli import main
from symattn.derivation.derivation import Step
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.derivation.ops import MatMul
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.formula import (
    Blank,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Sum,
)
from symattn.page.document import (
    AnswerGrid,
    Block,
    Blocks,
    Columns,
    Display,
    Document,
    Entries,
    Falk,
    Heading,
    Math,
    Paragraph,
    Together,
    Words,
    all_blocks,
    blocks_inside,
    settled,
    spans,
)
from symattn.page.notation import load_notation
from symattn.page.writers import html
from symattn.page.writers.text import on_one_line
from symattn.teaching.explanation import derivation_document
from symattn.teaching.explanation.layouts import LAYOUTS, Layout
from symattn.teaching.fairness import draw
from symattn.teaching.fairness.separation import Separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type, problem_types
from symattn.teaching.problems.full import question
from symattn.teaching.sheets import Sheet

MECHANISMS = list(mechanisms())


@cache
def sheet(name: str = "self_attention") -> Sheet:
    """A derivation of every mechanism, with numbers of its own drawing, as a worksheet."""
    chosen, spec = mechanism(name), problem_type("full").spec({"mechanism": name})
    settings = spec.chosen_settings()
    d = chosen.run(draw(chosen, settings, spec.chosen_sizes(), random.Random(7)).givens, settings)
    problem = Problem(chosen.title, name, d, load_notation("standard"))
    return Sheet(question(problem, {}, Separation(d, ())), name)


def number(formula: Formula) -> float:
    """A printed number, as floating point."""
    match formula:
        case Number(digits):
            return float(digits)
        case Name("e"):
            return e
        case Negative(body):
            return -number(body)
        case Sum(terms):
            return sum(map(number, terms))
        case Product(factors):
            return prod(map(number, factors))
        case Fraction(above, below):
            return number(above) / number(below)
        case Power(base, exponent):
            return number(base) ** number(exponent)
        case Root(body):
            return sqrt(number(body))
        case _:
            raise ValueError(on_one_line(formula))


def numbers(grid: MatrixOf) -> np.ndarray:
    return np.array([[number(cell) for cell in row] for row in grid.rows])


def is_numeric(grid: MatrixOf) -> bool:
    try:
        numbers(grid)
    except (ValueError, OverflowError):
        return False
    return True


def schemes(document: Document) -> list[Falk]:
    return [block for block in all_blocks(document.blocks) if isinstance(block, Falk)]


def products(made: Sheet) -> list[Step]:
    return [step for step in made.problem.steps if isinstance(step.op, MatMul)]


def formulas(document: Document) -> Counter[str]:
    """Every entry that is worked out."""
    blocks = all_blocks(settled(document).blocks)
    return Counter(repr(x) for block in blocks if isinstance(block, Entries) for x in block.equations)


# ------------------------------------------------------------------------------------------------ Falk's scheme


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_in_every_scheme_the_factors_make_the_product(name: str) -> None:
    made = sheet(name)
    found = schemes(derivation_document(made.problem, layout="falk"))
    assert len(found) >= min(1, len(products(made)))
    for scheme in found:
        assert isinstance(scheme.inside, MatrixOf)
        left, above, inside = scheme.left, scheme.above, scheme.inside
        assert len(scheme.names) == 2
        assert (len(left.rows), len(above.rows[0])) == (len(inside.rows), len(inside.rows[0]))
        if all(map(is_numeric, (left, above, inside))):
            rounded = made.problem.derivation.arithmetic != "exact"  # to four places, on the page alone
            tolerance = 5e-3 if rounded else 1e-9
            np.testing.assert_allclose(numbers(left) @ numbers(above), numbers(inside), rtol=tolerance, atol=tolerance)


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("layout", ["falk", "columns", "flow"])
def test_a_layout_changes_no_entry(name: str, layout: str) -> None:
    problem = sheet(name).problem
    usual = derivation_document(problem)
    other = derivation_document(problem, layout=layout)  # type: ignore[arg-type]
    assert formulas(other) == formulas(usual)
    assert formulas(usual)


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", MECHANISMS)
def test_boxes_of_every_product_stand_in_a_scheme_that_shows_what_is_given(name: str) -> None:
    made = sheet(name)
    blank = made.document(layout="falk")
    asked = {step.name for step in made.problem.asked_steps}
    assert len(schemes(blank)) == sum(step.name in asked for step in products(made))
    given = [m for m in made.problem.givens.values() if isinstance(m, Matrix)]
    shown = [np.array(m.rows, dtype=float) for m in (*given, *(m.T for m in given))]
    lines = [row[None] for m in shown for row in m]  # one token's row, or column
    known = [*shown, *lines, *(line.T for line in lines)]
    for scheme in schemes(blank):
        assert isinstance(scheme.inside, AnswerGrid)
        assert not scheme.inside.filled
        assert len(scheme.left.rows) == scheme.inside.rows
        assert len(scheme.above.rows[0]) == scheme.inside.columns
        for factor in (scheme.left, scheme.above):
            cells = [cell for row in factor.rows for cell in row]
            if all(isinstance(cell, Blank) for cell in cells) or not is_numeric(factor):
                assert not any(isinstance(cell, Number | Negative | Fraction | Sum) for cell in cells)
            else:
                values = numbers(factor)
                assert any(m.shape == values.shape and np.allclose(m, values) for m in known)


def test_a_scheme_written_out() -> None:
    d = symattn.derive("self_attention", X=[[1, 2]], W_Q=[[1, 0], [3, 1]], W_K=[[1, 0], [0, 1]],
                       W_V=[[1], [2]], layout="falk")  # fmt: skip
    first = next(block for block in all_blocks(d.document.blocks) if isinstance(block, Falk))
    assert isinstance(first.inside, MatrixOf)
    assert [on_one_line(x) for x in (first.left, first.above, first.inside)] == ["[1 2]", "[1 0; 3 1]", "[7 2]"]
    [group] = [block for block in d.document.blocks if isinstance(block, Together) and first in block.blocks]
    rule = group.blocks[0]
    assert isinstance(rule, Display)
    assert len(rule.lines) == 1


def test_letters_are_multiplied_in_a_scheme_by_name() -> None:
    d = symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 2}, layout="falk")
    first = schemes(d.document)[0]
    assert isinstance(first.inside, MatrixOf)
    assert on_one_line(first.left.rows[0][0]) == "q₁₁"
    assert on_one_line(first.inside.rows[0][0]) == "s₁₁"


def test_what_is_missing_from_a_faded_example_is_in_no_factor() -> None:
    """Entries of a given matrix may be blank as well: then its numbers stand in no scheme."""
    [made] = symattn.worksheet("attention", problem="faded", seed=3, options={"backwards": True})
    blanks = made.question.frozen["blanks"]
    assert isinstance(blanks, dict)
    for scheme in schemes(made.document(layout="falk")):
        for factor in (scheme.left, scheme.above):
            if not any(isinstance(cell, Blank) for row in factor.rows for cell in row) and is_numeric(factor):
                for name in blanks:
                    matrix = made.problem.derivation.value(name)
                    assert isinstance(matrix, Matrix)
                    for m in (matrix, matrix.T):
                        values = np.array([[float(symattn.exact.decimal_text(x, 9)) for x in row] for row in m.rows])
                        assert values.shape != numbers(factor).shape or not np.allclose(values, numbers(factor))


# ------------------------------------------------------------------------------------------------ columns


def flat(blocks: Blocks) -> list[Block]:
    """Blocks in reading order, without those that only hold others."""
    found: list[Block] = []
    for block in blocks:
        inside = () if isinstance(block, Falk) else blocks_inside(block)
        found += flat(inside) if inside else [block]
    return found


def without_rules(blocks: Blocks) -> tuple[list[str], list[Formula]]:
    """What stands there but for rules, and the rules in turn: those stand in a heading or below it."""
    rest: list[str] = []
    rules: list[Formula] = []
    for block in flat(blocks):
        match block:
            case Heading(content):
                in_it = [span.formula for span in spans(content) if isinstance(span, Math)]
                rules += [formula for formula in in_it if isinstance(formula, Relation)]
                words = "".join(span.text for span in spans(content) if isinstance(span, Words)).rstrip(": ")
                rest.append(f"{block.label} {words} {block.marks}")
            case Display((Relation() as rule,), role="rule"):
                rules.append(rule)
            case _:
                rest.append(repr(block))
    return rest, rules


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_columns_hold_every_part_in_its_order(name: str) -> None:
    made = sheet(name)
    usual, columns = (without_rules(made.document(layout=layout).blocks) for layout in ("matrix", "columns"))
    assert columns == usual
    assert any(isinstance(block, Columns) for block in made.document(layout="columns").blocks)


def test_columns_hold_every_question_of_the_usual_worksheet() -> None:
    """The first asks for a shape as well, in a sentence."""
    (made,) = symattn.worksheet(seed=7)
    blocks = made.document(layout="columns").blocks
    (columns,) = (block for block in blocks if isinstance(block, Columns))
    assert len(columns.rows) == len(made.question.parts) == 7


@pytest.mark.covering(most=11)
@pytest.mark.parametrize("name", MECHANISMS)
def test_steps_stand_at_the_left_and_their_working_at_the_right(name: str) -> None:
    problem = sheet(name).problem
    rows = [
        row
        for block in derivation_document(problem, layout="columns").blocks
        if isinstance(block, Columns)
        for row in block.rows
    ]
    assert len(rows) == len(problem.steps)
    for left, right in rows:
        assert isinstance(left[0], Paragraph)
        assert not any(isinstance(block, Entries) for block in left)
        assert len(left) == 1 or isinstance(left[1], Display)
        assert right or len(left) > 1


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("problem", list(problem_types()))
def test_every_problem_type_in_every_layout(problem: str) -> None:
    """A layout moves things and loses none: the same boxes, choices and tables, with the same headings."""
    [made] = symattn.worksheet(problem=problem, level="starter", seed=7)
    for solutions in ("blank", "key"):
        usual = Counter(_kept(made.document(solutions)))  # type: ignore[arg-type]
        for layout in ("falk", "columns"):
            other = Counter(_kept(made.document(solutions, layout=layout)))  # type: ignore[arg-type]
            assert other == usual


def _kept(document: Document) -> list[str]:
    moved = Display | Falk | Columns
    return without_rules([block for block in all_blocks(settled(document).blocks) if _is_leaf(block, moved)])[0]


def _is_leaf(block: Block, moved: object) -> bool:
    return not isinstance(block, moved) and not blocks_inside(block)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ choosing


@pytest.mark.covering(most=8, product=False)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_shape_that_has_a_mark_is_asked_for_and_no_mark_is_for_nothing(name: str, layout: Layout) -> None:
    """B marks stand beside method and accuracy: whoever gives one has to be told what for."""
    made = sheet(name)
    marks = [mark for part in made.question.parts for mark in part.marks]
    assert all(mark.what for mark in marks if mark.code == "B" and len(marks) > 1)
    blank = html.write(made.document("blank", layout=layout))
    assert blank.count("(rows × columns) beside its name.") == sum(mark.rule == "shapes" for mark in marks)


def test_the_frozen_set_knows_no_layout(tmp_path) -> None:
    for layout in ("matrix", "falk", "columns"):
        done = CliRunner().invoke(
            main, ["worksheet", "--seed", "3", "--layout", layout, "--format", "text", "--out", str(tmp_path / layout)]
        )
        assert done.exit_code == 0, done.output
    frozen = {layout.name: (layout / "self-attention-3.json").read_bytes() for layout in tmp_path.iterdir()}
    assert len(set(frozen.values())) == 1
    papers = {(layout / "self-attention-3-01.txt").read_text() for layout in tmp_path.iterdir()}
    assert len(papers) == 3


def test_a_layout_that_there_is_not_is_named() -> None:
    with pytest.raises(InputError, match="layout is 'fancy'; one of matrix, falk, columns, flow was expected"):
        sheet().document(layout="fancy")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="A note as it was written has a layout of its own"):
        assert symattn.derive("note-000", corrected=False, layout="falk").document


def test_a_note_in_another_layout_keeps_its_errata() -> None:
    headings = [block for block in symattn.derive("note-000", layout="columns").document.blocks
                if isinstance(block, Heading)]  # fmt: skip
    assert Words("Errata corrected here") in [part for heading in headings for part in heading.content]
