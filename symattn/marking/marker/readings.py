"""Other ways in which a script may be meant: on a mask of the student's own (rules.md 3.4), in another layout, by
another method that is right (2.6), with a number that was misread (3.6), or with matrices in each other's boxes.

Each is a script beside the one that was handed in.  Of those that every line bears out that they change, the one that
leaves the fewest wrong entries is what was meant, and what is diagnosed (`understood`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Derivation, Op, Step, StepName
from symattn.derivation.misconceptions.base import COPY, ReplacementOp, Rewritten, scopes
from symattn.derivation.ops.attention import Keep, Mask, Softmax
from symattn.derivation.ops.linear import MatMul, Scale
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
from symattn.marking.attempt import Attempt, Entry, Grid, Shaded
from symattn.marking.marker.diagnosis import Diagnosis, diagnosed
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Accepts, Trace
from symattn.teaching.question import CellsAnswer, MatrixAnswer, Part, Question


@dataclass(frozen=True)
class ScriptReading:
    """One way in which a script may be meant.

    `decisive` are the steps whose entries must all be right for it, and of those that `shows` names, if any, one must
    be; `says` is the notice for whoever marks.
    """

    script: Script
    kind: Literal["mask", "method", "layout", "misread"]
    says: str = ""
    decisive: frozenset[str] = frozenset()
    given: tuple[str, int, int, Value, Value] | None = None
    """A misread entry: matrix, place, what it is, what was read."""
    shows: frozenset[str] = frozenset()

    def shown_by(self, trace: Trace) -> bool:
        """Whether the trace of its script bears it out."""
        return not trace.hopeless and (not self.shows or any(map(trace.accepts_all_of, self.shows)))


def likeliest(trace: Trace, readings: Iterable[ScriptReading]) -> ScriptReading | None:
    """The reading that leaves the fewest entries wrong, the first of several; None if none leaves fewer than there
    are.
    """
    best, wrong = None, trace.wrong
    for reading in readings:
        if not wrong:
            break
        other = Trace(reading.script, trace.policy, reading.decisive, wrong - 1)
        if reading.shown_by(other):
            best, wrong = reading, other.wrong
    return best


def readings(trace: Trace) -> Iterator[ScriptReading]:
    """Every other way in which a script that has something wrong in it may be meant."""
    script = trace.script
    yield from _layouts(trace)
    for within in _everywhere_or_once(script.d):
        for says, change in WAYS:
            changed = {name: step for name, step in change(script.d).items() if name in within}
            yield from _method(script, changed, says)
        yield from _transposed_scores(script, within)
    yield from _shifted(script)
    yield from _misread(trace)


MOST_READINGS = 3
"""A script may be in another layout, by another method, and with a misread number at once."""


def understood(script: Script, policy: Policy) -> tuple[Diagnosis, tuple[ScriptReading, ...]]:
    """The script as it is meant, diagnosed: in its own layout, by its own method, on the numbers that were read."""
    meant: list[ScriptReading] = []
    found = diagnosed(script, policy)
    for _ in range(MOST_READINGS):
        if not found.wrong or _one_misconception(found):
            break
        best = likeliest(trace := Trace(found.script, policy), readings(trace))
        if best is None:
            break
        as_meant = diagnosed(best.script, policy)
        if _only_misconceptions(found) and len(as_meant.events) > len(found.events):
            break  # fewer beliefs explain all of it as it stands
        found = as_meant
        meant.append(best)
    return found, tuple(meant)


def _one_misconception(found: Diagnosis) -> bool:
    """Whether a single misconception explains everything: then that is what it was."""
    return len(found.events) == 1 and found.events[0].kind == "misconception"


def _only_misconceptions(found: Diagnosis) -> bool:
    """Whether misconceptions explain everything."""
    return all(event.kind == "misconception" and not event.in_part for event in found.events)


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
    if one_sided <= wrong:
        says = message("The whole script is transposed (tokens the other way round); it is marked in that layout.")
        yield ScriptReading(turned, "layout", says, shows=one_sided)


def _one_sided(grid: Grid) -> bool:
    """Whether a grid shows that it is not its own transpose."""
    if grid.shape != grid.T.shape:
        return True
    pairs = ((entry.value, grid[j, i].value) for i, j, entry in grid.cells() if i < j)
    return any(a is not None and b is not None and decide(a, b).equal is False for a, b in pairs)


# ------------------------------------------------------------------------------------------ methods

Way = Callable[[Derivation], Rewritten]
"""What somebody writes in some lines instead who goes another way."""


def _everywhere_or_once(d: Derivation) -> Iterator[frozenset[str]]:
    """All lines; then, where there are several heads or layers, those of each alone."""
    yield frozenset(step.name for step in d)
    own = scopes(d)
    for scope in own if len(own) > 1 else ():
        yield frozenset(step.name for step in d if StepName.of(step.name).scope == scope)


def _method(script: Script, changed: Rewritten, says: str) -> Iterator[ScriptReading]:
    """A way of working that leaves every line as it is but for some before the last that it changes, one of which was
    written.
    """
    if not changed:
        return
    try:
        d, differing = _reworked(script.d, changed)
    except (InputError, UndecidedError):
        return
    before = frozenset[str]().union(*map(script.d.before, changed))
    decisive = frozenset(script.written).intersection(differing.union(changed))
    if decisive and differing <= before:
        yield ScriptReading(replace(script, d=d), "method", says, decisive)


def _reworked(
    d: Derivation, changed: Rewritten, givens: Mapping[str, AnyMatrix] = MappingProxyType({})
) -> tuple[Derivation, frozenset[str]]:
    """A derivation with some lines changed, and the lines that come out differently.

    Lines that rest on nothing that differs are shared; `InputError` or `UndecidedError` where one is not defined.
    """
    result, differing = replace(d, givens={**d.givens, **givens}, steps=()), set(givens)
    for step in d:
        if step.name in changed or any(operand.name in differing for operand in step.operands):
            new = result.extended(changed.get(step.name, step)).last
            if new.result == step.result:  # the very same matrix: what rests on it need not be worked out again
                new = replace(new, result=step.result)
            else:
                differing.add(step.name)
            step = new
        result = replace(result, steps=(*result.steps, step))
    return result, frozenset(differing)


def _after(of: Op, then: Callable[[Matrix], Matrix]) -> ReplacementOp:
    """An operation with something done to its result in the same line."""
    return ReplacementOp(of, lambda own, *matrices: then(own.apply(*matrices)))


def _scaled(*stems: str, by: Callable[[Value], Value] = lambda divisor: divisor) -> Way:
    """Some lines divided where they are worked out, and the scores not any more."""

    def change(d: Derivation) -> Rewritten:
        found = {}
        for step in d:
            divisor = _divisor(d, step) if step.stem in ("S'", *stems) else None
            if divisor is not None and step.stem == "S'":
                found[step.name] = step.with_op(COPY)
            elif divisor is not None and not step.op.trivial:  # a head's part of the queries is divided with all
                found[step.name] = step.with_op(_after(step.op, Scale(by(divisor)).apply))
        return found

    return change


def _divisor(d: Derivation, step: Step) -> Value | None:
    """What the scores of a head, or those that come of a whole matrix of queries, are divided by."""
    own = StepName.of(step.name)

    def its(scaled: StepName) -> bool:
        same = scaled.place == own.place and own.head in (None, scaled.head) and own.token in (None, scaled.token)
        return same and scaled.stem == "S'"

    return next((other.op.divisor for other in d if isinstance(other.op, Scale) and its(StepName.of(other.name))), None)


def _beside(step: Step) -> str:
    """What follows the stem of a name, and is common to all lines of one head and token: _2 of S_2 and of A_2."""
    return step.name.removeprefix(step.stem)


def _masks(d: Derivation) -> Mapping[str, Step]:
    return {_beside(step): step for step in d if step.stem == "M" and isinstance(step.op, Mask)}


def _hidden(step: Step, mask: Op) -> Step:
    """The line with what the mask hides hidden already."""

    def hide(result: Matrix) -> Matrix:
        mask.shape(result.shape)
        return mask.apply(result)

    return step.with_op(_after(step.op, hide))


def _masked(stem: str) -> Way:
    """The mask in another line."""

    def change(d: Derivation) -> Rewritten:
        masks = _masks(d)
        lines = [step for step in d if _beside(step) in masks and step.stem in (stem, "M")]
        return {s.name: s.with_op(COPY) if s.stem == "M" else _hidden(s, masks[_beside(s)].op) for s in lines}

    return change


def _mask_and_scale_exchanged(d: Derivation) -> Rewritten:
    """M is the mask on the scores themselves, and S' what comes of M."""
    masks, scaled, found = _masks(d), {_beside(s): s for s in d if s.stem == "S'"}, dict[str, Step]()
    for step in d:
        mask, scale = masks.get(_beside(step)), scaled.get(_beside(step))
        if mask is None or scale is None or mask.operands[0].name != scale.name:
            continue
        if step is scale:
            found[step.name] = _hidden(step, mask.op)
        elif step.stem == "M":
            found[step.name] = step.with_operands(*scale.operands)
        elif isinstance(step.op, Softmax):
            found[step.name] = step.with_operands(scale.name)
    return found


MASKED_FIRST = message("The scores were masked before they were scaled.")
WAYS: tuple[tuple[str, Way], ...] = (
    (message("The scores were scaled in the same line as their product."), _scaled("S")),
    (message("The queries were scaled instead of the scores."), _scaled("Q")),
    (
        message("Queries and keys were both scaled, by the root of the divisor, instead of the scores."),
        _scaled("Q", "K", by=square_root),
    ),
    (message("The keys were scaled instead of the scores."), _scaled("K")),
    (MASKED_FIRST, _masked("S'")),
    (MASKED_FIRST, _masked("S")),
    (MASKED_FIRST, _mask_and_scale_exchanged),
)
"""Other methods that are right, each with what is said of it."""

SCORES, WEIGHTS = ("S", "S'", "S_T", "S_cap", "S_B", "M"), ("A", "A_rounded")


def _transposed_scores(script: Script, within: frozenset[str]) -> Iterator[ScriptReading]:
    """K Qᵀ, then everything along columns, and at last its transpose times V."""
    block = {step.name: step for step in script.d if step.name in within and step.stem in SCORES + WEIGHTS}
    if any(step.token is not None for step in script.d) or all(step.stem != "A" for step in block.values()):
        return
    changed = {}
    for step in script.d:
        crosses = [(o.name in block) != (step.name in block) for o in step.operands]
        operands = [o.flipped if turns else o for o, turns in zip(step.operands, crosses, strict=True)]
        if step.name in block:
            turned = step.with_op(step.op.turn())
            changed[step.name] = turned.with_operands(*(operands[::-1] if step.op.reverses else operands))
        elif any(crosses):
            changed[step.name] = step.with_operands(*operands)
    says = message(
        "In the scores, keys are rows and queries are columns, and the softmax is taken along "
        "columns: the weights are the same."
    )
    written = {name: block[name].stem for name in script.written if name in block}
    one_sided = any(_one_sided(script.written[name]) for name, stem in written.items() if stem in SCORES)
    seen = one_sided and not set(WEIGHTS).isdisjoint(written.values())
    for reading in _method(script, changed, says):
        # Transposed scores alone may be a mistake, and symmetric ones say nothing: then what is made of the weights
        # must be there and right as well.
        inside = reading.decisive.intersection(block)
        if inside and (seen or reading.decisive != inside):
            yield replace(reading, decisive=inside) if seen else reading


def _shifted(script: Script) -> Iterator[ScriptReading]:
    """The same number subtracted from every score of a token, which the softmax does not see.

    A single score that is seen could have been moved anywhere: unless other rows were moved, it must have become 0, and
    the largest score of each of them must be 0, as if the largest had been subtracted everywhere.
    """
    scores = {
        step.name: (softmax.name, _moves(script, step) or [])
        for softmax in script.d
        if isinstance(softmax.op, Softmax) and softmax.op.along == "rows" and softmax.name in script.written
        for step in _chain(script, softmax)
        if step.name in script.written
    }
    several = [move for _, moves in scores.values() for move in moves if move.entries > 1]
    moved = any(move.by != 0 for move in several)
    largest_taken_off = all(move.at_most_zero for move in several)
    steps, decisive = dict[str, Step](), set[str]()
    for name, (softmax_name, moves) in scores.items():
        shown = all(m.by == 0 or m.entries > 1 or moved or (largest_taken_off and m.at_most_zero) for m in moves)
        if shown and any(m.by != 0 for m in moves):
            rows = zip(values_of(script.d.value(name)).rows, moves, strict=True)
            shifted = Matrix.of([x if x is NEGATIVE_INFINITY else x + move.by for x in row] for row, move in rows)
            steps[name] = replace(script.d[name], result=shifted, pinned=True)
            decisive |= {name, softmax_name}
    if steps:
        d = replace(script.d, steps=tuple(steps.get(step.name, step) for step in script.d))
        says = message("The same number was subtracted from every score of a token; the weights stay the same.")
        yield ScriptReading(replace(script, d=d), "method", says, frozenset(decisive))


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


def _chain(script: Script, softmax: Step) -> Iterator[Step]:
    """The scores that a softmax is taken of, and those before them up to the products; the nearest first."""
    at, nearest = next(script.sources(softmax), None), True
    while at is not None and (nearest or not isinstance(at.op, MatMul)):
        yield at
        at, nearest = next(script.sources(at), None), False


# ------------------------------------------------------------------------------------------ misread data


def _misread(trace: Trace) -> Iterator[ScriptReading]:
    """One given number read as another one, solved from the first products that use it."""
    for misread in dict.fromkeys(found for step in trace.script.d for found in _solved(trace, step)):
        yield from _with_other_given(trace.script, *misread)


def _solved(trace: Trace, step: Step) -> Iterator[tuple[str, int, int, Value]]:
    """The given numbers that may have been misread, each with what was read, by the first wrong entry of a product.

    A wrong x_ik makes row i of every product X W differ by the same multiple of row k of W; a wrong w_kj makes column j
    differ by a multiple of column k of X.  One single wrong entry is no evidence: that is a slip.
    """
    d, right = trace.script.d, trace.follows(step, trace.carried)
    wrong = [verdict for verdict in trace.verdicts[step.name].values() if verdict.state == "wrong"]
    if len(wrong) < 2 or not isinstance(step.op, MatMul) or step.name in trace.misshapen or right is None:
        return
    r, c, value = wrong[0].i, wrong[0].j, wrong[0].written.value
    if (
        right.shape != trace.script.written[step.name].shape
        or value is None
        or NEGATIVE_INFINITY in (value, right[r, c])
    ):
        return
    first, second = (values_of(o.of(trace.carried[o.name])) for o in step.operands)
    for operand, factors, row in zip(step.operands, (second.T.rows[c], first.rows[r]), (True, False), strict=True):
        if operand.name in d.givens and operand.row is None and operand.column is None:
            given = values_of(d.value(operand.name))
            for k, factor in enumerate(factors):
                if isinstance(factor, RATIONAL) and factor != 0:
                    i, j = ((r, k) if row else (k, c))[:: -1 if operand.transposed else 1]
                    read = given[i, j] + divide(value - right[r, c], factor)
                    if plausible(given, i, j, read):
                        yield operand.name, i, j, read


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
    rows = [list(row) for row in values_of(script.d.value(name)).rows]
    right, rows[i][j] = rows[i][j], value
    try:
        d, _ = _reworked(script.d, {}, {name: Matrix.of(rows)})
    except (InputError, UndecidedError):
        return
    users = frozenset(s.name for s in script.d if any(o.name == name for o in s.operands) and s.name in script.written)
    yield ScriptReading(replace(script, d=d), "misread", "", users, (name, i, j, right, value))


# ------------------------------------------------------------------------------------------ masks


def under_own_masks(script: Script, question: Question, attempt: Attempt) -> Iterator[ScriptReading]:
    """The script with weights that follow from a mask that the student drew or wrote in another part."""
    for step in script.d:
        if isinstance(step.op, Mask) and step.name not in script.asked:
            scores = values_of(script.d.value(step.operands[0].name))
            for keep in _own_masks(question, attempt, step.op):
                masked = {step.name: replace(step.op, keep=keep).apply(scores)}
                yield ScriptReading(replace(script, elsewhere={**script.elsewhere, **masked}), "mask")


def _own_masks(question: Question, attempt: Attempt, mask: Mask) -> Iterator[Keep]:
    """What the student sees and hides otherwise; a row that sees nothing has no weights, and is left as it is."""
    turned = question.problem is not None and question.problem.derivation.orientation == "columns"
    for part in question.parts:
        keep = _keep(part, attempt, mask, turned)
        if len(keep) == len(mask.keep) and keep != mask.keep:
            yield tuple(own if any(own) else right for own, right in zip(keep, mask.keep, strict=True))


def _keep(part: Part, attempt: Attempt, mask: Mask, turned: bool) -> Keep:
    """The mask of a part that asks for the cells of this one, or for its matrix; none where there is none.

    With `turned` a query is a column of the sheet; here it is a row.
    """
    shape = len(mask.keep), len(mask.keep[0])
    hidden = {(i, j) for i, row in enumerate(mask.keep) for j, seen in enumerate(row) if not seen}

    def upright(cells: frozenset[tuple[int, int]]) -> set[tuple[int, int]]:
        return {cell[::-1] for cell in cells} if turned else set(cells)

    match part.answer, attempt.answers.get(part.name):
        case CellsAnswer(asked, cells), Shaded(own) if (
            asked == (shape[::-1] if turned else shape) and upright(cells) == hidden
        ):
            shaded = upright(own)
            return tuple(tuple((i, j) not in shaded for j in range(shape[1])) for i in range(shape[0]))
        case MatrixAnswer(value), Grid() as grid if any(mark.follows == "shading" for mark in part.marks):
            value, grid = (value.T, grid.T) if turned else (value, grid)
            if not grid.shape == value.shape == shape:
                return ()
            marks = {seen: value[i, j] for i, row in enumerate(mask.keep) for j, seen in enumerate(row)}
            own_rows = [[_seen(entry, marks) for entry in row] for row in grid.rows]
            return tuple(tuple(seen is True for seen in row) for row in own_rows if None not in row)
    return ()


def _seen(entry: Entry, marks: Mapping[bool, Value]) -> bool | None:
    """Whether an entry says that its key is seen; None if it says nothing of the kind."""
    if entry.value is None:
        return None
    return next((seen for seen, mark in marks.items() if decide(entry.value, mark).equal), None)


# ------------------------------------------------------------------------------------------ boxes


def misplaced(script: Script, policy: Policy) -> Mapping[str, str]:
    """Map each step in whose box another step's matrix stands to the step whose matrix was written there.

    A matrix belongs to another box if all of it is what the key has there, cut off perhaps, and nothing of the kind
    stands there already.  A single matrix only where it has not even the shape of its box: one that has may have been
    put there by a mistake (scores that were not scaled), several that all stand where others belong hardly were.
    """
    accepts = Accepts(replace(policy, rounding="truncate"), script.exact, script.places, script.memory)

    def belongs(name: str, grid: Grid) -> bool:
        right = values_of(script.d[name].result)
        return grid.shape == right.shape and all(e.readable and accepts(e, right[i, j])[0] for i, j, e in grid.cells())

    asked = [step.name for step in script.d if step.name in script.asked and not script.printed]
    wrong = {name: grid for name in asked if (grid := script.written.get(name)) and not belongs(name, grid)}
    free = [name for name in asked if name not in script.written or name in wrong]
    moves: dict[str, str] = {}
    for name, grid in wrong.items():
        fitting = [other for other in free if other != name and belongs(other, grid)]
        if len(fitting) == 1 and fitting[0] not in moves.values():
            moves[name] = fitting[0]
    stays = set(wrong) - set(moves)
    moves = {name: target for name, target in moves.items() if target not in stays}
    return moves if len(moves) > 1 or any(not script.fitting(name) for name in moves) else {}
