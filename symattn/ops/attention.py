"""The two operations that make attention attention: the mask and the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from symattn.derivation import Index, Op, Shape, Style, View
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide, exponential, power
from symattn.formula import (
    ONE,
    ZERO,
    Call,
    Formula,
    Fraction,
    Infinity,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Sum,
    number,
)
from symattn.ops.linear import sum_over

MINUS_INFINITY = Negative(Infinity())

Keep = tuple[tuple[bool, ...], ...]
MaskStyle = Literal["additive", "multiplicative", "keep", "block"]


@dataclass(frozen=True)
class Mask(Op):
    """Leaves the scores that may be seen and makes the others −∞, so that softmax gives them exactly 0.

    `keep[i][j]` is true where query i may see key j.  The styles are ways of writing the same thing, but for one:
    additive: S + (0 or −∞);  keep, block: a Boolean matrix, true where seen or where hidden;
    multiplicative: S ∘ (1 or −∞), as note 004 has it, which is right only where the hidden scores are positive.
    """

    keep: Keep
    style: MaskStyle = "additive"
    kind: str = "custom"

    @property
    def title(self) -> str:
        return "Mask"

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = shapes[0]
        if self.keep and (rows, columns) != (len(self.keep), len(self.keep[0])):
            raise ShapeError(f"the mask is {len(self.keep)}×{len(self.keep[0])} and must fit the scores;")
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        return Matrix.of(
            [self._entry(x, seen, i, j) for j, (x, seen) in enumerate(zip(row, kept, strict=True), 1)]
            for i, (row, kept) in enumerate(zip(operands[0].rows, self.keep, strict=True), 1)
        )

    def _entry(self, x: Value, seen: bool, i: int, j: int) -> Value:
        if seen:
            return x
        if self.style != "multiplicative":
            return NEGATIVE_INFINITY
        try:
            return x * NEGATIVE_INFINITY
        except UndefinedError as error:
            raise UndefinedError(
                f"The hidden score ({i}, {j}) is {x}, and {x}·(−∞) is not −∞: multiplying by −∞ hides positive scores "
                "only. Add 0 or −∞ instead (mask_style = 'additive')."
            ) from error

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        entry = operands[0].entry(i, j)
        if isinstance(i, str) or isinstance(j, str):
            return Sum((entry, Name("mask", (_index(i), _index(j)))))
        seen = self.keep[i][j]
        if self.style == "multiplicative":
            return Product((entry, ONE if seen else MINUS_INFINITY), "·")
        if self.style == "additive":
            return Sum((entry, ZERO if seen else MINUS_INFINITY))
        return entry if seen else MINUS_INFINITY

    def written(self, style: Style, *operands: Formula) -> Formula:
        if self.style == "multiplicative":
            return Product((operands[0], Name("mask")), "⊙")
        if self.style == "additive":
            return Sum((operands[0], Name("mask")))
        return Call(Name("mask"), operands)

    def matrix(self) -> MatrixOf:
        """The mask itself as it is written."""
        marks: dict[MaskStyle, tuple[Formula, Formula]] = {
            "additive": (ZERO, MINUS_INFINITY),
            "multiplicative": (ONE, MINUS_INFINITY),
            "keep": (ONE, ZERO),
            "block": (ZERO, ONE),
        }
        seen, hidden = marks[self.style]
        return MatrixOf(tuple(tuple(seen if kept else hidden for kept in row) for row in self.keep))


@dataclass(frozen=True)
class Softmax(Op):
    """b^x over the sum of b^x along each row (or each column); −∞ counts nothing and gets exactly 0.

    Vaswani et al. 2017, section 3.2.1, with base e and along the keys.  A row of nothing but −∞ is undefined; `empty`
    takes it as a row of zeros instead, as people do who have hidden too much.
    """

    along: Literal["rows", "columns"] = "rows"
    base: Value | Literal["e"] = "e"
    empty: Literal["undefined", "zero"] = "undefined"
    title = "Softmax"

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        (scores,) = operands
        if self.along == "columns":
            return self._by_row(scores.T).T
        return self._by_row(scores)

    def _by_row(self, scores: Matrix) -> Matrix:
        return Matrix.of(self._normalised(row, i) for i, row in enumerate(scores.rows, 1))

    def _normalised(self, row: Sequence[Value], i: int) -> list[Value]:
        visible = [x for x in row if x is not NEGATIVE_INFINITY]
        if not visible and self.empty == "zero":
            return [0] * len(row)
        if not visible:
            raise UndefinedError(
                f"{self.along[:-1].capitalize()} {i} has no visible score (all are −∞), "
                "so its softmax is undefined; let it see at least one."
            )
        powers = [self._power(x) for x in row]
        total = powers[0]
        for p in powers[1:]:
            total = total + p
        return [divide(p, total) for p in powers]

    def _power(self, x: Value) -> Value:
        if x is NEGATIVE_INFINITY:
            return 0
        return exponential(x) if self.base == "e" else power(self.base, x)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        (a,) = operands
        rows = self.along == "rows"
        entry = a.entry(i, j)
        if entry == MINUS_INFINITY:
            return ZERO
        size = a.shape[1] if rows else a.shape[0]
        if isinstance(size, str) or a.long:
            body = self._written_power(a.entry(i, "k") if rows else a.entry("k", j))
            return Fraction(self._written_power(entry), sum_over(size, body, a.first))
        others = [a.entry(i, k) if rows else a.entry(k, j) for k in range(size)]
        terms = tuple(self._written_power(x) for x in others if x != MINUS_INFINITY)
        return Fraction(self._written_power(entry), Sum(terms))

    def _written_power(self, exponent: Formula) -> Formula:
        return Power(Name("e") if self.base == "e" else number(self.base), exponent)

    def written(self, style: Style, *operands: Formula) -> Formula:
        name = Name(style.softmax)
        if self.base != "e":
            name = Name(style.softmax, (number(self.base),))
        return Call(name, operands)


def causal(rows: int, columns: int) -> Keep:
    """Token i sees tokens 1 … i; with more keys than queries the last query sees every key."""
    offset = columns - rows
    return tuple(tuple(j <= i + offset for j in range(columns)) for i in range(rows))


def window(rows: int, columns: int, width: int, looking_ahead: bool = False) -> Keep:
    """Token i sees itself and the `width` − 1 tokens before it (and as many after it, if it may look ahead)."""
    return tuple(
        tuple(abs(i - j) < width if looking_ahead else 0 <= i - j < width for j in range(columns)) for i in range(rows)
    )


def padding(rows: int, columns: int, real: int) -> Keep:
    """Every token sees the first `real` tokens; the rest are padding."""
    return tuple(tuple(j < real for j in range(columns)) for _ in range(rows))


def blocks(sizes: Sequence[int]) -> Keep:
    """Block-diagonal: each token sees its own block, of the sizes given."""
    owner = [block for block, size in enumerate(sizes) for _ in range(size)]
    return tuple(tuple(a == b for b in owner) for a in owner)


def _index(i: Index) -> Formula:
    return Name(i) if isinstance(i, str) else Number(str(i + 1))
