"""Following a script line by line (rules.md 3.4): what is right, what follows from the student's lines, what is wrong.

Three ways in which a line may have been carried on are kept side by side: as it was written, as it was before it was
rounded, and as anything that it may have been rounded from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import inf
from operator import is_

from symattn.derivation.algebra import Entries, Index
from symattn.derivation.derivation import Arithmetic, Derivation, Op, Step, View
from symattn.derivation.misconceptions.base import ReplacementOp
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.windows import Window
from symattn.errors import InputError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Real, Value, decide, indices, values_of
from symattn.exact.bridge import in_intervals
from symattn.exact.intervals import enclose
from symattn.exact.reading import decide_reading
from symattn.exact.rounding import near
from symattn.exact.values import (
    RATIONAL,
    denominator_of,
    has_symbols,
    is_finite,
    numerator_of,
    terms_of,
)
from symattn.formula import Formula, Name
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.report import Cell, Event, Flag, Place, State, Verdict, Way
from symattn.marking.marker.script import Memory, Script, per_token
from symattn.marking.marker.windows import (
    QUOTIENTS,
    LinesByHand,
    LinesInWindows,
    cell,
    claimed,
    holds,
    loose_cell,
    meet,
    to_unit,
    width,
)

LARGEST_SCORE, LARGEST_NUMBER = 2000, 10**100
"""Nothing is followed from a number beyond these, before the softmax and after it: the exponential of a larger score
has more digits than can be worked with."""

FINEST, FINEST_ROOT = 60, 256
"""For bases other than e, scores with a larger denominator are not followed exactly, nor with a power of 2 above the
second number (ALiBi's slopes are powers of 2): 2^0.8165 is no number to go on with exactly.  Windows still hold."""

MOST_TERMS = 60
"""Nor from one with more terms above and below the line together."""

HIDING = -(10**4)
"""A score that is no larger hides as −∞ does: programs write −10⁴, −65504 or −10⁹."""

ON_THE_WAY = Fraction(1, 40)
"""The tolerance for what was rounded on the way, a share of the number where that is above 1: ten of it, a quarter, are
as much as the rounding of small sums to two places makes (`tests/marking/test_right_scripts.py`)."""

SAME_SUM = 1e-9
"""What two sums of a line differ by at most that are one."""

MOST_PLACES = 30
"""Places that are counted: more than machines show."""

Refs = Sequence[tuple[Way, Matrix]]
"""The matrices that a line may be, each with the way that leads to it."""


Judgement = tuple[bool, str, tuple[Flag, ...]]
"""Whether an entry is accepted, how that was decided, and flags."""


@dataclass(frozen=True)
class Accepts:
    """Whether an entry may stand for a value."""

    policy: Policy
    exact: bool
    places: int
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)

    def __call__(self, entry: Entry, value: Value) -> Judgement:
        """Whether it may in any of its readings, how that was decided, and flags."""

        def judged() -> Judgement:
            ways = [self._judged(one, value) for one in entry.readings]
            return next((way for way in ways if way[0]), ways[0])

        return self.memory.memoize("accepts", (self.policy, entry, value), judged)

    def _judged(self, entry: Entry, value: Value) -> Judgement:
        equal, proof = self._equal(entry, value)
        hides = isinstance(entry.value, RATIONAL) and entry.value <= HIDING
        if equal or (value is NEGATIVE_INFINITY and hides):
            return True, proof, ()
        if entry.unit is None or entry.value is None or value is NEGATIVE_INFINITY:
            return False, proof, ()
        rounds, proof = holds(value, entry.value, entry.unit, self.policy.rounding_of(entry))
        exact = self.exact and not isinstance(value, Real)
        return bool(rounds), proof, ("precision",) if rounds and (exact or self.has_too_few_places(entry)) else ()

    def has_too_few_places(self, entry: Entry) -> bool:
        """Whether a decimal has fewer places than were asked for."""
        if entry.reading is not None and entry.reading.places is not None:
            return entry.reading.places < self.places
        return entry.unit is not None and entry.unit > Fraction(1, 10**self.places)

    def _equal(self, entry: Entry, value: Value) -> tuple[bool, str]:
        """Whether the entry is the value, which it may be though it is too large to be multiplied out."""
        if entry.value is not None:
            decision = decide(entry.value, value)
        else:
            assert entry.reading is not None
            decision = decide_reading(entry.reading, value)
        if decision.equal is None and decision.digits is not None:
            return True, message("equal to {digits} digits, not proved", digits=decision.digits)
        return bool(decision.equal), decision.proof


class Trace:
    """One walk through a script.

    `verdicts` has one for every entry of every step that was written or asked; `carried` are the values that later
    lines are worked out from: as written, and what follows where nothing (readable) was written.
    """

    def __init__(
        self, script: Script, policy: Policy, decisive: frozenset[str] = frozenset(), limit: float = inf
    ) -> None:
        """Stops once more than `limit` entries are wrong, or one of a `decisive` step: the trace is `hopeless`."""
        self.script, self.policy, self.decisive, self.limit = script, policy, decisive, limit
        self.accepts = Accepts(policy, script.exact, script.places, script.memory)
        self.verdicts: dict[str, dict[Cell, Verdict]] = {step.name: {} for step in script.d}
        self.events: list[Event] = []
        self.carried: dict[str, AnyMatrix] = dict(script.d.givens)
        self.unrounded: dict[str, AnyMatrix] = dict(script.d.givens)
        self.misshapen: set[str] = set()
        self._windows = LinesInWindows(script, self.carried, self.misshapen, policy)
        self._by_hand = LinesByHand(script, self.carried, self.misshapen)
        self.meant: dict[Place, Value] = {}  # of entries that are explained: their values before they were rounded
        self._kept = script  # with the lines alone that are right somewhere, which a gap is counted from
        self.wrong = 0
        self.hopeless = False
        for step in script.d:
            self._walk(step)
            if self.hopeless:
                return
        self._imply()

    @property
    def every_verdict(self) -> Iterator[Verdict]:
        """The verdicts of all steps."""
        return (verdict for own in self.verdicts.values() for verdict in own.values())

    def at(self, place: Place) -> Verdict | None:
        """The verdict on an entry; None if it was neither written nor asked."""
        return self.verdicts.get(place[0], {}).get(place[1:])

    def put(self, verdict: Verdict) -> None:
        """Write a verdict down, in place of the one that there may be."""
        self.verdicts[verdict.part][verdict.i, verdict.j] = verdict

    def of_event(self, verdict: Verdict) -> Event | None:
        """The event that an entry is due to; None if there is none."""
        return None if verdict.event is None else self.events[verdict.event]

    def accepts_all_of(self, step: str) -> bool:
        """Whether every entry of a step that was judged is accepted."""
        return all(verdict.accepted for verdict in self.verdicts[step].values())

    def collapsed_to_zero(self, name: str) -> bool:
        """Whether all of a matrix is 0 by mistake; rounding alone makes nothing 0."""
        seen = self.unrounded.get(name)
        return seen is not None and not any(values_of(seen)) and any(values_of(self.script.d.value(name)))

    def rests_on_zeros(self, name: str) -> bool:
        """Whether what follows in a step is 0 without any work, and shows nothing: its zeros came of nothing else."""
        step = self.script.step(name)
        return step is not None and any(self._is_nothing(operand.name) for operand in step.operands)

    def _is_nothing(self, name: str) -> bool:
        """Whether a matrix became 0 by no method that has a name, or follows from such a one."""
        if not self.collapsed_to_zero(name):
            return False
        events = [self.of_event(v) for v in self.verdicts.get(name, {}).values() if not v.accepted]
        named = all(event is not None and event.kind == "misconception" for event in events)
        return not named or self.rests_on_zeros(name)

    # -- one step

    def _walk(self, step: Step) -> None:
        if step.name in self.script.elsewhere:
            self.carried[step.name] = self.unrounded[step.name] = self.script.elsewhere[step.name]
            return
        follows, before_rounding = self.follows(step, self.carried), self.follows(step, self.unrounded)
        grid = self.script.written.get(step.name)
        if grid is None:
            for world, value in ((self.carried, follows), (self.unrounded, before_rounding)):
                if value is not None:
                    world[step.name] = value
            for i, j in self._asked_cells(step):
                self.put(Verdict(step.name, i, j, "missing", compared=values_of(step.result)[i, j]))
            return
        known: list[tuple[Way, Matrix | None]] = [
            ("key", values_of(step.result)), ("written", follows), ("unrounded", before_rounding)
        ]  # fmt: skip
        refs: list[tuple[Way, Matrix]] = []
        for way, value in known:  # what follows from a line of another shape may have another shape, too
            if value is not None and value.shape == grid.shape and all(value is not other for _, other in refs):
                refs.append((way, value))
        if not refs:
            self._misfit(step, grid)
            return
        grid = self._taken(step, grid, [matrix for _, matrix in refs])
        printed = self.script.printed.get(step.name, frozenset())
        sound = follows is step.result or before_rounding is step.result or not refs[1:]  # the key follows
        own = self.verdicts[step.name]
        for verdict in self._judge(step, grid, refs, sound):
            if (verdict.i, verdict.j) not in printed:
                own[verdict.i, verdict.j] = verdict
                if verdict.state == "wrong" and step.name in self.decisive:
                    self.hopeless = True
                    return
        if isinstance(step.op, Softmax):
            self._unmixed(step.op, grid, own)
        if wrong := [at for at, verdict in own.items() if verdict.state == "wrong"]:
            self._count(step, len(wrong))
            self.explain(step, grid, wrong)
        self.name_roundings(step, grid)
        self._carry(step, grid, refs)
        self.settle(step, grid)

    def _taken(self, step: Step, grid: Grid, refs: list[Matrix]) -> Grid:
        """The grid with each entry in the reading that is right or follows, if it may be read in several ways."""
        for i, j, entry in grid.cells():
            if len(ways := entry.readings) == 1:
                continue
            right = (one for one in ways if any(self.accepts(one, matrix[i, j])[0] for matrix in refs))
            grid = grid.put(i, j, next(right, entry))
        if grid is not self.script.written[step.name]:
            self.script = self._windows.script = self._by_hand.script = self.script.with_written({step.name: grid})
        return grid

    def _count(self, step: Step, wrong: int) -> None:
        self.wrong += wrong
        self.hopeless |= step.name in self.decisive or self.wrong > self.limit

    def explain(self, step: Step, grid: Grid, wrong: list[Cell]) -> None:
        """Find out what went wrong; here, where only counting is wanted, nothing is asked."""

    def name_roundings(self, step: Step, grid: Grid) -> None:
        """Find out how somebody rounded who is right but for that."""

    def settle(self, step: Step, grid: Grid) -> None:
        """After a step has been judged: what it says about mistakes made before."""

    def follows(self, step: Step, world: Mapping[str, AnyMatrix]) -> Matrix | None:
        """What the step gives from the lines of a world; None if it is not defined there."""
        if any(operand.name not in world for operand in step.operands):
            return None
        own = [world[operand.name] for operand in step.operands]
        right = [self.script.d.value(operand.name) for operand in step.operands]
        if all(map(is_, own, right)):
            return values_of(step.result)
        return self.script.memory.memoize("follows", (step, *own, *right), lambda: self._following(step, own, right))

    def _following(self, step: Step, own: Sequence[AnyMatrix], right: Sequence[AnyMatrix]) -> Matrix | None:
        try:
            operands = [o.of(matrix) for o, matrix in zip(step.operands, own, strict=True)]
        except (InputError, IndexError):  # a row that is not there
            return None
        if isinstance(step.op, Softmax):
            operands = [_raisable(step.op, values_of(operands[0]), values_of(step.operands[0].of(right[0])))]
        result = applied(self.script.d, step, operands)
        return None if result is None else values_of(result)

    def _judge(self, step: Step, grid: Grid, refs: Refs, sound: bool) -> Iterator[Verdict]:
        """The verdict on every entry, row by row."""
        ways, matrices = zip(*refs, strict=True)
        compared: list[tuple[Verdict, Value]] = self.script.memory.memoize(
            ("compared", sound, *ways),
            (self.policy, step, grid, *matrices),
            lambda: [self._compared(step, i, j, grid[i, j], refs, sound) for i, j, _ in grid.cells()],
        )
        judged: dict[Cell, Verdict] = {}
        coarse: dict[Cell, Verdict] = {}  # those that no line before explains as it was written, as they were judged
        for verdict, last in compared:
            i, j, entry = verdict.i, verdict.j, verdict.written
            in_window = verdict.state == "wrong" and self._in_window(step, i, j, entry)
            if in_window or (verdict.state == "wrong" and self.explained_by_intermediate_rounding(step, i, j, entry)):
                flags = self._of_rounding(step, i, j, entry, refs)
                if "rounded" in flags and not in_window:
                    coarse[i, j] = verdict
                verdict = Verdict(step.name, i, j, "follows", entry, last, None, "window", "window", flags)
            judged[i, j] = verdict
        for at in self._apart(step, grid, judged, coarse) if coarse else ():
            judged[at] = coarse[at]
        yield from judged.values()

    def _apart(
        self, step: Step, grid: Grid, judged: Mapping[Cell, Verdict], coarse: Collection[Cell]
    ) -> Collection[Cell]:
        """The coarse entries that rounding on the way gives alone, but not beside the others of their lines.

        A sum of powers, a root or a mean is one number for a whole line.  Who knows the sum of a line, as that of
        weights, may have written what the others leave of it.
        """
        right = values_of(step.result)
        cells: dict[Cell, Window] = {}
        for at, verdict in judged.items():
            value, unit = verdict.written.value, verdict.written.unit
            if verdict.accepted and isinstance(value, RATIONAL) and unit is not None and not _has_sum(grid, right, at):
                cells[at] = loose_cell(value, unit)
        return self._by_hand.apart(step, cells, frozenset(cells.keys() - set(coarse)))

    def _compared(self, step: Step, i: int, j: int, entry: Entry, refs: Refs, sound: bool) -> tuple[Verdict, Value]:
        """What an entry is beside the values that it may be, and the last of these; nothing is said of roundings."""
        judged = partial(Verdict, step.name, i, j)
        values = [(way, matrix[i, j]) for way, matrix in refs]
        first = last = values[0][1]
        if not entry.readable:
            return judged("missing" if entry.blank else "unreadable", entry, first), last
        proof = ""
        tried: list[Value] = []
        for way, last in values:
            if any(last is other for other in tried):
                continue
            tried.append(last)
            accepted, proof, flags = self.accepts(entry, last)
            if accepted:
                if way == "key" and not sound and not any(self.accepts(entry, other)[0] for _, other in values[1:]):
                    flags = (*flags, "recovered")
                return judged("correct" if way == "key" else "follows", entry, last, None, way, proof, flags), last
        way, value = next((ref for ref in values if ref[0] == "written"), values[0])
        return judged("wrong", entry, value, None, way, proof), tried[-1]

    def _unmixed(self, op: Softmax, grid: Grid, own: dict[Cell, Verdict]) -> None:
        """Weights of one token go together: a row that is right in part, and follows in part, is neither."""
        across = 0 if op.along == "rows" else 1
        for line in range(grid.shape[across]):
            verdicts = {at: v for at, v in own.items() if at[across] == line}
            right = [at for at, v in verdicts.items() if "recovered" in v.flags]
            follows = [at for at, v in verdicts.items() if v.state == "follows"]
            if right and follows:
                for at in right if len(right) <= len(follows) else follows:
                    own[at] = replace(own[at], state="wrong", flags=())

    def _asked_cells(self, step: Step) -> Iterator[Cell]:
        if step.name in self.script.asked and isinstance(step.result, Matrix):
            printed = self.script.printed.get(step.name, frozenset())
            yield from (cell for cell in indices(step.result.shape) if cell not in printed)

    def _misfit(self, step: Step, grid: Grid) -> None:
        """A matrix of another shape: nothing of it is right, and what follows can be worked out only if it fits."""
        self.misshapen.add(step.name)
        self._count(step, sum(1 for _ in self._asked_cells(step)))
        for i, j in self._asked_cells(step):
            entry = grid.get(i, j)
            state: State = "missing" if entry.blank else "wrong"
            self.put(Verdict(step.name, i, j, state, entry, values_of(step.result)[i, j], proof="shape"))
        self.explain(step, grid, [(i, j) for i, j, entry in grid.cells() if entry.readable])
        values = [[e.value for e in row if e.value is not None and self._may_be_followed(step, e)] for row in grid.rows]
        if all(len(row) == grid.shape[1] for row in values):
            self.carried[step.name] = self.unrounded[step.name] = self.script.memory.matrix(values)

    def _carry(self, step: Step, grid: Grid, refs: Refs) -> None:
        """What later lines go on with: as it was written, and as it was before it was rounded."""
        pairs = [self._carried_on(step, i, j, entry, refs) for i, j, entry in grid.cells()]
        columns, result = grid.shape[1], values_of(step.result)
        for world, values in zip((self.carried, self.unrounded), zip(*pairs, strict=True), strict=True):
            if grid.shape == result.shape and all(map(is_, values, result)):
                world[step.name] = result
            else:
                rows = (values[k : k + columns] for k in range(0, len(values), columns))
                world[step.name] = self.script.memory.matrix(rows)

    def _carried_on(self, step: Step, i: int, j: int, entry: Entry, refs: Refs) -> tuple[Value, Value]:
        """What an entry is gone on with, as it was written and before it was rounded."""
        verdict, first = self.verdicts[step.name].get((i, j)), refs[0][1]
        if verdict is None:  # it was printed
            return first[i, j], first[i, j]
        follows = next((matrix for way, matrix in refs if way == "written"), first)[i, j]
        if not entry.readable or not self._may_be_followed(step, entry):
            return follows, follows
        compared = verdict.compared
        before = compared if verdict.accepted else self.meant.get(verdict.place, in_intervals(entry.value))
        if verdict.way == "written":  # it may stand for what came before, too
            wholes = (matrix[i, j] for way, matrix in refs if way == "unrounded")
            before = next((whole for whole in wholes if self.accepts(entry, whole)[0]), before)
        as_written = entry.unit is not None and compared is not NEGATIVE_INFINITY
        own = in_intervals(entry.value) if as_written or not verdict.accepted else compared
        if entry.unit is None and not verdict.accepted and before is not NEGATIVE_INFINITY:
            before = own  # nothing was rounded
        return follows if own is None else own, follows if before is None else before

    def _may_be_followed(self, step: Step, entry: Entry) -> bool:
        """Whether later lines may rest on an entry: not on a huge number."""
        if entry.value is None or (self._in_decimals and has_symbols(entry.value)):
            return False
        return modest(entry.value, LARGEST_SCORE if step.name in self._before_softmax else LARGEST_NUMBER)

    @cached_property
    def _in_decimals(self) -> bool:
        """Whether numbers are known by decimals with proof, to which no letter can be added."""
        results = (step.result for step in self.script.d if isinstance(step.result, Matrix))
        return any(isinstance(x, Real) for matrix in results for x in matrix)

    @cached_property
    def _before_softmax(self) -> frozenset[str]:
        softmaxes = (step for step in self.script.d if isinstance(step.op, Softmax))
        return frozenset[str]().union(*(self.script.depends(step) for step in softmaxes))

    # -- windows

    def _in_window(self, step: Step, i: int, j: int, entry: Entry) -> bool:
        """Whether the entry may follow from numbers that the lines before may be rounded from, narrowly enough."""
        span = self._windows.at(step, i, j)
        if span is None or not span.bounded or entry.value is None or entry.value is NEGATIVE_INFINITY:
            return False
        own = cell(entry.value, entry.unit, self.policy.rounding_of(entry))
        narrow = 0 < width(span) <= self.policy.widest_window * self.script.tolerance
        return own is not None and narrow and meet(own, span)

    def explained_by_intermediate_rounding(self, step: Step, i: int, j: int, entry: Entry) -> bool:
        """Whether somebody comes to an entry who is right and rounds on the way, however coarsely."""
        if entry.value is None or entry.unit is None or entry.value is NEGATIVE_INFINITY or has_symbols(entry.value):
            return False
        own = loose_cell(entry.value, entry.unit)
        widest = self.policy.widest_window * ON_THE_WAY * max(Fraction(1), abs(Fraction(own.high)))
        grid = self.script.written[step.name]
        shown = _places_shown(entry)
        if not isinstance(step.op, QUOTIENTS):
            shown = self.script.memory.memoize(
                "shown", (grid,), lambda: max(_places_shown(e) for *_, e in grid.cells())
            )
        return self._by_hand.reaches(step, i, j, own, widest, shown)

    def _of_rounding(self, step: Step, i: int, j: int, entry: Entry, refs: Refs) -> tuple[Flag, ...]:
        """What is to be said of an entry that only rounding explains, beside the values that it may be.

        Nothing where it is what the lines before give as they are written, but for what was rounded on the way to its
        own places; nor where the places that are shown explain it, and a value that was not rounded would round as it
        does, one place before.
        """
        assert entry.value is not None
        flags: tuple[Flag, ...] = ("precision",) if self.script.exact or self.accepts.has_too_few_places(entry) else ()
        if entry.unit is None:
            return flags
        own, claim = loose_cell(entry.value, entry.unit), claimed(entry.value, entry.unit)
        points = [(way, point) for way, matrix in refs if (point := cell(matrix[i, j], None)) is not None]
        if any(way == "written" and meet(own, to_unit(point, entry.unit)) for way, point in points):
            return flags
        meant = any(way != "written" and meet(claim, point) for way, point in points)
        span = self._windows.at(step, i, j, entry.unit) if meant else None
        return flags if span is not None and meet(own, span) else (*flags, "rounded")

    # -- what was left out

    def _imply(self) -> None:
        """What was not written, and stands behind a later line that is right, counts as known (3.9)."""
        accepted = {verdict.part for verdict in self.every_verdict if verdict.accepted}
        self._kept = replace(self.script, written={n: g for n, g in self.script.written.items() if n in accepted})
        for step in (one for one in reversed(self.script.d.steps) if one.name not in self.script.in_doubt):
            for verdict in list(self.verdicts[step.name].values()):
                if verdict.state == "missing" and self._known(step, verdict.i, verdict.j):
                    self.put(replace(self._implied(step, verdict), proof="a later line"))

    def _implied(self, step: Step, missing: Verdict) -> Verdict:
        """The verdict on an entry that was not written and is known: right, or what follows from the lines before."""
        own, at = self.unrounded.get(step.name), (missing.i, missing.j)  # rounding alone is no mistake
        if not isinstance(own, Matrix) or own.shape != step.result.shape or own is step.result:
            return replace(missing, state="implied")
        right, value = values_of(step.result)[at], own[at]
        if value is right or decide(value, right).equal is True:
            return replace(missing, state="implied")
        return replace(missing, state="implied", way="written", compared=value)

    def _known(self, step: Step, i: int, j: int) -> bool:
        """Whether what rests on this entry in the next lines was written and shows that it was right.

        One wrong entry among several that rest on it is a mistake of its own, recognised or not.
        """
        if any(step.name in event.charged or step.name in event.spoilt for event in self.events):
            return False
        resting = [self.at(place) for place in self._resting(step, i, j)]
        astray = sum(1 for verdict in resting if not self._rightly_begun(verdict))
        written = all(verdict is not None and verdict.state != "missing" for verdict in resting)
        return bool(resting) and (astray == 0 or (astray == 1 and len(resting) > 2 and written))

    def _rightly_begun(self, verdict: Verdict | None) -> bool:
        """Whether an entry shows that what it rests on was right: right, or spoilt by a wrong method there."""
        if verdict is None or (verdict.state == "follows" and self.rests_on_zeros(verdict.part)):
            return False
        event = self.of_event(verdict)
        method_there = event is not None and event.kind == "misconception" and event.step == verdict.part
        return verdict.accepted or method_there

    def _resting(self, step: Step, i: int, j: int) -> Iterator[Place]:
        """The entries of later steps that are worked out from entry (i, j), two steps left out at most."""
        for later, places in self._uses(step, i, j):
            known = [place for place in places if self.at(place) is not None]
            if known:
                if later.name in self._kept.written and self._kept.gap(later) > 2:
                    yield ("", 0, 0)  # too much was left out: nothing is implied
                yield from known
            else:
                for place in places:
                    yield from self._resting(later, place[1], place[2])

    def _uses(self, step: Step, i: int, j: int) -> Iterator[tuple[Step, list[Place]]]:
        """The steps that entry (i, j) goes into, with the entries that it has a part in."""
        for later in self.script.d:
            for position, operand in enumerate(later.operands):
                if operand.name != step.name or not isinstance(later.result, Matrix):
                    continue
                if operand.row in (None, i) and operand.column in (None, j):
                    row, column = (0 if operand.row is not None else i), (0 if operand.column is not None else j)
                    used = (position, column, row) if operand.transposed else (position, row, column)
                    yield later, [(later.name, r, c) for r, c in self._resting_on(later).get(used, ())]

    def _resting_on(self, step: Step) -> Mapping[tuple[int, int, int], Sequence[Cell]]:
        shapes = tuple(values_of(matrix).shape for matrix in self.script.d.operands(step))
        return self.script.memory.memoize(("resting", shapes), (step,), lambda: rests_on(step.op, shapes))

    def carried_on(self, place: Place, *, seen_to_be: bool = False) -> bool:
        """Whether nothing was written after an entry but what follows from it, and so far as that is to be seen, not
        from the key as well.
        """
        step, (i, j) = self.script.d[place[0]], place[1:]
        entry = self.script.written[step.name][i, j] if step.name in self.script.written else BLANK
        from_it = entry.readable and self._may_be_followed(step, entry)
        written, shows = False, False
        seen, todo = {place}, [place]
        while todo:
            name, i, j = todo.pop()
            for after in (after for _, places in self._uses(self.script.d[name], i, j) for after in places):
                verdict = self.at(after)
                if verdict is None or verdict.state in ("missing", "implied"):
                    todo += [after] if after not in seen else []
                    seen.add(after)
                elif not from_it or not self._follows_too(verdict):
                    return False
                else:
                    written, shows = True, shows or verdict.state == "follows"
        return shows or not written or not seen_to_be

    def _follows_too(self, verdict: Verdict) -> bool:
        """Whether an entry follows from what was written before it, though it may equal the key as well."""
        own = self.follows(self.script.d[verdict.part], self.carried) if verdict.state == "correct" else None
        if own is None:
            return verdict.state == "follows"
        inside = verdict.i < own.shape[0] and verdict.j < own.shape[1]
        return inside and self.accepts(verdict.written, own[verdict.i, verdict.j])[0]


def rests_on(op: Op, shapes: tuple[tuple[int, int], ...]) -> Mapping[tuple[int, int, int], Sequence[Cell]]:
    """The entries of a result that rest on entry (i, j) of operand k: those whose working has it."""
    found: dict[tuple[int, int, int], list[Cell]] = {}
    used: set[tuple[int, int, int]] = set()

    def operand(k: int, shape: tuple[int, int]) -> View:
        def entry(i: Index, j: Index) -> Formula:
            assert isinstance(i, int) and isinstance(j, int)
            used.add((k, i, j))
            return Name("x")

        return Entries(shape, entry)

    views = [operand(k, shape) for k, shape in enumerate(shapes)]
    rows, columns = op.shape(*shapes)
    assert isinstance(rows, int) and isinstance(columns, int)
    for i in range(rows):
        for j in range(columns):
            used.clear()
            op.working(i, j, *views)
            for place in used:
                found.setdefault(place, []).append((i, j))
    return found


def _places_shown(entry: Entry) -> int:
    """The places of a decimal without zeros at its end; 0 for what is none, of which nothing is known."""
    value, unit = entry.value, entry.unit
    if unit is None or not isinstance(value, RATIONAL) or (value / unit).denominator != 1:
        return 0
    return next((places for places in range(MOST_PLACES) if 10**places % value.denominator == 0), MOST_PLACES)


def _has_sum(grid: Grid, right: Matrix, at: Cell) -> bool:
    """Whether the row or the column of an entry has the very sum of the right one."""

    def same(own: Sequence[Entry], due: Sequence[Value]) -> bool:
        numbers = [near(entry.value) for entry in own if isinstance(entry.value, RATIONAL)]
        return len(numbers) == len(due) > 1 and abs(sum(numbers) - sum(map(near, due))) < SAME_SUM

    return same(grid.rows[at[0]], right.rows[at[0]]) or same(grid.T.rows[at[1]], right.T.rows[at[1]])


def _raisable(softmax: Softmax, scores: Matrix, right: Matrix) -> Matrix:
    """Scores with the right ones for every token that has no weights: that sees nothing, or has too large a score."""
    if scores.shape != right.shape:
        return scores

    def has_weights(row: Sequence[Value]) -> bool:
        seen = softmax.empty != "undefined" or any(x is not NEGATIVE_INFINITY for x in row)
        return seen and may_be_raised(softmax, Matrix.of([row]))

    lines = zip(per_token(softmax, scores).rows, per_token(softmax, right).rows, strict=True)
    return per_token(softmax, Matrix.of([row if has_weights(row) else other for row, other in lines]))


def may_be_raised(softmax: Softmax, scores: Matrix) -> bool:
    """Whether the powers of these scores can be worked with exactly."""
    if not all(map(modest, scores)):
        return False
    return softmax.base == "e" or not any(isinstance(x, Fraction) and _is_too_fine(x.denominator) for x in scores)


def _is_too_fine(denominator: int) -> bool:
    is_root_of_roots = denominator & (denominator - 1) == 0
    return denominator > (FINEST_ROOT if is_root_of_roots else FINEST)


def modest(x: Value, largest: int = LARGEST_SCORE) -> bool:
    """Whether a number is of a size that one can go on with; of what has symbols, whether it is short enough."""
    if isinstance(x, RATIONAL):
        return -largest <= x <= largest
    if x is NEGATIVE_INFINITY:
        return True
    if has_symbols(x):  # no interval holds it, but it can be compared exactly
        return bool(x.count_ops() <= MOST_TERMS)
    if is_finite(x) and len(terms_of(numerator_of(x))) + len(terms_of(denominator_of(x))) > MOST_TERMS:
        return False
    try:
        size = enclose(x, 9)
    except InputError:  # a decimal that is carried on, of something with a letter in it
        return False
    return bool(size.low >= -largest and size.high <= largest)


def continued(
    d: Derivation, lines: Mapping[str, AnyMatrix], memory: Memory | None = None, until: str | None = None
) -> Derivation:
    """The derivation with some lines pinned as they were written, and the others worked out from them, `until` one.

    What is not defined there stays as it is in the derivation: somebody may have gone on in another way.  Lines that
    rest on nothing that was written otherwise are shared.
    """
    memory = memory or Memory()
    steps, other = list[Step](), dict[str, AnyMatrix]()
    for k, step in enumerate(d):
        if steps and steps[-1].name == until:
            return replace(d, steps=(*steps, *d.steps[k:]))
        result, pinned = lines.get(step.name, step.result), step.name in lines
        if not pinned and any(operand.name in other for operand in step.operands):
            rests_on = [other.get(operand.name, d.value(operand.name)) for operand in step.operands]
            follows = memory.memoize("continued", (step, *rests_on), partial(worked_out, d, step, rests_on))
            result, pinned = (step.result, True) if follows is None else (follows, False)
            other[step.name] = result
        elif result is not step.result:
            other[step.name] = result
        same = result is step.result and pinned == step.pinned
        steps.append(step if same else replace(step, result=result, pinned=pinned))
    return replace(d, steps=tuple(steps))


def worked_out(
    d: Derivation, step: Step, rests_on: Sequence[AnyMatrix], arithmetic: Arithmetic | None = None
) -> AnyMatrix | None:
    """What a line of a derivation becomes after other lines; None where it is not defined."""
    try:
        operands = zip(step.operands, rests_on, strict=True)
        return applied(d, step, [o.of(d.as_seen(o.name, matrix)) for o, matrix in operands], arithmetic)
    except (InputError, IndexError):  # a row that is not there
        return None


def applied(
    d: Derivation, step: Step, matrices: Sequence[AnyMatrix], arithmetic: Arithmetic | None = None
) -> AnyMatrix | None:
    """What a step gives for its operands; None where it is not defined, or raises to powers that are too large."""
    softmax = step.op.of if isinstance(step.op, ReplacementOp) else step.op
    if isinstance(softmax, Softmax) and not may_be_raised(softmax, values_of(matrices[0])):
        return None
    try:
        return step.applied(matrices, arithmetic or d.arithmetic)
    except (InputError, UndecidedError, IndexError):  # other shapes, or not defined for these values
        return None
