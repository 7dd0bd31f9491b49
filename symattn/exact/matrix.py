"""Matrices of exact values, and matrices of which only the shape is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symattn.errors import InputError, ReadError
from symattn.exact.lowest import lowest
from symattn.exact.rounding import decimal_text
from symattn.exact.values import Value, exact, is_finite, is_symbolic, tidy

if TYPE_CHECKING:
    import sympy

Size = int | str
"""A number of rows or columns; a letter where it is left open."""


class Matrix:
    """An immutable matrix of exact values; indices are from 0, as in NumPy and SymPy.

    >>> m = Matrix([[1, "1/2"], ["sqrt(3)", 0.25]])
    >>> m.shape, m[0, 1], m.decimals(3)
    ((2, 2), Fraction(1, 2), (('1.000', '0.500'), ('1.732', '0.250')))
    """

    __slots__ = ("rows",)
    rows: tuple[tuple[Value, ...], ...]

    def __init__(self, rows: Iterable[Iterable[object]]) -> None:
        """Take rows of anything `exact` takes; `InputError` names the entry that cannot be read."""
        self.rows = tuple(tuple(_entry(x, i, j) for j, x in enumerate(row, 1)) for i, row in enumerate(rows, 1))
        if not self.rows or not self.rows[0]:
            raise InputError("A matrix needs at least one row and one column.")
        width = len(self.rows[0])
        for i, row in enumerate(self.rows, 1):
            if len(row) != width:
                raise InputError(
                    f"The matrix is ragged: row 1 has {_count(width, 'entry', 'entries')}, row {i} has {len(row)}."
                )

    @classmethod
    def of(cls, rows: Iterable[Iterable[Value]]) -> Matrix:
        """A matrix of values that are exact already; not checked."""
        matrix = cls.__new__(cls)
        matrix.rows = tuple(tuple(map(_settled, row)) for row in rows)
        return matrix

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    @property
    def T(self) -> Matrix:  # noqa: N802  (the name that NumPy and SymPy give it)
        return Matrix.of(zip(*self.rows, strict=True))

    def __getitem__(self, index: tuple[int, int]) -> Value:
        i, j = index
        return self.rows[i][j]

    def row(self, i: int) -> Matrix:
        """Row i as a matrix of one row."""
        return Matrix.of((self.rows[i],))

    def __iter__(self) -> Iterator[Value]:
        """Every entry, row by row."""
        return (x for row in self.rows for x in row)

    def map(self, function: Callable[[Value], Value]) -> Matrix:
        return Matrix.of((function(x) for x in row) for row in self.rows)

    def __eq__(self, other: object) -> bool:
        """Equal shapes and entries that are proved equal."""
        return isinstance(other, Matrix) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]  # quotients are compared, never put in a normal form

    def sympy(self) -> sympy.ImmutableMatrix:
        """The same matrix in SymPy, exactly."""
        import sympy

        from symattn.exact.bridge import to_sympy

        return sympy.ImmutableMatrix([[to_sympy(x) for x in row] for row in self.rows])

    def decimals(self, places: int) -> tuple[tuple[str, ...], ...]:
        """Every entry correctly rounded to so many decimal places (ties to even), proved."""
        return tuple(tuple(decimal_text(x, places) for x in row) for row in self.rows)

    def __repr__(self) -> str:
        return f"Matrix([{', '.join('[' + ', '.join(map(str, row)) + ']' for row in self.rows)}])"

    def _repr_latex_(self) -> str:
        text: str = self.map(lambda x: lowest(x) if is_finite(x) else x).sympy()._repr_latex_()
        return text


@dataclass(frozen=True, slots=True)
class Outline:
    """A matrix of which only the shape is known; a size may be a letter (`N`)."""

    shape: tuple[Size, Size]

    @property
    def T(self) -> Outline:  # noqa: N802
        return Outline((self.shape[1], self.shape[0]))

    def row(self, i: int) -> Outline:
        return Outline((1, self.shape[1]))


AnyMatrix = Matrix | Outline


def matrix(given: object) -> AnyMatrix:
    """Read a matrix from nested lists, a SymPy or NumPy matrix, or one of ours.

    One list of entries is one row.  `InputError` says which entry cannot be read, or which row is too long.
    """
    if isinstance(given, Matrix | Outline):
        return given
    tolist = getattr(given, "tolist", None)
    rows = tolist() if callable(tolist) else given
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise InputError(f"A matrix is a list of rows; {_short(given)} came.")
    if rows and not any(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        rows = [rows]
    for i, row in enumerate(rows, 1):
        if isinstance(row, str) or not isinstance(row, Sequence):
            raise InputError(f"Row {i} of the matrix is {_short(row)}; a list of entries was expected.")
    return Matrix(rows)


def _settled(x: Value) -> Value:
    """A whole Fraction as an int; what SymPy has worked out to a number as our own value."""
    return exact(x) if is_symbolic(x) and x.is_number else tidy(x)


def _entry(x: object, i: int, j: int) -> Value:
    try:
        return exact(x)
    except ReadError as error:
        raise InputError(f"Entry ({i}, {j}), {_short(x)}, cannot be read: {error}") from error
    except InputError as error:
        raise InputError(f"Entry ({i}, {j}): {error}") from error


def _short(x: object) -> str:
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "…"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
