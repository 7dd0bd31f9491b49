"""What gradients through time are made of: the slopes of a network's function, and how large a matrix is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from symattn.derivation.algebra import Algebra, Entries, Index, T, sum_over
from symattn.derivation.derivation import Convention, Floats, RuleOp, Shape, Signs, Step, Style, View, convention
from symattn.derivation.numpy_source import by_line, over_all
from symattn.derivation.ops.entrywise import SLOPES
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import Box, each
from symattn.derivation.witnesses import entrywise
from symattn.errors import LetterError
from symattn.exact import Matrix, Value, has_symbols, sign
from symattn.formula import (
    ZERO,
    Bracketed,
    Call,
    Formula,
    Name,
    Relation,
    Sum,
)

Sloped = Literal["tanh", "sigmoid", "relu"]


@dataclass(frozen=True)
class Slope(RuleOp):
    """f′(a) from h = f(a), for a function whose derivative is known from its value.

    tanh: 1 − h²;  sigmoid: h·(1 − h);  ReLU: 1 where h > 0, else 0, also at a = 0, where it has no derivative and
    programs take 0 (Goodfellow et al. 2016, section 6.3).
    """

    function: Sloped
    title = "Slopes"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        h = operands[0][i, j]
        return A.apply("positive", h) if self.function == "relu" else A.known(SLOPES[self.function], h)

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(SLOPES[self.function].witness, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        (h,) = operands
        return _whether_positive(h) if self.function == "relu" else SLOPES[self.function].written(h)

    def numpy(self, *operands: str) -> str:
        return _NUMPY[self.function].format(*operands)

    def range(self, *boxes: Box) -> Box | None:
        slope = SLOPES[self.function].window
        return each(slope, *boxes) if slope else None

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if self.function != "relu":
            return []
        return [convention("A condition in square brackets is 1 where it is true and 0 where it is false.")]


_NUMPY: Mapping[Sloped, str] = {
    "tanh": "1 - {0}**2",
    "sigmoid": SLOPES["sigmoid"].numpy,
    "relu": "np.where({0} > 0, 1, 0)",
}


def _whether_positive(h: Formula) -> Formula:
    """[h > 0]: 1 if that is true, else 0 (Iverson's bracket)."""
    return Bracketed(Relation((h, ZERO), (">",)), "[")


@dataclass(frozen=True)
class InfinityNorm(LineRuleOp):
    """‖A‖∞ as a 1 × 1 matrix: the largest sum of the sizes of the entries of a row.

    It is at most the product of those of the factors of A, as every norm that an operator has, and needs no root.
    `along` says what is summed: rows, or columns where everything is transposed.
    """

    along: Axis = "rows"
    title = "Matrix norm"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return 1, 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        return Matrix.of([[_largest([_size_of(row) for row in a.rows])]])

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (a,) = operands
        if isinstance(a.rows.size, str):
            raise LetterError(f"The norm is the largest of several sums, so that {a.rows.size} must be a number.")
        sums = [A.total(a.columns, lambda k, i=i: A.apply("abs", a[i, k])) for i in a.rows.counted]  # type: ignore[misc]
        return A.maximum(*sums)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        (a,) = operands
        rows, columns = a.shape
        if isinstance(rows, str) or isinstance(columns, str):  # the largest of Σ |a_ik|, whichever row i that is
            return Call(Name("max", (Name("i"),)), (sum_over(columns, Bracketed(a.entry("i", "k"), "|"), a.first),))
        sums = (Sum(tuple(Bracketed(a.entry(i, j), "|") for j in range(columns))) for i in range(rows))
        return Call(Name("max"), tuple(sums))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [[max(math.fsum(map(abs, row)) for row in operands[0])]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("norm"), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.abs({operands[0]}).sum({by_line(self.along)}).max({over_all(self.along)})"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        by_rows, by_columns = (
            "The norm is the largest sum of absolute values in a row.",
            "The norm is the largest sum of absolute values in a column.",
        )
        return [convention(by_rows if self.along == "rows" else by_columns)]


def _size_of(line: Sequence[Value]) -> Value:
    """The sum of the sizes of a line's entries."""
    total: Value = 0
    for x in line:
        if has_symbols(x):
            import sympy

            total = total + sympy.Abs(x)
        else:
            total = total + (-x if sign(x) < 0 else x)
    return total


def _largest(sizes: Sequence[Value]) -> Value:
    if any(map(has_symbols, sizes)):
        import sympy

        return sympy.Max(*sizes)
    largest = sizes[0]
    for size in sizes[1:]:
        if sign(size - largest) > 0:
            largest = size
    return largest


OPS = {"slope": Slope, "norm": InfinityNorm}
