"""Operations on each entry alone: rounding and an activation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from symattn.derivation import Index, Op, Shape, Style, View
from symattn.errors import InputError
from symattn.exact import (
    NEGATIVE_INFINITY,
    Matrix,
    Value,
    has_symbols,
    largest_remainder,
    rounded,
    sign,
    to_sympy,
    truncated,
)
from symattn.formula import Call, Formula, Name, Number

RoundingMethod = Literal["nearest", "largest-remainder", "truncate"]


@dataclass(frozen=True)
class Round(Op):
    """Rounding as a step, so that what follows is worked out from the rounded values.

    nearest: each entry to the nearest, ties as declared (even, up, down);
    largest-remainder: rows keep their exact sum: each entry is cut off, then the missing units go to the entries that
    lost most (Hamilton's method of apportionment);  truncate: each entry is cut off.
    """

    places: int
    method: RoundingMethod = "nearest"
    ties: Literal["even", "up", "down"] = "even"
    along: Literal["rows", "columns"] = "rows"  # what keeps its sum

    @property
    def title(self) -> str:
        how = {
            "nearest": "Round",
            "largest-remainder": "Round by largest remainder",
            "truncate": "Cut off",
        }[self.method]
        return f"{how} to {self.places} decimal place{'s' * (self.places != 1)}"

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        if self.method == "largest-remainder" and self.along == "columns":
            return replace(self, along="rows").apply(a.T).T
        if self.method == "largest-remainder":
            return Matrix.of(largest_remainder(row, self.places) for row in a.rows)
        return a.map(self._rounded)

    def _rounded(self, x: Value) -> Value:
        if x is NEGATIVE_INFINITY:
            return x
        if has_symbols(x):
            raise InputError(f"{x} has no decimal value to be rounded to: it contains a symbol.")
        return truncated(x, self.places) if self.method == "truncate" else rounded(x, self.places, self.ties)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return operands[0].entry(i, j)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("round", (Number(str(self.places)),)), operands)


@dataclass(frozen=True)
class Activation(Op):
    """A function of each entry: the identity, ReLU, or a function known only by name."""

    name: str = "f"
    title = "Activation"

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].map(self._value)

    def _value(self, x: Value) -> Value:
        import sympy

        if self.name == "identity":
            return x
        if self.name.lower() == "relu":
            if has_symbols(x):
                return sympy.Max(0, x)
            return x if sign(x) > 0 else 0
        return sympy.Function(self.name)(to_sympy(x))

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return self.written(Style(), operands[0].entry(i, j))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return operands[0] if self.name == "identity" else Call(Name(self.name), operands)
