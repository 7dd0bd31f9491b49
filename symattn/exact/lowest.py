"""Quotients of sums in lowest terms, and the least common multiple of two denominators.

A gcd of exponential polynomials costs their degree and not their number of terms: e^100 − 1 has two terms and a hundred
divisors' worth of work.  So values are not reduced while they are worked with, and this module looks for common factors
only up to a stated size: where all exponents are whole multiples of one number, from 0 to `LARGEST_DEGREE` after the
smallest is taken out, and no coefficient is longer than `LONGEST_COEFFICIENT`.  What every number gets, however large
it is: no common rational factor above and below, no e^a and no √r that all terms below share.

The gcd itself is the heuristic one of Char, Geddes and Gonnet (*GCDHEU*, 1989): both polynomials are evaluated at a
large integer, and the gcd of the two integers is read as a polynomial again.  Whatever it finds is divided by, which
proves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import chain
from math import gcd, isqrt, lcm
from operator import sub
from typing import NamedTuple

from symattn.exact.intervals import enclose
from symattn.exact.upward import upward
from symattn.exact.values import (
    Exponent,
    ExpSum,
    Finite,
    Key,
    Quotient,
    Radicand,
    Rational,
    add_exponents,
    coefficients,
    exponent_of,
    negated,
    of_exponent,
    terms_of,
    tidy,
)

LARGEST_DEGREE = 64
LONGEST_COEFFICIENT = 128  # bits
ATTEMPTS = 6
DIGITS = 25

Terms = tuple[tuple[Key, Rational], ...]
"""Those of a sum, in their order."""

Roots = tuple[int, tuple[Radicand, ...]]
"""(r, (R, …)): √r·√R…"""

Vector = tuple[int, ...]
Polynomial = list[int]
"""Coefficients of 1, t, t² …, without a common factor; the first and the last are not 0."""


class Factored(NamedTuple):
    """Σ c·e^a, of a sum the terms that have the same roots: `content`·e^`least`·(a polynomial)."""

    content: Rational
    least: Exponent
    polynomial: Polynomial


def lowest(v: Finite) -> Finite:
    """The same number with nothing to be cancelled, up to the size that is stated above.

    >>> from symattn.exact.values import divide, exponential
    >>> e = exponential(1)
    >>> lowest(divide(18 * e, 2 + 4 * e + 2 * e * e)), lowest(divide(1 - e * e, 1 + e))
    (9·e/(2·e + 1 + e^2), 1 - e)
    """
    if not isinstance(v, Quotient):
        return v
    if v.lowest is None:
        terms = tuple(terms_of(v.numerator).items()), tuple(v.denominator.terms.items())
        towers = any(roots for sums in terms for (_, _, roots), _ in sums)
        v.lowest = _lowest(*terms) if towers else _known(*terms)
    return v.lowest


def _lowest(numerator: Terms, denominator: Terms) -> Finite:
    above, below = _without_common_roots(dict(numerator), dict(denominator))
    groups = [_by_roots(above), _by_roots(below)]
    parts = _parts([sums for group in groups for sums in group.values()])
    if parts is not None and len(groups[1]) == 1:
        polynomials, step = parts
        common = reduce(polynomial_gcd, (part.polynomial for part in polynomials))
        if len(common) > 1:
            keys = [roots for group in groups for roots in group]
            terms = [
                {(a, *roots): c for a, c in _terms(part, _quotient(part.polynomial, common) or [], step)}
                for roots, part in zip(keys, polynomials, strict=True)
            ]
            above, below = {key: c for sums in terms[:-1] for key, c in sums.items()}, terms[-1]
    return Quotient.of(*_without_content(above, below))


_known = lru_cache(maxsize=4096)(_lowest)
"""The weights of siblings are the same numbers.  As text, terms keep their order, in which sums below roots are equal
all the same: these are left out."""


@lru_cache(maxsize=4096)
def cofactors(a: ExpSum, b: ExpSum) -> tuple[Rational | ExpSum, Rational | ExpSum]:
    """(p, q) with a·p = b·q, a common multiple of a and b, the least one up to the size that is stated above."""
    groups = [_by_roots(a.terms), _by_roots(b.terms)]
    if len(groups[0]) > 1 or len(groups[1]) > 1:
        return b, a
    ((one,), (other,)) = groups
    parts = _parts([groups[0][one], groups[1][other]])
    if parts is None:
        return b, a
    (first, second), step = parts
    common = polynomial_gcd(first.polynomial, second.polynomial)
    over = (
        Factored(1, (), []),
        Factored(tidy(Fraction(first.content) / second.content), less(first.least, second.least), []),
    )
    results = []
    for part, rest, own, theirs in ((over[0], second, one, other), (over[1], first, other, one)):
        polynomial = _quotient(rest.polynomial, common) or rest.polynomial
        sums = ExpSum.of({(exponent, 1, ()): c for exponent, c in _terms(part, polynomial, step)})
        missing = tuple(R for R in theirs[1] if R not in own[1])
        if theirs[0] != own[0] or missing:
            sums = sums * ExpSum.of({((), theirs[0] if theirs[0] != own[0] else 1, missing): 1})
        results.append(sums)
    return results[0], results[1]


upward.cofactors, upward.lowest = cofactors, lowest


# ------------------------------------------------------------------------------------ roots, contents and units


def _without_common_roots(
    above: Mapping[Key, Rational], below: Mapping[Key, Rational]
) -> tuple[Mapping[Key, Rational], Mapping[Key, Rational]]:
    """Without the roots that all terms above and below share; √r that all terms below have as √r/r above."""
    shared = set.intersection(*(set(roots) for terms in (above, below) for _, _, roots in terms))
    if shared:
        above, below = (
            {(a, r, tuple(R for R in roots if R not in shared)): c for (a, r, roots), c in terms.items()}
            for terms in (above, below)
        )
    radicands = {r for _, r, _ in below}
    if len(radicands) == 1 and (r := radicands.pop()) != 1:
        above = terms_of(ExpSum.of(above) * ExpSum.of({((), r, ()): Fraction(1, r)}))
        below = {(a, 1, roots): c for (a, _, roots), c in below.items()}
    return above, below


def _without_content(
    above: Mapping[Key, Rational], below: Mapping[Key, Rational]
) -> tuple[Rational | ExpSum, Rational | ExpSum]:
    """Above and below with whole coefficients that have nothing in common, with 0 as the smallest exponent below, and
    there without a minus before the largest."""
    contents = [Fraction(_content(terms.values())) for terms in (above, below)]
    factor = contents[1] / contents[0]
    scales = [tidy(factor.denominator / contents[0]), tidy(factor.numerator / contents[1])]
    if below[max(below, key=lambda key: by_size(key[0]))] < 0:
        scales = [-scale for scale in scales]
    least = min((a for a, _, _ in below), key=by_size)
    if not least and scales == [1, 1]:
        return ExpSum.of(dict(above)), ExpSum.of(dict(below))
    numerator, denominator = (
        ExpSum.of({(less(a, least), r, roots): c * scale for (a, r, roots), c in terms.items()})
        for terms, scale in zip((above, below), scales, strict=True)
    )
    return numerator, denominator


def _by_roots(terms: Mapping[Key, Rational]) -> dict[Roots, dict[Exponent, Rational]]:
    groups: dict[Roots, dict[Exponent, Rational]] = {}
    for (a, r, roots), c in terms.items():
        groups.setdefault((r, roots), {})[a] = c
    return groups


def _content(coefficients: Iterable[Rational]) -> Rational:
    """The largest positive rational of which all are whole multiples."""
    known = list(coefficients)
    below = lcm(*(c.denominator for c in known))
    if below == 1:
        return gcd(*map(int, known))
    return tidy(Fraction(gcd(*(c.numerator * (below // c.denominator) for c in known)), below))


def less(a: Exponent, b: Exponent) -> Exponent:
    """a − b."""
    return add_exponents(a, negated(b))


@lru_cache(maxsize=4096)
def by_size(a: Exponent) -> Rational | Decimal:
    """A sort key: the exponent itself, or a decimal that is near enough to put different ones in order."""
    if not a or (len(a) == 1 and a[0][0] == 1):
        return coefficients(a).get(1, 0)
    return enclose(of_exponent(a), DIGITS).low


# ------------------------------------------------------------------------------------ sums as polynomials


def _parts(sums: Sequence[Mapping[Exponent, Rational]]) -> tuple[list[Factored], Exponent] | None:
    """The sums as polynomials in one t = e^step; None if there is no such t, or they are too large."""
    if sum(map(len, sums)) > len(sums) * (LARGEST_DEGREE + 1):
        return None
    radicands = sorted({r for terms in sums for a in terms for r, _, _ in a})
    below = lcm(*(q for terms in sums for a in terms for _, _, q in a))
    differences = [_differences([_vector(a, radicands, below) for a in terms]) for terms in sums]
    direction = next((x for of_sum in differences for x in of_sum if any(x)), None)
    if direction is None:
        return [Factored(c, a, [1]) for terms in sums for a, c in terms.items()], ()
    pivot = next(k for k, x in enumerate(direction) if x)  # exponents are whole multiples of what they differ by there
    for x in chain.from_iterable(differences):
        if any(own * direction[pivot] != other * x[pivot] for own, other in zip(x, direction, strict=True)):
            return None
    places = [[x[pivot] for x in of_sum] for of_sum in differences]
    unit = gcd(*chain.from_iterable(places))
    parts = [_polynomial(terms, of_sum, unit) for terms, of_sum in zip(sums, places, strict=True)]
    step = {r: Fraction(x * unit, below * direction[pivot]) for r, x in zip(radicands, direction, strict=True)}
    factored = [part for part in parts if part is not None]
    return (factored, exponent_of(step)) if len(factored) == len(parts) else None


def _differences(vectors: Sequence[Vector]) -> list[Vector]:
    """How far each vector is from the first."""
    return [tuple(map(sub, vector, vectors[0])) for vector in vectors]


def _polynomial(terms: Mapping[Exponent, Rational], places: Sequence[int], unit: int) -> Factored | None:
    """A sum whose exponents stand at these places, as a polynomial in e^unit; None if it is too large."""
    least = min(places)
    degree = (max(places) - least) // unit
    if degree > LARGEST_DEGREE:
        return None
    content, coefficients = _content(terms.values()), [0] * (degree + 1)
    for coefficient, place in zip(terms.values(), places, strict=True):
        coefficients[(place - least) // unit] = _over(coefficient, content)
    if max(map(abs, coefficients)).bit_length() > LONGEST_COEFFICIENT:
        return None
    return Factored(content, [*terms][places.index(least)], coefficients)


def _vector(a: Exponent, radicands: Sequence[int], below: int) -> Vector:
    """The coefficients of the radicands in an exponent, all over one denominator."""
    known = {r: p * (below // q) for r, p, q in a}
    return tuple(known.get(r, 0) for r in radicands)


def _over(a: Rational, b: Rational) -> int:
    """a/b where that is whole."""
    return (a.numerator * b.denominator) // (a.denominator * b.numerator)


def _terms(part: Factored, polynomial: Polynomial, step: Exponent) -> Iterable[tuple[Exponent, Rational]]:
    """content·e^least·(the polynomial), term by term."""
    for k, c in enumerate(polynomial):
        if c:
            yield add_exponents(part.least, _times(step, k)), part.content * c


def _times(a: Exponent, q: Rational) -> Exponent:
    return exponent_of({r: c * q for r, c in coefficients(a).items()})


# ------------------------------------------------------------------------------------ polynomials


def polynomial_gcd(f: Polynomial, g: Polynomial) -> Polynomial:
    """The greatest common divisor, or 1 if it is not found."""
    if len(f) == 1 or len(g) == 1:
        return [1]
    x = 2 * min(max(map(abs, f)), max(map(abs, g))) + 29
    for _ in range(ATTEMPTS):
        common = _digits(gcd(_at(f, x), _at(g, x)), x)
        while common and not common[0]:
            del common[0]
        content = gcd(*common) * (1 if common and common[-1] > 0 else -1)
        common = [c // content for c in common]
        if common and _quotient(f, common) and _quotient(g, common):
            return common
        x = 73794 * x * isqrt(isqrt(x)) // 27011
    return [1]


def _at(f: Polynomial, x: int) -> int:
    return reduce(lambda value, c: value * x + c, reversed(f), 0)


def _digits(n: int, x: int) -> Polynomial:
    """The polynomial with coefficients between −x/2 and x/2 that is n at x."""
    coefficients = []
    while n:
        c = n % x
        c -= x if 2 * c > x else 0
        coefficients.append(c)
        n = (n - c) // x
    return coefficients


def _quotient(f: Polynomial, g: Polynomial) -> Polynomial | None:
    """f/g if that is a polynomial with whole coefficients."""
    rest, quotient = list(f), [0] * max(0, len(f) - len(g) + 1)
    for k in reversed(range(len(quotient))):
        c, over = divmod(rest[k + len(g) - 1], g[-1])
        if over:
            return None
        quotient[k] = c
        for i, d in enumerate(g):
            rest[k + i] -= c * d
    return quotient if quotient and not any(rest) else None
