"""Sums and products that are collected: what mpmath and NumPy give, written as one addition after another."""

from fractions import Fraction
from functools import reduce
from operator import add

import mpmath
import pytest
import sympy
from exact_witness import in_mpmath, members, ours, positive_sums, quotients, small, sums, towers
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

from symattn.errors import OutgrownError
from symattn.exact import NEGATIVE_INFINITY, ExpSum, Matrix, Quotient, divide, exponential, square_root
from symattn.exact.rounding import decimal_text
from symattn.exact.sums import dot, products, shares, total
from symattn.exact.values import MOST_TERMS

numbers = small.map(lambda q: ("number", q))
rows = st.builds(  # over one denominator
    lambda tops, below: [("divide", top, below) for top in tops], st.lists(sums, min_size=2, max_size=4), positive_sums
)


def agrees(value, witness):
    """To thirty places."""
    return abs(mpmath.mpf(decimal_text(value, 30)) - witness) <= mpmath.mpf(10) ** -30


@tries(10)
@given(st.lists(st.one_of(members, quotients), max_size=5))
def test_sums_are_what_mpmath_adds_and_written_as_operators_write_them(recipes):
    found = total([ours(r) for r in recipes])
    with mpmath.workdps(80):
        assert agrees(found, mpmath.fsum(map(in_mpmath, recipes)))
    assert str(found) == str(reduce(add, map(ours, recipes), 0))


@tries(10)
@given(st.lists(st.tuples(members, st.one_of(numbers, members)), max_size=4), st.booleans())
def test_dot_products_are_what_mpmath_multiplies_and_adds(pairs, turned):
    left, right = zip(*pairs, strict=True) if pairs else ((), ())
    if turned:
        left, right = right, left
    found = dot([ours(r) for r in left], [ours(r) for r in right])
    with mpmath.workdps(80):
        assert agrees(found, mpmath.fsum(in_mpmath(a) * in_mpmath(b) for a, b in zip(left, right, strict=True)))


@tries(10)
@given(rows, st.data())
def test_rows_of_quotients_times_columns_of_numbers(row, data):
    row = row + data.draw(st.lists(st.one_of(numbers, towers), max_size=1))  # what is over no denominator, too
    columns = data.draw(st.lists(st.lists(numbers, min_size=len(row), max_size=len(row)), min_size=1, max_size=3))
    [found] = products([[ours(r) for r in row]], [[ours(r) for r in column] for column in columns])
    with mpmath.workdps(80):
        for value, column in zip(found, columns, strict=True):
            assert agrees(value, mpmath.fsum(in_mpmath(a) * in_mpmath(b) for a, b in zip(row, column, strict=True)))


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=6), st.data())
def test_weights_times_numbers_are_written_as_operators_write_them(scores, data):
    column = data.draw(st.lists(st.integers(-2, 2), min_size=len(scores), max_size=len(scores)))
    weights = shares(list(map(exponential, scores)))
    [[found]] = products([weights], [column])
    with mpmath.workdps(80):
        assert agrees(
            found, mpmath.fdot([mpmath.exp(k) for k in scores], column) / mpmath.fsum(map(mpmath.exp, scores))
        )
    above = reduce(add, (exponential(k) * x for k, x in zip(scores, column, strict=True)))
    if isinstance(found, Quotient):
        assert str(found.numerator) == str(above)


def test_fractions_that_add_up_to_a_whole_number_are_one():
    thirds = [Fraction(1, 3)] * 3
    assert [dot(thirds, [1, 1, 1]), dot(thirds, [Fraction(1, 2), 0, Fraction(5, 2)])] == [1, 1]
    assert all(type(dot(thirds, right)) is int for right in ([1, 1, 1], [3, 0, 0]))


def test_what_cancels_is_gone_and_comes_back_at_the_end():
    e, root = exponential(1), square_root(2)
    assert total([e, 1, -e]) == 1
    assert type(total([e, 1, -e])) is int
    assert str(total([e, root, -e, 1, e])) == str(e + root - e + 1 + e) == "√2 + 1 + e"


def test_what_is_no_finite_number_is_added_by_its_own_operators():
    assert total([1, NEGATIVE_INFINITY, exponential(1)]) is NEGATIVE_INFINITY
    x = sympy.Symbol("x")
    assert total([x, 2, x]) == 2 * x + 2
    assert total([]) == dot([], []) == 0


def test_a_row_of_weights_adds_up_to_1_and_equal_ones_are_the_same_object():
    weights = shares([exponential(k) for k in (2, 0, 2, -1)])
    assert total(weights) == 1
    assert weights[0] is weights[2] is not weights[1]
    assert shares([2, 3, 5]) == [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]


def test_a_sum_of_many_terms_is_one_new_sum(monkeypatch):
    parts = [divide(exponential(k), total([exponential(n) for n in range(-50, 50)])) for k in range(60)]
    made, init = [], ExpSum.__init__
    monkeypatch.setattr(ExpSum, "__init__", lambda self, terms: (made.append(self), init(self, terms))[1])
    found = total(parts)
    assert isinstance(found, Quotient)
    assert len(found.numerator.terms) == 60
    assert len(made) == 1
    list(products([parts] * 3, [[1] * 60, [2] * 60]))
    assert len(made) == 7


def test_a_sum_that_would_be_too_long_is_refused():
    long = Matrix.of([[total([exponential(k) for k in range(i * 8000, (i + 1) * 8000)]) for i in range(4)]])
    assert MOST_TERMS < 4 * 8000
    with pytest.raises(OutgrownError):
        dot(long.rows[0], [1, 1, 1, 1])
