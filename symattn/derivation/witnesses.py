"""Second ways to numbers, in floats: what those of operations are made of, and derivations worked out by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from symattn.derivation.derivation import Floats, Operand, Step
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Value
from symattn.exact.rounding import approximate, nearest_float

TOLERANCE = 1e-9


def as_float(x: Value) -> float:
    """The nearest one, however small, so that nothing but a witness's own rounding is between it and a key."""
    return nearest_float(x)


def as_floats(matrix: Matrix) -> Floats:
    return [[as_float(x) for x in row] for row in matrix.rows]


def close(x: float, y: float) -> bool:
    """Whether two floats are equal but for what was rounded on the way to them."""
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= TOLERANCE * max(1.0, abs(x), abs(y))


def transposed(matrix: Floats) -> Floats:
    return [list(column) for column in zip(*matrix, strict=True)]


def entrywise(combine: Callable[..., float], *operands: Floats) -> Floats:
    """A function of the entries that stand in one place; a single row or column is stretched over all."""
    rows, columns = max(map(len, operands)), max(len(m[0]) for m in operands)
    return [[combine(*(m[i % len(m)][j % len(m[0])] for m in operands)) for j in range(columns)] for i in range(rows)]


def power_of(base: Value | Literal["e"], exponent: float) -> float:
    """b^x; 0 for an exponent of −∞."""
    return 0.0 if exponent == -math.inf else math.exp(rate_of(base) * exponent)


def rate_of(base: Value | Literal["e"]) -> float:
    """ln b."""
    return 1.0 if base == "e" else math.log(as_float(base))


# ------------------------------------------------------------------------------------------ whole derivations

FloatRows = tuple[tuple[float, ...], ...]


def floats_of(matrix: AnyMatrix | None) -> FloatRows | None:
    """The entries as floats; None if there is no matrix of numbers."""
    return tuple(tuple(map(approximate, row)) for row in matrix.rows) if isinstance(matrix, Matrix) else None


def in_floats(step: Step, made: Mapping[str, FloatRows | None]) -> FloatRows | None:
    """What a step gives by the witness of its operation; None where it is not defined, or where shapes do not fit.

    What is rounded has none: it is rounded as a decimal, which the float stands for.
    """
    operands = [_used(operand, made[operand.name] or ()) for operand in step.operands]
    try:
        step.op.shape(*((len(rows), len(rows[0])) for rows in operands))
        found = step.op.witness(*operands) or floats_of(step.op.apply(*map(_decimals, operands)))
    except (InputError, ArithmeticError, ValueError):
        return None
    return tuple(map(tuple, found)) if found and all(x < math.inf for row in found for x in row) else None


def worked_out(steps: Iterable[Step], givens: Mapping[str, Matrix]) -> dict[str, FloatRows]:
    """What steps give for other givens than their own, and these, by name; it ends before one that is not defined."""
    made: dict[str, FloatRows | None] = {name: floats_of(m) for name, m in givens.items()}
    for step in steps:
        if (result := in_floats(step, made)) is None:
            break
        made[step.name] = result
    return {name: rows for name, rows in made.items() if rows is not None}


def _decimals(rows: Sequence[Sequence[float]]) -> Matrix:
    return Matrix.of(
        [NEGATIVE_INFINITY if x == -math.inf else Fraction(str(round(x, DIGITS))) for x in row] for row in rows
    )


DIGITS = 12
"""Places to which floats stand for a decimal."""


def _used(operand: Operand, rows: FloatRows) -> list[list[float]]:
    """The part of a matrix that a step uses."""
    part = [list(row) for row in rows] if operand.row is None else [list(rows[operand.row])]
    part = part if operand.column is None else [[row[operand.column]] for row in part]
    return transposed(part) if operand.transposed else part
