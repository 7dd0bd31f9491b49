"""Equality is decided, never guessed: random pairs, towers of roots, near misses, and what stays undecided."""

import random
from fractions import Fraction

import mpmath
import pytest
import sympy
from exact_witness import everything, in_mpmath, ours, random_positive, rewritten
from hypothesis import given
from trials import tries

from symattn.errors import UndecidedError
from symattn.exact.bridge import from_sympy, to_sympy, tree_of
from symattn.exact.decide import (
    Decision,
    compare,
    coprime_base,
    decide,
    decide_tree,
    equal_modulo_primes,
    is_probable_prime,
    is_zero,
    sign,
    square_root_modulo,
)
from symattn.exact.tree import Budget
from symattn.exact.values import NEGATIVE_INFINITY, divide, exponential, square_root

e = exponential


def test_random_pairs():
    rng = random.Random(20260101)
    wrong = []
    for i in range(600):
        recipe = random_positive(rng)
        a, b = ours(recipe), ours(rewritten(rng, recipe))
        equal = rng.random() < 0.5
        if not equal:
            b = b + Fraction(rng.choice([-1, 1]), 10**60)
        decision = decide(a, b)
        if decision.equal is not equal or (compare(a, b) == 0) is not equal:
            wrong.append((i, recipe, equal, decision))
    assert wrong == []


@pytest.mark.slow
@tries(60)
@given(everything, everything)
@mpmath.workdps(150)
def test_comparison_agrees_with_mpmath(a, b):
    difference = in_mpmath(a) - in_mpmath(b)
    order = compare(ours(a), ours(b))
    if abs(difference) > mpmath.mpf(10) ** -100:
        assert order == (1 if difference > 0 else -1)
    else:
        assert order == 0


# ------------------------------------------------------------------------------------ examples with a proof


def nested(a, b):
    """√a + √b as one nested root."""
    return square_root(a + b + 2 * square_root(a * b))


def two_layer_norm(a, b):
    mean = divide(a + b, 2)
    deviation = square_root(divide((a - mean) * (a - mean) + (b - mean) * (b - mean), 2))
    return divide(a - mean, deviation)


p, q = divide(e(1), e(1) + e(2)), divide(e(2), e(1) + e(2))
EQUAL = {
    "e^2/(1+2e^2) = 1/(2+e^-2)": (divide(e(2), 1 + 2 * e(2)), divide(1, 2 + e(-2))),
    "two roots as one nested root": (square_root(e(2) + 1) + square_root(e(2) + 2), nested(e(2) + 1, e(2) + 2)),
    "a root of a root of a square": (square_root(square_root((e(1) + 1) ** 4)), e(1) + 1),
    "√2·√3 = √6": (square_root(2) * square_root(3), square_root(6)),
    "√(3+2√2) = 1+√2": (square_root(3 + 2 * square_root(2)), 1 + square_root(2)),
    "√(5+2√6) = √2+√3": (square_root(5 + 2 * square_root(6)), square_root(2) + square_root(3)),
    "√(2+√3) = (√6+√2)/2": (square_root(2 + square_root(3)), divide(square_root(6) + square_root(2), 2)),
    "layer norm of two numbers is −1": (two_layer_norm(p, q), -1),
    "layer norm of two numbers is 1": (two_layer_norm(q, p), 1),
    "product of roots": (square_root(e(1) + 1) * square_root(e(1) + 2), square_root((e(1) + 1) * (e(1) + 2))),
    "rationalised": (divide(1, square_root(e(1) + 1) + 1), divide(square_root(e(1) + 1) - 1, e(1))),
    "e^√12 = e^(2√3)": (e(square_root(12)), e(2 * square_root(3))),
    "e^(1/√3) = e^(√3/3)": (e(divide(1, square_root(3))), e(square_root(3) * Fraction(1, 3))),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name):
    a, b = EQUAL[name]
    assert decide(a, b) == Decision(True, "exact")
    assert compare(a, b) == 0
    nearly = b + e(1) * Fraction(1, 10**60)
    assert decide(a, nearly).equal is False
    assert compare(a, nearly) == -1


def test_layer_norm_with_epsilon():
    third = two_layer_norm(divide(1, 3), divide(2, 3))
    assert third == -1
    mean = divide(p + q, 2)
    variance = divide((p - mean) * (p - mean) + (q - mean) * (q - mean), 2)
    assert decide(divide(p - mean, square_root(variance + Fraction(1, 10**5))), -1).equal is False


def test_wrong_answers_are_proved_wrong_by_an_interval():
    assert decide(divide(e(2), 1 + 2 * e(2)), Fraction(47, 100)) == Decision(False, "interval", 25)
    assert decide(NEGATIVE_INFINITY, 3) == Decision(False, "exact")
    assert decide(NEGATIVE_INFINITY, NEGATIVE_INFINITY) == Decision(True, "exact")


# ------------------------------------------------------------------------------------ beyond the budget


def test_the_modular_test_agrees_with_the_exact_one():
    rng = random.Random(11)
    for i in range(60):
        recipe = random_positive(rng)
        a, b = ours(recipe), ours(rewritten(rng, recipe))
        if i % 2:
            b = b + Fraction(1, 10**60)
        assert decide(a, b, budget=Budget(0)) in (
            Decision(i % 2 == 0, "modular"), Decision(i % 2 == 0, "exact"), Decision(False, "interval", 50)
        )  # fmt: skip
        assert equal_modulo_primes(a, b) == Decision(i % 2 == 0, "modular")


def test_huge_expressions():
    t = sympy.exp(1) + sympy.sqrt(2) * sympy.exp(sympy.sqrt(3) / 2) + sympy.exp(sympy.Rational(1, 3))
    left = tree_of(sympy.Mul(t**200, t**-199, evaluate=False))
    assert decide_tree(left, from_sympy(t)) == Decision(True, "modular")
    assert decide_tree(left, from_sympy(t) + Fraction(1, 10**60)) == Decision(False, "modular")


def test_many_different_roots_do_not_explode():
    total = 0
    for k in range(1, 31):
        total = total + square_root(e(1) + k)
    other = total + square_root(e(1) + 31) - square_root(e(1) + 31)
    assert decide(total, other).equal is True
    scaled = sum(((square_root(4 * e(1) + 4 * k)) for k in range(2, 31)), square_root(4 * e(1) + 4))
    assert decide(scaled, 2 * total).equal is True
    twisted = 0
    for k in range(1, 31):
        twisted = twisted + divide(square_root((e(1) + k) * (e(2) + k)), square_root(e(2) + k))
    assert decide(total, twisted).equal is not False


def test_numbers_modulo_a_prime():
    for n in range(2, 2000):
        assert is_probable_prime(n) is sympy.isprime(n)
    p = int(sympy.nextprime(2**40))
    for a in range(2, 50):
        if sympy.jacobi_symbol(a, p) == 1:
            assert square_root_modulo(a, p) ** 2 % p == a
    base = coprime_base([12, 18, 35, 77, 8])
    assert all(sympy.gcd(a, b) == 1 for a in base for b in base if a != b)
    for n in (12, 18, 35, 77, 8):
        for b in base:
            while n % b == 0:
                n //= b
        assert n == 1


# ------------------------------------------------------------------------------------ outside the class


x, y = sympy.symbols("x y")
softmax_of_softmax = divide(e(p), e(p) + e(q))
FORMAL = {
    "softmax of softmax": (softmax_of_softmax, 1 / (1 + sympy.exp(to_sympy(q) - to_sympy(p)))),
    "the exponents sum to 1": (softmax_of_softmax, 1 / (1 + sympy.exp(1 - 2 * to_sympy(p)))),
    "ln 6 = ln 2 + ln 3, times π": (sympy.pi * sympy.log(6), sympy.pi * sympy.log(2) + sympy.pi * sympy.log(3)),
    "symbols": ((x + y) ** 2, x**2 + 2 * x * y + y**2),
    "symbolic softmax": (
        sympy.exp(x) / (sympy.exp(x) + sympy.exp(y * (x + 1))), 1 / (1 + sympy.exp(x * y + y - x)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMAL)
def test_formally_equal(name):
    a, b = FORMAL[name]
    assert decide(a, b) == Decision(True, "formal")
    different = decide(a, b + sympy.Rational(1, 10**12))
    assert different.equal is False
    assert different.proof == "interval"


LOGARITHMS = {
    "ln √2 = ln(2)/2": (sympy.log(sympy.sqrt(2)), sympy.log(2) / 2),
    "cross-entropy": (
        -sympy.log(to_sympy(p)) / 2 - sympy.log(to_sympy(q)) / 2,
        sympy.log(1 + sympy.E) - sympy.Rational(1, 2),
    ),
    "ln 12 - ln 18 = ln 2 - ln 3": (sympy.log(12) - sympy.log(18), sympy.log(2) - sympy.log(3)),
}


@pytest.mark.parametrize("name", LOGARITHMS)
@mpmath.workdps(50)
def test_sums_of_logarithms(name):
    a, b = LOGARITHMS[name]
    assert decide(a, b) == Decision(True, "exact")
    assert abs(sympy.N(a - b, 40)) < 1e-30
    assert decide(a, b + sympy.Rational(1, 10**60)).equal is False


def test_undecided_is_said():
    a, b = sympy.tanh(sympy.log(2), evaluate=False), sympy.Rational(3, 5)
    decision = decide(a, b)
    assert decision.equal is None
    assert decision.proof == "undecided"
    assert decision.digits >= 200
    with pytest.raises(UndecidedError, match=r"is not known"):
        compare(a, b)
    with pytest.raises(UndecidedError):
        is_zero(a - b)


def test_signs():
    assert sign(e(1) - 3) == -1
    assert sign(sympy.log(2) - sympy.Rational(7, 10)) == -1
    assert sign(square_root(e(2) + 2 * e(1) + 1) - e(1) - 1) == 0
    assert sign(NEGATIVE_INFINITY) == -1
    assert compare(NEGATIVE_INFINITY, -(10**9)) == -1
    assert compare(0, NEGATIVE_INFINITY) == 1
    assert compare(NEGATIVE_INFINITY, NEGATIVE_INFINITY) == 0
    assert is_zero(x - x)


@pytest.mark.parametrize("power", [20, 30, 400])
def test_signs_of_numbers_that_no_decimal_holds(power):
    """e^(10^400) has more digits than a Decimal's exponent can say, and 9.5·e < 201·1."""
    huge = exponential(10**power)
    assert sign(huge * exponential(1) * Fraction(19, 2) - huge * 201) == -1
    assert sign(huge * exponential(1) * 74 - huge * 201) == 1
    assert compare(huge, Fraction(1, 3)) == 1
    assert compare(-huge, exponential(2)) == -1
    assert compare(divide(huge, 1 - huge * exponential(1)), Fraction(-1, 3)) == -1  # −1/e
    assert compare(divide(1, huge * exponential(1) - huge * 400), Fraction(1, 3)) == -1
    assert sign(exponential(-(10**power)) - exponential(-(10**power) - 1) * 3) == -1
