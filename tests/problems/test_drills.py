"""Drills: every answer by SymPy from what is printed, and rows of scores whose weights are as pretty as promised."""

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy
from oracles import floats
from problem_laws import contents, items_of, questions

from symattn.errors import SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.page.document import AnswerGrid
from symattn.teaching.problems.drills import FORMS, SPREAD, STEPS, TYPE, Drill


def drills_of(content):
    return [Drill(**item) for item in content["items"]]


def entry(x):
    """A frozen entry in SymPy."""
    return -sympy.oo if x == "-∞" else sympy.sympify(str(x).replace("ln", "log"), rational=True)


def witness(item, mask_style="additive"):
    """The answer of an item in SymPy, with tokens as rows, from its JSON alone."""
    given = {name: sympy.Matrix([[entry(x) for x in row] for row in rows]) for name, rows in item["given"].items()}
    match item["kind"]:
        case "projection":
            return given["X"] * given[f"W_{item['role']}"]
        case "scores":
            return given["Q"] * given["K"].T
        case "scale":
            return given["S"] / sympy.sqrt(item["d_k"])
        case "mask":
            rows, columns = given["S'"].shape
            return sympy.Matrix(rows, columns, lambda i, j: given["S'"][i, j] if j <= i else -sympy.oo)
        case "softmax":
            base = sympy.E if item["base"] == "e" else sympy.Integer(item["base"])
            powers = [sympy.Integer(0) if x == -sympy.oo else sympy.simplify(base**x) for x in given["S'"]]
            return sympy.Matrix([[p / sum(powers) for p in powers]])
        case "output":
            return given["A"] * given["V"]


def sympy_of(x):
    return -sympy.oo if x is NEGATIVE_INFINITY else Matrix([[x]]).sympy()[0]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("stated", [{}, {"notation": "columns"}, {"options": {"step": "softmax", "items": 6}}])
def test_every_answer_against_sympy(stated):
    for item, part in items_of(questions(TYPE, 8, **stated)):
        right = witness(item)
        value = part.answer.value.T if stated.get("notation") == "columns" else part.answer.value
        assert value.shape == right.shape
        for x, y in zip(value, right, strict=True):
            found = sympy_of(x)
            assert found == y or sympy.simplify(found - y) == 0
        grid = next(block for block in part.ask if isinstance(block, AnswerGrid))
        assert (grid.rows, grid.columns) == part.answer.value.shape


@pytest.mark.parametrize("step", STEPS)
def test_one_step_alone(step):
    for question in questions(TYPE, 2, options={"step": step, "items": 4}):
        assert [item["kind"] for item in question.frozen["items"]] == [step] * 4
        assert len({json.dumps(item) for item in question.frozen["items"]}) == 4


def test_softmax_alone_goes_through_every_form_with_rational_weights_where_promised():
    for content in contents(TYPE, 8, options={"step": "softmax", "items": len(FORMS)}):
        rows = [item.derivation("rows", "additive").last.result for item in drills_of(content)]
        for form, row in zip(FORMS, rows, strict=True):
            assert all(isinstance(x, int | Fraction) for x in row) == (form != "powers"), form
            if form.startswith("base"):
                assert all((10**6 * x).denominator == 1 for x in row)
            if form == "equal":
                assert len({x for x in row if x}) == 1
            if form == "masked":
                assert list(row).count(0) == 1


@pytest.mark.parametrize("softmax", ["base 2", "base 3", "equal"])
def test_the_softmax_that_was_asked_for(softmax):
    for question in questions(TYPE, 2, softmax=softmax):
        item = next(item for item in question.frozen["items"] if item["kind"] == "softmax")
        assert item["base"] == (softmax[-1] if softmax.startswith("base") else "e")


def test_siblings_take_as_much_work():
    made = list(questions(TYPE, 25))
    assert all([item["kind"] for item in question.frozen["items"]] == list(STEPS) for question in made)
    loads = [question.features["load"] for question in made]
    assert max(loads) <= min(loads) * (1 + SPREAD) / (1 - SPREAD)


def test_scores_to_be_scaled_are_divisible_in_part():
    for content in contents(TYPE, 8, options={"step": "scale", "items": 3}):
        for item in drills_of(content):
            scaled = np.array(item.given["S"]) / np.sqrt(item.d_k)
            assert 0 < np.sum(scaled == np.round(scaled)) < scaled.size


def test_weights_to_mix_with_are_a_distribution():
    for content in contents(TYPE, 8, options={"step": "output", "items": 3}):
        for item in drills_of(content):
            weights = floats(item.derivation("rows", "additive").value("A"))
            assert np.allclose(weights.sum(axis=1), 1)
            assert np.all(weights > 0)


def test_a_wrong_weight_is_found(monkeypatch):
    """The proof does not rest on the softmax that made the key."""
    from symattn.derivation.ops.attention import Softmax

    (content,) = contents(TYPE, 1)
    honest = Softmax.apply
    TYPE.prove(TYPE.make(content))
    monkeypatch.setattr(Softmax, "apply", lambda op, *m: honest(op, *m).map(lambda x: x / 2))
    with pytest.raises(SelfCheckError):
        TYPE.prove(TYPE.make(content))


def test_keys_are_compared_by_the_answers_that_are_printed():
    """Products are compared before they are worked out in a derivation."""
    for question in questions(TYPE, 3, notation="columns"):
        assert TYPE.key(question.content) == tuple(question.entries())
