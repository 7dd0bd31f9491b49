"""Rounding windows: everything that a written decimal may stand for, and everything that can follow from it.

A decimal stands for an interval of numbers, so a matrix of decimals stands for a box.  The range of each entry of what
follows is worked out exactly where a formula for it is known, and its ends are rounded outwards: a window is never too
narrow, and wider than the range by rounding in the 30th digit only (rules.md 3.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Literal

from symattn.derivation.algebra import Entries, Intervals
from symattn.derivation.derivation import Op, RuleOp
from symattn.derivation.ops import (
    ActivationGradient,
    Mask,
    MatMul,
    NormGradient,
    Round,
    Scale,
    Slope,
    SoftCapGradient,
    Softmax,
    SoftmaxGradient,
    SoftmaxJacobian,
    Variance,
)
from symattn.derivation.ops.arithmetic import (
    ToFloat,
)
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.positional import Positional
from symattn.derivation.ops.scores import FeatureMap, Hardmax, OverSum
from symattn.errors import UndecidedError, UndefinedError
from symattn.exact import Value, compare, decide, has_symbols
from symattn.exact.floats import Format, nearest_float
from symattn.exact.intervals import INFINITY, MOST_DIGITS, ONE, ZERO, Interval, interval_ring
from symattn.exact.rounding import MODES
from symattn.exact.values import NEGATIVE_INFINITY, NegativeInfinity
from symattn.foundation.languages import message
from symattn.marking.marker.policy import Rounding

Window = Interval
Box = tuple[tuple[Window, ...], ...]
"""One window for every entry of a matrix; the entries vary independently of one another."""

DIGITS = 30
RING = interval_ring(DIGITS)
HALF = Decimal("0.5")
HIDDEN = Window(-INFINITY, -INFINITY)
"""The score of what is masked."""

NOTHING = Window(ZERO, ZERO)


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
    """All numbers that may be rounded to this value, or cut off to it.

    >>> loose_cell(Fraction(-1, 4), Fraction(1, 100))
    Interval(low=Decimal('-0.26'), high=Decimal('-0.245'))
    """
    low, high = RING.enclose(value - unit / 2).low, RING.enclose(value + unit / 2).high
    cut = RING.enclose(value)
    if cut.low >= 0:
        high = RING.enclose(value + unit).high
    if cut.high <= 0:
        low = RING.enclose(value - unit).low
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
    """The range of every entry of `op` over the boxes; None if no rule is known or not everything is defined.

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
        case MatMul(), (a, b) if weights:
            return tuple(tuple(_average(row, column) for column in _turned(b)) for row in a)
        case Scale(), (a,) if divisor:
            return _each(a, lambda x: _over(x, divisor))
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
        case OverSum() | Hardmax(), (a,):
            weigh = _over_sum if isinstance(op, OverSum) else _hardmax
            if op.along == "columns":
                return _turned(tuple(_visible(column, weigh, op.empty) for column in _turned(a)))
            return tuple(_visible(row, weigh, op.empty) for row in a)
        case FeatureMap(feature), (a,):
            return _each(a, _FEATURES[feature])
        case Variance(of, over), (a, mean):
            pairs = zip(_lines(a, over), _lines(mean, over), strict=True)
            variances = tuple((_variance(line, m, len(line) - (of == "sample")),) for line, (m,) in pairs)
            return variances if over == "columns" else _turned(variances)
        case ToFloat(format), (a,):
            return _each(a, lambda x: x if x == HIDDEN else _nearest(x, format))
        case Positional(), ():
            return tuple(tuple(map(_number, row)) for row in op.apply().rows)
        case SoftmaxJacobian(), (a,):
            (row,) = a if op.along == "rows" else _turned(a)
            return tuple(
                tuple(_slope(x, HALF) if i == j else RING.negate(_times(x, y)) for j, y in enumerate(row))
                for i, x in enumerate(row)
            )
        case SoftmaxGradient(along, base), (a, g):
            if along == "columns":
                turned = map(_back_through_softmax, _turned(a), _turned(g), [_logarithm(base)] * len(a[0]))
                return _turned(tuple(turned))
            return tuple(map(_back_through_softmax, a, g, [_logarithm(base)] * len(a)))
        case ActivationGradient(name="relu"), (g, x):
            steps = _each(x, lambda x: Window(ONE if x.low > 0 else ZERO, ONE if x.high > 0 else ZERO))
            return _entrywise(_times, g, steps)
        case ActivationGradient(name="tanh" | "sigmoid" as name), (g, y):
            return _entrywise(lambda g, y: _times(g, _slope(y, ZERO if name == "tanh" else HALF)), g, y)
        case SoftCapGradient(cap), (g, y):
            return _entrywise(lambda g, y: _times(g, _slope(_over(y, _number(cap)), ZERO)), g, y)
        case NormGradient(over=over), (g, n, v):
            boxes = (g, n, v) if over == "columns" else (_turned(g), _turned(n), _turned(v))
            rows = tuple(_back_through_norm(op, *lines) for lines in zip(*boxes, strict=True))
            return rows if over == "columns" else _turned(rows)
        case CrossEntropy(along), (p, t):
            pairs = zip(p, t, strict=True) if along == "rows" else zip(_turned(p), _turned(t), strict=True)
            losses = tuple((RING.negate(reduce(RING.add, map(_wanted, row, targets))),) for row, targets in pairs)
            return losses if along == "rows" else _turned(losses)
        case Slope(function="relu"), (a,):
            return _each(a, lambda h: Window(ONE if h.low > 0 else ZERO, ONE if h.high > 0 else ZERO))
        case Slope(function=function), (a,):
            return _each(a, lambda h: _slope(h, ZERO if function == "tanh" else HALF))
        case Round(method="nearest" | "truncate"), (a,):
            mode = MODES[op.ties] if op.method == "nearest" else ROUND_DOWN
            return _each(a, lambda x: x if x == HIDDEN else Window(*(_rounded(end, op.places, mode) for end in x)))
        case RuleOp(), _:
            return _by_rule(op, boxes)
    return None


# ------------------------------------------------------------------------------------ by the rule


class Windows(Intervals):
    """Intervals in which −∞ may stand, and numbers that may be rounded from 0 have a root."""

    def number(self, value: Value) -> Window:
        return HIDDEN if value is NEGATIVE_INFINITY else _number(value)

    def negative(self, x: Window) -> Window:
        return _opposite(x)

    def product(self, *factors: Window) -> Window:
        return reduce(_times, factors)

    def quotient(self, x: Window, y: Window) -> Window:
        return _over(x, y)

    def square(self, x: Window) -> Window:
        return _square(x)

    def exponential(self, x: Window, base: Value | Literal["e"] = "e") -> Window:
        return NOTHING if x == HIDDEN else RING.exp(RING.multiply(_logarithm(base), x))

    def root(self, x: Window) -> Window:
        return _root(x)

    def apply(self, function: str, x: Window) -> Window:
        match function:
            case "tanh":
                return _tanh(x)
            case "abs":
                return _size(x)
        return super().apply(function, x)

    def hidden(self, x: Window) -> bool:
        return x == HIDDEN


WINDOWS = Windows(RING)


def _by_rule(op: RuleOp, boxes: Sequence[Box]) -> Box | None:
    """The operation's rule in intervals: the range itself where every number occurs once, and else wider.

    None where a function of the rule has no range.
    """
    shapes = [(len(box), len(box[0])) for box in boxes]
    entries = [Entries.of(box) for box in boxes]
    rows, columns = op.shape(*shapes)
    assert isinstance(rows, int)
    assert isinstance(columns, int)
    try:
        return tuple(tuple(op.rule(WINDOWS, i, j, *entries) for j in range(columns)) for i in range(rows))
    except TypeError:
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


# ------------------------------------------------------------------------------------ norms


def _lines(box: Box, over: Literal["columns", "rows"]) -> Box:
    return box if over == "columns" else _turned(box)


def _variance(line: Sequence[Window], mean: Window, number: int) -> Window:
    """Σ(x_j − μ)² over a number, over all x_j and μ in their windows.

    It is convex in μ: the greatest value stands at an end of the window of μ.  The least is sought between neighbouring
    ends of the x_j, where those on one side of μ are as near to it as they can be and all others are equal to it.
    """

    def farthest(m: Decimal) -> Decimal:
        away = (_size(_less(x, _point(m), _point(ONE))).high for x in line)
        return reduce(RING.add, (_square(_point(d)) for d in away)).high

    def nearest(m: Window) -> Decimal:
        ends = [_point(x.high if x.high <= m.low else x.low) for x in line if x.high <= m.low or m.high <= x.low]
        if not ends:
            return ZERO
        centre = RING.divide(reduce(RING.add, ends), _number(len(ends)))
        off = _size(_less(centre, m, _point(ONE))).low
        about = reduce(RING.add, (_square(_less(end, centre, _point(ONE))) for end in ends))
        return RING.add(about, RING.multiply(_number(len(ends)), _square(_point(off)))).low

    stops = sorted({mean.low, mean.high, *(end for x in line for end in x if mean.low < end < mean.high)})
    pieces = [Window(*pair) for pair in pairwise(stops)] or [mean]
    sums = Window(min(map(nearest, pieces)), max(map(farthest, mean)))
    return RING.divide(sums, _number(number))


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


def _visible(
    scores: Sequence[Window],
    weights: Callable[[Sequence[Window]], list[Window]],
    empty: Literal["undefined", "zero"],
) -> tuple[Window, ...]:
    """The weights of what is not hidden; 0 for the rest."""
    seen = [x for x in scores if x != HIDDEN]
    if not seen and empty == "undefined":
        raise UndefinedError("Nothing but −∞ has no weights.")
    found = iter(weights(seen))
    return tuple(Window(ZERO, ZERO) if x == HIDDEN else next(found) for x in scores)


def _over_sum(scores: Sequence[Window]) -> list[Window]:
    """s_i/Σ s_j, a quotient of linear functions: its extremes over s_i and the sum of the others stand at corners."""

    def share(i: int) -> Window:
        rest = reduce(RING.add, (s for j, s in enumerate(scores) if j != i), _point(ZERO))
        if RING.add(scores[i], rest).sign in (0, None):
            raise UndefinedError("The sum may be 0.")
        corners = [RING.divide(_point(s), RING.add(_point(s), _point(r))) for s in scores[i] for r in rest]
        return Window(min(c.low for c in corners), max(c.high for c in corners))

    return [share(i) for i in range(len(scores))]


def _hardmax(scores: Sequence[Window]) -> list[Window]:
    """1 over the number of those that share the largest score, 0 for the others."""

    def share(i: int) -> Window:
        others = [s for j, s in enumerate(scores) if j != i]
        tied = [sum(s.low == scores[i].high for s in others), sum(s.high == scores[i].low for s in others)]
        most, least = (RING.number(Fraction(1, 1 + ties)) for ties in tied)
        may_win = all(s.low <= scores[i].high for s in others)
        must_win = all(s.high <= scores[i].low for s in others)
        return Window(least.low if must_win else ZERO, most.high if may_win else ZERO)

    return [share(i) for i in range(len(scores))]


def _share(p: Decimal, others: Sequence[Decimal]) -> Window:
    """p/(p + Σ others)."""
    if not others:
        return Window(ONE, ONE)
    return RING.divide(_point(p), reduce(RING.add, map(_point, others), _point(p)))


def _logarithm(base: Value | Literal["e"]) -> Window:
    """ln b, which is below 0 for a base below 1."""
    return Window(ONE, ONE) if base == "e" else RING.ln(_number(base))


# ------------------------------------------------------------------------------------ entry by entry


def _wanted(p: Window, t: Window) -> Window:
    """t ln p, and 0 where t is; p may not be 0 elsewhere."""
    if t == NOTHING:
        return NOTHING
    if p.low <= 0:
        raise UndefinedError("The logarithm of a number that may be 0 is undefined.")
    return _times(t, RING.ln(p))


def _tanh(x: Window) -> Window:
    """1 − 2/(e^2x + 1), in which x occurs once."""
    power = RING.exp(RING.add(x, x))
    return RING.add(_point(ONE), RING.negate(RING.divide(RING.number(2), RING.add(power, _point(ONE)))))


def _elu_and_one(x: Window) -> Window:
    """x + 1 above 0, e^x below: increasing, and one number at 0."""
    low, high = (RING.add(_point(end), _point(ONE)) if end > 0 else RING.exp(_point(end)) for end in x)
    return Window(low.low, high.high)


def _square(x: Window) -> Window:
    low, high = map(_point, _size(x))
    return Window(RING.multiply(low, low).low, RING.multiply(high, high).high)


_FEATURES: Mapping[str, Callable[[Window], Window]] = {
    "elu+1": _elu_and_one,
    "relu": lambda x: Window(max(ZERO, x.low), max(ZERO, x.high)),
    "square": _square,
    "identity": lambda x: x,
}


def _less(x: Window, maximum: Window, factor: Window) -> Window:
    """(x − m)·ln b."""
    return RING.multiply(RING.add(x, RING.negate(maximum)), factor)


def _times(a: Window, b: Window) -> Window:
    if HIDDEN in (a, b):
        if (b if a == HIDDEN else a).sign != 1:
            raise UndefinedError("−∞ may be multiplied by positive numbers only.")
        return HIDDEN
    return RING.multiply(a, b)


def _slope(h: Window, top: Decimal) -> Window:
    """1 − h² (tanh) or h·(1 − h) (sigmoid): (h − top)² below the value at the top, which is 1 or 1/4."""
    away = _size(RING.add(h, _point(top.copy_negate())))
    low, high = (RING.multiply(_point(end), _point(end)) for end in away)
    highest = ONE if top == ZERO else top * top
    return RING.add(_point(highest), RING.negate(Window(low.low, high.high)))


def _back_through_softmax(weights: Sequence[Window], gradient: Sequence[Window], rate: Window) -> tuple[Window, ...]:
    """a_i·((1 − a_i)·g_i − Σ_k≠i a_k·g_k), the weights in their windows and not negative; every other number once."""
    a = [Window(max(ZERO, w.low), max(ZERO, w.high)) for w in weights]
    found = []
    for i, (own, g) in enumerate(zip(a, gradient, strict=True)):
        others = [_times(x, y) for k, (x, y) in enumerate(zip(a, gradient, strict=True)) if k != i]
        rest = reduce(RING.add, others, _point(ZERO))
        bracket = _less(_times(_less(_point(ONE), own, _point(ONE)), g), rest, _point(ONE))
        found.append(_times(rate, _times(own, bracket)))
    return tuple(found)


def _back_through_norm(
    op: NormGradient, gradient: Sequence[Window], normed: Sequence[Window], variance: Sequence[Window]
) -> tuple[Window, ...]:
    """The textbook's line, each number wherever it stands: wide enough, and wider than the range."""
    (v,), one = variance, _point(ONE)
    root = RING.sqrt(RING.add(Window(max(ZERO, v.low), v.high), _number(op.epsilon)))
    mean = RING.divide(reduce(RING.add, gradient), _number(len(gradient)))
    along = RING.divide(_dot(gradient, normed), _number(len(gradient) - (op.kind == "sample")))
    centred = [g if op.kind == "rms" else _less(g, mean, one) for g in gradient]
    return tuple(_over(_less(g, _times(n, along), one), root) for g, n in zip(centred, normed, strict=True))


def _opposite(x: Window) -> Window:
    if x == HIDDEN:
        raise UndefinedError("There is no +∞.")
    return RING.negate(x)


def _root(x: Window) -> Window:
    """√x; no number below 0 has one, so that what may be rounded from 0 starts there."""
    if x.high < 0:
        raise UndefinedError("A negative number has no root.")
    return RING.sqrt(Window(max(ZERO, x.low), x.high))


def _nearest(x: Window, format: Format) -> Window:
    """Both ends rounded, for rounding never changes the order of two numbers."""
    low, high = (nearest_float(Fraction(end) if end.adjusted() > -MOST_DIGITS else 0, format) for end in x)
    return Window(HIDDEN.low if low is NEGATIVE_INFINITY else _number(low).low, _number(high).high)


def _size(x: Window) -> Window:
    """|x|."""
    low, high = sorted((x.low.copy_abs(), x.high.copy_abs()))
    return Window(low if x.sign else ZERO, high)


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
    return message("undecided to {digits} digits", digits=digits) if digits else "undecided"


__all__ = [
    "HIDDEN",
    "RING",
    "WINDOWS",
    "Box",
    "Window",
    "Windows",
    "cell",
    "holds",
    "loose_cell",
    "meet",
    "width",
    "window",
]
