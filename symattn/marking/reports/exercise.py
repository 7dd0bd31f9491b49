"""A fresh exercise on the step that went wrong first: the same operation on matrices of the same shapes, with new
numbers, on a sheet of its own with its key (rules.md 6.3).

The numbers depend on the question and the step alone: whoever got the same step wrong gets the same exercise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from math import lcm
from operator import add
from random import Random

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.normalisation import MeanSquare, Variance
from symattn.errors import SelfCheckError, SymattnError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Real, Value, compare, decide, in_numbers
from symattn.exact.rounding import approximate
from symattn.exact.values import RATIONAL
from symattn.formula import number
from symattn.formula.width import width
from symattn.foundation.dice import Dice, pick, shuffled, whole
from symattn.foundation.identity import Same, digest, identity
from symattn.foundation.languages import message
from symattn.marking.marker.report import Report
from symattn.marking.marker.script import precision_of
from symattn.marking.marker.trace import may_be_raised
from symattn.marking.reports.text import ReportText
from symattn.page.document import Inlines, Paragraph, as_text, paragraph
from symattn.teaching.explanation.parts import agreed, givens, instructions, mask_shown, worked
from symattn.teaching.explanation.steps import Detail, ask_step, step_title
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.features import mixed_patterns, row_patterns
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import Problem
from symattn.teaching.question import Json, MatrixAnswer, Part, Question
from symattn.teaching.sheets import Sheet

TITLE = "A fresh exercise"

TRIES = 12
"""Draws of which the one that comes out best is taken."""

LARGEST = 400
"""Entries of an exercise; nobody works out more by hand to practise."""

WIDEST = 6.0
"""The widest number, in em, that an exercise starts from."""

FINEST = 100
"""The largest denominator that the numbers of an exercise have."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Fresh:
    """A step with new numbers, as the part of an exercise, whose letter it gets there; with what its page says."""

    step: Step
    d: Derivation
    part: Part
    conventions: tuple[Inlines, ...]
    instructions: Paragraph


def exercise_sheet(reports: Sequence[Report]) -> Sheet | None:
    """A sheet with an exercise on the first step that went wrong in each question; none where there is no such step."""
    drawn = tuple(fresh for report in reports if (fresh := _exercise(report)))
    if not drawn:
        return None
    content: dict[str, Json] = {
        "exercise": [
            [fresh.step.name, repr(fresh.step.op), {n: _texts(m) for n, m in fresh.d.givens.items()}] for fresh in drawn
        ]
    }
    parts = tuple(replace(fresh.part, name=letter) for letter, fresh in zip(LETTERS, drawn, strict=False))
    conventions = dict.fromkeys(convention for fresh in drawn for convention in fresh.conventions)
    introduction = (paragraph(AGAIN), *dict.fromkeys(fresh.instructions for fresh in drawn))
    question = Question(
        "exercise", TITLE, (), parts, content, introduction=introduction, conventions=tuple(conventions)
    )
    return Sheet(question, identity(content))


AGAIN = message("Here is a step that went wrong, with new numbers.")


def _texts(matrix: object) -> Json:
    return [[str(x) for x in row] for row in matrix.rows] if isinstance(matrix, Matrix) else []


# ------------------------------------------------------------------------------------------------ the step


def _exercise(report: Report) -> Fresh | None:
    """One step with new numbers, worked out; the first step that went wrong and can be had again."""
    told = ReportText(report, "student")
    for event in sorted(report.events, key=lambda e: e.number):
        line = told.of(event.part)
        d = line.derivation
        if event.kind in ("misread", "rounding") or event.part not in report.own or d is None:
            continue
        step = next((s.name for s in d if s.name in (event.step, line.step)), None)
        if step is not None and (fresh := _fresh(Same(report.question), Same(d), event.part, step)) is not None:
            return fresh
    return None


@lru_cache(256)
def _fresh(of: Same[Question], derivation: Same[Derivation], part: str, name: str) -> Fresh | None:
    """A step with new numbers, the same ones for everybody who got it wrong in this part; None if there are none."""
    question, d = of.thing, derivation.thing
    own = drawn(d, d[name], Dice(digest(dict(question.frozen)).encode()).rng(part, name))
    if own is None:
        return None
    exact, places = precision_of(question)
    mechanism = question.problem.mechanism if question.problem else ""
    problem = Problem("", mechanism, own, question.notation, (name,), exact=exact, places=places)
    wording, step = Wording(own, problem.notation), own.last
    ask = (givens(problem, wording), *mask_shown(step, wording), *ask_step(step, wording, exact))
    key = worked(step, wording, Detail(places=places))
    tokens = as_text("Tokens are rows." if own.orientation == "rows" else "Tokens are columns.")
    shown = Part("", step_title(step, wording), ask, key, MatrixAnswer.of(own, name))
    return Fresh(step, own, shown, (tokens, *agreed(problem, wording)), instructions(problem))


def drawn(d: Derivation, step: Step, rng: Random) -> Derivation | None:
    """The step alone, on new numbers of the same kind; of several draws, the one that comes out best.

    None where it has no numbers of its own to draw, where they would be too many, or where no draw is defined.
    """
    names = list(dict.fromkeys(operand.name for operand in step.operands))
    matrices = [d.value(name) for name in names]
    known = [m for m in matrices if in_numbers(m)]
    if not names or step.op.trivial or len(known) < len(names) or sum(len(list(m)) for m in known) > LARGEST:
        return None
    draws: list[Derivation] = []
    for _ in range(TRIES):
        try:
            found = _once(d, step, names, rng)
        except (SymattnError, ArithmeticError, IndexError):  # not defined for these numbers
            continue
        if found.givens != {name: d.value(name) for name in names} and all(map(_handy, found.givens.values())):
            draws.append(found)
    return next(filter(_is_proved, sorted(draws, key=_cost)), None)


def _is_proved(d: Derivation) -> bool:
    try:
        self_check(d)
    except (SymattnError, ArithmeticError):
        return False
    return True


def _handy(given: object) -> bool:
    """Whether all numbers of a matrix are short enough to be worked with by hand."""
    return isinstance(given, Matrix) and all(not isinstance(x, Real) and width(number(x)) <= WIDEST for x in given)


SPREAD = (Variance, MeanSquare)
"""What is worked out from numbers by how far they are from one another, and goes with them."""


def _once(d: Derivation, step: Step, names: Sequence[str], rng: Random) -> Derivation:
    """One draw: what rests on nothing else of the step anew, the rest worked out from it."""
    rests = {name: _ancestors(d, name) for name in names}
    roots = [name for name in names if not (step.op.entwined and rests[name].intersection(names))]
    others = [name for name in names if name not in roots]
    needed = {*others}.union(*(rests[name] for name in others)) - {*roots}
    values = _following(d, step, needed, _anew(d, step, roots, others, rng))
    given = {name: values.get(name, d.value(name)) for name in names}
    if isinstance(step.op, Softmax):
        scores = given[names[0]]
        if not isinstance(scores, Matrix) or not may_be_raised(step.op, scores):
            raise SelfCheckError("such scores are not gone on with.")
    own = Derivation(given, orientation=d.orientation, arithmetic=d.arithmetic)
    return own.then(step.name, step.op, *step.operands, section=step.section)


def _anew(d: Derivation, step: Step, roots: Sequence[str], others: Sequence[str], rng: Random) -> dict[str, Matrix]:
    """New numbers of the same kind for `roots`; a spread stays, and what goes with it or has it worked out is mixed."""
    ops = {line.name: line.op for line in d}
    normed = bool(others) and any(isinstance(ops.get(name), SPREAD) for name in (*roots, *others))
    values: dict[str, Matrix] = {}
    for name in roots:
        matrix = d.value(name)
        assert isinstance(matrix, Matrix)
        if isinstance(ops.get(name), SPREAD):
            values[name] = matrix
        elif normed or isinstance(step.op, SPREAD):
            values[name] = _mixed(matrix, d.orientation == "rows", rng)
        else:
            values[name] = _new(matrix, _weights_along(matrix, ops.get(name)), rng)
    return values


def _following(d: Derivation, step: Step, needed: set[str], values: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The values with those of the `needed` lines before the step that follow from them."""
    known = dict(values)
    for line in d.until(step.name):
        if line.name in needed and any(operand.name in known for operand in line.operands):
            found = (operand.of(known.get(operand.name, d.value(operand.name))) for operand in line.operands)
            known[line.name] = line.op.apply(*(m for m in found if isinstance(m, Matrix)))
    return known


def _ancestors(d: Derivation, name: str) -> set[str]:
    """Everything that a line is worked out from."""
    found: set[str] = set()
    for line in reversed(d.steps):
        if line.name in {name, *found}:
            found.update(operand.name for operand in line.operands)
    return found


def _cost(d: Derivation) -> float:
    """How awkward an answer is: how wide its entries are; zeros, entries that come again and copies teach little."""
    result = d.last.result
    assert isinstance(result, Matrix)
    values = list(result)
    wide = sum(min(width(number(x)), 30.0) for x in values)
    repeated = len(values) - len({str(x) for x in values})
    zeros = sum(1 for x in values if x == 0)
    even = sum(1 for row in result.rows if len(row) > 1 and len({str(x) for x in row}) == 1)
    copied = 5 if any(m.shape == result.shape and m == result for m in d.givens.values()) else 0
    return wide / len(values) + 2 * (zeros + repeated) / len(values) + copied + even


# ------------------------------------------------------------------------------------------------ new numbers


def _weights_along(matrix: Matrix, op: object) -> str:
    """Whether a matrix is one of weights: "rows" or "columns" that sum to 1, or ""."""
    if isinstance(op, Softmax):
        return op.along
    if all(isinstance(x, int) for x in matrix) or any(x is NEGATIVE_INFINITY or compare(x, 0) < 0 for x in matrix):
        return ""
    for along, rows in (("rows", matrix.rows), ("columns", matrix.T.rows)):
        if len(rows[0]) > 1 and all(decide(reduce(add, row), 1).equal is True for row in rows):
            return along
    return ""


def _new(matrix: Matrix, weights: str, rng: Random) -> Matrix:
    """Numbers of the same kind: weights with small denominators, targets, whole numbers, fractions."""
    if weights == "columns":
        return _new(matrix.T, "rows", rng).T
    if weights == "rows":
        return Matrix.of([_weights(row, rng) for row in matrix.rows])
    if any(len(row) > 1 for row in matrix.rows) and all(sorted(map(str, r)) == _one_hot(len(r)) for r in matrix.rows):
        return Matrix.of([shuffled(rng, row) for row in matrix.rows])
    low, high, by = _range([x for x in matrix if x is not NEGATIVE_INFINITY])
    for _ in range(TRIES):
        rows = [
            [x if x is NEGATIVE_INFINITY else _fraction(whole(rng, low, high), by) for x in row] for row in matrix.rows
        ]
        lines = (*rows, *map(list, zip(*rows, strict=True)))
        if rows != [list(row) for row in matrix.rows] and all(any(line) or len(line) == 1 for line in lines):
            break
    return Matrix.of(rows)


def _one_hot(count: int) -> list[str]:
    return [*["0"] * (count - 1), "1"]


def _range(values: Sequence[Value]) -> tuple[int, int, int]:
    """From which whole number to which, and over what, to draw numbers like these: at least four different ones."""
    by = lcm(*(Fraction(x).denominator for x in values if isinstance(x, RATIONAL)), 1)
    if by > FINEST:
        by = 10
    sizes = [float(approximate(x)) for x in values] or [0.0]
    least, most = min(sizes), max(sizes)
    low, high = round(least * by), round(most * by)
    positive = least > 0
    low, high = max(low, -9 * by), min(high, 9 * by)
    while high - low < 3:
        high += 1
        low -= not positive or low > 1
    return (max(low, 1) if positive else low), high, by


def _fraction(above: int, below: int) -> Value:
    value = Fraction(above, below)
    return value.numerator if value.denominator == 1 else value


def _weights(row: Sequence[Value], rng: Random) -> list[Value]:
    """Weights as pretty as can be, 0 where there was none: from 1, 2, 4, 8, or from 1, 3, 9."""
    seen = [k for k, x in enumerate(row) if x != 0]
    if len(seen) < 2:
        return list(row)
    patterns = row_patterns(len(seen), 2, 3, terminating=True)
    if len(seen) <= 4:
        patterns += mixed_patterns(len(seen))
    pattern = pick(rng, patterns or row_patterns(len(seen), 2, 3))
    drawn = iter(shuffled(rng, pattern))
    return [_fraction(next(drawn), sum(pattern)) if k in seen else 0 for k in range(len(row))]


def _mixed(matrix: Matrix, rows: bool, rng: Random) -> Matrix:
    """The same numbers in another order and with other signs, a line a token, so that they spread as before."""
    if not rows:
        return _mixed(matrix.T, True, rng).T
    signs: Iterator[int] = iter([pick(rng, (1, -1)) for _ in matrix.rows])
    return Matrix.of([[sign * x for x in shuffled(rng, row)] for sign, row in zip(signs, matrix.rows, strict=True)])
