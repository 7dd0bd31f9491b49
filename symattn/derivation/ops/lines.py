"""Operations on lines: each is said for lines that are rows; where lines are columns, everything is turned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from symattn.derivation.algebra import FORMULAS, VALUES, Algebra, Entries, Index, T
from symattn.derivation.derivation import Floats, Op, RuleOp, Shape, View, alike, entries_of, range_of
from symattn.derivation.numpy_source import by_line, helper_axis
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import Box, turned
from symattn.derivation.witnesses import transposed
from symattn.exact import Matrix
from symattn.formula import Formula

ACROSS: Mapping[Axis, Axis] = {"rows": "columns", "columns": "rows"}

R = TypeVar("R")


class LineOp(Op):
    """An operation on lines, which are rows or columns.

    Its methods `…_of_rows` get the operands with their lines as rows.
    """

    along: Axis

    @property
    def turned(self) -> bool:
        """Whether the lines are columns."""
        return self.along == "columns"

    @property
    def line(self) -> str:
        """What a line is called."""
        return "column" if self.turned else "row"

    @property
    def axis(self) -> str:
        """The arguments by which NumPy reduces each line to one number."""
        return by_line("columns" if self.turned else "rows")

    @property
    def helper_axis(self) -> str:
        """The argument of a helper function that says so."""
        return helper_axis("columns" if self.turned else "rows")

    def _by_rows(self, of_rows: Callable[..., R], turn: Callable[[Any], Any], *operands: Any) -> R:
        """What a function of operands whose lines are rows gives for these; None stays None."""
        if not self.turned:
            return of_rows(*operands)
        result = of_rows(*map(turn, operands))
        return result if result is None else turn(result)

    def shape(self, *shapes: Shape) -> Shape:
        return self._by_rows(self.shape_of_rows, lambda shape: shape[::-1], *shapes)

    def apply(self, *operands: Matrix) -> Matrix:
        return self._by_rows(self.values_of_rows, lambda matrix: matrix.T, *operands)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        if self.turned:
            return self.working_of_rows(j, i, *(operand.transposed for operand in operands))
        return self.working_of_rows(i, j, *operands)

    def witness(self, *operands: Floats) -> Floats | None:
        return self._by_rows(self.witness_of_rows, transposed, *operands)

    def range(self, *boxes: Box) -> Box | None:
        return self._by_rows(self.range_of_rows, turned, *boxes)

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return alike(*shapes)

    @abstractmethod
    def values_of_rows(self, *operands: Matrix) -> Matrix: ...

    @abstractmethod
    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula: ...

    def witness_of_rows(self, *operands: Floats) -> Floats | None:
        return None

    def range_of_rows(self, *boxes: Box) -> Box | None:
        return None


class LineRuleOp(LineOp, RuleOp):
    """An operation on lines that is one rule for an entry; its values, working and range follow from the rule."""

    @abstractmethod
    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        """Entry (i, j) of the result where lines are rows."""

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        if self.turned:
            return self.rule_of_rows(A, j, i, *(operand.transposed for operand in operands))
        return self.rule_of_rows(A, i, j, *operands)

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of(entries_of(self.rule_of_rows, self.shape_of_rows, VALUES, *(m.rows for m in operands)))

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        return self.rule_of_rows(FORMULAS, i, j, *operands)

    def range_of_rows(self, *boxes: Box) -> Box | None:
        return range_of(self.rule_of_rows, self.shape_of_rows, *boxes)


class OverOp(LineRuleOp):
    """The same for operations that say what a line goes over: over the columns, it is a row."""

    over: Axis

    @property
    def turned(self) -> bool:
        return self.over == "rows"
