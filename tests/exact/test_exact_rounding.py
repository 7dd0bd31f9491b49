"""Intervals contain the truth, and no printed digit is wrong: mpmath and exact fractions are the witnesses."""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import mpmath
import oracles
import pytest
import sympy
from exact_witness import everything, in_mpmath, mp_fraction, ours
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from trials import tries

from symattn.errors import UndecidedError
from symattn.exact.intervals import enclose
from symattn.exact.rounding import (
    decimal_text,
    largest_remainder,
    rounded,
    significant_text,
    truncated,
)
from symattn.exact.values import NEGATIVE_INFINITY, divide, exponential, square_root

e = exponential
x = sympy.Symbol("x")


def truth_of(recipe):
    with mpmath.workdps(400):
        return mp_fraction(in_mpmath(recipe))


def widened(interval):
    """By far less than the interval is wide, but more than mpmath errs: exact values make intervals of width 0."""
    wide = Context(prec=400)
    slack = Decimal("1e-300")
    return type(interval)(wide.subtract(interval.low, slack), wide.add(interval.high, slack))


@pytest.mark.parametrize(
    "expression",
    [
        sympy.exp(sympy.exp(2)), sympy.log(2), sympy.log(3) * sympy.pi - sympy.E, sympy.tanh(sympy.Rational(1, 3)),
        sympy.tanh(-7), sympy.Pow(2, sympy.sqrt(2)), sympy.Pow(2, sympy.Rational(-5, 3)), sympy.sqrt(sympy.log(5)),
        sympy.Max(sympy.log(2), sympy.exp(-1)), sympy.Max(0, sympy.log(2) - 1),
        1 / (1 + sympy.exp(-sympy.log(2) * sympy.pi)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("digits", [6, 120])
@mpmath.workdps(800)
def test_intervals_of_sympy_expressions(expression, digits):
    """SymPy writes the program for mpmath."""
    interval, witness = enclose(expression, digits), sympy.lambdify([], expression, "mpmath")
    assert interval.low <= interval.high
    assert mp_fraction(mpmath.mpf(witness())) in widened(interval)
    assert interval.high - interval.low < Decimal(10) ** (4 - digits) * 10


def test_intervals_of_huge_and_tiny_numbers():
    assert enclose(e(10**30), 10).high.is_infinite()
    assert enclose(e(-(10**30)), 10).low == 0 < enclose(e(-(10**30)), 10).high
    assert Decimal("1e434294481") < enclose(e(10**9), 20).low < Decimal("1e434294482")
    assert enclose(divide(1, e(10**30) + 1), 10).low == 0


@pytest.mark.parametrize(
    "unknown", [x, sympy.gamma(x), sympy.gamma(sympy.sqrt(2)), NEGATIVE_INFINITY, sympy.besselj(0, 1)]
)
def test_what_cannot_be_evaluated(unknown):
    with refused_saying(r"cannot be (evaluated|enclosed)"):
        enclose(unknown, 20)


# ------------------------------------------------------------------------------------ rounding


def reference(q, places, ties):
    """Another algorithm: the decimal module, on enough exact digits."""
    rule = {"even": ROUND_HALF_EVEN, "up": ROUND_HALF_UP, "down": ROUND_HALF_DOWN}[ties]
    wide = Context(prec=6000)
    scaled = wide.divide(Decimal(q.numerator), Decimal(q.denominator))
    return Fraction(scaled.quantize(Decimal(1).scaleb(-places), rule, wide))


@tries(20)
@given(everything, st.integers(-2, 60), st.sampled_from(["even", "up", "down"]))
def test_rounding_agrees_with_mpmath(recipe, places, ties):
    value = ours(recipe)
    if isinstance(value, int | Fraction):
        assert rounded(value, places, ties) == reference(Fraction(value), places, ties)
    else:
        assert rounded(value, places, ties) == reference(truth_of(recipe), places, ties)
        assert truncated(value, places) == Fraction(
            int(truth_of(recipe) * Fraction(10) ** places), Fraction(10) ** places
        )


TIES = [
    (Fraction(1, 2), 0, 0, 1, 0),
    (Fraction(3, 2), 0, 2, 2, 1),
    (Fraction(-1, 2), 0, 0, -1, 0),
    (Fraction(1, 8), 2, Fraction(12, 100), Fraction(13, 100), Fraction(12, 100)),
    (Fraction(-5, 8), 2, Fraction(-62, 100), Fraction(-63, 100), Fraction(-62, 100)),
    (25, -1, 20, 30, 20),
]


@pytest.mark.parametrize(("value", "places", "even", "up", "down"), TIES)
def test_exact_ties(value, places, even, up, down):
    disguised = divide(value * square_root(e(2) + 1), square_root(e(2) + 1))
    root = square_root(e(1) + 1)
    tower = value + square_root(e(2) + 2 * e(1) + 1) - root * root
    also = value + square_root(2 * e(2) + 3 + 2 * square_root(e(4) + 3 * e(2) + 2)) - square_root(e(2) + 1)
    also = also - square_root(e(2) + 2)
    for v in (value, disguised, tower, also):
        assert rounded(v, places) == even
        assert rounded(v, places, "up") == up
        assert rounded(v, places, "down") == down


def test_next_to_a_tie():
    nearly = e(1) * Fraction(1, 10**60)
    assert rounded(Fraction(1, 8) + nearly, 2) == Fraction(13, 100)
    assert rounded(Fraction(1, 8) - nearly, 2) == Fraction(12, 100)
    assert truncated(3 - nearly, 0) == 2
    assert truncated(3 + nearly, 0) == 3
    assert truncated(-3 + nearly, 5) == Fraction(-299999, 10**5)


def test_texts():
    assert decimal_text(Fraction(-1, 1000), 2) == "0.00"
    assert decimal_text(-e(-10), 2) == "0.00"
    assert decimal_text(Fraction(-1, 2), 2) == "-0.50"
    assert decimal_text(NEGATIVE_INFINITY, 3) == "-∞"
    assert decimal_text(7, 0) == "7"
    assert decimal_text(1234, -2) == "1200"
    assert significant_text(0, 3) == "0.00"
    assert significant_text(Fraction(9996, 1000), 3) == "10.0"
    assert significant_text(12345, 2) == "12000"
    assert significant_text(-e(-20), 3) == "-0.00000000206"
    assert significant_text(1000, 2) == "1000"


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("places", [10, 1000, 5000])
def test_any_number_of_digits(places):
    with mpmath.workdps(places + 50):
        mass = mp_fraction(mpmath.e**2 / (1 + mpmath.e**2))
    text = decimal_text(divide(e(2), e(2) + 1), places)
    assert len(text) == places + 2
    assert Fraction(Decimal(text)) == reference(mass, places, "even")


@tries(12)
@given(everything, st.integers(1, 30))
def test_significant_digits(recipe, digits):
    text = significant_text(ours(recipe), digits)
    truth = truth_of(recipe)
    if truth and not isinstance(ours(recipe), int | Fraction):
        wide = Context(prec=500)
        exact = wide.divide(Decimal(truth.numerator), Decimal(truth.denominator))
        assert Decimal(text) == Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(exact)


@mpmath.workdps(80)
def test_outside_the_class():
    outside = sympy.exp(sympy.exp(-1)) + 5
    assert decimal_text(outside, 40) == mpmath.nstr(mpmath.exp(mpmath.exp(-1)) + 5, 41)
    formally = sympy.exp(sympy.exp(-1)) ** 2 / sympy.exp(2 * sympy.exp(-1), evaluate=False) * sympy.Rational(1, 2)
    assert decimal_text(formally, 0) == "0"
    tie = sympy.tanh(sympy.log(2), evaluate=False) - sympy.Rational(1, 10)  # 3/5 - 1/10, which nothing here proves
    with pytest.raises(UndecidedError, match="too near to a tie"):
        rounded(tie, 0)
    assert rounded(tie, 1) == Fraction(1, 2)
    with refused_saying("cannot be rounded"):
        rounded(x, 2)


# ------------------------------------------------------------------------------------ rows


@tries(100)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any), st.integers(0, 4))
def test_largest_remainder_of_rational_rows(parts, places):
    row = [Fraction(p, sum(parts)) for p in parts]
    assert largest_remainder(row, places) == oracles.largest_remainder(row, places)


@tries(100)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5), st.integers(1, 4))
@mpmath.workdps(60)
def test_largest_remainder_of_softmax_rows(scores, places):
    powers, real = [e(Fraction(s, 2)) for s in scores], [mpmath.exp(mpmath.mpf(s) / 2) for s in scores]
    row = [divide(x, sum(powers[1:], powers[0])) for x in powers]
    if len(set(scores)) > 1:  # else it is rational, and mpmath may be below it
        assert largest_remainder(row, places) == oracles.largest_remainder([x / sum(real) for x in real], places)


def test_a_row_whose_sum_has_too_many_places():
    with refused_saying("keep its sum"):
        largest_remainder([Fraction(1, 3), Fraction(1, 3)], 2)
    assert largest_remainder([], 2) == []
