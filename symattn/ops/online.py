"""Softmax block by block (Milakov and Gimelshein 2018, section 3), as kernels do it (Dao et al. 2022, section 3.1).

Every row keeps the greatest score m so far, and sums of e^(s − m); where m grows, the sums so far are multiplied by
e^(m_old − m_new).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from symattn.derivation import Index, Op, Shape, Style, View
from symattn.errors import ShapeError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, exponential, has_symbols, power, to_sympy
from symattn.formula import ZERO, Call, Formula, Name, Negative, Power, Product, Sum, number
from symattn.ops.attention import MINUS_INFINITY, Along

MAXIMUM = Name("max")


@dataclass(frozen=True)
class RunningMaximum(Op):
    """The greatest entry of each row of all the operands together (n×k, n×l, … become n×1), or of each column."""

    along: Along = "rows"
    arity = -1
    title = "Running maximum"

    def shape(self, *shapes: Shape) -> Shape:
        lengths = {shape[0] if self.along == "rows" else shape[1] for shape in shapes}
        if len(lengths) != 1:
            raise ShapeError(f"all need as many {self.along};")
        length = lengths.pop()
        return (length, 1) if self.along == "rows" else (1, length)

    def apply(self, *operands: Matrix) -> Matrix:
        if self.along == "columns":
            return RunningMaximum().apply(*(m.T for m in operands)).T
        lines = zip(*(m.rows for m in operands), strict=True)
        return Matrix.of([_greatest([x for row in rows for x in row])] for rows in lines)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        terms: list[Formula] = []
        for view in operands:
            count = view.shape[1 if self.along == "rows" else 0]
            places: Sequence[Index] = range(count) if isinstance(count, int) else (0, "k")
            terms += (view.entry(i, k) if self.along == "rows" else view.entry(k, j) for k in places)
        return Call(MAXIMUM, tuple(terms))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(MAXIMUM, operands)


@dataclass(frozen=True)
class Exponentials(Op):
    """b^(x − m) for x (n×k) and one m for every row (n×1), or for every column; 0 for a score of −∞."""

    along: Along = "rows"
    base: Value | Literal["e"] = "e"
    arity = 2
    title = "Exponentials"

    def shape(self, *shapes: Shape) -> Shape:
        _one_for_each(self.along, shapes[0], shapes[1])
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        if self.along == "columns":
            return Exponentials("rows", self.base).apply(*(m.T for m in operands)).T
        scores, maxima = operands
        return Matrix.of([self._power(x, m) for x in row] for row, (m,) in zip(scores.rows, maxima.rows, strict=True))

    def _power(self, x: Value, m: Value) -> Value:
        if x is NEGATIVE_INFINITY:
            return 0
        return exponential(x - m) if self.base == "e" else power(self.base, x - m)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        score, maximum = operands[0].entry(i, j), _own(self.along, operands[1], i, j)
        return ZERO if score == MINUS_INFINITY else self._written(Sum((score, Negative(maximum))))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return self._written(Sum((operands[0], Negative(operands[1]))))

    def _written(self, exponent: Formula) -> Formula:
        return Power(Name("e") if self.base == "e" else number(self.base), exponent)


@dataclass(frozen=True)
class Accumulate(Op):
    """α·old + new, every row of the old (n×k) times its own α (n×1), or every column times its own."""

    along: Along = "rows"
    arity = 3
    title = "Running sum"

    def shape(self, *shapes: Shape) -> Shape:
        factors, old, new = shapes
        if old != new:
            raise ShapeError("what is added must be of the shape of the sum so far;")
        _one_for_each(self.along, old, factors)
        return old

    def apply(self, *operands: Matrix) -> Matrix:
        if self.along == "columns":
            return Accumulate().apply(*(m.T for m in operands)).T
        factors, old, new = operands
        return Matrix.of(
            [factor * x + y for x, y in zip(row, more, strict=True)]
            for (factor,), row, more in zip(factors.rows, old.rows, new.rows, strict=True)
        )

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        factors, old, new = operands
        return Sum((Product((_own(self.along, factors, i, j), old.entry(i, j)), "·"), new.entry(i, j)))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((Product(operands[:2], "⊙"), operands[2]))


def _greatest(row: Sequence[Value]) -> Value:
    if any(map(has_symbols, row)):
        import sympy

        return sympy.Max(*map(to_sympy, row))
    return reduce(lambda a, b: a if compare(a, b) >= 0 else b, row)


def _one_for_each(along: Along, shape: Shape, own: Shape) -> None:
    """Refuse numbers that are not one for every row (or column)."""
    if own != ((shape[0], 1) if along == "rows" else (1, shape[1])):
        raise ShapeError(f"every {along[:-1]} needs one number of its own;")


def _own(along: Along, view: View, i: Index, j: Index) -> Formula:
    return view.entry(i, 0) if along == "rows" else view.entry(0, j)


__all__ = ["Accumulate", "Exponentials", "RunningMaximum"]
