"""Values as floats, straight from their terms: for choosing among variants, never for printing."""

from __future__ import annotations

import math
from collections.abc import Mapping

from symattn.exact.rounding import significant_text
from symattn.exact.values import RATIONAL, Exponent, ExpSum, Key, NegativeInfinity, Quotient, Rational, Value, terms_of

DIGITS = 17  # what a float can hold


def approximate(value: Value) -> float:
    """The value as a float; −∞ as -inf.

    The error is a few units in the last place of the largest term: where terms cancel, fewer digits are right.
    """
    if isinstance(value, NegativeInfinity):
        return -math.inf
    try:
        if isinstance(value, RATIONAL):
            return float(value)
        if isinstance(value, ExpSum):
            return _sum(value.terms)
        if isinstance(value, Quotient):
            return _quotient(terms_of(value.numerator), value.denominator.terms)
    except (OverflowError, ZeroDivisionError):  # too large a term or too small a denominator; the whole may be neither
        return float(significant_text(value, DIGITS))
    return float(value)


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


def _exponent(a: Exponent) -> float:
    return sum(c * math.sqrt(r) for r, c in a)


__all__ = ["approximate"]
