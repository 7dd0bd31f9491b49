"""Differences, quotients, powers, roots, binary formats and positions in programs of one's own, against NumPy and
PyTorch: the values, their windows, the turned derivation, the code of notebooks and every format."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from symattn.derivation.counting import depth
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import custom
from symattn.derivation.numpy_source import HELPERS, helpers_called
from symattn.derivation.ops import Divide, Exponential, Opposite, SquareRoot, Subtract, ToFloat
from symattn.derivation.ops.arithmetic import DivisorGradient
from symattn.derivation.ops.turning import turned
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.marking.marker import mark
from symattn.marking.marker.windows import cell, window
from symattn.marking.trial import right_scripts, script
from symattn.page.writers import FORMATS
from symattn.teaching.explanation import derivation_document
from symattn.teaching.fairness import self_check
from symattn.teaching.problem_file import problem_file
from symattn.teaching.sheets import make_sheet, render

A, B = [[1, "1/3"], [3, "5/2"]], [[2, 4], ["1/2", 1]]
GIVENS = {"A": A, "B": B, "row": [[4, 9]], "column": [["1/2"], [2]], "number": [[3]]}
a, b = np.array([[1, 1 / 3], [3, 2.5]]), np.array([[2, 4], [0.5, 1]])
row, column = np.array([[4, 9]]), np.array([[0.5], [2]])
p = np.arange(2)[:, None]
TURN = np.array([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]])

PROGRAMS: list[tuple[dict[str, Any], np.ndarray]] = [
    ({"op": "subtract", "operands": ["A", "B"]}, a - b),
    ({"op": "subtract", "operands": ["A", "row"]}, a - row),
    ({"op": "subtract", "operands": ["column", "A"]}, column - a),
    ({"op": "subtract", "operands": ["number", "A"]}, 3 - a),
    ({"op": "divide", "operands": ["A", "B"]}, a / b),
    ({"op": "divide", "operands": ["A", "row"]}, a / row),
    ({"op": "divide", "operands": ["number", "A^T"]}, 3 / a.T),
    ({"op": "divide", "operands": ["row", "column"]}, row / column),
    ({"op": "opposite", "operands": ["A"]}, -a),
    ({"op": "exp", "operands": ["A"]}, np.exp(a)),
    ({"op": "exp", "operands": ["A"], "base": 2}, 2**a),
    ({"op": "sqrt", "operands": ["A"]}, np.sqrt(a)),
    ({"op": "multiple", "operands": ["A"], "by": "1/3"}, a / 3),
    ({"op": "float", "operands": ["A"]}, a.astype(np.float16).astype(float)),
    ({"op": "float", "operands": ["A"], "format": "float32"}, a.astype(np.float32).astype(float)),
    ({"op": "float", "operands": ["A"], "format": "bfloat16"}, np.array([[1, 0.333984375], [3, 2.5]])),
    ({"op": "sinusoids", "operands": ["A"]}, np.hstack([np.sin(p), np.cos(p)])),
    ({"op": "sinusoids", "operands": ["A"], "first_position": 1}, np.hstack([np.sin(p + 1), np.cos(p + 1)])),
    ({"op": "rotate", "operands": ["A"], "angles": "90"}, np.array([[1, 1 / 3], [-2.5, 3]])),
    ({"op": "rotate", "operands": ["A"]}, np.vstack([a[0], TURN @ a[1]])),
    ({"op": "positions", "operands": ["A"], "formula": "p/(k+1)"}, np.array([[0, 0], [1, 0.5]])),
    ({"op": "positions", "operands": ["A"], "formula": ["sin(p/9^(2k/d))", "p"]}, np.hstack([np.sin(p), p])),
]  # fmt: skip
IDS = [f"{k}-{step['op']}" for k, (step, _) in enumerate(PROGRAMS)]


def derived(step: dict[str, Any]) -> Derivation:
    return custom.run(GIVENS, [{"name": "Y", **step}])


def floats(m: object) -> np.ndarray:
    assert isinstance(m, Matrix)
    return np.array([[approximate(x) for x in row] for row in m.rows])


@pytest.mark.parametrize(("step", "expected"), PROGRAMS, ids=IDS)
def test_the_values_are_those_of_numpy(step, expected):
    d = derived(step)
    assert np.allclose(floats(d.last.result), expected, rtol=1e-14, atol=0)
    self_check(d)
    self_check(turned(d))
    decimal = custom.run(GIVENS, [{"name": "Y", **step}], arithmetic="decimal")
    assert np.allclose(floats(decimal.last.result), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("step", "expected"), PROGRAMS, ids=IDS)
def test_turned_it_is_the_transpose_worked_out_again(step, expected):
    other = turned(derived(step))
    assert np.allclose(floats(other.replay().last.result), expected.T, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("step", "expected"), PROGRAMS, ids=IDS)
def test_the_code_of_notebooks_gives_the_same(step, expected):
    d = derived(step)
    names = [o.name + (".T" if o.transposed else "") for o in d.last.operands]
    line = d.last.op.numpy(*names)
    space: dict[str, Any] = {"np": np, "math": math, **{n: floats(m) for n, m in d.givens.items()}}
    for helper in helpers_called(line):
        exec(HELPERS[helper], space)
    for above in d.last.op.numpy_above():
        exec(above, space)
    assert np.allclose(eval(line, space), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("step", "expected"), PROGRAMS, ids=IDS)
def test_every_format_writes_it(step, expected):
    data = {"mechanism": "custom", "given": GIVENS, "step": [{"name": "Y", **step}]}
    problem = problem_file(data, "one step").problem()
    document = derivation_document(problem)
    for name in FORMATS:
        if "pdf" not in name:
            assert render(document, name)


# ------------------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize(
    ("op", "shapes"),
    [
        (Subtract(), [(2, 2), (1, 2)]),
        (Divide(), [(2, 2), (2, 1)]),
        (Divide(), [(2, 2), (1, 1)]),
        (Opposite(), [(2, 2)]),
        (Exponential(), [(2, 2)]),
        (Exponential(Fraction(1, 2)), [(2, 2)]),
        (SquareRoot(), [(2, 2)]),
        (ToFloat(), [(2, 2)]),
        (DivisorGradient(), [(2, 2), (2, 2), (1, 2)]),
    ],
    ids=str,
)
def test_a_window_holds_whatever_may_come_of_its_boxes(op, shapes):
    rng = Random(str(op))
    for _ in range(4):
        middles = [[[Fraction(rng.randint(10, 30), 10) for _ in range(c)] for _ in range(r)] for r, c in shapes]
        found = window(op, *(tuple(tuple(cell(x, Fraction(1, 10)) for x in row) for row in m) for m in middles))
        assert found is not None
        for _ in range(10):
            moved = [Matrix([[x + Fraction(rng.randint(-50, 50), 1000) for x in row] for row in m]) for m in middles]
            for x, span in zip(op.apply(*moved), (w for row in found for w in row), strict=True):
                assert float(span.low) - 1e-12 <= approximate(x) <= float(span.high) + 1e-12
        widest = max(span.high - span.low for row in found for span in row)
        assert 0 < widest < 20  # and says something


def test_a_window_that_may_hold_no_number_is_none():
    box = ((cell(Fraction(0), Fraction(1, 10)),),)
    assert window(Divide(), box, box) is None
    assert window(SquareRoot(), ((cell(Fraction(-1), Fraction(1, 10)),),)) is None
    assert window(ToFloat(), ((cell(Fraction(65520), Fraction(1)),),)) is None


# ------------------------------------------------------------------------------------------------ refusals


def test_steps_without_operands_have_a_depth():
    """Sinusoids wait for nothing: a chain may start with them."""
    d = custom.run(GIVENS, [
        {"name": "P", "op": "sinusoids", "operands": ["A"]}, {"name": "X", "op": "add", "operands": ["A", "P"]},
    ])  # fmt: skip
    assert depth(d) == 2


# ------------------------------------------------------------------------------------------------ marking

CHAIN = [
    {"name": "D", "op": "subtract", "operands": ["A", "row"]},
    {"name": "E", "op": "exp", "operands": ["D"]},
    {"name": "F", "op": "divide", "operands": ["E", "B"]},
    {"name": "R", "op": "sqrt", "operands": ["F"]},
    {"name": "T", "op": "opposite", "operands": ["R"]},
]


def test_the_key_earns_all_marks_in_every_form_and_one_mistake_costs_its_line_alone():
    problem = problem_file({"mechanism": "custom", "given": GIVENS, "step": CHAIN}, "chain").problem()
    question = make_sheet(problem).question
    for form, attempt in right_scripts(question, problem.derivation):
        if form not in ("percent", "transposed"):  # in which nobody writes −32.5 or a difference
            report = mark(question, attempt)
            assert report.total == report.available > 0, form
    wrong = problem.derivation.replay(pinned={"D": [["-3", "-26/3"], ["-1", "-11/2"]]})  # 5/2 − 9 is −13/2
    report = mark(question, script(question, wrong))
    assert 0 < report.available - report.total <= 2  # the rest follows
