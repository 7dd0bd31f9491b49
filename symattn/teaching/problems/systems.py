"""Small exact matrices, and linear systems: queries and weights that make scores what they are wanted to be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from symattn.derivation.ops import MatMul
from symattn.exact import Matrix, divide
from symattn.foundation.dice import whole

Row = tuple[int, ...]
Rows = tuple[Row, ...]


def grid(rng: random.Random, rows: int, columns: int, low: int, high: int) -> Rows:
    return tuple(tuple(whole(rng, low, high) for _ in range(columns)) for _ in range(rows))


def different(rows: Sequence[object]) -> bool:
    return all(a != b for i, a in enumerate(rows) for b in rows[:i])


def solution(rows: Sequence[Sequence[int | Fraction]], right: Sequence[int | Fraction]) -> list[Fraction] | None:
    """One solution of a linear system (free unknowns are 0), or None if there is none: Gauss–Jordan with fractions."""
    system = [[Fraction(x) for x in (*row, b)] for row, b in zip(rows, right, strict=True)]
    unknowns, pivots = len(rows[0]), list[int]()
    for column in range(unknowns):
        done = len(pivots)
        lead = next((r for r in range(done, len(system)) if system[r][column]), None)
        if lead is None:
            continue
        system[done], system[lead] = system[lead], system[done]
        system[done] = [x / system[done][column] for x in system[done]]
        for r, row in enumerate(system):
            if r != done and row[column]:
                system[r] = [x - row[column] * y for x, y in zip(row, system[done], strict=True)]
        pivots.append(column)
    if any(row[-1] and not any(row[:-1]) for row in system):
        return None
    unknown_values = [Fraction(0)] * unknowns
    for r, column in enumerate(pivots):
        unknown_values[column] = system[r][-1]
    return unknown_values


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


def normalised(parts: Sequence[int]) -> Matrix:
    """(1, 2, 1) → (1/4, 1/2, 1/4), as a matrix of one row."""
    return Matrix([[Fraction(part, sum(parts)) for part in parts]])
