"""What formats for other systems share: decimals, and points in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from math import gcd, lcm

from symattn.exact import decimal_text


def decimal(x: Fraction, places: int) -> str:
    """With `places` places at most.

    >>> decimal(Fraction(1, 8), 12), decimal(Fraction(-100, 3), 5), decimal(Fraction(20), 5)
    ('0.125', '-33.33333', '20')
    """
    return f"{float(x):.{places}f}".rstrip("0").rstrip(".")


def exact(x: Fraction) -> str:
    """A number with finitely many decimals, all of them.

    >>> exact(Fraction(-1, 8)), exact(Fraction(3, 10**15)), exact(Fraction(200))
    ('-0.125', '0.000000000000003', '200')
    """
    return decimal_text(x, next(places for places in count() if 10**places % x.denominator == 0))


def in_proportion(points: Sequence[Fraction]) -> list[int]:
    """Whole numbers in proportion to the points, as small as they can be.

    >>> in_proportion([Fraction(1, 4), Fraction(1, 6), Fraction(1, 4)])
    [3, 2, 3]
    """
    whole = [int(x * lcm(*(x.denominator for x in points))) for x in points]
    return [n // gcd(*whole) for n in whole]
