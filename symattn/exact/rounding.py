"""Correct rounding, proved: no digit is printed that an interval or an exact test of a tie hasn't confirmed.

Every way of rounding is a monotone step function.  If both ends of an interval are rounded to the same
number, so is the value between them.  If not, the interval contains a step; the value is compared with it
exactly, for no interval shows a tie such as 1/8 to two places, and otherwise more digits are computed.

`nearest_float` is proved like that, too; `approximate` is quick, for choosing among variants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
)
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from symattn.errors import InputError, SymattnError, UndecidedError, UndefinedError
from symattn.exact import intervals
from symattn.exact.decide import compare, decide, sign
from symattn.exact.intervals import FIRST_DIGITS, LEAST_DIGITS, Interval, enclose
from symattn.exact.real import Real
from symattn.exact.upward import upward
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    RATIONAL,
    Exponent,
    ExpSum,
    Key,
    NegativeInfinity,
    Quotient,
    Rational,
    Value,
    has_symbols,
    is_symbolic,
    terms_of,
    text,
    tidy,
)

Ties: TypeAlias = Literal["even", "up", "down"]

MODES = {"even": ROUND_HALF_EVEN, "up": ROUND_HALF_UP, "down": ROUND_HALF_DOWN}  # up: away from zero
MOST_DIGITS = 20_000  # of a number that is printed
LONGEST_WHOLE = 2_000  # of them before the point: how many there are after it is asked for, and no surprise
FARTHEST = 3_000  # digits beyond those printed, to tell a number from a tie
GUARD = 12
ATTEMPTS = 8  # doublings of the precision for a number outside the decidable class


def rounded(v: Value, places: int, ties: Ties = "even") -> Rational:
    """v to `places` decimal places.  "up" takes a tie away from zero, "down" towards it.

    >>> rounded(Fraction(1, 8), 2), rounded(Fraction(1, 8), 2, "up"), rounded(Fraction(-1, 2), 0, "down")
    (Fraction(3, 25), Fraction(13, 100), 0)
    """
    return _scaled(_nearest(v, places, ties), places)


def truncated(v: Value, places: int) -> Rational:
    """v without the digits after `places` decimal places.

    >>> truncated(Fraction(-29, 10), 0)
    -2
    """
    return _scaled(_units(v, places, ROUND_DOWN), places)


def decimal_text(v: Value, places: int, ties: Ties = "even") -> str:
    """v in decimals, correctly rounded; never "-0.00".

    >>> decimal_text(Fraction(2, 3), 4), decimal_text(Fraction(-1, 1000), 2)
    ('0.6667', '0.00')
    """
    return "-∞" if isinstance(v, NegativeInfinity) else _written(_nearest(v, places, ties), places)


def significant_text(v: Value, digits: int) -> str:
    """v to `digits` significant digits, ties to even, without an exponent.

    >>> significant_text(Fraction(9996, 1000), 3), significant_text(Fraction(1, 3000), 2)
    ('10.0', '0.00033')
    """
    if digits < 1:
        raise InputError(f"A number cannot be written with {digits} significant digits; at least one is needed.")
    if isinstance(v, NegativeInfinity):
        return "-∞"
    if sign(v) == 0:
        return _written(0, digits - 1)
    leading = _leading_place(v)
    places = digits - 1 - leading
    units = _nearest(v, places, "even")
    if abs(units) >= 10**digits:  # 9.996 became 10.00
        units, places = units // 10, places - 1
    return _written(units, places)


def largest_remainder(row: Sequence[Value], places: int) -> list[Rational]:
    """The row rounded so that it keeps its sum (Hamilton; see Balinski and Young, *Fair Representation*).

    Every entry is rounded down; the units that are missing then go to the largest remainders, and of equal
    ones to the earlier.  The sum must itself have `places` decimal places.

    >>> largest_remainder([Fraction(1, 3)] * 3, 1)
    [Fraction(2, 5), Fraction(3, 10), Fraction(3, 10)]
    """
    if not row:
        return []
    exact_sum: Value = sum(row[1:], row[0])
    total = _units(exact_sum, places, ROUND_HALF_EVEN)
    if decide(exact_sum, _scaled(total, places)).equal is not True:
        raise InputError(
            f"The row can't be rounded to {places} places so as to keep its sum, "
            f"since that is {text(exact_sum)}, which has more decimal places."
        )
    units = [_units(v, places, ROUND_FLOOR) for v in row]
    remainders = [v - _scaled(n, places) for v, n in zip(row, units, strict=True)]
    largest_first = sorted(range(len(row)), key=lambda i: cmp_to_key(compare)(remainders[i]), reverse=True)
    for i in largest_first[: total - sum(units)]:
        units[i] += 1
    return [_scaled(n, places) for n in units]


# ------------------------------------------------------------------------------------ inside


def _nearest(v: Value, places: int, ties: Ties) -> int:
    """v·10^places, rounded to the nearest integer."""
    if ties not in MODES:
        raise InputError(f"There is no rule {ties!r} for ties; the rules are 'even', 'up' and 'down'.")
    return _units(v, places, MODES[ties])


def _units(v: Value, places: int, mode: str) -> int:
    """v·10^places, rounded to an integer."""
    if isinstance(v, NegativeInfinity) or has_symbols(v):
        raise InputError(f"{text(v)} cannot be rounded, since it is not a number with digits.")
    if isinstance(v, RATIONAL):
        return _round_rational(v * _power_of_ten(places), mode)
    digits = max(places, 0) + GUARD
    tested: Rational | None = None
    for _ in range(ATTEMPTS if is_symbolic(v) else 2 * ATTEMPTS):
        interval = enclose(v, digits)
        if not interval.bounded:
            if digits > 1000 + places:
                break
            digits *= 2
            continue
        if digits < (needed := _digits_needed(v, interval, places)):
            digits = needed
            continue
        low, high = (_round_decimal(end, places, mode) for end in interval)
        if low == high:
            return int(low)
        if high - low == 1:
            step = _step(int(low), int(high), mode, interval, places)
            if step != tested and decide(v, _scaled(step, places)).equal:
                return _round_rational(step, mode)
            tested = step
        digits *= 2
        if digits > FARTHEST + needed:
            break
    raise UndecidedError(
        f"How {text(v)} is rounded to {places} places is not known with {digits} digits: "
        "it is too near to a tie, or too large."
    )


def _step(low: int, high: int, mode: str, interval: Interval, places: int) -> Rational:
    """Where the rounding jumps from low to high = low + 1: half-way, or at one of the two."""
    if mode in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN):
        return Fraction(low + high, 2)
    return low if _scaled(low, places) in interval else high


def _digits_needed(v: Value, interval: Interval, places: int) -> int:
    """The working precision needed for `places` places of a number in this interval."""
    whole = max(interval.low.adjusted(), interval.high.adjusted(), 0)
    if whole > LONGEST_WHOLE or whole + abs(places) > MOST_DIGITS:
        raise InputError(f"{text(v)} to {places} places has too many digits to be written out.")
    return max(whole + places, 0) + GUARD // 2


_WIDE = Context(prec=5 * MOST_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _round_decimal(x: Decimal, places: int, mode: str) -> Decimal:
    return x.scaleb(places, _WIDE).to_integral_value(mode, _WIDE)


def _round_rational(q: Rational, mode: str) -> int:
    """An exact rounding of a fraction, by its floor and what is left."""
    whole, rest = divmod(q.numerator, q.denominator)
    if rest == 0:
        return whole
    match mode:
        case "ROUND_FLOOR":
            return whole
        case "ROUND_DOWN":
            return whole + (whole < 0)
    if 2 * rest != q.denominator:
        return whole + (2 * rest > q.denominator)
    match mode:
        case "ROUND_HALF_EVEN":
            return whole + whole % 2
        case "ROUND_HALF_UP":
            return whole + (whole >= 0)
        case _:
            return whole + (whole < 0)


def _leading_place(v: Value) -> int:
    """k with 10^k ≤ |v| < 10^(k+1), for v ≠ 0."""
    if isinstance(v, RATIONAL):
        guess = Decimal(v.numerator).adjusted() - Decimal(v.denominator).adjusted()
    else:
        digits = GUARD
        while (interval := enclose(v, digits)).sign is None or not interval.bounded:
            if interval.sign is not None and digits > 2 * GUARD:  # beyond what a Decimal can hold
                raise InputError(f"{text(v)} has too many digits to be written out.")
            digits *= 2
            if digits > FARTHEST:
                raise UndecidedError(f"The size of {text(v)} is not known even with {digits} digits.")
        guess = max(interval.low.adjusted(), interval.high.adjusted())
        if abs(guess) > LONGEST_WHOLE:
            raise InputError(f"{text(v)} has too many digits to be written out.")
    size = v if sign(v) > 0 else -v
    return guess if compare(size, _power_of_ten(guess)) >= 0 else guess - 1


def _power_of_ten(k: int) -> Fraction:
    return Fraction(10**k) if k >= 0 else Fraction(1, 10**-k)


def _scaled(units: Rational, places: int) -> Rational:
    return tidy(units * _power_of_ten(-places))


def _written(units: int, places: int) -> str:
    """units/10^places in digits; Decimal writes integers of any length."""
    digits = str(Decimal(abs(units) * 10 ** max(-places, 0)))
    minus = "-" if units < 0 else ""
    if places <= 0:
        return minus + digits
    digits = digits.zfill(places + 1)
    return f"{minus}{digits[:-places]}.{digits[-places:]}"


# ------------------------------------------------------------------------------------------ floating-point formats
# IEEE 754-2019, sections 3.3 and 4.3.1.


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: its name, how many binary digits a number has, and the least and the greatest exponent."""

    name: str
    digits: int
    least: int
    greatest: int

    @property
    def largest(self) -> int:
        """The largest finite number: 65504 for float16."""
        return int(2**self.greatest * (2 - Fraction(2, 2**self.digits)))


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        own.name: own
        for own in (
            Format("float16", 11, -14, 15),
            Format("bfloat16", 8, -126, 127),
            Format("float32", 24, -126, 127),
            Format("float64", 53, -1022, 1023),
        )
    }
)


def nearest_in(v: Value, format: Format) -> Rational | NegativeInfinity:
    """v as the nearest number of the format, of two that are equally near the one whose last digit is even.

    What is nearer to 0 than the least normal number keeps fewer digits (subnormal numbers), and may become 0.  A
    number that rounds beyond the largest one is −∞ where it is negative, and else `UndefinedError`, as there is no +∞.

    >>> nearest_in(Fraction(1, 3), FORMATS["float16"])
    Fraction(1365, 4096)
    """
    if isinstance(v, NegativeInfinity):
        return v
    below = Fraction(2) ** (format.least - format.digits)  # half the least number above 0
    if compare(v, below) <= 0 <= compare(v, -below):
        return 0
    beyond = format.largest + 2 ** (format.greatest - format.digits)  # half-way to what would come next
    if compare(v, -beyond) <= 0:
        return NEGATIVE_INFINITY
    if compare(v, beyond) >= 0:
        raise UndefinedError(f"{text(v)} would be +∞ in {format.name}, whose largest number is {format.largest}.")
    unit = Fraction(2) ** (max(_exponent(v), format.least) - format.digits + 1)
    return tidy(rounded(v * (1 / unit), 0, "even") * unit)


def _exponent(v: Value) -> int:
    """k with 2^k ≤ |v| < 2^(k+1), for v ≠ 0."""
    if isinstance(v, RATIONAL):
        near = abs(Fraction(v))
    else:
        digits = 20
        while (interval := enclose(v, digits)).sign is None:
            digits *= 2
        near = abs(Fraction(interval.low))
    size = v if compare(v, 0) > 0 else -v
    guess = near.numerator.bit_length() - near.denominator.bit_length() + 1
    while compare(size, Fraction(2) ** guess) < 0:
        guess -= 1
    return guess


# ------------------------------------------------------------------------------------------ values as floats

DIGITS = 17  # what a float can hold
DIGITS_OF_REALS = 12  # of a number known by intervals, in plain text


def near(value: Value) -> float:
    """The value as a float; nan, which is near nothing, where it is too large for one or has symbols."""
    if has_symbols(value):
        return math.nan
    try:
        return approximate(value)
    except (OverflowError, SymattnError, TypeError):  # the last: SymPy takes the logarithm of what has become 0
        return math.nan


def approximate(value: Value) -> float:
    """The value as a float; −∞ as -inf.

    The error is a few units in the last place of the largest term: where terms cancel, fewer digits are right.
    """
    if isinstance(value, NegativeInfinity):
        return -math.inf
    if isinstance(value, Real):
        return _of_real(value)
    try:
        if isinstance(value, RATIONAL):
            return float(value)
        if isinstance(value, ExpSum):
            return _float_sum(value.terms)
        if isinstance(value, Quotient):
            return _quotient(terms_of(value.numerator), value.denominator.terms)
    except (OverflowError, ZeroDivisionError):  # too large a term or too small a denominator; the whole may be neither
        return float(significant_text(value, DIGITS))
    try:
        return _expression(value, {})
    except (OverflowError, ZeroDivisionError, ValueError):  # ValueError: a power of what is 0 to a float
        return float(value)


def _of_real(value: Real) -> float:
    """The float nearest to it, 0 for what nothing tells from 0: the same whatever was known of the number before."""
    for digits in (DIGITS, 2 * DIGITS, 4 * DIGITS):
        low, high = enclose(value, digits)
        if float(low) == float(high):
            return float(low)
    return 0.0 if low <= 0 <= high else float(low)


def nearest_float(value: Value) -> float:
    """The float nearest to the value, proved by an interval; −∞ as -inf.

    `InputError` for a value with symbols, and for one beyond the range of floats.

    >>> nearest_float(Quotient.of(1, 3))
    0.3333333333333333
    """
    if isinstance(value, NegativeInfinity):
        return -math.inf
    if has_symbols(value):
        raise InputError(f"{text(value)} has symbols, so that there is no float for it.")
    near = math.inf
    if isinstance(value, RATIONAL):
        with suppress(OverflowError):
            near = float(value)
    else:
        digits = FIRST_DIGITS
        while digits <= intervals.MOST_DIGITS:
            low, high = enclose(value, digits)
            near = float(low)
            if near == float(high):
                break
            digits *= 2
    if math.isinf(near):
        raise InputError(f"{text(value)} is beyond the range of floats; its decimals can be written out.")
    return near or 0.0  # not -0.0


def text_of_real(v: Real) -> str:
    """Its first digits, in plain text; for a huge one, the power of ten."""
    low, high = interval = enclose(v, LEAST_DIGITS)
    if not interval.bounded:
        return "≈10^…"
    if interval.sign is None:
        return "≈0"
    if abs(high.adjusted()) > LONGEST_WHOLE or abs(low.adjusted()) > LONGEST_WHOLE:
        return f"≈10^{high.adjusted()}"
    return f"{significant_text(v, DIGITS_OF_REALS)}…"


upward.nearest_float, upward.text_of_real = nearest_float, text_of_real


def _expression(expr: Any, known: dict[Any, float]) -> float:
    """A SymPy expression, each part of it once: what a norm leads to is small, but not when written out as a tree."""
    if expr not in known:
        parts = [_expression(part, known) for part in expr.args]
        if expr.is_Add:
            known[expr] = math.fsum(parts)
        elif expr.is_Mul:
            known[expr] = math.prod(parts)
        elif expr.is_Pow and parts[0] >= 0:
            known[expr] = math.pow(*parts)
        else:
            known[expr] = float(expr.func(*parts) if parts else expr)
    return known[expr]


def _float_sum(terms: Mapping[Key, Rational], shift: float = 0.0) -> float:
    """e^(−shift) Σ c·√r·√R…·e^a."""
    total = 0.0
    for (a, r, roots), c in terms.items():
        term = c * math.sqrt(r)
        for radicand in roots:
            term *= math.sqrt(approximate(radicand))
        total += term * math.exp(_float_of(a) - shift)
    return total


def _quotient(above: Mapping[Key, Rational], below: Mapping[Key, Rational]) -> float:
    """The denominator's largest exponential is taken out of both, so that a softmax of large scores stays finite."""
    shift = max(_float_of(a) for a, _, _ in below)
    return _float_sum(above, shift) / _float_sum(below, shift)


@lru_cache(maxsize=4096)
def _float_of(a: Exponent) -> float:
    return sum(p / q * math.sqrt(r) for r, p, q in a)
