"""What the gradient of a matrix is put together of, where the forward pass used it several times or in parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from symattn.derivation.algebra import Algebra, Entries, Index, T, along_rows
from symattn.derivation.derivation import Floats, InSympy, Lines, Pull, RuleOp, Shape, Style, Use, alike
from symattn.derivation.ops.attention import Along
from symattn.derivation.ops.linear import Stack, sum_in_sympy
from symattn.derivation.sizes import times
from symattn.derivation.witnesses import across, entrywise
from symattn.errors import ShapeError
from symattn.exact import Matrix
from symattn.formula import Call, Formula, MatrixOf, Name, Sum


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
class Interleave(RuleOp):
    """Matrices of one shape whose columns (or rows) are dealt out in turn: the first of each, the second of each, …

    It puts together what interleaved heads took apart (`Slice` with a step).
    """

    along: Along = "columns"
    arity = -1
    title = "Columns taken in turn"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = alike(*shapes)
        if self.along == "columns":
            return rows, times(len(shapes), columns)
        return times(len(shapes), rows), columns

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, operands = along_rows("rows" if self.along == "columns" else "columns", i, j, *operands)
        return A.in_turn(j, len(operands), lambda p, k: operands[p][i, k])

    def witness(self, *operands: Floats) -> Floats:
        if self.along == "columns":
            return across(self, *operands)
        return [row for rows in zip(*operands, strict=True) for row in rows]

    def written(self, style: Style, *operands: Formula) -> Formula:
        cells = (operands,) if self.along == "columns" else tuple((operand,) for operand in operands)
        return Call(Name("interleaved"), (MatrixOf(cells),))

    def numpy(self, *operands: str) -> str:
        by_columns = self.along == "columns"
        shape = f"len({operands[0]}), -1" if by_columns else f"-1, {operands[0]}.shape[1]"
        return f"np.stack([{', '.join(operands)}], axis={2 if by_columns else 1}).reshape({shape})"


@dataclass(frozen=True)
class Padded(RuleOp):
    """Columns (or rows) at the places of `part` among `size` of them, and 0 elsewhere, where nothing was used."""

    part: Lines
    size: int
    title = "Padded with zeros"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = shapes[0]
        if (columns if self.part.of == "columns" else rows) != self.part.count:
            raise ShapeError(f"{self.part.count} {self.part.of} were expected;")
        return (rows, self.size) if self.part.of == "columns" else (self.size, columns)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, (x,) = along_rows("rows" if self.part.of == "columns" else "columns", i, j, *operands)
        if isinstance(j, str):
            return A.dots()
        return x[i, self.part.indices.index(j)] if j in self.part.indices else A.number(0)

    def turn(self) -> Self:
        return replace(self, part=self.part.turn())

    def witness(self, *operands: Floats) -> Floats:
        if self.part.of == "columns":
            return across(self, *operands)
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


__all__ = ["Copy", "Interleave", "Padded", "PutTogether", "Total"]
