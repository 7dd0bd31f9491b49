"""Matrices of exact values, and matrices of which only the shape is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import index as whole
from typing import TYPE_CHECKING, Any, TypeGuard, overload

from symattn.errors import InputError, OutsideError, ReadError
from symattn.exact.bridge import to_sympy
from symattn.exact.lowest import lowest
from symattn.exact.rounding import decimal_text, nearest_float
from symattn.exact.values import NUMBERS, Value, exact, has_symbols, is_finite, is_symbolic, listed, tidy

if TYPE_CHECKING:
    import sympy

Size = int | str
"""A number of rows or columns; a letter where it is left open."""


class Matrix:
    """An immutable matrix of exact values, made from rows of integers, fractions, decimals, texts, SymPy numbers.

    Indices are from 0 and behave as in NumPy, negative ones and slices too: `m[0, 1]` is an entry, `m[0]` and `m[:, 1]`
    are tuples of entries (NumPy's arrays of one axis), `m[0:2, 1:]` and `m[0:1]` are matrices.  Iteration goes over the
    entries, row by row, as in SymPy; `m.rows` are the rows.

    An entry is an `int`, a `Fraction`, a sum with roots and powers of e or a quotient of two, a decimal that is carried
    on (`arithmetic="decimal"`), −∞ or a SymPy expression.  Rational entries are `int` or `Fraction` already.

    `float(entry)` is the nearest float, but of a decimal that is carried on, which is known by intervals alone.
    `m.floats()`, `numpy.asarray(m, dtype=float)` and `torch.tensor(m.floats())` have those too.

    >>> m = Matrix([[1, "1/2"], ["sqrt(3)", 0.25]])
    >>> m.shape, m[0, 1], m.decimals(3)
    ((2, 2), Fraction(1, 2), (('1.000', '0.500'), ('1.732', '0.250')))
    >>> m[-1], m[:, 1], m[0:1, 1:], float(m[1, 0])
    ((√3, Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 4)), Matrix([[1/2]]), 1.7320508075688772)
    """

    __slots__ = ("rows",)
    rows: tuple[tuple[Value, ...], ...]

    def __init__(self, rows: object) -> None:
        """Take nested lists, a matrix of SymPy or NumPy, a tensor of PyTorch; one list of entries is one row.

        `InputError` names the entry that cannot be read, or the row that is too long.
        """
        self.rows = tuple(tuple(_entry(x, i, j) for j, x in enumerate(row, 1)) for i, row in enumerate(_rows(rows), 1))
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
        return cls._again(map(_settled_row, rows))

    @classmethod
    def _again(cls, rows: Iterable[tuple[Value, ...]]) -> Matrix:
        """A matrix of entries of another one."""
        matrix = cls.__new__(cls)
        matrix.rows = tuple(rows)
        return matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def T(self) -> Matrix:  # noqa: N802  (the name that NumPy and SymPy give it)
        """The transposed matrix."""
        return Matrix._again(zip(*self.rows, strict=True))

    @overload
    def __getitem__(self, index: tuple[int, int]) -> Value: ...
    @overload
    def __getitem__(self, index: int | tuple[int, slice] | tuple[slice, int]) -> tuple[Value, ...]: ...
    @overload
    def __getitem__(self, index: slice | tuple[slice, slice]) -> Matrix: ...
    def __getitem__(self, index: Any) -> Value | tuple[Value, ...] | Matrix:
        """An entry, a row or column as a tuple of entries, or a matrix for two slices.

        `OutsideError`, an `IndexError`, for what the matrix has not.
        """
        if type(index) is not tuple:
            index = (index, slice(None))
        if len(index) != 2:
            raise OutsideError(f"A matrix has rows and columns, two indices; {len(index)} came.")
        i, j = index
        if type(i) is not int or type(j) is not int:
            i, j = _index(i), _index(j)
        try:
            if not isinstance(i, slice):
                return self.rows[i][j]
            chosen = self.rows[i]
            if not isinstance(j, slice):
                return self.T.rows[j][i]
        except IndexError:
            raise OutsideError(
                f"There is no entry [{_said(i)}, {_said(j)}] in a matrix of shape {self.shape}."
            ) from None
        if not chosen or not chosen[0][j]:
            raise OutsideError(f"The slices leave nothing of a matrix of shape {self.shape}.")
        return Matrix._again(row[j] for row in chosen)

    def row(self, i: int) -> Matrix:
        """Row i as a matrix of one row."""
        return Matrix._again((self.rows[i],))

    def __iter__(self) -> Iterator[Value]:
        """Every entry, row by row."""
        return (x for row in self.rows for x in row)

    def map(self, function: Callable[[Value], Value]) -> Matrix:
        """The matrix of a function of every entry."""
        return Matrix.of((function(x) for x in row) for row in self.rows)

    def __eq__(self, other: object) -> bool:
        """Equal shapes and entries that are proved equal."""
        return isinstance(other, Matrix) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]  # quotients are compared, never put in a normal form

    def sympy(self) -> sympy.ImmutableMatrix:
        """The same matrix in SymPy, exactly."""
        import sympy

        return sympy.ImmutableMatrix([[to_sympy(x) for x in row] for row in self.rows])

    def decimals(self, places: int) -> tuple[tuple[str, ...], ...]:
        """Every entry correctly rounded to `places` decimal places (ties to even), proved."""
        return tuple(tuple(decimal_text(x, places) for x in row) for row in self.rows)

    def floats(self) -> tuple[tuple[float, ...], ...]:
        """The float nearest to every entry; −∞ is -inf.

        `InputError` names an entry that has symbols, or that is beyond the range of floats.
        """
        return tuple(tuple(_float(x, i, j) for j, x in enumerate(row, 1)) for i, row in enumerate(self.rows, 1))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """For NumPy: the nearest floats where floats are asked for; without a dtype, the exact entries as objects.

        `InputError` where whole numbers are asked for and an entry is none.
        """
        import numpy  # which is who calls this, and stays optional

        if copy is False:
            raise ValueError("The entries of a Matrix cannot be shared with NumPy; they have to be copied.")
        kind = "O" if dtype is None else numpy.dtype(dtype).kind
        if kind in "fc":
            return numpy.array(self.floats()).astype(dtype)
        if kind in "iu" and (other := next((x for x in self if not isinstance(x, int)), None)) is not None:
            raise InputError(f"The matrix has the entry {other}, which is not a whole number.")
        exactly: Any = numpy.empty(self.shape, dtype=object)
        for i, row in enumerate(self.rows):
            for j, x in enumerate(row):
                exactly[i, j] = x
        return exactly if kind == "O" else exactly.astype(dtype)

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
        """The transposed shape."""
        return Outline((self.shape[1], self.shape[0]))

    def row(self, i: int) -> Outline:
        """Row i as a matrix of one row."""
        return Outline((1, self.shape[1]))


AnyMatrix = Matrix | Outline


def indices(shape: tuple[int, int]) -> list[tuple[int, int]]:
    """The row and the column of every entry, row by row, from 0."""
    rows, columns = shape
    return list(product(range(rows), range(columns)))


def in_numbers(matrix: object) -> TypeGuard[Matrix]:
    """Whether it is a matrix with a number in every place: neither a letter, nor a mere shape."""
    return isinstance(matrix, Matrix) and not any(map(has_symbols, matrix))


def matrix(given: object) -> AnyMatrix:
    """A matrix of anything that `Matrix` takes; a matrix or an outline as it is."""
    return given if isinstance(given, Matrix | Outline) else Matrix(given)


def _rows(given: object) -> list[list[object]]:
    if isinstance(given, Matrix):
        given = given.rows
    if len(shape := getattr(given, "shape", ())) > 2:
        raise InputError(f"A matrix has two axes, rows and columns; an array of shape {tuple(shape)} came.")
    rows = listed([*given] if isinstance(given, Iterator) else given)
    if not isinstance(rows, list):
        raise InputError(f"A matrix is a list of rows; {_short(given)} came.")
    rows = [[*row] if isinstance(row, Iterator) else row for row in rows]
    if rows and not any(isinstance(row, list) for row in rows):
        rows = [rows]
    for i, row in enumerate(rows, 1):
        if not isinstance(row, list):
            raise InputError(f"Row {i} of the matrix is {_short(row)}; a list of entries was expected.")
    return rows


def _index(given: object) -> int | slice:
    """An index or a slice; whole numbers of NumPy are indices too."""
    if isinstance(given, slice):
        return given
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise OutsideError(f"{_short(given)} is not an index of a matrix; a whole number or a slice was expected.")
    return whole(given)


def _said(index: int | slice) -> str:
    if isinstance(index, int):
        return str(index)
    ends = [index.start, index.stop, *([] if index.step is None else [index.step])]
    return ":".join("" if end is None else str(end) for end in ends)


def _float(x: Value, i: int, j: int) -> float:
    try:
        return nearest_float(x)
    except InputError as error:
        raise InputError(f"Entry ({i}, {j}): {error}") from error


_SETTLED = NUMBERS - {Fraction}


def _settled_row(row: Iterable[Value]) -> tuple[Value, ...]:
    entries = tuple(row)
    return entries if _SETTLED.issuperset(map(type, entries)) else tuple(map(_settled, entries))  # as most are


def _settled(x: Value) -> Value:
    """A whole Fraction as an int; what SymPy has worked out to a number as our own value."""
    return tidy(x) if type(x) in NUMBERS or not is_symbolic(x) or not x.is_number else exact(x)


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


def values_of(matrix: AnyMatrix | None) -> Matrix:
    """A matrix whose entries are known, not its shape alone: as those of everything that is drawn or asked are."""
    assert isinstance(matrix, Matrix)
    return matrix


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
