"""Which blanks of a derivation follow from what is printed of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from symattn.derivation.derivation import Derivation, Operand, Step
from symattn.derivation.ops import Add, Hadamard, Mask, MatMul, Scale, Softmax, Stack, SumOver, Transpose
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, values_of

Cell = tuple[str, int, int]
"""A matrix, and an entry of it (from 0)."""

Blanks = Mapping[str, tuple[tuple[int, int], ...]]


def result_of(step: Step) -> Matrix:
    if not isinstance(step.result, Matrix):
        raise InputError(f"A faded example needs numbers; of {step.name} only the shape is known.")
    return step.result


def cells_of(step: Step) -> tuple[tuple[int, int], ...]:
    rows, columns = result_of(step).shape
    return tuple((i, j) for i in range(rows) for j in range(columns))


def undetermined(d: Derivation, blanks: Blanks) -> set[Cell]:
    """The blanks that do not follow from the printed entries.

    What is known grows until nothing is added: by systems of linear equations over the rationals, of which only
    the unknowns that have a single value count; through a softmax forwards, by its sum rule, and backwards from the
    ratios of its weights.  Values are the true ones, so that every system has a solution, and only the coefficients
    decide whether it is the only one.
    """
    unknown = {(name, i, j) for name, cells in blanks.items() for i, j in cells}
    before = None
    while unknown and unknown != before:
        before = set(unknown)
        equations = [e for step in d for e in _equations(d, step, unknown)]
        unknown -= _solved(equations)
        for step in d:
            if isinstance(step.op, Softmax):
                for line in _lines(d, step):
                    unknown -= _by_softmax(line, unknown)
            elif not isinstance(step.op, LINEAR):
                unknown -= _forwards(step, unknown)
    return unknown


Equation = dict[Cell, Value]
"""The coefficients of the unknowns in a linear equation."""

LINEAR = (MatMul, Scale, Add, Hadamard, SumOver, Stack, Transpose, Mask)


def _equations(d: Derivation, step: Step, unknown: set[Cell]) -> Iterator[Equation]:
    """One for every entry of a step that is linear in the unknowns."""
    if isinstance(step.op, LINEAR):
        for i, j in cells_of(step):
            if equation := equation_of(d, step, i, j, unknown):
                yield equation


def equation_of(d: Derivation, step: Step, i: int, j: int, unknown: set[Cell]) -> Equation | None:
    """The terms of an entry less the entry itself; None if it is not linear, empty where all is known.

    A scaled score is counted in units of 1/√d_k, so that an irrational divisor leaves the coefficients rational.
    """
    own = (step.name, i, j)
    if result_of(step)[i, j] is NEGATIVE_INFINITY:
        return {own: 1} if own in unknown else {}  # what the mask hides is −∞, whatever is known
    equation: Equation = {own: -1} if own in unknown else {}
    for factors in _terms(d, step, i, j):
        blank = [cell for cell in factors if cell in unknown]
        if len(blank) > 1:
            return None
        for cell in blank:
            weight: Value = 1
            for other in factors:
                weight = weight if other == cell else weight * value_at(d, other)
            equation[cell] = equation.get(cell, 0) + weight
    return {cell: c for cell, c in equation.items() if c != 0}


def _terms(d: Derivation, step: Step, i: int, j: int) -> Iterator[tuple[Cell, ...]]:
    """The products of entries that an entry of a linear step is the sum of."""
    views = [Place(d, operand) for operand in step.operands]
    match step.op:
        case MatMul():
            left, right = views
            yield from ((left(i, k), right(k, j)) for k in range(left.columns))
        case Hadamard():
            yield tuple(view.stretched(i, j) for view in views)
        case Add():
            yield from ((view.stretched(i, j),) for view in views)
        case SumOver(over):
            (view,) = views
            ways = range(view.rows if over == "rows" else view.columns)
            yield from ((view(k, j) if over == "rows" else view(i, k),) for k in ways)
        case Stack(along):
            for view in views:
                size = view.rows if along == "rows" else view.columns
                position = i if along == "rows" else j
                if position < size:
                    yield ((view(i, j)),)
                    return
                i, j = (i - size, j) if along == "rows" else (i, j - size)
        case Transpose():
            yield (views[0](j, i),)
        case _:
            yield (views[0](i, j),)


class Place:
    """Where the entries of an operand stand in the matrix that it is taken from."""

    def __init__(self, d: Derivation, operand: Operand) -> None:
        self.operand = operand
        self.rows, self.columns = values_of(operand.of(d.value(operand.name))).shape

    def __call__(self, i: int, j: int) -> Cell:
        if self.operand.transposed:
            i, j = j, i
        row, column = self.operand.row, self.operand.column
        return self.operand.name, i if row is None else row, j if column is None else column

    def stretched(self, i: int, j: int) -> Cell:
        return self(0 if self.rows == 1 else i, 0 if self.columns == 1 else j)


def value_at(d: Derivation, cell: Cell) -> Value:
    name, i, j = cell
    return values_of(d.value(name))[i, j]


def _solved(equations: Iterable[Equation]) -> set[Cell]:
    """The unknowns that have one value only: alone in an equation, or in a row of the reduced echelon form."""
    listed = [e for e in equations if e]
    found = {cell for e in listed if len(e) == 1 for cell in e}
    rows: list[tuple[Cell, dict[Cell, Fraction]]] = []
    for e in listed:
        rational = {cell: Fraction(c) for cell, c in e.items() if isinstance(c, int | Fraction)}
        if len(rational) == len(e):
            _reduce_by(rows, rational)
    return found | {pivot for pivot, row in rows if len(row) == 1}


def _reduce_by(rows: list[tuple[Cell, dict[Cell, Fraction]]], new: dict[Cell, Fraction]) -> None:
    """Gauss and Jordan: every pivot stands in its own row alone; `rows` gets one more, or stays."""
    for pivot, row in rows:
        if pivot in new:
            _subtract(new, row, new[pivot])
    if not new:
        return
    pivot = next(iter(new))
    scale = new[pivot]
    new = {cell: c / scale for cell, c in new.items()}
    for _, row in rows:
        if pivot in row:
            _subtract(row, new, row[pivot])
    rows.append((pivot, new))


def _subtract(row: dict[Cell, Fraction], other: Mapping[Cell, Fraction], times: Fraction) -> None:
    for cell, c in other.items():
        rest = row.get(cell, Fraction(0)) - times * c
        if rest:
            row[cell] = rest
        else:
            row.pop(cell, None)


def _lines(derivation: Derivation, step: Step) -> Iterator[list[tuple[Cell, Cell, bool]]]:
    """The lines that a softmax goes along: of every entry its weight, its score, and whether it is hidden."""
    assert isinstance(step.op, Softmax)
    result, source = result_of(step), step.operands[0]
    cells = [[(i, j) for j in range(result.shape[1])] for i in range(result.shape[0])]
    place = Place(derivation, source)
    for line in cells if step.op.along == "rows" else zip(*cells, strict=True):
        yield [((step.name, i, j), place(i, j), result[i, j] == 0) for i, j in line]


def _by_softmax(line: list[tuple[Cell, Cell, bool]], unknown: set[Cell]) -> set[Cell]:
    weights = [weight for weight, _, _ in line]
    scores = [score for _, score, hidden in line if not hidden]
    found = {weight for weight, score, hidden in line if hidden and score not in unknown}
    if all(score not in unknown for _, score, _ in line):
        found |= set(weights)
    if len(missing := [weight for weight in weights if weight in unknown]) == 1:
        found |= set(missing)  # they sum to 1
    if all(weight not in unknown for weight in weights) and any(score not in unknown for score in scores):
        found |= set(scores)  # the ratio of two weights gives the difference of their scores
    return found & unknown


def _forwards(step: Step, unknown: set[Cell]) -> set[Cell]:
    """All of a step that is not linear, once all that it starts from is known."""
    sources = {operand.name for operand in step.operands}
    return set() if any(name in sources for name, _, _ in unknown) else {(step.name, i, j) for i, j in cells_of(step)}


__all__ = ["LINEAR", "Blanks", "Cell", "Place", "cells_of", "equation_of", "result_of", "undetermined", "value_at"]
