"""Which step of somebody's program departs first from a derivation, and which misconception gives the same.

A step may be anything that a machine may come to that works it out in floating point.  An operation's rule is read in
intervals that every operation widens by what it may round: half a unit in the last place of each result, and of
each term of a sum, whatever their order (Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 2.2 and
4.2).  So nobody is right by luck or wrong by float16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import Literal

from symattn.derivation.derivation import Derivation, RuleOp, Step, StepName
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, Misconception
from symattn.derivation.misconceptions.programs import of_programs
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.normalisation import NormGradient, OverRoot
from symattn.derivation.windows import HIDDEN, RING, WINDOWS, Box, Window, Windows
from symattn.errors import InputError, UndefinedError, offered
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, in_numbers
from symattn.exact.intervals import ZERO
from symattn.exact.rounding import Format, near, nearest_in
from symattn.marking.implementations.report import Comparison, Departure, Difference, Status, StepComparison
from symattn.marking.implementations.running import (
    PRECISIONS,
    PYTHON,
    SECONDS,
    Array,
    Call,
    Outcome,
    Program,
    Rows,
    array,
    checked,
    coarser,
    dtype_of,
    numbers,
    running,
    side_by_side,
    turned,
)
from symattn.marking.marker.windows import operands_of
from symattn.page.notation import Notation

HIDES = -1e3
"""A score that is no larger hides as −∞ does, scaled or not: programs write −10⁴, −10⁹ or the least number there is."""

ROUGHLY = 0.25
"""Of the largest entry: what is farther away is not looked at more closely."""

CLOSE = 4
"""Units in the last place of the largest entry by which programs are off as a rule."""

EPSILONS = (Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**8), Fraction(1, 10**12), 0)
"""What is usually added under the roots of norms: 1e-5 by PyTorch, 1e-6 by Flax, 1e-12 by BERT."""

MOST_EXPLANATIONS = 3
MOST_DEPARTURES = 5
PRIORS = ("high", "medium", "low")


def compared(d: Derivation, notation: Notation, results: object, precision: str | None) -> Comparison:
    """Compare results with the steps of a derivation in numbers.

    `results` maps names of steps to arrays, or is the last step's array.  `precision` is the format in which they were
    worked out (float16, bfloat16, tf32, float32, float64), where that is coarser than what they are kept in.

    `InputError` for a name that no step has, for what is no array, and for a derivation that has no numbers.
    """
    given = results if isinstance(results, Mapping) else {_in_numbers(d).last.name: results}
    if not given:
        raise InputError("There is nothing to compare: no step was named.")
    return judged(d, notation, Outcome({str(name): array(one, precision) for name, one in given.items()}), PYTHON)


def traced(
    program: Program,
    d: Derivation,
    notation: Notation,
    library: str,
    precision: str,
    dtype: str,
    more: Mapping[str, object],
    trusted: bool = False,
    seconds: float = SECONDS,
) -> Comparison:
    """Call a program with the givens of a derivation, and compare what it returns and what it works out on its way.

    It is given arrays of a `dtype`, and judged as one that works in a `precision`, which is its dtype if there is none.
    It runs apart, unless it is `trusted`: then what it raises is not caught.
    """
    d = _in_numbers(d)
    checked(precision)
    shapes = {step.result.shape for step in d if isinstance(step.result, Matrix)}
    call = Call(
        numbers(d, library), d.last.name, library, checked(dtype or dtype_of(precision)),
        shapes=[(int(rows), int(columns)) for rows, columns in shapes],
    )  # fmt: skip
    with running(program, more, trusted, seconds) as run:
        return judged(d, notation, run(call), precision)


def judged(d: Derivation, notation: Notation, outcome: Outcome, precision: str) -> Comparison:
    """Compare what came of a call with the steps of a derivation; a failure, with what was seen before it.

    `InputError` where what was returned is no array.
    """
    for why in outcome.no_arrays.values():
        raise InputError(why)
    d = _in_numbers(d)
    found: dict[str, Array] = {}
    for name, result in outcome.results.items():
        found |= _by_step(d, name, result)
    coarsest = reduce(coarser, (one.format for one in found.values()), precision)
    recorded, beside = ([rows for one in seen for rows in _slices(one)] for seen in (outcome.recorded, outcome.beside))
    return replace(_Search(d, found, coarsest, recorded, beside).comparison(notation), failure=outcome.failure)


def _in_numbers(d: Derivation) -> Derivation:
    """A derivation matrix by matrix, with numbers that are worked out quickly; `InputError` if it has none."""
    for name, value in d.matrices.items():
        if not in_numbers(value):
            raise InputError(f"{name} has no numbers; a program can be compared only with a derivation in numbers.")
    if not d.steps:
        raise InputError("The derivation has no steps, so there is nothing to compare with.")
    return MatrixwiseDerivation(replace(d, arithmetic="auto").replay() if d.arithmetic == "exact" else d).given


def _by_depth(d: Derivation) -> Derivation:
    """The same steps, those that rest on fewer first: heads side by side, so that one may look at another."""
    depth = dict.fromkeys(d.givens, 0)
    for step in d:
        depth[step.name] = 1 + max((depth[operand.name] for operand in step.operands), default=0)
    return replace(d, steps=tuple(sorted(d.steps, key=lambda step: depth[step.name])))


def _by_step(d: Derivation, name: str, given: Array) -> dict[str, Array]:
    """An array by the step that it is of; of all heads together, by the step of each head."""
    given = given.squeezed
    if name in d:
        if name in d.givens:
            raise InputError(f"{name} is given; {offered(name, [s.name for s in d], 'the steps are {}')}")
        return {name: given}
    heads = [step.name for step in d if StepName.of(step.name).stem == name]
    if not heads:
        raise InputError(f"There is no step {name!r}; {offered(name, [s.name for s in d], 'the steps are {}')}")
    if len(given.shape) == 3 and given.shape[0] == len(heads):
        return {head: given[k] for k, head in enumerate(heads)}
    if len(given.shape) == 2 and given.shape[1] % len(heads) == 0:
        width = given.shape[1] // len(heads)
        parts = ([row[k * width : (k + 1) * width] for row in given.rows] for k in range(len(heads)))
        return {
            head: Array((given.shape[0], width), part, given.format) for head, part in zip(heads, parts, strict=True)
        }
    shape = "×".join(map(str, given.shape))
    raise InputError(f"{name} is {shape}; {len(heads)} heads were expected, one after the other or side by side.")


def _slices(one: Array) -> Iterator[Rows]:
    """The matrices of a stack, each by itself, and side by side as heads are."""
    if len(one.shape) == 2:
        yield one.rows
    elif len(one.shape) > 2:
        parts = [rows for k in range(one.shape[0]) for rows in _slices(one[k])]
        yield from parts
        if len(one.shape) == 3 and len(parts) > 1:
            yield side_by_side(parts)


# ------------------------------------------------------------------------------------------------ fitting


def fits(rows: Rows, box: Box) -> bool:
    """Whether a matrix is what a machine may come to."""
    return len(rows) == len(box) and all(
        len(row) == len(line) and all(map(_fits, row, line)) for row, line in zip(rows, box, strict=True)
    )


def _fits(x: float, w: Window) -> bool:
    if w == HIDDEN:
        return x <= HIDES
    return math.isfinite(x) and w.low <= Decimal(x) <= w.high


def _is_near(rows: Rows, exact: Rows) -> bool:
    """Whether one matrix is anywhere near another."""
    if len(rows) != len(exact) or len(rows[0]) != len(exact[0]):
        return False
    reach = ROUGHLY * _largest_of(exact) + 1e-6
    pairs = (pair for lines in zip(rows, exact, strict=True) for pair in zip(*lines, strict=True))
    return all(_distance(*pair) <= reach for pair in pairs)


def _largest_of(rows: Rows) -> float:
    return max((abs(x) for row in rows for x in row if math.isfinite(x)), default=0.0)


def _floats(m: Matrix) -> Rows:
    return tuple(tuple(-math.inf if x is NEGATIVE_INFINITY else near(x) for x in row) for row in m.rows)


@dataclass(frozen=True)
class _Truth:
    """A derivation, with everything that a machine may come to that works it out."""

    d: Derivation
    format: str

    @cached_property
    def boxes(self) -> Mapping[str, Box]:
        return boxes(self.d, self.format)

    @cached_property
    def floats(self) -> Mapping[str, Rows]:
        return {step.name: _floats(step.result) for step in self.d if isinstance(step.result, Matrix)}

    def has(self, name: str, rows: Rows) -> bool:
        """Whether a step may come out so."""
        return name in self.boxes and fits(rows, self.boxes[name])

    def is_close(self, name: str, rows: Rows) -> bool:
        """Whether a step may come out so and is as close as programs come as a rule, and not only at worst."""
        largest = self.difference(name, rows)
        reach = CLOSE * _largest_of(self.floats[name]) / 2 ** PRECISIONS[self.format].digits
        return largest is not None and _distance(largest.came, largest.expected) <= reach and self.has(name, rows)

    def difference(self, name: str, rows: Rows) -> Difference | None:
        exact = self.floats[name]
        if (len(rows), len(rows[0])) != (len(exact), len(exact[0])):
            return None
        each = (Difference(i, j, rows[i][j], y) for i, row in enumerate(exact) for j, y in enumerate(row))
        return max(each, key=lambda one: _distance(one.came, one.expected))


@dataclass(frozen=True)
class _Wrong(_Truth):
    """What comes of a misconception: the first step that it spoils."""

    misconception: Misconception
    first: str

    def has(self, name: str, rows: Rows) -> bool:
        """The same, looked at closely only where it is anywhere near: there are many of these."""
        return name in self.floats and _is_near(rows, self.floats[name]) and super().has(name, rows)


def _distance(came: float, expected: float) -> float:
    if expected == -math.inf:
        return 0.0 if came <= HIDES else math.inf
    return abs(came - expected) if math.isfinite(came) else math.inf


# ------------------------------------------------------------------------------------------------ the search


class _Search:
    """Follows somebody's steps: what departs is explained, and what comes after it follows from that."""

    def __init__(
        self,
        d: Derivation,
        found: Mapping[str, Array],
        format: str,
        recorded: Sequence[Rows],
        beside: Sequence[Rows],
    ) -> None:
        self.d, self.format = d, format
        self.recorded, self.beside = recorded, beside
        self.found = {name: one.rows for name, one in found.items() if len(one.shape) <= 2}
        self.misshapen = {name: one.shape for name, one in found.items() if len(one.shape) > 2}

    def comparison(self, notation: Notation) -> Comparison:
        truth = right = _Truth(_by_depth(self.d), self.format)
        departures: list[Departure] = []
        for step in truth.d:
            rows = self.found.get(step.name)
            if step.name in self.misshapen:
                departures.append(Departure(step.name))
            elif rows is not None and not truth.has(step.name, rows) and len(departures) < MOST_DEPARTURES:
                more, truth = self._explained(truth, step.name, rows)
                departures += more
        at = {one.step for one in departures}
        lines = tuple(self._line(right, truth, step.name, step.name in at) for step in self.d)
        found = Comparison(self.d, notation, lines, tuple(departures), self.format)
        if all(one.misconceptions for one in departures):
            return found
        epsilon = self._other_epsilon()
        return replace(found, epsilon=epsilon, coarser="" if epsilon is not None else self._coarser())

    def _other_epsilon(self) -> Value | None:
        """The ε, of those that libraries have, with which all that came would be right; None if there is none."""
        own = {step.op.epsilon for step in self.d if isinstance(step.op, OverRoot | NormGradient)}
        for epsilon in EPSILONS if own and not self.misshapen else ():
            if own != {epsilon}:
                other = _Truth(self.d.replay(partial(_with_epsilon, epsilon)), self.format)
                if all(other.is_close(*one) for one in self.found.items()):
                    return epsilon
        return None

    def _coarser(self) -> str:
        """The finest format with fewer digits in which all that came would be right; "" if there is none."""
        fewer = [name for name, one in PRECISIONS.items() if one.digits < PRECISIONS[self.format].digits]
        for name in sorted(fewer, key=lambda name: -PRECISIONS[name].digits):
            try:
                as_worked_out = _Truth(self.d, name)
                if not self.misshapen and all(as_worked_out.is_close(*one) for one in self.found.items()):
                    return name
            except UndefinedError:  # it has no number that is so large
                continue
        return ""

    def _line(self, right: _Truth, truth: _Truth, name: str, departs: bool) -> StepComparison:
        if name in self.misshapen:
            return StepComparison(name, "departs", shape=self.misshapen[name])
        rows = self.found.get(name) or self._seen(right, name) or self._seen(truth, name)
        if rows is None:
            return StepComparison(name, "departs" if departs else "not seen")
        difference = right.difference(name, rows)
        if right.has(name, rows):
            return StepComparison(name, "right", difference)
        status: Status = "departs" if departs or not truth.has(name, rows) else "follows"
        shape = None if difference else (len(rows), len(rows[0]))
        return StepComparison(name, status, difference, shape, right.has(name, turned(rows)))

    def _seen(self, truth: _Truth, name: str) -> Rows | None:
        """What came up on the way that is a step, of several the first."""
        return next((rows for rows in self.recorded if truth.has(name, rows)), None)

    def _explained(self, truth: _Truth, name: str, rows: Rows) -> tuple[list[Departure], _Truth]:
        """What departs up to a step, and what the steps after it are compared with."""
        if any(truth.has(name, one) for one in self.beside):
            return [Departure(name, elsewhere=True)], truth
        wrongs = [wrong for wrong in self._wrongs(truth) if self._agrees(wrong, name)]
        if found := self._fitting(wrongs, name, rows):
            return [_departure(found)], _Truth(found[0].d, self.format)
        for first in wrongs:  # two misconceptions, the first of them seen on the way
            if first.first != name and self._seen(first, first.first):
                then = [wrong for wrong in self._wrongs(first) if self._agrees(wrong, name)]
                if found := self._fitting(then, name, rows):
                    return [_departure([first]), _departure(found)], _Truth(found[0].d, self.format)
        pinned = _pinned(truth.d, name, rows)
        return [self._unexplained(truth, name)], _Truth(pinned, self.format) if pinned else truth

    def _fitting(self, wrongs: Sequence[_Wrong], name: str, rows: Rows) -> list[_Wrong]:
        """Those that give what came for a step and most of what came beside it, the likeliest first."""
        fitting = [wrong for wrong in wrongs if wrong.has(name, rows)]
        borne_out = [self._borne_out(wrong) for wrong in fitting]
        fitting = [wrong for wrong, count in zip(fitting, borne_out, strict=True) if count == max(borne_out)]
        return sorted(fitting, key=self._likelihood, reverse=True)[:MOST_EXPLANATIONS]

    def _borne_out(self, wrong: _Wrong) -> int:
        """How much of what came is as it would be: what came later decides between those that give one step alike."""
        return sum(wrong.has(*one) for one in self.found.items())

    def _wrongs(self, truth: _Truth) -> list[_Wrong]:
        """What each misconception makes of the truth: those that can be seen."""
        laid = MatrixwiseDerivation(truth.d)
        wrongs = filter(None, map(laid.wrong, of_programs().values()))
        return [_Wrong(one.derivation, self.format, one.misconception, one.first) for one in wrongs if one.first]

    def _agrees(self, wrong: _Wrong, name: str) -> bool:
        """Whether everything that came before a step is as it would be."""
        return all(wrong.has(one, self.found[one]) for one in self.d.before(name) & {*self.found})

    def _likelihood(self, wrong: _Wrong) -> tuple[int, bool, int]:
        seen = sum(self._seen(wrong, step.name) is not None for step in wrong.d)
        return seen, wrong.misconception.core, -PRIORS.index(wrong.misconception.prior)

    def _unexplained(self, truth: _Truth, name: str) -> Departure:
        """Where something departs that nothing explains: after the last step that came up as it should."""
        before = self.d.before(name)
        seen = [one for one in before if one in self.found or self._seen(truth, one)]
        return Departure(name, seen=before <= set(seen).union(*map(self.d.before, seen)))


def _with_epsilon(epsilon: Value, step: Step) -> Step:
    return step.with_op(replace(step.op, epsilon=epsilon)) if isinstance(step.op, OverRoot | NormGradient) else step


def _departure(found: Sequence[_Wrong]) -> Departure:
    return Departure(found[0].first, tuple(wrong.misconception for wrong in found))


def _pinned(d: Derivation, name: str, rows: Rows) -> Derivation | None:
    """The derivation with what came for a step, from which the rest follows; None where that has no numbers."""
    result = d[name].result
    if (len(rows), len(rows[0])) != result.shape or not all(math.isfinite(x) for row in rows for x in row):
        return None
    return d.replay(pinned={name: [[Fraction(x) for x in row] for row in rows]})


# ------------------------------------------------------------------------------------------- what a machine may come to

SLACK = 2
"""Units in the last place for half a one: programs work in another order, and their e^x is not the nearest."""


def _size(x: Window) -> Decimal:
    return max(abs(x.low), abs(x.high))


def _largest(box: Box) -> Decimal:
    """The size of the largest number in a matrix that is bounded."""
    return max((_size(x) for row in box for x in row if x.bounded), default=ZERO)


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
        reach = RING.ceiling.multiply(self.unit, max(_size(x), size or ZERO))
        return Window(RING.floor.subtract(x.low, reach), RING.ceiling.add(x.high, reach))

    def matrix(self, box: Box) -> Box:
        """A result, of which small entries may have come from numbers as large as the largest."""
        largest = _largest(box)
        return tuple(tuple(self.rounded(x, largest) for x in row) for row in box)

    def number(self, value: Value) -> Window:
        """A number that the format has is what it is."""
        own = super().number(value)
        return own if nearest_in(value, self.format) == value else self.rounded(own)

    def sum(self, *terms: Window) -> Window:
        if any(x == HIDDEN for x in terms):
            return HIDDEN
        sizes = reduce(RING.ceiling.add, map(_size, terms), ZERO)
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
        box = found[operand.name]
        widths = (x.high - x.low for row in box for x in row if x.bounded)
        off += reduce(RING.ceiling.add, widths, ZERO) / (_largest(box) or 1)
    return off


def _widened(exact: Box, by: Decimal, machine: Machine) -> Box:
    most = _largest(exact) * by / machine.unit
    return tuple(tuple(machine.rounded(x, most) for x in row) for row in exact)


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
    largest = max((_size(x) for x in row if x != HIDDEN), default=ZERO)
    return tuple(machine.rounded(x, largest) for x in row)
