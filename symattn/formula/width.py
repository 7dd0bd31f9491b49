"""How wide a formula is when it is set, and chains cut to a width.

The figures are those of Computer Modern at 11 pt, in em, a little on the generous side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import assert_never

from symattn.formula.nodes import (
    NOTHING,
    Annotated,
    BigSum,
    Blank,
    Bracketed,
    Call,
    CellKind,
    Dots,
    Formula,
    Fraction,
    Infinity,
    ListOf,
    Marked,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Shape,
    Sum,
    Text,
    Transposed,
    explicit,
    is_short_fraction,
    is_signed_number,
    pieces,
    unsigned,
)

_SCRIPT = 0.74  # the size of an index beside that of a letter
_RELATION, _PLUS, _DOT, _TIMES = 1.34, 1.23, 0.73, 1.23  # signs with the space at both sides
_BRACKET, _HIGH_BRACKET, _COLUMN = 0.4, 0.62, 0.93
_LETTERS = {
    "W": 0.96,
    "M": 0.98,
    "m": 0.88,
    "w": 0.72,
    "i": 0.36,
    "l": 0.33,
    "j": 0.44,
    "f": 0.55,
    "t": 0.38,
    "I": 0.45,
}
BLANK: dict[CellKind, float] = {
    "integer": 2.9,
    "decimal": 4.7,
    "fraction": 4.0,
    "exponential": 7.8,
    "word": 10.4,
}


def width(formula: Formula) -> float:
    """The width of a formula on a line of its own, in em at 11 pt: an estimate, slightly generous."""
    try:
        return formula._width
    except AttributeError:
        em = _measured(formula, 1.0, 1.0)
        object.__setattr__(formula, "_width", em)
        return em


def fold(relation: Relation, limit: float) -> tuple[Formula, ...]:
    """The chain in lines no wider than `limit` em where its signs allow it.

    Every line but the first continues the one above: it begins with a relation sign, which is to stand below the
    first sign of the chain, or goes on with a sum or a product of matrices that is too wide for a line.

    >>> q, one, two = Name("q"), Number("1" * 30), Number("2" * 30)
    >>> [len(line.parts) for line in fold(Relation((q, one, two), ("=", "=")), 20)]
    [2, 2]
    >>> len(fold(Relation((q, Sum((one, two, one)), one), ("=", "=")), 20))
    4

    A fraction whose numerator is too wide becomes a sum of fractions, and so do brackets:

    >>> len(fold(Relation((q, Fraction(Sum((one, two)), one)), ("=",)), 20))
    2
    >>> len(fold(Relation((q, Product((q, Sum((one, two))))), ("=",)), 20))
    2
    """
    lines: list[Formula] = []
    parts, signs = relation.parts[:1], relation.signs[:0]
    used = indent = width(relation.parts[0])
    for sign, part in zip(relation.signs, relation.parts[1:], strict=True):
        more = _RELATION + width(part)
        if (signs or _continues(parts[0])) and used + more > limit:
            lines.append(_line(parts, signs))
            parts, signs, used = (NOTHING,), (), indent
        first, *others = _apart(part, limit - indent - _RELATION) if used + more > limit else [part]
        parts, signs, used = (*parts, first), (*signs, sign), used + more
        for piece in others:
            lines.append(_line(parts, signs))
            parts, signs = ((piece,), ()) if _continues(piece) else ((NOTHING, piece), ("·",))
            used = indent + _RELATION + width(piece)
    return (*lines, _line(parts, signs))


def _apart(part: Formula, limit: float) -> Sequence[Formula]:
    """A part of a chain that is too wide, in as many pieces as it has lines: sums, or the matrices of a product."""
    match part:
        case Sum():
            return _cut(part, limit)
        case Fraction(Sum() as above, below):
            return _cut(_each(above, lambda piece: Fraction(piece, below), limit - _PLUS - 0.3), limit)
        case Product((*before, Sum() as last)):
            room = limit - _PLUS - _DOT - 2 * _HIGH_BRACKET - width(replace(part, factors=tuple(before)))
            return _cut(_each(last, lambda piece: replace(part, factors=(*before, piece)), room), limit)
        case Product(factors) if all(isinstance(factor, MatrixOf) for factor in factors):
            return factors
    return [part]


def _line(parts: tuple[Formula, ...], signs: tuple[str, ...]) -> Formula:
    """A line of a chain; one that goes on with a sum is a row, so that its sign is aligned with no other."""
    if not signs:
        return parts[0]
    return Row((Relation(parts, signs),)) if _continues(parts[0]) else Relation(parts, signs)


def _continues(formula: Formula) -> bool:
    return isinstance(formula, Sum) and formula.terms[:1] == (NOTHING,)


def _each(total: Sum, write: Callable[[Formula], Formula], limit: float) -> Sum:
    """What is written with a long sum in it as a sum of the same, each with as much of it as a line has room for."""
    written: list[Formula] = []
    for line in _cut(total, limit):
        match tuple(term for term in line.terms if term != NOTHING):
            case (Negative(body),):
                written.append(Negative(write(body)))
            case (term,):
                written.append(write(term))
            case terms:
                written.append(write(Sum(terms)))
    return Sum(tuple(written))


def _cut(terms: Sum, limit: float) -> list[Sum]:
    """A sum in lines; every one but the first begins with nothing, so that its sign is written."""
    lines: list[tuple[Formula, ...]] = []
    line, used = terms.terms[:1], width(terms.terms[0])
    for term in terms.terms[1:]:
        more = _PLUS + width(term.body if isinstance(term, Negative) else term)
        if used + more > limit:
            lines.append(line)
            line, used = (NOTHING,), 0.0
        line, used = (*line, term), used + more
    return [Sum(piece) for piece in (*lines, line)]


def wrapped(formulas: Iterable[Formula], limit: float) -> tuple[Formula, ...]:
    """Formulas next to one another as far as a line goes; one with a line to itself begins where the others do."""
    lines: list[list[Formula]] = [[]]
    for formula in formulas:
        if lines[-1] and width(Row((*lines[-1], formula))) > limit:
            lines.append([])
        lines[-1].append(formula)
    if all(len(line) == 1 for line in lines):
        return tuple(formula for [formula] in lines)
    return tuple(Row(tuple(line)) for line in lines if line)


def _measured(node: Formula, size: float, fractions: float) -> float:
    """The width with letters of a size; in a fraction with a bar they are smaller by the factor `fractions`."""

    def inner(child: Formula) -> float:
        return width(child) if size == fractions == 1 else _width(child, size, fractions)

    def script(*children: Formula) -> float:
        return sum(_width(child, _SCRIPT * min(size, 1.0), 1.0) for child in children)

    match explicit(node):
        case Number(digits):
            return sum(0.5 if digit.isdigit() else 0.28 for digit in digits) * size
        case Name(base, sub, sup, primes, _):
            word = _letters(base) + 0.28 * primes
            return word * size + max(script(*sub) + 0.2 * (len(sub) - 1), _letters(sup) * _SCRIPT * size) + 0.06
        case Relation(parts, signs):
            return sum(map(inner, parts)) + _RELATION * len(signs)
        case Power(base, exponent):
            return inner(base) + script(exponent) + 0.05
        case MatrixOf() as matrix:
            return _matrix(matrix)
        case Product(factors, sign) as product:
            gap = {"": 0.17, "·": _DOT, "×": _TIMES, "⊙": _TIMES}[sign] * size
            signs, parts = zip(*pieces(product), strict=True)
            dots = signs.count("·") if sign == "" else 0
            return gap * (len(factors) - 1) + _DOT * size * dots + sum(map(inner, parts))
        case Sum(terms) as total:
            pluses = (_PLUS if size == 1 else 0.8) * size * (len(terms) - 1)
            return pluses + sum(inner(part) for _, part in pieces(total))
        case Text(words):
            return 0.5 * len(words) * size
        case Infinity():
            return 1.0 * size
        case Dots(kind):
            return (0.3 if kind in ("cell", "vertical") else 1.2) * size
        case Blank(kind):
            return BLANK[kind]
        case Negative(body):
            return 0.8 * size + inner(body)
        case Fraction() as fraction if size < 1:
            return sum(inner(part) for _, part in pieces(fraction)) + 0.55 * size
        case Fraction(above, below):
            return 0.26 + max(_width(part, size, _SCRIPT) for part in (above, below)) * fractions
        case Root(body):
            return inner(body) + 0.85 * size
        case Transposed(body):
            return inner(body) + 0.68 * size
        case Call(function, arguments):
            return inner(function) + _list(arguments, inner, 0.45 * size) + 2 * _widest_bracket(arguments) * size
        case Bracketed(body, bracket):
            return inner(body) + (2 * _bracket(body) * size if bracket else 0)
        case ListOf(items, _, separator):
            gap = (0.45 if separator else 0.56) * size
            return _list(items, inner, gap) + 2 * _widest_bracket(items) * size
        case Shape(rows, columns):
            return inner(rows) + inner(columns) + _TIMES * size
        case Annotated(body, note, "under"):
            return max(inner(body), script(note)) + 0.17
        case Annotated(body, note, "index"):
            return inner(body) + script(note) + 0.06
        case Annotated(body, note, _):
            return inner(body) + 1 + inner(note)
        case Marked(body, sign, _):
            return inner(body) + 0.17 + 0.5 * len(sign) * _SCRIPT * size
        case BigSum(index, lower, upper, body):
            bounds = max(script(index, lower) + (0.6 if lower != NOTHING else 0), script(upper))
            return max(1.45 * size, bounds) + 0.17 + inner(body)
        case Row(items):
            return _list(items, inner, 2)
        case unknown:
            assert_never(unknown)


_width = lru_cache(maxsize=8192)(_measured)
"""The same powers and indices come again and again."""


def _letters(letters: str) -> float:
    if len(letters) == 1:
        return _LETTERS.get(letters, 0.8 if letters.isupper() else 0.55)
    return sum(_LETTERS.get(letter, 0.75 if letter.isupper() else 0.53) for letter in letters)


def _list(items: Iterable[Formula], inner: Callable[[Formula], float], gap: float) -> float:
    widths = [inner(item) for item in items]
    return sum(widths) + gap * max(0, len(widths) - 1)


def _is_high(node: Formula) -> bool:
    match node:
        case MatrixOf() | Fraction() | BigSum():
            return True
        case Power(base, _):
            return _is_high(base)
        case Product(items, _) | Sum(items):
            return any(map(_is_high, items))
        case Negative(body) | Root(body) | Transposed(body) | Annotated(body, _, _) | Bracketed(body, _):
            return _is_high(body)
        case _:
            return False


def _bracket(node: Formula) -> float:
    return _HIGH_BRACKET if _is_high(node) else _BRACKET


def _widest_bracket(nodes: Iterable[Formula]) -> float:
    return max(map(_bracket, nodes), default=_BRACKET)


def _matrix(node: MatrixOf) -> float:
    columns = _columns(node)
    wide = columns.even or columns.widths
    gap = _COLUMN + (0.3 if node.separator else 0)
    left = max((width(label) + _COLUMN for label in node.row_labels), default=0.0)
    labelled = node.row_labels or node.column_labels
    edge = 0.45 if labelled else 0.1 if node.bracket == "" else _HIGH_BRACKET
    brackets = 2 * (edge + (_BRACKET if node.nested else 0))
    return sum(wide) + gap * max(0, len(wide) - 1) + left + brackets


# --- columns of numbers -------------------------------------------------------------------------------

Pads = Mapping[tuple[int, int], tuple[float, float]]
_EVEN = 6  # columns: a matrix of more would grow too wide by what its signs need
_MINUS, _DIGIT, _POINT = 0.778, 0.5, 0.278  # of the fonts, exactly: what is put beside a number stands in their place


@dataclass(frozen=True, slots=True)
class MatrixColumns:
    """How the columns of a matrix are set.

    `numbers` says which of them are numbers alone whose signs or digits differ in width, `even` how wide each is where
    all are to be equally wide, and `pads` how much stands left and right of a cell, in em, so that decimal points are
    below one another, whatever is in the middle of its column, and columns are even.
    """

    widths: tuple[float, ...]
    numbers: tuple[bool, ...]
    even: tuple[float, ...]
    pads: Pads


def matrix_columns(node: MatrixOf) -> MatrixColumns:
    """Decimals are aligned at their points; few columns of numbers and fractions of numbers are even.

    >>> one, tenth = Number("1"), Number("0.1")
    >>> columns = matrix_columns(MatrixOf(((one, one), (tenth, one))))
    >>> columns.numbers, columns.pads[0, 0]
    ((True, False), (0.0, 0.778))
    """
    return _columns(node)


@lru_cache(maxsize=1024)
def _columns(node: MatrixOf) -> MatrixColumns:
    labels = node.column_labels or [None] * len(node.rows[0])
    columns = [_Column.of(cells, label) for cells, label in zip(zip(*node.rows, strict=True), labels, strict=True)]
    widths = tuple(column.width for column in columns)
    may_be_even = 1 < len(widths) <= _EVEN and all(
        is_signed_number(cell) for column in columns for cell in column.cells
    )
    even = (max(widths),) * len(widths) if may_be_even and max(widths) - min(widths) > 0.05 else ()
    pads: dict[tuple[int, int], tuple[float, float]] = {}
    for j, column in enumerate(columns):
        for i in range(len(column.cells)):
            left, right = column.pads(i)
            if even and i == 0:
                left, right = (side + (even[j] - column.natural(i)) / 2 for side in (left, right))
            if (left, right) != (0.0, 0.0):
                pads[i, j] = round(left, 3), round(right, 3)
    return MatrixColumns(widths, tuple(column.numbers_differ for column in columns), even, pads)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's cells, how far each number among them reaches to both sides of its decimal point, and how far any."""

    cells: tuple[Formula, ...]
    extents: tuple[tuple[float, float] | None, ...]
    before: float
    after: float
    width: float

    @classmethod
    def of(cls, cells: tuple[Formula, ...], label: Formula | None) -> _Column:
        extents = tuple(map(_extent, cells))
        before, after = (max((x[side] for x in extents if x), default=0.0) for side in (0, 1))
        others = [_cell_width(cell) for cell, extent in zip(cells, extents, strict=True) if not extent]
        return cls(cells, extents, before, after, max(*others, before + after, width(label) if label else 0.0, 0.0))

    def pads(self, i: int) -> tuple[float, float]:
        """What puts a number's decimal point below the others'."""
        extent = self.extents[i]
        return (self.before - extent[0], self.after - extent[1]) if extent else (0.0, 0.0)

    def natural(self, i: int) -> float:
        """How wide a cell is with its pads."""
        return self.before + self.after if self.extents[i] else _cell_width(self.cells[i])

    @property
    def numbers_differ(self) -> bool:
        """Whether there are numbers alone, and not all reach equally far."""
        alone = all(isinstance(unsigned(cell), Number) for cell in self.cells)
        return alone and any(extent != (self.before, self.after) for extent in self.extents)


def _cell_width(cell: Formula) -> float:
    """Cells are set as in a line of text: a fraction of plain numbers is small, others are not."""
    return _width(cell, 1.0, _SCRIPT + 0.1) if is_short_fraction(unsigned(cell)) else width(cell)


@lru_cache(maxsize=4096)  # the same numbers stand in every matrix
def _extent(cell: Formula) -> tuple[float, float] | None:
    """How far a number reaches to both sides of its decimal point; a fraction stands with its middle below a digit."""
    minus = _MINUS if isinstance(cell, Negative) else 0.0
    match unsigned(cell):
        case Number(digits):
            whole = re.split("[.,]", digits, maxsplit=1)[0]
            return minus + _figures(whole), _figures(digits[len(whole) :])
        case Fraction() as fraction if is_short_fraction(fraction):
            half = _cell_width(fraction) / 2
            return minus + half + _DIGIT / 2, half - _DIGIT / 2
        case _:
            return None


def _figures(digits: str) -> float:
    return sum(_DIGIT if digit.isdigit() else _POINT for digit in digits)
