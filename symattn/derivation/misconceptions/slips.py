"""Slips: one wrong entry, as everybody makes them who believes nothing wrong (rules.md 2.2, arithmetic slips)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions.base import followed
from symattn.derivation.ops import Add, MatMul, SumOver
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, exact
from symattn.exact.values import RATIONAL, text
from symattn.foundation.languages import Message, message


@dataclass(frozen=True, slots=True)
class Slip:
    """One kind of slip: `detect` says how the wrong entry e' lies to the right one e, `feedback` what to tell."""

    id: str
    name: str
    detect: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Slipped:
    """A slip made at entry (i, j), from 0, of a step; `says` in a short sentence how.

    `entries` are all entries that it spoils, this one among them: a copy error spoils a whole row or column.
    """

    slip: Slip
    step: str
    i: int
    j: int
    value: Value
    says: str
    entries: Mapping[tuple[int, int], Value] = field(repr=False)

    def on(self, d: Derivation) -> Derivation:
        """The derivation of someone who makes this slip: the step pinned, and what follows from it worked out."""
        step = d[self.step]
        assert isinstance(step.result, Matrix)
        spoilt = Matrix.of(
            [self.entries.get((i, j), x) for j, x in enumerate(row)] for i, row in enumerate(step.result.rows)
        )
        result, failed = followed(d, {self.step: replace(step, result=spoilt, pinned=True)})
        return result if failed is None else result.extended(failed)  # which says why it is not defined


SLIPS: Mapping[str, Slip] = MappingProxyType(
    {
        slip.id: slip
        for slip in (
            Slip("A1", "sign", "e + e' = 0, or (e − e')/2 is a term", "Look at the signs again."),
            Slip("A2", "dropped term", "e − e' is a term", "A product is missing in the sum."),
            Slip("A3", "doubled term", "e' − e is a term", "A product was added twice."),
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
            Slip("A8", "digits exchanged", "e' has the digits of e, two neighbours exchanged", "Look at the digits."),
            Slip("A9", "carry", "|e' − e| is 10", "The result is ten off: check what was carried."),
            Slip("A10", "off by one", "|e' − e| is 1", "The result is one off: work it out once more."),
            Slip("A11", "rule for 0 or 1", "a term with the factor 0 or 1 is wrong", "0·a is 0, and 1·a is a."),
            Slip(
                "A12",
                "fractions added above and below",
                "e' is the sum of the numerators over the sum of the denominators",
                "Bring fractions to a common denominator before you add them.",
            ),
            Slip("A13", "minus a negative", "(e − e')/2 is a product of two negative numbers", "a − (−b) is a + b."),
            Slip("A14", "given misread", "one changed given explains every step", "A given number was misread."),
        )
    }
)


def slips(d: Derivation, step: str, i: int, j: int) -> Iterator[Slipped]:
    """Every slip that changes entry (i, j) of a step, from 0, each value once for each kind, in the catalogue's order.

    A1 to A7, A11 and A13 need a matrix product; A12 a sum of rational numbers; A8 to A10 a whole number.  A misread
    given is no slip of a step: see `misread`.
    """
    result = d.value(step)
    if not isinstance(result, Matrix):
        raise InputError(f"The entries of {step} have no values; slips need numbers.")
    if not (0 <= i < result.shape[0] and 0 <= j < result.shape[1]):
        raise InputError(f"{step} is {result.shape[0]}×{result.shape[1]}; it has no entry ({i + 1}, {j + 1}).")
    made: dict[str, list[Value]] = {}
    for found in sorted(_slips(d, step, i, j, result), key=lambda s: list(SLIPS).index(s.slip.id)):
        known = made.setdefault(found.slip.id, [])
        if not any(_equal(found.value, other) for other in (result[i, j], *known)):
            known.append(found.value)
            yield found


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


def _slips(d: Derivation, name: str, i: int, j: int, result: Matrix) -> Iterator[Slipped]:
    right = result[i, j]

    def slipped(id: str, value: Value, says: str, others: Mapping[tuple[int, int], Value] | None = None) -> Slipped:
        entries = MappingProxyType({**(others or {}), (i, j): value})
        return Slipped(SLIPS[id], name, i, j, value, says, entries)

    step = next((step for step in d if step.name == name), None)
    operands = [o.of(d.value(o.name)) for o in step.operands] if step else []
    matrices = [m for m in operands if isinstance(m, Matrix)]
    if any(x is NEGATIVE_INFINITY for m in (result, *matrices) for x in m):  # hidden scores: nothing is added up
        matrices = []
    if step and isinstance(step.op, MatMul) and len(matrices) == 2:
        first, second = matrices
        factors = list(zip(first.rows[i], (row[j] for row in second.rows), strict=True))
        for id, value, says in _of_terms(right, factors):
            yield slipped(id, value, says)
        yield from (slipped("A6", x, says) for x, says in _neighbours(result, i, j))
        for changed, says in _copies(first, second, result, i, j):
            yield slipped("A7", changed[i, j], says, changed)
        yield from (slipped("A12", x, says) for x, says in _mediant([a * b for a, b in factors]))
    elif step and isinstance(step.op, Add) and matrices and all(m.shape == result.shape for m in matrices):
        yield from (slipped("A12", x, says) for x, says in _mediant([m[i, j] for m in matrices]))
    elif step and isinstance(step.op, SumOver) and matrices:
        summed = matrices[0].T.rows[j] if step.op.over == "rows" else matrices[0].rows[i]
        yield from (slipped("A12", x, says) for x, says in _mediant(list(summed)))
    if isinstance(right, int):
        for id, value, says in _of_digits(right):
            yield slipped(id, value, says)


def _of_terms(right: Value, factors: list[tuple[Value, Value]]) -> Iterator[tuple[str, Value, str]]:
    """What can go wrong with one product of a dot product, or with its sign."""
    yield "A1", -right, message("the sign of the result was lost")
    for a, b in factors:
        term = a * b
        product = f"{_text(a)}·{_text(b)}"

        def taken(factors: str, product: str = product) -> Message:
            return message("{product} was taken as {taken}", product=product, taken=factors)

        if isinstance(a, RATIONAL) and isinstance(b, RATIONAL) and a < 0 and b < 0:
            yield "A13", right - 2 * term, message("{product} was subtracted instead of added", product=product)
        else:
            yield "A1", right - 2 * term, message("the term {product} has the wrong sign", product=product)
        yield "A2", right - term, message("the term {product} was dropped", product=product)
        yield "A3", right + term, message("the term {product} was added twice", product=product)
        if not (isinstance(a, RATIONAL) and isinstance(b, RATIONAL)):
            continue
        for wrong_a, wrong_b in ((a, b + 1), (a, b - 1), (a + 1, b), (a - 1, b)):
            if a and b and isinstance(a if b == wrong_b else b, int):
                yield "A4", right - term + wrong_a * wrong_b, taken(f"{_text(wrong_a)}·{_text(wrong_b)}")
        yield "A5", right - term + a + b, taken(f"{_text(a)} + {_text(b)}")
        if 0 in (a, b):
            yield "A11", right + a + b, taken(_text(a + b))
        elif 1 in (a, b):
            yield "A11", right - term + 1, taken("1")


def _neighbours(result: Matrix, i: int, j: int) -> Iterator[tuple[Value, str]]:
    """The other entries of the column and of the row."""
    for k in range(result.shape[0]):
        if k != i:
            yield result[k, j], message("row {taken} instead of row {right} was taken", taken=k + 1, right=i + 1)
    for k in range(result.shape[1]):
        if k != j:
            yield result[i, k], message("column {taken} instead of column {right} was taken", taken=k + 1, right=j + 1)


def _copies(
    first: Matrix, second: Matrix, result: Matrix, i: int, j: int
) -> Iterator[tuple[dict[tuple[int, int], Value], str]]:
    """One factor of the row, or of the column, copied with the wrong sign or from a place beside it."""
    for k, x in enumerate(first.rows[i]):
        for copy in _miscopied(first.rows[i], k):
            row = {(i, c): result[i, c] + (copy - x) * second[k, c] for c in range(result.shape[1])}
            yield row, message(
                "entry {entry} of row {row} was copied as {copy} instead of {right}",
                entry=k + 1, row=i + 1, copy=_text(copy), right=_text(x),
            )  # fmt: skip
    column = [row[j] for row in second.rows]
    for k, x in enumerate(column):
        for copy in _miscopied(column, k):
            down = {(r, j): result[r, j] + first[r, k] * (copy - x) for r in range(result.shape[0])}
            yield down, message(
                "entry {entry} of column {column} was copied as {copy} instead of {right}",
                entry=k + 1, column=j + 1, copy=_text(copy), right=_text(x),
            )  # fmt: skip


def _miscopied(line: tuple[Value, ...] | list[Value], k: int) -> Iterator[Value]:
    yield -line[k]
    if k > 0:
        yield line[k - 1]
    if k + 1 < len(line):
        yield line[k + 1]


def _mediant(terms: list[Value]) -> Iterator[tuple[Value, str]]:
    """Numerators and denominators added up, for a sum with a fraction in it."""
    added = [x for x in terms if isinstance(x, RATIONAL) and x]
    if len(added) > 1 and len(added) == sum(1 for x in terms if not _equal(x, 0)) and _any_fraction(added):
        above, below = sum(x.numerator for x in added), sum(x.denominator for x in added)
        said = " + ".join(f"{_text(x)}" for x in added)
        yield (
            exact(Fraction(above, below)),
            message("{sum} was taken as {taken}", sum=said, taken=f"{_minus(above)}/{below}"),
        )


def _any_fraction(values: list[int | Fraction]) -> bool:
    return any(x.denominator != 1 for x in values)


def _of_digits(right: int) -> Iterator[tuple[str, Value, str]]:
    """What can go wrong with the digits of a whole number."""
    sign, digits = (-1 if right < 0 else 1), str(abs(right))
    for k in range(len(digits) - 1):
        other = digits[:k] + digits[k + 1] + digits[k] + digits[k + 2 :]
        if other[0] != "0":
            yield (
                "A8",
                sign * int(other),
                message("digits {first} and {second} changed places", first=k + 1, second=k + 2),
            )
    for by, id in ((10, "A9"), (1, "A10")):
        yield id, right + by, message("the result is {by} too large", by=by)
        yield id, right - by, message("the result is {by} too small", by=by)


# ------------------------------------------------------------------------------------------ values


def _equal(a: Value, b: Value) -> bool:
    return decide(a, b).equal is not False


def _minus(x: Value) -> str:
    return text(x).replace("-", "−")


def _text(x: Value) -> str:
    said = _minus(x)
    return f"({said})" if said.startswith("−") else said


__all__ = ["SLIPS", "Slip", "Slipped", "misread", "slips"]
