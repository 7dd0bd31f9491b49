"""Between words and numbers: the row of an embedding matrix for a word, and from probabilities to the next word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key, reduce

from symattn.derivation.algebra import Algebra, Entries, Index, T, index
from symattn.derivation.derivation import (
    Convention,
    Floats,
    Pull,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    convention,
)
from symattn.derivation.numpy_source import by_line, helper_axis
from symattn.derivation.ops.lines import LineOp, LineRuleOp
from symattn.derivation.ops.scores import row_written
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import NOTHING, RING, Box, Window, at_least_0, point
from symattn.errors import InputError, LetterError, OutsideError, ShapeError, UndefinedError
from symattn.exact import Matrix, Value, compare, has_symbols, sign
from symattn.exact.sums import shares, total
from symattn.formula import ZERO, Call, Formula, Fraction, ListOf, Name, Number, Sum, Text, equal

# ------------------------------------------------------------------------------------------------ look-up


@dataclass(frozen=True)
class LookUp(LineRuleOp):
    """Some rows of a matrix (words × d), one for each word of a text (n × d): what an embedding layer does.

    Row i of the result is row `rows[i]`, counted from 0 (Vaswani et al. 2017, section 3.4; Bengio et al. 2003, section
    2, where the matrix is C).  It is the product of one-hot rows with the matrix.
    """

    rows: tuple[int, ...]
    text: tuple[str, ...] = ()
    along: Axis = "rows"
    title = "Look-up"
    moves = True
    shows_factors = False

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((count, width),) = shapes
        if isinstance(count, int) and (beyond := [r for r in self.rows if r >= count]):
            raise OutsideError(f"{self.line} {beyond[0] + 1} is looked up, and there are {count}.")
        return len(self.rows), width

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (table,) = operands
        if isinstance(i, int):
            return table[self.rows[i], j]
        return A.pieces(i, [1] * len(self.rows), lambda p, k: table[self.rows[p], j])

    def pull(self, use: Use) -> Pull:
        count = use.shapes[0][0 if self.along == "rows" else 1]
        if not isinstance(count, int):
            raise LetterError(f"Step {use.step.name!r}: for a gradient, the number of words must not be {count}.")
        return Pull((use.g,), LookUpGradient(self.rows, count, self.along))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the product with one-hot rows."""
        (table,) = operands
        one_hot = [[float(r == row) for r in range(len(table))] for row in self.rows]
        columns = list(zip(*table, strict=True))
        return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in one_hot]

    def written(self, style: Style, *operands: Formula) -> Formula:
        numbers = ListOf(tuple(Number(str(row + 1)) for row in self.rows), "", ",")
        return Call(Name("rows" if self.along == "rows" else "columns", (numbers,)), operands)

    def numpy(self, *operands: str) -> str:
        numbers = list(self.rows)
        return f"{operands[0]}[{numbers}]" if self.along == "rows" else f"{operands[0]}[:, {numbers}]"

    def range_of_rows(self, *boxes: Box) -> Box:
        return tuple(boxes[0][row] for row in self.rows)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if not self.text:
            return []
        return [convention(_LOOKED_UP[self.along], words=ListOf(tuple(map(Text, self.text)), "", ","))]


_LOOKED_UP: dict[Axis, str] = {
    "rows": "The words are looked up in the table in this order: {words}. Each has its row.",
    "columns": "The words are looked up in the table in this order: {words}. Each has its column.",
}


@dataclass(frozen=True)
class LookUpGradient(LineRuleOp):
    """Each row of the gradient added to the row that was looked up; 0 in rows that were not (n × d becomes words × d).

    A word that comes twice gets the sum of both.
    """

    rows: tuple[int, ...]
    size: int
    along: Axis = "rows"
    title = "Back through the look-up"
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((count, width),) = shapes
        if count != len(self.rows):
            raise ShapeError(f"{len(self.rows)} {self.along} were looked up;")
        return self.size, width

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (g,) = operands
        if isinstance(i, str):
            return A.pieces(i, [1] * self.size, lambda p, k: self._row(A, g, p, j))
        return self._row(A, g, i, j)

    def _row(self, A: Algebra[T], g: Entries[T], row: int, j: Index) -> T:
        terms = [g[k, j] for k, looked_up in enumerate(self.rows) if looked_up == row]
        return reduce(A.sum, terms) if terms else A.number(0)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        rows = [[0.0] * len(operands[0][0]) for _ in range(self.size)]
        for row, line in zip(self.rows, operands[0], strict=True):
            rows[row] = [x + y for x, y in zip(rows[row], line, strict=True)]
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("spread"), operands)

    def numpy(self, *operands: str) -> str:
        places = f"np.eye({self.size})[{list(self.rows)}]"
        return f"{places}.T @ {operands[0]}" if self.along == "rows" else f"{operands[0]} @ {places}"


# ------------------------------------------------------------------------------------------------ the next word


@dataclass(frozen=True)
class TopK(LineOp):
    """The k largest probabilities of each row over their sum, and 0 for the others; of equal ones the first are kept.

    Top-k sampling draws the next word from these (Fan, Lewis and Dauphin 2018, section 5.1).
    """

    k: int
    along: Axis = "rows"
    title = "Top-k"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    weighs = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        count = shapes[0][1]
        if isinstance(count, int) and self.k > count:
            raise ShapeError(f"the {self.k} largest of {count} were asked for;")
        return shapes[0]

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        _refuse_letters(a, self.title)
        return Matrix.of(map(self._kept, a.rows))

    def _kept(self, row: Sequence[Value]) -> list[Value]:
        if negative := [x for x in row if sign(x) < 0]:
            raise UndefinedError(f"Top-k is taken of probabilities, which are 0 or more, not {negative[0]}.")
        best = _largest_first(row)[: self.k]
        kept = [row[j] for j in best]
        if total(kept) == 0:
            raise UndefinedError(f"The {self.k} largest are 0, and nothing can be divided by their sum.")
        row_shares: list[Value] = [0] * len(row)
        for j, share in zip(best, shares(kept), strict=True):
            row_shares[j] = share
        return row_shares

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        """Component j of the top-k of row i: top_{2;3}(1/4, 1/4, 1/2)."""
        return Call(Name("top", (Number(str(self.k)), index(j))), row_written(i, *operands))

    def in_numbers(self, i: int, j: int, matrices: Sequence[Matrix], *operands: View) -> Formula:
        """The probability over the sum of those that are kept, or 0."""
        (a,), (seen,) = matrices, operands
        if any(map(has_symbols, a)):
            return self.working(i, j, *operands)
        if self.turned:
            i, j, a, seen = j, i, a.T, seen.transposed
        best = sorted(_largest_first(a.rows[i])[: self.k])
        if j not in best:
            return ZERO
        kept = tuple(seen.entry(i, k) for k in best)
        return Fraction(kept[best.index(j)], Sum(kept))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By their ranks: one is kept if fewer than k others are larger, or as large and before it."""
        return [self._by_ranks([round(x, DIGITS) for x in row], row) for row in operands[0]]

    def _by_ranks(self, rounded: Sequence[float], row: Sequence[float]) -> list[float]:
        ranks = [sum(y > x or (y == x and i < j) for i, y in enumerate(rounded)) for j, x in enumerate(rounded)]
        whole = sum(x for x, rank in zip(row, ranks, strict=True) if rank < self.k)
        return [x / whole if rank < self.k else 0.0 for x, rank in zip(row, ranks, strict=True)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("top", (Number(str(self.k)),)), operands)

    def numpy(self, *operands: str) -> str:
        return f"top_shares({operands[0]}, {self.k}{helper_axis(self.along)})"

    def range_of_rows(self, *boxes: Box) -> Box:
        """A share grows with its own number, and falls with the k − 1 largest others, which are kept beside it."""

        def line(row: Sequence[Window]) -> tuple[Window, ...]:
            return tuple(self._range(at_least_0(x), [at_least_0(y) for y in (*row[:j], *row[j + 1 :])])
                         for j, x in enumerate(row))  # fmt: skip

        return tuple(map(line, *boxes))

    def _range(self, x: Window, others: Sequence[Window]) -> Window:
        if sum(y.low > x.high for y in others) >= self.k:
            return NOTHING
        most = reduce(RING.add, map(point, sorted((y.high for y in others), reverse=True)[: self.k - 1]), NOTHING)
        least = reduce(RING.add, map(point, sorted((y.low for y in others), reverse=True)[: self.k - 1]), NOTHING)
        if (whole := RING.add(point(x.high), least)).low <= 0:
            raise UndefinedError("The sum may be 0.")
        high = RING.divide(point(x.high), whole).high
        surely = sum(y.high >= x.low for y in others) < self.k and x.low > 0
        return Window(RING.divide(point(x.low), RING.add(point(x.low), most)).low if surely else NOTHING.low, high)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(_TOP[self.along], k=equal(Name("k"), Number(str(self.k))))]


_TOP: dict[Axis, str] = {
    "rows": "Top-k with {k} keeps the k largest probabilities of each row, divides them by their sum, and makes the "
    "others 0; of equal ones, those further to the left are kept.",
    "columns": "Top-k with {k} keeps the k largest probabilities of each column, divides them by their sum, and makes "
    "the others 0; of equal ones, those further up are kept.",
}


@dataclass(frozen=True)
class ArgMax(LineOp):
    """The number of the largest entry of each row, from 1 (n × c becomes n × 1); of equal ones, of the first.

    Of probabilities it is the next word of greedy decoding.  `words` are what the numbers stand for, none where they
    are asked for as numbers.
    """

    words: tuple[str, ...] = ()
    along: Axis = "rows"
    title = "Arg max"
    shows_factors = False

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if self.words and isinstance(columns, int) and columns != len(self.words):
            raise ShapeError(f"there are {len(self.words)} words, and each needs a number;")
        return rows, 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        _refuse_letters(a, self.title)
        return Matrix.of([_largest_first(row)[0] + 1] for row in a.rows)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        return Call(Name("argmax"), row_written(i, *operands))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        rounded = ([round(x, DIGITS) for x in row] for row in operands[0])
        return [[float(1 + row.index(max(row)))] for row in rounded]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("argmax"), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.argmax(np.round({operands[0]}, {DIGITS}), {by_line(self.along)}) + 1"

    def range_of_rows(self, *boxes: Box) -> Box | None:
        """The numbers of those that may be the largest, where they stand side by side."""
        windows: list[tuple[Window, ...]] = []
        for row in boxes[0]:
            highest = max(x.low for x in row)
            may_be = [j for j, x in enumerate(row, 1) if x.high >= highest]
            if may_be[-1] - may_be[0] >= len(may_be):
                return None
            windows.append((Window(RING.number(may_be[0]).low, RING.number(may_be[-1]).high),))
        return tuple(windows)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if self.words:
            return [convention(_WORDS[self.along], words=_listed(self.words))]
        return [convention(_NUMBERS[self.along])]


_WORDS: dict[Axis, str] = {
    "rows": "The words are numbered {words}. The next word is the one with the largest probability in its row, of "
    "equal ones the first; write the word or its number.",
    "columns": "The words are numbered {words}. The next word is the one with the largest probability in its column, "
    "of equal ones the first; write the word or its number.",
}
_NUMBERS: dict[Axis, str] = {
    "rows": "Arg max is the number of the largest entry in a row, counted from 1; of equal ones, of the first.",
    "columns": "Arg max is the number of the largest entry in a column, counted from 1; of equal ones, of the first.",
}

DIGITS = 12
"""Floats that agree so far are equal."""


def _listed(words: Sequence[str]) -> Formula:
    """1 the, 2 students, …"""
    return ListOf(tuple(Text(f"{number} {word}") for number, word in enumerate(words, 1)), "", ",")


def _largest_first(row: Sequence[Value]) -> list[int]:
    """The places of the entries, from 0, in order of size; of equal ones the first comes first."""
    order: Callable[[int], object] = cmp_to_key(lambda i, j: compare(row[j], row[i]))
    return sorted(range(len(row)), key=order)  # type: ignore[arg-type]


def _refuse_letters(a: Matrix, what: str) -> None:
    if any(map(has_symbols, a)):
        raise InputError(
            f"Which of several entries in letters is the largest is not known; {what.lower()} needs numbers."
        )


OPS = {"look_up": LookUp, "top_k": TopK, "argmax": ArgMax}
