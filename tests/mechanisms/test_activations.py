"""Activations: exact values, proved decimals, ranges; against mpmath and PyTorch."""

import random
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops.entrywise import FUNCTIONS, Activation
from symattn.exact import (
    Matrix,
    decide,
    decimal_text,
    divide,
    exponential,
    from_sympy,
    has_symbols,
    sign,
    to_sympy,
)
from symattn.exact.intervals import Interval, enclose, interval_ring
from symattn.formula import Relation
from tests import oracles


@pytest.fixture(autouse=True, scope="module")
def sixty_digits():
    with mpmath.workdps(60):
        yield


WITNESS = {
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelu_tanh": lambda x: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
}


def value(name, x):
    return Activation(name).apply(Matrix([[x]]))[0, 0]


def real(q):
    return mpmath.mpf(q.numerator) / q.denominator


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1), Fraction(-2), Fraction(3, 7), Fraction(-1, 100), Fraction(25, 2), Fraction(-8)]
)
def test_decimals_are_proved(name, x):
    found = value(name, x)
    expected = WITNESS[name](real(x))
    for digits in (15, 40):
        low, high = enclose(found, digits) if not isinstance(found, int | Fraction) else (real(Fraction(found)),) * 2
        assert mpmath.mpf(str(low)) - mpmath.mpf(10) ** -55 <= expected <= mpmath.mpf(str(high)) + mpmath.mpf(10) ** -55
    assert abs(mpmath.mpf(decimal_text(found, 20)) - expected) <= mpmath.mpf("0.500001e-20")
    assert sign(found) == mpmath.sign(expected)


@tries(30)
@given(st.fractions(-6, 6, max_denominator=6))
def test_laws(x):
    assert value("tanh", x) == divide(exponential(2 * x) - 1, exponential(2 * x) + 1)
    assert value("tanh", -x) == -value("tanh", x)
    assert value("sigmoid", x) + value("sigmoid", -x) == 1
    assert value("silu", x) - value("silu", -x) == x
    assert value("tanh", x) == 2 * value("sigmoid", 2 * x) - 1
    assert decide(value("gelu", x) - value("gelu", -x), x).equal is True
    assert decide(value("gelu_tanh", x) - value("gelu_tanh", -x), x).equal is True


def test_tanh_is_not_opaque():
    inside = divide(exponential(1), 1 + exponential(1))
    power = sympy.exp(2 * to_sympy(inside))
    assert decide(value("tanh", inside), from_sympy((power - 1) / (power + 1))).equal is True
    assert from_sympy(sympy.tanh(1)) == divide(exponential(2) - 1, exponential(2) + 1)
    x = sympy.Symbol("x", real=True)
    assert decide(sympy.tanh(x), 1 - 2 / (sympy.exp(2 * x) + 1)).equal is True
    assert decide(sympy.tanh(x), 1 - 2 / (sympy.exp(2 * x) + 2)).equal is False


@pytest.mark.parametrize("digits", [5, 25, 60, 200])
@tries(10)
@given(x=st.fractions(-20, 20, max_denominator=1000))
def test_the_error_function_is_enclosed(digits, x):
    with mpmath.workdps(digits + 60):
        low, high = enclose(sympy.erf(sympy.Rational(x.numerator, x.denominator)), digits)
        expected = mpmath.erf(real(x))
        assert mpmath.mpf(str(low)) <= expected <= mpmath.mpf(str(high))
        assert mpmath.mpf(str(high - low)) < mpmath.mpf(10) ** (5 - digits)


def test_symbols_stay():
    x = sympy.Symbol("x", real=True)
    point = sympy.Rational(1, 3)
    for name, function in WITNESS.items():
        found = value(name, x)
        assert has_symbols(found)
        assert (
            abs(mpmath.mpf(str(sympy.N(found.subs(x, point), 40))) - function(real(Fraction(1, 3))))
            < mpmath.mpf(10) ** -35
        )


# ------------------------------------------------------------------------------------------------ ranges


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", FUNCTIONS)
@tries(30)
@given(low=st.integers(-600, 600), length=st.integers(0, 300))
def test_ranges_hold_every_value_and_touch_it(name, low, length):
    ends = Interval(Decimal(low) / 100, Decimal(low + length) / 100)
    found = FUNCTIONS[name].over(interval_ring(30), ends)
    points = [mpmath.mpf(low) / 100 + mpmath.mpf(length) / 100 * k / 60 for k in range(61)]
    values = [WITNESS[name](x) for x in points]
    least, most = mpmath.mpf(str(found.low)), mpmath.mpf(str(found.high))
    assert least <= min(values) + mpmath.mpf(10) ** -28
    assert most >= max(values) - mpmath.mpf(10) ** -28
    reach = mpmath.mpf(length) / 100 / 60
    assert max(values) - most > -(mpmath.mpf(10) ** -20) or most - max(values) < 2 * reach
    assert min(values) - least < 2 * reach + mpmath.mpf(10) ** -15


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("gelu", "-0.75179152469356445746"),
        ("gelu_tanh", "-0.75246142207101625849"),
        ("silu", "-1.27846454276107379511"),
    ],
)
def test_minima_lie_where_it_is_said(name, at):
    """The derivative changes its sign there, and nowhere else as far as a fine net can tell."""
    slope = {
        "gelu": lambda x: mpmath.ncdf(x) + x * mpmath.npdf(x),
        "gelu_tanh": lambda x: mpmath.diff(WITNESS["gelu_tanh"], x),
        "silu": lambda x: 1 + mpmath.exp(x) + x,
    }[name]
    start, step = mpmath.mpf(at), mpmath.mpf(10) ** -20
    assert slope(start) < 0 < slope(start + step)
    net = [mpmath.mpf(k) / 20 for k in range(-160, 100)]
    assert all((slope(x) > 0) == (x > start) for x in net)


# ------------------------------------------------------------------------------------------------ PyTorch


@pytest.mark.parametrize("seed", range(5))
def test_random_hidden_units_show_what_relu_does(seed):
    chosen = mechanism("feed_forward")
    d = chosen.run(chosen.draw(Settings(), chosen.default_sizes, random.Random(seed)), Settings())
    linear, product = oracles.floats(d.value("H_linear")), oracles.floats(d.value("H_product"))
    assert (linear < 0).any()
    assert (linear > 0).any(axis=1).all()
    assert (linear * product < 0).any()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_convention_says_more_than_that_a_function_is_itself(name):
    (said,) = Activation(name).conventions((), None)
    for formula in said.places.values():
        assert not isinstance(formula, Relation) or len(set(formula.parts)) == len(formula.parts)
