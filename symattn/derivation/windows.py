"""Windows: intervals of numbers and −∞, and what ranges of operations are made of.

Ends are rounded outwards: a window is never too narrow, and wider than the range by rounding in the 30th digit only
where every number occurs once in what it is worked out by.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import reduce

from symattn.derivation.algebra import Base, Intervals
from symattn.errors import UndefinedError
from symattn.exact import Value, has_symbols
from symattn.exact.intervals import INFINITY, ONE, ZERO, Interval, interval_ring
from symattn.exact.values import NEGATIVE_INFINITY

Window = Interval
Box = tuple[tuple[Window, ...], ...]
"""One window for every entry of a matrix; the entries vary independently of one another."""

DIGITS = 30
RING = interval_ring(DIGITS)
HIDDEN = Window(-INFINITY, -INFINITY)
"""The score of what is masked."""

HALF = Decimal("0.5")
NOTHING = Window(ZERO, ZERO)


class Windows(Intervals):
    """Intervals in which −∞ may stand, and numbers that may be rounded from 0 have a root."""

    def number(self, value: Value) -> Window:
        return HIDDEN if value is NEGATIVE_INFINITY else constant(value)

    def negative(self, x: Window) -> Window:
        if x == HIDDEN:
            raise UndefinedError("There is no +∞.")
        return RING.negate(x)

    def product(self, *factors: Window) -> Window:
        return reduce(times, factors)

    def quotient(self, x: Window, y: Window) -> Window:
        return over(x, y)

    def square(self, x: Window) -> Window:
        return square(x)

    def exponential(self, x: Window, base: Base = "e") -> Window:
        return NOTHING if x == HIDDEN else RING.exp(RING.multiply(log_of(base), x))

    def root(self, x: Window) -> Window:
        """√x; no number below 0 has one, so that what may be rounded from 0 starts there."""
        if x.high < 0:
            raise UndefinedError("A negative number has no root.")
        return RING.sqrt(at_least_0(x))

    def apply(self, function: str, x: Window) -> Window:
        match function:
            case "tanh":  # 1 − 2/(e^2x + 1), in which x occurs once
                power = RING.exp(RING.add(x, x))
                return RING.add(UNIT, RING.negate(RING.divide(RING.number(2), RING.add(power, UNIT))))
            case "abs":
                return size(x)
        return super().apply(function, x)

    def hidden(self, x: Window) -> bool:
        return x == HIDDEN


WINDOWS = Windows(RING)


# ------------------------------------------------------------------------------------ numbers


def point(x: Decimal) -> Window:
    """One number alone."""
    return Window(x, x)


UNIT = point(ONE)


def constant(value: Value) -> Window:
    """A number that an operation has, which may not be a symbol."""
    if value is NEGATIVE_INFINITY or has_symbols(value):
        raise UndefinedError(f"{value} has no size.")
    return RING.enclose(value)


def log_of(base: Base) -> Window:
    """ln b, which is below 0 for a base below 1."""
    return UNIT if base == "e" else RING.ln(constant(base))


def minus(x: Window, y: Window) -> Window:
    """x − y of bounded numbers."""
    return RING.add(x, RING.negate(y))


def times(a: Window, b: Window) -> Window:
    """a·b, where −∞ may be multiplied by what is above 0."""
    if HIDDEN in (a, b):
        if (b if a == HIDDEN else a).sign != 1:
            raise UndefinedError("−∞ may be multiplied by positive numbers only.")
        return HIDDEN
    return RING.multiply(a, b)


def over(x: Window, divisor: Window) -> Window:
    """x/d."""
    if divisor.sign in (0, None):
        raise UndefinedError("The divisor may be 0.")
    return times(x, divisor) if x == HIDDEN else RING.divide(x, divisor)


def size(x: Window) -> Window:
    """|x|."""
    low, high = sorted((x.low.copy_abs(), x.high.copy_abs()))
    return Window(low if x.sign else ZERO, high)


def square(x: Window) -> Window:
    """x², in which x counts as one number."""
    low, high = map(point, size(x))
    return Window(RING.multiply(low, low).low, RING.multiply(high, high).high)


def at_least_0(x: Window) -> Window:
    """What is left of a window of a number that is not negative."""
    return Window(max(ZERO, x.low), max(ZERO, x.high))


def positive(x: Window) -> Window:
    """1 where x > 0, else 0."""
    return Window(ONE if x.low > 0 else ZERO, ONE if x.high > 0 else ZERO)


def tanh_slope(y: Window) -> Window:
    """1 − y²."""
    return minus(UNIT, square(y))


def sigmoid_slope(y: Window) -> Window:
    """y·(1 − y) = 1/4 − (y − 1/2)², in which y occurs once."""
    return minus(point(HALF * HALF), square(RING.add(y, point(-HALF))))


# ------------------------------------------------------------------------------------ matrices


def turned(box: Box) -> Box:
    """The box of the transposed matrix."""
    return tuple(zip(*box, strict=True))


def each(function: Callable[..., Window], *boxes: Box) -> Box:
    """A function of every entry, or of entries in the same place."""
    return tuple(tuple(map(function, *rows)) for rows in zip(*boxes, strict=True))
