"""Matrices in each other's boxes: right ones cost nothing wherever they stand, and mistakes stay mistakes."""

from functools import cache
from itertools import pairwise
from random import Random

import pytest
from scripts import exactly, marked, mistakes, page
from test_worked_cases import CASES, question
from trials import some

from symattn.derivation.misconceptions import replayed
from symattn.exact import Matrix
from symattn.marking.attempt import Attempt
from symattn.marking.submissions import grid

PARTS = ("Q", "K", "V", "S", "S'", "A", "Z")


@cache
def right():
    shifted = {part: CASES["13-boxes-shifted"].script[box] for part, box in pairwise(PARTS)}
    return shifted | {"Z": CASES["12-boxes-interchanged"].script["A"]}


def in_boxes(order):
    return marked(question("g1.toml"), Attempt({box: right()[part] for box, part in zip(PARTS, order, strict=True)}))


def told(report):
    return [notice.says for notice in report.notices if "boxes" in notice.says]


def test_the_matrices_under_their_own_names_are_right():
    report = in_boxes(PARTS)
    assert (report.total, told(report)) == (report.available, [])


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("seed", some(range(12), 6))
def test_right_matrices_cost_nothing_in_whatever_boxes_they_stand(seed):
    order = list(PARTS)
    Random(seed).shuffle(order)
    report = in_boxes(tuple(order))
    assert (report.total, len(told(report))) == (report.available, 1)
    assert not mistakes(report)


def test_a_single_matrix_moves_only_from_a_box_that_it_does_not_fit():
    """The output in the box of the weights can be nothing else; scores in that of the scaled ones are a mistake."""
    moved = marked(question("g1.toml"), Attempt({"V": right()["V"], "A": right()["Z"]}))
    assert told(moved)
    stays = marked(question("g1.toml"), Attempt({"S'": right()["S"]}))
    assert not told(stays)


def test_a_wrong_entry_keeps_a_matrix_where_it_stands():
    wrong = right()["Z"].put(0, 0, grid([["17"]])[0, 0])
    report = marked(question("g1.toml"), Attempt({**right(), "A": wrong, "Z": right()["A"]}))
    assert not told(report)


def test_no_misconception_is_taken_for_a_wrong_box():
    asked = question("g1.toml")
    seen = 0
    for wrong in replayed(asked.problem.derivation)[::4]:
        values = {part: wrong.derivation.value(part) for part in PARTS if part in wrong.derivation}
        answers = {part: _grid(value) for part, value in values.items() if isinstance(value, Matrix)}
        if answers:
            seen += 1
            assert not told(marked(asked, Attempt(answers))), wrong.misconception.id
    assert seen > 10


def _grid(matrix):
    return grid([[exactly(x) for x in row] for row in page(matrix)])
