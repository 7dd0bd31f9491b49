"""What one rule makes of every entry of a matrix, whatever led to it: one factor, one amount, another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from math import isfinite

from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, has_symbols
from symattn.exact.approximate import near
from symattn.foundation.languages import Message, message

FINEST = 20
"""The largest denominator of a constant: from rounded entries no finer one can be told."""

Rule = Callable[[int, int], Value]
"""What stands at (i, j)."""

Line = Callable[[int], int]
"""The row, or the column, that stands in place of one."""


def uniform(right: Matrix, wrong: Mapping[tuple[int, int], Value]) -> Iterator[tuple[Rule, Message]]:
    """The rules for a whole matrix that its wrong entries suggest, each with its clause."""
    if any(x is NEGATIVE_INFINITY or has_symbols(x) for x in (*right, *wrong.values())):
        return
    place = max(wrong, key=lambda c: abs(near(right[c])))
    own, due = near(wrong[place]), near(right[place])
    if not isfinite(own) or not isfinite(due):
        return
    factor = Fraction(own / due).limit_denominator(FINEST) if due else Fraction(0)
    amount = Fraction(own - due).limit_denominator(FINEST)
    if factor:
        yield lambda i, j: right[i, j] * factor, message("every entry is off by the same factor")
    yield lambda i, j: right[i, j] + amount, message("every entry is off by the same amount")
    yield lambda i, j: right[i, j] * right[i, j], message("every entry is squared")
    rows, columns = right.shape
    for k in range(1, rows):
        yield _moved(right, partial(_shifted, rows, k), _same), message("whole rows or columns are shifted")
    for k in range(1, columns):
        yield _moved(right, _same, partial(_shifted, columns, k)), message("whole rows or columns are shifted")
    upside: tuple[Line, ...] = (_same, partial(_from_the_end, rows))
    sides: tuple[Line, ...] = (_same, partial(_from_the_end, columns))
    for row, column in product(upside, sides):
        yield _moved(right, row, column), message("whole rows or columns are in reverse order")


def _moved(right: Matrix, row: Line, column: Line) -> Rule:
    """What belongs to another row and column."""
    return lambda i, j: right[row(i), column(j)]


def _same(i: int) -> int:
    return i


def _shifted(count: int, by: int, i: int) -> int:
    return (i + by) % count


def _from_the_end(count: int, i: int) -> int:
    return count - 1 - i
