"""Softmax rows with small exact weights (rules.md 4.3): which integers they can be, and which give finite decimals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from math import gcd


@dataclass(frozen=True, slots=True)
class RowPattern:
    """A row of weights up to order: integers without a common factor, smallest first, over their sum D."""

    weights: tuple[int, ...]

    @property
    def D(self) -> int:  # noqa: N802  (the name that the tables give it)
        return sum(self.weights)

    @property
    def terminating(self) -> bool:
        """Whether every weight is a finite decimal."""
        return divides_a_power_of_ten(self.D)

    def __str__(self) -> str:
        return f"{':'.join(map(str, self.weights))} /{self.D}"


def divides_a_power_of_ten(D: int) -> bool:
    for prime in (2, 5):
        while D % prime == 0:
            D //= prime
    return D == 1


@cache
def row_patterns(n: int, base: int, reach: int, terminating: bool = False) -> tuple[RowPattern, ...]:
    """The rows of n weights base^k whose scores are integers at most `reach` apart, by D; uniform rows left out.

    >>> [str(p) for p in row_patterns(3, 2, 3, terminating=True)]
    ['1:1:2 /4', '1:2:2 /5', '1:1:8 /10']
    """
    return _patterns(n, [base**k for k in range(reach + 1)], terminating)


@cache
def mixed_patterns(n: int, most: int = 20, terminating: bool = True) -> tuple[RowPattern, ...]:
    """The rows of n weights 2^a·3^b with a ≤ 3, b ≤ 2 and D ≤ `most`: from features in ln 2 and ln 3."""
    powers = sorted(2**a * 3**b for a, b in product(range(4), range(3)))
    return tuple(p for p in _patterns(n, powers, terminating) if sum(p.weights) <= most)


def _patterns(n: int, powers: Iterable[int], terminating: bool) -> tuple[RowPattern, ...]:
    found = {RowPattern(weights): None for weights in _reduced(n, powers) if weights[0] != weights[-1]}
    kept = (p for p in found if p.terminating or not terminating)
    return tuple(sorted(kept, key=lambda p: (p.D, p.weights)))


def _reduced(n: int, powers: Iterable[int]) -> Iterator[tuple[int, ...]]:
    for weights in combinations_with_replacement(powers, n):
        common = gcd(*weights)
        yield tuple(w // common for w in weights)
