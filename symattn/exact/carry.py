"""How results are carried on from step to step: exactly, or as decimals with proof where exact values grow too long.

exact:    every result stays as it is; one that outgrows what can be worked out is an `OutgrownError`.
decimal:  short fractions and −∞ stay, for a fraction is its own best proof; everything else becomes a `Real`.
auto:     a step whose results all are short stays exact; one with a longer result goes on in decimals, all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from symattn.errors import InputError, OutgrownError
from symattn.exact.matrix import Matrix
from symattn.exact.real import Real, as_real, going_on
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    RATIONAL,
    Rational,
    Value,
    denominator_of,
    has_symbols,
    is_finite,
    is_symbolic,
    length,
    numerator_of,
    parts,
    terms_of,
)

Arithmetic: TypeAlias = Literal["exact", "decimal", "auto"]

LONGEST_COEFFICIENT = 100  # bits above or below the line, some 30 digits: a longer fraction becomes a decimal
MOST_TERMS = 24  # above and below the line together: a longer sum becomes a decimal where arithmetic is auto
MOST_PARTS = 16  # of an expression outside the class, such as sin(1) or 2 − ln(1 + e + e²)


def carried(work: Callable[..., Matrix], operands: Sequence[Matrix], arithmetic: Arithmetic) -> Matrix:
    """The result of an operation on matrices, as it is carried on."""
    if arithmetic == "exact":
        return work(*operands)
    if any(has_symbols(x) for m in operands for x in m):
        if any(map(in_decimals, operands)):
            raise InputError("Letters cannot be worked with beside decimals.")
        return work(*operands)
    outside = arithmetic == "decimal" or any(map(is_symbolic, (x for m in operands for x in m)))
    with going_on("decimal" if outside else "short"):
        try:
            result = work(*operands)
        except OutgrownError:
            result = work(*(in_reals(m) for m in operands))
    stays = is_short_fraction if arithmetic == "decimal" or not all(map(is_short, result)) else is_short
    return result.map(lambda x: x if stays(x) else as_real(x))


def in_reals(m: Matrix) -> Matrix:
    """The same numbers, those known by intervals that are no short fractions."""
    return m.map(lambda x: x if is_short_fraction(x) else as_real(x))


def is_short_fraction(x: Value) -> bool:
    return x is NEGATIVE_INFINITY or (isinstance(x, RATIONAL) and _is_short_coefficient(x))


def is_short(x: Value) -> bool:
    """Whether an exact value can be written on a line and read; a number known by intervals cannot grow."""
    if is_symbolic(x):
        return parts(x, MOST_PARTS + 1) <= MOST_PARTS
    if not is_finite(x):
        return x is NEGATIVE_INFINITY or isinstance(x, Real)
    if isinstance(x, RATIONAL):
        return _is_short_coefficient(x)
    above, below = numerator_of(x), denominator_of(x)
    coefficients = (*terms_of(above).values(), *terms_of(below).values())
    return length(above) + length(below) <= MOST_TERMS and all(map(_is_short_coefficient, coefficients))


def _is_short_coefficient(q: Rational) -> bool:
    return max(q.numerator.bit_length(), q.denominator.bit_length()) <= LONGEST_COEFFICIENT


def in_decimals(m: Matrix) -> bool:
    """Whether some entry is known by intervals alone."""
    return any(isinstance(x, Real) for x in m)
