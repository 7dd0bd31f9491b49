"""Rounding windows: everything that a written decimal may stand for, and everything that can follow from it.

A decimal stands for an interval of numbers, so a matrix of decimals stands for a box.  The range of each entry of what
follows is the operation's (`Op.range`): a window is never too narrow (rules.md 3.8).
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from symattn.derivation.derivation import Op
from symattn.derivation.ops import MatMul
from symattn.derivation.windows import HIDDEN, RING, Box, Window
from symattn.errors import UndecidedError, UndefinedError
from symattn.exact import Value, compare, decide, has_symbols
from symattn.exact.intervals import MOST_DIGITS, ZERO
from symattn.exact.values import NegativeInfinity
from symattn.foundation.languages import message
from symattn.marking.marker.policy import Rounding

LESS = 1 - Fraction(1, 10**9)
"""Truncation loses strictly less than one unit: this share of it at most."""


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


def loose_cell(value: Value, unit: Fraction) -> Window:
    """All numbers that may be rounded to this value, or cut off to it: −2 is never cut off to −1.9.

    >>> loose_cell(Fraction(-1, 4), Fraction(1, 100))
    Interval(low=Decimal('-0.25999999999'), high=Decimal('-0.245'))
    """
    low, high = RING.enclose(value - unit / 2).low, RING.enclose(value + unit / 2).high
    cut = RING.enclose(value)
    if cut.low >= 0:
        high = RING.enclose(value + unit * LESS).high
    if cut.high <= 0:
        low = RING.enclose(value - unit * LESS).low
    return Window(low, high)


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


def claimed(value: Value, unit: Fraction) -> Window:
    """Everything that is rounded as this value is, one place before its last: where what it stands for must be.

    >>> claimed(Fraction(1, 4), Fraction(1, 100))
    Interval(low=Decimal('0.2'), high=Decimal('0.3'))
    """
    return Window(RING.enclose(value - 5 * unit).low, RING.enclose(value + 5 * unit).high)


def meet(a: Window, b: Window) -> bool:
    """Whether two windows have a number in common."""
    return a.low <= b.high and b.low <= a.high


def width(w: Window) -> Decimal:
    """How wide a window is, rounded upwards; 0 for one number, also for −∞.

    A Decimal compares exactly with a Fraction, and should stay one: 1E-434294482, a weight after a score of 10⁹, takes
    a long time to become a Fraction.
    """
    return ZERO if w.low == w.high else RING.ceiling.subtract(w.high, w.low)


def window(op: Op, *boxes: Box, weights: bool = False, unit: Fraction | None = None) -> Box | None:
    """The range of every entry of `op` over the boxes; None if no rule is known or not everything is defined.

    `weights` says that each row of the first operand of a product consists of weights.  The ranges are exact for
    operands that do not depend on one another, and the sum of rows that are weights is the only dependence within one
    that is seen.  A result that is shown to a `unit` may be one last place more off, for what was rounded on the way to
    the places shown; a number that ends within these was not rounded.  `ShapeError` if the boxes do not fit.

    >>> score = cell(Fraction(1), Fraction(1, 10))
    >>> window(MatMul(), ((score, score),), ((cell(2, None),), (cell(-3, None),)))
    ((Interval(low=Decimal('-1.25'), high=Decimal('-0.75')),),)
    >>> window(MatMul(), ((cell(Fraction(1, 4), Fraction(1, 100)),),), ((cell(2, None),),), unit=Fraction(1, 100))
    ((Interval(low=Decimal('0.480'), high=Decimal('0.520')),),)
    """
    op.shape(*((len(box), len(box[0])) for box in boxes))
    try:
        box = op.averages(*boxes) if weights and isinstance(op, MatMul) else op.range(*boxes)
    except (UndefinedError, InvalidOperation):  # also ∞ − ∞ and 0·∞, of what was hidden where nothing may be
        return None
    return box if unit is None or box is None else tuple(tuple(to_unit(w, unit) for w in row) for row in box)


def to_unit(w: Window, unit: Fraction) -> Window:
    """A window of a number that was rounded to a unit on the way; what ends by itself, and −∞, was not."""
    if not w.bounded or (w.low == w.high and (Fraction(w.low) / unit).denominator == 1):
        return w
    return RING.add(w, Window(RING.enclose(-unit).low, RING.enclose(unit).high))


def _reach(unit: Fraction, rounding: Rounding) -> Fraction:
    """How far a number may lie from what is written for it."""
    return unit / 2 if rounding == "nearest" else unit


def _undecided(digits: int | None) -> str:
    return message("undecided to {digits} digits", digits=digits) if digits else "undecided"
