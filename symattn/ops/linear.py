"""Linear algebra: products, sums, scaling, stacking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Literal

from symattn.derivation import Index, Op, Shape, Style, View
from symattn.errors import ShapeError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Real, Size, Value, divide
from symattn.exact.real import dot
from symattn.formula import (
    BigSum,
    Call,
    Dots,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Product,
    Scope,
    Sum,
    Transposed,
    number,
    read_formula,
)


@dataclass(frozen=True)
class MatMul(Op):
    """The matrix product A B."""

    arity = 2
    title = "Matrix product"

    def shape(self, *shapes: Shape) -> Shape:
        (rows, inner), (other, columns) = shapes
        if inner != other:
            raise ShapeError("the columns of the first must match the rows of the second;")
        return rows, columns

    def apply(self, *operands: Matrix) -> Matrix:
        a, b = operands
        columns = tuple(zip(*b.rows, strict=True))
        return Matrix.of([_dot(row, column) for column in columns] for row in a.rows)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        a, b = operands
        inner = a.shape[1]
        if isinstance(inner, str) or a.long or b.long:
            product = Product((a.entry(i, "k"), b.entry("k", j)))
            return sum_over(inner, product, a.first)
        return Sum(tuple(Product((a.entry(i, k), b.entry(k, j)), "·") for k in range(inner)))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product(operands, style.product)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Transpose(Op):
    """Aᵀ as a step of its own."""

    title = "Transpose"

    def shape(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        return columns, rows

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].T

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return operands[0].entry(j, i)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Transposed(operands[0])


@dataclass(frozen=True)
class Add(Op):
    """A + B entry by entry; a matrix of one row is added to every row (a bias), one column to every column."""

    arity = 2
    title = "Sum"

    def shape(self, *shapes: Shape) -> Shape:
        return _broadcast("a sum needs equal shapes, or one row or column to be added to all;", *shapes)

    def apply(self, *operands: Matrix) -> Matrix:
        return _entrywise(lambda a, b: a + b, *operands)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return Sum(tuple(_stretched(view, i, j) for view in operands))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum(operands)


@dataclass(frozen=True)
class Hadamard(Op):
    """A ⊙ B, entry by entry; a single column (or row) is stretched over the other's columns (rows)."""

    arity = 2
    title = "Entry-by-entry product"

    def shape(self, *shapes: Shape) -> Shape:
        return _broadcast("an entry-by-entry product needs equal shapes, or one row or column to stretch;", *shapes)

    def apply(self, *operands: Matrix) -> Matrix:
        return _entrywise(mul, *operands)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return Product(tuple(_stretched(view, i, j) for view in operands), "·")

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product(operands, "⊙")


@dataclass(frozen=True)
class SumOver(Op):
    """The sum of all rows (one row is left), or of all columns (one column is left)."""

    over: Literal["rows", "columns"] = "rows"
    title = "Sum"

    def shape(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        return (1, columns) if self.over == "rows" else (rows, 1)

    def apply(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        if self.over == "columns":
            return SumOver("rows").apply(a.T).T
        return Matrix.of([[_total(column) for column in zip(*a.rows, strict=True)]])

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        (a,) = operands
        size = a.shape[0] if self.over == "rows" else a.shape[1]
        if isinstance(size, str) or a.long:
            body = a.entry("k", j) if self.over == "rows" else a.entry(i, "k")
            return sum_over(size, body, a.first)
        return Sum(tuple(a.entry(k, j) if self.over == "rows" else a.entry(i, k) for k in range(size)))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("Sum"), (operands[0],))


@dataclass(frozen=True)
class Scale(Op):
    """A divided by one number.

    `of` says in the formula language what the number is (`sqrt(d_k)`); empty, the number itself is written.
    """

    divisor: Value
    of: str = ""
    title = "Scale"

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].map(lambda x: divide(x, self.divisor))

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return Fraction(operands[0].entry(i, j), number(self.divisor))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Fraction(operands[0], self.symbol(style))

    def symbol(self, style: Style) -> Formula:
        """The divisor by name: √d_k."""
        return read_formula(self.of, Scope(names=style.letters)) if self.of else number(self.divisor)


@dataclass(frozen=True)
class Stack(Op):
    """Matrices one above the other (rows z_1, z_2, … become Z), or side by side along columns."""

    along: Literal["rows", "columns"] = "rows"
    arity = -1
    title = "Stack"

    def shape(self, *shapes: Shape) -> Shape:
        if self.along == "columns":
            return Stack().shape(*(s[::-1] for s in shapes))[::-1]
        widths = {columns for _, columns in shapes}
        if len(widths) != 1:
            raise ShapeError("matrices that are put together must be equally long along their common edge;")
        heights = [rows for rows, _ in shapes]
        if all(isinstance(h, int) for h in heights):
            return sum(h for h in heights if isinstance(h, int)), widths.pop()
        return "+".join(map(str, heights)), widths.pop()

    def apply(self, *operands: Matrix) -> Matrix:
        if self.along == "columns":
            return Stack().apply(*(m.T for m in operands)).T
        return Matrix.of(row for matrix in operands for row in matrix.rows)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        rows = self.along == "rows"
        position = i if rows else j
        for view in operands:
            height = view.shape[0 if rows else 1]
            if isinstance(position, str) or isinstance(height, str):
                break
            if position < height:
                return view.entry(position, j) if rows else view.entry(i, position)
            position -= height
        return Dots()

    def written(self, style: Style, *operands: Formula) -> Formula:
        return MatrixOf((operands,) if self.along == "columns" else tuple((operand,) for operand in operands))


def size_formula(size: Size) -> Formula:
    """A size as it is written: a number, or its letter."""
    return Number(str(size)) if isinstance(size, int) else read_formula(size)


def sum_over(size: Size, body: Formula, first: int) -> Formula:
    """Σ over k of so many terms, counted from `first`."""
    last: Formula = size_formula(size)
    if first == 0:
        last = Number(str(size - 1)) if isinstance(size, int) else Sum((last, Negative(Number("1"))))
    return BigSum(Name("k"), Number(str(first)), last, body)


def _dot(row: Sequence[Value], column: Sequence[Value]) -> Value:
    factors = (*row, *column)
    if any(isinstance(x, Real) for x in factors) and not any(x is NEGATIVE_INFINITY for x in factors):
        return dot(row, column)
    return _total(list(map(mul, row, column)))


def _total(terms: Sequence[Value]) -> Value:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _broadcast(rule: str, first: Shape, second: Shape) -> Shape:
    sizes = []
    for a, b in zip(first, second, strict=True):
        if a != b and 1 not in (a, b):
            raise ShapeError(rule)
        sizes.append(b if a == 1 else a)
    return sizes[0], sizes[1]


def _entrywise(combine: object, a: Matrix, b: Matrix) -> Matrix:
    rows, columns = _broadcast("", a.shape, b.shape)
    assert callable(combine) and isinstance(rows, int) and isinstance(columns, int)

    def entry(m: Matrix, i: int, j: int) -> Value:
        return m[i if m.shape[0] > 1 else 0, j if m.shape[1] > 1 else 0]

    return Matrix.of([combine(entry(a, i, j), entry(b, i, j)) for j in range(columns)] for i in range(rows))


def _stretched(view: View, i: Index, j: Index) -> Formula:
    return view.entry(0 if view.shape[0] == 1 else i, 0 if view.shape[1] == 1 else j)


__all__ = ["Add", "Hadamard", "MatMul", "Scale", "Stack", "SumOver", "Transpose", "size_formula", "sum_over"]
