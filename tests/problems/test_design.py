"""Inverse problems: model answers and wrong ones against NumPy, solvability against SymPy's ranks."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from oracles import floats, softmax
from problem_laws import questions
from trials import at_least_one

from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.teaching.problems.design import TYPE
from symattn.teaching.problems.systems import RULES, solution, verdict
from symattn.teaching.question import ChoiceAnswer, FormulaAnswer


def one(kind, count=30):
    """(item, content, question) of questions with that item only, the first two as JSON."""
    for question in questions(TYPE, count, options={"items": [kind]}):
        yield question.frozen["items"][0], question.frozen, question


def scores_of(kind, item, content, model):
    """What a model answer makes of the item's own numbers."""
    if kind == "scores":
        return floats(model["S"])
    if kind == "keys":
        return np.array(item["q"]) @ floats(model["K"]).T
    return np.array(content["X"][item["token"]]) @ floats(model["W_Q"]) @ np.array(content["K"]).T


@pytest.mark.parametrize(("kind", "base"), [("scores", np.e), ("exact", 2), ("keys", 2), ("attend", np.e)])
def test_model_answers_give_the_weights(kind, base):
    for item, content, question in at_least_one(one(kind, 15)):
        weights = softmax(scores_of(kind, item, content, question.parts[0].answer.model), base)
        if kind == "attend":
            assert weights[item["to"]] >= 0.99
        else:
            assert np.allclose(weights, [np.array(p) / sum(p) for p in np.atleast_2d(item["weights"])])


def test_a_missing_entry_is_the_only_solution_of_its_equations():
    w = sympy.Symbol("w")
    for item, content, question in at_least_one(one("missing")):
        W = sympy.Matrix(item["W_Q"])
        x, K = sympy.Matrix([content["X"][item["token"]]]), sympy.Matrix(content["K"])
        right = x * W * K.T
        W[tuple(item["entry"])] = w
        scores = x * W * K.T
        equations = [(scores[j] - scores[0]) - (right[j] - right[0]) for j in (1, 2)]
        solved = sympy.solve(equations, w, dict=True)
        assert isinstance(question.parts[0].answer, FormulaAnswer)
        assert solved == [{w: question.parts[0].answer.value}]


def test_a_mask_is_the_only_one_with_its_outputs():
    """All 7³ masks that leave every query a key."""
    subsets = [s for s in product((0, 1), repeat=3) if any(s)]
    for item, _, question in at_least_one(one("mask", 10)):
        V = np.array(item["V"], float)
        answer = question.parts[0].answer
        seen = np.array([[(i, j) not in answer.cells for j in range(3)] for i in range(3)], float)
        Z = (seen / seen.sum(1, keepdims=True)) @ V
        fitting = [m for m in product(subsets, repeat=3)
                   if np.allclose(np.array(m) / np.sum(m, 1, keepdims=True) @ V, Z)]  # fmt: skip
        assert [np.array(m).tolist() for m in fitting] == [seen.tolist()]


def test_the_impossible_wish_is_the_one_that_raises_the_rank():
    """x W Kᵀ + c = log₂ of the weights has a solution iff the right side does not raise the rank (Rouché–Capelli)."""
    reasons = set()
    for item, _, question in one("impossible", 40):
        reasons.add(item["reason"])
        impossible = set()
        for place, (token, parts) in enumerate(zip(item["tokens"], item["weights"], strict=True)):
            rows = [[a * b for a in item["X"][token] for b in k] + [1] for k in item["K"]]
            system = sympy.Matrix(rows)
            wanted = sympy.Matrix([sympy.log(p, 2) for p in parts])
            if system.row_join(wanted).rank() > system.rank():
                impossible.add(place)
        assert isinstance(question.parts[0].answer, ChoiceAnswer)
        assert question.parts[0].answer.right == impossible
        assert len(impossible) == 1
    assert reasons == {"equal keys", "zero input"}


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=4))
def test_linear_systems_are_solved_where_sympy_solves_them(rows):
    system = sympy.Matrix([row[:-1] for row in rows])
    right = sympy.Matrix([row[-1] for row in rows])
    found = solution([row[:-1] for row in rows], [row[-1] for row in rows])
    assert (found is not None) == (system.row_join(right).rank() == system.rank())
    if found is not None:
        assert system * sympy.Matrix([sympy.Rational(x.numerator, x.denominator) for x in found]) == right


# ------------------------------------------------------------------------------------------------ properties


def answer_of(kind):
    return next(one(kind, 1))[2].parts[0].answer


@given(st.integers(-9, 9), st.fractions(-3, 3, max_denominator=7))
def test_constants_for_each_row_of_scores_are_free(first, second):
    answer = answer_of("scores")
    rows = answer.model["S"].rows
    moved = Matrix([[x + first for x in rows[0]], [x + second for x in rows[1]]])
    assert verdict(answer.rule, answer.parameters, {"S": moved}).holds
    spoiled = Matrix([[x + first for x in rows[0]], [rows[1][0] + 1, *rows[1][1:]]])
    assert not verdict(answer.rule, answer.parameters, {"S": spoiled}).holds


@pytest.mark.slow
@given(st.lists(st.fractions(-3, 3, max_denominator=4), min_size=4, max_size=4))
def test_any_query_weights_are_judged_by_their_weights(entries):
    """The rule against NumPy, for whatever somebody writes."""
    for kind in ("exact", "attend"):
        answer = answer_of(kind)
        W = Matrix([entries[:2], entries[2:]])
        p = answer.parameters
        scores = np.array(p["x"]) @ np.array(entries, float).reshape(2, 2) @ np.array(p["K"]).T
        if kind == "attend":
            expected = softmax(scores)[p["to"]] >= 0.99
        else:
            expected = np.allclose(softmax(scores, 2), [float(Fraction(a)) for a in p["weights"]], atol=1e-9)
        assert verdict(answer.rule, p, {"W_Q": W}).holds == expected


def test_another_solution_is_right_as_well():
    """A model plus anything that this token's input does not see."""
    answer = answer_of("exact")
    a, b = answer.parameters["x"]
    unseen = Matrix([[x + t for x in row] for row, t in zip(answer.model["W_Q"].rows, (-b, a), strict=True)])
    assert verdict(answer.rule, answer.parameters, {"W_Q": unseen}).holds
    assert unseen != answer.model["W_Q"]


def test_logarithms_and_multiples_of_them_are_decided():
    parameters = {"base": "e", "weights": [["1/9", "4/9", "4/9"]]}
    assert verdict("weights of scores", parameters, {"S": Matrix([[0, "2*ln(2)", "ln(4)"]])}).holds
    assert not verdict("weights of scores", parameters, {"S": Matrix([[0, "2*ln(2)", "ln(5)"]])}).holds


@pytest.mark.parametrize(("least", "holds"), [("99/100", True), ("997/1000", False)])
def test_a_weight_is_compared_with_its_bound_exactly(least, holds):
    """Two differences of 6 give 1/(1 + 2e⁻⁶) ≈ 0.99507."""
    parameters = {"asked": "W_Q", "x": [1, 0], "K": [[6, 0], [0, 0], [0, 1]], "base": "e", "to": 0, "least": least}
    assert verdict("attends", parameters, {"W_Q": Matrix([[1, 0], [0, 0]])}).holds == holds


@pytest.mark.parametrize("kind", ["scores", "exact", "attend", "keys"])
def test_what_cannot_be_marked_is_said(kind):
    answer = answer_of(kind)
    ((name, model),) = answer.model.items()
    assert "no" in verdict(answer.rule, answer.parameters, {}).says
    assert "it must be" in verdict(answer.rule, answer.parameters, {name: Matrix([[1]])}).says
    hidden = Matrix.of([[NEGATIVE_INFINITY, *row[1:]] for row in model.rows])
    assert "finite" in verdict(answer.rule, answer.parameters, {name: hidden}).says
    letters = Matrix.of([[sympy.Symbol("t"), *row[1:]] for row in model.rows])
    assert "finite" in verdict(answer.rule, answer.parameters, {name: letters}).says


def test_every_rule_is_used():
    used = {answer_of(kind).rule for kind in ("scores", "exact", "attend", "keys")}
    assert used == set(RULES)
