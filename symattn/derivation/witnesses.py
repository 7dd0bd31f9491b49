"""What the second ways to an operation's numbers are made of: matrices of floats, and what is done to each entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from symattn.derivation.derivation import Floats
from symattn.exact import Matrix, Value
from symattn.exact.rounding import nearest_float

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
