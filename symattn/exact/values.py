"""The exact numbers: rationals, sums of c·√r·e^a, quotients of such sums, and −∞.

A rational number is a plain `int` or `Fraction`.  `ExpSum` is a sum Σ c·√r·e^a with rational c, squarefree r
and a a rational combination of square roots.  The numbers √r·e^a are linearly independent over the rationals
(Lindemann–Weierstrass; Baker, *Transcendental Number Theory*, theorem 1.4, with the independence of square
roots of distinct squarefree integers), so such a sum is zero only if it has no term: equality is comparing
two dictionaries.  Above them stands a tower of square roots, √(e²+1), as layer norm needs; there `==`
compares only how a sum is written, and `decide` proves.  `Quotient` keeps numerator and denominator apart and is
reduced only where it is printed: a gcd of exponential polynomials costs their degree, not their number of terms.

What leaves this class, such as e^(e²), is a SymPy expression, and SymPy's own operators take over; or, where a
derivation goes on in decimals, a `Real` (exact/real.py), which is known by intervals.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import gcd, isqrt, lcm, prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard, TypeVar

from symattn.errors import InputError, OutgrownError, UndefinedError
from symattn.exact.real import Real, in_decimals, kept_short, real
from symattn.exact.upward import upward
from symattn.foundation.languages import message

if TYPE_CHECKING:
    from sympy import Expr

    from symattn.exact.intervals import Interval


Rational: TypeAlias = int | Fraction
Exponent: TypeAlias = tuple[tuple[int, int, int], ...]
"""((r, p, q), …) is Σ (p/q)·√r in lowest terms, by increasing r; () is 0.  Whole numbers, for they are hashed fast."""
Radicand: TypeAlias = "int | ExpSum"  # what stands under a root of the tower; an int only if it is too large to factor
Key: TypeAlias = tuple[Exponent, int, tuple[Radicand, ...]]  # (a, r, (R, ...)) is √r·√R…·e^a
Terms: TypeAlias = dict[Key, Rational]
Finite: TypeAlias = "int | Fraction | ExpSum | Quotient"
Value: TypeAlias = "int | Fraction | ExpSum | Quotient | Real | NegativeInfinity | Expr"

T = TypeVar("T")
RATIONAL = (int, Fraction)  # for isinstance: a tuple is four times as fast as a union
UNIT: Key = ((), 1, ())
TRIAL_LIMIT = 2160  # trial division up to here tells every radicand up to 2160³ ≈ 10¹⁰ apart
LONGEST_EXPONENT = 10_000  # of a Decimal: beyond it the fraction would not be a number one can write down
MOST_BITS = 1_000_000  # of a power that is worked out: a third of a million digits
MOST_TERMS = 30_000  # of a sum, those below its roots counted as often as they would be written: some 500 pages
MOST_PAIRS_OF_SHORT = 5_000  # where decimals go on instead
MOST_PAIRS = 200_000  # of terms that are multiplied for one product, which takes less than half a second


class _Irrational:
    """What sums and quotients share: an enclosure is remembered with its number of digits."""

    __slots__ = ("digits", "interval")

    digits: int
    interval: Interval | None

    def _sympy_(self) -> Any:
        return upward.to_sympy(self)

    def __float__(self) -> float:
        """The nearest float."""
        return upward.nearest_float(self)

    def as_integer_ratio(self) -> NoReturn:
        """What `Fraction` asks numbers of other types (from Python 3.14 on): rational ones are `int` or `Fraction`."""
        raise _no_fraction(self)

    def __repr__(self) -> str:
        return text(self)


class ExpSum(_Irrational):
    """An irrational sum Σ c·√r·√R…·e^a, kept as a dictionary from (a, r, (R, …)) to c.  Immutable.

    Made by arithmetic and by `square_root` and `exponential`; a result that is rational is a plain number.
    """

    __slots__ = ("_hash", "_twin", "height", "length", "terms")

    terms: Mapping[Key, Rational]
    _hash: int | None
    _twin: ExpSum | None
    height: int  # how deep roots of the tower are nested; 0 where `==` is equality
    length: int  # the terms that it has when it is written out, those below roots counted as well

    def __init__(self, terms: Mapping[Key, Rational]) -> None:
        self.terms = terms
        self.height, self.length = 0, len(terms)
        for key in terms:
            for R in key[2]:
                self.height = max(self.height, 1 + (0 if isinstance(R, int) else R.height))
                self.length += length(R)
        if self.length > MOST_TERMS:
            raise outgrown()
        self._hash = None
        self._twin = None
        self.digits, self.interval = 0, None

    @staticmethod
    def of(terms: Mapping[Key, Rational]) -> Rational | ExpSum:
        """The sum of these terms, which are its own from now on: without the zeros, and a plain number if it is one."""
        whole = set(map(type, terms.values())) == {int}
        kept = terms if whole and all(terms.values()) else {key: tidy(c) for key, c in terms.items() if c}
        if not kept:
            return 0
        if len(kept) == 1 and UNIT in kept:
            return kept[UNIT]
        return ExpSum(kept)

    def __eq__(self, other: object) -> bool:
        """Equal towers of roots remember it: a radicand that stands in several terms, each of which has the one below
        it in several terms, is compared once and not as often as it can be reached."""
        if not isinstance(other, ExpSum):
            return NotImplemented
        if not self.height or not other.height:
            return self.terms == other.terms
        one, two = self._first(), other._first()
        if one is not two:
            if hash(one) != hash(two) or one.terms != two.terms:
                return False
            one._twin = two
        return True

    def _first(self) -> ExpSum:
        """The one of all sums known to be equal to this one that stands for them."""
        twin = self
        while twin._twin is not None:
            twin = twin._twin
        return twin

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __add__(self, other: Rational | ExpSum) -> Rational | ExpSum:
        if not isinstance(other, (int, Fraction, ExpSum)):
            return NotImplemented
        terms = dict(self.terms)
        for key, c in terms_of(other).items():
            terms[key] = terms.get(key, 0) + c
        return ExpSum.of(terms)

    def __mul__(self, other: Rational | ExpSum) -> Rational | ExpSum:
        if not isinstance(other, ExpSum):
            if not isinstance(other, RATIONAL):
                return NotImplemented
            return ExpSum({key: tidy(c * other) for key, c in self.terms.items()}) if other else 0
        if _pairs(self, other) > (MOST_PAIRS_OF_SHORT if kept_short() else MOST_PAIRS):
            raise outgrown()
        return ExpSum.of(product_of_terms(self.terms, other.terms))

    def __neg__(self) -> ExpSum:
        return ExpSum({key: -c for key, c in self.terms.items()})

    def __sub__(self, other: Rational | ExpSum) -> Rational | ExpSum:
        return self + -other if isinstance(other, (int, Fraction, ExpSum)) else NotImplemented

    def __rsub__(self, other: Rational) -> Rational | ExpSum:
        return -self + other if isinstance(other, RATIONAL) else NotImplemented

    def __pow__(self, exponent: int) -> Value:
        return power(self, exponent) if isinstance(exponent, int) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__


class Quotient(_Irrational):
    """numerator/denominator of two sums; sums over the same denominator keep it, others get the least common multiple
    (see `lowest`, which also says what is printed).  Immutable.

    `==` decides by cross-multiplication.
    """

    __slots__ = ("denominator", "lowest", "numerator")

    numerator: Rational | ExpSum
    denominator: ExpSum
    lowest: Finite | None  # remembered once it has been asked for

    def __init__(self, numerator: Rational | ExpSum, denominator: ExpSum) -> None:
        self.numerator = numerator
        self.denominator = denominator
        self.lowest = None
        self.digits, self.interval = 0, None

    @staticmethod
    def of(numerator: Rational | ExpSum, denominator: Rational | ExpSum) -> Finite:
        """numerator/denominator, for a denominator ≠ 0; a sum if that is one term, a number if it is one."""
        if not isinstance(denominator, ExpSum):
            return tidy(numerator * Fraction(1, denominator))
        if len(denominator.terms) == 1 and (inverse := _inverse_of_term(denominator)) is not None:
            return tidy(numerator * inverse)
        if not isinstance(numerator, ExpSum):
            return Quotient(numerator, denominator) if numerator else 0
        ratio = _ratio(numerator, denominator)
        return Quotient(numerator, denominator) if ratio is None else ratio

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, Fraction, ExpSum, Quotient)):
            return NotImplemented
        return upward.decide(self, other).equal is True

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Finite) -> Finite:
        if isinstance(other, Quotient):
            if same(self.denominator, other.denominator):
                return Quotient.of(self.numerator + other.numerator, self.denominator)
            p, q = upward.cofactors(self.denominator, other.denominator)
            return Quotient.of(self.numerator * p + other.numerator * q, self.denominator * p)
        if isinstance(other, (int, Fraction, ExpSum)):
            return Quotient.of(self.numerator + other * self.denominator, self.denominator)
        return NotImplemented

    def __mul__(self, other: Finite) -> Finite:
        if isinstance(other, Quotient):
            return Quotient.of(self.numerator * other.numerator, self.denominator * other.denominator)
        if isinstance(other, (int, Fraction, ExpSum)):
            if isinstance(other, ExpSum) and same(other, self.denominator):
                return self.numerator
            return Quotient.of(self.numerator * other, self.denominator)
        return NotImplemented

    def __neg__(self) -> Quotient:
        return Quotient(-self.numerator, self.denominator)

    def __sub__(self, other: Finite) -> Finite:
        return self + -other if isinstance(other, (int, Fraction, ExpSum, Quotient)) else NotImplemented

    def __rsub__(self, other: Rational | ExpSum) -> Finite:
        return -self + other if isinstance(other, (int, Fraction, ExpSum)) else NotImplemented

    def __pow__(self, exponent: int) -> Value:
        return power(self, exponent) if isinstance(exponent, int) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__


class NegativeInfinity:
    """−∞, the score of what is masked: e^(−∞) = 0, and a number more or less makes no difference to it."""

    __slots__ = ()
    _op_priority = 1000.0  # tells SymPy's operators to leave the sum to ours

    def __new__(cls) -> NegativeInfinity:
        return NEGATIVE_INFINITY

    def __add__(self, other: Value) -> NegativeInfinity:
        return self if is_value(other) else NotImplemented

    def __sub__(self, other: Value) -> NegativeInfinity:
        if other is self:
            raise UndefinedError(message("−∞ − (−∞) is not defined."))
        return self + other

    def __rsub__(self, other: Value) -> NoReturn:
        raise UndefinedError(message("{value} − (−∞) would be +∞, which no score can be.", value=text(other)))

    def __neg__(self) -> NoReturn:
        raise UndefinedError(message("−(−∞) would be +∞, which no score can be."))

    def __mul__(self, other: Value) -> NegativeInfinity:
        if not is_value(other):
            return NotImplemented
        if other is self:
            raise UndefinedError(message("(−∞)·(−∞) would be +∞, which no score can be."))
        sign = _known_sign(other)
        if sign == 1:
            return self
        if sign == 0:
            raise UndefinedError(message("0·(−∞) is not defined."))
        if sign == -1:
            raise UndefinedError(message("({value})·(−∞) would be +∞, which no score can be.", value=text(other)))
        raise UndefinedError(
            message("({value})·(−∞) is not defined, because the sign of {value} is not known.", value=text(other))
        )

    def __pow__(self, exponent: int) -> Value:
        return power(self, exponent) if isinstance(exponent, int) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __float__(self) -> float:
        return float("-inf")

    def __reduce__(self) -> str:
        return "NEGATIVE_INFINITY"

    def __repr__(self) -> str:
        return "-∞"


NEGATIVE_INFINITY: NegativeInfinity = object.__new__(NegativeInfinity)

NUMBERS = frozenset({int, Fraction, ExpSum, Quotient, Real, NegativeInfinity})
"""The types of values that are no expressions of SymPy."""


# ------------------------------------------------------------------------------------ functions of values


def divide(a: Value, b: Value) -> Value:
    """a/b, exactly.

    >>> divide(1, 2), divide(6, 3), divide(1, square_root(2))
    (Fraction(1, 2), 2, 1/2·√2)
    """
    if isinstance(b, NegativeInfinity):
        raise UndefinedError(message("{value} divided by −∞ is not defined.", value=text(a)))
    if isinstance(a, NegativeInfinity):
        return a * divide(1, b)
    if is_zero_for_sure(b) or (isinstance(b, Real) and _known_sign(b) == 0):
        raise UndefinedError(message("{value} divided by 0 is not defined.", value=text(a)))
    if is_finite(a) and is_finite(b):
        return _over(a, b)
    if isinstance(a, Real) or isinstance(b, Real):
        return a if b == 1 else 0 if is_zero_for_sure(a) else real("quotient", a, b)
    return upward.from_sympy(quotient_of_symbols(upward.to_sympy(a), upward.to_sympy(b)))


def quotient_of_symbols(x: Any, y: Any) -> Any:
    """x/y in SymPy, with what all terms of both have in common cancelled: (2a − 2b)/(2√c) is (a − b)/√c."""
    if not x.free_symbols or not y.free_symbols:
        return x / y
    (above, x), (below, y) = x.as_content_primitive(), y.as_content_primitive()
    return above / below * (x / y)


def squared(a: Value) -> Value:
    """a².  In symbols, (b − a)² is (a − b)², so that equal squares are seen to be equal."""
    return upward.from_sympy(square_of_symbols(a)) if is_symbolic(a) else a * a


def square_of_symbols(x: Any) -> Any:
    """x² in SymPy, with a number that all terms have in common outside, and a sign that does not depend on x's."""
    number, inner = x.as_content_primitive()
    return number**2 * (-inner if inner.could_extract_minus_sign() else inner) ** 2


def _over(a: Finite, b: Finite) -> Finite:
    """a/b for b ≠ 0."""
    if type(a) is int and type(b) is int:
        return Fraction(a, b) if a % b else a // b
    above, below = numerator_of(a), denominator_of(a)
    over, under = numerator_of(b), denominator_of(b)
    if same(below, under):
        return Quotient.of(above, over)
    if isinstance(below, ExpSum) and isinstance(under, ExpSum):
        p, q = upward.cofactors(below, under)
        return Quotient.of(above * p, over * q)
    return Quotient.of(above * under, below * over)


def square_root(a: Value) -> Value:
    """√a for a ≥ 0: c·√r for a rational a, √(n·d)/d for a quotient n/d, else a root of the tower.

    >>> square_root(12), square_root(Fraction(1, 2)), square_root(exponential(2) + 1)
    (2·√3, 1/2·√2, √(e^2 + 1))
    """
    if isinstance(a, NegativeInfinity):
        raise UndefinedError(message("The square root of −∞ is not defined."))
    if is_symbolic(a):
        import sympy

        return upward.from_sympy(sympy.sqrt(a))
    sign = _known_sign(a)
    if sign == -1:
        raise UndefinedError(
            message("The square root of {value} is not a real number, because it is negative.", value=text(a))
        )
    if isinstance(a, Real):
        return real("sqrt", a) if sign else 0
    return root_of_positive(a) if sign else 0


def root_of_positive(a: Finite) -> Finite:
    """√a for an a that is known to be positive."""
    if isinstance(a, Quotient):
        return Quotient.of(_sum_root(a.numerator * a.denominator), _positive(a.denominator))
    return _sum_root(a)


def exponential(a: Value, base: Value | str = "e") -> Value:
    """e^a, or a power of another base; 0 for −∞.

    With e and a rational combination of square roots this is one term; anything else leaves the class.

    >>> exponential(2), exponential(0), exponential(NEGATIVE_INFINITY), exponential(square_root(3) * 2)
    (e^2, 1, 0, e^(2·√3))
    """
    if isinstance(a, NegativeInfinity):
        return 0
    if not isinstance(base, str):
        return power(base, a)
    exponent = as_exponent(a)
    if exponent is not None:
        return _power_of_e(exponent)
    if isinstance(a, Real) or (in_decimals() and not has_symbols(a)):
        return real("exp", a)
    import sympy

    return upward.from_sympy(sympy.exp(upward.to_sympy(a)))


@lru_cache(maxsize=4096)  # scores come again and again, in a row and in the next
def _power_of_e(exponent: Exponent) -> Rational | ExpSum:
    return ExpSum.of({(exponent, 1, ()): 1})


def power(base: Value, exponent: Value) -> Value:
    """base^exponent, for a real base and where it is a real number.

    >>> power(2, Fraction(3, 2)), power(8, Fraction(1, 3)), power(exponential(1), 3)
    (2·√2, 2, e^3)
    """
    if isinstance(exponent, NegativeInfinity):
        if _known_sign(base - 1) == 1:
            return 0
        raise UndefinedError(message("({base})^(−∞) is 0 only for a base that is greater than 1.", base=text(base)))
    if isinstance(base, NegativeInfinity):
        raise UndefinedError(message("(−∞)^({exponent}) is not defined.", exponent=text(exponent)))
    if isinstance(exponent, RATIONAL) and not is_symbolic(base):
        return _rational_power(base, tidy(exponent))
    unit = logarithm_of_unit(base)
    if unit is not None:
        return exponential(unit * exponent)
    if isinstance(base, Real) or isinstance(exponent, Real) or _goes_on_in_decimals(base, exponent):
        return exponential(logarithm(base) * exponent)
    return upward.from_sympy(upward.to_sympy(base) ** upward.to_sympy(exponent))


def logarithm(a: Value) -> Value:
    """ln a for a > 0; what is not e^(a rational combination of square roots) leaves the class.

    >>> logarithm(exponential(3)), logarithm(2)
    (3, log(2))
    """
    unit = 0 if isinstance(a, int) and a == 1 else logarithm_of_unit(a)
    if unit is not None:
        return unit
    if not has_symbols(a) and _known_sign(a) != 1:
        raise UndefinedError(message("The logarithm of a number that is not positive is not a real number."))
    if isinstance(a, Real) or _goes_on_in_decimals(a):
        return real("ln", a)
    import sympy

    result: Expr = sympy.log(upward.to_sympy(a))
    return result


def _goes_on_in_decimals(*numbers: Value) -> bool:
    return in_decimals() and not any(map(has_symbols, numbers))


def exact(x: object) -> Value:
    """The exact value that x stands for.

    A float is the decimal it is written as; a text is read as a person would write it, and if it can be read in two
    ways (2e-3), in the one that `reading.read` puts first.

    >>> exact(0.1), exact("1/2"), exact("2e^2 - √12"), exact("1e-2")
    (Fraction(1, 10), Fraction(1, 2), 2·e^2 - 2·√3, Fraction(1, 100))
    """
    if isinstance(x, bool):
        raise InputError(f"{x} is a truth value, not a number; write 1 or 0.")
    if isinstance(x, RATIONAL):
        return tidy(x if type(x) in (int, Fraction) else Fraction(x))
    if isinstance(x, ExpSum | Quotient | Real | NegativeInfinity):
        return x
    if isinstance(x, str):
        return upward.read(x).value
    if isinstance(x, float):
        return _from_decimal(Decimal(repr(float(x))))
    if isinstance(x, Decimal):
        return _from_decimal(x)
    kind = getattr(getattr(x, "dtype", None), "kind", None)  # a NumPy scalar, or an array of one number
    if kind in ("i", "u") and getattr(x, "shape", None) == ():
        return int(x.item())  # type: ignore[attr-defined]
    if kind == "f" and getattr(x, "shape", None) == ():
        return _from_decimal(Decimal(str(x)))
    if is_symbolic(x):
        return upward.from_sympy(x)
    if getattr(x, "shape", None) == () and isinstance(number := listed(x), int | float):  # a tensor of one number
        return exact(number)
    raise InputError(
        f"{_shown(x)} of type {type(x).__name__} is not a number that can be used exactly; "
        "expected an integer, a Fraction, a decimal, a text such as '1/2' or 'sqrt(3)', or a SymPy number."
    )


def is_symbolic(x: object) -> TypeGuard[Expr]:
    """Whether x is a SymPy expression.  Does not import SymPy: without it there is no such x."""
    module = sys.modules.get("sympy.core.expr")
    return module is not None and isinstance(x, getattr(module, "Expr", ()))


def has_symbols(v: object) -> TypeGuard[Expr]:
    """Whether v has symbols, or functions of which only the name is known: then it has no digits."""
    if type(v) in NUMBERS or not is_symbolic(v):
        return False
    from sympy.core.function import AppliedUndef

    return bool(v.free_symbols) or bool(v.has(AppliedUndef))


def opened(v: Value) -> Value:
    """v with every value of a function known by name only, f(1), as a symbol of its own."""
    if not has_symbols(v):
        return v
    from sympy import Symbol
    from sympy.core.function import AppliedUndef

    return v.xreplace({f: Symbol(str(f), real=True) for f in v.atoms(AppliedUndef)})


def is_finite(v: Value) -> TypeGuard[Finite]:
    """Whether v is a number of the class: neither −∞, nor a SymPy expression, nor one known by intervals."""
    return isinstance(v, (int, ExpSum, Quotient, Fraction))  # Fraction last: it is an abstract class's and slow to ask


def is_value(x: object) -> TypeGuard[Value]:
    return isinstance(x, int | Fraction | ExpSum | Quotient | Real | NegativeInfinity) or is_symbolic(x)


def is_number(x: Any) -> bool:
    """Whether x is a real number: no −∞, and no expression with symbols."""
    return is_finite(x) or isinstance(x, Real) or (is_symbolic(x) and not has_symbols(x))


def is_zero_for_sure(v: Value) -> bool:
    """Whether v = 0 is proved; a symbol is taken not to be zero."""
    if isinstance(v, ExpSum):
        return v.height > 0 and _known_sign(v) == 0
    if isinstance(v, Quotient):
        return is_zero_for_sure(v.numerator)
    if isinstance(v, RATIONAL):
        return v == 0
    return is_symbolic(v) and v.is_zero is True


def numerator_of(v: Finite) -> Rational | ExpSum:
    return v.numerator if isinstance(v, Quotient) else v


def denominator_of(v: Finite) -> Rational | ExpSum:
    return v.denominator if isinstance(v, Quotient) else 1


def terms_of(v: Rational | ExpSum) -> Mapping[Key, Rational]:
    return v.terms if isinstance(v, ExpSum) else {UNIT: v} if v else {}


def length(v: Rational | ExpSum) -> int:
    """The number of terms, those below roots counted as well."""
    return v.length if isinstance(v, ExpSum) else 1


def outgrown() -> OutgrownError:
    return OutgrownError(
        "The exact numbers outgrow what can be worked with or read; "
        'with arithmetic = "auto" or "decimal" the work goes on in decimals.'
    )


def parts(v: Expr, most: int) -> int:
    """The parts of an expression, counted up to a limit."""
    from sympy import preorder_traversal

    return sum(1 for _ in islice(preorder_traversal(v), most))


def as_exponent(v: Value) -> Exponent | None:
    """v as an exponent, or None if it is no rational combination of square roots."""
    if isinstance(v, RATIONAL):
        return ((1, v.numerator, v.denominator),) if v else ()
    if isinstance(v, ExpSum) and all(not a and not roots for a, _, roots in v.terms):
        return exponent_of({r: c for (_, r, _), c in v.terms.items()})
    return None


def of_exponent(exponent: Exponent) -> Rational | ExpSum:
    """Σ c·√r as a value; the inverse of `as_exponent`."""
    return ExpSum.of({((), r, ()): c for r, c in coefficients(exponent).items()})


def exponent_of(coefficients: Mapping[int, Rational]) -> Exponent:
    """Σ c·√r from its coefficients by their radicands."""
    return tuple(sorted((r, c.numerator, c.denominator) for r, c in coefficients.items() if c))


def coefficients(exponent: Exponent) -> dict[int, Rational]:
    """The coefficients c of Σ c·√r by their radicands; the inverse of `exponent_of`."""
    return {r: p if q == 1 else Fraction(p, q) for r, p, q in exponent}


def absolute(q: Rational) -> Rational:
    return -q if q < 0 else q


def tidy(x: T) -> T | int:
    """x, as an int if it is a Fraction that is whole."""
    return x.numerator if type(x) is Fraction and x.denominator == 1 else x  # type: ignore[attr-defined]


@lru_cache(maxsize=4096)
def square_part(n: int) -> tuple[int, int, int]:
    """(s, r, R) with n = s²·r·R for n ≥ 1, r squarefree, and R = 1 or what is too large to be factored.

    After division by every p up to the cube root, what is left is 1, a prime, a product of two primes or the
    square of a prime, and the last is seen by an integer root.

    >>> square_part(12), square_part(10**40), square_part(7 * 10**9)
    ((2, 3, 1), (100000000000000000000, 1, 1), (10000, 70, 1))
    """
    root = isqrt(n)
    if root * root == n:
        return root, 1, 1
    outside, squarefree, p = 1, 1, 2
    while p <= TRIAL_LIMIT and p * p * p <= n:
        while n % (p * p) == 0:
            n //= p * p
            outside *= p
        if n % p == 0:
            n //= p
            squarefree *= p
        p += 1 if p == 2 else 2
    root = isqrt(n)
    if root * root == n:
        return outside * root, squarefree, 1
    return (outside, squarefree * n, 1) if p * p * p > n else (outside, squarefree, n)


# ------------------------------------------------------------------------------------ inside


def _pairs(a: ExpSum, b: ExpSum) -> int:
    """How many terms come from multiplying a and b before like ones are added: √R·√R = R has those of R."""
    pairs = len(a.terms) * len(b.terms)
    if a.height and b.height:
        common = {R for _, _, roots in a.terms for R in roots} & {R for _, _, roots in b.terms for R in roots}
        pairs *= max(prod(length(R) for R in roots if R in common) for _, _, roots in a.terms)
    return pairs


def product_of_terms(left: Mapping[Key, Rational], right: Mapping[Key, Rational]) -> Terms:
    """The product of two sums: √r·√s = g·√(rs/g²) with g = gcd(r, s), and √R·√R = R."""
    out: Terms = {}
    for (a, r, roots), c in left.items():
        for (b, s, others), d in right.items():
            g = 1 if r == 1 or s == 1 else gcd(r, s)
            key_a, key_r, coefficient = add_exponents(a, b), r * s // (g * g), c * d * g
            if not roots or not others:
                key = (key_a, key_r, roots or others)
                out[key] = out.get(key, 0) + coefficient
                continue
            single = tuple(sorted((R for R in (*roots, *others) if (R in roots) != (R in others)), key=order))
            factor: Terms = {(key_a, key_r, single): coefficient}
            for R in roots:
                if R in others:
                    factor = product_of_terms(factor, terms_of(R))
            for key, c_key in factor.items():
                out[key] = out.get(key, 0) + c_key
    return out


def add_exponents(a: Exponent, b: Exponent) -> Exponent:
    if not a or not b:
        return a or b
    if len(a) == len(b) == 1 and a[0][0] == b[0][0]:  # by far the most are: e^2·e^3
        ((r, p, q),), ((_, s, t),) = a, b
        above, below = p * t + s * q, q * t
        common = gcd(above, below)
        return ((r, above // common, below // common),) if above else ()
    total = coefficients(a)
    for r, c in coefficients(b).items():
        total[r] = total.get(r, 0) + c
    return exponent_of(total)


def negated(a: Exponent) -> Exponent:
    return tuple((r, -p, q) for r, p, q in a)


def order(R: Radicand) -> tuple[Any, ...]:
    """A sort key, so that a product of roots is written in one way only."""
    terms = sorted(
        (tuple(coefficients(a).items()), r, tuple(map(order, roots)), c) for (a, r, roots), c in terms_of(R).items()
    )
    return (0 if isinstance(R, int) else R.height, tuple(terms))


def same(a: Rational | ExpSum, b: Rational | ExpSum) -> bool:
    """Whether both are written with the same terms."""
    return a is b or (type(a) is type(b) and a == b)


@lru_cache(maxsize=256)  # a whole matrix is divided by the same √d
def _inverse_of_term(v: ExpSum) -> Rational | ExpSum | None:
    """1/(c·√r·√R…·e^a) as a sum, or None if some R has several terms."""
    (((a, r, roots), c),) = v.terms.items()
    if any(len(terms_of(R)) > 1 for R in roots):
        return None
    inverse = ExpSum.of({(negated(a), r, roots): Fraction(1, c * r)})
    for R in roots:  # 1/√R = √R·(1/R)
        inverse = inverse * (Fraction(1, R) if isinstance(R, int) else _inverse_of_term(R) or 0)
    return inverse


def _ratio(a: ExpSum, b: ExpSum) -> Rational | None:
    """The rational q with a = q·b term by term, if there is one."""
    if len(a.terms) != len(b.terms):
        return None
    above, below = a.terms, b.terms
    first = next(iter(below))
    if first not in above:
        return None
    p, q = above[first], below[first]
    return tidy(Fraction(p) / q) if all(above.get(key, 0) * q == c * p for key, c in below.items()) else None


def _sum_root(a: Rational | ExpSum) -> Rational | ExpSum:
    """√a for a > 0.  What is plainly a square comes out: √(4e⁴+4e²) = 2e·√(e²+1)."""
    if isinstance(a, RATIONAL):
        outside, squarefree, rest = square_part(a.numerator * a.denominator)
        roots = (rest,) if rest != 1 else ()
        return ExpSum.of({((), squarefree, roots): Fraction(outside, a.denominator)})
    surds = sorted({r for exponent, _, _ in a.terms for r, _, _ in exponent})

    def dense(exponent: Exponent) -> tuple[Rational, ...]:
        known = coefficients(exponent)
        return tuple(known.get(r, 0) for r in surds)

    least = min((exponent for exponent, _, _ in a.terms), key=dense)
    half = exponent_of({r: Fraction(c) / 2 for r, c in coefficients(least).items()})
    below = lcm(*(c.denominator for c in a.terms.values()))
    above = gcd(*(int(c * below) for c in a.terms.values()))
    content = _sum_root(Fraction(above, below))
    if isinstance(content, ExpSum) and content.height:  # too large to be factored: it stays inside
        content, above, below = 1, 1, 1
    inner = a * ExpSum.of({(negated(least), 1, ()): Fraction(below, above)})
    outer = content * ExpSum.of({(half, 1, ()): 1})
    return outer * (ExpSum({((), 1, (inner,)): 1}) if isinstance(inner, ExpSum) else _sum_root(inner))


def _positive(v: Rational | ExpSum) -> Rational | ExpSum:
    return -v if _known_sign(v) == -1 else v


def _known_sign(v: Value) -> int | None:
    """−1, 0 or 1 as far as it can be proved, None for a symbol of unknown sign."""
    if isinstance(v, RATIONAL):
        return (v > 0) - (v < 0)
    if isinstance(v, NegativeInfinity):
        return -1
    if has_symbols(v):
        return 1 if v.is_positive else -1 if v.is_negative else 0 if v.is_zero else None
    return upward.sign(v)


def logarithm_of_unit(base: Value) -> Rational | ExpSum | None:
    """a if base is written e^a, else None."""
    if isinstance(base, ExpSum) and len(base.terms) == 1:
        (((a, r, roots), c),) = base.terms.items()
        if r == 1 and c == 1 and not roots:
            return of_exponent(a)
    return None


LARGEST_POWER = 1000
"""In decimals, of an exponent that is a fraction, the numerator and the denominator up to which its root is tried."""


def _rational_power(base: Finite | Real, exponent: Rational) -> Value:
    if isinstance(base, Real) and isinstance(exponent, int):
        return real("power", base, exponent) if exponent not in (0, 1) else base if exponent else 1
    if isinstance(exponent, int) and not isinstance(base, Real):
        return _integer_power(base, exponent)
    unit = logarithm_of_unit(base)
    if unit is not None:
        return exponential(unit * exponent)
    sign = _known_sign(base)
    if sign == 0 and exponent > 0:
        return 0
    if sign != 1:
        raise UndefinedError(
            message(
                "({base})^({exponent}) is not a real number, because the base is not positive.",
                base=text(base),
                exponent=exponent,
            )
        )
    if isinstance(base, Real):
        return real("power", base, exponent)
    if in_decimals() and max(abs(exponent.numerator), exponent.denominator) > LARGEST_POWER:
        return exponential(real("ln", base) * exponent)
    degree = exponent.denominator
    root: Value = _integer_power(base, exponent.numerator)
    while degree % 2 == 0:
        root, degree = square_root(root), degree // 2
    if degree == 1:
        return root
    if isinstance(root, RATIONAL):
        above, below = _integer_root(root.numerator, degree), _integer_root(root.denominator, degree)
        if above**degree == root.numerator and below**degree == root.denominator:
            return tidy(Fraction(above, below))
    if in_decimals():
        return real("power", base, exponent)
    result: Expr = upward.to_sympy(base) ** upward.to_sympy(exponent)
    return result


def _integer_power(base: Finite, exponent: int) -> Value:
    """By repeated squaring; a quotient is raised above and below."""
    if exponent <= 0:
        if is_zero_for_sure(base):
            raise UndefinedError(message("0^({exponent}) is not defined.", exponent=exponent))
        return 1 if exponent == 0 else divide(1, _integer_power(base, -exponent))
    if isinstance(base, RATIONAL):
        if (
            base not in (-1, 0, 1)
            and exponent * max(base.numerator.bit_length(), base.denominator.bit_length()) > MOST_BITS
        ):
            raise InputError(
                message(
                    "({base})^({exponent}) has too many digits to be worked out exactly.",
                    base=text(base),
                    exponent=exponent,
                )
            )
        return tidy(base**exponent)
    if isinstance(base, Quotient):
        return divide(_integer_power(base.numerator, exponent), _integer_power(base.denominator, exponent))
    result: Rational | ExpSum = 1
    square: Rational | ExpSum = base
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


def _integer_root(n: int, degree: int) -> int:
    """The whole part of the degree-th root of n ≥ 0, by Newton's method in integers."""
    if n < 2:
        return n
    x = 1 << -(-n.bit_length() // degree)
    while (y := ((degree - 1) * x + n // x ** (degree - 1)) // degree) < x:
        x = y
    return x


def _from_decimal(x: Decimal) -> Value:
    if x.is_infinite() and x < 0:
        return NEGATIVE_INFINITY
    if not x.is_finite():
        raise InputError(f"{x} is not a number that can be used exactly; of the infinities only −∞ is a score.")
    if abs(x.as_tuple().exponent) > LONGEST_EXPONENT:  # type: ignore[arg-type]
        raise InputError(f"The number {_shown(x)} is too long to be written out, and is refused.")
    return tidy(Fraction(x))


def _shown(x: object) -> str:
    try:
        shown = repr(x)
    except Exception:  # a foreign object may fail to show itself; the sentence is then without it
        return "Something"
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _no_fraction(value: Value) -> InputError:
    return InputError(f"{text(value)} is written with roots or powers of e and is no Fraction; float() is near it.")


# ------------------------------------------------------------------------------------ plain text


def text(v: Value) -> str:
    """v in plain text, for messages: 2·√3·e^(1/2) + 1."""
    if isinstance(v, Quotient):
        v = upward.lowest(v)
    if isinstance(v, Quotient):
        return f"{_bracketed(v.numerator)}/({text(v.denominator)})"
    if isinstance(v, RATIONAL):
        return _digits(v)
    if isinstance(v, Real):
        return upward.text_of_real(v)
    if not isinstance(v, ExpSum):
        return str(v)
    signed = [("- " if c < 0 else "+ ") + _term_text(key, absolute(c)) for key, c in v.terms.items()]
    joined = " ".join(signed)
    return joined[2:] if joined[0] == "+" else "-" + joined[2:]


def _term_text(key: Key, c: Rational) -> str:
    a, r, roots = key
    factors = [_digits(c)] if c != 1 else []
    if r != 1:
        factors.append(f"√{_digits(r)}")
    factors += [f"√{_digits(R)}" if isinstance(R, int) else f"√({text(R)})" for R in roots]
    if a:
        exponent = of_exponent(a)
        plain = isinstance(exponent, int) and exponent >= 0
        factors.append("e" if exponent == 1 else f"e^{exponent}" if plain else f"e^({text(exponent)})")
    return "·".join(factors) or "1"


def _bracketed(v: Rational | ExpSum) -> str:
    return f"({text(v)})" if isinstance(v, ExpSum) and len(v.terms) > 1 else text(v)


def _digits(q: Rational) -> str:
    """The digits of q; of an integer too long to read only how many there are."""
    if max(q.numerator.bit_length(), q.denominator.bit_length()) < 400:
        return str(q)
    if isinstance(q, int):
        return f"(an integer of about {int(q.bit_length() * 0.30103) + 1} digits)"
    return f"{_digits(q.numerator)}/{_digits(q.denominator)}"


upward.is_number, upward.power, upward.text = is_number, power, text


# ------------------------------------------------------------------------------------ matrices of other libraries
SHORT = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149)}
"""Numbers with fewer digits than Python's floats: bits of the significand, exponent of the smallest number above 0."""


def listed(given: object) -> object:
    """An array, a tensor or a matrix of SymPy as (nested) lists, tuples as lists; anything else as it is.

    A number of a short format is the shortest decimal that is rounded to it, as NumPy prints it: 0.1 in float32 is 0.1
    and not 0.10000000149.

    >>> listed(((1, 2), [3, 4]))
    [[1, 2], [3, 4]]
    """
    tolist = getattr(given, "tolist", None)
    if callable(tolist):
        kind = str(getattr(given, "dtype", "")).rpartition(".")[2]  # torch.float32
        rows = tolist()
        return _mapped(lambda x: shortest(x, kind), rows) if kind in SHORT else rows
    if isinstance(given, list | tuple):
        return [listed(x) for x in given]
    return given


def _mapped(function: Callable[[float], float], nested: object) -> object:
    if isinstance(nested, list):
        return [_mapped(function, x) for x in nested]
    return function(nested) if isinstance(nested, float) else nested


def shortest(x: float, kind: str) -> float:
    """The decimal with the fewest digits that is rounded to x in a format of `SHORT`; x is a number of that format.

    >>> shortest(0.0999755859375, "float16"), shortest(0.10000000149011612, "float32")
    (0.1, 0.1)
    """
    if not x or not math.isfinite(x):
        return x
    bits, lowest = SHORT[kind]
    for digits in range(9):
        near = float(f"{x:.{digits}e}")
        unit = max(math.frexp(near)[1] - bits, lowest)
        if math.ldexp(round(math.ldexp(near, -unit)), unit) == x:
            return near
    return x
