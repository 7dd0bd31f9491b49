"""Values as floats: straight from their terms, for choosing among variants; the nearest, for who asks for floats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from symattn.errors import InputError, SymattnError
from symattn.exact.intervals import FIRST_DIGITS, LEAST_DIGITS, MOST_DIGITS, enclose
from symattn.exact.real import Real
from symattn.exact.rounding import LONGEST_WHOLE, significant_text
from symattn.exact.upward import upward
from symattn.exact.values import (
    RATIONAL,
    Exponent,
    ExpSum,
    Key,
    NegativeInfinity,
    Quotient,
    Rational,
    Value,
    has_symbols,
    terms_of,
    text,
)

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
            return _sum(value.terms)
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
        while digits <= MOST_DIGITS:
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


def _sum(terms: Mapping[Key, Rational], shift: float = 0.0) -> float:
    """e^(−shift) Σ c·√r·√R…·e^a."""
    total = 0.0
    for (a, r, roots), c in terms.items():
        term = c * math.sqrt(r)
        for radicand in roots:
            term *= math.sqrt(approximate(radicand))
        total += term * math.exp(_exponent(a) - shift)
    return total


def _quotient(above: Mapping[Key, Rational], below: Mapping[Key, Rational]) -> float:
    """The denominator's largest exponential is taken out of both, so that a softmax of large scores stays finite."""
    shift = max(_exponent(a) for a, _, _ in below)
    return _sum(above, shift) / _sum(below, shift)


@lru_cache(maxsize=4096)
def _exponent(a: Exponent) -> float:
    return sum(p / q * math.sqrt(r) for r, p, q in a)
