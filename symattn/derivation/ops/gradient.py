"""What the gradient of a matrix is put together of, where the forward pass used it several times or in parts.

Gradients through time take the slopes of a network's function, and ask how large a matrix is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from symattn.derivation.algebra import Algebra, Entries, Index, Positive, T, sum_over
from symattn.derivation.derivation import (
    Convention,
    Floats,
    InSympy,
    Lines,
    Pull,
    RuleOp,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    alike,
    convention,
)
from symattn.derivation.numpy_source import by_line, factor, over_all
from symattn.derivation.ops.entrywise import SLOPES
from symattn.derivation.ops.linear import Multiple, Stack, product_in_sympy, sum_in_sympy
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.sizes import Axis, times
from symattn.derivation.windows import Box, each
from symattn.derivation.witnesses import as_float, entrywise
from symattn.errors import LetterError, ShapeError
from symattn.exact import Matrix, Value, has_symbols, sign, to_sympy
from symattn.formula import (
    ZERO,
    Bracketed,
    Call,
    Formula,
    MatrixOf,
    Name,
    Negative,
    Product,
    Relation,
    Sum,
    equal,
)


@dataclass(frozen=True)
class Total(RuleOp):
    """A + B + …, matrices of one shape: a matrix that is used several times gets a gradient from each of its uses."""

    arity = -1
    title = "Sum"
    by_hand = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.sum(*(m[i, j] for m in operands))

    def whole(self, *operands: InSympy) -> InSympy:
        return sum_in_sympy(*operands)

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda *terms: math.fsum(terms), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum(operands)

    def numpy(self, *operands: str) -> str:
        return " + ".join(operands)


@dataclass(frozen=True)
class PutTogether(Stack):
    """A `Stack` of gradients that have been worked out: the forward pass took the matrix apart."""

    trivial = True


@dataclass(frozen=True)
class Interleave(LineRuleOp):
    """Matrices of one shape whose columns (or rows) are dealt out in turn: the first of each, the second of each, …

    It puts together what interleaved heads took apart (`Slice` with a step).
    """

    along: Axis = "columns"
    arity = -1
    title = "Columns taken in turn"
    trivial = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        rows, columns = alike(*shapes)
        return times(len(shapes), rows), columns

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.in_turn(i, len(operands), lambda p, k: operands[p][k, j])

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [row for rows in zip(*operands, strict=True) for row in rows]

    def written(self, style: Style, *operands: Formula) -> Formula:
        cells = (operands,) if self.along == "columns" else tuple((operand,) for operand in operands)
        return Call(Name("interleaved"), (MatrixOf(cells),))

    def numpy(self, *operands: str) -> str:
        by_columns = self.along == "columns"
        shape = f"len({operands[0]}), -1" if by_columns else f"-1, {operands[0]}.shape[1]"
        return f"np.stack([{', '.join(operands)}], axis={2 if by_columns else 1}).reshape({shape})"


@dataclass(frozen=True)
class Padded(LineRuleOp):
    """Columns (or rows) at the places of `part` among `size` of them, and 0 elsewhere, where nothing was used."""

    part: Lines
    size: int
    title = "Padded with zeros"
    trivial = True

    @property
    def turned(self) -> bool:
        return self.part.of == "columns"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if rows != self.part.count:
            raise ShapeError(f"{self.part.count} {self.part.of} were expected;")
        return self.size, columns

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (x,) = operands
        if isinstance(i, str):
            return A.dots()
        return x[self.part.indices.index(i), j] if i in self.part.indices else A.number(0)

    def turn(self) -> Self:
        return replace(self, part=self.part.turn())

    def witness_of_rows(self, *operands: Floats) -> Floats:
        used, nothing = dict(zip(self.part.indices, operands[0], strict=True)), [0.0] * len(operands[0][0])
        return [used.get(i, nothing) for i in range(self.size)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("padded"), operands)

    def numpy(self, *operands: str) -> str:
        places = f"np.eye({self.size})[{self.part.slice}]"
        return f"{operands[0]} @ {places}" if self.part.of == "columns" else f"{places}.T @ {operands[0]}"


@dataclass(frozen=True)
class Copy(RuleOp):
    """The same matrix under another name: the gradient of what was only added is that of the sum."""

    title = "The same"
    trivial = True
    in_numpy = "{0}"

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0][i, j]

    def whole(self, *operands: InSympy) -> InSympy:
        return operands[0]

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,))

    def witness(self, *operands: Floats) -> Floats:
        return operands[0]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return operands[0]


@dataclass(frozen=True)
class Descent(RuleOp):
    """W − η·dW: weights after one step of gradient descent with the learning rate η.

    Goodfellow, Bengio and Courville 2016, section 4.3, equation 4.5, where the rate is ε.
    """

    rate: Positive
    arity = 2
    title = "Gradient descent"
    by_hand = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        w, g = operands
        return A.minus(w[i, j], A.product(A.number(self.rate), g[i, j]))

    def whole(self, *operands: InSympy) -> InSympy:
        w, g = operands
        return sum_in_sympy(w, product_in_sympy(-to_sympy(self.rate), g))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,)) if use.k == 0 else Pull((use.g,), Multiple(-self.rate))

    def witness(self, *operands: Floats) -> Floats:
        rate = as_float(self.rate)
        return entrywise(lambda w, g: w - rate * g, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        w, g = operands
        return Sum((w, Negative(Product((Name("η"), g)))))

    def numpy(self, *operands: str) -> str:
        w, g = operands
        return f"{w} - {factor(self.rate)} * {g}"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        rate = equal(Name("η"), signs.number(self.rate))
        return [convention("Gradient descent takes one step with the learning rate {rate}.", rate=rate)]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("{rate}", rate=equal(Name("η"), signs.number(self.rate)))]


# ------------------------------------------------------------------------------------ gradients through time


Sloped = Literal["tanh", "sigmoid", "relu"]


@dataclass(frozen=True)
class Slope(RuleOp):
    """f′(a) from h = f(a), for a function whose derivative is known from its value.

    tanh: 1 − h²;  sigmoid: h·(1 − h);  ReLU: 1 where h > 0, else 0, also at a = 0, where it has no derivative and
    programs take 0 (Goodfellow et al. 2016, section 6.3).
    """

    function: Sloped = "tanh"
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
    says = (
        "The norm is the largest sum of absolute values in a row.",
        "The norm is the largest sum of absolute values in a column.",
    )

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


OPS = {
    "descent": Descent,
    "slope": Slope,
    "norm": InfinityNorm,
}
