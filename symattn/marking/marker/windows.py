"""Rounding windows: everything that a written decimal may stand for, and everything that can follow from it.

A decimal stands for an interval of numbers, so a matrix of decimals stands for a box.  The range of each entry of what
follows is the operation's (`Op.range`): a window is never too narrow (rules.md 3.8).

Who works by hand rounds e^x, the sum of a row, √3 and quotients to two or more places, without writing it down, and
goes on with that.  Every number that goes into a further operation is taken for any that it may have been rounded or
cut off to, at so many places or at more; the operation's rule, read so, encloses everything that somebody who is right
can come to.  A sum has no more places than its terms, and a product no more than its factors together.  So an output of
three places shows that three places of what was added up were used, whatever was rounded before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial, reduce
from typing import Literal, NamedTuple, TypeVar

from symattn.derivation.algebra import Algebra, Base, Entries, Indices, Known
from symattn.derivation.derivation import Op, RuleOp, Step
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.entrywise import Divide, Round
from symattn.derivation.ops.linear import Add, MatMul, Scale, SumOver
from symattn.derivation.windows import HIDDEN, NOTHING, RING, UNIT, WINDOWS, Box, Window
from symattn.errors import ShapeError, UndecidedError, UndefinedError
from symattn.exact import AnyMatrix, Matrix, Value, compare, decide, has_symbols
from symattn.exact.intervals import MOST_DIGITS, ZERO
from symattn.exact.values import NEGATIVE_INFINITY, RATIONAL, NegativeInfinity
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.policy import Policy, Rounding
from symattn.marking.marker.report import Cell
from symattn.marking.marker.script import Script

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


class LinesBefore:
    """What comes of every line of a script from what was written before it.

    `carried` are the values that lines are gone on with, as far as they have been walked through, and `misshapen` those
    of another shape.
    """

    def __init__(self, script: Script, carried: Mapping[str, AnyMatrix], misshapen: set[str]) -> None:
        self.script, self.carried, self.misshapen = script, carried, misshapen

    def grid(self, name: str) -> Grid | None:
        """What was written for a line; None where it has another shape."""
        return None if name in self.misshapen else self.script.written.get(name)

    def blank(self, name: str, shape: tuple[int, int]) -> Grid | None:
        """What was written for a line of this shape and counts as blank: whoever comes to it has rounded no more."""
        grid = self.script.as_blank.get(name)
        return grid if grid is not None and grid.shape == shape else None


class LinesInWindows(LinesBefore):
    """The same from anything that the lines before may be rounded from."""

    def __init__(self, script: Script, carried: Mapping[str, AnyMatrix], misshapen: set[str], policy: Policy) -> None:
        super().__init__(script, carried, misshapen)
        self.policy = policy
        self._boxes: dict[str, Box | None] = {}
        self._ranges: dict[tuple[str, Fraction | None], Box | None] = {}

    def at(self, step: Step, i: int, j: int, unit: Fraction | None = None) -> Window | None:
        """An entry's window; None where there is none, as in a line that is judged by what has another shape."""
        box = self._range(step, unit)
        return box[i][j] if box is not None and i < len(box) and j < len(box[0]) else None

    def _range(self, step: Step, unit: Fraction | None = None) -> Box | None:
        """What the step gives from the cells of the lines before it; None if none of them was rounded.

        With a `unit`, what it gives from lines with the places that they are shown with, those left out the unit's.
        """
        if (step.name, unit) not in self._ranges:
            self._ranges[step.name, unit] = None
            if unit or self.script.is_rounded_before(step):
                boxes = operands_of(step, lambda name: self._box(name, unit))
                weights = self._are_weights(step)
                found = None if boxes is None else window(step.op, *boxes, weights=weights, unit=unit)
                self._ranges[step.name, unit] = found
        return self._ranges[step.name, unit]

    def _box(self, name: str, unit: Fraction | None) -> Box | None:
        if unit and (step := self.script.step(name)) is not None and not self.script.is_known(name):
            return self._range(step, unit)
        if name not in self._boxes:
            self._boxes[name] = self._cells(name)
        return self._boxes[name]

    def _cells(self, name: str) -> Box | None:
        """Everything that the entries of a line may be rounded from; None where one has symbols."""
        grid, carried, step = self.grid(name), self.carried.get(name), self.script.step(name)
        if grid is None and name not in self.misshapen and step is not None and (box := self._range(step)) is not None:
            blank = self.blank(name, (len(box), len(box[0])))
            return (
                box
                if blank is None
                else tuple(tuple(map(_narrowed, *rows)) for rows in zip(box, blank.rows, strict=True))
            )
        if not isinstance(carried, Matrix):
            return None
        rows: list[tuple[Window, ...]] = []
        for i, row in enumerate(carried.rows):
            entries = grid.rows[i] if grid else [BLANK] * len(row)
            units = [entry.unit if entry.readable else None for entry in entries]
            windows = map(cell, row, units, map(self.policy.rounding_of, entries))
            rows.append(tuple(w for w in windows if w is not None))
            if len(rows[-1]) < len(row):
                return None
        return tuple(rows)

    def _are_weights(self, step: Step) -> bool:
        """Whether the first operand is a matrix of weights whose rows sum to 1."""
        source = self.script.step(step.operands[0].name) if step.operands else None
        while source is not None and isinstance(source.op, Round):
            source = self.script.step(source.operands[0].name)
        return source is not None and isinstance(source.op, Softmax) and source.op.along == "rows"


# ------------------------------------------------------------------------------------------------ by hand

LEAST_PLACES = 2
"""Fewest decimals that a correct solver rounds intermediate results to."""

MORE_PLACES = 6
"""Rounding up is tried at up to this many more places; beyond, it is less than anything that is compared."""

NOISE = Decimal("1e-20")
"""What the enclosure of a number may be off by."""

MOST_PLACES = 6
"""Most decimals of intermediate results that are tried where fewer say nothing."""

ALL_PLACES = 15
"""Decimals of what is not rounded on the way, as calculators carry on."""

PLACES_OF_E = 4
"""Most decimals of e that are tried: more are as good as all of them."""

HALVED = 7
"""How often the window of a number that a line shares is halved."""

LARGEST = 400
"""Digits of a number that is not rounded any more."""

WHOLE = Context(prec=2 * LARGEST)

QUOTIENTS = (Scale, Divide)
ENDING = (MatMul, Add, SumOver, *QUOTIENTS)
"""Operations that end in a sum of products, or in a product with 1/√d or another inverse: places of the result are
places of its terms."""


T = TypeVar("T")


class Rounded(NamedTuple):
    """A number on the way: all that it may be, and whether its places are so few that nobody rounds it.

    What is `written` is used as it stands, or as it was before; only what comes of it is rounded further.
    """

    span: Window
    short: bool
    written: bool = False


Lines = tuple[tuple[Rounded, ...], ...]
"""A matrix of numbers on the way."""


class ByHand(Algebra[Rounded]):
    """Numbers that are rounded before they go into a further operation."""

    def __init__(self, places: int, terms: int = 0) -> None:
        """Numbers are rounded to `places` places or more, those that are added up to `terms` at least."""
        self.places, self.terms = places, max(places, terms)

    def carried_forward(self, x: Rounded, places: int = 0) -> Window:
        """All that it may be where it is gone on with."""
        if x.short or x.written or x.span == HIDDEN or not x.span.bounded:
            return x.span
        (low, high), places = x.span, places or self.places
        return Window(
            min(low, -_raised(-low, places) if low < 0 else _cut(low, places)),
            max(high, _raised(high, places) if high > 0 else -_cut(-high, places)),
        )

    def of(self, span: Window) -> Rounded:
        """A number that was worked out: one that ends by itself is not rounded."""
        short = span.low == span.high and (span == HIDDEN or _places(span.low) <= self.places)
        return Rounded(span, short)

    def number(self, value: Value) -> Rounded:
        return Rounded(HIDDEN, True) if value is NEGATIVE_INFINITY else self.of(WINDOWS.number(value))

    def size(self, indices: Indices, less: int = 0) -> Rounded:
        return Rounded(WINDOWS.size(indices, less), True)

    def sum(self, *terms: Rounded) -> Rounded:
        return Rounded(WINDOWS.sum(*(self.carried_forward(x, self.terms) for x in terms)), all(x.short for x in terms))

    def negative(self, x: Rounded) -> Rounded:
        return Rounded(WINDOWS.negative(x.span), x.short, x.written)

    def product(self, *factors: Rounded) -> Rounded:
        short = all(x.short for x in factors) and sum(not _is_whole(x.span) for x in factors) <= 1
        return Rounded(WINDOWS.product(*map(self.carried_forward, factors)), short)

    def quotient(self, x: Rounded, y: Rounded) -> Rounded:
        """x/y, or x times 1/y, which may be rounded before, beyond the noughts that it begins with: 1/28 to 0.036."""
        divided, inverse = (
            WINDOWS.quotient(self.carried_forward(x), self.carried_forward(y)),
            self.of(WINDOWS.quotient(UNIT, y.span)),
        )
        if inverse.short:
            return self.of(divided)
        places = self.places + _noughts(inverse.span)
        if _is_fixed(x):
            places = max(places, self.terms - _places(x.span.low))
        return self.of(_hull(divided, WINDOWS.product(self.carried_forward(x), self.carried_forward(inverse, places))))

    def square(self, x: Rounded) -> Rounded:
        return Rounded(WINDOWS.square(self.carried_forward(x)), x.short and _is_whole(x.span))

    def exponential(self, x: Rounded, base: Base = "e") -> Rounded:
        if x.span == HIDDEN:
            return Rounded(NOTHING, True)
        if x.span == NOTHING:
            return Rounded(UNIT, True)
        if isinstance(base, RATIONAL) and x.short and _is_whole(x.span) and abs(x.span.low) <= LARGEST:
            return self.number(Fraction(base) ** int(x.span.low))  # 2² is 4
        return Rounded(_power(RING.multiply(self.logarithm(base), self.carried_forward(x))), False)

    def logarithm(self, base: Base) -> Window:
        """ln b, where 2.72 may stand for e."""
        return _logarithm_of_e(self.places) if base == "e" else RING.ln(WINDOWS.number(base))

    def root(self, x: Rounded) -> Rounded:
        return self.of(WINDOWS.root(self.carried_forward(x)))

    def apply(self, function: str, x: Rounded) -> Rounded:
        return self.of(WINDOWS.apply(function, self.carried_forward(x)))

    def known(self, function: Known, x: Rounded) -> Rounded:
        return self.of(WINDOWS.known(function, self.carried_forward(x)))

    def maximum(self, *terms: Rounded) -> Rounded:
        return Rounded(WINDOWS.maximum(*(x.span for x in terms)), all(x.short for x in terms))

    def hidden(self, x: Rounded) -> bool:
        return x.span == HIDDEN

    def softmax(self, scores: Sequence[Rounded], op: Softmax) -> list[Rounded]:
        """Powers, their sum and the quotients; the largest score may have been subtracted before."""
        seen = [k for k, x in enumerate(scores) if not self.hidden(x)]
        if not seen and op.empty == "undefined":
            raise UndefinedError("The softmax of nothing but −∞ is undefined.")
        found = [Rounded(NOTHING, True)] * len(scores)
        largest = max((scores[k].span.high for k in seen), default=ZERO)
        shifted = [Rounded(RING.add(scores[k].span, Window(-largest, -largest)), scores[k].short) for k in seen]
        ways = [
            self._shares([self.exponential(x, op.base) for x in way]) for way in ([scores[k] for k in seen], shifted)
        ]
        for k, *shares in zip(seen, *ways, strict=True):
            found[k] = self.of(_hull(*shares))
        return found

    def _shares(self, powers: Sequence[Rounded]) -> list[Window]:
        """p_i/Σ p_j, which grows with p_i and falls with every other p_j.

        The sum may be a unit smaller, cut off, or half a unit larger than what it is the sum of.
        """
        used = list(map(self.carried_forward, powers))
        unit = ZERO if all(p.short for p in powers) else _unit(self.places)

        def share(own: Decimal, others: Iterable[Decimal], off: Decimal) -> Window:
            whole = reduce(RING.add, (Window(x, x) for x in (*others, off)), Window(own, own))
            if whole.low <= 0:
                raise UndefinedError("The sum of the powers may be 0.")
            return RING.divide(Window(own, own), whole)

        found = []
        for i, p in enumerate(used):
            others = [q for k, q in enumerate(used) if k != i]
            low = share(p.low, (q.high for q in others), unit / 2)
            found.append(Window(low.low, share(p.high, (q.low for q in others), -unit).high))
        return found


@lru_cache(4096)
def _power(exponent: Window) -> Window:
    return RING.exp(exponent)


@cache
def _logarithm_of_e(places: int) -> Window:
    return RING.ln(ByHand(places).carried_forward(Rounded(RING.exp(UNIT), False)))


class Shared(ByHand):
    """The same, which notes everything that the numbers may be that a whole line shares.

    With `inverse`, of a divisor it is the inverse, by which is multiplied.  `log_of_e` is 1, or ln 2.72.
    """

    def __init__(self, inverse: bool = False, log_of_e: Window = UNIT, places: int = LEAST_PLACES) -> None:
        super().__init__(places)
        self.inverse, self.log_of_e = inverse, log_of_e
        self.windows: list[Window] = []

    def logarithm(self, base: Base) -> Window:
        return self.log_of_e if base == "e" else super().logarithm(base)

    def once(self, work: Callable[[], Rounded], divides: bool = False) -> Rounded:
        x = work()
        if divides and self.inverse:
            inverse = self.of(WINDOWS.quotient(UNIT, x.span))
            self.windows.append(self.carried_forward(inverse, self.places + _noughts(inverse.span)))
        else:
            self.windows.append(self.carried_forward(x))
        return x


class Habit(NamedTuple):
    """How somebody rounds: always to so many places, to the nearest or by cutting off."""

    places: int
    cut: bool


HABITS = (
    *(Habit(n, cut) for n in range(LEAST_PLACES, MOST_PLACES + 1) for cut in (False, True)),
    Habit(ALL_PLACES, False),
)
"""Two places or more, to the nearest or cut off, and last all that there are."""


class ByHabit(Shared):
    """Numbers that are rounded by one habit; those that a whole line shares too, or they lie in these windows."""

    def __init__(
        self, habit: Habit, inverse: bool = False, log_of_e: Window = UNIT, shared: Sequence[Window] | None = None
    ) -> None:
        super().__init__(inverse, log_of_e, habit.places)
        self.habit, self.shared = habit, None if shared is None else iter(shared)

    def carried_forward(self, x: Rounded, places: int = 0) -> Window:
        if x.short or x.written or not x.span.bounded:
            return x.span
        mode = ROUND_DOWN if self.habit.cut else ROUND_HALF_UP
        (low, high), places = x.span, places or self.places
        least = _quantized(low, places, mode)
        return Window(least, least if low == high else _quantized(high, places, mode))

    def once(self, work: Callable[[], Rounded], divides: bool = False) -> Rounded:
        if self.shared is None:
            super().once(work, divides)
        own = self.windows[-1] if self.shared is None else next(self.shared)
        return Rounded(WINDOWS.quotient(UNIT, own) if divides and self.inverse else own, short=False, written=True)

    def quotient(self, x: Rounded, y: Rounded) -> Rounded:
        return self.of(WINDOWS.quotient(self.carried_forward(x), self.carried_forward(y)))


@cache
def _logarithms_of_e() -> Sequence[Window]:
    """1, and ln 2.72 or the like for who rounds e."""
    e = Rounded(RING.exp(UNIT), False)
    found = (RING.ln(ByHabit(habit).carried_forward(e)) for habit in HABITS if habit.places <= PLACES_OF_E)
    return tuple(dict.fromkeys((UNIT, *found)))


Rank = tuple[int, int, bool]

Explained = Mapping[Cell, Sequence[Habit]]
"""Entries that somebody comes to, with the habits that lead to them."""


class SharedNumbers:
    """The entries of a line that come of the same number: a sum of powers, a root, a mean.

    Whatever that was rounded to, it was rounded once: one value of it must give all of these entries (rules.md 3.8).
    """

    def __init__(
        self,
        op: RuleOp,
        operands: Sequence[Lines],
        cells: Mapping[Cell, Window],
        inverse: bool = False,
        log_of_e: Window = UNIT,
    ) -> None:
        """`cells` are everything that each entry may be rounded from; with `inverse`, divisors are multiplied by."""
        self.op, self.cells, self.inverse, self.log_of_e = op, cells, inverse, log_of_e
        self.operands = [Entries.of(lines) for lines in operands]
        shared = {c: windows for c in cells if (windows := self._shared(*c)) is not None}
        nothing_to_do = any(shared.values())  # for an entry that comes of none of them, as behind a mask
        self.of = {c: windows for c, windows in shared.items() if windows or not nothing_to_do}
        self.is_of_one_habit = cache(self._is_of_one_habit)
        self._explained: dict[tuple[tuple[Cell, ...], tuple[Window, ...]], Explained] = {}

    def _shared(self, i: int, j: int) -> tuple[Window, ...] | None:
        """All that the numbers may be that an entry shares with others; None where that is not known."""
        hand = Shared(self.inverse, self.log_of_e)
        with suppress(UndefinedError, InvalidOperation, TypeError):
            self.op.rule(hand, i, j, *self.operands)
            return tuple(hand.windows) if all(w.bounded for w in hand.windows) else None
        return None

    def line(self, entry: Cell) -> tuple[Cell, ...]:
        """The row, or the column, of which all entries come of the same numbers as this one."""
        lines = (tuple(c for c in self.of if c[k] == entry[k]) for k in (0, 1))
        return next((one for one in lines if entry in one and len({self.of[c] for c in one}) == 1 < len(one)), ())

    def explains(self, entry: Cell, certain: Collection[Cell], least: Rank) -> Rank:
        """How many of the `certain` entries of a line, and of all of them, one value of the numbers gives at most, and
        whether it gives this entry with so many; `least` where that is no more.

        The windows of the numbers are halved, those first in which most entries can be.
        """
        line, whole = self.line(entry), self.of[entry]

        def rank(found: Collection[Cell]) -> Rank:
            return len(set(certain).intersection(found)), len(found), entry in found

        found = self._narrowed(line, whole, dict.fromkeys(line, HABITS))
        if len(found) == len(line) and self.is_of_one_habit(line):
            return rank(line)
        todo = [(0, whole, found)]
        while True:
            halved, windows, found = todo.pop(max(range(len(todo)), key=lambda k: (rank(todo[k][2]), todo[k][0])))
            if rank(found) <= least:
                return least
            widest = max(range(len(windows)), key=lambda k: _share(windows[k], whole[k]), default=None)
            if widest is None or halved == HALVED * len(windows) or width(windows[widest]) == 0:
                return rank(found)
            for half in _halves(windows[widest]):
                narrower = (*windows[:widest], half, *windows[widest + 1 :])
                todo.append((halved + 1, narrower, self._narrowed(line, narrower, found)))

    def _is_of_one_habit(self, line: tuple[Cell, ...]) -> bool:
        """Whether one habit leads to all of a line."""
        first, *others = line
        for habit in HABITS:
            hand = self._hand(habit)
            if self._gives(first, hand) and all(self._gives(c, self._hand(habit, hand.windows)) for c in others):
                return True
        return False

    def _narrowed(self, line: tuple[Cell, ...], windows: tuple[Window, ...], before: Explained) -> Explained:
        """The entries to which habits lead that did so before, where the numbers lie in these windows; of habits that
        come to the same, one."""
        if (known := self._explained.get((line, windows))) is not None:  # for another entry of the line
            return known
        found: dict[Cell, list[Habit]] = {}
        for cell, habits in before.items():
            spans = {self._given(cell, self._hand(habit, windows)): habit for habit in habits}
            if left := [habit for span, habit in spans.items() if span is not None and meet(self.cells[cell], span)]:
                found[cell] = left
        self._explained[line, windows] = found
        return found

    def _hand(self, habit: Habit, shared: Sequence[Window] | None = None) -> ByHabit:
        return ByHabit(habit, self.inverse, self.log_of_e, shared)

    def _gives(self, cell: Cell, hand: ByHand) -> bool:
        span = self._given(cell, hand)
        return span is not None and meet(self.cells[cell], span)

    def _given(self, cell: Cell, hand: ByHand) -> Window | None:
        """What an entry comes to; None where that is not defined."""
        try:
            return self.op.rule(hand, *cell, *self.operands).span
        except (UndefinedError, InvalidOperation):
            return None


def _share(w: Window, whole: Window) -> Decimal:
    return width(w) / width(whole) if width(whole) else ZERO


def _halves(w: Window) -> tuple[Window, Window]:
    middle = RING.ceiling.divide(RING.ceiling.add(w.low, w.high), Decimal(2))
    return Window(w.low, middle), Window(middle, w.high)


World = Literal["written", "before"]
WORLDS: tuple[World, ...] = ("written", "before")
"""How somebody goes on: with what was written, or with what it was before it was rounded for the page."""


class LinesByHand(LinesBefore):
    """The same for somebody who rounds on the way."""

    @cached_property
    def _results(self) -> dict[tuple[str, int, World, int], Lines | None]:
        return {}

    def reaches(self, step: Step, i: int, j: int, own: Window, widest: Fraction, shown: int) -> bool:
        """Whether somebody comes to a number in `own` who rounds on the way, and has results of `shown` places.

        What is wider than `widest` is no evidence: then roundings to more places are tried.
        """
        for world in WORLDS:
            ways = (self.result(step, places, world, shown) for places in range(LEAST_PLACES, MOST_PLACES + 1))
            spans = (lines[i][j].span for lines in ways if lines and i < len(lines) and j < len(lines[0]))
            narrow = next((span for span in spans if span.bounded and width(span) <= widest), None)
            if narrow is not None and meet(own, narrow):
                return True
        return False

    def apart(self, step: Step, cells: Mapping[Cell, Window], certain: frozenset[Cell]) -> frozenset[Cell]:
        """The entries to which nobody comes who comes to those of their line that are `certain`, or to most of them.

        They need another value of a number that all share.  After a line of another shape, nothing is said.
        """
        if not self.misshapen.isdisjoint(operand.name for operand in step.operands):
            return frozenset()
        lines = [self._gone_on_with(o.name, LEAST_PLACES, world) for world in WORLDS for o in step.operands]
        return self.script.memory.memoize(
            ("apart", certain, *cells.items()), (step, *lines), lambda: self._apart(step, cells, certain)
        )

    def _apart(self, step: Step, cells: Mapping[Cell, Window], certain: frozenset[Cell]) -> frozenset[Cell]:
        todo, most = set(cells) - certain, dict[Cell, Rank]()
        for way in self._ways(step, cells):
            for entry in sorted(todo):
                if entry in todo and (line := way.line(entry)):
                    most[entry] = way.explains(entry, certain, most.get(entry, (0, 0, False)))
                    if most[entry][1] == len(line):  # all of them
                        todo.difference_update(line)
        return frozenset(entry for entry in todo if entry in most and not most[entry][-1])

    def _ways(self, step: Step, cells: Mapping[Cell, Window]) -> Iterator[SharedNumbers]:
        """The ways in which a line may have been worked out: with e or 2.72, scores as they are or less the largest;
        divided, or multiplied by the inverse."""
        if not isinstance(step.op, RuleOp) or isinstance(step.op, ENDING):  # which have the places that they show
            return
        for operands in self._as_gone_on_with(step):
            if isinstance(step.op, Softmax):
                less = [_less_the_largest(step.op, scores) for scores in operands]
                for log_of_e in _logarithms_of_e():
                    yield SharedNumbers(step.op, operands, cells, log_of_e=log_of_e)
                    yield SharedNumbers(step.op, less, cells, log_of_e=log_of_e)
                continue
            yield (divided := SharedNumbers(step.op, operands, cells))
            if (multiplied := SharedNumbers(step.op, operands, cells, inverse=True)).of != divided.of:
                yield multiplied

    def _as_gone_on_with(self, step: Step) -> list[list[Lines]]:
        """The operands of a step as somebody may use them for a whole line: as they were written, as they were before
        that, or all with the same few places.
        """
        names = [o.name for o in step.operands]
        worlds = [{name: self._operand(name, world) for name in names} for world in WORLDS]
        worlds += [{name: lines and _shortened(habit, lines) for name, lines in worlds[0].items()} for habit in HABITS]
        found: list[list[Lines]] = []
        for world in worlds:
            operands = operands_of(step, world.__getitem__)
            if operands is not None and operands not in found:
                found.append(operands)
        return found

    def _operand(self, name: str, world: World) -> Lines | None:
        """What a line is gone on with; in one that was left out, every number may have been rounded in its own way."""
        lines, hand = self._gone_on_with(name, LEAST_PLACES, world), ByHand(LEAST_PLACES)
        if lines is None:
            return None
        is_left_out = self.script.step(name) is not None and not self.script.is_known(name)
        return tuple(
            tuple(Rounded(hand.carried_forward(x) if is_left_out else x.span, x.short, written=True) for x in row)
            for row in lines
        )

    def result(self, step: Step, places: int, world: World, shown: int = 0) -> Lines | None:
        """What a step gives from the lines before it, where the result has `shown` places."""
        shown = shown if shown > places and isinstance(step.op, ENDING) else 0
        key = step.name, places, world, shown
        if key not in self._results:
            before = {o.name: self._gone_on_with(o.name, places, world) for o in step.operands}
            self._results[key] = self.script.memory.memoize(
                ("by_hand", places, shown), (step, *before.values()), lambda: _worked_out(step, before, places, shown)
            )
        return self._results[key]

    def _gone_on_with(self, name: str, places: int, world: World) -> Lines | None:
        """A given matrix or a line; what was not written is what came of the lines before it."""
        value, step, grid, result = self.carried.get(name), self.script.step(name), self.grid(name), None
        if not isinstance(value, Matrix):
            return None
        as_written = world == "written" and grid is not None and all(entry.readable for _, _, entry in grid.cells())
        if step is not None and name not in self.misshapen and not as_written:
            result = self.result(step, places, world)
        if result is not None and (len(result), len(result[0])) != value.shape:
            result = None
        memory, blank = self.script.memory, self.blank(name, value.shape)
        return memory.memoize(
            ("carried", places, world),
            (value, grid, blank, result),
            lambda: memory.intern(_carried(ByHand(places), world, value, grid, _as_shown(result, blank))),
        )


def _as_shown(result: Lines | None, blank: Grid | None) -> Lines | None:
    """A result no farther from what was written for it, and counts as blank, than that shows."""
    if result is None or blank is None:
        return result
    pairs = (zip(*rows, strict=True) for rows in zip(result, blank.rows, strict=True))
    return tuple(tuple(x._replace(span=_narrowed(x.span, entry)) for x, entry in row) for row in pairs)


def _narrowed(span: Window, entry: Entry) -> Window:
    """What of a window may be rounded to an entry; all of it where nothing may be."""
    if entry.unit is None or not isinstance(entry.value, RATIONAL):
        return span
    cell = loose_cell(entry.value, entry.unit)
    return _common(cell, span) if meet(cell, span) else span


def _common(a: Window, b: Window) -> Window:
    """What two windows have in common, which is something."""
    return Window(max(a.low, b.low), min(a.high, b.high))


def _shortened(habit: Habit, lines: Lines) -> Lines:
    """A matrix with all its numbers rounded by one habit."""
    hand = ByHabit(habit)
    return tuple(tuple(x._replace(span=hand.carried_forward(Rounded(x.span, False))) for x in row) for row in lines)


def _less_the_largest(op: Softmax, scores: Lines) -> Lines:
    """Scores from each line of which the largest was subtracted."""
    lines = scores if op.along == "rows" else tuple(zip(*scores, strict=True))
    found = []
    for line in lines:
        largest = max((x.span for x in line if x.span != HIDDEN), key=lambda w: w.high, default=NOTHING)
        less = RING.negate(largest)
        found.append(tuple(x if x.span == HIDDEN else x._replace(span=RING.add(x.span, less)) for x in line))
    return tuple(found) if op.along == "rows" else tuple(zip(*found, strict=True))


def _carried(hand: ByHand, world: World, value: Matrix, grid: Grid | None, result: Lines | None) -> Lines | None:
    """A matrix as it is gone on with, where it came as a `result` of the lines before it."""
    if any(map(has_symbols, value)):
        return None
    entries = (grid or Grid.blank(*value.shape)).rows
    before = result or ((None,) * value.shape[1],) * value.shape[0]
    rows = zip(value.rows, entries, before, strict=True)
    return tuple(tuple(map(partial(_number, hand, world), *row)) for row in rows)


def _number(hand: ByHand, world: World, value: Value, entry: Entry, before: Rounded | None) -> Rounded:
    """An entry as it is gone on with: as it was written or as it came `before`."""
    if not entry.readable:
        return before or hand.number(value)
    if entry.unit is None or value is NEGATIVE_INFINITY:
        return hand.number(value)
    if world == "written":
        return Rounded(RING.enclose(value), entry.unit >= Fraction(1, 10**hand.places), written=True)
    cell = loose_cell(value, entry.unit)
    if before is not None and meet(cell, before.span):
        cell = _common(cell, before.span)
    number = Rounded(cell, short=False)
    if entry.unit == Fraction(1, 10**hand.places):  # with these places it is what was written
        number = Rounded(hand.carried_forward(number, hand.places + 1), short=False, written=True)
    return number


def _worked_out(step: Step, before: Mapping[str, Lines | None], places: int, shown: int) -> Lines | None:
    operands = operands_of(step, before.__getitem__)
    return None if operands is None else worked(step.op, operands, places, shown)


def operands_of(
    step: Step, lines: Callable[[str], tuple[tuple[T, ...], ...] | None]
) -> list[tuple[tuple[T, ...], ...]] | None:
    """The operands of a step, of lines by name; None where one is missing or does not fit."""
    found = []
    for operand in step.operands:
        rows = list(lines(operand.name) or ())
        if (operand.row or 0) >= len(rows) or (operand.column or 0) >= len(rows[0]):
            return None
        if operand.row is not None:
            rows = [rows[operand.row]]
        if operand.column is not None:
            rows = [(row[operand.column],) for row in rows]
        found.append(tuple(zip(*rows, strict=True)) if operand.transposed else tuple(rows))
    try:
        step.op.shape(*((len(rows), len(rows[0])) for rows in found))
    except ShapeError:
        return None
    return found


def worked(op: Op, operands: Sequence[Lines], places: int, shown: int = 0) -> Lines | None:
    """What an operation gives, rounded on the way to `places` places or more; None where that is not known.

    `shown`: places that the result of one of `ENDING` has, which it has from its terms.
    """
    hand = ByHand(places if isinstance(op, QUOTIENTS) else max(places, shown - _fixed_places(operands, shown)), shown)
    try:
        if isinstance(op, Softmax):
            (scores,) = operands
            if op.along == "columns":
                return tuple(zip(*(hand.softmax(column, op) for column in zip(*scores, strict=True)), strict=True))
            return tuple(tuple(hand.softmax(row, op)) for row in scores)
        if isinstance(op, RuleOp) and not op.weighs:
            with suppress(TypeError):  # of a function without a rule for intervals, the operation has a range
                return op.read(hand, *operands)
        box = window(op, *(tuple(tuple(map(hand.carried_forward, row)) for row in lines) for lines in operands))
        return None if box is None else tuple(tuple(map(hand.of, row)) for row in box)
    except (UndefinedError, InvalidOperation, TypeError):  # undefined for some of what it may be, or without a range
        return None


def _cut(x: Decimal, places: int) -> Decimal:
    """A number of 0 or more with its digits cut off."""
    if x.adjusted() > LARGEST:
        return x
    return WHOLE.add(x, NOISE).quantize(_unit(places), ROUND_DOWN, WHOLE)


def _quantized(x: Decimal, places: int, mode: str) -> Decimal:
    if x.adjusted() > LARGEST:
        return x
    return WHOLE.add(x, NOISE.copy_sign(x)).quantize(_unit(places), mode, WHOLE)


def _raised(x: Decimal, places: int) -> Decimal:
    """The most that a number above 0 is rounded to, at so many places or more."""
    if x.adjusted() > LARGEST:
        return x
    whole, units = WHOLE.add(x, NOISE), map(_unit, range(places, places + MORE_PLACES))
    return max(x, *(whole.quantize(unit, ROUND_HALF_UP, WHOLE) for unit in units))


@cache
def _unit(places: int) -> Decimal:
    """One in the last of so many places."""
    return Decimal(1).scaleb(-places)


def _places(x: Decimal) -> int:
    """Places that a number has, without zeros at its end."""
    exponent = x.normalize(WHOLE).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _noughts(span: Window) -> int:
    """Noughts behind the point before the first digit that counts, of the largest that a number may be."""
    return max(0, -1 - max(abs(span.low), abs(span.high)).adjusted())


def _fixed_places(operands: Sequence[Lines], shown: int) -> int:
    """Places that a product may have from factors that are used as they stand; half of them where there are none."""
    fixed = [_places(x.span.low) for lines in operands for row in lines for x in row if _is_fixed(x)]
    return max(fixed, default=shown // 2)


def _is_fixed(x: Rounded) -> bool:
    """Whether a number is used as it stands."""
    return (x.short or x.written) and x.span.bounded and x.span.low == x.span.high


def _hull(*windows: Window) -> Window:
    """The least window that holds all of these."""
    return Window(min(w.low for w in windows), max(w.high for w in windows))


def _is_whole(span: Window) -> bool:
    return span.low == span.high and _places(span.low) == 0
