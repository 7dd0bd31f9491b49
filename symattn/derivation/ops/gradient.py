"""What the gradient of a matrix is put together of, where the forward pass used it several times or in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from symattn.derivation.algebra import Algebra, Entries, Index, T
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
    alike,
    convention,
)
from symattn.derivation.numpy_source import factor
from symattn.derivation.ops.linear import Stack, product_in_sympy, sum_in_sympy
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.ops.position import Multiple
from symattn.derivation.sizes import Axis, times
from symattn.derivation.witnesses import as_float, entrywise
from symattn.errors import ShapeError
from symattn.exact import Matrix, Value, to_sympy
from symattn.formula import Call, Formula, MatrixOf, Name, Negative, Product, Sum, equal


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

    def numpy(self, *operands: str) -> str:
        return operands[0]


@dataclass(frozen=True)
class Descent(RuleOp):
    """W − η·dW: weights after one step of gradient descent with the learning rate η.

    Goodfellow, Bengio and Courville 2016, section 4.3, equation 4.5, where the rate is ε.
    """

    rate: Value
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


OPS = {"descent": Descent}
