r"""Braces that LaTeX prints nothing for mean nothing: {-\infty}, 0{,}5, {\bf 2}, in any cell of any matrix."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

import symattn
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide
from symattn.exact.bridge import from_sympy
from symattn.marking.submissions.entries import AUTO, entry
from symattn.marking.submissions.latex import latex_matrices
from symattn.teaching.question import StepAnswer

half, e = sympy.Rational(1, 2), sympy.E
CONTENTS: dict[str, sympy.Expr] = {
    r"-\infty": -sympy.oo, r"-{\infty}": -sympy.oo, r"{-}\infty": -sympy.oo, r"-{}\infty": -sympy.oo,
    r"\mathrm{-}\infty": -sympy.oo, r"-\,\infty": -sympy.oo, "2": sympy.Integer(2), "-3": sympy.Integer(-3),
    "{-}3": sympy.Integer(-3), "12{}": sympy.Integer(12), "0{,}5": half, "-0{,}5": -half, "1{.}5": 3 * half,
    r"\frac{1}{2}": half, r"-\frac{{1}}{{2}}": -half, "{1}/{2}": half, "1{/}2": half, r"2{\cdot}3": sympy.Integer(6),
    r"\sqrt{{2}}": sympy.sqrt(2), "{e}^{-2}": e**-2, r"2{e}^{2}": 2 * e**2, r"\bf 7": sympy.Integer(7),
    r"\textcolor{red}{7}": sympy.Integer(7), r"\color{blue} 7": sympy.Integer(7),
}  # fmt: skip
"""Numbers as they are typed in LaTeX, and what is printed."""

WRAPPED = ("%s", "{%s}", "{ %s }", "{{%s}}", r"\mathbf{%s}", r"\boxed{{%s}}", r"{\color{red} %s}")
ENVIRONMENTS = ("pmatrix", "bmatrix", "matrix", "array")


def means(text: str, value: sympy.Expr) -> bool:
    found = entry(text, AUTO).value
    if value == -sympy.oo:
        return found is NEGATIVE_INFINITY
    return found is not None and decide(found, from_sympy(value)).equal is True


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("content", CONTENTS)
def test_a_number_in_braces_is_the_number(content: str, wrapped: str) -> None:
    assert means(wrapped % content, CONTENTS[content])


@tries(60)
@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(
                st.tuples(st.sampled_from(sorted(CONTENTS)), st.sampled_from(WRAPPED)),
                min_size=columns,
                max_size=columns,
            ),
            min_size=1,
            max_size=4,
        )
    ),
    st.sampled_from(ENVIRONMENTS),
    st.sampled_from(["\\\\", "\\\\\n", "\\\\[2pt]", "\\cr"]),
    st.sampled_from(["&", " & ", "\n&"]),
)
def test_every_cell_of_a_matrix_is_read(
    rows: list[list[tuple[str, str]]], environment: str, end: str, between: str
) -> None:
    """Whatever stands in it, first or last in a row, right behind what begins the matrix or the row."""
    columns = "{%s}" % ("r" * len(rows[0])) if environment == "array" else ""
    cells = end.join(between.join(wrapped % content for content, wrapped in row) for row in rows)
    source = rf"\[ M = \begin{{{environment}}}{columns}{cells}\end{{{environment}}} \]"
    ((_, matrix),) = latex_matrices(source)
    assert [len(row) for row in matrix.rows] == [len(row) for row in rows]
    for typed, row in zip(matrix.rows, rows, strict=True):
        for text, (content, _) in zip(typed, row, strict=True):
            assert means(text, CONTENTS[content]), (text, source)


@pytest.mark.parametrize("text", ["{}", r"\frac{1}{}", "{", "}", "{,}", r"\sqrt{}", "e^{}", "{-}{-}", r"{\infty}"])
def test_braces_with_nothing_in_them_make_no_number(text: str) -> None:
    assert entry(text, AUTO).value is None


def in_tex(x: Value, places: int) -> str:
    """A value as students with a decimal comma type it."""
    if x is NEGATIVE_INFINITY:
        return r"{-\infty}"
    if isinstance(x, int):
        return f"{{{x}}}"
    return f"{sympy.N(Matrix.of([[x]]).sympy()[0], 30):.{places}f}".replace(".", "{,}")


def test_a_right_script_in_braces_earns_everything(tmp_path: Path) -> None:
    r"""A causal mask with {-\infty} first, in the middle and last in a row, and decimals with {,}."""
    [sheet] = symattn.worksheet("attention", mask=[[0, 1, 1], [1, 0, 1], [1, 1, 0]], seed=5, jobs=1)
    question = sheet.question
    assert question.problem is not None
    lines = [f"Sheet: {sheet.name}"]
    for part in question.parts:
        assert isinstance(part.answer, StepAnswer)
        value = question.problem.derivation.value(part.answer.step)
        assert isinstance(value, Matrix)
        rows = r" \\".join("&".join(in_tex(x, 6) for x in row) for row in value.rows)
        lines.append(rf"\[ {part.answer.step} = \begin{{pmatrix}}{rows}\end{{pmatrix}} \]")
    paper = tmp_path / "answers.tex"
    paper.write_text(r"\documentclass{article}\begin{document}" + "\n\n".join(lines) + r"\end{document}")
    [report] = symattn.check(sheet, paper).reports
    assert report.total == report.available
    assert not report.events
    assert not report.pending
    assert Fraction(report.total) > 0
