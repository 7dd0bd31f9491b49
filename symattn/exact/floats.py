"""The nearest binary floating-point number to an exact one (IEEE 754-2019, sections 3.3 and 4.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from symattn.errors import UndefinedError
from symattn.exact.decide import compare
from symattn.exact.intervals import enclose
from symattn.exact.rounding import rounded
from symattn.exact.values import NEGATIVE_INFINITY, RATIONAL, NegativeInfinity, Rational, Value, text, tidy


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


def nearest_float(v: Value, format: Format) -> Rational | NegativeInfinity:
    """v as the nearest number of the format, of two that are equally near the one whose last digit is even.

    What is nearer to 0 than the least normal number keeps fewer digits (subnormal numbers), and may become 0.  A
    number that rounds beyond the largest one is −∞ where it is negative, and else `UndefinedError`, as there is no +∞.

    >>> nearest_float(Fraction(1, 3), FORMATS["float16"])
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
