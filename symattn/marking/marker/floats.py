"""Operations worked out in floats, to exclude what cannot be: nothing is accepted by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

from symattn.derivation.algebra import Algebra, Base, Entries, Index, Indices, Known
from symattn.derivation.derivation import Op, Operand, RuleOp
from symattn.derivation.ops.entrywise import ActivationGradient
from symattn.errors import SymattnError
from symattn.exact import Matrix, Value
from symattn.exact.approximate import near

LARGEST = 1e8
"""Of larger numbers, floats have too few digits left when one is taken from another."""


class Floats:
    """A matrix of floats, each worked out when it is first asked for: most explanations fail at one entry.

    nan stands for what floats do not say: an entry that is not defined, has symbols, or is too large.
    """

    def __init__(self, shape: tuple[int, int], entry: Callable[[int, int], float]) -> None:
        self.shape = shape
        self._entry = entry
        self._known: dict[tuple[int, int], float] = {}

    @classmethod
    def of(cls, matrix: Matrix) -> Floats:
        return cls(matrix.shape, lambda i, j: near(matrix[i, j]))

    def __getitem__(self, place: tuple[int, int]) -> float:
        if place not in self._known:
            try:
                self._known[place] = self._entry(*place)
            except (SymattnError, ArithmeticError, ValueError, IndexError):
                self._known[place] = math.nan
        return self._known[place]

    def part(self, operand: Operand) -> Floats:
        """What is used of it; as `Operand.of`."""
        rows, columns = (
            1 if operand.row is not None else self.shape[0],
            1 if operand.column is not None else self.shape[1],
        )

        def entry(i: int, j: int) -> float:
            row, column = operand.place(i, j)
            assert isinstance(row, int)
            assert isinstance(column, int)
            return self[row, column]

        return Floats((columns, rows) if operand.transposed else (rows, columns), entry)


def has_floats(op: Op) -> bool:
    """Whether an operation is worked out by its rule, which does not leap: a number nearly 0 is as good as 0."""
    return isinstance(op, RuleOp) and not isinstance(op, ActivationGradient) and _is_its_rule(type(op))


@cache
def _is_its_rule(kind: type[RuleOp]) -> bool:
    """Whether no values are written beside an older rule, as misconceptions do."""
    own = [name for one in kind.__mro__ for name in ("rule", "apply") if name in vars(one)]
    return own[0] == "rule"


def in_floats(op: Op, operands: Sequence[Floats]) -> Floats | None:
    """What a rule gives; None for shapes that do not fit."""
    assert isinstance(op, RuleOp)
    try:
        rows, columns = op.shape(*(m.shape for m in operands))
    except SymattnError:
        return None
    assert isinstance(rows, int)
    assert isinstance(columns, int)
    seen = [Entries(m.shape, _told(m)) for m in operands]

    def entry(i: int, j: int) -> float:
        x = op.rule(_FLOATS, i, j, *seen)
        return x if abs(x) < LARGEST or x == -math.inf else math.nan

    return Floats((rows, columns), entry)


def _told(m: Floats) -> Callable[[Index, Index], float]:
    """The entries of an operand; nothing is worked out from one that floats do not say."""

    def entry(i: Index, j: Index) -> float:
        assert isinstance(i, int)
        assert isinstance(j, int)
        if math.isnan(x := m[i, j]):
            raise ArithmeticError
        return x

    return entry


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

__all__ = ["Floats", "has_floats", "in_floats"]
