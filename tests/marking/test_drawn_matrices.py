"""Matrices that SymPy's pretty printer and our own plain text draw over several lines are read back as they are."""

import re
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scripts import key_of
from trials import at_least_one, tries

from symattn.api import make_recipe
from symattn.exact import to_sympy
from symattn.marking.attempt import Grid
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.alphabet import undrawn
from symattn.marking.submissions.entries import entry
from symattn.marking.submissions.tables import read_matrix
from symattn.page.writers import text as plain
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.sheets import sheets

NUMBERS = st.one_of(
    st.integers(-99, 99),
    st.fractions(Fraction(-9), Fraction(9), max_denominator=12),
    st.builds(lambda a, b: a * sympy.sqrt(b), st.integers(-5, 5), st.sampled_from((2, 3, 5))),
    st.builds(lambda a, b: sympy.sqrt(a) / b, st.sampled_from((2, 3)), st.integers(2, 9)),
    st.builds(lambda a, b: sympy.exp(a) / (b + sympy.exp(a)), st.integers(-2, 3), st.integers(1, 3)),
    st.builds(lambda a, b, c: (a + b * sympy.E) / (c + sympy.exp(2)), *[st.integers(-3, 3)] * 2, st.integers(1, 4)),
    st.builds(lambda a: sympy.exp(sympy.Rational(a, 2)), st.integers(-3, 3)),
)
SHAPES = st.tuples(st.integers(2, 4), st.integers(1, 4))


def value(text):
    found = entry(text, ".")
    assert found.readable, text
    return to_sympy(found.value)


def same(one, other):
    return sympy.simplify(one - other) == 0


@tries(20)
@given(data=st.data())
def test_what_sympy_draws(data):
    rows, columns = data.draw(SHAPES)
    matrix = sympy.Matrix(rows, columns, lambda i, j: sympy.sympify(data.draw(NUMBERS)))
    name = data.draw(st.sampled_from(("", "Q = ", "N̂: ")))
    lines = sympy.pretty(matrix, use_unicode=True, wrap_line=False).split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    drawn = "\n".join((name if k == at else " " * len(name)) + line for k, line in enumerate(lines))
    flat = undrawn(drawn)
    assert flat.count("\n") == drawn.count("\n")
    (line,) = (line for line in flat.split("\n") if line.strip())
    assert line.startswith(name)
    found = read_matrix(line[len(name) :], (rows, columns))
    assert all(same(value(text), matrix[i, j]) for i, row in enumerate(found.rows) for j, text in enumerate(row))
    assert [len(row) for row in found.rows] == [columns] * rows


def question(mechanism="self_attention"):
    (sheet,) = sheets(make_recipe(mechanism, seed=9), 1)
    return sheet.question


@pytest.mark.parametrize("mechanism", ["layer_norm", "softmax_jacobian"])
def test_what_our_plain_text_draws(mechanism):
    asked = question(mechanism)
    wording = Wording(asked.problem.derivation, asked.problem.notation)
    for step in at_least_one(asked.problem.derivation):
        matrix = step.result
        if matrix.shape[0] == 1:
            continue
        found = read_matrix(undrawn(plain.formula(wording.values(matrix))).strip(), matrix.shape)
        assert all(
            same(value(text), to_sympy(matrix[i, j])) for i, row in enumerate(found.rows) for j, text in enumerate(row)
        )


def answers(asked):
    return {name: sympy.Matrix([[to_sympy(x) for x in row] for row in rows]) for name, rows in key_of(asked).items()}


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_session_of_sympy_is_right(between):
    asked = question()
    told = (f"{name} =\n{sympy.pretty(m, use_unicode=True)}" for name, m in answers(asked).items())
    report = mark(asked, read_submission(between.join(told), [asked]).attempts[0])
    assert report.total == report.available
    assert not report.attempt.remarks


def test_side_by_side():
    asked = question()
    one, other = (sympy.pretty(answers(asked)[name], use_unicode=True).split("\n") for name in "QK")
    middle = len(one) // 2
    text = "\n".join(
        f"{'Q = ' if k == middle else '    '}{a}    {'K = ' if k == middle else '    '}{b}"
        for k, (a, b) in enumerate(zip(one, other, strict=True))
    )
    attempt = read_submission(text, [asked]).attempts[0]
    assert {name for name, said in attempt.answers.items() if isinstance(said, Grid)} == {"Q", "K"}
    assert mark(asked, attempt).total == 4


@pytest.mark.parametrize(
    "text",
    [
        "⎡",
        "⎡1⎤",
        "⎡1 2⎤\n⎣3 4",
        "⎡1 2⎤\n⎢3 4⎥",
        "x ⎣1⎦",
        "⎡⎡⎡⎤⎤⎤\n⎣⎣⎣⎦⎦⎦",
        "⎡a─⎤\n⎢──⎥\n⎢──⎥\n⎣ 1⎦",
        "⎡\n" * 50,
        "⎡  ⎤\n⎣  ⎦",
    ],
)
def test_what_is_no_drawing_stays(text):
    assert re.sub(r"\s+$", "", undrawn(text), flags=re.MULTILINE) == re.sub(r"\s+$", "", text, flags=re.MULTILINE)


@given(st.text(alphabet="⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠─1 +\n", max_size=120))
def test_no_text_fails_or_loses_a_line(text):
    assert undrawn(text).count("\n") == text.count("\n")
    assert sorted(filter(str.isdigit, undrawn(text))) == sorted(filter(str.isdigit, text))
