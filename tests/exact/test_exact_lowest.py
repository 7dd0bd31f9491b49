"""What is printed is in lowest terms.  SymPy's gcd of polynomials is the witness, with t for e."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

from symattn.exact import lowest as module
from symattn.exact.bridge import to_sympy
from symattn.exact.decide import decide
from symattn.exact.lowest import LARGEST_DEGREE, LONGEST_COEFFICIENT, cofactors, lowest
from symattn.exact.reading import read, typed
from symattn.exact.values import ExpSum, Quotient, divide, exponential, square_root, terms_of
from symattn.formula import number
from tests import oracles

t = sympy.Symbol("t")
e = exponential

polynomials = st.lists(st.integers(-4, 4), min_size=2, max_size=6).filter(lambda f: f[0] and f[-1])
exponents = st.sampled_from([1, Fraction(1, 2), -1, square_root(2), divide(square_root(3), 3)])


def sum_of(coefficients, step):
    made = sum((e(step * k) * c for k, c in enumerate(coefficients)), Fraction(0))
    assert isinstance(made, ExpSum)
    return made


def poly(coefficients):
    return sympy.Poly(list(reversed(coefficients)), t)


@pytest.mark.slow
@tries(50)
@given(polynomials, polynomials, polynomials, exponents, st.fractions(-9, 9, max_denominator=9).filter(bool))
def test_nothing_is_left_to_cancel(f, g, h, step, factor):
    """f·h/(g·h) has as many terms below as in SymPy, and the coefficients have no common factor."""
    value = divide(sum_of(f, step) * sum_of(h, step) * factor, sum_of(g, step) * sum_of(h, step))
    if not isinstance(value, Quotient):
        return
    reduced = lowest(value)
    assert decide(value, reduced).equal is True
    expected = sympy.cancel(poly(f).as_expr() / poly(g).as_expr())
    below = sympy.Poly(sympy.fraction(sympy.together(expected))[1], t)
    span = below.degree() - min(m[0] for m in below.monoms())
    if not isinstance(reduced, Quotient):
        assert span == 0
        return
    assert len(terms_of(reduced.denominator)) == len(below.terms())
    coefficients = [*terms_of(reduced.numerator).values(), *reduced.denominator.terms.values()]
    assert all(isinstance(c, int) for c in coefficients)
    assert sympy.gcd_list(list(map(sympy.Integer, coefficients))) == 1
    assert min(a for a, _, _ in reduced.denominator.terms) == ()


@tries(75)
@given(polynomials, polynomials, polynomials, exponents)
def test_the_common_multiple_is_the_least(f, g, h, step):
    a, b = sum_of(f, step) * sum_of(h, step), sum_of(g, step) * sum_of(h, step)
    if not (isinstance(a, ExpSum) and isinstance(b, ExpSum)):
        return
    p, q = cofactors(a, b)
    assert a * p == b * q
    multiple = sympy.lcm(poly(f) * poly(h), poly(g) * poly(h))
    assert len(terms_of(a * p)) == len(multiple.terms())


@tries(50)
@given(polynomials, polynomials, st.sampled_from([2, 3, 5]), exponents)
def test_roots_that_all_terms_share_come_out(f, g, r, step):
    root = square_root(sum_of([1, 0, 1], 1))
    above, below = sum_of(f, step) * root, sum_of(g, step) * root * square_root(r)
    reduced = lowest(divide(above, below))
    assert decide(divide(above, below), reduced).equal is True
    if isinstance(reduced, Quotient):
        assert all(radicand == 1 and not roots for _, radicand, roots in reduced.denominator.terms)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(1+e^2)/(1+2e^2+e^4)", "1/(1 + e^2)"),  # multi_head_attention --seed 11
        ("18e/(2+4e+2e^2)", "(9 e)/(1 + 2 e + e^2)"),  # attention_gradient --seed 11
        ("(1-e^2)/(1+e)", "1 − e"),
        ("(6+12e)/(3+3e)", "(2 + 4e)/(1 + e)"),
        ("(2+4e)/(-2-6e)", "−(1 + 2e)/(1 + 3e)"),
        ("1/(e^2-e^3)", "−e^(−2)/(e − 1)"),
        ("(e^(√2)-1)/(e^(2√2)-1)", "1/(1 + e^√2)"),
        ("1/(√2+√2e)", "√2/(2 + 2e)"),
    ],
)
def test_what_is_printed_and_what_is_typed(text, printed):
    value = read(text).value
    shown = oracles.plain(number(value))
    assert shown.replace(" ", "") == printed.replace(" ", "")
    assert decide(read(typed(value)).value, value).equal is True
    raw = to_sympy(value.numerator) / to_sympy(value.denominator)
    assert sympy.simplify(to_sympy(lowest(value)) - raw) == 0


def test_terms_keep_their_order_whichever_of_two_equal_numbers_came_first():
    """Frozen exams are compared by texts, which must not hang on what a run has met before."""
    one, other = divide(3, 1 + e(1) + 2 * e(2)), divide(3, 2 * e(2) + 1 + e(1))
    assert one == other
    assert str(one) != str(other)
    assert [str(x) for x in (one, other)] == [f"3/({x.denominator})" for x in (one, other)]


def test_sums_with_different_denominators_keep_the_least_common_one():
    below = 1 + e(1)
    total = divide(1, below) + divide(e(1), below * below) + divide(3, below * below * below)
    assert isinstance(total, Quotient)
    assert total.denominator == below * below * below
    other = divide(1, 1 + e(1)) + divide(1, 1 - e(2))
    assert len(other.denominator.terms) == 2  # 1 − e²


def test_what_is_too_large_to_be_reduced_is_left_as_it_is(monkeypatch):
    """No gcd is taken beyond the stated size; contents and units come out all the same."""
    taken = Counter()
    monkeypatch.setattr(module, "polynomial_gcd", lambda f, g: taken.update(["gcd"]) or [1])
    degree = divide(
        2 + 2 * e(LARGEST_DEGREE + 1), 2 + 4 * e(LARGEST_DEGREE + 1) + 2 * e(2 * LARGEST_DEGREE + 2) + 6 * e(1)
    )
    long = divide(3 * e(2), 3 * e(1) + 6 * e(2) * (2**LONGEST_COEFFICIENT) + 3 * e(3))
    two = divide(2 + 2 * e(square_root(2)), 2 + 2 * e(1) + 2 * e(square_root(2)) + 2 * e(square_root(2) + 1))
    for value in (degree, long, two):
        reduced = lowest(value)
        coefficients = [*terms_of(reduced.numerator).values(), *terms_of(reduced.denominator).values()]
        assert sympy.gcd_list(list(map(sympy.Integer, coefficients))) == 1
        assert min(a for a, _, _ in reduced.denominator.terms if not a or a[0][0] == 1) == ()
    assert not taken


def test_random_sums_of_fractions_do_not_grow_beyond_their_least_denominator():
    """1/((1+e)(1+e²)) + 1/((1+e²)(1+e³)) + …: each factor stands below once."""
    rng = Random(1)
    factors = [1 + e(k) for k in range(1, 6)]
    total, product = Fraction(0), sympy.Integer(1)
    for _ in range(12):
        one, other = rng.sample(range(5), 2)
        total = total + divide(rng.randint(1, 3), factors[one] * factors[other])
        product = sympy.lcm(product, sympy.expand((1 + t ** (one + 1)) * (1 + t ** (other + 1))))
    assert len(terms_of(total.denominator)) == len(sympy.Poly(product, t).terms())
