"""Exact values as formulas: fractions, roots, e-forms, and SymPy expressions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction as Ratio
from functools import lru_cache
from math import lcm
from types import MappingProxyType
from typing import TYPE_CHECKING

from symattn.errors import InputError, ReadError
from symattn.exact.lowest import by_size, lowest
from symattn.exact.real import Real
from symattn.exact.rounding import decimal_text
from symattn.exact.values import (
    ExpSum,
    Key,
    NegativeInfinity,
    Quotient,
    Rational,
    Value,
    exact,
    is_symbolic,
    of_exponent,
    terms_of,
)
from symattn.formula.nodes import (
    GREEK,
    ONE,
    ZERO,
    Bracketed,
    Call,
    Formula,
    Fraction,
    Infinity,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Root,
    Sum,
)
from symattn.formula.reading import read_formula

if TYPE_CHECKING:
    import sympy

PLACES = 4  # of a number that is known by intervals, by default
Names = Mapping[str, Formula]
NO_NAMES: Names = MappingProxyType({})

CALLED: Mapping[str, str] = {"pi": "π", "E": "e", "Max": "max", "Min": "min", "log": "ln"}
"""What SymPy calls otherwise than a page does."""


def number(value: Value, names: Names = NO_NAMES) -> Formula:
    """An exact value as it is written: −3/2, √3/3, (1 + 4e)/(1 + 2e), −∞.

    `names` says how SymPy symbols are written, and in which order the factors of a product stand; a symbol that it
    does not know is read from its own name.
    Quotients of e-forms are written in lowest terms (see `exact.lowest`), with 0 as their smallest exponent:
    e/(e + 2e²) as 1/(1 + 2e).
    """
    if isinstance(value, int):  # most are
        return _rational(value)
    if is_symbolic(value):
        return _expression(value, names)
    if isinstance(value, Quotient):
        return _in_lowest_terms(value.numerator, value.denominator)
    if isinstance(value, ExpSum):
        return _exp_sum(value)
    if isinstance(value, NegativeInfinity):
        return Negative(Infinity())
    if isinstance(value, Real):
        return decimal(decimal_text(value, PLACES))
    return _rational(value)


def decimal(digits: str) -> Formula:
    """Decimal digits with a sign: "-0.50"; "-∞" for minus infinity."""
    sign, body = (digits[0], digits[1:]) if digits[:1] in "-−" else ("", digits)
    unsigned = Infinity() if body == "∞" else Number(body)
    return Negative(unsigned) if sign else unsigned


def shortest(value: Value) -> str | None:
    """The shortest decimal that is exactly the value: 1/2 → "0.5", 2 → "2"; None if there isn't one."""
    if isinstance(value, int):
        return integer(value).digits
    if not isinstance(value, Ratio):
        return None
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    digits = integer(scaled).digits.rjust(places + 1, "0")
    return ("-" if value < 0 else "") + digits[:-places] + "." + digits[-places:]


# ---------------------------------------------------------------------------------- rationals and e-forms


@lru_cache(maxsize=4096)
def _rational(x: Rational) -> Formula:
    if x < 0:
        return Negative(_rational(-x))
    above = integer(x.numerator)
    return above if x.denominator == 1 else Fraction(above, integer(x.denominator))


def integer(x: int) -> Number:
    """An integer from 0 in digits; `InputError` for one of thousands of digits."""
    try:
        return Number(str(x))
    except ValueError as error:  # Python's own limit
        digits = int(x.bit_length() * math.log10(2)) + 1
        raise InputError(
            f"An exact number here has some {digits} digits, too many to be written; weights that are rational "
            "(base 2 or hardmax), rounded weights or smaller sizes keep numbers short."
        ) from error


@lru_cache(maxsize=4096)
def _exp_sum(value: ExpSum) -> Formula:
    return _sum(value.terms)


def _sum(terms: Mapping[Key, Rational]) -> Formula:
    """Σ c·√r·e^a, the smallest exponent first; all over a common denominator if coefficients are fractions."""
    below = lcm(*(c.denominator for c in terms.values()))
    ordered = sorted(terms.items(), key=_order)
    written = [_term(key, c * below) for key, c in ordered]
    if len(written) > 1 and isinstance(written[0], Negative):  # 3 − 2e rather than −2e + 3, where there is a choice
        positive = next((i for i, term in enumerate(written) if not isinstance(term, Negative)), 0)
        written.insert(0, written.pop(positive))
    above = written[0] if len(written) == 1 else Sum(tuple(written))
    if below == 1:
        return above
    if isinstance(above, Negative):
        return Negative(Fraction(above.body, integer(below)))
    return Fraction(above, integer(below))


def _term(key: Key, c: Rational) -> Formula:
    exponent, radicand, roots = key
    size = -c if c < 0 else c
    factors: list[Formula] = [] if size == 1 else [_rational(size)]
    if radicand != 1:
        factors.append(Root(integer(radicand)))
    factors += [Root(number(R)) for R in roots]
    if exponent:
        power = of_exponent(exponent)
        factors.append(Name("e") if power == 1 else Power(Name("e"), number(power)))
    body = Product(tuple(factors)) if len(factors) > 1 else factors[0] if factors else ONE
    return Negative(body) if c < 0 else body


def _order(item: tuple[Key, Rational]) -> tuple[Rational | Decimal, int, str]:
    """By size of the exponent, roots after rationals."""
    (exponent, radicand, roots), _ = item
    return by_size(exponent), radicand, str(roots)


@lru_cache(maxsize=4096)  # a weight comes again in every entry of the output, on every page, and in siblings
def _in_lowest_terms(numerator: Rational | ExpSum, denominator: ExpSum) -> Formula:
    value = lowest(Quotient(numerator, denominator))
    return _quotient(value) if isinstance(value, Quotient) else number(value)


def _quotient(value: Quotient) -> Formula:
    """In lowest terms: whole coefficients, 0 as the smallest exponent below."""
    above, below = terms_of(value.numerator), value.denominator.terms
    if all(c < 0 for c in above.values()):
        return Negative(Fraction(_sum({key: -c for key, c in above.items()}), _sum(below)))
    return Fraction(_sum(above), _sum(below))


# ---------------------------------------------------------------------------------- SymPy expressions


def _expression(value: object, names: Names) -> Formula:
    import sympy

    expr: sympy.Expr = value

    def formula(x: sympy.Expr) -> Formula:
        match x:
            case sympy.Symbol():
                return names.get(x.name) or symbol_formula(x.name)
            case _ if not x.free_symbols and not is_symbolic(known := exact(x)):
                return number(known)
            case sympy.Add():
                return Sum(tuple(map(formula, x.as_ordered_terms())))
            case sympy.Mul() if x.could_extract_minus_sign() and x.args[0].is_number:
                return Negative(formula(-x))
            case sympy.Mul():
                above, below = x.as_numer_denom()
                if below == 1:
                    return Product(tuple(map(formula, sorted(x.as_ordered_factors(), key=rank))))
                if isinstance(above, sympy.Mul) and above.could_extract_minus_sign():
                    return Negative(Fraction(formula(-above), formula(below)))
                return Fraction(formula(above), formula(below))
            case sympy.exp():
                return power(Name("e"), formula(x.args[0]))
            case sympy.Pow():
                base, exponent = x.as_base_exp()
                if exponent == sympy.Rational(1, 2):
                    return Root(formula(base))
                if exponent.could_extract_minus_sign():
                    return Fraction(ONE, formula(base**-exponent))
                return power(formula(base), formula(exponent))
            case sympy.Abs():
                return Bracketed(formula(x.args[0]), "|")
            case sympy.Function() | sympy.Max() | sympy.Min():
                called = x.func.__name__
                return Call(Name(CALLED.get(called, called)), tuple(map(formula, x.args)))
        return Name(CALLED.get(str(x), str(x)))

    def power(base: Formula, exponent: Formula) -> Formula:
        if exponent == ZERO:
            return ONE
        return base if exponent == ONE else Power(base, exponent)

    order = {name: position for position, name in enumerate(names)}

    def rank(x: sympy.Expr) -> tuple[int, int]:
        """Numbers first, then the symbols that `names` lists in its order, then everything else as SymPy has it."""
        if x.is_number:
            return 0, 0
        symbol = x.as_base_exp()[0]
        return (1, order[symbol.name]) if isinstance(symbol, sympy.Symbol) and symbol.name in order else (2, 0)

    return formula(expr)


LETTERS = {
    name: GREEK.get(f"var{name}", letter)
    for name, letter in GREEK.items()
    if name.islower() and not name.startswith("var") and name not in ("iota", "pi", "upsilon", "ell")
}
"""By the names that SymPy's symbols have."""


def symbol_formula(name: str) -> Formula:
    """A symbol by its own name: `a`, `x_1`, `q_{12}`; θ for `theta`."""
    stem, _, rest = name.partition("_")
    if stem in LETTERS:
        name = LETTERS[stem] + (f"_{rest}" if rest else "")
    try:
        return read_formula(re.sub(r"\{(\d)(\d)\}", r"{\1,\2}", name))
    except ReadError:
        return Name(name)


Show = Callable[[Value], Formula]
