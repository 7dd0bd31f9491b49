"""Small exact matrices, and linear systems: queries and weights that make scores what they are wanted to be."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from symattn.derivation.algebra import Base
from symattn.derivation.ops import Mask, MatMul, Softmax
from symattn.derivation.ops.attention import Keep
from symattn.exact import Matrix, Value, divide
from symattn.exact.sums import total
from symattn.foundation.dice import whole

T = TypeVar("T", int, tuple[str, int, int])
Row = tuple[int, ...]
Rows = tuple[Row, ...]


def grid(rng: random.Random, rows: int, columns: int, low: int, high: int) -> Rows:
    return tuple(tuple(whole(rng, low, high) for _ in range(columns)) for _ in range(rows))


def different(rows: Sequence[object]) -> bool:
    return all(a != b for i, a in enumerate(rows) for b in rows[:i])


Equation = dict[T, Fraction]
"""The coefficients of the unknowns, none of them 0, where the whole is 0."""


def reduced(equations: Iterable[Mapping[T, Fraction]]) -> list[tuple[T, Equation[T]]]:
    """Gauss and Jordan: the reduced echelon form, as rows with their pivots; each stands in its own row alone."""
    rows: list[tuple[T, Equation[T]]] = []
    for equation in equations:
        new = dict(equation)
        for pivot, row in rows:
            if pivot in new:
                _subtract(new, row, new[pivot])
        if new:
            lead = min(new)
            new = {unknown: c / new[lead] for unknown, c in new.items()}
            for _, row in rows:
                if lead in row:
                    _subtract(row, new, row[lead])
            rows.append((lead, new))
    return rows


def _subtract(row: Equation[T], other: Mapping[T, Fraction], times: Fraction) -> None:
    for unknown, c in other.items():
        rest = row.pop(unknown, Fraction(0)) - times * c
        if rest:
            row[unknown] = rest


def solution(rows: Sequence[Sequence[int | Fraction]], right: Sequence[int | Fraction]) -> list[Fraction] | None:
    """One solution of a linear system (free unknowns are 0), or None if there is none."""
    unknowns = len(rows[0])
    lines = (enumerate((*row, b)) for row, b in zip(rows, right, strict=True))
    pivots = dict(reduced({k: Fraction(x) for k, x in line if x} for line in lines))
    if unknowns in pivots:  # 0 = 1
        return None
    return [pivots[k].get(unknowns, Fraction(0)) if k in pivots else Fraction(0) for k in range(unknowns)]


def query_for(K: Rows, scores: Sequence[int]) -> list[Fraction] | None:
    """A query with these scores up to a constant: K q + c = scores, the constant c the last unknown."""
    solved = solution([[*k, 1] for k in K], scores)
    return solved and solved[:-1]


def weights_for(x: Row, query: Sequence[Fraction]) -> Matrix | None:
    """W_Q with x W_Q = query: one row of it is the query over an entry of x, 1 or −1 if there is one."""
    if not any(x):
        return Matrix([[0] * len(query)] * len(x)) if not any(query) else None
    place = min((i for i, a in enumerate(x) if a), key=lambda i: abs(x[i]))
    return Matrix([[divide(q, x[i]) if i == place else 0 for q in query] for i in range(len(x))])


def scores_of(x: Row, W: Rows, K: Rows) -> Row:
    """The scores of a token with every key: x W Kᵀ."""
    query = [sum(a * row[c] for a, row in zip(x, W, strict=True)) for c in range(len(W[0]))]
    return tuple(sum(a * b for a, b in zip(query, k, strict=True)) for k in K)


def times(a: Matrix, b: Matrix) -> Matrix:
    return MatMul().apply(a, b)


def softmax(scores: Matrix | Sequence[Sequence[Any]], keep: Keep | None = None, base: Base = "e") -> Matrix:
    """The weights of scores, row by row, under a mask if there is one."""
    matrix = scores if isinstance(scores, Matrix) else Matrix(scores)
    return Softmax(base=base).apply(Mask(keep).apply(matrix) if keep else matrix)


def normalised(*rows: Sequence[Value]) -> Matrix:
    """Each row divided by its sum: (1, 2, 1) → (1/4, 1/2, 1/4)."""
    return Matrix.of([divide(x, total(row)) for x in row] for row in rows)
