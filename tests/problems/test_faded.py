"""Faded examples: SymPy solves for the blanks as unknowns, and finds one solution, the right one."""

from itertools import product

import pytest
import sympy
from problem_laws import contents, questions

from symattn.derivation.derivation import Derivation, transposed
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import SelfCheckError
from symattn.exact import Matrix
from symattn.page.document import AnswerGrid
from symattn.teaching.problems.faded import TYPE, undetermined
from symattn.teaching.question import EntriesAnswer, MatrixAnswer


def solutions(d, blanks):
    """All values of the blanks for which every line up to the scaled scores holds, by SymPy."""
    unknowns, shown = {}, {}
    for name in (*d.givens, *(step.name for step in d)):
        matrix = d.value(name).sympy().as_mutable()
        for i, j in blanks.get(name, ()):
            matrix[i, j] = unknowns[name, i, j] = sympy.Symbol(f"u{len(unknowns)}")
        shown[name] = matrix
    equations = []
    for name, left, right in (("Q", "X", "W_Q"), ("K", "X", "W_K"), ("V", "X", "W_V")):
        if left in shown:
            equations += list(shown[name] - shown[left] * shown[right])
    equations += list(shown["S"] - shown["Q"] * shown["K"].T)
    if "S'" in shown:  # the starter level does not scale
        equations += list(shown["S'"] * sympy.sqrt(shown["K"].shape[1]) - shown["S"])
    linear = [e for e in map(sympy.expand, equations) if e != 0]
    wanted = {cell: symbol for cell, symbol in unknowns.items() if cell[0] not in ("A", "Z", "M")}
    return sympy.solve(linear, list(wanted.values()), dict=True), wanted


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"mechanism": "attention"},
        {"options": {"backwards": True}},
        {"mechanism": "attention", "options": {"backwards": True}, "level": "starter"},
    ],
)
def test_blanks_have_one_solution_by_sympy(stated):
    for question in questions(TYPE, 3, **stated):
        d, blanks = question.problem.derivation, question.content["blanks"]
        found, wanted = solutions(d, blanks)
        assert len(found) == 1
        for (name, i, j), symbol in wanted.items():
            assert found[0][symbol] == Matrix([[d.value(name)[i, j]]]).sympy()[0]


def test_one_blank_in_a_factor_follows_only_where_it_is_multiplied_by_something():
    """q = (x, 2)·W with the product printed: a blank of W beside a 0 in every row of X is free."""
    d = Derivation({"X": Matrix([[0, 2], [0, 1]]), "W_Q": Matrix([[3], [1]])}).then("Q", MatMul(), "X", "W_Q")
    assert undetermined(d, {"W_Q": ((1, 0),)}) == set()
    assert undetermined(d, {"W_Q": ((0, 0),)}) == {("W_Q", 0, 0)}
    assert undetermined(d, {"W_Q": ((0, 0), (1, 0))}) == {("W_Q", 0, 0)}
    assert undetermined(d, {"W_Q": ((1, 0),), "Q": ((0, 0), (1, 0))}) == {("W_Q", 1, 0), ("Q", 0, 0), ("Q", 1, 0)}


def test_several_blanks_need_the_rank_of_the_other_factor():
    """Brute force over small whole numbers agrees with the system of equations."""
    values = range(-2, 3)
    for x, y in product([(1, 2), (2, 4), (1, 1)], repeat=2):
        d = Derivation({"X": Matrix([x, y]), "W_Q": Matrix([[1], [-1]])}).then("Q", MatMul(), "X", "W_Q")
        fitting = [
            (a, b) for a, b in product(values, repeat=2) if all(r[0] * a + r[1] * b == r[0] - r[1] for r in (x, y))
        ]
        assert (undetermined(d, {"W_Q": ((0, 0), (1, 0))}) == set()) == (len(fitting) == 1), (x, y)


def softmax_line(scores):
    return Derivation({"S'": Matrix([scores])}).then("A", Softmax(), "S'")


def test_the_sum_rule_and_the_ratios_of_weights():
    d = softmax_line([0, 1, 2])
    everything = tuple((0, j) for j in range(3))
    assert undetermined(d, {"A": everything}) == set()  # forwards
    assert undetermined(d, {"A": ((0, 0),), "S'": ((0, 1),)}) == set()  # they sum to 1, then the ratio
    assert undetermined(d, {"S'": ((0, 0), (0, 1))}) == set()  # from ratios to the one score that is printed
    assert undetermined(d, {"S'": everything})  # every score may grow by the same number
    assert undetermined(d, {"A": ((0, 0), (0, 1)), "S'": ((0, 2),)})  # two weights and a score are too much


def test_a_scaled_score_follows_backwards_also_with_an_irrational_divisor():
    d = Derivation({"Q": Matrix([[1, 2]]), "K": Matrix([[1, 0], [3, 1]])}).then("S", MatMul(), "Q", transposed("K"))
    d = d.then("S'", Scale(sympy.sqrt(2), "sqrt(d_k)"), "S")
    assert undetermined(d, {"Q": ((0, 0),), "S": ((0, 0), (0, 1))}) == set()


def test_answers_are_the_blanks_and_grids_show_the_rest():
    made = list(questions(TYPE, 6, options={"backwards": True}))
    assert len({tuple(map(len, question.content["blanks"].values())) for question in made}) == 1
    for question in made:
        blanks = question.content["blanks"]
        assert sorted(part.name for part in question.parts) == sorted(blanks)
        for part in question.parts:
            grid = next(block for block in part.ask if isinstance(block, AnswerGrid))
            printed = {cell for cell, _ in grid.filled}
            every = set(product(range(grid.rows), range(grid.columns)))
            assert every - printed == set(map(tuple, blanks[part.name]))
            assert isinstance(part.answer, EntriesAnswer | MatrixAnswer)


def test_a_series_fades_from_the_last_step_backwards():
    steps = ["Q", "K", "V", "S", "S'", "A", "Z"]
    listed = [list(content["blanks"]) for content in contents(TYPE, 8, options={"fade": True})]
    assert [sorted(names, key=steps.index) for names in listed[:7]] == [steps[-k:] for k in range(1, 8)]
    assert listed[7] == listed[0]


def test_blanks_only_where_they_are_wanted():
    for content in contents(TYPE, 3, options={"blank": ["S", "A"], "share": 100}):
        blanks = content["blanks"]
        assert {name: len(cells) for name, cells in blanks.items()} == {"S": 9, "A": 9}


def test_a_blank_that_does_not_follow_is_found():
    (content,) = contents(TYPE, 1)
    unknown = tuple((i, j) for i in range(5) for j in range(4))
    blanks = {"W_Q": unknown, "Q": tuple((i, j) for i in range(3) for j in range(4))}
    with pytest.raises(SelfCheckError, match="Nothing that is printed"):
        TYPE.prove(TYPE.make({**content, "blanks": blanks}))
