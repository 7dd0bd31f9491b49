"""Sums, dot products and matrix products: like terms are collected in one dictionary.

One addition after the other gives the same number, but copies all that there is already for every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import add, mul

from symattn.exact import real
from symattn.exact.real import Real
from symattn.exact.values import (
    MOST_TERMS,
    UNIT,
    ExpSum,
    Finite,
    Key,
    NegativeInfinity,
    Quotient,
    Rational,
    Terms,
    Value,
    denominator_of,
    divide,
    numerator_of,
    outgrown,
    same,
    terms_of,
    tidy,
)

INTEGERS = frozenset({int})
RATIONALS = frozenset({int, Fraction})
FINITE = RATIONALS | {ExpSum, Quotient}


def total(terms: Sequence[Value]) -> Value:
    """Σ terms; 0 if there are none."""
    kinds = set(map(type, terms))
    if kinds <= INTEGERS:
        return sum(terms)
    if len(terms) < 3 or not kinds <= FINITE:
        return reduce(add, terms)
    collected = Collected()
    for x in terms:
        collected.add(x)  # type: ignore[arg-type]
    return collected.value


def dot(left: Sequence[Value], right: Sequence[Value]) -> Value:
    """Σ left·right of as many numbers each; 0 if there are none."""
    kinds = {*map(type, left), *map(type, right)}
    if kinds <= INTEGERS:
        return sum(map(mul, left, right))
    if kinds <= RATIONALS:
        return _dot_of_rationals(left, right)  # type: ignore[arg-type]
    if not kinds <= FINITE:
        if Real in kinds and NegativeInfinity not in kinds:
            return real.dot(left, right)
        return reduce(add, map(mul, left, right))
    collected = Collected()
    for x, y in zip(left, right, strict=True):
        if type(y) in RATIONALS:
            collected.add(x, y)  # type: ignore[arg-type]
        elif type(x) in RATIONALS:
            collected.add(y, x)  # type: ignore[arg-type]
        else:
            collected.add(x * y)  # type: ignore[arg-type]
    return collected.value


def products(rows: Sequence[Sequence[Value]], columns: Sequence[Sequence[Value]]) -> Iterator[list[Value]]:
    """The rows of a matrix product: each row times all columns."""
    rational = all(RATIONALS.issuperset(map(type, column)) for column in columns)
    for row in rows:
        kinds = set(map(type, row))
        if rational and kinds <= FINITE and not kinds <= RATIONALS:
            yield _combinations(row, columns)  # type: ignore[arg-type]
        else:
            yield [dot(row, column) for column in columns]


def shares(parts: Sequence[Value]) -> list[Value]:
    """Each part over the sum of all; equal parts are the same object."""
    whole = total(parts)
    known: dict[Value, Value] = {}
    quotients = []
    for x in parts:
        if type(x) is not ExpSum:  # a quotient has no hash
            quotients.append(divide(x, whole))
            continue
        if x not in known:
            known[x] = divide(x, whole)
        quotients.append(known[x])
    return quotients


class Collected:
    """A sum as it is added up: terms over one denominator, or over none."""

    def __init__(self) -> None:
        self.terms: Terms = {}
        self.below: ExpSum | None = None

    def add(self, x: Finite, times: Rational = 1) -> None:
        """Add x·times; where denominators differ, what there is so far becomes one quotient."""
        if not times:
            return
        if not self.terms:
            self.below = x.denominator if isinstance(x, Quotient) else None
        elif isinstance(x, Quotient) and (self.below is None or not same(self.below, x.denominator)):
            common = self.value + x * times
            self.terms = dict(terms_of(numerator_of(common)))
            self.below = common.denominator if isinstance(common, Quotient) else None
            return
        if isinstance(x, Quotient):
            x = x.numerator
        elif self.below is not None:
            x = x * self.below
        alone = self.terms.pop(UNIT) if isinstance(x, ExpSum) and self.terms.keys() == {UNIT} else 0
        for key, c in terms_of(x).items():
            _add_term(self.terms, key, c * times)
        if alone:  # see `_unit_second`
            _add_term(self.terms, UNIT, alone)
        if len(self.terms) > MOST_TERMS:
            raise outgrown()

    @property
    def value(self) -> Finite:
        return _value(dict(self.terms), 1 if self.below is None else self.below)


def _add_term(terms: Terms, key: Key, c: Rational) -> None:
    """Add c ≠ 0 times what the key stands for; what cancels is gone."""
    c += terms.get(key, 0)
    if c:
        terms[key] = c
    else:
        del terms[key]


def _value(terms: Terms, below: Rational | ExpSum) -> Finite:
    above = ExpSum.of(terms)
    return Quotient.of(above, below) if isinstance(below, ExpSum) else above


def _combinations(row: Sequence[Finite], columns: Sequence[Sequence[Rational]]) -> list[Value]:
    """A row of irrational numbers times columns of rational ones: what it has in common is looked up once.

    The weights of a softmax are of this kind: one term each, over the denominator that all have.
    """
    seen = [(k, x) for k, x in enumerate(row) if x]
    below = denominator_of(seen[0][1])
    above = [(k, terms_of(numerator_of(x))) for k, x in seen]
    if any(len(terms) > 1 for _, terms in above) or not all(same(denominator_of(x), below) for _, x in seen):
        return [dot(row, column) for column in columns]
    parts = [(k, key, c) for k, terms in above for key, c in terms.items()]
    different = len({key for _, key, _ in parts}) == len(parts)
    values: list[Value] = []
    for column in columns:
        if different:
            collected = {key: c * y for k, key, c in parts if (y := column[k])}
            if UNIT in collected:
                collected = _unit_second(collected)
        else:
            collected = {}
            for k, key, c in parts:
                if y := column[k]:
                    _add_term(collected, key, c * y)
                    if len(collected) == 2:
                        collected = _unit_second(collected)
        values.append(_value(collected, below))
    return values


def _unit_second(terms: Terms) -> Terms:
    """As operators have it, who write e + 1 for 1 + e: a plain number goes after what is added to it."""
    first, *others = terms.items()
    return dict([others[0], first, *others[1:]]) if others and first[0] == UNIT else terms


def _dot_of_rationals(left: Sequence[Rational], right: Sequence[Rational]) -> Rational:
    """Over one denominator, so that one fraction is reduced and not one for each term."""
    over = [x.denominator * y.denominator for x, y in zip(left, right, strict=True)]
    below = lcm(*over)
    above = sum(x.numerator * y.numerator * (below // o) for x, y, o in zip(left, right, over, strict=True))
    return tidy(Fraction(above, below))
