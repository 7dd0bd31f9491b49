"""Columns that belong to one head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from symattn.derivation.algebra import Algebra, Entries, Index, T, along_rows, size_in_sympy
from symattn.derivation.derivation import Floats, InSympy, Lines, Pull, RuleOp, Shape, Style, Use
from symattn.derivation.sizes import plus, times
from symattn.derivation.witnesses import across
from symattn.errors import ShapeError
from symattn.exact import Size
from symattn.formula import Call, Formula, Name
from symattn.foundation.languages import message


@dataclass(frozen=True)
class Slice(Lines, RuleOp):
    """Some columns (or rows) of a matrix: `count` of them from `start` (from 0), every `step`-th.

    Head i of h heads has the columns from i·d to (i + 1)·d − 1 (Vaswani et al. 2017, section 3.2.2, with the weights of
    all heads side by side); interleaved, every h-th column from the i-th.
    """

    trivial = True

    @classmethod
    def of_head(cls, head: int, heads: int, width: Size, split: Literal["consecutive", "interleaved"]) -> Slice:
        """The columns of one head (from 1) of several, `width` for each."""
        return cls(head - 1, width, heads) if split == "interleaved" else cls(times(head - 1, width), width)

    @property
    def title(self) -> str:
        return "Rows" if self.of == "rows" else "Columns"

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = shapes[0] if self.of == "columns" else shapes[0][::-1]
        if isinstance(columns, int) and isinstance(self.last, int) and self.last >= columns:
            raise ShapeError(f"{self.of[:-1]} {self.last + 1} is asked for;")
        return (rows, self.count) if self.of == "columns" else (self.count, rows)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, (whole,) = along_rows("rows" if self.of == "columns" else "columns", i, j, *operands)
        return whole[i, A.nth(j, self.start, self.step)]

    def whole(self, *operands: InSympy) -> InSympy:
        (whole,) = operands
        lines = slice(*(size_in_sympy(end) for end in (self.start, plus(self.last, 1))), self.step)
        return whole[:, lines] if self.of == "columns" else whole[lines, :]

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), part=self)

    def witness(self, *operands: Floats) -> Floats:
        if self.of == "columns":
            return across(self, *operands)
        return operands[0][self.start : self.start + self.count * self.step : self.step]

    def written(self, style: Style, *operands: Formula) -> Formula:
        """Columns 1–2 (Q)."""
        if self.step > 1 and isinstance(self.count, int):
            which = ",".join(str(i + 1) for i in self.indices)
        else:
            which = "–".join(dict.fromkeys(str(plus(end, 1)).replace("*", "") for end in (self.start, self.last)))
        match self.of, self.count != 1:
            case "columns", True:
                name = message("columns {which}", which=which)
            case "columns", False:
                name = message("column {which}", which=which)
            case "rows", True:
                name = message("rows {which}", which=which)
            case _:
                name = message("row {which}", which=which)
        return Call(Name(name), operands)

    def numpy(self, *operands: str) -> str:
        return f"{operands[0]}[{self.slice}]" if self.of == "rows" else f"{operands[0]}[:, {self.slice}]"


OPS = {"part": Slice}

__all__ = ["Slice"]
