"""Where tokens are columns, a question asks for what it asks for where they are rows, transposed."""

import re

import pytest
import sympy
from scripts import key_script
from tables import tables_beside

import symattn
from symattn.formula import read_formula
from symattn.foundation.dice import Dice
from symattn.marking.attempt import Attempt, Grid, Grids, Shaded, Shaped
from symattn.marking.marker import mark
from symattn.marking.submissions.entries import grid
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.asking import for_columns
from symattn.teaching.problems.prove import THEOREMS
from symattn.teaching.problems.shapes import FAULTS
from symattn.teaching.question import (
    CellsAnswer,
    MatrixAnswer,
    matrix_of,
)

TABLES = tables_beside(__file__)


def both(problem, seed, level):
    """One question with tokens as rows and with tokens as columns: the same content in two notations."""
    rows = symattn.worksheet(problem=problem, seed=seed, level=level)[0].question
    columns = problem_type(problem).make({**rows.content, "notation": "columns"})
    problem_type(problem).prove(columns)
    return rows, columns


def laid(said):
    """An answer laid so that tokens are columns: the transpose of what it is where they are rows."""
    match said:
        case Grid():
            return said.T
        case Grids(grids):
            return Grids({name: own.T for name, own in grids.items()})
        case Shaded(cells):
            return Shaded(frozenset((j, i) for i, j in cells))
        case Shaped(shape):
            return Shaped(shape and shape[::-1])
    return said


def check(rows, columns):
    """Every answer is the transposed one, and earns everything."""
    key = key_script(columns)
    for own in rows.parts:
        said = key_script(rows).answers[own.name]
        turned = laid(said)
        if rows.type == "shapes" and isinstance(own.answer, MatrixAnswer):  # a table with a shape in every row
            turned = Grid(tuple(row[::-1] for row in said.rows))
        assert turned == key.answers[own.name], own.name
    report = mark(columns, key)
    assert sum(given.given for given in report.marks) == columns.marks
    assert not report.events
    assert not report.notices


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    ("problem", "level"), [("masks", "starter"), ("masks", "long"), ("shapes", "standard"), ("design", "long")]
)
def test_every_answer_is_the_transposed_one_and_no_other(problem, level):
    for seed in (1, 3):
        rows, columns = both(problem, seed, level)
        check(rows, columns)
        right = [given.given for given in mark(columns, key_script(rows)).marks if given.given == given.of]
        assert sum(right) < columns.marks


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", THEOREMS)
def test_every_theorem_has_its_numbers_transposed(name):
    chosen = problem_type("prove")
    spec = chosen.spec({"type": "prove", "options": {"theorem": name}})
    content = chosen.draw(spec, Dice.seeded(7).rng(1), 1, {})
    rows, columns = (chosen.make({**content, "notation": notation}) for notation in ("standard", "columns"))
    chosen.prove(columns)
    check(rows, columns)


def phrases_of(theorem):
    return [theorem.statement, *theorem.points, *theorem.proof, *theorem.first.ask, *theorem.second.ask,
            theorem.first.key, theorem.second.key, (theorem.given,), *((why,) for why in theorem.first.why),
            *((why,) for why in theorem.second.why)]  # fmt: skip


BANKED = {
    **{f"{name} {k}": said for name, one in THEOREMS.items() for k, said in enumerate(phrases_of(one))},
    **{fault.formula: fault.why for fault in FAULTS.values()},
}


@pytest.mark.parametrize("phrase", BANKED.values(), ids=BANKED)
def test_what_names_rows_alone_is_said_anew_of_columns(phrase):
    """And what names columns alone, of rows; both together, or neither, are the same either way."""
    named, *turned = (re.findall(r"\b(row|column)s?\b", text.lower()) for text in phrase or ("",))
    if len(set(named)) == 1:
        assert turned == [[{"row": "column", "column": "row"}[line] for line in named]]


@pytest.mark.parametrize(
    ("rows", "columns"),
    TABLES["turned"],
)  # fmt: skip
def test_factors_change_places_where_they_are_matrices(rows, columns):
    assert for_columns(read_formula(rows)) == read_formula(columns)


def mask(kind, number=1):
    chosen = problem_type("masks")
    spec = chosen.spec({"type": "masks", "notation": "columns", "options": {"kind": kind}})
    return chosen.make(chosen.draw(spec, Dice.seeded(7).rng(number), number, {}))


def test_the_wrong_triangle_and_whole_queries_are_named_and_counted_as_they_lie():
    """The upper triangle is what a causal mask leaves where a column is a query; marks are for whole columns."""
    question = mask("causal")
    n = len(question.content["tokens"])
    later = frozenset((i, j) for i in range(n) for j in range(n) if i > j)
    assert question.parts[0].answer == CellsAnswer((n, n), later, True)
    report = mark(question, Attempt({"shade": Shaded(frozenset((j, i) for i, j in later))}))
    assert [c.id for c in report.events[0].candidates][:1] == ["M2"]
    weights = key_script(question).answers[question.parts[2].name]
    wrong = question.content["asked"][0]
    spoilt = grid([["7/9" if j == wrong and x.value else x.text for j, x in enumerate(row)] for row in weights.rows])
    report = mark(question, Attempt({"weights": spoilt}))
    (accurate,) = [given for given in report.marks if given.parts == ("weights",) and given.code == "A"]
    assert (accurate.given, accurate.of) == (2, 4)
    assert accurate.why is not None
    assert (accurate.why.reason, accurate.why.right, accurate.why.of) == ("columns", 1, 2)


def test_weights_follow_from_the_own_mask_as_it_lies():
    """Weights under the other triangle, which was shaded, are marked as what follows from it."""
    question = mask("window")
    shading = question.parts[0].answer
    (rows, columns), own = shading.shape, frozenset(shading.cells - {max(shading.cells)})
    scores = matrix_of(question.problem.derivation, "S'")
    powers = [
        [0 if (i, j) in own else sympy.exp(sympy.sympify(str(scores[i, j]))) for j in range(columns)]
        for i in range(rows)
    ]
    weights = [[sympy.simplify(x / sum(row[j] for row in powers)) for j, x in enumerate(line)] for line in powers]
    asked = question.content["asked"]
    shown = grid([[str(x) if j in asked else "" for j, x in enumerate(line)] for line in weights])
    report = mark(question, Attempt({"shade": Shaded(own), "weights": shown}))
    assert {v.state for v in report.verdicts if v.part == "weights"} <= {"correct", "follows"}
