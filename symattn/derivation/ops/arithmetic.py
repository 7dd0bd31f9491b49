"""Arithmetic entry by entry, as programs of one's own need it, and what a gradient needs to go back through it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction as Ratio
from operator import sub, truediv
from typing import Literal

from symattn.derivation.algebra import Algebra, Entries, Index, T
from symattn.derivation.derivation import Convention, Floats, Pull, RuleOp, Shape, Signs, Step, Style, Use, convention
from symattn.derivation.numpy_source import factor
from symattn.derivation.ops.entrywise import Rounding
from symattn.derivation.ops.linear import Hadamard, summed
from symattn.derivation.ops.position import Multiple
from symattn.derivation.windows import HIDDEN, Box, Window, constant, each
from symattn.derivation.witnesses import TOLERANCE, entrywise, power_of
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Value, has_symbols, logarithm
from symattn.exact.intervals import MOST_DIGITS
from symattn.exact.rounding import FORMATS, Format, nearest_float
from symattn.exact.values import NEGATIVE_INFINITY
from symattn.formula import Call, Formula, Fraction, Name, Negative, Product, Sum, number
from symattn.foundation.languages import message


@dataclass(frozen=True)
class Subtract(RuleOp):
    """A − B entry by entry; a single row or column is taken from every row or column, or every one from it."""

    arity = 2
    title = "Difference"
    by_hand = True

    def shape(self, *shapes: Shape) -> Shape:
        return _stretched_shape("a difference needs equal shapes, or one row or column to stretch;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.minus(*(m.stretched(i, j) for m in operands))

    def pull(self, use: Use) -> Pull:
        return Pull.chain((use.g,), *([Opposite()] if use.k else []), *summed(use))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(sub, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((operands[0], Negative(operands[1])))

    def numpy(self, *operands: str) -> str:
        return " - ".join(operands)


@dataclass(frozen=True)
class Divide(RuleOp):
    """A over B entry by entry; a single row or column is stretched over the other's."""

    arity = 2
    title = "Quotient"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True

    def shape(self, *shapes: Shape) -> Shape:
        return _stretched_shape("a quotient needs equal shapes, or one row or column to stretch;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.quotient(*(m.stretched(i, j) for m in operands))

    def pull(self, use: Use) -> Pull:
        divisor = use.step.operands[1]
        if use.k == 0:
            return Pull.chain((use.g, divisor), self, *summed(use))
        return Pull.chain((use.g, use.result, divisor), DivisorGradient(), *summed(use))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(truediv, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Fraction(*operands)

    def numpy(self, *operands: str) -> str:
        return " / ".join(operands)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("The fraction bar divides entry by entry; a single row or column is used for all.")]


@dataclass(frozen=True)
class Opposite(RuleOp):
    """−A."""

    title = "Negative"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.negative(operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), self)

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda x: 0.0 - x, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Negative(operands[0])

    def numpy(self, *operands: str) -> str:
        return f"-{operands[0]}"


@dataclass(frozen=True)
class Exponential(RuleOp):
    """b^x of each entry x, with base e unless another is stated; 0 for −∞.  No matrix exponential."""

    base: Value | Literal["e"] = "e"
    title = "Exponential"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    brings = "powers"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.exponential(operands[0][i, j], self.base)

    def pull(self, use: Use) -> Pull:
        return Pull.chain((use.g, use.result), Hadamard(), *rate(self.base))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda x: power_of(self.base, x), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("exp", () if self.base == "e" else (self.written_base,)), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.exp({operands[0]})" if self.base == "e" else f"{factor(self.base)} ** {operands[0]}"

    @property
    def written_base(self) -> Formula:
        """e, or the number in its place."""
        return Name("e") if self.base == "e" else number(self.base)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("exp is applied entry by entry, with base {base}.", base=signs.base(self.base))]


@dataclass(frozen=True)
class SquareRoot(RuleOp):
    """√x of each entry x; `UndefinedError` where one is negative."""

    title = "Square root"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.root(operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.result), Divide(), (Multiple(Ratio(1, 2)),))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(math.sqrt, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("sqrt"), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.sqrt({operands[0]})"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("sqrt is the square root of each entry.")]


@dataclass(frozen=True)
class ToFloat(Rounding):
    """Each entry as the nearest number of a binary format, ties to even: float16, bfloat16, float32 or float64.

    Subnormal numbers are as in IEEE 754; −∞ stays, and what is too far below 0 becomes it.  `UndefinedError` where an
    entry is too large for the format.
    """

    format: Format = FORMATS["float16"]

    @property
    def title(self) -> str:
        return message("Round to {format}", format=self.format.name)

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].map(self._nearest)

    def _nearest(self, x: Value) -> Value:
        if has_symbols(x):
            raise InputError(f"{x} has no nearest number in {self.format.name}: it contains a symbol.")
        return nearest_float(x, self.format)

    def confirmed(self, result: Floats, *operands: Floats) -> Floats:
        """Each number that is the rounding of its operand to a float; NaN for any other."""
        return entrywise(lambda r, x: r if self._fits(r, x) else math.nan, result, *operands)

    def _fits(self, r: float, x: float) -> bool:
        if math.isinf(r) or math.isinf(x):
            return r == x or (r < 0 and x < -6e4)
        code = {"float16": "<e", "float64": "<d"}.get(self.format.name, "<f")
        packed = struct.pack(code, r)
        short = self.format.name != "bfloat16" or packed[:2] == b"\0\0"
        gap = math.ulp(max(abs(x), 2.0**self.format.least)) * 2.0 ** (53 - self.format.digits)
        return short and struct.unpack(code, packed)[0] == r and abs(r - x) <= gap / 2 * (1 + TOLERANCE)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name(self.format.name), operands)

    def numpy(self, *operands: str) -> str:
        """NumPy has all formats but one."""
        known, name = self.format.name != "bfloat16", self.format.name
        return f"{operands[0]}.astype(np.{name}).astype(float)" if known else f"bfloat16({operands[0]})"

    def range(self, *boxes: Box) -> Box:
        return each(self._range, *boxes)

    def _range(self, x: Window) -> Window:
        """Both ends rounded, for rounding never changes the order of two numbers."""
        if x == HIDDEN:
            return x
        low, high = (nearest_float(Ratio(end) if end.adjusted() > -MOST_DIGITS else 0, self.format) for end in x)
        return Window(HIDDEN.low if low is NEGATIVE_INFINITY else constant(low).low, constant(high).high)


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class DivisorGradient(RuleOp):
    """−g·y/b for the gradient G of quotients Y = A/B (each n×m) and their divisors B, which may have to be stretched.

    What comes to one divisor from every quotient in which it stands, before it is added up.
    """

    arity = 3
    title = "Back through the quotient"
    shows_factors = False
    by_hand = True

    def shape(self, *shapes: Shape) -> Shape:
        return Divide().shape(Hadamard().shape(*shapes[:2]), shapes[2])

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        gradient, quotient, divisor = operands
        above = A.product(gradient.stretched(i, j), quotient.stretched(i, j))
        return A.negative(A.quotient(above, divisor.stretched(i, j)))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda g, y, b: -g * y / b, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Negative(Fraction(Product(operands[:2], "⊙"), operands[2]))

    def numpy(self, *operands: str) -> str:
        return "-{} * {} / {}".format(*operands)


def rate(base: Value | Literal["e"]) -> tuple[Multiple, ...]:
    """The factor ln b of the derivative of b^x."""
    return () if base == "e" else (Multiple(logarithm(base)),)


def _stretched_shape(rule: str, first: Shape, second: Shape) -> Shape:
    """The shape of what is made of two matrices entry by entry; `ShapeError` with the rule where they do not fit."""
    rows, columns = (b if a == 1 else a for a, b in zip(first, second, strict=True))
    if any(
        size not in (1, full) for shape in (first, second) for size, full in zip(shape, (rows, columns), strict=True)
    ):
        raise ShapeError(rule)
    return rows, columns


OPS = {
    "subtract": Subtract,
    "divide": Divide,
    "opposite": Opposite,
    "exp": Exponential,
    "sqrt": SquareRoot,
    "float": ToFloat,
}
