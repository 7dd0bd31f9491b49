"""How much a layer costs, counted and not quoted: weights, multiply-adds, scores, the cache of keys and values.

Every size may be a whole number or a SymPy symbol, so the same line gives a number or a polynomial.  A multiply-add is
one operation (two FLOPs): the product of an a × b and a b × c matrix takes a·b·c of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Count = Any
"""An int, or a SymPy polynomial: what both have in common is + and ·."""


def product(a: Count, b: Count, c: Count) -> Count:
    """Multiply-adds of an a × b times a b × c matrix: b for each of the a·c entries."""
    return a * b * c


@dataclass(frozen=True)
class Attention:
    """Multi-head self-attention over n tokens of width d = h·width (Vaswani et al. 2017, section 3.2.2).

    `shared` is the number of key and value heads: h in multi-head attention, 1 in multi-query (Shazeer 2019), between
    them in grouped-query attention (Ainslie et al. 2023).  With no n, what depends on it is not asked for.
    """

    d: Count
    h: Count
    width: Count
    n: Count = 0
    shared: Count | None = None
    bias: bool = False
    output: bool = True

    @property
    def key_width(self) -> Count:
        """All keys (or values) of one token next to one another."""
        return (self.h if self.shared is None else self.shared) * self.width

    @property
    def projections(self) -> tuple[tuple[Count, Count], ...]:
        """The shapes of W_Q, W_K, W_V and, if there is one, W_O."""
        heads = self.h * self.width
        inward = ((self.d, heads), (self.d, self.key_width), (self.d, self.key_width))
        return (*inward, (heads, self.d)) if self.output else inward

    @property
    def parameters(self) -> Count:
        return sum(rows * columns + (columns if self.bias else 0) for rows, columns in self.projections)

    @property
    def projecting(self) -> Count:
        """Multiply-adds of all products with weights."""
        return sum(product(self.n, rows, columns) for rows, columns in self.projections)

    @property
    def scoring(self) -> Count:
        """Multiply-adds of Q Kᵀ, all heads together."""
        return self.h * product(self.n, self.width, self.n)

    @property
    def mixing(self) -> Count:
        """Multiply-adds of A V, all heads together."""
        return self.h * product(self.n, self.n, self.width)

    @property
    def operations(self) -> Count:
        return self.projecting + self.scoring + self.mixing

    @property
    def scores(self) -> Count:
        """Entries of the score matrices of all heads."""
        return self.h * self.n * self.n

    def cache(self, layers: Count) -> Count:
        """Numbers kept for keys and values of n tokens."""
        return 2 * layers * self.n * self.key_width


__all__ = ["Attention", "Count", "product"]
