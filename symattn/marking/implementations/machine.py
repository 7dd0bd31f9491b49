"""What a machine may come to that works out a step in floating point.

An operation's rule is read in intervals that every operation widens by what it may round: half a unit in the last place
of each result, and of each term of a sum, whatever their order (Higham, Accuracy and Stability of Numerical Algorithms,
2002, sections 2.2 and 4.2).  So nobody is right by luck or wrong by float16.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from typing import Literal

from symattn.derivation.derivation import Derivation, RuleOp, Step
from symattn.derivation.ops import Softmax
from symattn.derivation.windows import HIDDEN, RING, WINDOWS, Box, Window, Windows
from symattn.errors import UndefinedError
from symattn.exact import Matrix, Value
from symattn.exact.intervals import ZERO
from symattn.exact.rounding import Format, nearest_in
from symattn.marking.implementations.arrays import PRECISIONS
from symattn.marking.marker.windows import operands_of

SLACK = 2
"""Units in the last place for half a one: programs work in another order, and their e^x is not the nearest."""


class Machine(Windows):
    """Intervals around everything that floating-point operations of a format may come to."""

    def __init__(self, format: Format) -> None:
        super().__init__(RING)
        self.format = format
        self.unit = Decimal(SLACK) / 2**format.digits

    def rounded(self, x: Window, size: Decimal | None = None) -> Window:
        """A result and what it may be rounded to; `size`, where that is more, is what was rounded on the way."""
        if x == HIDDEN or not x.bounded:
            return x
        reach = RING.ceiling.multiply(self.unit, max(abs(x.low), abs(x.high), size or ZERO))
        return Window(RING.floor.subtract(x.low, reach), RING.ceiling.add(x.high, reach))

    def matrix(self, box: Box) -> Box:
        """A result, of which small entries may have come from numbers as large as the largest."""
        largest = max((abs(end) for row in box for x in row if x.bounded for end in x), default=ZERO)
        return tuple(tuple(self.rounded(x, largest) for x in row) for row in box)

    def number(self, value: Value) -> Window:
        """A number that the format has is what it is."""
        own = super().number(value)
        return own if nearest_in(value, self.format) == value else self.rounded(own)

    def sum(self, *terms: Window) -> Window:
        if any(x == HIDDEN for x in terms):
            return HIDDEN
        sizes = reduce(RING.ceiling.add, (max(abs(x.low), abs(x.high)) for x in terms), ZERO)
        return self.rounded(super().sum(*terms), RING.ceiling.multiply(sizes, Decimal(max(1, len(terms) - 1))))

    def product(self, *factors: Window) -> Window:
        return self.rounded(super().product(*factors))

    def quotient(self, x: Window, y: Window) -> Window:
        return self.rounded(super().quotient(x, y))

    def square(self, x: Window) -> Window:
        return self.rounded(super().square(x))

    def exponential(self, x: Window, base: Value | Literal["e"] = "e") -> Window:
        return self.rounded(super().exponential(self.rounded(x), base))

    def root(self, x: Window) -> Window:
        return self.rounded(super().root(x))

    def apply(self, function: str, x: Window) -> Window:
        return self.rounded(super().apply(function, x))


def boxes(d: Derivation, format: str) -> Mapping[str, Box]:
    """Around every given and step of a derivation in numbers, all that a machine may come to.

    Pinned steps are taken as they stand.  Where no range of an operation is known, its result may be off as far as its
    operands are.
    """
    machine = Machine(PRECISIONS[format])
    found = {name: _each(given, machine.number) for name, given in d.givens.items() if isinstance(given, Matrix)}
    for step in d:
        assert isinstance(step.result, Matrix)
        exact = _each(step.result, WINDOWS.number)
        box = None if step.pinned else _worked(step, found.get, machine)
        if box is None or not _within(exact, box):
            box = exact if step.pinned else _widened(exact, _vagueness(step, found), machine)
        found[step.name] = machine.matrix(box)
    return found


def _within(exact: Box, box: Box) -> bool:
    """Whether windows are those of an operation, and not of one that it stands for."""
    pairs = ((x, w) for rows in zip(exact, box, strict=True) for x, w in zip(*rows, strict=True))
    return all(x == w == HIDDEN or (w.low <= x.low and x.high <= w.high) for x, w in pairs)


def _vagueness(step: Step, found: Mapping[str, Box]) -> Decimal:
    """How far the operands may be off, for their size, all entries of all of them together."""
    off = ZERO
    for operand in step.operands:
        bounded = [x for row in found[operand.name] for x in row if x.bounded]
        largest = max((abs(end) for x in bounded for end in x), default=ZERO)
        off += reduce(RING.ceiling.add, (x.high - x.low for x in bounded), ZERO) / (largest or 1)
    return off


def _widened(exact: Box, by: Decimal, machine: Machine) -> Box:
    largest = max((abs(end) for row in exact for x in row if x.bounded for end in x), default=ZERO)
    return tuple(tuple(machine.rounded(x, largest * by / machine.unit) for x in row) for row in exact)


def _each(m: Matrix, change: Callable[[Value], Window]) -> Box:
    return tuple(tuple(map(change, row)) for row in m.rows)


def _worked(step: Step, lines: Callable[[str], Box | None], machine: Machine) -> Box | None:
    operands = operands_of(step, lines)
    if operands is None:
        return None
    try:
        if isinstance(step.op, Softmax):
            operands = [tuple(_shifted(row, machine) for row in scores) for scores in operands]
        if isinstance(step.op, RuleOp):
            with suppress(TypeError):  # a function whose range is not known
                return step.op.read(machine, *operands)
        return step.op.range(*operands)
    except UndefinedError:
        return None


def _shifted(row: tuple[Window, ...], machine: Machine) -> tuple[Window, ...]:
    """Scores from which the largest may have been subtracted, and another one added, as in blocks."""
    largest = max((max(abs(x.low), abs(x.high)) for x in row if x != HIDDEN), default=ZERO)
    return tuple(machine.rounded(x, largest) for x in row)
