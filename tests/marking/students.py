"""Right students with calculators: every line worked in decimal arithmetic of their own, rounded as people round.

Nothing here uses exact values, rules or windows of symattn: a derivation says what is to be multiplied by what, and the
student multiplies.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from oracles import floats

from symattn.derivation.ops.attention import Mask, Softmax, SoftmaxGradient
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver
from symattn.derivation.ops.linear import Slice as HeadPart
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.exact.intervals import enclose
from symattn.marking.attempt import Attempt
from symattn.marking.submissions.entries import grid
from symattn.teaching.question import StepAnswer

HIDDEN = None
"""In place of −∞."""


@dataclass(frozen=True)
class Style:
    """How a student works: places of what is written by step, places of what is not; none for all that there are.

    `inverse`: multiplies by 1/√d, rounded as roots are, in place of dividing.
    """

    written: dict[str, int | None] = field(default_factory=dict)
    places: int | None = 4
    powers: int | None = None
    sums: int | None = None
    roots: int | None = None
    quotients: int | None = None
    cut: bool = False
    carries: Literal["written", "all"] = "written"
    shifted: bool = False
    inverse: bool = False
    fractions: bool = False
    percent: bool = False
    comma: bool = False
    left_out: frozenset[str] = frozenset()
    machine: Literal["", "float32", "float64"] = ""

    def rounded(self, x, places):
        if places is None:
            return x
        return x.quantize(Decimal(1).scaleb(-places), ROUND_DOWN if self.cut else ROUND_HALF_UP)


def random_style(rng, steps):
    """Two to eight places by step, e^x, sums, roots and quotients rounded or not."""
    kind = rng.random()
    places = rng.randint(2, 8)

    def maybe():
        return rng.choice([None, places, rng.randint(2, 8), rng.randint(2, 4)])

    if kind < 0.08:
        return Style(machine=rng.choice(["float32", "float64"]))
    return Style(
        written={step: rng.randint(2, 8) if kind < 0.5 else places for step in steps},
        places=places,
        powers=maybe(),
        sums=maybe(),
        roots=maybe(),
        quotients=maybe(),
        cut=rng.random() < 0.2,
        carries=rng.choice(["written", "written", "all"]),
        shifted=rng.random() < 0.2,
        fractions=rng.random() < 0.25,
        percent=rng.random() < 0.1,
        comma=rng.random() < 0.2,
        left_out=frozenset(step for step in steps if step.startswith("S'") and rng.random() < 0.15),
        inverse=rng.random() < 0.1,
    )


@dataclass(frozen=True)
class Slip:
    """One entry that somebody gets wrong."""

    step: str
    at: tuple[int, int]
    change: Callable[[Any], Any]


class Student:
    """Works a derivation by hand, line by line, in a style."""

    def __init__(self, d, style, slip=None):
        """`slip` changes one entry where it is worked out, and is gone on with."""
        self.d, self.style = d, style
        self.own = {name: _decimals(m) for name, m in d.givens.items() if isinstance(m, Matrix)}
        self.page = {}
        for step in d:
            operands = [self._operand(step, k) for k in range(len(step.operands))]
            full = self._worked(step, operands)
            if slip is not None and slip.step == step.name:
                full = [
                    [slip.change(x) if (i, j) == slip.at else x for j, x in enumerate(row)]
                    for i, row in enumerate(full)
                ]
            places = style.written.get(step.name, style.places)
            short = [[x if x is None else style.rounded(x, places) for x in row] for row in full]
            self.page[step.name] = short
            self.own[step.name] = full if style.carries == "all" or step.name in style.left_out else short

    def _operand(self, step, k):
        operand = step.operands[k]
        rows = self.own[operand.name]
        if operand.row is not None:
            rows = [rows[operand.row]]
        if operand.column is not None:
            rows = [[row[operand.column]] for row in rows]
        return [list(column) for column in zip(*rows, strict=True)] if operand.transposed else rows

    def _worked(self, step, m):
        s, op = self.style, step.op
        match op:
            case MatMul():
                return [
                    [_sum(_times(x, y) for x, y in zip(row, column, strict=True)) for column in zip(*m[1], strict=True)]
                    for row in m[0]
                ]
            case Add():
                rows, columns = values_shape(step)
                return [[_sum(_stretched(a, i, j) for a in m) for j in range(columns)] for i in range(rows)]
            case Hadamard():
                rows, columns = values_shape(step)
                return [[_times(*(_stretched(a, i, j) for a in m)) for j in range(columns)] for i in range(rows)]
            case Scale():
                if s.inverse:
                    factor = s.rounded(1 / _decimal(op.divisor), s.roots)
                    return [[x if x is None else x * factor for x in row] for row in m[0]]
                divisor = s.rounded(_decimal(op.divisor), s.roots)
                return [[x if x is None else x / divisor for x in row] for row in m[0]]
            case Mask():
                return [
                    [x if seen else HIDDEN for x, seen in zip(row, kept, strict=True)]
                    for row, kept in zip(m[0], op.keep, strict=True)
                ]
            case Softmax():
                assert op.along == "rows"
                assert op.base == "e"
                return [self._softmax(row) for row in m[0]]
            case SoftmaxGradient():
                assert op.along == "rows"
                return [self._back(a, g) for a, g in zip(*m, strict=True)]
            case Mean():
                return [[_sum(row) / len(row)] for row in m[0]]
            case Variance():
                less = op.of == "sample"
                squares = [
                    [s.rounded(s.rounded(x - mean[0], s.sums) ** 2, s.powers) for x in row]
                    for row, mean in zip(*m, strict=True)
                ]
                return [[s.rounded(_sum(row), s.sums) / (len(row) - less)] for row in squares]
            case Standardise():
                return [
                    [s.rounded(x - mean, s.sums) / self._root(v + _decimal(op.epsilon)) for x in row]
                    for row, (mean,), (v,) in zip(*m, strict=True)
                ]
            case MeanSquare():
                return [[s.rounded(_sum(s.rounded(x * x, s.powers) for x in row), s.sums) / len(row)] for row in m[0]]
            case Rescale():
                return [[x / self._root(v + _decimal(op.epsilon)) for x in row] for row, (v,) in zip(*m, strict=True)]
            case HeadPart(start, count, every, of):
                chosen = range(start, start + every * count, every)
                return [[row[j] for j in chosen] for row in m[0]] if of == "columns" else [m[0][i] for i in chosen]
            case Stack("rows"):
                return [row for rows in m for row in rows]
            case Stack("columns"):
                return [[x for row in beside for x in row] for beside in zip(*m, strict=True)]
            case SumOver("rows"):
                return [[_sum(column) for column in zip(*m[0], strict=True)]]
            case SumOver("columns"):
                return [[_sum(row)] for row in m[0]]
        raise NotImplementedError(type(op).__name__)

    def _root(self, x):
        return self.style.rounded(x.sqrt(), self.style.roots)

    def _softmax(self, row):
        s = self.style
        largest = max(x for x in row if x is not None) if s.shifted else Decimal(0)
        powers = [Decimal(0) if x is None else s.rounded((x - largest).exp(), s.powers) for x in row]
        if sum(x is not None for x in row) == 1:
            return [Decimal(x is not None) for x in row]
        whole = s.rounded(_sum(powers), s.sums)
        return [p / whole for p in powers]

    def _back(self, a, g):
        s = self.style
        mean = s.rounded(_sum(s.rounded(x * y, s.quotients) for x, y in zip(a, g, strict=True)), s.sums)
        return [x * s.rounded(y - mean, s.sums) for x, y in zip(a, g, strict=True)]


def values_shape(step):
    return step.result.shape


def _sum(terms):
    return sum(terms, Decimal(0))


def _times(x, y):
    return x * y


def _stretched(rows, i, j):
    row = rows[0 if len(rows) == 1 else i]
    return row[0 if len(row) == 1 else j]


def _decimal(x):
    if isinstance(x, int | Fraction):
        return Decimal(x.numerator) / Decimal(x.denominator)
    return enclose(x, 50).low


def _decimals(m):
    return [[HIDDEN if x is NEGATIVE_INFINITY else _decimal(x) for x in row] for row in m.rows]


def by_machine(d, kind):
    """The values in floating point, rounded to the format after every step and printed with all digits."""
    own = {name: floats(m).astype(kind) for name, m in d.givens.items()}
    for step in d:
        operands = []
        for operand in step.operands:
            a = own[operand.name]
            a = a[[operand.row]] if operand.row is not None else a
            a = a[:, [operand.column]] if operand.column is not None else a
            operands.append((a.T if operand.transposed else a).astype(float).tolist())
        value = step.op.witness(*operands)
        if value is None:  # of copies: the same numbers
            exactly = step.op.apply(*(Matrix.of([list(map(Fraction, row)) for row in a]) for a in operands))
            value = [[float(x) for x in row] for row in exactly.rows]
        own[step.name] = np.array(value).astype(kind)
    return {step.name: own[step.name].tolist() if kind == "float64" else own[step.name] for step in d}


def right_script(question, style):
    """What a right student hands in."""
    return script(question, question.problem.derivation, style)


def script(question, d, style, slip=None):
    """What somebody hands in who works so, on a derivation that may be a wrong one."""
    with localcontext(prec=60):
        if style.machine:
            parts = {part.name: part.answer.step for part in question.parts if isinstance(part.answer, StepAnswer)}
            values = by_machine(d, style.machine)
            return Attempt(
                {part: grid([[str(x) for x in row] for row in values[step]]) for part, step in parts.items()}
            )
        return _handed_in(question, d, style, Student(d, style, slip).page)


def copied(question, d, style):
    """What somebody hands in who carries on exactly, on a derivation that may be a wrong one."""
    with localcontext(prec=60):
        page = {
            step.name: [
                [x if x is None else style.rounded(x, style.written.get(step.name, style.places)) for x in row]
                for row in _decimals(step.result)
            ]
            for step in d
            if isinstance(step.result, Matrix)
        }
        return _handed_in(question, d, style, page)


def _handed_in(question, d, style, page):
    parts = {part.name: part.answer.step for part in question.parts if isinstance(part.answer, StepAnswer)}
    answers = {}
    for part, step in parts.items():
        if step in style.left_out or step not in page:
            continue
        exact = d[step].result
        write = _writer(style, d[step])
        rows = [[write(x, exact[i, j]) for j, x in enumerate(row)] for i, row in enumerate(page[step])]
        answers[part] = grid(rows, "," if style.comma else ".")
    return Attempt(answers)


def _writer(style, step):
    def write(x, exact):
        if x is None:
            return "-inf"
        if x == x.to_integral_value():
            if isinstance(exact, int) and exact == x:
                return str(exact)
        elif style.fractions and isinstance(exact, Fraction) and abs(x - _decimal(exact)) < Decimal("1e-30"):
            return str(exact)
        if style.percent and isinstance(step.op, Softmax):
            return f"{x.scaleb(2):f} %".replace(".", "," if style.comma else ".")
        return f"{x:f}".replace(".", "," if style.comma else ".")

    return write
