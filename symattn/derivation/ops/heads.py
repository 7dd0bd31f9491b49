"""Columns that belong to one head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from symattn.derivation.algebra import Algebra, Entries, Index, T, size_formula, size_in_sympy
from symattn.derivation.derivation import Floats, HeadLines, InSympy, Lines, Pull, Shape, Style, Use
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.sizes import Axis, plus, times
from symattn.errors import ShapeError
from symattn.formula import Call, Dots, Formula, Name
from symattn.foundation.languages import message


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
        if rows != times(self.heads, self.width):
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


OPS = {"part": Slice}
