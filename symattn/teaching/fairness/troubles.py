"""What the core of a variant hides: which misconceptions cannot be seen in it, or not be told apart.

Most variants that are drawn are refused, so that a verdict has to be quick.  Misconceptions are followed no further
than anybody asks, and in plain attention in floats: operations that have no formula here are worked out exactly, from
exact operands, as is a misconception whose exact values might grow too long, and everything where floats do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import mul

from symattn.derivation.derivation import Derivation, Op, Operand, Step
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import (
    LONGEST,
    MatrixwiseDerivation,
    Misconception,
    Rewritten,
    following,
    is_short_enough,
    rewritten_everywhere,
    same,
)
from symattn.derivation.ops import Activation, Mask, MatMul, Scale, Softmax
from symattn.errors import InputError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Value, has_symbols
from symattn.exact.approximate import approximate
from symattn.exact.values import Quotient, is_finite
from symattn.teaching.fairness.separation import LEAST, SMALLEST, Core, Distance, Floats, Replay, distance, floats_of

DOWN = Softmax("columns")  # made once: it is asked for at every step

LARGEST, ERROR = 1e5, 5e-10
"""Up to what size numbers are judged in floats, and more than their error is then: one part in 10¹⁵, some operations
on."""


def troubles(
    derivation: Derivation,
    *,
    at_the_end: bool = True,
    but: frozenset[str] = frozenset(),
    suspects: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """What is wrong with the core of a variant, as ids: see `Core.troubles`; nothing where there are letters.

    What does not count is left out (`but`).  If there is anything wrong with the suspects, some misconceptions by their
    ids, the others are not looked at.
    """
    matrices = [*derivation.givens.values(), *(step.result for step in derivation)]
    if not all(isinstance(m, Matrix) and not any(map(has_symbols, m)) for m in matrices):
        return frozenset()
    laid = MatrixwiseDerivation(derivation)
    if _is_plain(laid.rows):
        try:
            return _troubles(_Nearly(laid), _clear_distance, at_the_end, but, suspects)
        except _UnclearError:
            pass
    return _troubles(_Exactly(laid), distance, at_the_end, but, suspects)


def _troubles(
    judged: _Exactly, distance: Distance, at_the_end: bool, but: frozenset[str], suspects: frozenset[str]
) -> frozenset[str]:
    core = [m for m in misconceptions().values() if m.core]
    found = judged.core([m for m in core if m.id in suspects]).troubles(distance, at_the_end) - but
    return found or judged.core(core).troubles(distance, at_the_end) - but


class _Exactly:
    """A derivation, tokens as rows and matrix by matrix, in whose place misconceptions are replayed."""

    def __init__(self, laid: MatrixwiseDerivation) -> None:
        self.laid, self.rows = laid, laid.rows
        self.truth = {step.name: floats_of(step.result) for step in self.rows}
        self.alike: dict[str, list[tuple[AnyMatrix, Replay]]] = {}
        self.replays: dict[str, Replay | None] = {}
        self.is_plain = _is_plain(laid.rows)

    def differ(self, a: AnyMatrix, b: AnyMatrix) -> bool:
        """Whether two results are not the same.

        In plain attention exactly, where floats do not tell; elsewhere that may take minutes, and nobody sees it.
        """
        return distance(floats_of(a), floats_of(b)) > 0 or (self.is_plain and not same(a, b))

    def core(self, core: Sequence[Misconception]) -> Core:
        """Of these misconceptions, those that change anything; suspects have been replayed before all others."""
        for misconception in core:
            if misconception.id not in self.replays:
                rewritten = rewritten_everywhere(self.rows, misconception.change, self.laid.parts)
                self.replays[misconception.id] = self.replay(misconception.id, rewritten) if rewritten else None
        return Core([found for one in core if (found := self.replays[one.id])], self.truth)

    def replay(self, id: str, rewritten: Rewritten) -> Replay:
        """A misconception followed no further than anybody asks; as an earlier one, if it writes the same in the only
        step that both do otherwise.
        """
        steps, known = following(self.rows, rewritten), dict[str, Floats | None]()

        def value(name: str) -> Floats | None:
            while name not in known:
                step, fails = next(steps, (None, True))
                if step is None:
                    return None
                known[step.name] = None if fails else floats_of(step.result)
            return known[name]

        for step, fails in steps:
            known[step.name] = None if fails else floats_of(step.result)
            if fails:
                return Replay(id, step.name, value)
            if self.differ(step.result, self.rows[step.name].result):
                others = self.alike.setdefault(step.name, []) if len(rewritten) == 1 else []
                for result, other in others:
                    if not self.differ(step.result, result):
                        return Replay(id, step.name, other.value)
                others.append((step.result, found := Replay(id, step.name, value)))
                return found
        return Replay(id, None, value)


def _is_plain(d: Derivation) -> bool:
    """Whether it is attention of one head in whole numbers: how long its exact values may grow is known."""
    numbers = (x for m in d.givens.values() for x in (m if isinstance(m, Matrix) else (None,)))
    ops = [type(step.op) for step in d]
    if d.arithmetic != "exact" or "S" not in d or ops.count(Softmax) != 1 or not FORMULAS.keys() >= {*ops}:
        return False
    keys = d.value("S").shape[1]
    return all(map(_is_whole, (keys, *numbers))) and 4 * int(keys) <= LONGEST


def _is_whole(x: object) -> bool:
    return isinstance(x, int)


class _UnclearError(Exception):
    """Floats do not tell."""


def _clear_distance(a: Floats | None, b: Floats | None) -> float:
    """As `distance`, where the errors of floats make no difference to any verdict; where entries are clearly far apart,
    how far the first of them are.
    """
    if a is None or b is None or len(a) != len(b) or len(a[0]) != len(b[0]):
        return distance(a, b)
    apart = 0.0
    for p, q in zip(a, b, strict=True):
        for x, y in zip(p, q, strict=True):
            if x != y and (d := abs(x - y)) > apart:
                if d > LEAST + ERROR:
                    return d
                apart = d
    if abs(apart - SMALLEST) < ERROR or abs(apart - LEAST) < ERROR:
        raise _UnclearError
    return 0.0 if apart < SMALLEST else apart


class _Nearly(_Exactly):
    """The same in floats."""

    def __init__(self, laid: MatrixwiseDerivation) -> None:
        super().__init__(laid)
        self.floats = {name: floats_of(m) for name, m in self.rows.givens.items()} | self.truth
        for floats in self.truth.values():
            _bounded(floats)

    def replay(self, id: str, rewritten: Rewritten) -> Replay:
        try:
            return _Followed(self, rewritten).replay(id)
        except _UnclearError:
            return super().replay(id, rewritten)


class _Followed:
    """One misconception: what it rewrites, and what follows, in floats, and exactly where that is asked for."""

    def __init__(self, nearly: _Nearly, rewritten: Rewritten) -> None:
        self.nearly, self.rewritten = nearly, rewritten
        self.steps: dict[str, Step] = {}  # those that are worked out otherwise
        self.known: dict[str, Matrix] = {}  # their exact results, as far as anybody asked
        self.floats: dict[str, Floats | None] = {}

    def replay(self, id: str) -> Replay:
        first = None
        for step in self.nearly.rows:
            new = self.rewritten.get(step.name)
            if new is None and any(operand.name in self.steps for operand in step.operands):
                new = step
            if new is None:
                self.floats[step.name] = self.nearly.truth[step.name]
                continue
            self.steps[step.name] = new
            try:
                self.floats[step.name] = _bounded(self._worked_out(new))
            except (InputError, UndecidedError):  # it goes no further, which gives the mistake away
                first = first or step.name
                break
            if first is None and self._is_wrong(step):
                first = step.name
            if first is None:  # what follows from a right result is right
                del self.steps[step.name]
                self.floats[step.name] = self.nearly.truth[step.name]
        return Replay(id, first, self.floats.get)

    def _worked_out(self, step: Step) -> Floats | None:
        operands = [self._operand(operand) for operand in step.operands]
        step.op.shape(*((len(m), len(m[0])) for m in operands))
        across = isinstance(step.op, MatMul) and step.operands[0].transposed
        if (across or step.op == DOWN) and _may_outgrow(self._operand(Operand("S"))):
            raise _UnclearError
        formula = FORMULAS.get(type(step.op))
        found = formula(step.op, *operands) if formula else None
        return floats_of(self._exactly(step.name)) if found is None else found

    def _operand(self, operand: Operand) -> Floats:
        name = operand.name
        floats = self.floats[name] if name in self.floats else self.nearly.floats[name]
        if floats is None or operand.row is not None or operand.column is not None:
            raise _UnclearError
        return tuple(zip(*floats, strict=True)) if operand.transposed else floats

    def _exactly(self, name: str) -> Matrix:
        """The exact value of a given or a step."""
        if name not in self.steps:
            value = self.nearly.rows.value(name)
            assert isinstance(value, Matrix)
            return value
        if name not in self.known:
            step = self.steps[name]
            operands = (operand.of(self._exactly(operand.name)) for operand in step.operands)
            result = step.op.apply(*(m for m in operands if isinstance(m, Matrix)))
            if not all(map(_is_short, result)) or _mixes(result):
                raise _UnclearError
            self.known[name] = result
        return self.known[name]

    def _is_wrong(self, step: Step) -> bool:
        """Whether the result is not the right one; exactly, where it is next to it."""
        apart = distance(self.floats[step.name], self.nearly.truth[step.name])
        return apart > 2 * SMALLEST or not same(self._exactly(step.name), step.result)


# ------------------------------------------------------------------------------------------------ formulas


def _product(op: Op, a: Floats, b: Floats) -> Floats | None:
    if not all(map(_all_finite, (a, b))):
        return None
    columns = tuple(zip(*b, strict=True))
    return tuple(tuple(sum(map(mul, row, column)) for column in columns) for row in a)


def _scaled(op: Op, m: Floats) -> Floats | None:
    assert isinstance(op, Scale)
    divisor = approximate(op.divisor)
    return tuple(tuple(x / divisor for x in row) for row in m)


def _masked(op: Op, m: Floats) -> Floats | None:
    assert isinstance(op, Mask)
    if op.style == "multiplicative":
        return None
    return tuple(
        tuple(x if seen else -math.inf for x, seen in zip(row, kept, strict=True))
        for row, kept in zip(m, op.keep, strict=True)
    )


def _weights(op: Op, m: Floats) -> Floats | None:
    """The softmax; unclear where powers of another base than e may leave the exact numbers."""
    assert isinstance(op, Softmax)
    lines = m if op.along == "rows" else tuple(zip(*m, strict=True))
    rate = 1.0
    if op.base != "e":
        if not all(x == -math.inf or x.is_integer() for row in m for x in row):
            raise _UnclearError
        rate = math.log(approximate(op.base))
    found = []
    for line in lines:
        most = max(line)
        if most == -math.inf:
            return None
        powers = [math.exp(rate * (x - most)) for x in line]
        total = sum(powers)
        found.append(tuple(p / total for p in powers))
    return tuple(found) if op.along == "rows" else tuple(zip(*found, strict=True))


def _copied(op: Op, m: Floats) -> Floats | None:
    assert isinstance(op, Activation)
    if op.name == "identity":
        return m
    return tuple(tuple(max(x, 0.0) for x in row) for row in m) if op.name == "relu" else None


FORMULAS: Mapping[type[Op], Callable[..., Floats | None]] = {
    MatMul: _product,
    Scale: _scaled,
    Mask: _masked,
    Softmax: _weights,
    Activation: _copied,
}
"""Operations in floats; they give nothing where it has to be worked out exactly."""


# ------------------------------------------------------------------------------------------------ what is clear


def _bounded(floats: Floats | None) -> Floats | None:
    """Floats of a size that they are trusted with; −∞ is one."""
    if floats is None or max(map(max, floats)) > LARGEST:
        raise _UnclearError
    if min(map(min, floats)) < -LARGEST and any(-math.inf < x < -LARGEST for row in floats for x in row):
        raise _UnclearError
    return floats


def _all_finite(m: Floats) -> bool:
    return not any(-math.inf in row for row in m)


def _may_outgrow(scores: Floats) -> bool:
    """Whether sums over weights of several lines of these scores might be too long to be followed (`LONGEST`): a line
    has one denominator, and others have others.

    With t = e^g, g the greatest common divisor of all differences, weights are quotients of polynomials in t, whose
    degree is the reach of their line; over a common denominator the degrees add up.
    """
    if not all(x.is_integer() for row in scores for x in row):
        return True
    if max(len(scores), len(scores[0])) <= 3:  # 27 terms above and 27 below
        return False
    lines = (scores, tuple(zip(*scores, strict=True)))
    unit = math.gcd(*(round(b - a) for line in lines[0] for a, b in pairwise((*line, scores[0][0]))))
    degree = max(sum(max(line) - min(line) for line in of) for of in lines) / max(unit, 1)
    return 2 * (degree + 1) > LONGEST


def _is_short(x: Value) -> bool:
    return x is NEGATIVE_INFINITY or (is_finite(x) and is_short_enough(x))


def _mixes(weights: Matrix) -> bool:
    """Whether a row has entries over different denominators, sums of which may grow long."""
    return any(
        a is not b and a.terms != b.terms
        for row in weights.rows
        for a, b in pairwise(x.denominator for x in row if isinstance(x, Quotient))
    )
