"""Rounding to binary formats, against NumPy's and PyTorch's own casts."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import UndefinedError
from symattn.exact import NEGATIVE_INFINITY, decimal_text, divide, exponential, square_root, to_sympy
from symattn.exact.rounding import FORMATS, approximate, nearest_in

NUMPY = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


def doubles():
    """Doubles of every size that a format may have: large, ordinary, subnormal, and half-way between two of it."""
    ordinary = st.floats(-70000, 70000)
    tiny = st.integers(-5000, 5000).map(lambda n: n * 2.0**-26)
    halves = st.integers(-(2**13), 2**13).map(lambda n: n / 2)
    return st.one_of(ordinary, tiny, halves, st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("name", NUMPY)
@given(doubles())
def test_a_double_is_rounded_as_numpy_rounds_it(name, x):
    with np.errstate(over="ignore"):
        expected = float(NUMPY[name](x))
    if expected == np.inf:
        with pytest.raises(UndefinedError, match=rf"\+∞ in {name}"):
            nearest_in(Fraction(x), FORMATS[name])
    elif expected == -np.inf:
        assert nearest_in(Fraction(x), FORMATS[name]) is NEGATIVE_INFINITY
    else:
        assert nearest_in(Fraction(x), FORMATS[name]) == Fraction(expected)


@given(st.integers(-(2**24), 2**24).map(lambda n: float(n) * 2.0**-10))
def test_bfloat16_is_that_of_pytorch(torch, x):
    assert nearest_in(Fraction(x), FORMATS["bfloat16"]) == Fraction(torch.tensor(x).bfloat16().item())


@pytest.mark.parametrize("name", ["float16", "float32"])
@given(st.fractions(-1000, 1000), st.integers(-40, 4))
def test_a_fraction_goes_to_a_nearest_number_of_the_format(name, x, shift):
    """No neighbour in the format is nearer, and of two as near the even one is taken."""
    x *= Fraction(2) ** shift
    found = nearest_in(x, FORMATS[name])
    here = NUMPY[name](float(found))
    assert Fraction(float(here)) == found
    for towards in (-np.inf, np.inf):
        other = Fraction(float(np.nextafter(here, NUMPY[name](towards))))
        assert abs(found - x) <= abs(other - x)
        if abs(found - x) == abs(other - x):
            assert here.view(np.uint16 if name == "float16" else np.uint32) % 2 == 0


@pytest.mark.parametrize("format", FORMATS.values(), ids=str)
def test_the_limits_are_those_of_the_formats(format, torch):
    known = torch.finfo(getattr(torch, format.name))
    assert format.largest == Fraction(known.max)
    assert nearest_in(format.largest, format) == format.largest
    smallest = Fraction(known.smallest_normal) * Fraction(known.eps)
    assert nearest_in(smallest, format) == smallest
    assert nearest_in(smallest / 2, format) == 0
    assert nearest_in(smallest * Fraction(51, 100), format) == smallest


@pytest.mark.parametrize("x", [exponential(1), square_root(2), -exponential(-20), exponential(11), exponential(-17)])
@pytest.mark.parametrize("name", NUMPY)
def test_irrational_numbers(x, name):
    assert nearest_in(x, FORMATS[name]) == Fraction(float(NUMPY[name](in_sympy(x))))


def in_sympy(x):
    """Its double, correctly rounded from forty digits."""
    return float(sympy.N(to_sympy(x), 40))


def test_the_smallest_of_all_are_0_and_need_no_digits():
    assert nearest_in(exponential(-(10**9)), FORMATS["float64"]) == 0
    assert nearest_in(-exponential(10**9), FORMATS["float64"]) is NEGATIVE_INFINITY
    assert nearest_in(NEGATIVE_INFINITY, FORMATS["float16"]) is NEGATIVE_INFINITY


# ------------------------------------------------------------------------------------------------ approximations


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
