"""Matrices that are asked for outside the question's own derivation: which step they are, and of which derivation."""

from functools import cache

import numpy as np
import pytest
from oracles import floats
from problem_laws import questions

from symattn.page.document import AnswerGrid
from symattn.teaching.problems import drawn_types, problem_types
from symattn.teaching.question import MatrixAnswer

STEPS = {
    "drills": {"Q", "K", "V", "S", "S'", "M", "A", "Z"},
    "find-error": {"S", "S'", "A", "Z"},
    "translate": {"S", "Z"},
}
"""Which steps are asked for so."""


@cache
def made(name):
    """Enough to see every step of the types that ask for some."""
    return list(questions(problem_types()[name], 8 if name in STEPS else 1))


def matrix_parts(made):
    return [(question, part) for question in made for part in question.parts if isinstance(part.answer, MatrixAnswer)]


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", drawn_types())
def test_the_answer_is_exactly_the_result_of_its_step(name):
    steps = set()
    for _, part in matrix_parts(made(name)):
        answer, d = part.answer, part.answer.derivation
        assert (d is None) == (answer.step == "")
        if d is not None:
            step = d[answer.step]
            assert answer.value == d.value(answer.step)
            assert answer.value == step.op.apply(*(operand.of(d.value(operand.name)) for operand in step.operands))
            steps.add(answer.step)
    assert steps == STEPS.get(name, set())


@pytest.mark.parametrize("name", STEPS)
def test_it_is_laid_out_as_it_is_printed(name):
    for _, part in matrix_parts(questions(problem_types()[name], 1, notation="columns")):
        if part.answer.derivation is not None:
            shape = part.answer.derivation[part.answer.step].result.shape
            for grid in (block for block in part.ask if isinstance(block, AnswerGrid)):
                assert (grid.rows, grid.columns) == shape


def test_translated_scores_stand_in_the_layout_of_the_other_notation():
    for question, part in matrix_parts(made("translate")):
        d = part.answer.derivation
        if d is None:
            assert part.name == "d"  # one token's query: a line of a step, and no step
            continue
        assert d.orientation == "columns"
        q, k = floats(question.problem["Q"].result).T, floats(question.problem["K"].result).T
        if part.answer.step == "S":
            np.testing.assert_allclose(floats(d.value("S")), k.T @ q)


@pytest.mark.slow
def test_the_script_with_the_error_is_not_the_derivation():
    for question, part in matrix_parts(made("find-error")):
        derivation = part.answer.derivation
        assert not any(step.pinned for step in derivation)
        assert derivation.givens == question.problem.derivation.givens


def test_where_an_answer_comes_from_does_not_change_it():
    [(_, part), *_] = matrix_parts(made("drills"))
    bare = MatrixAnswer(part.answer.value)
    assert part.answer == bare
    assert repr(part.answer) == repr(bare) == f"MatrixAnswer(value={bare.value!r})"
