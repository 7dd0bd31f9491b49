"""Exact values as formulas: what they look like, and that they still are the value."""

import re
from fractions import Fraction as Ratio

import oracles
import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from printed_lines import evaluated
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.exact import NEGATIVE_INFINITY, divide, exact, exponential, square_root
from symattn.formula import Infinity, Name, Negative, Number, decimal, number, shortest, symbol_formula
from symattn.page.writers.characters import on_one_line

TABLES = tables_beside(__file__)

WRITTEN = TABLES["written"]


@pytest.mark.parametrize("text", WRITTEN)
def test_how_numbers_are_written(text):
    assert oracles.plain(number(exact(text))) == WRITTEN[text]


@pytest.mark.parametrize(
    ("digits", "right"),
    [
        ("2", Number("2")),
        ("-0.50", Negative(Number("0.50"))),
        ("−1", Negative(Number("1"))),
        ("-∞", Negative(Infinity())),
    ],
)
def test_decimals_with_a_sign(digits, right):
    assert number(NEGATIVE_INFINITY) == Negative(Infinity())
    assert decimal(digits) == right


@tries(100)
@given(st.fractions(max_denominator=2000))
@example(Ratio(1, 2))
@example(Ratio(-1, 20))
def test_the_shortest_decimal_is_the_value_and_no_shorter_one_is(q):
    digits = shortest(q.numerator if q.denominator == 1 else q)
    terminates = set(sympy.primefactors(q.denominator)) <= {2, 5}
    assert (digits is not None) == terminates
    if digits is not None:
        assert Ratio(digits) == q
        assert re.fullmatch(r"-?\d+(\.\d+)?", digits), digits  # 0.5, and not .5
        places = len(digits.partition(".")[2])
        assert places == 0 or (q * 10 ** (places - 1)).denominator != 1


@pytest.mark.parametrize("value", [exponential(1), square_root(2), divide(1, exponential(1) + 1)])
def test_what_is_irrational_has_no_shortest_decimal(value):
    assert shortest(value) is None


rationals = st.fractions(-5, 5, max_denominator=6)
terms = st.tuples(rationals, st.sampled_from([1, 2, 3, 5]), rationals)


def value_of(parts):
    total = 0
    for c, r, a in parts:
        total = total + exact(c) * square_root(r) * exponential(exact(a))
    return total


@tries(15)
@given(st.lists(terms, min_size=1, max_size=3), st.lists(terms, min_size=1, max_size=2))
def test_what_is_written_is_the_value(above, below):
    top, bottom = value_of(above), value_of(below)
    try:
        value = divide(top, bottom)
    except ValueError:
        value = top  # a zero below
    formula = number(value)
    written = evaluated(formula)
    by_hand = sympy.Add(*(sympy.Rational(c) * sympy.sqrt(r) * sympy.exp(sympy.Rational(a)) for c, r, a in above))
    if value is not top:
        by_hand /= sympy.Add(*(sympy.Rational(c) * sympy.sqrt(r) * sympy.exp(sympy.Rational(a)) for c, r, a in below))
    assert oracles.same(written, by_hand)


@tries(50)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-3, 9)), min_size=2, max_size=4))
def test_weights_are_written_with_0_as_their_smallest_exponent(parts):
    powers = [c * exponential(a) for c, a in parts]
    total = powers[0]
    for p in powers[1:]:
        total = total + p
    formula = number(divide(powers[0], total))
    value = evaluated(formula)
    right = sympy.Rational(parts[0][0]) * sympy.exp(parts[0][1]) / sum(c * sympy.exp(a) for c, a in parts)
    assert oracles.same(value, right)
    exponents = [p for p in sympy.preorder_traversal(value) if isinstance(p, sympy.exp)]
    assert all(e.args[0] >= 0 for e in exponents), oracles.plain(formula)


EXPRESSIONS = [
    "a",
    "2*a",
    "-a",
    "a*b",
    "a+b",
    "a-b",
    "a/2",
    "a/b",
    "-a/b",
    "a**2",
    "sqrt(a)",
    "1/a",
    "exp(a)",
    "exp(-a)",
    "exp(a)/(exp(a)+exp(b))",
    "a*exp(b)",
    "log(a)",
    "(a+b)**2",
    "(a+b)*(a-b)",
    "2**a",
    "a**(1/3)",
    "-(a+b)/2",
    "sqrt(2)*a",
    "exp(1)*a",
    "a**-2",
    "1/(a*b)",
    "exp(sqrt(2)*a)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_sympy_expressions_keep_their_value(text):
    expression = sympy.sympify(text, rational=True, locals={x: sympy.Symbol(x, positive=True) for x in "ab"})
    meant = {s.name: s for s in expression.free_symbols}
    formula = number(expression)
    assert oracles.same(evaluated(formula, lambda name, bound: meant[name.base]), expression)


def test_symbols_are_written_as_names_say_and_in_their_order():
    x11, w11 = sympy.Symbol("x_{11}"), sympy.Symbol("w^Q_{11}")
    names = {"x_{11}": Name("x", (Number("1"), Number("1"))), "w^Q_{11}": Name("w", (Number("1"),), "Q")}
    assert oracles.plain(number(w11 * x11, names)) == "x_{1,1} w_1^Q"


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [("a", "a"), ("x_1", "x_1"), ("q_{12}", "q_{1,2}"), ("theta", "θ"), ("w^Q_{11}", "w_{1,1}^Q")],
)
def test_a_symbol_by_its_own_name(symbol, shown):
    assert oracles.plain(symbol_formula(symbol)) == shown


@pytest.mark.parametrize("symbol", ["a b", "((", "x_", "1", ""])
def test_a_symbol_with_an_odd_name_is_still_shown(symbol):
    assert symbol_formula(symbol) is not None


def test_an_integer_of_thousands_of_digits_is_refused_in_one_sentence():
    assert number(7**5000).digits == str(7**5000)  # 4226 digits
    for value in (7**6000, Ratio(1, 7**6000), -(7**6000)):
        with refused_saying(r"^An exact number here has some 5071 digits, .*\.$"):
            number(value)


def test_constants_and_functions_have_the_names_of_a_page():
    x = sympy.Symbol("x", real=True)
    shown = {on_one_line(number(y)) for y in (sympy.cos(3 * sympy.pi / 7), sympy.E + sympy.pi, sympy.Max(0, x))}
    assert shown == {"cos(3π/7)", "e + π", "max(0, x)"}
