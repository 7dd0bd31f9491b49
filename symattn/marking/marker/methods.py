"""Other ways of working that are right (rules.md 2.6), and data that were misread (3.6).

Each gives the derivation that the student may have followed instead; a script is marked by the one that leaves the
fewest wrong entries, if every line that it changes is as it says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Derivation, Op, Operand, Step, StepName
from symattn.derivation.misconceptions.base import COPY, ReplacementOp, scopes
from symattn.derivation.ops import Mask, MatMul, Scale, Softmax
from symattn.errors import InputError, UndecidedError
from symattn.exact import (
    NEGATIVE_INFINITY,
    AnyMatrix,
    Matrix,
    Value,
    compare,
    decide,
    divide,
    has_symbols,
    square_root,
    values_of,
)
from symattn.exact.values import RATIONAL
from symattn.foundation.languages import message
from symattn.marking.attempt import Grid
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace


@dataclass(frozen=True)
class ScriptReading:
    """One way in which a script may be meant.

    `decisive` are the steps whose entries must all be right for it, and of those that `shows` names, if any, one must
    be; `says` is the notice for whoever marks.
    """

    script: Script
    kind: Literal["method", "layout", "misread"]
    says: str
    decisive: frozenset[str]
    given: tuple[str, int, int, Value, Value] | None = None
    """A misread entry: matrix, place, what it is, what was read."""
    shows: frozenset[str] = frozenset()

    def shown_by(self, trace: Trace) -> bool:
        """Whether the trace of its script bears it out."""
        return not trace.hopeless and (not self.shows or any(map(trace.accepts_all_of, self.shows)))


def readings(trace: Trace) -> Iterator[ScriptReading]:
    """Every other way in which a script that has something wrong in it may be meant."""
    script = trace.script
    yield from _layouts(trace)
    for within in _everywhere_or_once(script.d):
        for way in (_scaled_scores, _scaled_queries, _scaled_both, _scaled_keys, _masked_first, _transposed_scores):
            yield from way(script, within)
    yield from _shifted(script)
    yield from _misread(trace)


# ------------------------------------------------------------------------------------------ layout


def _layouts(trace: Trace) -> Iterator[ScriptReading]:
    """Everything transposed.  A single matrix that was transposed is a mistake, and no other layout.

    A few entries that are right by chance are no layout: a line that is not its own transpose must be right throughout,
    and none may be right as it stands.
    """
    turned = trace.script.turned()
    one_sided = frozenset(name for name, grid in turned.written.items() if _one_sided(grid))
    if not one_sided or not all(turned.fitting(name) for name in turned.written):
        return
    wrong = {verdict.part for verdict in trace.every_verdict if verdict.state != "correct"}
    if not one_sided <= wrong:
        return
    says = message("The whole script is transposed (tokens the other way round); it is marked in that layout.")
    yield ScriptReading(turned, "layout", says, frozenset(), shows=one_sided)


# ------------------------------------------------------------------------------------------ methods

Change = Callable[[Step], Step | None]
"""What somebody writes in a line instead; none where it is the line itself."""

Within = frozenset[str]
"""The lines in which something is done otherwise: all of them, or those of one head."""

BEFORE_MASK = ("S", "S'", "S_T", "S_cap", "S_B")
WEIGHTS = ("M", "A", "A_rounded")


def _everywhere_or_once(d: Derivation) -> Iterator[Within]:
    """All lines; then, where there are several heads or layers, those of each alone."""
    yield frozenset(step.name for step in d)
    own = scopes(d)
    for scope in own if len(own) > 1 else ():
        yield frozenset(step.name for step in d if StepName.of(step.name).scope == scope)


@dataclass(frozen=True, slots=True)
class _Reworked:
    """A derivation with some lines changed, and the lines that come out differently."""

    d: Derivation
    differing: frozenset[str]


def _reworked(d: Derivation, change: Change, givens: Mapping[str, AnyMatrix] = MappingProxyType({})) -> _Reworked:
    """Lines that rest on nothing that differs are shared; `InputError` or `UndecidedError` where one is not defined."""
    result, differing = replace(d, givens={**d.givens, **givens}, steps=()), set(givens)
    for step in d:
        new = change(step)
        if new is None and not any(operand.name in differing for operand in step.operands):
            result = replace(result, steps=(*result.steps, step))
            continue
        result = result.extended(new or step)
        if result.last.result == step.result:  # the very same matrix: what rests on it need not be worked out again
            result = replace(result, steps=(*result.steps[:-1], replace(result.last, result=step.result)))
        else:
            differing.add(step.name)
    return _Reworked(result, frozenset(differing))


def _method(script: Script, change: Change, lines: Collection[str], says: str) -> Iterator[ScriptReading]:
    """A way of working that leaves every line as it is but for some of `lines`, one of which was written."""
    changed = frozenset(name for name in lines if change(script.d[name]) is not None)
    if not changed:
        return
    try:
        other = _reworked(script.d, change)
    except (InputError, UndecidedError):
        return
    decisive = frozenset(script.written).intersection(changed | other.differing)
    if decisive and other.differing <= frozenset(lines):
        yield ScriptReading(replace(script, d=other.d), "method", says, decisive)


def _stems(d: Derivation, within: Within, *stems: str) -> Within:
    return frozenset(step.name for step in d if step.stem in stems and step.name in within)


def _beside(step: Step) -> str:
    """What follows the stem of a name, and is common to all lines of one head and token: _2 of S_2 and of A_2."""
    return step.name.removeprefix(step.stem)


def _divisor(d: Derivation, step: Step) -> Value | None:
    """What the scores of a head, or those that come of a whole matrix of queries, are divided by."""
    own = StepName.of(step.name)

    def its(scaled: StepName) -> bool:
        same = scaled.place == own.place and own.head in (None, scaled.head) and own.token in (None, scaled.token)
        return same and scaled.stem == "S'"

    return next((other.op.divisor for other in d if isinstance(other.op, Scale) and its(StepName.of(other.name))), None)


def _divided(step: Step, divisor: Value) -> Step:
    """The line, divided."""

    def scaled(of: Op, *matrices: Matrix) -> Matrix:
        return Scale(divisor).apply(of.apply(*matrices))

    return step.with_op(ReplacementOp(step.op, scaled))


def _scaled_scores(script: Script, within: Within) -> Iterator[ScriptReading]:
    def change(step: Step) -> Step | None:
        if step.name not in within or (divisor := _divisor(script.d, step)) is None:
            return None
        if step.stem == "S" and isinstance(step.op, MatMul):
            return _divided(step, divisor)
        return step.with_op(COPY) if step.stem == "S'" else None

    lines = _stems(script.d, within, "S", "S'")
    yield from _method(script, change, lines, message("The scores were scaled in the same line as their product."))


def _scaled_factors(
    script: Script, within: Within, stems: tuple[str, ...], of: Callable[[Value], Value], says: str
) -> Iterator[ScriptReading]:
    """Queries, keys or both divided before their product, where they are worked out and not given."""

    def change(step: Step) -> Step | None:
        if step.name not in within or (divisor := _divisor(script.d, step)) is None:
            return None
        if step.stem in stems and not step.op.trivial:  # a head's part of the queries is divided with all of them
            return _divided(step, of(divisor))
        return step.with_op(COPY) if step.stem == "S'" else None

    scaled = [step for step in script.d if step.stem == "S'" and step.name in within]
    before = [script.depends(step) for step in scaled]
    if all(any(script.d[name].stem == stem for name in rests_on) for rests_on in before for stem in stems):
        lines = frozenset(step.name for step in scaled).union(*before)
        yield from _method(script, change, lines, says)


def _scaled_queries(script: Script, within: Within) -> Iterator[ScriptReading]:
    yield from _scaled_factors(
        script, within, ("Q",), lambda x: x, message("The queries were scaled instead of the scores.")
    )


def _scaled_keys(script: Script, within: Within) -> Iterator[ScriptReading]:
    yield from _scaled_factors(
        script, within, ("K",), lambda x: x, message("The keys were scaled instead of the scores.")
    )


def _scaled_both(script: Script, within: Within) -> Iterator[ScriptReading]:
    says = message("Queries and keys were both scaled, by the root of the divisor, instead of the scores.")
    yield from _scaled_factors(script, within, ("Q", "K"), square_root, says)


def _masked_first(script: Script, within: Within) -> Iterator[ScriptReading]:
    """The mask on the scores before they are scaled, or in the same line."""
    masks = {_beside(step): step for step in script.d if step.stem == "M" and isinstance(step.op, Mask)}
    scaled = {_beside(step): step for step in script.d if step.stem == "S'"}
    if not masks:
        return

    def hidden(step: Step) -> Step:
        """The line with what the mask hides hidden already."""
        mask = masks[_beside(step)].op

        def does(of: Op, *matrices: Matrix) -> Matrix:
            result = of.apply(*matrices)
            mask.shape(result.shape)
            return mask.apply(result)

        return step.with_op(ReplacementOp(step.op, does))

    def in_one(first: str) -> Change:
        def change(step: Step) -> Step | None:
            if step.name not in within or _beside(step) not in masks:
                return None
            if step.stem == first:
                return hidden(step)
            return step.with_op(COPY) if step.stem == "M" else None

        return change

    def exchanged(step: Step) -> Step | None:
        """M is the mask on the scores themselves, and S' what comes of M."""
        mask, scale = masks.get(_beside(step)), scaled.get(_beside(step))
        if step.name not in within or mask is None or scale is None or mask.operands[0].name != scale.name:
            return None
        if step.stem == "S'":
            return hidden(step)
        if step.stem == "M":
            return step.with_operands(*scale.operands)
        if isinstance(step.op, Softmax):
            return step.with_operands(scale.name)
        return None

    says = message("The scores were masked before they were scaled.")
    before = _stems(script.d, within, *BEFORE_MASK)
    yield from _method(script, in_one("S'"), before, says)
    yield from _method(script, in_one("S"), before, says)
    yield from _method(script, exchanged, _stems(script.d, within, "S'", "M"), says)


def _transposed_scores(script: Script, within: Within) -> Iterator[ScriptReading]:
    """K Qᵀ, then everything along columns, and at last its transpose times V."""
    block = _stems(script.d, within, *BEFORE_MASK, *WEIGHTS)
    if any(step.token is not None for step in script.d) or not _stems(script.d, within, "A"):
        return

    def change(step: Step) -> Step | None:
        crosses = [(o.name in block) != (step.name in block) for o in step.operands]
        if step.name not in block and not any(crosses):
            return None
        operands = tuple(
            replace(o, transposed=not o.transposed) if turns else o
            for o, turns in zip(step.operands, crosses, strict=True)
        )
        if step.name not in block:
            return step.with_operands(*operands)
        return step.with_op(step.op.turn()).with_operands(*(operands[::-1] if step.op.reverses else operands))

    says = message(
        "In the scores, keys are rows and queries are columns, and the softmax is taken along "
        "columns: the weights are the same."
    )
    across = {step.name for step in script.d if any(o.name in block for o in step.operands)} - block
    weights = {name for name in block.intersection(script.written) if script.d[name].stem in ("A", "A_rounded")}
    scores = block.intersection(script.written) - weights
    seen = bool(weights) and any(_one_sided(script.written[name]) for name in scores)
    for reading in _method(script, change, block, says):
        # Transposed scores alone may be a mistake, and symmetric ones say nothing: then what is made of the weights
        # must be there and right as well.
        made = across.intersection(script.written)
        if seen or made:
            yield reading if seen else replace(reading, decisive=reading.decisive | made)


def _one_sided(grid: Grid) -> bool:
    """Whether a grid shows that it is not its own transpose."""
    if grid.shape != grid.T.shape:
        return True
    pairs = ((entry.value, grid[j, i].value) for i, j, entry in grid.cells() if i < j)
    return any(a is not None and b is not None and decide(a, b).equal is False for a, b in pairs)


def _shifted(script: Script) -> Iterator[ScriptReading]:
    """The same number subtracted from every score of a token, which the softmax does not see.

    A single score that is seen could have been moved anywhere: unless other rows were moved, it must have become 0, and
    the largest score of each of them must be 0, as if the largest had been subtracted everywhere.
    """
    scores: dict[str, list[_Move] | None] = {}
    softmaxes: dict[str, str] = {}
    for softmax in (step for step in script.d if isinstance(step.op, Softmax) and step.op.along == "rows"):
        for step in _chain(script, softmax):
            if softmax.name in script.written and step.name in script.written:
                scores[step.name], softmaxes[step.name] = _moves(script, step), softmax.name
    several = [move for moves in scores.values() for move in moves or () if move.entries > 1]
    moved = any(move.by != 0 for move in several)
    largest_taken_off = all(move.at_most_zero for move in several)
    shifts = {}
    for name, moves in scores.items():
        shown = moves and all(
            m.by == 0 or m.entries > 1 or moved or (largest_taken_off and m.at_most_zero) for m in moves
        )
        if moves and shown and any(m.by != 0 for m in moves):
            rows = values_of(script.d.value(name)).rows
            shifts[name] = Matrix.of(
                [x if x is NEGATIVE_INFINITY else x + move.by for x in row]
                for row, move in zip(rows, moves, strict=True)
            )
    if shifts:
        steps = tuple(
            replace(step, result=shifts[step.name], pinned=True) if step.name in shifts else step for step in script.d
        )
        says = message("The same number was subtracted from every score of a token; the weights stay the same.")
        decisive = frozenset((*shifts, *(softmaxes[name] for name in shifts)))
        yield ScriptReading(replace(script, d=replace(script.d, steps=steps)), "method", says, decisive)


@dataclass(frozen=True, slots=True)
class _Move:
    """How far a row of scores was moved, how many entries say so, and whether the largest of them is 0 now."""

    by: Value
    entries: int
    at_most_zero: bool


def _moves(script: Script, step: Step) -> list[_Move] | None:
    """How far each row was moved; None if rows were not moved as a whole."""
    if not script.fitting(step.name) or script.printed.get(step.name):
        return None
    found = []
    for written, row in zip(script.written[step.name].rows, values_of(step.result).rows, strict=True):
        pairs = [(e.value, y) for e, y in zip(written, row, strict=True) if e.value is not None]
        if any((x is NEGATIVE_INFINITY) != (y is NEGATIVE_INFINITY) for x, y in pairs):
            return None
        seen = [(x, x - y) for x, y in pairs if y is not NEGATIVE_INFINITY]
        if any(decide(move, seen[0][1]).equal is not True for _, move in seen[1:]):
            return None
        by = seen[0][1] if seen and decide(seen[0][1], 0).equal is not True else 0
        signs = [_sign(x) for x, _ in seen]
        found.append(_Move(by, len(seen), 0 in signs and all(sign in (0, -1) for sign in signs)))
    return found


def _sign(x: Value) -> int | None:
    """The sign of a number; None if it is not known, as of what has symbols and is not 0."""
    zero = decide(x, 0).equal
    if zero is not False:
        return 0 if zero else None
    return None if has_symbols(x) else compare(x, 0)


def _chain(script: Script, softmax: Step) -> list[Step]:
    """The scores that a softmax is taken of, and those before them up to the products; the nearest first."""
    found: list[Step] = []
    at = next(script.sources(softmax), None)
    while at is not None and not (found and isinstance(at.op, MatMul)):
        found.append(at)
        at = next(script.sources(at), None)
    return found


# ------------------------------------------------------------------------------------------ misread data


def _misread(trace: Trace) -> Iterator[ScriptReading]:
    """One given number read as another one, solved from the first products that use it.

    A wrong x_ik makes row i of every product X W differ by the same multiple of row k of W; a wrong w_kj makes column j
    differ by a multiple of column k of X.  One single wrong entry is no evidence: that is a slip.
    """
    script = trace.script
    seen: set[tuple[str, int, int, Value]] = set()
    for step in script.d:
        wrong = [at for at, verdict in trace.verdicts[step.name].items() if verdict.state == "wrong"]
        if len(wrong) < 2 or not isinstance(step.op, MatMul) or step.name in trace.misshapen:
            continue
        for position, operand in enumerate(step.operands):
            if operand.name not in script.d.givens or operand.row is not None or operand.column is not None:
                continue
            for i, j, delta in _solved(script, trace, step, position, wrong):
                given = values_of(script.d.value(operand.name))
                value = given[i, j] + delta
                if not plausible(given, i, j, value):
                    continue
                key = (operand.name, i, j, value)
                if key not in seen:
                    seen.add(key)
                    yield from _with_other_given(script, operand.name, i, j, value)


def _solved(
    script: Script, trace: Trace, step: Step, position: int, wrong: list[tuple[int, int]]
) -> Iterator[tuple[int, int, Value]]:
    """(i, j, δ) in the given matrix that operand `position` is, from one wrong entry; whole rows are checked later."""
    right = trace.follows(step, trace.carried)
    r, c = wrong[0]
    entry = script.written[step.name][r, c]
    if right is None or right.shape != script.written[step.name].shape:
        return
    if entry.value is None or entry.value is NEGATIVE_INFINITY or right[r, c] is NEGATIVE_INFINITY:
        return
    first, second = (values_of(o.of(trace.carried[o.name])) for o in step.operands)
    residual = entry.value - right[r, c]
    operand: Operand = step.operands[position]
    for k in range(first.shape[1]):
        other = second[k, c] if position == 0 else first[r, k]
        if not isinstance(other, RATIONAL) or other == 0:
            continue
        place = (r, k) if position == 0 else (k, c)
        yield (*(place[::-1] if operand.transposed else place), divide(residual, other))


def plausible(given: Matrix, i: int, j: int, value: Value) -> bool:
    """Whether a number may be misread so: another sign, a number beside it, 1 for 7, digits exchanged."""
    right = given[i, j]
    if not isinstance(value, RATIONAL) or not isinstance(right, RATIONAL) or value == right:
        return False
    rows, columns = given.shape
    beside = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
    near = [given[a, b] for a, b in beside if 0 <= a < rows and 0 <= b < columns]
    if value == -right or any(value == x for x in near):
        return True
    if Fraction(value).denominator != 1 or Fraction(right).denominator != 1:
        return False
    one, other = str(abs(int(value))), str(abs(int(right)))
    alike = one.translate(_ALIKE) == other.translate(_ALIKE) or one == other[::-1]
    return alike and (value < 0) == (right < 0)


_ALIKE = str.maketrans("79", "16")
"""Digits that are taken for one another: 1 and 7, 6 and 9."""


def _with_other_given(script: Script, name: str, i: int, j: int, value: Value) -> Iterator[ScriptReading]:
    given = values_of(script.d.value(name))
    rows = [list(row) for row in given.rows]
    right, rows[i][j] = rows[i][j], value
    try:
        d = _reworked(script.d, lambda step: None, {name: Matrix.of(rows)}).d
    except (InputError, UndecidedError):
        return
    users = frozenset(s.name for s in script.d if any(o.name == name for o in s.operands) and s.name in script.written)
    yield ScriptReading(replace(script, d=d), "misread", "", users, (name, i, j, right, value))
