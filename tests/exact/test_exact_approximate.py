"""Floats for choosing, against mpmath and the correctly rounded decimals."""

import math
from fractions import Fraction

import pytest
import sympy

from symattn.exact import NEGATIVE_INFINITY, decimal_text, divide, exponential, square_root
from symattn.exact.approximate import approximate


@pytest.mark.parametrize(
    "value",
    [
        Fraction(-2, 3),
        square_root(3),
        square_root(exponential(2) + 1),
        divide(exponential(square_root(2)), exponential(1) + exponential(-1) + 1),
        divide(-square_root(5), exponential(Fraction(1, 2)) - 3),
    ],
)
def test_the_correctly_rounded_decimals_agree(value):
    assert approximate(value) == pytest.approx(float(decimal_text(value, 15)), rel=1e-13)


def test_what_floats_cannot_hold_is_still_a_number():
    huge = exponential(2000)
    assert approximate(divide(huge, huge + 1)) == 1
    assert approximate(huge) == math.inf
    assert approximate(10**400) == math.inf
    assert approximate(NEGATIVE_INFINITY) == -math.inf


def test_numbers_of_sympy():
    assert approximate(sympy.exp(sympy.exp(1))) == pytest.approx(math.exp(math.e))
