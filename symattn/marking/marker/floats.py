"""Operations worked out in floats, to exclude what cannot be: nothing is accepted by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

from symattn.derivation.algebra import Algebra, Base, Entries, Index, Indices, Known
from symattn.derivation.derivation import Op, RuleOp
from symattn.derivation.ops.entrywise import ActivationGradient
from symattn.errors import SymattnError
from symattn.exact import Matrix, Value
from symattn.exact.approximate import near

Floats = tuple[tuple[float, ...], ...]

LARGEST = 1e8
"""Of larger numbers, floats have too few digits left when one is taken from another."""


def floats_of(matrix: Matrix) -> Floats:
    return tuple(tuple(map(near, row)) for row in matrix.rows)


def has_floats(op: Op) -> bool:
    """Whether an operation is worked out by its rule, which does not leap: a number nearly 0 is as good as 0."""
    return isinstance(op, RuleOp) and not isinstance(op, ActivationGradient) and _is_its_rule(type(op))


@cache
def _is_its_rule(kind: type[RuleOp]) -> bool:
    """Whether no values are written beside an older rule, as misconceptions do."""
    own = [name for one in kind.__mro__ for name in ("rule", "apply") if name in vars(one)]
    return own[0] == "rule"


def in_floats(op: Op, operands: Sequence[Floats]) -> Floats | None:
    """What a rule gives; None where it is not defined, or where numbers are too large for floats."""
    assert isinstance(op, RuleOp)
    try:
        rows, columns = op.shape(*((len(m), len(m[0])) for m in operands))
        assert isinstance(rows, int)
        assert isinstance(columns, int)
        seen = [_entries(m) for m in operands]
        found = tuple(tuple(op.rule(_FLOATS, i, j, *seen) for j in range(columns)) for i in range(rows))
    except (SymattnError, ArithmeticError, ValueError, IndexError):
        return None
    return found if all(abs(x) < LARGEST or x == -math.inf for row in found for x in row) else None


def _entries(m: Floats) -> Entries[float]:
    def entry(i: Index, j: Index) -> float:
        assert isinstance(i, int)
        assert isinstance(j, int)
        return m[i][j]

    return Entries((len(m), len(m[0])), entry)


class _Floats(Algebra[float]):
    def number(self, value: Value) -> float:
        return near(value)

    def size(self, indices: Indices, less: int = 0) -> float:
        return float(len(indices.counted) - less)

    def total(self, indices: Indices, term: Callable[[Index], float]) -> float:
        return sum(map(term, indices.counted))

    def sum(self, *terms: float) -> float:
        return sum(terms)

    def negative(self, x: float) -> float:
        return -x

    def product(self, *factors: float) -> float:
        return math.prod(factors)

    def quotient(self, x: float, y: float) -> float:
        return x / y

    def square(self, x: float) -> float:
        return x * x

    def exponential(self, x: float, base: Base = "e") -> float:
        return math.exp(x) if base == "e" else near(base) ** x

    def root(self, x: float) -> float:
        return math.sqrt(x)

    def apply(self, function: str, x: float) -> float:
        match function:
            case "ln":
                return math.log(x)
            case "tanh":
                return math.tanh(x)
            case "abs":
                return abs(x)
            case "positive":
                return float(x > 0)
        return math.nan

    def known(self, function: Known, x: float) -> float:
        return math.nan

    def maximum(self, *terms: float) -> float:
        return max(terms)

    def hidden(self, x: float) -> bool:
        return x == -math.inf


_FLOATS = _Floats()

__all__ = ["Floats", "floats_of", "has_floats", "in_floats"]
