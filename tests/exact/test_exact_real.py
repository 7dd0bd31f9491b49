"""Numbers that are known by intervals: against mpmath to 60 digits, and what is decided about them."""

import pickle
import random
from fractions import Fraction

import mpmath
import pytest
import sympy
from exact_witness import everything, follow, in_mpmath, members, mp_fraction
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import LONGEST_COEFFICIENT, MOST_TERMS, carried, in_decimals, is_short
from symattn.errors import OutgrownError, UndefinedError
from symattn.exact import (
    NEGATIVE_INFINITY,
    Matrix,
    Real,
    decide,
    decimal_text,
    divide,
    exponential,
    logarithm,
    power,
    sign,
    square_root,
    to_sympy,
)
from symattn.exact.intervals import enclose
from symattn.exact.reading import decide_reading, read
from symattn.exact.real import as_real, dot, real
from symattn.exact.rounding import approximate

E = as_real(exponential(1))


def in_reals(recipe):
    """A recipe followed in numbers that are known by intervals, from its leaves up."""
    return follow(recipe, as_real, divide, square_root, exponential)


def mp_value(recipe):
    with mpmath.workdps(120):
        return mp_fraction(mpmath.mpf(in_mpmath(recipe)))


@given(everything, st.integers(16, 70))
def test_intervals_contain_the_number_and_are_narrow(recipe, digits):
    value, truth = in_reals(recipe), mp_value(recipe)
    interval = enclose(value, digits)
    slack = abs(truth) * Fraction(1, 10**110) + Fraction(1, 10**110)
    assert Fraction(interval.low) - slack <= truth <= Fraction(interval.high) + slack
    if abs(truth) > Fraction(1, 10**6):
        assert Fraction(interval.high) - Fraction(interval.low) <= abs(truth) * Fraction(1, 10 ** (digits - 15))


@given(everything, st.integers(0, 30))
def test_printed_digits_are_those_of_mpmath(recipe, places):
    truth = mp_value(recipe) * 10**places
    if abs(truth - truth.__floor__() - Fraction(1, 2)) < Fraction(1, 10**20):
        return  # a tie, or too near one for this witness
    assert Fraction(decimal_text(in_reals(recipe), places)) * 10**places == round(truth)


@given(everything, st.sampled_from([0, 90]))
def test_a_float_is_the_same_whatever_was_known_of_the_number_before(recipe, digits):
    """What is drawn with a seed must not depend on what was worked out before."""
    value, truth = in_reals(recipe), mp_value(recipe)
    if digits:
        enclose(value, digits)
    if abs(truth) > Fraction(1, 10**60):
        assert approximate(value) == float(truth)


@given(members)
def test_a_function_of_a_number_is_that_of_mpmath(recipe):
    x, truth = in_reals(recipe), float(mp_value(recipe))
    if abs(truth) > 30 or not isinstance(x, Real):
        return
    for function in ("tanh", "erf", "sin", "cos"):
        expected = getattr(mpmath, function)(mpmath.mpf(truth))
        assert approximate(real(function, x)) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    if truth > 1e-3:
        assert approximate(logarithm(x)) == pytest.approx(float(mpmath.log(truth)), rel=1e-9, abs=1e-9)
        assert approximate(power(x, Fraction(1, 3))) == pytest.approx(truth ** (1 / 3), rel=1e-9)
        assert approximate(power(x, -2)) == pytest.approx(truth**-2, rel=1e-9)


@pytest.mark.slow
@given(st.lists(st.tuples(members, st.fractions(-3, 3, max_denominator=5)), min_size=1, max_size=5))
def test_a_dot_product_is_the_sum_of_the_products(terms):
    left, right = [in_reals(recipe) for recipe, _ in terms], [q for _, q in terms]
    total = sum((mp_value(recipe) * q for recipe, q in terms), Fraction(0))
    value = dot(left, right)
    assert abs(approximate(value) - float(total)) <= 1e-9 * (1 + abs(total))


def test_the_same_function_of_the_same_numbers_is_one_object():
    assert E + 1 is as_real(exponential(1)) + 1
    assert E * 2 is not E * 3
    assert exponential(E) is exponential(E)
    assert pickle.loads(pickle.dumps(exponential(E) + 1)) is exponential(E) + 1


def test_sympy_never_makes_a_float_of_one():
    """A number with __float__ would become one, with fifteen digits, wherever SymPy's expression stands first."""
    product = sympy.sin(1) * E
    assert isinstance(product, Real)
    assert decimal_text(product, 30) == decimal_text(E * sympy.sin(1), 30)
    with pytest.raises(TypeError):
        sympy.Symbol("a") + E


def test_what_cancels_is_exactly_zero():
    assert E - E == 0
    assert isinstance(E - E, int)
    assert (-E).__neg__() is E
    assert E * 0 == 0
    assert isinstance(0 * E, int)
    assert (E + 0, E * 1, divide(E, 1)) == (E, E, E)


def test_equal_numbers_agree_to_200_digits_and_others_are_told_apart():
    assert decide(E * E, exponential(2)).proof == "to 200 digits"
    assert decide(E * E, exponential(2)).equal is True
    near = E * E + Fraction(1, 10**150)
    assert decide(near, exponential(2)) == decide(exponential(2), near)
    assert decide(near, exponential(2)).equal is False
    assert sign(E * E - exponential(2)) == 0
    assert sign(near - exponential(2)) == 1
    assert Matrix.of([[E * E]]) == Matrix.of([[exponential(2)]])
    assert Matrix.of([[near]]) != Matrix.of([[exponential(2)]])


@pytest.mark.parametrize(
    ("typed", "equal"),
    [
        ("e^2", True), ("e^4/e^2", True), ("7.389", False), ("e^2 + e^(-200)", False), ("(1+e)^40/(1+e)^40*e^2", True),
        ("(1+e)^60 - (1+e)^60 + e^2", True), ("(1+e)^60 - (1+e)^60 + e^3", False), ("-inf", False),
        ("(sqrt(2)+e)^90*e^2/(sqrt(2)+e)^90", True),
    ],
)  # fmt: skip
def test_what_is_typed_is_compared_with_such_numbers(typed, equal):
    assert decide_reading(read(typed), E * E).equal is equal


def test_letters_are_neither_equal_nor_different():
    assert decide_reading(read("a^2", symbols=True), E * E).equal is None


@pytest.mark.parametrize(("added", "expected"), [("0", "0.12"), ("1", "0.13"), ("-1", "0.12")])
def test_ties_and_what_lies_beside_them(added, expected):
    eighth = as_real(square_root(2)) * square_root(2) * Fraction(1, 16) + Fraction(added) / 10**100
    assert decimal_text(eighth, 2) == expected


@pytest.mark.slow
def test_long_chains_need_no_deep_recursion():
    total = E
    for k in range(20_000):
        total = total + Fraction(1, 2) if k % 2 else total * Fraction(1, 1) - Fraction(1, 2)
    assert decimal_text(total, 4) == "2.7183"
    del total


def test_what_is_not_defined_is_refused():
    zero = E * E - exponential(2)
    for undefined in (
        lambda: divide(1, zero),
        lambda: square_root(-E),
        lambda: logarithm(-E),
        lambda: logarithm(zero),
    ):
        with pytest.raises(UndefinedError):
            undefined()
    assert square_root(zero) == 0


def test_in_sympy_and_as_floats():
    with mpmath.workdps(40):
        assert str(to_sympy(E))[:29] == mpmath.nstr(mpmath.e, 40)[:29]
    tiny = divide(1, exponential(as_real(10_000)))
    assert approximate(tiny) == 0
    assert abs(to_sympy(tiny) * sympy.exp(10_000).evalf(30) - 1) < 1e-25
    assert approximate(exponential(E)) == pytest.approx(float(mpmath.e**mpmath.e), rel=1e-15)
    assert str(E) == "2.71828182846…"


def test_in_sympy_the_thirtieth_digit_is_rounded_and_zero_is_zero():
    for n in range(2, 60):
        x, nothing = exponential(Fraction(n, 7)), exponential(as_real(n))
        with mpmath.workdps(60):
            witness = mpmath.exp(mpmath.mpf(n) / 7)
            assert str(to_sympy(as_real(x))) == mpmath.nstr(witness, 30, strip_zeros=False)
        assert to_sympy(nothing * 3 - nothing - nothing * 2) == 0


# --------------------------------------------------------------------------------------------- carried on in decimals


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
