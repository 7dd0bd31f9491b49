"""Linear algebra: products, sums, scaling, stacking, and the columns that belong to one head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, reduce
from operator import add, mul
from typing import Any, Literal

from symattn.derivation import sizes
from symattn.derivation.algebra import Algebra, Entries, Index, T, size_formula, size_in_sympy
from symattn.derivation.derivation import (
    Convention,
    Floats,
    HeadLines,
    InSympy,
    Lines,
    Operand,
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
from symattn.derivation.numpy_source import factor, joined, over_all
from symattn.derivation.ops.lines import LineRuleOp, OverOp
from symattn.derivation.sizes import Axis, plus
from symattn.derivation.windows import RING, Box, Window, point, times, turned
from symattn.derivation.witnesses import as_float, entrywise, transposed
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Size, Value, to_sympy
from symattn.exact.intervals import ZERO
from symattn.exact.sums import products
from symattn.formula import (
    ONE,
    Call,
    Dots,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Product,
    Scope,
    Sum,
    Transposed,
    equal,
    number,
    read_formula,
)
from symattn.foundation.languages import message

# ------------------------------------------------------------------------------------ columns of one head


@dataclass(frozen=True)
class Slice(Lines, LineRuleOp):
    """Some columns (or rows) of a matrix: `count` of them from `start` (from 0), every `step`-th.

    Head i of h heads has the columns from i·d to (i + 1)·d − 1 (Vaswani et al. 2017, section 3.2.2, with the weights of
    all heads side by side); interleaved, every h-th column from the i-th.
    """

    trivial = True

    @classmethod
    def of_head(cls, head: int, heads: int, width: int, split: Literal["consecutive", "interleaved"]) -> Slice:
        """The columns of one head (from 1) of several of one width."""
        return cls(head - 1, width, heads) if split == "interleaved" else cls((head - 1) * width, width)

    @property
    def title(self) -> str:
        return "Rows" if self.of == "rows" else "Columns"

    @property
    def turned(self) -> bool:
        return self.of == "columns"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if isinstance(rows, int) and self.indices[-1] >= rows:
            raise ShapeError(f"{self.line} {self.indices[-1] + 1} is asked for;")
        return self.count, columns

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0][A.nth(i, self.start, self.step), j]

    def whole(self, *operands: InSympy) -> InSympy:
        return _part(operands[0], self.of, slice(self.start, self.indices[-1] + 1, self.step))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), part=self)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return operands[0][self.start : self.start + self.count * self.step : self.step]

    def written(self, style: Style, *operands: Formula) -> Formula:
        """Columns 1–2 (Q)."""
        ends = [str(i + 1) for i in (self.indices if self.step > 1 else {self.start, self.indices[-1]})]
        which = ("," if self.step > 1 else "–").join(sorted(ends, key=int))
        return _called(self.of, which, self.count > 1, *operands)

    def numpy(self, *operands: str) -> str:
        return f"{operands[0]}[{self.slice}]" if self.of == "rows" else f"{operands[0]}[:, {self.slice}]"


@dataclass(frozen=True)
class HeadSlice(HeadLines, LineRuleOp):
    """The columns (or rows) of one head, where the width of each is a letter; else a `Slice`."""

    trivial = True

    @property
    def title(self) -> str:
        return "Rows" if self.of == "rows" else "Columns"

    @property
    def turned(self) -> bool:
        return self.of == "columns"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if rows != sizes.times(self.heads, self.width):
            raise ShapeError(f"{self.heads} heads with {self.width} {self.of} each are asked for;")
        return self.width, columns

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0][A.nth(i, self.start, self.step), j]

    def whole(self, *operands: InSympy) -> InSympy:
        return _part(operands[0], self.of, slice(size_in_sympy(self.start), size_in_sympy(self.end), self.step))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), part=self)

    def written(self, style: Style, *operands: Formula) -> Formula:
        """The columns of Q with their numbers as an index: d_k+1, …, 2d_k; every second one as 1, 3, …, 2d_k−1."""
        second = (plus(self.start, 1, self.step),) if self.split == "interleaved" else ()
        first, *more, last = map(size_formula, (plus(self.start, 1), *second, self.end))
        name = message("columns") if self.of == "columns" else message("rows")
        return Call(Name(name, (first, *more, Dots(), last)), operands)

    def numpy(self, *operands: str) -> str:
        lines = f"{self.start}:{self.end}" + (f":{self.step}" if self.step > 1 else "")
        return f"{operands[0]}[{lines}]" if self.of == "rows" else f"{operands[0]}[:, {lines}]"


def _part(whole: InSympy, of: Axis, lines: slice) -> InSympy:
    return whole[:, lines] if of == "columns" else whole[lines, :]


def _called(of: Axis, which: str, several: bool, *operands: Formula) -> Formula:
    """Columns 1–2 (Q)."""
    match of, several:
        case "columns", True:
            name = message("columns {which}", which=which)
        case "columns", False:
            name = message("column {which}", which=which)
        case "rows", True:
            name = message("rows {which}", which=which)
        case _:
            name = message("row {which}", which=which)
    return Call(Name(name), operands)


@dataclass(frozen=True)
class MatMul(RuleOp):
    """The matrix product A B."""

    arity = 2
    reverses = True
    title = "Matrix product"
    by_hand = True
    ends_in_decimals = True
    in_numpy = "{0} @ {1}"

    def shape(self, *shapes: Shape) -> Shape:
        (rows, inner), (other, columns) = shapes
        if inner != other:
            raise ShapeError("the columns of the first must match the rows of the second;")
        return rows, columns

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        a, b = operands
        return A.dot(a.columns & b.rows, lambda k: a[i, k], lambda k: b[k, j])

    def apply(self, *operands: Matrix) -> Matrix:
        a, b = operands
        return Matrix.of(products(a.rows, b.T.rows))

    def whole(self, *operands: InSympy) -> InSympy:
        return product_in_sympy(*operands)

    def pull(self, use: Use) -> Pull:
        a, b = use.step.operands
        return Pull((use.g, b.flipped), self) if use.k == 0 else Pull((a.flipped, use.g), self)

    def witness(self, *operands: Floats) -> Floats:
        a, b = operands
        return [[math.fsum(map(mul, row, column)) for column in transposed(b)] for row in a]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product(operands, style.product)  # type: ignore[arg-type]

    def averages(self, *boxes: Box) -> Box:
        """Its range where every row of the first matrix consists of weights: they are not negative and sum to 1.

        Windows that allow no such row are taken without that.
        """
        a, b = boxes
        return tuple(tuple(_average(row, column) for column in turned(b)) for row in a)


@dataclass(frozen=True)
class Transpose(RuleOp):
    """Aᵀ as a step of its own."""

    title = "Transpose"
    moves = True
    shows_factors = False
    in_numpy = "{0}.T"

    def shape(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        return columns, rows

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].T

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0][j, i]

    def whole(self, *operands: InSympy) -> InSympy:
        return operands[0].T

    def pull(self, use: Use) -> Pull:
        return Pull((use.g.flipped,))

    def witness(self, *operands: Floats) -> Floats:
        return transposed(*operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Transposed(operands[0])


@dataclass(frozen=True)
class Add(RuleOp):
    """A + B entry by entry; a matrix of one row is added to every row (a bias), one column to every column."""

    arity = 2
    title = "Sum"
    by_hand = True
    in_numpy = "{0} + {1}"

    def shape(self, *shapes: Shape) -> Shape:
        return _broadcast("a sum needs equal shapes, or one row or column to be added to all;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.sum(*(m.stretched(i, j) for m in operands))

    def whole(self, *operands: InSympy) -> InSympy | None:
        return sum_in_sympy(*operands) if operands[0].shape == operands[1].shape else None

    def pull(self, use: Use) -> Pull:
        return Pull.chain((use.g,), *summed(use))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(add, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum(operands)


@dataclass(frozen=True)
class Hadamard(RuleOp):
    """A ⊙ B, entry by entry; a single column (or row) is stretched over the other's columns (rows)."""

    arity = 2
    title = "Entry-by-entry product"
    by_hand = True
    in_numpy = "{0} * {1}"
    says = "⊙ multiplies entry by entry; a single row or column is used for all."
    in_short = "⊙: entry by entry, a single row or column with all"

    def shape(self, *shapes: Shape) -> Shape:
        return _broadcast("an entry-by-entry product needs equal shapes, or one row or column to stretch;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.product(*(m.stretched(i, j) for m in operands))

    def pull(self, use: Use) -> Pull:
        sums, (other,) = summed(use), use.others
        return Pull.chain((use.g, other), ProductSum(sums[0].over) if sums else self, *sums[1:])

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(mul, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product(operands, "⊙")


@dataclass(frozen=True)
class SumOver(OverOp):
    """The sum of all rows (one row is left), or of all columns (one column is left)."""

    over: Axis = "rows"
    title = "Sum"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    in_numpy = "{0}.sum({op.axis})"
    says = "Sum adds the entries of each row.", "Sum adds the entries of each column."
    in_short = "Sum along each row", "Sum along each column"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, _),) = shapes
        return rows, 1

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (a,) = operands
        return A.total(a.columns, lambda k: a[i, k])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), Spread(use.shapes[0][0 if self.over == "rows" else 1], self.over))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [[math.fsum(row)] for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("Sum"), (operands[0],))


@lru_cache(maxsize=64)
def _named(divisor: str, letters: tuple[tuple[str, Formula], ...]) -> Formula:
    """A divisor by name, in the letters of a notation: all sheets of a set have the same."""
    return read_formula(divisor, Scope(names=dict(letters)))


@dataclass(frozen=True)
class Scale(RuleOp):
    """A divided by one number.

    `of` says in the formula language what the number is (`sqrt(d_k)`); empty, the number itself is written.
    """

    divisor: Value
    of: str = ""
    title = "Scale"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.quotient(operands[0][i, j], A.number(self.divisor))

    def whole(self, *operands: InSympy) -> InSympy:
        return product_in_sympy(1 / to_sympy(self.divisor), *operands)

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), self)

    def witness(self, *operands: Floats) -> Floats:
        divisor = as_float(self.divisor)
        return entrywise(lambda x: x / divisor, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        match self.symbol(style):
            case Fraction(above, below) if above == ONE:  # a fraction in a fraction is hard to read
                return Product((below, operands[0]), "·")
            case divisor:
                return Fraction(operands[0], divisor)

    def factors(self, style: Style, *matrices: Formula) -> Formula:
        """A matrix in a numerator would be set too small to read."""
        return Product((Fraction(ONE, self.symbol(style)), *matrices))

    def numpy(self, *operands: str) -> str:
        return f"{operands[0]} / {factor(self.divisor)}"

    def symbol(self, style: Style) -> Formula:
        """The divisor by name: √d_k."""
        return _named(self.of, tuple(style.letters.items())) if self.of else number(self.divisor)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("Scores are divided by {divisor}.", divisor=self._stated(signs))]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        rule, divisor = signs.equation(steps[0]), self._stated(signs)
        if divisor == self.symbol(signs.style):
            return [convention("{rule}", rule=rule)]
        return [convention("{rule}, {divisor}", rule=rule, divisor=divisor)]

    def _stated(self, signs: Signs) -> Formula:
        """The divisor by name and as a number: √d_k = 2."""
        symbol, value = self.symbol(signs.style), signs.number(self.divisor)
        return symbol if symbol == value else equal(symbol, value)


@dataclass(frozen=True)
class Multiple(RuleOp):
    """A times one number; `of` says in the formula language what the number is (`sqrt(d_model)`)."""

    factor: Value
    of: str = ""
    title = "Multiple"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.product(A.number(self.factor), operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), self)

    def witness(self, *operands: Floats) -> Floats:
        factor = as_float(self.factor)
        return entrywise(lambda x: factor * x, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product((self.symbol(style), *operands), "·")

    def numpy(self, *operands: str) -> str:
        return f"{factor(self.factor)} * {operands[0]}"

    def symbol(self, style: Style) -> Formula:
        """The factor by name: √d_model."""
        return read_formula(self.of, Scope(names=style.letters)) if self.of else number(self.factor)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if not self.of:
            return []
        factor = equal(self.symbol(signs.style), signs.number(self.factor))
        return [convention("Embeddings are multiplied by {factor}.", factor=factor)]


@dataclass(frozen=True)
class Stack(LineRuleOp):
    """Matrices one above the other (rows z_1, z_2, … become Z), or side by side along columns."""

    along: Axis = "rows"
    arity = -1
    title = "Stack"
    moves = True
    shows_factors = False

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        widths = {columns for _, columns in shapes}
        if len(widths) != 1:
            raise ShapeError("matrices that are put together must be equally long along their common edge;")
        return plus(*(rows for rows, _ in shapes)), widths.pop()

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of(row for matrix in operands for row in matrix.rows)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.pieces(i, [m.shape[0] for m in operands], lambda p, k: operands[p][k, j])

    def whole(self, *operands: InSympy) -> InSympy:
        import sympy

        blocks: InSympy = sympy.BlockMatrix([operands] if self.along == "columns" else [[m] for m in operands])
        return blocks

    def pull(self, use: Use) -> Pull:
        """The rows (or columns) of the gradient that are those of the operand."""
        sizes = [shape[0 if self.along == "rows" else 1] for shape in use.shapes]
        numbers = [size for size in sizes if isinstance(size, int)]
        if len(set(sizes)) == 1 and not numbers:
            return Pull((use.g,), HeadSlice(use.k + 1, len(sizes), sizes[0], of=self.along))
        if len(numbers) < len(sizes):
            raise InputError(f"Step {use.step.name!r}: to be taken apart again, its parts must be equally large.")
        start, count = sum(numbers[: use.k]), numbers[use.k]
        if self.along == "rows" and count == 1 and use.g == Operand(use.g.name):
            return Pull((replace(use.g, row=start),))
        return Pull((use.g,), Slice(start, count, of=self.along))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [row for matrix in operands for row in matrix]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return MatrixOf((operands,) if self.along == "columns" else tuple((operand,) for operand in operands))

    def numpy(self, *operands: str) -> str:
        return joined(self.along, *operands)


def product_in_sympy(*factors: Any) -> InSympy:
    """A product of matrix expressions as * gives it, but that sums inside the factors are left as they are.

    SymPy's own * looks for a closed form of each of them, for minutes.
    """
    import sympy

    whole: InSympy = sympy.MatMul(*factors).doit(deep=False)
    return whole


def sum_in_sympy(*terms: Any) -> InSympy:
    """A sum of matrix expressions as + gives it; entries that are functions of i and j keep their order.

    To order these, SymPy rebuilds every sum inside them, again and again.
    """
    import sympy

    added = sympy.MatAdd(*terms)
    whole: InSympy = added if added.has(sympy.FunctionMatrix) else added.doit(deep=False)
    return whole


def _average(row: Sequence[Window], column: Sequence[Window]) -> Window:
    """Σ a_j·v_j over all weights a_j ≥ 0 in their windows that sum to 1."""
    weights = [Window(max(ZERO, a.low), a.high) for a in row]
    least, most = (reduce(RING.add, map(point, ends)) for ends in zip(*weights, strict=True))
    possible = all(a.low <= a.high for a in weights) and least.high <= 1 <= most.low
    if not possible or not all(v.bounded for v in column):
        return reduce(RING.add, map(times, row, column))
    # A weight is not negative, so the average grows with every value.
    highest = _greatest_average(weights, [v.high for v in column])
    lowest = _greatest_average(weights, [v.low.copy_negate() for v in column]).copy_negate()
    return Window(lowest, highest)


def _greatest_average(weights: Sequence[Window], values: Sequence[Decimal]) -> Decimal:
    """The greatest Σ a_j·v_j with Σ a_j = 1: a fractional knapsack, solved by its dual.

    For every t it is t + Σ a_j·(v_j − t) ≤ t + Σ (v_j − t)·(the upper end of a_j where v_j > t, else the lower), and
    equal for one of the values as t: that into which the last of the missing weight is poured (Dantzig 1957).  So
    rounding upwards is rigorous whatever t is.
    """

    def bound(t: Decimal) -> Decimal:
        gains = (
            RING.multiply(RING.add(point(v), point(t.copy_negate())), point(a.high if v > t else a.low))
            for a, v in zip(weights, values, strict=True)
        )
        return reduce(RING.add, gains, point(t)).high

    return min(map(bound, values))


def _broadcast(rule: str, first: Shape, second: Shape) -> Shape:
    sizes = []
    for a, b in zip(first, second, strict=True):
        if a != b and 1 not in (a, b):
            raise ShapeError(rule)
        sizes.append(b if a == 1 else a)
    return sizes[0], sizes[1]


# ------------------------------------------------------------------------------------------------ the way back


def summed(use: Use) -> tuple[SumOver, ...]:
    """What adds up where an operand was stretched: one row for all rows, one column for all columns, or a number for
    all entries."""
    stretched, full = use.shapes[use.k], use.shapes[1 - use.k]
    ways: tuple[Axis, ...] = ("rows", "columns")
    return tuple(SumOver(over) for over, a, b in zip(ways, stretched, full, strict=True) if a == 1 != b)


@dataclass(frozen=True)
class ProductSum(OverOp):
    """Σ_i a_ij·b_ij: the column sums of A ⊙ B (1×m), or over columns its row sums (n×1): for what was stretched."""

    over: Axis = "rows"
    arity = 2
    title = "Sum of products"
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return alike(*shapes)[0], 1

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        a, b = operands
        return A.total(a.columns, lambda k: A.product(a[i, k], b[i, k]))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """What stands on the diagonal of A Bᵀ."""
        product = transposed(operands[1])
        return [[math.fsum(map(mul, row, (column[i] for column in product)))] for i, row in enumerate(operands[0])]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name(f"{self.line}sums"), (Product(operands, "⊙"),))

    def numpy(self, *operands: str) -> str:
        return f"({' * '.join(operands)}).sum({over_all(self.over)})"


@dataclass(frozen=True)
class Spread(OverOp):
    """One row (1×m) `count` times, or over columns one column (n×1): every term gets the gradient of the sum."""

    count: Size
    over: Axis = "rows"
    title = "Back through the sum"
    trivial = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if columns != 1:
            raise ShapeError(f"what is repeated must be one {self.over[:-1]};")
        return rows, self.count

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0].stretched(i, j)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        assert isinstance(self.count, int)
        return [row * self.count for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("repeat"), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.repeat({operands[0]}, {self.count}, axis={0 if self.over == 'rows' else 1})"


@dataclass(frozen=True)
class Append(Stack):
    """A new row (or column) put at the end of those that are kept; nothing has to be worked out."""

    trivial = True
    title = "Append"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if steps[0].stem not in ("K_cache", "V_cache"):  # states of a recurrent network are put together, too
            return []
        return [convention("The key and value of a new token are cached before its query is used.")]


OPS = {
    "matmul": MatMul,
    "transpose": Transpose,
    "add": Add,
    "hadamard": Hadamard,
    "sum": SumOver,
    "scale": Scale,
    "multiple": Multiple,
    "stack": Stack,
    "part": Slice,
}
