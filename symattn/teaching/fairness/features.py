"""What makes a variant hard to work out by hand, counted exactly (rules.md 4.6).

A feature that belongs to the work, and not to its layout, is the same for tokens as rows, as columns, and token by
token.  Rows are always the queries', whichever way they are written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import gcd
from typing import Literal, NamedTuple

from symattn.derivation.derivation import Derivation, oriented
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import Add, MatMul
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, exponential, in_numbers, power
from symattn.exact.rounding import approximate

Row = tuple[Value, ...]

ZERO_PRODUCT = 0.4
UNIT_PRODUCT = 1.0
HARD_PRODUCT = 2.5
ADDITION = 1.5
NEGATIVE_TERM = 0.8
TWO_DIGITS = 1.0
"""The weights of a load, in arbitrary units: starting values of rules.md 4.6, to be fitted to timings."""


class Counts(NamedTuple):
    """The arithmetic of matrix products: `z` products with a 0, `u` others with a ±1, `h` hard ones (neither factor
    is), `adds` additions of two terms that are not 0, `neg` negative terms, `two` results that take more than a digit.
    """

    z: int = 0
    u: int = 0
    h: int = 0
    adds: int = 0
    neg: int = 0
    two: int = 0

    @classmethod
    def added(cls, counts: Iterable[Counts]) -> Counts:
        return cls(*map(sum, zip(*counts, strict=True)))

    @property
    def terms(self) -> int:
        """The products that are not 0."""
        return self.u + self.h

    @property
    def load(self) -> float:
        return (
            ZERO_PRODUCT * self.z
            + UNIT_PRODUCT * self.u
            + HARD_PRODUCT * self.h
            + ADDITION * self.adds
            + NEGATIVE_TERM * self.neg
            + TWO_DIGITS * self.two
        )


def product_counts(a: Matrix, b: Matrix) -> Counts:
    """The arithmetic of a·b, every entry worked out as a dot product; a is n × k and b is k × m."""
    return dot_counts(a.rows, b.T.rows)


def dot_counts(rows: Iterable[Row], columns: Sequence[Row]) -> Counts:
    """The arithmetic of the dot product of every row with every column."""
    z = u = h = adds = neg = two = 0
    for row in rows:
        for column in columns:
            total: Value = 0
            terms = 0
            for x, y in zip(row, column, strict=True):
                if x == 0 or y == 0:
                    z += 1
                    continue
                terms += 1
                if x == 1 or y == 1 or x == -1 or y == -1:
                    u += 1
                else:
                    h += 1
                term = x * y
                neg += term < 0 if type(term) is int else _negative(term)
                total = total + term
            if terms > 1:
                adds += terms - 1
            two += not _one_digit(total)
    return Counts(z, u, h, adds, neg, two)


@dataclass(frozen=True)
class Features:
    """The difficulty features of one derivation; rows are queries, indices count from 0.

    counts                   the arithmetic of Q, K, V and S, as far as they are worked out; its load is L_S
    output_counts            that of integer weights × V; its load is L_out
    ties                     how many scores repeat one of their row, in all
    offsets                  each row's visible scaled scores above its smallest, in order: its softmax pattern
    argmax                   the key with the largest weight in each row, the first of several
    """

    counts: Counts
    output_counts: Counts
    ties: int
    offsets: tuple[Row, ...]
    argmax: tuple[int, ...]

    @property
    def load(self) -> float:
        return self.counts.load + self.output_counts.load


def features(d: Derivation) -> Features:
    """The features of a derivation with numbers, in any layout, as far as it goes.

    `InputError` for symbols or sizes left open: they have no load.
    """
    for name, matrix in d.matrices.items():
        if not in_numbers(matrix):
            raise InputError(f"Features are counted for numbers; {name} has letters.")
    d = oriented(matrixwise(d), "rows")
    scores = _rows(d, "M") or _rows(d, "S'") or _rows(d, "S")  # that softmax sees
    softmax = next((s.op for s in d if isinstance(s.op, Softmax)), None)
    visible = ([x for x in row if x is not NEGATIVE_INFINITY] for row in scores)
    ordered = [sorted(row, key=approximate) for row in visible]
    weights, values = _rows(d, "A"), _rows(d, "V_cache") or _rows(d, "V")  # with earlier ones
    whole = _whole_weights(weights, scores, softmax)
    return Features(
        counts=Counts.added(_products(d)),
        output_counts=product_counts(Matrix.of(whole), Matrix.of(values)) if whole and values else Counts(),
        ties=sum(x == y for row in ordered for x, y in pairwise(row)),
        offsets=tuple(tuple(x - row[0] for x in row) for row in ordered),
        argmax=tuple(floats.index(max(floats)) for floats in (list(map(approximate, row)) for row in weights)),
    )


class Work(NamedTuple):
    """How much there is to do in any derivation with numbers, step by step: every product as in `Counts`, and for every
    other entry that is worked out an addition; and how many products of rational numbers are hard.  It compares
    variants of one mechanism, and not mechanisms.
    """

    load: float
    hard: int


def work(d: Derivation) -> Work:
    load, hard = 0.0, 0
    for step in d:
        operands = d.operands(step)
        if step.op.trivial or not isinstance(step.result, Matrix):
            continue
        if isinstance(step.op, MatMul):
            a, b = (m for m in operands if isinstance(m, Matrix))
            load += product_counts(*(_with_rational_numbers(m, 2) for m in (a, b))).load
            hard += product_counts(*(_with_rational_numbers(m, 1) for m in (a, b))).h
        else:
            load += ADDITION * sum(1 for x in step.result if x not in (0, NEGATIVE_INFINITY))
    return Work(load, hard)


def _with_rational_numbers(m: Matrix, other: int) -> Matrix:
    """The matrix with another number in place of whatever is not rational: its digits make no product harder."""
    return m.map(lambda x: x if isinstance(x, int | Fraction) else other)


# ---------------------------------------------------------------------------------------- reading a derivation


def _rows(d: Derivation, name: str) -> tuple[Row, ...]:
    """The rows of a matrix; none where the derivation does not have it."""
    matrix = d.value(name) if name in d else None
    return matrix.rows if isinstance(matrix, Matrix) else ()


def _products(d: Derivation) -> Iterator[Counts]:
    """The arithmetic of each projection, its bias, and the scores."""
    for step in d:
        if step.role in ("Z", "weighted"):
            continue
        operands = d.operands(step)
        if isinstance(step.op, MatMul):
            a, b = operands
            assert isinstance(a, Matrix) and isinstance(b, Matrix)
            yield product_counts(a, b)
        elif isinstance(step.op, Add):
            product, bias = operands
            assert isinstance(product, Matrix) and isinstance(bias, Matrix)
            yield _bias_counts(product, bias)


def _bias_counts(product: Matrix, bias: Matrix) -> Counts:
    """A bias, 1 × d and the same for every token, is one more term of each dot product."""
    pairs = [(x, y) for row in product.rows for x, y in zip(row, bias.rows[0], strict=True) if y != 0]
    return Counts(adds=sum(x != 0 for x, _ in pairs), neg=sum(_negative(y) for _, y in pairs))


def _whole_weights(weights: Sequence[Row], scores: Sequence[Row], softmax: Softmax | None) -> list[Row]:
    """Each row of weights over its smallest one, or rational ones over their common denominator.

    Others are powers b^(s−s_min), with 2 in place of e: the student who leaves e standing does the same products and
    sums.  Shares of irrational scores stay as they are.
    """
    whole: list[Row] = []
    for i, row in enumerate(weights):
        rational = [x for x in row if isinstance(x, int | Fraction)]
        if len(rational) == len(row):
            common = math.lcm(*(x.denominator for x in rational))
            whole.append(tuple(int(x * common) for x in rational))
        else:
            whole.append(powers(scores[i], softmax.base) if softmax else row)
    return whole


def powers(scores: Row, base: Value | Literal["e"]) -> Row:
    """b^s for each score of a row, over the smallest: integers where they can be, with 2 in place of e."""
    visible = sorted((x for x in scores if x is not NEGATIVE_INFINITY), key=approximate)
    least = visible[0] if base == "e" or approximate(base) > 1 else visible[-1]

    def weight(x: Value) -> Value:
        if x is NEGATIVE_INFINITY:
            return 0
        if base != "e":
            return power(base, x - least)
        return power(2, x - least) if isinstance(x - least, int) else exponential(x - least)

    return tuple(map(weight, scores))


# ------------------------------------------------------------------------------------------------- small things


def _negative(x: Value) -> bool:
    return x < 0 if isinstance(x, int | Fraction) else approximate(x) < 0


def _one_digit(x: Value) -> bool:
    return isinstance(x, int) and -10 < x < 10


# ------------------------------------------------------------------------- rows of small exact weights (rules.md 4.3)

Pattern = tuple[int, ...]
"""A row up to order: integers without a common factor, smallest first, which are weights over their sum D."""


def row_patterns(n: int, base: int, reach: int, terminating: bool = False) -> tuple[Pattern, ...]:
    """The rows of n weights base^k whose scores are integers at most `reach` apart, by D; uniform rows left out.

    >>> row_patterns(3, 2, 3, terminating=True)
    ((1, 1, 2), (1, 2, 2), (1, 1, 8))
    """
    return _patterns(n, tuple(base**k for k in range(reach + 1)), terminating)


def mixed_patterns(n: int, most: int = 20, terminating: bool = True) -> tuple[Pattern, ...]:
    """The rows of n weights 2^a·3^b with a ≤ 3, b ≤ 2 and D ≤ `most`: from features in ln 2 and ln 3."""
    powers = tuple(sorted(2**a * 3**b for a, b in product(range(4), range(3))))
    return tuple(pattern for pattern in _patterns(n, powers, terminating) if sum(pattern) <= most)


@cache
def _patterns(n: int, powers: tuple[int, ...], terminating: bool) -> tuple[Pattern, ...]:
    uneven = (weights for weights in combinations_with_replacement(powers, n) if weights[0] != weights[-1])
    found = {tuple(w // gcd(*weights) for w in weights) for weights in uneven}
    kept = (pattern for pattern in found if not terminating or divides_a_power_of_ten(sum(pattern)))
    return tuple(sorted(kept, key=lambda pattern: (sum(pattern), pattern)))


def divides_a_power_of_ten(D: int) -> bool:
    for prime in (2, 5):
        while D % prime == 0:
            D //= prime
    return D == 1
