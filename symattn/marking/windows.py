"""Rounding windows: everything that a written decimal may stand for, and everything that can follow from it.

A decimal stands for an interval of numbers, so a matrix of decimals stands for a box.  The range of each entry of what
follows is worked out exactly where a formula for it is known, and its ends are rounded outwards: a window is never too
narrow, and wider than the range by rounding in the 30th digit only (PEDAGOGY 3.8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction
from functools import reduce
from typing import Literal

from symattn.derivation import Op
from symattn.errors import UndecidedError, UndefinedError
from symattn.exact import Value, compare, decide, has_symbols
from symattn.exact.decide import MOST_DIGITS
from symattn.exact.intervals import INFINITY, ONE, ZERO, Interval, interval_ring
from symattn.exact.rounding import MODES
from symattn.exact.values import NegativeInfinity
from symattn.marking.policy import Rounding
from symattn.ops import (
    Activation,
    Add,
    Hadamard,
    Mask,
    MatMul,
    Round,
    Scale,
    Softmax,
    Stack,
    SumOver,
    Transpose,
)

Window = Interval
Box = tuple[tuple[Window, ...], ...]
"""One window for every entry of a matrix; the entries vary independently of one another."""

DIGITS = 30
RING = interval_ring(DIGITS)
HIDDEN = Window(-INFINITY, -INFINITY)
"""The score of what is masked."""


def cell(value: Value, unit: Fraction | None, rounding: Rounding = "nearest") -> Window | None:
    """All numbers that may be written as this value, with its ends; none for a value with symbols, which has no size.

    `unit` is what one more in the last place means, none for an exact form, which stands for itself alone.  Rounding to
    the nearest moves a number by half a unit at most, the other ways by less than one: cutting off, and the largest
    remainder, which may even turn 0.0634 into 0.0.

    >>> cell(Fraction(1, 4), Fraction(1, 100))
    Interval(low=Decimal('0.245'), high=Decimal('0.255'))
    """
    if isinstance(value, NegativeInfinity):
        return HIDDEN
    if has_symbols(value):
        return None
    if unit is None:
        return RING.enclose(value)
    reach = _reach(unit, rounding)
    return Window(RING.enclose(value - reach).low, RING.enclose(value + reach).high)


def holds(truth: Value, value: Value, unit: Fraction | None, rounding: Rounding) -> tuple[bool | None, str]:
    """Whether the exact `truth` may be written as this `value` with this unit, and what proves it.

    Decided exactly, also at the ends: those belong to it for rounding to the nearest, whatever becomes of ties, and not
    for the other ways.  None where the truth cannot be told from the end of the cell, or from an exact form.

    >>> holds(Fraction(1, 8), Fraction(12, 100), Fraction(1, 100), "nearest")
    (True, 'rounding')
    """
    if unit is None or has_symbols(truth) or has_symbols(value):
        decision = decide(truth, value)
        return decision.equal, decision.proof if decision.equal is not None else _undecided(decision.digits)
    reach = _reach(unit, rounding)
    try:
        above, below = compare(truth, value - reach), compare(value + reach, truth)
    except UndecidedError:
        return None, _undecided(MOST_DIGITS)
    least = 0 if rounding == "nearest" else 1
    return above >= least and below >= least, "rounding"


def meet(a: Window, b: Window) -> bool:
    """Whether two windows have a number in common."""
    return a.low <= b.high and b.low <= a.high


def width(w: Window) -> Decimal:
    """How wide a window is, rounded upwards; 0 for one number, also for −∞.

    A Decimal compares exactly with a Fraction, and should stay one: 1E-434294482, a weight after a score of 10⁹, takes
    a long time to become a Fraction.
    """
    return ZERO if w.low == w.high else RING.ceiling.subtract(w.high, w.low)


def window(op: Op, *boxes: Box, weights: bool = False, divisor: Window | None = None) -> Box | None:
    """The range of every entry of `op` over the boxes; none where no rule is known or not everything is defined.

    `weights` says that each row of the first operand of a product consists of weights: they are not negative and sum
    to 1, and windows that allow no such row are taken without that.  `divisor` is what the divisor of a `Scale` was
    rounded to (√3 ≈ 1.7).  The ranges are exact for operands that do not depend on one another, and the sum of rows
    that are weights is the only dependence within one that is seen.  `ShapeError` if the boxes do not fit.

    >>> score = cell(Fraction(1), Fraction(1, 10))
    >>> window(MatMul(), ((score, score),), ((cell(2, None),), (cell(-3, None),)))
    ((Interval(low=Decimal('-1.25'), high=Decimal('-0.75')),),)
    """
    op.shape(*((len(box), len(box[0])) for box in boxes))
    try:
        return _range(op, boxes, weights, divisor)
    except UndefinedError:
        return None


def _range(op: Op, boxes: Sequence[Box], weights: bool, divisor: Window | None) -> Box | None:
    match op, boxes:
        case MatMul(), (a, b):
            product = _average if weights else _dot
            return tuple(tuple(product(row, column) for column in _turned(b)) for row in a)
        case Transpose(), (a,):
            return _turned(a)
        case Add(), (a, b):
            return _entrywise(RING.add, a, b)
        case Hadamard(), (a, b):
            return _entrywise(_times, a, b)
        case SumOver(over="rows"), (a,):
            return (tuple(reduce(RING.add, column) for column in _turned(a)),)
        case SumOver(), (a,):
            return tuple((reduce(RING.add, row),) for row in a)
        case Stack(along="rows"), _:
            return tuple(row for box in boxes for row in box)
        case Stack(), _:
            return _turned(tuple(column for box in boxes for column in _turned(box)))
        case Scale(), (a,):
            by = divisor or _number(op.divisor)
            return _each(a, lambda x: _over(x, by))
        case Mask(), (a,):
            return tuple(
                tuple(x if seen else _hidden(x, op) for x, seen in zip(row, kept, strict=True))
                for row, kept in zip(a, op.keep, strict=True)
            )
        case Softmax(), (a,):
            logarithm = _logarithm(op.base)
            if op.along == "columns":
                return _turned(tuple(_softmax(column, logarithm, op.empty) for column in _turned(a)))
            return tuple(_softmax(row, logarithm, op.empty) for row in a)
        case Activation(name=name), (a,) if name == "identity":
            return a
        case Activation(name=name), (a,) if name.lower() == "relu":
            return _each(a, lambda x: Window(max(ZERO, x.low), max(ZERO, x.high)))
        case Round(method="nearest" | "truncate"), (a,):
            mode = MODES[op.ties] if op.method == "nearest" else ROUND_DOWN
            return _each(a, lambda x: x if x == HIDDEN else Window(*(_rounded(end, op.places, mode) for end in x)))
    return None


# ------------------------------------------------------------------------------------ products


def _dot(row: Sequence[Window], column: Sequence[Window]) -> Window:
    """Σ a_j·v_j; every variable occurs once, so that interval arithmetic gives the range itself."""
    return reduce(RING.add, map(_times, row, column))


def _average(row: Sequence[Window], column: Sequence[Window]) -> Window:
    """Σ a_j·v_j over all weights a_j ≥ 0 in their windows that sum to 1."""
    weights = [Window(max(ZERO, a.low), a.high) for a in row]
    least, most = (reduce(RING.add, (_point(end) for end in ends)) for ends in zip(*weights, strict=True))
    possible = all(a.low <= a.high for a in weights) and least.high <= 1 <= most.low
    if not possible or not all(v.bounded for v in column):
        return _dot(row, column)
    # A weight is not negative, so the average grows with every value.
    highest = _greatest_average(weights, [v.high for v in column])
    lowest = _greatest_average(weights, [v.low.copy_negate() for v in column]).copy_negate()
    return Window(lowest, highest)


def _greatest_average(weights: Sequence[Window], values: Sequence[Decimal]) -> Decimal:
    """The greatest Σ a_j·v_j with Σ a_j = 1: a fractional knapsack, solved by its dual.

    For every t it is t + Σ a_j·(v_j − t) ≤ t + Σ (v_j − t)·(the upper end of a_j where v_j > t, else the lower), and
    equal for one of the values as t: that into which the last of the missing weight is poured (Dantzig 1957).  So
    rounding upwards is rigorous whatever t is.
    """

    def bound(t: Decimal) -> Decimal:
        gains = (
            RING.multiply(RING.add(_point(v), _point(t.copy_negate())), _point(a.high if v > t else a.low))
            for a, v in zip(weights, values, strict=True)
        )
        return reduce(RING.add, gains, _point(t)).high

    return min(map(bound, values))


# ------------------------------------------------------------------------------------ softmax


def _softmax(scores: Sequence[Window], logarithm: Window, empty: Literal["undefined", "zero"]) -> tuple[Window, ...]:
    """p_i/Σ p_j over all p_j = b^s_j in their windows; what is hidden has weight 0.

    It grows with p_i and falls with every other p_j, so each end is one evaluation.  The scores are shifted by the
    greatest, which changes no weight and keeps the powers below 1.
    """
    exponents = {i: RING.multiply(logarithm, s) for i, s in enumerate(scores) if s != HIDDEN}
    if not exponents and empty == "undefined":
        raise UndefinedError("The softmax of nothing but −∞ is undefined.")
    shift = _point(max((x.high for x in exponents.values()), default=ZERO).copy_negate())
    powers = {i: RING.exp(RING.add(x, shift)) for i, x in exponents.items()}

    def weight(i: int) -> Window:
        if i not in powers:
            return Window(ZERO, ZERO)
        others = [p for j, p in powers.items() if j != i]
        low = _share(powers[i].low, [p.high for p in others]).low
        return Window(low, _share(powers[i].high, [p.low for p in others]).high)

    return tuple(map(weight, range(len(scores))))


def _share(p: Decimal, others: Sequence[Decimal]) -> Window:
    """p/(p + Σ others)."""
    if not others:
        return Window(ONE, ONE)
    return RING.divide(_point(p), reduce(RING.add, map(_point, others), _point(p)))


def _logarithm(base: Value | Literal["e"]) -> Window:
    """ln b, which is below 0 for a base below 1."""
    return Window(ONE, ONE) if base == "e" else RING.ln(_number(base))


# ------------------------------------------------------------------------------------ entry by entry


def _times(a: Window, b: Window) -> Window:
    if HIDDEN in (a, b):
        if (b if a == HIDDEN else a).sign != 1:
            raise UndefinedError("−∞ may be multiplied by positive numbers only.")
        return HIDDEN
    return RING.multiply(a, b)


def _over(x: Window, divisor: Window) -> Window:
    if divisor.sign in (0, None):
        raise UndefinedError("The divisor may be 0.")
    return _times(x, divisor) if x == HIDDEN else RING.divide(x, divisor)


def _hidden(x: Window, mask: Mask) -> Window:
    return _times(x, HIDDEN) if mask.style == "multiplicative" else HIDDEN


def _rounded(x: Decimal, places: int, mode: str) -> Decimal:
    return x.scaleb(places, RING.nearest).to_integral_value(mode).scaleb(-places, RING.nearest)


def _each(box: Box, function: Callable[[Window], Window]) -> Box:
    return tuple(tuple(map(function, row)) for row in box)


def _entrywise(combine: Callable[[Window, Window], Window], a: Box, b: Box) -> Box:
    """As `Add` and `Hadamard` do it: a single row or column is stretched over the other's."""
    rows, columns = (max(sizes) for sizes in ((len(a), len(b)), (len(a[0]), len(b[0]))))
    return tuple(
        tuple(combine(x, y) for x, y in zip(*(_stretched(box[i % len(box)], columns) for box in (a, b)), strict=True))
        for i in range(rows)
    )


def _stretched(row: tuple[Window, ...], columns: int) -> tuple[Window, ...]:
    return row if len(row) == columns else row * columns


def _turned(box: Box) -> Box:
    return tuple(zip(*box, strict=True))


def _point(x: Decimal) -> Window:
    return Window(x, x)


def _number(value: Value) -> Window:
    """A number that the operation has, which may not be a symbol."""
    number = cell(value, None)
    if number is None or number == HIDDEN:
        raise UndefinedError(f"{value} has no size.")
    return number


def _reach(unit: Fraction, rounding: Rounding) -> Fraction:
    """How far a number may lie from what is written for it."""
    return unit / 2 if rounding == "nearest" else unit


def _undecided(digits: int | None) -> str:
    return f"undecided to {digits} digits" if digits else "undecided"


__all__ = ["Box", "Window", "cell", "holds", "meet", "width", "window"]
