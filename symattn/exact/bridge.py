"""SymPy in, SymPy out."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context
from fractions import Fraction
from typing import Any, cast

from symattn.errors import InputError, UndecidedError
from symattn.exact import values
from symattn.exact.decide import is_zero
from symattn.exact.intervals import LEAST_DIGITS, enclose
from symattn.exact.real import Function, Real, real
from symattn.exact.tree import (
    Budget,
    ExactRing,
    MinusInfinity,
    Node,
    OutsideTheClass,
    OverBudget,
    Ring,
    Symbol,
    of_float,
    tree_of,
)
from symattn.exact.upward import upward
from symattn.exact.values import ExpSum, NegativeInfinity, Quotient, Value

BUDGET = 50_000
DIGITS_OF_FLOATS = 30
ROUND_TO_FLOAT = Context(prec=DIGITS_OF_FLOATS, Emax=MAX_EMAX, Emin=MIN_EMIN)


def to_sympy(v: Value) -> Any:
    """The same number as a SymPy expression; one that is known by intervals as a Float of 30 digits.

    >>> to_sympy(values.divide(values.exponential(2), values.exponential(2) + 1))
    exp(2)/(1 + exp(2))
    """
    import sympy

    if isinstance(v, int):
        return sympy.Integer(v)
    if isinstance(v, Fraction):
        return sympy.Rational(v.numerator, v.denominator)
    if isinstance(v, NegativeInfinity):
        return -sympy.oo
    if isinstance(v, Real):
        return _float(v)
    if isinstance(v, Quotient):
        return to_sympy(v.numerator) / to_sympy(v.denominator)
    if isinstance(v, ExpSum):
        return sympy.Add(
            *(
                sympy.Mul(
                    to_sympy(c),
                    sympy.sqrt(r),
                    *(sympy.sqrt(to_sympy(R)) for R in roots),
                    sympy.exp(sympy.Add(*(sympy.Rational(p, q) * sympy.sqrt(s) for s, p, q in exponent))),
                )
                for (exponent, r, roots), c in v.terms.items()
            )
        )
    return v


def _float(v: Real) -> Any:
    """Rounded once, whatever the size; 0 where it is that to 200 digits."""
    import sympy

    if is_zero(v):
        return sympy.Integer(0)
    for digits in (LEAST_DIGITS, 2 * LEAST_DIGITS, 8 * LEAST_DIGITS):
        low, high = (bound.normalize(ROUND_TO_FLOAT) for bound in enclose(v, digits))
        if low == high:  # else it lies near a tie of two roundings
            break
    return sympy.Float(str(low), DIGITS_OF_FLOATS)


def from_sympy(expr: Any) -> Value:
    """The exact value of a SymPy expression; the expression itself if it has symbols or leaves the class.

    Floats are taken for the decimals they are printed as.  Nothing is simplified, and nothing large expanded.
    """
    import sympy

    if expr is sympy.S.NegativeInfinity:
        return values.NEGATIVE_INFINITY
    if not isinstance(expr, sympy.Expr) or expr.has(sympy.oo, sympy.zoo, sympy.nan, sympy.S.NegativeInfinity):
        raise InputError(f"The SymPy object {expr} is not a real number; of the infinities only −∞ is a score.")
    if expr.has(sympy.I):
        raise InputError(f"The SymPy expression {expr} is complex; every number here is real.")
    try:
        return ExactRing(Budget(BUDGET), closed=True)(tree_of(expr))
    except (OutsideTheClass, OverBudget, UndecidedError):
        return expr.xreplace({x: to_sympy(of_float(x)) for x in expr.atoms(sympy.Float)})


upward.from_sympy, upward.to_sympy = from_sympy, to_sympy


def value_at(expr: Any, symbol: Any, x: Value) -> Value:
    """An expression in one symbol at x, worked out in values: for a `Real`, which SymPy does not know.

    `InputError` for a function that has no values.
    """
    try:
        return _At(symbol.name, x)(tree_of(expr))
    except OutsideTheClass as error:
        raise InputError(f"The expression {expr} cannot be evaluated: {error}") from error


def in_intervals(number: Value) -> Value:
    """A number that is no value of ours (sin 1), as one that is known by intervals; any other value as it is."""
    is_outside = values.is_symbolic(number) and not values.has_symbols(number)
    return _At("", 0)(tree_of(number)) if is_outside else number


class _At(Ring[Value]):
    """Values as they are, with one number for one symbol."""

    def __init__(self, name: str, x: Value) -> None:
        self.name, self.x = name, x

    def number(self, q: values.Rational) -> Value:
        return q

    def negate(self, a: Value) -> Value:
        return -a

    def add(self, a: Value, b: Value) -> Value:
        return a + b

    def multiply(self, a: Value, b: Value) -> Value:
        return a * b

    def divide(self, a: Value, b: Value) -> Value:
        return values.divide(a, b)

    def power(self, base: Node, exponent: Node) -> Value:
        return values.power(self(base), self(exponent))

    def apply(self, function: str, arguments: tuple[Node, ...]) -> Value:
        a = tuple(map(self, arguments))
        known = {"exp": values.exponential, "sqrt": values.square_root, "ln": values.logarithm}
        if function in known:
            return known[function](*a)
        return real(cast(Function, function), *a)

    def other(self, node: MinusInfinity | Symbol) -> Value:
        if isinstance(node, Symbol) and node.name == self.name:
            return self.x
        return super().other(node)
