"""Rigorous interval arithmetic on the decimals of the standard library.

Sums, products and quotients are rounded outwards by the contexts ROUND_FLOOR and ROUND_CEILING.  The decimal
module documents exp, ln and sqrt as correctly rounded, so the true value lies between the two neighbours of
what they return.  An end of an interval may be infinite: that is how too little precision shows itself
(1/[−ε, ε]), and the caller asks again with more digits.
"""

from __future__ import annotations

from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    InvalidOperation,
)
from fractions import Fraction
from functools import lru_cache, reduce
from typing import NamedTuple, cast

from symattn.errors import InputError, UndefinedError
from symattn.exact import values
from symattn.exact.real import Real
from symattn.exact.tree import (
    Apply,
    Budget,
    ExactRing,
    MinusInfinity,
    Node,
    OutsideTheClass,
    Ring,
    Symbol,
    is_node,
    tree_of,
)
from symattn.exact.upward import upward
from symattn.exact.values import Exponent, ExpSum, NegativeInfinity, Quotient, Rational, Value
from symattn.foundation.languages import message


class Interval(NamedTuple):
    """All real numbers from low to high."""

    low: Decimal
    high: Decimal

    def __contains__(self, x: object) -> bool:
        return isinstance(x, int | Decimal | Fraction) and _compare(self.low, x) <= 0 <= _compare(self.high, x)

    @property
    def sign(self) -> int | None:
        """The sign of every number inside, None if they have several."""
        if self.low > 0:
            return 1
        if self.high < 0:
            return -1
        return 0 if self.low == self.high == 0 else None

    @property
    def bounded(self) -> bool:
        return self.low.is_finite() and self.high.is_finite()


ZERO, ONE, INFINITY = Decimal(0), Decimal(1), Decimal("Infinity")
LINE = Interval(-INFINITY, INFINITY)
LEAST_DIGITS = 40  # with which a `Real` is worked out: enough for its sign and for what is printed of it

FIRST_DIGITS = 25
MOST_DIGITS = 400  # tried before it is given up what no proof is known of


def enclose(value: Value, digits: int) -> Interval:
    """An interval that contains the value, computed with `digits` digits.

    >>> enclose(values.exponential(1), 5)
    Interval(low=Decimal('2.7182'), high=Decimal('2.7184'))
    """
    return interval_ring(digits).enclose(value)


upward.enclose = enclose


def is_defined(number: Value | Node) -> bool:
    """Whether intervals show that every root, logarithm and quotient in a value or a tree is defined.

    False where that is not seen with `MOST_DIGITS`; `UndefinedError` where one is seen not to be.
    """
    digits = FIRST_DIGITS
    while digits <= MOST_DIGITS:
        try:
            ring = _StrictRing(digits)
            ring(number) if is_node(number) else ring.enclose(number)
            return True
        except _UnsettledError:
            digits *= 2
    return False


@lru_cache(maxsize=256)
def interval_ring(digits: int) -> IntervalRing:
    return IntervalRing(digits)


class IntervalRing(Ring[Interval]):
    """Intervals whose ends have at most `digits` digits."""

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.floor, self.ceiling, self.nearest = (
            Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation])
            for rounding in (ROUND_FLOOR, ROUND_CEILING, ROUND_HALF_EVEN)
        )

    def enclose(self, value: Value) -> Interval:
        if isinstance(value, int | Fraction):
            return self.number(value)
        if isinstance(value, ExpSum | Quotient):
            return self.irrational(value)
        if isinstance(value, Real):
            return self.real(value)
        if isinstance(value, NegativeInfinity):
            raise InputError("−∞ cannot be enclosed between two numbers.")
        try:
            return self(tree_of(value))
        except OutsideTheClass as error:
            raise InputError(
                f"The expression {value} cannot be evaluated: it has symbols or unknown functions."
            ) from error

    def irrational(self, value: ExpSum | Quotient) -> Interval:
        """The interval of a sum or a quotient, worked out once: a key's numbers are compared with every script's."""
        if value.digits != self.digits or value.interval is None:
            value.interval, value.digits = self._irrational(value), self.digits
        return value.interval

    def real(self, value: Real) -> Interval:
        """The intervals of a `Real` and of all that it is worked out from, each once, to at least `digits` digits."""
        if self.digits < LEAST_DIGITS:
            return interval_ring(LEAST_DIGITS).real(value)
        waiting = [value]  # a stack of our own, for a derivation is deeper than Python's
        while waiting:
            node = waiting[-1]
            if node.digits < self.digits:
                unknown = [x for x in node.operands if isinstance(x, Real) and x.digits < self.digits]
                if unknown:
                    waiting += unknown
                    continue
                operands = [x.interval if isinstance(x, Real) else self.enclose(x) for x in node.operands]
                node.interval = self._function(node, cast("list[Interval]", operands))
                node.digits = self.digits
            waiting.pop()
        assert value.interval is not None
        return value.interval

    def _function(self, node: Real, x: list[Interval]) -> Interval:
        match node.function:
            case "value":
                return x[0]
            case "sum":
                return reduce(self.add, x)
            case "product":
                return reduce(self.multiply, x)
            case "dot":
                return reduce(self.add, map(self.multiply, x[::2], x[1::2]))
            case "quotient":
                return self.divide(*x)
            case "power":
                exponent = node.operands[1]
                if isinstance(exponent, int):
                    return self.integer_power(x[0], exponent)
                return self.exp(self.multiply(self.ln(x[0]), x[1]))
            case function:
                return self.function(function, tuple(x))

    def number(self, q: Rational) -> Interval:
        if isinstance(q, int):
            d = Decimal(q)
            return Interval(self.floor.plus(d), self.ceiling.plus(d))
        n, d = Decimal(q.numerator), Decimal(q.denominator)
        return Interval(self.floor.divide(n, d), self.ceiling.divide(n, d))

    def negate(self, a: Interval) -> Interval:
        return Interval(a.high.copy_negate(), a.low.copy_negate())

    def add(self, a: Interval, b: Interval) -> Interval:
        return Interval(self.floor.add(a.low, b.low), self.ceiling.add(a.high, b.high))

    def multiply(self, a: Interval, b: Interval) -> Interval:
        down, up = self.floor.multiply, self.ceiling.multiply
        try:
            if a.low >= 0:
                if b.low >= 0:
                    return Interval(down(a.low, b.low), up(a.high, b.high))
                if b.high <= 0:
                    return Interval(down(a.high, b.low), up(a.low, b.high))
            pairs = [(x, y) for x in a for y in b]
            return Interval(min(down(x, y) for x, y in pairs), max(up(x, y) for x, y in pairs))
        except InvalidOperation:  # 0·∞
            return LINE

    def divide(self, a: Interval, b: Interval) -> Interval:
        if b.low <= 0 <= b.high:
            if b.low == b.high:
                raise UndefinedError(message("A division by 0 is not defined."))
            return LINE
        down, up = self.floor.divide, self.ceiling.divide
        try:
            if a.low >= 0 and b.low > 0:
                return Interval(down(a.low, b.high), up(a.high, b.low))
            pairs = [(x, y) for x in a for y in b]
            return Interval(min(down(x, y) for x, y in pairs), max(up(x, y) for x, y in pairs))
        except InvalidOperation:  # ∞/∞
            return LINE

    def power(self, base: Node, exponent: Node) -> Interval:
        if base == Apply("e", ()):
            return self.exp(self(exponent))
        try:
            x = ExactRing(Budget(1000), closed=True)(exponent)
        except (OutsideTheClass, ArithmeticError):
            return self.exp(self.multiply(self.ln(self(base)), self(exponent)))
        if isinstance(x, int):
            return self.integer_power(self(base), x)
        if isinstance(x, Fraction) and x.denominator == 2:
            return self.integer_power(self.sqrt(self(base)), x.numerator)
        return self.exp(self.multiply(self.ln(self(base)), self.enclose(x)))

    def apply(self, function: str, arguments: tuple[Node, ...]) -> Interval:
        return self.function(function, tuple(map(self, arguments)))

    def function(self, function: str, a: tuple[Interval, ...]) -> Interval:
        """A function of numbers that lie in these intervals."""
        match function, a:
            case "exp", (x,):
                return self.exp(x)
            case "sqrt", (x,):
                return self.sqrt(x)
            case "ln", (x,):
                return self.ln(x)
            case "tanh", (x,):
                return self.tanh(x)
            case "erf", (x,):
                return self.erf(x)
            case "sin" | "cos", (x,):
                return self._wave(function, x)
            case "max", (_, *_):
                return Interval(max(x.low for x in a), max(x.high for x in a))
            case "min", (_, *_):
                return Interval(min(x.low for x in a), min(x.high for x in a))
            case "abs", (x,):
                return (
                    self.negate(x)
                    if x.high < 0
                    else x
                    if x.low >= 0
                    else Interval(ZERO, max(x.low.copy_negate(), x.high))
                )
            case "pi", ():
                return _pi(self.digits)
        raise OutsideTheClass(f"The function {function} cannot be evaluated.")

    def other(self, node: MinusInfinity | Symbol) -> Interval:
        raise OutsideTheClass("Neither −∞ nor a symbol can be enclosed between two numbers.")

    def exp(self, a: Interval) -> Interval:
        low, high = self.nearest.exp(a.low), self.nearest.exp(a.high)
        return Interval(max(ZERO, self.nearest.next_minus(low)), self.nearest.next_plus(high))

    def sqrt(self, a: Interval) -> Interval:
        if a.high < 0:
            raise UndefinedError(message("The square root of a negative number is not a real number."))
        low, high = self.nearest.sqrt(max(ZERO, a.low)), self.nearest.sqrt(a.high)
        return Interval(max(ZERO, self.nearest.next_minus(low)), self.nearest.next_plus(high))

    def ln(self, a: Interval) -> Interval:
        if a.high <= 0:
            raise UndefinedError(message("The logarithm of a number that is not positive is not a real number."))
        low = self.nearest.next_minus(self.nearest.ln(a.low)) if a.low > 0 else -INFINITY
        return Interval(low, self.nearest.next_plus(self.nearest.ln(a.high)))

    def tanh(self, a: Interval) -> Interval:
        """It increases, so that its values at the two ends enclose the others."""
        return Interval(self._tanh(a.low).low, self._tanh(a.high).high)

    def erf(self, a: Interval) -> Interval:
        """The error function, which increases as well."""
        return Interval(self._erf(a.low).low, self._erf(a.high).high)

    def _tanh(self, x: Decimal) -> Interval:
        if x.is_infinite():
            end = ONE.copy_sign(x)
            return Interval(end, end)
        if x < 0:
            return self.negate(self._tanh(x.copy_negate()))
        shrinking = self.exp(self.multiply(Interval(x, x), self.number(-2)))  # tanh x = (1 − e^−2x)/(1 + e^−2x)
        unit = self.number(1)
        return self.divide(self.add(unit, self.negate(shrinking)), self.add(unit, shrinking))

    def _erf(self, x: Decimal) -> Interval:
        """erf x = 2/√π·e^(−x²)·Σ 2^k x^(2k+1)/(1·3·…·(2k+1)) (Abramowitz and Stegun 7.1.6), with positive terms.

        Where a term is at most half of the one before, so are all that follow, and together they are below it.  Far out
        1 − erf x < e^(−x²)/(x√π) (7.1.13) says more than there are digits.
        """
        if x < 0:
            return self.negate(self._erf(x.copy_negate()))
        if x == 0 or x.is_infinite():
            return Interval(ZERO, ZERO) if x == 0 else Interval(ONE, ONE)
        point = Interval(x, x)
        square = self.multiply(point, point)
        bell, root = self.exp(self.negate(square)), self.sqrt(_pi(self.digits))
        if bell.high.adjusted() < -self.digits:
            tail = self.divide(bell, self.multiply(point, root))
            return Interval(self.add(Interval(ONE, ONE), self.negate(tail)).low, ONE)
        doubled, least = self.add(square, square), ONE.scaleb(-self.digits, self.nearest)
        total, term, k = Interval(ZERO, ZERO), point, 0
        while True:
            total, k = self.add(total, term), k + 1
            ratio = self.divide(doubled, self.number(2 * k + 1))
            following = self.multiply(term, ratio)
            if 2 * ratio.high <= 1 and following.high <= total.low * least:
                break
            term = following
        total = Interval(total.low, self.ceiling.add(total.high, 2 * following.high))
        return self.divide(self.multiply(self.multiply(self.number(2), bell), total), root)

    def _wave(self, function: str, x: Interval) -> Interval:
        """sin or cos of the middle, and to both sides as much as x goes, for neither has a slope above 1.

        Near 0, where x² has vanished beside 1, sin x lies between x and a little less, and cos x between that and 1.
        """
        if not x.bounded or max(x.low.adjusted(), x.high.adjusted()) > self.digits:
            return Interval(ONE.copy_negate(), ONE)
        if max(_place(x.low), _place(x.high)) < -self.digits:
            almost = Interval(self.nearest.next_minus(ONE), ONE)
            return almost if function == "cos" else self.multiply(x, almost)
        low, high = (
            Fraction(self._to_grid(end, way)) for end, way in zip(x, (ROUND_FLOOR, ROUND_CEILING), strict=True)
        )
        value, error = _wave_at(function, (low + high) / 2, self.digits)
        reach = error + (high - low) / 2
        return Interval(
            max(ONE.copy_negate(), self.number(value - reach).low), min(ONE, self.number(value + reach).high)
        )

    def _to_grid(self, x: Decimal, rounding: str) -> Decimal:
        """x to 2·digits places, for as a fraction 1E-434294481903 would have as many digits as that."""
        return x.quantize(ONE.scaleb(-2 * self.digits), rounding, _EXACT) if _place(x) < -self.digits else x

    def _irrational(self, v: ExpSum | Quotient) -> Interval:
        if isinstance(v, Quotient):
            return self.divide(self.enclose(v.numerator), self.enclose(v.denominator))
        return reduce(self.add, (self._term(key, c) for key, c in v.terms.items()))

    def _term(self, key: values.Key, c: Rational) -> Interval:
        exponent, r, roots = key
        result = self.number(c)
        if exponent:
            result = self.multiply(_exponential(exponent, self.digits), result)
        if r != 1:
            result = self.multiply(_root(r, self.digits), result)
        for R in roots:
            result = self.multiply(_root(R, self.digits), result)
        return result


class _UnsettledError(ArithmeticError):
    """With so few digits it is not seen whether something is defined."""


class _StrictRing(IntervalRing):
    """Intervals of what is defined for sure; what other rings remember does not say so."""

    def irrational(self, value: ExpSum | Quotient) -> Interval:
        return self._irrational(value)

    def divide(self, a: Interval, b: Interval) -> Interval:
        if b.sign is None:
            raise _UnsettledError
        return super().divide(a, b)

    def sqrt(self, a: Interval) -> Interval:
        if a.sign is None:
            raise _UnsettledError
        return super().sqrt(a)

    def ln(self, a: Interval) -> Interval:
        if a.sign is None:
            raise _UnsettledError
        return super().ln(a)


@lru_cache(maxsize=8192)
def _exponential(exponent: Exponent, digits: int) -> Interval:
    ring = interval_ring(digits)
    return ring.exp(ring.enclose(values.of_exponent(exponent)))


@lru_cache(maxsize=8192)
def _root(R: int | ExpSum, digits: int) -> Interval:
    ring = interval_ring(digits)
    return ring.sqrt(ring.enclose(R))


@lru_cache(maxsize=64)
def _pi(digits: int) -> Interval:
    """Machin's formula π = 16 arctan(1/5) − 4 arctan(1/239), in integers: each of the divisions loses < 1."""
    unit = 10 ** (digits + 10)

    def arctangent_of_inverse(k: int) -> tuple[int, int]:
        power, total, n = unit // k, 0, 1
        while power:
            total += power // n if n % 4 == 1 else -(power // n)
            power //= k * k
            n += 2
        return total, n  # the error is below the number of steps

    (a, steps), (b, more) = arctangent_of_inverse(5), arctangent_of_inverse(239)
    ring, centre, error = interval_ring(digits), 16 * a - 4 * b, 16 * steps + 4 * more
    return Interval(ring.number(Fraction(centre - error, unit)).low, ring.number(Fraction(centre + error, unit)).high)


def _wave_at(function: str, x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """sin x or cos x, and a bound of the error: x less the nearest k·π/2, then both Taylor series in integers.

    Every division loses less than 1 unit, a loss is never magnified since |x − k·π/2| < 1, and the terms alternate and
    decrease, so that what is left out is below the first term that is 0.
    """
    pi = _pi(digits + 10 + len(str(abs(int(x)))))
    low, high = Fraction(pi.low), Fraction(pi.high)
    quarters = round(2 * x / low)
    unit = 10 ** (digits + 10)
    t = int((x - quarters * (low + high) / 4) * unit)
    waves, term, n = [0, 0], unit, 0  # cos and sin, by the parity of n
    while term:
        waves[n % 2] += -term if n % 4 > 1 else term
        n += 1
        term = term * t // (unit * n)
        if term == -1:  # what rounding down makes of a negative term that has vanished
            term = 0
    cosine, sine = waves
    turned = (quarters + (0 if function == "cos" else 3)) % 4  # sin x = cos(x − π/2)
    value = (cosine, -sine, -cosine, sine)[turned]
    return Fraction(value, unit), Fraction(2 * n + 2, unit) + abs(quarters) * (high - low) / 4


def _compare(a: Decimal, x: int | Decimal | Fraction) -> int:
    """−1, 0 or 1.  A Decimal compares exactly with a Fraction, and must stay one: 1E-434294481903 has not many digits,
    but as a fraction it has."""
    return (a > x) - (a < x)


def _place(x: Decimal) -> int:
    """The place of the first digit; of 0, a place that no other number has."""
    return x.adjusted() if x else MIN_EMIN


_EXACT = Context(prec=100_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation])
