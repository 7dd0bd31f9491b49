"""Slips: one wrong entry, as everybody makes them who believes nothing wrong (rules.md 2.2, arithmetic slips).

What goes wrong inside an entry comes from the rule of its operation (`varied`); what goes wrong with the finished
number, its sign, its digits, its place, from the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations, product
from types import MappingProxyType

from symattn.derivation.derivation import Derivation, Op
from symattn.derivation.misconceptions.base import followed
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import Add, MatMul, SumOver
from symattn.derivation.varied import Cause, Varied, Working, bracketed
from symattn.errors import InputError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, divide, exact, has_symbols, rounded
from symattn.exact.rounding import approximate
from symattn.foundation.languages import Message, message

Says = Callable[[], Message]
"""How a slip was made, in words: most come near nothing that was written, and are never put into words."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One kind of slip: `detect` says how the wrong entry e' lies to the right one e, `feedback` what to tell.

    Only some are `planted` where a mistake is to be found.  `of_weights` is what to tell instead of a softmax, where
    terms are powers.
    """

    id: str
    name: str
    detect: str
    feedback: str
    planted: bool = True
    of_weights: str = ""

    def advice(self, op: Op | None) -> str:
        """What to tell of this slip in a step with this operation."""
        return self.of_weights if self.of_weights and isinstance(op, Softmax) else self.feedback


@dataclass(frozen=True, slots=True)
class Slipped:
    """A slip made at entry (i, j), from 0, of a step; `says` in a short sentence how.

    `entries` are all entries that it spoils, this one among them: a copy error spoils a whole row or column.  Entries
    that the same slip spoils have the same `cause`.
    """

    slip: Slip
    step: str
    i: int
    j: int
    value: Value
    says: str
    entries: Mapping[tuple[int, int], Value] = field(repr=False)
    cause: Cause = None

    def line(self, d: Derivation) -> Matrix:
        """What someone writes for the step who makes this slip."""
        right = d[self.step].result
        assert isinstance(right, Matrix)
        return Matrix.of([self.entries.get((i, j), x) for j, x in enumerate(row)] for i, row in enumerate(right.rows))

    def on(self, d: Derivation) -> Derivation:
        """The derivation of someone who makes this slip: the step pinned, and what follows from it worked out."""
        result, failed = followed(d, {self.step: replace(d[self.step], result=self.line(d), pinned=True)})
        return result if failed is None else result.extended(failed)  # which says why it is not defined


SLIPS: Mapping[str, Slip] = MappingProxyType(
    {
        slip.id: slip
        for slip in (
            Slip(
                "A1",
                "sign",
                "e + e' = 0, or (e − e')/2 is a term",
                "A sign is wrong.",
                of_weights="Look at the signs of the exponents; a weight itself is never negative.",
            ),
            Slip(
                "A2",
                "dropped term",
                "e − e' is a term",
                "A term of the sum is missing.",
                of_weights="A power is missing from the sum.",
            ),
            Slip(
                "A3",
                "doubled term",
                "e' − e is a term",
                "A term was added twice.",
                of_weights="A power was counted twice in the sum.",
            ),
            Slip("A4", "times table", "|e' − e| is a factor", "One product is off by one of its factors."),
            Slip("A5", "added instead of multiplied", "e' − e is a + b − ab", "Multiply the factors, then add up."),
            Slip(
                "A6", "wrong row or column", "e' is another entry of the row or column", "Check the row and the column."
            ),
            Slip(
                "A7",
                "copied wrongly",
                "the differences of a row (or column) are a multiple of a row (column) of the other factor",
                "A number was copied wrongly from the step before.",
            ),
            Slip("A8", "digits swapped", "e' has the digits of e, two neighbours exchanged", "Look at the digits."),
            Slip("A9", "carry", "|e' − e| is 10", "The result is ten off: check what was carried."),
            Slip("A10", "off by one", "|e' − e| is 1", "The result is one off: work it out again."),
            Slip("A11", "rule for 0 or 1", "a term with the factor 0 or 1 is wrong", "0·a is 0, and 1·a is a."),
            Slip(
                "A12",
                "fractions added above and below",
                "e' is the sum of the numerators over the sum of the denominators",
                "Bring fractions to a common denominator before you add them.",
            ),
            Slip(
                "A13",
                "minus a negative",
                "(e − e')/2 is a product of two negative numbers",
                "Subtracting −b is adding b: a − (−b) = a + b.",
            ),
            Slip("A14", "given misread", "one changed given explains every step", "A given number was misread."),
            Slip("A15", "decimal point", "e' is e times a power of ten", "Look at the decimal point.", False),
            Slip(
                "A16",
                "part of the step left out",
                "e' is e without one factor, divisor, root, square or exponential",
                "Something in this step was left out.",
                False,
            ),
            Slip(
                "A17",
                "upside down",
                "e' is 1/e, or has a product for a quotient",
                "Check which one is the denominator.",
                False,
            ),
            Slip(
                "A18",
                "entries swapped",
                "two entries, rows or columns stand in each other's places",
                "The numbers are right; their places are not.",
                False,
            ),
            Slip(
                "A19",
                "line repeated",
                "a row (column) is another row (column) of the same matrix",
                "Two lines are the same: one of them was copied from the other.",
                False,
            ),
        )
    }
)


def slips(d: Derivation, step: str, i: int, j: int) -> Iterator[Slipped]:
    """The slips that may be planted at entry (i, j) of a step, from 0, each value once for each kind, in their order.

    A1 to A7, A11 and A13 need a matrix product; A12 a sum of rational numbers; A8 to A10 a whole number.  A misread
    given is no slip of a step: see `misread`.
    """
    result = _matrix(d, step, i, j)
    made: dict[str, list[Value]] = {}
    for planted in sorted(_planted(d, step, i, j, result), key=lambda s: ORDER[s.slip.id]):
        known = made.setdefault(planted.slip.id, [])
        if not any(_equal(planted.value, other) for other in (result[i, j], *known)):
            known.append(planted.value)
            yield planted


class PossibleSlips:
    """Every slip that may have been made in a step, found from what was written.

    `near` says of a float whether it may be what was written, `unit` what one more in its last decimal place means.
    """

    def __init__(self, d: Derivation, step: str) -> None:
        self.name, self.result, self.working = step, _matrix(d, step, 0, 0), Working(d, step)
        self._of_words = _stands_for_words(d, step)

    def at(self, i: int, j: int, near: Callable[[float], bool], unit: Fraction | None = None) -> Iterator[Slipped]:
        """Those that lead near what was written at entry (i, j), from 0."""
        for id, cause, value, says in self._made(i, j, near, unit):
            if not _equal(value, self.result[i, j]):
                entries = MappingProxyType({(i, j): value})
                yield Slipped(SLIPS[id], self.name, i, j, value, says(), entries, cause)

    def changed(self, cause: Cause, i: int, j: int) -> Value | None:
        """What the same slip makes of another entry; None if it changes nothing."""
        right = self.result[i, j]
        if right is NEGATIVE_INFINITY:
            return None
        value = next((value for _, own, value, _ in _finished(right) if own == cause), None)
        if value is None:
            entry = self.working[i, j]
            value = _spoilt(entry, cause) if cause in entry.variants else None
        return None if value is None or _equal(value, right) else value

    def _made(
        self, i: int, j: int, near: Callable[[float], bool], unit: Fraction | None
    ) -> Iterator[tuple[str, Cause, Value, Says]]:
        right = self.result[i, j]
        if right is NEGATIVE_INFINITY:
            return
        finished: list[tuple[str, Cause, Value, Says]]
        finished = [(id, None, value, says) for id, value, says in _neighbours(self.result, i, j)]
        if self._of_words:
            yield from (slip for slip in finished if near(approximate(slip[2])))
            return
        finished = [*_finished(right), *finished]
        if isinstance(right, int):
            finished += [(id, None, value, says) for id, value, says in _of_digits(right)]
        if unit is not None and unit.numerator == 1 and not has_symbols(right):
            finished += [(id, None, value, says) for id, value, says in _of_decimals(right, unit)]
        yield from (slip for slip in finished if has_symbols(slip[2]) or near(approximate(slip[2])))
        entry = self.working[i, j]
        for cause, x in entry.variants.items():
            if (self.working.symbolic or near(x)) and (value := _spoilt(entry, cause)) is not None:
                slip = entry.slip(cause)
                yield slip.id, cause, value, slip.says


def exchanges(rows: int, columns: int) -> Iterator[tuple[Mapping[tuple[int, int], tuple[int, int]], Message]]:
    """Two entries of a line, two lines, or all rows and columns, in each other's places: what stands where, and how."""
    cells, two = list(product(range(rows), range(columns))), message("two entries were swapped")
    for (i, j), (k, m) in combinations(cells, 2):
        if i == k or j == m or (i, j) == (m, k):
            yield {(i, j): (k, m), (k, m): (i, j)}, two
    for i, k in combinations(range(rows), 2):
        row = {(a, j): (b, j) for a, b in ((i, k), (k, i)) for j in range(columns)}
        yield row, message("rows {first} and {second} were swapped", first=i + 1, second=k + 1)
    for j, m in combinations(range(columns), 2):
        column = {(i, a): (i, b) for a, b in ((j, m), (m, j)) for i in range(rows)}
        yield column, message("columns {first} and {second} were swapped", first=j + 1, second=m + 1)
    if rows == columns:
        yield {(i, j): (j, i) for i, j in cells}, message("rows and columns were swapped")


def repeats(rows: int, columns: int) -> Iterator[tuple[Mapping[tuple[int, int], tuple[int, int]], Message]]:
    """One line in the place of another, as it is copied from above: what stands where, and how."""
    for i, k in permutations(range(rows), 2):
        says = message("row {copied} was written again in the place of row {right}", copied=k + 1, right=i + 1)
        yield {(i, j): (k, j) for j in range(columns)}, says
    for j, m in permutations(range(columns), 2):
        says = message("column {copied} was written again in the place of column {right}", copied=m + 1, right=j + 1)
        yield {(i, j): (i, m) for i in range(rows)}, says


def misread(d: Derivation, given: str, i: int, j: int, value: object) -> Derivation:
    """A14: the derivation of someone who reads another value at entry (i, j), from 0, of a given matrix."""
    matrix = d.value(given)
    if given not in d.givens or not isinstance(matrix, Matrix):
        raise InputError(f"{given} is not a given matrix of numbers; {', '.join(d.givens)} are given.")
    if not (0 <= i < matrix.shape[0] and 0 <= j < matrix.shape[1]):
        raise InputError(f"{given} is {matrix.shape[0]}×{matrix.shape[1]}; it has no entry ({i + 1}, {j + 1}).")
    rows = [list(row) for row in matrix.rows]
    rows[i][j] = exact(value)
    return d.replay(givens={given: Matrix.of(rows)})


# ------------------------------------------------------------------------------------------ one kind after the other


def _matrix(d: Derivation, step: str, i: int, j: int) -> Matrix:
    """The value of a step that has an entry (i, j)."""
    result = d.value(step)
    if not isinstance(result, Matrix):
        raise InputError(f"The entries of {step} have no values; slips need numbers.")
    if not (0 <= i < result.shape[0] and 0 <= j < result.shape[1]):
        raise InputError(f"{step} is {result.shape[0]}×{result.shape[1]}; it has no entry ({i + 1}, {j + 1}).")
    return result


def _planted(d: Derivation, name: str, i: int, j: int, result: Matrix) -> Iterator[Slipped]:
    right = result[i, j]

    def slipped(id: str, value: Value, says: str, others: Mapping[tuple[int, int], Value] | None = None) -> Slipped:
        entries = MappingProxyType({**(others or {}), (i, j): value})
        return Slipped(SLIPS[id], name, i, j, value, says, entries)

    step = next((step for step in d if step.name == name), None)
    operands = d.operands(step) if step else ()
    matrices = [m for m in operands if isinstance(m, Matrix)]
    hidden = any(x is NEGATIVE_INFINITY for m in (result, *matrices) for x in m)  # nothing is added up
    if step and matrices and isinstance(step.op, MatMul | Add | SumOver) and not hidden:
        is_product = isinstance(step.op, MatMul)
        if is_product:
            yield slipped("A1", -right, message("the sign of the result was lost"))
        entry = Working(d, name)[i, j]
        for cause in entry.variants:
            slip = entry.slip(cause)
            copied = isinstance(cause, tuple) and cause[0] == "copied"
            wanted = not copied and SLIPS[slip.id].planted and (is_product or slip.id == "A12")
            if wanted and (value := _spoilt(entry, cause)) is not None:
                yield slipped(slip.id, value, slip.says())
        if is_product:
            yield from (slipped(id, x, says()) for id, x, says in _neighbours(result, i, j))
            first, second = matrices
            for changed, says in _copies(first, second, result, i, j):
                yield slipped("A7", changed[i, j], says, changed)
    if isinstance(right, int) and not _stands_for_words(d, name):
        for id, digits, tells in _of_digits(right):
            yield slipped(id, digits, tells())


def _stands_for_words(d: Derivation, name: str) -> bool:
    """Whether a step's numbers stand for words, in which no digit can be wrong."""
    return any(step.name == name and bool(step.op.words) for step in d)


def _spoilt(entry: Varied, cause: Cause) -> Value | None:
    """An entry with a slip in it; None if it is not defined."""
    try:
        return entry.spoilt(cause)
    except (InputError, UndecidedError, ArithmeticError, TypeError):
        return None


def _finished(right: Value) -> Iterator[tuple[str, Cause, Value, Says]]:
    """What can happen to a number that was worked out rightly, in one entry or in all entries of a line."""
    yield "A1", "sign", -right, partial(message, "the sign of the result was lost")
    for power in (1, 2):
        for by in (10**power, Fraction(1, 10**power)):
            yield "A15", ("point", by), right * by, partial(message, "the decimal point is in the wrong place")
    if decide(right, 0).equal is False:
        yield "A17", "turned", divide(1, right), partial(message, "the reciprocal was written")


def _neighbours(result: Matrix, i: int, j: int) -> Iterator[tuple[str, Value, Says]]:
    """The other entries of the column and of the row."""
    for k in range(result.shape[0]):
        if k != i:
            says = partial(message, "row {taken} was taken instead of row {right}", taken=k + 1, right=i + 1)
            yield "A6", result[k, j], says
    for k in range(result.shape[1]):
        if k != j:
            says = partial(message, "column {taken} was taken instead of column {right}", taken=k + 1, right=j + 1)
            yield "A6", result[i, k], says


def _copies(
    first: Matrix, second: Matrix, result: Matrix, i: int, j: int
) -> Iterator[tuple[dict[tuple[int, int], Value], str]]:
    """One factor of the row, or of the column, copied with the wrong sign or from a place beside it."""
    for k, x in enumerate(first.rows[i]):
        for copy in _miscopied(first.rows[i], k):
            row = {(i, c): result[i, c] + (copy - x) * second[k, c] for c in range(result.shape[1])}
            yield row, message(
                "entry {entry} of row {row} was copied as {copy} instead of {right}",
                entry=k + 1, row=i + 1, copy=bracketed(copy), right=bracketed(x),
            )  # fmt: skip
    column = [row[j] for row in second.rows]
    for k, x in enumerate(column):
        for copy in _miscopied(column, k):
            down = {(r, j): result[r, j] + first[r, k] * (copy - x) for r in range(result.shape[0])}
            yield down, message(
                "entry {entry} of column {column} was copied as {copy} instead of {right}",
                entry=k + 1, column=j + 1, copy=bracketed(copy), right=bracketed(x),
            )  # fmt: skip


def _miscopied(line: tuple[Value, ...] | list[Value], k: int) -> Iterator[Value]:
    yield -line[k]
    if k > 0:
        yield line[k - 1]
    if k + 1 < len(line):
        yield line[k + 1]


def _of_digits(right: int) -> Iterator[tuple[str, Value, Says]]:
    """What can go wrong with the digits of a whole number."""
    for value, says in _exchanged_digits(right):
        if len(str(abs(value))) == len(str(abs(right))):  # none of them became a leading zero
            yield "A8", value, says
    for by, id in ((10, "A9"), (1, "A10")):
        yield id, right + by, partial(message, "the result is {by} too large", by=by)
        yield id, right - by, partial(message, "the result is {by} too small", by=by)


def _of_decimals(right: Value, unit: Fraction) -> Iterator[tuple[str, Value, Says]]:
    """What can go wrong with the digits of a decimal, of which the last place means `unit`."""
    units = int(rounded(divide(right, unit), 0))
    for value, says in _exchanged_digits(units, len(str(unit.denominator)) - 1):
        yield "A8", value * unit, says
    for power in (1, 2):
        yield "A15", units * unit * 10**power, partial(message, "the decimal point is in the wrong place")


def _exchanged_digits(number: int, places: int = 0) -> Iterator[tuple[int, Says]]:
    """Neighbouring digits exchanged, zeros after the decimal point among them."""
    sign, digits = (-1 if number < 0 else 1), str(abs(number)).zfill(places)
    for k in range(len(digits) - 1):
        other = digits[:k] + digits[k + 1] + digits[k] + digits[k + 2 :]
        says = partial(message, "digits {first} and {second} were swapped", first=k + 1, second=k + 2)
        yield sign * int(other), says


# ------------------------------------------------------------------------------------------ values


def _equal(a: Value, b: Value) -> bool:
    return decide(a, b).equal is not False


ORDER: Mapping[str, int] = MappingProxyType({id: k for k, id in enumerate(SLIPS)})
