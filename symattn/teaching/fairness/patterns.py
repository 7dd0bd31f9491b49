"""Softmax rows with small exact weights (rules.md 4.3): which integers they can be, and which give finite decimals.

A pattern is a row up to order: integers without a common factor, smallest first, which are weights over their sum D.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, product
from math import gcd

Pattern = tuple[int, ...]


def row_patterns(n: int, base: int, reach: int, terminating: bool = False) -> tuple[Pattern, ...]:
    """The rows of n weights base^k whose scores are integers at most `reach` apart, by D; uniform rows left out.

    >>> row_patterns(3, 2, 3, terminating=True)
    ((1, 1, 2), (1, 2, 2), (1, 1, 8))
    """
    return _patterns(n, tuple(base**k for k in range(reach + 1)), terminating)


def mixed_patterns(n: int, most: int = 20, terminating: bool = True) -> tuple[Pattern, ...]:
    """The rows of n weights 2^a·3^b with a ≤ 3, b ≤ 2 and D ≤ `most`: from features in ln 2 and ln 3."""
    powers = tuple(sorted(2**a * 3**b for a, b in product(range(4), range(3))))
    return tuple(pattern for pattern in _patterns(n, powers, terminating) if sum(pattern) <= most)


@cache
def _patterns(n: int, powers: tuple[int, ...], terminating: bool) -> tuple[Pattern, ...]:
    uneven = (weights for weights in combinations_with_replacement(powers, n) if weights[0] != weights[-1])
    found = {tuple(w // gcd(*weights) for w in weights) for weights in uneven}
    kept = (pattern for pattern in found if not terminating or divides_a_power_of_ten(sum(pattern)))
    return tuple(sorted(kept, key=lambda pattern: (sum(pattern), pattern)))


def divides_a_power_of_ten(D: int) -> bool:
    for prime in (2, 5):
        while D % prime == 0:
            D //= prime
    return D == 1
