"""An operation is one class: everything that it does not say itself follows from its rule."""

from dataclasses import dataclass, field

import numpy
import pytest
import sympy
from sentences import refused_saying

import symattn
from symattn.derivation.derivation import Pull, convention, turned
from symattn.derivation.ops import operations
from symattn.derivation.ops.lines import LineRuleOp
from symattn.errors import SelfCheckError
from symattn.formula import Call, Name
from symattn.page.writers import FORMATS
from symattn.teaching.rendering import render


@dataclass(frozen=True)
class Shares(LineRuleOp):
    """x³ of each entry over the sum of the squares of its row and 1, or of its column."""

    along: str = field(default="rows")
    title = "Shares of cubes"

    def rule_of_rows(self, A, i, j, x):
        squares = A.total(x.columns, lambda k: A.square(x[i, k]))
        return A.quotient(A.product(x[i, j], A.square(x[i, j])), A.sum(A.number(1), squares))

    def pull(self, use):
        return Pull((use.g, use.operand, use.result), SharesGradient(self.along))

    def written(self, style, *operands):
        return Call(Name("shares"), operands)

    def conventions(self, steps, signs):
        s = Name("s")
        return [
            convention(
                "Shares are those of the cubes of {entry}, over {sum}.", entry=s, sum=self.written(signs.style, s)
            )
        ]

    def in_brief(self, steps, signs):
        return [convention("Cubes: {rule}", rule=signs.equation(steps[0]))]

    def witness_of_rows(self, *operands):
        x = numpy.array(operands[0])
        return (x**3 / (1 + (x**2).sum(axis=1, keepdims=True))).tolist()


@dataclass(frozen=True)
class SharesGradient(LineRuleOp):
    """(3x²·g − 2x·Σ g·y)/(1 + Σ x²) for the gradient g of the shares y of x."""

    along: str = "rows"
    arity = 3
    title = "Back through shares of cubes"

    def rule_of_rows(self, A, i, j, g, x, y):
        one = A.product(A.number(3), A.square(x[i, j]), g[i, j])
        all_of_line = A.product(A.number(2), x[i, j], A.total(x.columns, lambda k: A.product(g[i, k], y[i, k])))
        squares = A.total(x.columns, lambda k: A.square(x[i, k]))
        return A.quotient(A.minus(one, all_of_line), A.sum(A.number(1), squares))

    def written(self, style, *operands):
        return Call(Name("shares", primes=1), operands)

    def witness_of_rows(self, *operands):
        g, x, y = map(numpy.array, operands)
        both = 2 * x * (g * y).sum(axis=1, keepdims=True)
        return ((3 * x**2 * g - both) / (1 + (x**2).sum(axis=1, keepdims=True))).tolist()


STEPS = [
    {"name": "S", "op": "matmul", "of": ["Q", "K^T"]},
    {"name": "C", "op": "shares", "of": "S"},
    {"name": "A", "op": "softmax", "of": "C"},
]
Q, K = [[1, 0], [2, -1]], [[1, 0], [0, 1]]


@pytest.fixture
def solution(monkeypatch):
    monkeypatch.setitem(operations(), "shares", Shares)
    return symattn.derive("custom", steps=STEPS, Q=Q, K=K)


def test_it_has_values_workings_symbols_and_derivatives(solution):
    s = numpy.array(Q) @ numpy.array(K).T
    cubes = s**3 / (1 + (s**2).sum(axis=1, keepdims=True))
    assert numpy.allclose(numpy.asarray(solution["C"].result, dtype=float), cubes)
    assert "(1 + 2² + (−1)²)" in solution.text().replace("\n", " ") or "2² + (−1)²" in solution.text()
    shift = sympy.Rational(1, 10**6)
    moved = symattn.derive("custom", steps=STEPS, Q=[[1 + shift, 0], [2, -1]], K=K)
    slope = (moved["C"].result[0, 0] - solution["C"].result[0, 0]) / shift
    assert float(solution.diff("C", "Q")[0, 0, 0, 0]) == pytest.approx(float(slope), abs=1e-5)


GRADIENTS = [{"of": "A", "wrt": "Q"}]
UPSTREAM = [[1, -2], [0, 3]]


def loss(q):
    s = q @ numpy.array(K).T
    cubes = s**3 / (1 + (s**2).sum(axis=1, keepdims=True))
    powers = numpy.exp(cubes)
    return (numpy.array(UPSTREAM) * powers / powers.sum(axis=1, keepdims=True)).sum()


def test_a_gradient_goes_back_through_it(monkeypatch):
    """Against derivatives along imaginary steps (Squire and Trapp 1998), which lose no digits."""
    monkeypatch.setitem(operations(), "shares", Shares)
    back = symattn.derive("custom", steps=STEPS, gradients=GRADIENTS, Q=Q, K=K, dA=UPSTREAM)
    slopes = numpy.array(Q, dtype=complex)
    for i, j in numpy.ndindex(2, 2):
        step = numpy.zeros((2, 2), dtype=complex)
        step[i, j] = 1e-30j
        slopes[i, j] = loss(numpy.array(Q) + step).imag / 1e-30
    assert numpy.allclose(numpy.asarray(back["dQ"].result, dtype=float), slopes.real, atol=1e-12)
    assert back.worksheet()
    columns = turned(back.derivation)
    assert columns.replay()["dC"].result == back["dC"].result.T


def test_without_a_pull_a_gradient_is_refused_by_name(monkeypatch):
    monkeypatch.setitem(operations(), "shares", Shares)
    monkeypatch.delattr(Shares, "pull")
    with refused_saying("Step 'C': how a gradient goes back through 'Shares of cubes' is not known"):
        symattn.derive("custom", steps=STEPS, gradients=GRADIENTS, Q=Q, K=K)


def test_it_is_itself_with_tokens_as_columns(solution):
    upright = solution.derivation
    laid = turned(upright)
    assert laid["C"].op.apply(laid["S"].result) == upright["C"].result.T


def test_every_format_shows_it_and_its_program_runs(solution):
    for form in FORMATS:
        if "pdf" not in form:
            assert solution.text(form)
    source = program(solution.text("notebook"))
    assert "C = np.array([[S[0, 0]**3" in source
    exec(source, {})  # it asserts what the page says


def program(notebook):
    import nbformat

    return "\n".join(cell.source for cell in nbformat.reads(notebook, 4).cells if cell.cell_type == "code")


def test_a_worksheet_is_made_and_marked_with_rounded_lines(solution):
    assert solution.worksheet()
    rounded = [["0.5", "0"], ["1.33", "-0.17"]]
    report = symattn.check(solution, {"S": [[1, 0], [2, -1]], "C": rounded, "A": [["0.62", "0.38"], ["0.82", "0.18"]]})
    assert report.right


def test_its_conventions_stand_in_the_box_in_full_and_in_brief(solution):
    sheet = solution.worksheet()
    for form in FORMATS:
        if "pdf" not in form:
            assert "Shares are those of the cubes of" in render(sheet.document(), form)[1].decode().replace(
                "\n", " "
            ), form
    assert "Cubes: C = shares(S)" in render(sheet.document(conventions="bare"), "text")[1].decode()


def test_without_a_witness_no_key_is_written(solution, monkeypatch):
    monkeypatch.delattr(Shares, "witness_of_rows")
    with pytest.raises(SelfCheckError, match="Shares has no second way to its numbers"):
        solution.worksheet()
