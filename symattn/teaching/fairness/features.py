"""What makes a variant hard to work out by hand, counted exactly (rules.md 4.6).

A feature that belongs to the work, and not to its layout, is the same for tokens as rows, as columns, and token by
token.  Rows are always the queries', whichever way they are written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, sub
from typing import Literal, NamedTuple

from symattn.derivation.derivation import Derivation
from symattn.derivation.ops import Add, Mask, MatMul, Softmax
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, exponential, has_symbols, power
from symattn.exact.approximate import approximate
from symattn.exact.values import absolute

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

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]  # of a tuple, it would be a longer one
        return Counts(*map(add, self, other))

    def exchanged(self, part: Counts, other: Counts) -> Counts:
        """With other arithmetic in place of a part of it."""
        return Counts._make(map(add, map(sub, self, part), other))

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

    counts, output_counts    the arithmetic of Q, K, V and S as far as they are worked out; of integer weights × V
    largest                  the largest size among the integers and fractions that are shown, weights left out
    distinct, ties           different visible scores in each row; how many scores repeat one of their row, in all
    ranges                   from the smallest to the largest visible scaled score of each row
    offsets                  each row's visible scaled scores above its smallest, in order: its softmax pattern
    max_weights, entropies   of each row of weights; the entropy in bits; floats, for display
    D                        the integers that the rows of weights sum to, over the smallest weight; those of base 2
                             where the base is e; None where the weights are no integers over one denominator
    non_integer, denominator how many outputs are not whole; least common denominator of those that are rational
    masked                   hidden cells
    argmax                   the key with the largest weight in each row, the first of several
    diagonal                 the share of rows whose own token gets the largest weight
    rank                     of X; None where there is none
    coincidences             pairs of equal numbers in one row or column of Q, K, V or S: copying errors they hide
    zeros                    the share of zeros among the given entries
    negatives                the share of negative terms among those that are not 0, in the products of `counts`
    """

    counts: Counts
    output_counts: Counts
    largest: int | Fraction
    distinct: tuple[int, ...]
    ties: int
    ranges: tuple[Value, ...]
    offsets: tuple[Row, ...]
    max_weights: tuple[float, ...]
    entropies: tuple[float, ...]
    D: tuple[int | None, ...]
    non_integer: int
    denominator: int
    masked: int
    argmax: tuple[int, ...]
    diagonal: Fraction
    rank: int | None
    coincidences: int
    zeros: Fraction
    negatives: Fraction

    @property
    def load_scores(self) -> float:
        """L_S: all the products there are up to the scores."""
        return self.counts.load

    @property
    def load_output(self) -> float:
        """L_out: integer weights × V."""
        return self.output_counts.load

    @property
    def load(self) -> float:
        return self.load_scores + self.load_output

    def row(self) -> dict[str, str]:
        """The features as a line of a table, in a fixed order."""
        counts = {name: str(x) for name, x in self.counts._asdict().items()}
        return counts | {
            "L_S": f"{self.load_scores:.1f}",
            "L_out": f"{self.load_output:.1f}",
            "L": f"{self.load:.1f}",
            "largest": str(self.largest),
            "distinct": _listed(self.distinct),
            "ties": str(self.ties),
            "range": _listed(self.ranges),
            "max weight": _listed(f"{x:.2f}" for x in self.max_weights),
            "entropy": _listed(f"{x:.2f}" for x in self.entropies),
            "D": _listed("–" if D is None else D for D in self.D),
            "non-integer": str(self.non_integer),
            "denominator": str(self.denominator),
            "masked": str(self.masked),
            "argmax": _listed(j + 1 for j in self.argmax),
            "diagonal": str(self.diagonal),
            "rank": "–" if self.rank is None else str(self.rank),
            "coincidences": str(self.coincidences),
            "zeros": str(self.zeros),
            "negatives": str(self.negatives),
        }


def features(d: Derivation) -> Features:
    """The features of a derivation with numbers, in any layout, as far as it goes.

    `InputError` for symbols or sizes left open: they have no load.
    """
    for name, matrix in (*d.givens.items(), *((step.name, step.result) for step in d)):
        if not isinstance(matrix, Matrix) or any(map(has_symbols, matrix)):
            raise InputError(f"Features are counted for numbers; {name} has letters.")
    scores, softmax = _scores(d), next((s.op for s in d if isinstance(s.op, Softmax)), None)
    visible = [[x for x in row if x is not NEGATIVE_INFINITY] for row in scores]
    ordered = [sorted(row, key=approximate) for row in visible]
    distinct = tuple(sum(1 for _ in _unlike(row)) for row in ordered)
    weights = _by_query(d, "A")
    whole, D = _whole_weights(weights, scores, softmax)
    values = _by_query(d, "V_cache" if "V_cache" in d else "V")  # with those of earlier tokens, where there are any
    outputs = [x for row in _by_query(d, "Z") for x in row]
    counts = sum(_products(d), Counts())
    floats = [[approximate(x) for x in row] for row in weights]
    argmax = tuple(row.index(max(row)) for row in floats)
    givens = [x for name, m in d.givens.items() if not name.startswith("b_") and isinstance(m, Matrix) for x in m]
    return Features(
        counts=counts,
        output_counts=product_counts(Matrix.of(whole), Matrix.of(values)) if whole and values else Counts(),
        largest=_largest(d),
        distinct=distinct,
        ties=sum(map(len, visible)) - sum(distinct),
        ranges=tuple(row[-1] - row[0] for row in ordered if row),
        offsets=tuple(tuple(x - row[0] for x in row) for row in ordered),
        max_weights=tuple(map(max, floats)),
        entropies=tuple(math.fsum(w * math.log2(1 / w) for w in row if w > 0) for row in floats),
        D=D,
        non_integer=sum(not isinstance(x, int) for x in outputs),
        denominator=math.lcm(*(x.denominator for x in outputs if isinstance(x, int | Fraction))),
        masked=sum(row.count(False) for s in d if isinstance(s.op, Mask) for row in s.op.keep),
        argmax=argmax,
        diagonal=Fraction(sum(i == j for i, j in enumerate(argmax)), max(len(argmax), 1)),
        rank=_rank(Matrix.of(_by_query(d, "X"))) if "X" in d else None,
        coincidences=sum(_equal_pairs(_by_query(d, role)) for role in "QKVS"),
        zeros=Fraction(sum(x == 0 for x in givens), max(len(givens), 1)),
        negatives=Fraction(counts.neg, max(counts.terms, 1)),
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
        operands = [operand.of(d.value(operand.name)) for operand in step.operands]
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


def _by_query(d: Derivation, role: str) -> tuple[Row, ...]:
    """A matrix with tokens as rows, whatever the layout; empty where the derivation does not have it."""
    if role in d:
        matrix = d.value(role)
        assert isinstance(matrix, Matrix)
        return matrix.rows if d.orientation == "rows" else matrix.T.rows
    return tuple(tuple(step.result) for step in d if step.role == role and isinstance(step.result, Matrix))


def _scores(d: Derivation) -> tuple[Row, ...]:
    """The scores that softmax sees: masked, else scaled, else as they are."""
    return _by_query(d, "M") or _by_query(d, "S'") or _by_query(d, "S")


def _products(d: Derivation) -> Iterator[Counts]:
    """The arithmetic of each projection, its bias, and the scores."""
    for step in d:
        if step.role in ("Z", "weighted"):
            continue
        operands = [operand.of(d.value(operand.name)) for operand in step.operands]
        if isinstance(step.op, MatMul):
            a, b = operands
            assert isinstance(a, Matrix) and isinstance(b, Matrix)
            yield product_counts(a, b)
        elif isinstance(step.op, Add):
            product, bias = operands
            assert isinstance(product, Matrix) and isinstance(bias, Matrix)
            yield _bias_counts(product, bias) if d.orientation == "rows" else _bias_counts(product.T, bias.T)


def _bias_counts(product: Matrix, bias: Matrix) -> Counts:
    """A bias, 1 × d and the same for every token, is one more term of each dot product."""
    pairs = [(x, y) for row in product.rows for x, y in zip(row, bias.rows[0], strict=True) if y != 0]
    return Counts(adds=sum(x != 0 for x, _ in pairs), neg=sum(_negative(y) for _, y in pairs))


def _whole_weights(
    weights: Sequence[Row], scores: Sequence[Row], softmax: Softmax | None
) -> tuple[list[Row], tuple[int | None, ...]]:
    """Each row of weights over its smallest one, and the sums of those that are integers.

    Rational weights are brought over their common denominator.  Others are powers b^(s−s_min), with 2 in place of e:
    the student who leaves e standing does the same products and sums.
    """
    whole: list[Row] = []
    sums: list[int | None] = []
    for i, row in enumerate(weights):
        rational = [x for x in row if isinstance(x, int | Fraction)]
        if len(rational) == len(row):
            common = math.lcm(*(x.denominator for x in rational))
            line: Row = tuple(int(x * common) for x in rational)
        else:
            assert softmax is not None  # irrational weights come of exponentials, or were given
            line = powers(scores[i], softmax.base)
        whole.append(line)
        integers = [x for x in line if isinstance(x, int)]
        sums.append(sum(integers) if len(integers) == len(line) else None)
    return whole, tuple(sums)


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


def _unlike(row: Iterable[Value]) -> Iterator[Value]:
    """The values that are not equal to an earlier one."""
    seen: list[Value] = []
    for x in row:
        if all(x != y for y in seen):
            seen.append(x)
            yield x


def _equal_pairs(rows: Sequence[Row]) -> int:
    lines: list[Row] = [*rows, *zip(*rows, strict=True)]
    return sum(line[:j].count(x) for line in lines for j, x in enumerate(line))


def _largest(d: Derivation) -> int | Fraction:
    """The largest rational number to be written before the softmax, and in V."""
    worked_out = [step.result for step in d if step.role.partition("_")[0] in ("Q", "K", "V", "S", "S'")]
    shown = [x for m in (*d.givens.values(), *worked_out) if isinstance(m, Matrix) for x in m]
    rational = [x for x in shown if isinstance(x, int | Fraction)]
    return max(map(absolute, rational), default=0)


def _rank(matrix: Matrix) -> int:
    """By elimination over the rationals; SymPy's where there are roots."""
    if not all(isinstance(x, int | Fraction) for x in matrix):
        return int(matrix.sympy().rank())
    rows = [[Fraction(x) for x in row] for row in matrix.rows]  # type: ignore[arg-type]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def _listed(values: Iterable[object]) -> str:
    return " ".join(map(str, values))


__all__ = ["Counts", "Features", "dot_counts", "features", "powers", "product_counts", "work"]
