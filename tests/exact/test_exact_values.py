"""The exact numbers obey the laws of a field, and agree with mpmath and SymPy."""

import copy
import pickle
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest
import sympy
from commands import python
from exact_witness import everything, exponents, in_sympy, members, ours, positive_sums, sums, towers
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import tries

from symattn.errors import InputError, OutgrownError, UndefinedError
from symattn.exact import values
from symattn.exact.bridge import from_sympy, to_sympy
from symattn.exact.decide import compare, decide, decide_tree, sign
from symattn.exact.intervals import enclose
from symattn.exact.reading import decide_reading, read
from symattn.exact.tree import OverBudget
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    ExpSum,
    NegativeInfinity,
    Quotient,
    divide,
    exact,
    exponential,
    is_symbolic,
    power,
    square_part,
    square_root,
)

e = exponential
relaxed = tries(25)


def equal(a, b):
    return decide(a, b).equal is True


def numerically(v):
    """Our value through SymPy's evaluation, for comparison with mpmath."""
    return mpmath.mpf(str(sympy.N(to_sympy(v), 60, maxn=4000)))


# ------------------------------------------------------------------------------------ laws


@relaxed
@given(members, members, members)
def test_ring_laws(a, b, c):
    a, b, c = ours(a), ours(b), ours(c)
    assert equal(a + b, b + a)
    assert equal(a * b, b * a)
    assert equal((a + b) + c, a + (b + c))
    assert equal((a * b) * c, a * (b * c))
    assert equal(a * (b + c), a * b + a * c)
    assert equal(a - b, a + -b)
    assert a + 0 == a
    assert equal(a * 1, a)
    assert a * 0 == 0
    assert a - a == 0


@pytest.mark.slow
@relaxed
@given(sums, sums, sums)
def test_sums_are_canonical(a, b, c):
    a, b, c = ours(a), ours(b), ours(c)
    assert a * (b + c) == a * b + a * c
    assert a - b == -(b - a)
    assert hash(a * b) == hash(b * a)


@pytest.mark.slow
@relaxed
@given(everything, everything)
def test_division_undoes_multiplication(a, b):
    a, b = ours(a), ours(b)
    if sign(b) != 0:
        assert equal(divide(a * b, b), a)
        assert equal(divide(a, b) * b, a)


@pytest.mark.slow
@relaxed
@given(positive_sums)
def test_a_square_root_squared(a):
    a = ours(a)
    root = square_root(a)
    assert root * root == a
    assert sign(root) == 1
    assert equal(square_root(a * a), a)


@relaxed
@given(exponents, exponents)
def test_exponentials_multiply(a, b):
    a, b = ours(a), ours(b)
    assert e(a) * e(b) == e(a + b)
    assert e(a) * e(-a) == 1


@tries(30)
@given(st.one_of(members, towers))
def test_the_bridge_and_back(recipe):
    value = ours(recipe)
    back = from_sympy(to_sympy(value))
    assert not is_symbolic(back)
    assert equal(back, value)
    assert equal(from_sympy(in_sympy(recipe)), value)


# ------------------------------------------------------------------------------------ forms


def test_rational_results_are_plain_numbers():
    assert type(square_root(9)) is int
    assert type(divide(6, 3)) is int
    assert type(square_root(2) * square_root(2)) is int
    assert type(e(1) * e(-1)) is int
    assert square_root(Fraction(9, 4)) == Fraction(3, 2)
    assert divide(e(1) + e(2), (e(1) + e(2)) * 3) == Fraction(1, 3)
    assert type(divide(square_root(2) + 1, square_root(2) + 1)) is int


def test_a_row_of_weights_keeps_its_denominator():
    row = [e(2), e(0), e(Fraction(1, 2))]
    total = row[0] + row[1] + row[2]
    weights = [divide(x, total) for x in row]
    output = weights[0] * 3 + weights[1] * Fraction(-1, 2) + weights[2] * 5
    assert isinstance(output, Quotient)
    assert output.denominator is total
    assert weights[0] + weights[1] + weights[2] == 1
    assert 1 - weights[0] == weights[1] + weights[2]
    assert weights[0] * 4 + weights[1] * 4 + weights[2] * 4 == 4


def test_one_term_divides():
    assert isinstance(divide(1, square_root(2)), ExpSum)
    assert divide(1, square_root(2)) == square_root(2) * Fraction(1, 2)
    assert divide(1, e(2)) == e(-2)
    assert divide(e(3) + 1, e(1)) == e(2) + e(-1)


def test_radicands_too_large_to_factor_stay_under_their_root():
    p, q = sympy.nextprime(10**12), sympy.nextprime(10**13)
    root = square_root(p * q)
    assert isinstance(root, ExpSum)
    assert root.height == 1
    assert root * root == p * q
    assert equal(square_root(p) * square_root(q), root)
    assert equal(divide(p, square_root(p)), square_root(p))


@given(st.integers(1, 10**18))
@settings(deadline=None)
def test_the_square_part(n):
    outside, squarefree, rest = square_part(n)
    assert outside**2 * squarefree * rest == n
    assert all(k == 1 for k in sympy.factorint(squarefree).values())
    if n <= 10**10:
        assert rest == 1


POWERS = [
    (2, Fraction(3, 2)), (8, Fraction(1, 3)), (4, Fraction(-1, 2)), (Fraction(8, 27), Fraction(-2, 3)),
    (2, Fraction(1, 4)), (12, Fraction(5, 2)), (10**30, Fraction(1, 3)), (3, -4), (Fraction(-2, 3), 3),
]  # fmt: skip


@pytest.mark.parametrize(("base", "exponent"), POWERS)
@mpmath.workdps(60)
def test_powers_agree_with_mpmath(base, exponent):
    value = power(base, exponent)
    assert not is_symbolic(value)
    truth = mpmath.mpf(Fraction(base).numerator) / Fraction(base).denominator
    truth = truth ** (mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator)
    assert abs(numerically(value) - truth.real) < mpmath.mpf(10) ** -40 * abs(truth)


def test_powers_of_e():
    assert power(e(1), 3) == e(3)
    assert power(e(2), square_root(2)) == e(2 * square_root(2))
    assert power(e(1), NEGATIVE_INFINITY) == 0
    assert power(2, NEGATIVE_INFINITY) == 0
    assert power(e(1) + 1, -2) == divide(1, e(2) + 2 * e(1) + 1)
    assert is_symbolic(power(2, square_root(2)))
    assert is_symbolic(power(2, Fraction(1, 3)))


def test_leaving_the_class_gives_sympy_expressions():
    outside = e(divide(1, e(1) + 1))
    assert is_symbolic(outside)
    assert outside == sympy.exp(1 / (1 + sympy.E))
    assert is_symbolic(outside * e(2) + 1)
    assert is_symbolic(1 - square_root(2) * outside)
    assert exponential(sympy.log(7)) == 7


# ------------------------------------------------------------------------------------ −∞


def test_minus_infinity():
    x = sympy.Symbol("x")
    positive = sympy.Symbol("p", positive=True)
    for finite in [3, Fraction(-1, 2), e(1), divide(1, e(1) + 1), x, sympy.pi]:
        assert finite + NEGATIVE_INFINITY is NEGATIVE_INFINITY
        assert NEGATIVE_INFINITY + finite is NEGATIVE_INFINITY
        assert NEGATIVE_INFINITY - finite is NEGATIVE_INFINITY
    for factor in [3, Fraction(1, 2), e(1), e(1) - 2, divide(1, e(1) + 1), positive, sympy.pi]:
        assert factor * NEGATIVE_INFINITY is NEGATIVE_INFINITY
        assert NEGATIVE_INFINITY * factor is NEGATIVE_INFINITY
    assert NEGATIVE_INFINITY + NEGATIVE_INFINITY is NEGATIVE_INFINITY
    assert divide(NEGATIVE_INFINITY, square_root(2)) is NEGATIVE_INFINITY
    assert exponential(NEGATIVE_INFINITY) == 0
    assert repr(NEGATIVE_INFINITY) == "-∞"
    assert to_sympy(NEGATIVE_INFINITY) == -sympy.oo
    assert exact(-sympy.oo) is exact(float("-inf")) is exact("-∞") is NEGATIVE_INFINITY
    assert NegativeInfinity() is NEGATIVE_INFINITY
    assert copy.deepcopy(NEGATIVE_INFINITY) is pickle.loads(pickle.dumps(NEGATIVE_INFINITY)) is NEGATIVE_INFINITY


@pytest.mark.parametrize(
    "undefined",
    [
        lambda: 0 * NEGATIVE_INFINITY,
        lambda: (e(1) - e(1)) * NEGATIVE_INFINITY,
        lambda: -2 * NEGATIVE_INFINITY,
        lambda: (e(1) - 3) * NEGATIVE_INFINITY,
        lambda: -NEGATIVE_INFINITY,
        lambda: NEGATIVE_INFINITY - NEGATIVE_INFINITY,
        lambda: 1 - NEGATIVE_INFINITY,
        lambda: NEGATIVE_INFINITY * NEGATIVE_INFINITY,
        lambda: sympy.Symbol("x") * NEGATIVE_INFINITY,
        lambda: divide(1, NEGATIVE_INFINITY),
        lambda: divide(NEGATIVE_INFINITY, -1),
        lambda: square_root(NEGATIVE_INFINITY),
        lambda: power(Fraction(1, 2), NEGATIVE_INFINITY),
        lambda: divide(1, 0),
        lambda: divide(e(1), square_root(2) * square_root(3) - square_root(6)),
        lambda: divide(1, square_root(e(2) + 2 * e(1) + 1) - e(1) - 1),
        lambda: square_root(-1),
        lambda: square_root(e(1) - 3),
        lambda: power(0, 0),
        lambda: power(0, -1),
        lambda: power(-8, Fraction(1, 3)),
    ],
)
def test_what_mathematics_does_not_define(undefined):
    with pytest.raises(UndefinedError) as error:
        undefined()
    assert str(error.value).endswith(".")
    assert len(str(error.value)) > 15


# ------------------------------------------------------------------------------------ what comes in


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (3, 3),
        (Fraction(4, 2), 2),
        (0.1, Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
        (-2.0, -2),
        (Decimal("0.125"), Fraction(1, 8)),
        ("1/2", Fraction(1, 2)),
        (np.int64(7), 7),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.array(5), 5),
        (sympy.Rational(2, 6), Fraction(1, 3)),
        (sympy.Float(0.1), Fraction(1, 10)),
        (sympy.sqrt(12), 2 * square_root(3)),
        (sympy.exp(2) / 3, e(2) * Fraction(1, 3)),
        (sympy.E, e(1)),
        (sympy.exp(sympy.sqrt(3) / 2), e(square_root(3) * Fraction(1, 2))),
    ],
)
def test_exact(given_, expected):
    value = exact(given_)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    "refused",
    [True, None, 1j, [1], float("nan"), float("inf"), Decimal("nan"), Decimal("1e99999999"),
     np.bool_(True), np.array([1, 2]),
     sympy.oo, sympy.zoo, sympy.nan, sympy.I, sympy.sqrt(-2), sympy.Matrix([1]), sympy.true, object()],
)  # fmt: skip
def test_exact_refuses(refused):
    with pytest.raises(InputError) as error:
        exact(refused)
    assert str(error.value).endswith(".")


def test_expressions_pass_through():
    x = sympy.Symbol("x")
    assert exact(x + 1) == x + 1
    assert exact(x * 0.5) == x / 2
    assert exact(sympy.log(2)) == sympy.log(2)
    assert exact((1 + sympy.exp(1) + sympy.sqrt(2)) ** 3000) == (1 + sympy.exp(1) + sympy.sqrt(2)) ** 3000


def test_sympy_is_not_imported_before_it_is_needed():
    code = (
        "import sys, symattn.exact as x; from symattn.exact import reading, rounding, decide, values\n"
        "v = x.divide(x.exponential(2), x.exponential(2) + 1)\n"
        "assert rounding.decimal_text(v, 3) == '0.881' and reading.read('1/2 + e').value != v\n"
        "assert 'sympy' not in sys.modules and 'numpy' not in sys.modules"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_equal_towers_of_roots_are_compared_once_and_not_as_often_as_they_can_be_reached(monkeypatch):
    """Each radicand stands in two terms of the next one: 2¹² comparisons, if each were made anew."""
    text = "(e+" * 12 + "1/(1+e)" + ")^(1/2)" * 12
    a, b = (read(text).evaluate() for _ in range(2))
    compare_once, compared = ExpSum.__eq__, Counter()

    def counted(self, other):
        compared["sums"] += 1
        return compare_once(self, other)

    monkeypatch.setattr(ExpSum, "__eq__", counted)
    assert a is not b
    assert a == b
    assert compared["sums"] < 2000
    assert hash(a.numerator) == hash(b.numerator)
    assert a != read(text.replace("1/(1+e)", "1/(2+e)")).evaluate()


def test_a_tower_that_would_fill_books_is_decided_all_the_same():
    """Written out it has 2²⁴ terms, though it takes a line to type."""
    reading, other = (read("(e+" * 24 + f"1/({n}+e)" + ")^(1/2)" * 24) for n in (1, 2))
    with pytest.raises(OverBudget):
        reading.evaluate()
    assert decide_reading(reading, read("(e+1/(1+e))^(1/2)").value).equal is False
    assert decide_tree(reading.tree, 2).equal is False
    assert decide_tree(other.tree, 2).equal is False


# ------------------------------------------------------------------------------------ what outgrows a page


def normed(rng, tokens):
    """An entry of a layer norm after a softmax, by the definition: each has an irrational deviation of its own."""
    exponentials = [exponential(rng.randint(-12, 12)) for _ in range(tokens)]
    total = sum(exponentials[1:], exponentials[0])
    weights = [divide(x, total) for x in exponentials]
    row = [sum((w * rng.randint(-2, 3) for w in weights), Fraction(rng.randint(-2, 2))) for _ in range(4)]
    mean = sum(row[1:], row[0]) * Fraction(1, 4)
    deviations = [x - mean for x in row]
    return divide(deviations[0], square_root(sum(x * x for x in deviations) * Fraction(1, 4)))


def test_a_sum_of_norms_is_given_up_before_it_fills_books():
    """Six entries of norms added were a number of a million characters, which took 25 s to be written."""
    rng = Random(1)
    with pytest.raises(OutgrownError, match="decimals"):
        sum((normed(rng, 7) for _ in range(6)), Fraction(0))


def test_a_product_is_given_up_before_it_is_formed():
    one = sum((exponential(k * k) for k in range(1, 500)), Fraction(0))
    made = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "product_of_terms", lambda *_: made.update(["products"]))
        with pytest.raises(OutgrownError):
            one * (one + 1)
    assert not made


def test_numbers_whose_difference_outgrows_are_compared_all_the_same():
    one, other = (divide(1, sum((exponential(k**3 + a) for k in range(1, 500)), Fraction(1))) for a in (0, 1))
    with pytest.raises(OutgrownError):
        one - other
    assert (compare(one, other), compare(other, one), compare(one, one)) == (1, -1, 0)
    assert decide(one, other).equal is False


def test_an_enclosure_is_worked_out_once_for_its_number_of_digits():
    with mpmath.workdps(60):
        weight = mpmath.mpf(1) / (1 + mpmath.e)
        for number in (divide(1, 1 + e(1)), divide(e(-1), 1 + e(-1))):
            first = enclose(number, 25)
            assert enclose(number, 25) is first
            for digits in (40, 25):
                low, high = (mpmath.mpf(str(end)) for end in enclose(number, digits))
                assert low <= weight <= high
                assert high - low < mpmath.mpf(10) ** (2 - digits)
            assert enclose(number, 25) == first
