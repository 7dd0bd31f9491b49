"""How results are carried on: what stays exact, what becomes a decimal, and that either is the same number."""

import random
from fractions import Fraction

import pytest
import sympy

from symattn.errors import OutgrownError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Real, decide, divide, exponential, square_root
from symattn.exact.carry import LONGEST_COEFFICIENT, MOST_TERMS, carried, in_decimals, is_short
from symattn.exact.real import as_real


def same(matrix):
    return matrix


def sum_of_powers(terms):
    return sum((exponential(k) for k in range(1, terms)), exponential(0))


def test_short_fractions_and_minus_infinity_stay_in_every_arithmetic():
    numbers = Matrix([[1, "1/3", "-7/2"]]).rows[0]
    matrix = Matrix.of([[*numbers, NEGATIVE_INFINITY]])
    for arithmetic in ("exact", "decimal", "auto"):
        kept = carried(same, [matrix], arithmetic)
        assert kept.rows == matrix.rows
        assert not in_decimals(kept)


def test_decimal_makes_reals_of_everything_else():
    values = [exponential(1), square_root(2), divide(1, exponential(1) + 1), sympy.sin(1), Fraction(1, 3**100)]
    kept = carried(same, [Matrix.of([values])], "decimal")
    assert all(isinstance(x, Real) for x in kept)
    assert all(decide(x, value).equal for x, value in zip(kept, values, strict=True))


def test_auto_keeps_what_can_be_read_and_carries_the_whole_step_on_where_one_entry_cannot():
    short, long = sum_of_powers(MOST_TERMS - 1), sum_of_powers(MOST_TERMS)
    assert is_short(short)
    assert not is_short(long)
    assert carried(same, [Matrix.of([[short, 2]])], "auto").rows == ((short, 2),)
    first, second, third = carried(same, [Matrix.of([[short, 2, long]])], "auto")
    assert first is as_real(short)
    assert second == 2
    assert third is as_real(long)


def test_long_coefficients_are_carried_on_as_decimals():
    longest = Fraction(1, 2**LONGEST_COEFFICIENT - 1)
    assert is_short(longest)
    assert not is_short(longest / 2)
    assert is_short(exponential(1) * longest)
    assert not is_short(exponential(1) * (longest / 2))


def test_what_outgrows_exact_arithmetic_goes_on_in_decimals():
    rng = random.Random(5)
    rows = [[exponential(rng.randint(-(9**6), 9**6)) + exponential(rng.randint(-(9**6), 9**6))] for _ in range(14)]

    def product(matrix):
        total = 1
        for x in matrix:
            total = total * x
        return Matrix.of([[total * total]])

    matrix = Matrix.of(rows)
    with pytest.raises(OutgrownError):
        carried(product, [matrix], "exact")
    (result,) = carried(product, [matrix], "auto")
    assert isinstance(result, Real)
