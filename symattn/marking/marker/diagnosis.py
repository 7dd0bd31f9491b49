"""Which mistake it was (rules.md 2.5): every misconception and every slip is tried on the student's own lines.

A misconception is kept if it gives every entry that was written.  Where several do, all are named; what the student
wrote later decides between them as soon as it can.  Where no one cause has a name and one rule gives every entry of a
line, that is one mistake without a name, and never a slip in each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, islice, product
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, get_args

from symattn.derivation.derivation import Arithmetic, Derivation, Step
from symattn.derivation.misconceptions import misconception, misconceptions_in
from symattn.derivation.misconceptions.base import (
    COPY,
    MatrixwiseDerivation,
    Misconception,
    Rewritten,
    is_short_enough,
    rewritten_everywhere,
)
from symattn.derivation.ops.attention import Softmax
from symattn.errors import InputError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Value, has_symbols, largest_remainder
from symattn.exact.rounding import near
from symattn.exact.values import RATIONAL
from symattn.marking.attempt import Entry, Grid
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.report import Candidate, Cell, Event, Flag, Kind, Place, State, Verdict
from symattn.marking.marker.script import Memory, Script, per_token
from symattn.marking.marker.trace import HIDING, Trace, continued, worked_out

if TYPE_CHECKING:  # slips are looked for where no misconception explains a line
    from symattn.derivation.slips import PossibleSlips, Slipped
    from symattn.derivation.varied import Cause

ROUNDING = ("R2", "R3", "R4", "R6")
"""Misconceptions that cost precision and not method (rules.md 3.5)."""

REPEATED = "A19"
"""The slip of whoever copies a line from above, or from beside: that takes no belief about the step."""

COINCIDENCE = 2
"""Most entries that a copy, a constant or two misconceptions together may give by accident."""

LAST_RESORT = ("A9", "A10")
"""Slips that are named only if nothing else fits."""

LONGEST_GAP = 2
"""Most steps in a row that may be left out and still be implied (rules.md 3.9)."""

MOST_ATTEMPTS = 4
"""Diagnoses from the start, each without what later lines spoke against in those before."""

LOOSE = 4
"""How many units of its last place a wrong entry may be off what explains it, where numbers were rounded before."""

SAME = 1e-8
"""Or the share of its size: of a dozen places, more of the last ones are lost on the way."""

NEAR = 1e-6
"""Slips that lead farther away than this are not compared exactly; the error of floats is far smaller."""

MOST_PAIRS = 100
"""Compositions of two misconceptions that are tried on one step (rules.md 3.9)."""


Extent = Literal["all", "some lines", "all but one", ""]
"""How much of what is wrong in a line something explains, and nothing else: all of it; all of it, which fills whole
rows or columns, where somebody has the others right; all of it but one entry; less."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What somebody with a misconception writes in a line, and how much of what was written that explains.

    `changes` are what they write differently, after the student's own `lines`; `charged` is the step that it costs.
    `sum_adjusted` are entries that fit only if rows of weights were rounded so that they sum to 1, which is a likely
    way to get them and earns nothing where it was not declared.
    """

    misconception: Misconception
    lines: StudentDerivation
    changes: Rewritten
    value: Matrix
    charged: str
    extent: Extent
    rejected: Collection[Cell] = ()
    sum_adjusted: Collection[Cell] = ()
    also: Misconception | None = None


T = TypeVar("T")


class SlipFit(NamedTuple):
    """Wrong entries that one slip explains, with what they are after it, and the slips that may have been made."""

    values: Mapping[Cell, Value]
    candidates: list[Candidate]


class Part(NamedTuple):
    """What a misconception has to do with a line: the step that it is charged to, and what it changes there."""

    charged: str
    changes: Rewritten


class Explanations(NamedTuple):
    """The misconceptions that explain a line, by how much of it, the likeliest first; and slips."""

    fits: Mapping[Extent, list[Fit]]
    slips: list[SlipFit]


class MisconceptionChanges:
    """What misconceptions do to the steps of a derivation: the same wherever matrices have the same shapes."""

    def __init__(self, own: Derivation, memory: Memory) -> None:
        self.own, self.memory = own, memory
        self._matrixwise = MatrixwiseDerivation(own)
        self.laid = self._matrixwise.rows
        self.places: Mapping[str, int] = {step.name: k for k, step in enumerate(self.laid)}
        self.parts, self.read = cache(self._parts), cache(self._lines_read)

    def named(self, step: Step) -> str | None:
        """What the step is called where all is laid out matrix by matrix."""
        return next((name for name in (step.name, step.role) if name in self.places), None)

    def _parts(self, steps: tuple[str, ...]) -> Mapping[str, Part]:
        """What each misconception has to do with these steps, the last of which was written; none that has nothing."""
        names, found = {step: self.named(self.own[step]) for step in steps}, dict[str, Part]()
        for id, rewritten in self._rewritten.items():
            if changed := {step: name for step, name in names.items() if name in rewritten}:
                found[id] = Part(next(iter(changed)), {name: rewritten[name] for name in changed.values() if name})
        return found

    def _lines_read(self, steps: tuple[str, ...]) -> frozenset[str]:
        """The lines that somebody may look at who works these steps out, rightly or with a misconception."""
        changes = [part.changes for part in self.parts(steps).values()]
        worked = [*(self.own[name] for name in steps), *(step for changed in changes for step in changed.values())]
        if places := [self.places[name] for changed in changes for name in changed]:
            worked += self.laid.steps[min(places) : max(places) + 1]
        read = {operand.name for step in worked for operand in step.operands}
        return frozenset(step.name for step in self.own if not read.isdisjoint((step.name, step.role)))

    @cached_property
    def _rewritten(self) -> Mapping[str, Rewritten]:
        """What somebody who believes a misconception writes differently, for each that has a place."""
        changes = {id: self._written_differently(m) for id, m in misconceptions_in(self.laid).items()}
        return {id: rewritten for id, rewritten in changes.items() if rewritten}

    def _written_differently(self, m: Misconception) -> Rewritten:
        try:
            found = rewritten_everywhere(self.laid, m.change, self._matrixwise.parts) or {}
        except (InputError, UndecidedError):
            return {}
        for step in found.values():
            self.memory.adopt(step)
            self.memory.intern(step.op)
        return found


class StudentDerivation:
    """The student's own lines before a step, laid out matrix by matrix, and what follows from them."""

    def __init__(self, own: Derivation, memory: Memory, beliefs: MisconceptionChanges) -> None:
        self.own, self.memory, self.beliefs = own, memory, beliefs

    @cached_property
    def laid(self) -> Derivation:
        return MatrixwiseDerivation(self.own).rows

    def given_by(self, step: Step, changes: Rewritten, arithmetic: Arithmetic | None = None) -> Matrix | None:
        """What a step becomes with some lines written differently; None if it is not defined.

        Of decimals with proof, for which `arithmetic` may ask, floats are made much more quickly.
        """
        name = self.beliefs.named(step)
        if name is None or not changes:
            return None
        value = self.memory.memoize(
            ("given", name, arithmetic),
            (self, *changes.values()),
            lambda: self._followed(name, changes, arithmetic),
        )
        if value is None or step.token is None or name == step.name:
            return value
        if step.token > value.shape[0]:  # another product, with fewer rows
            return None
        own = value.row(step.token - 1)
        return own if step.result.shape[0] == 1 else own.T  # scores may stand in a column

    def _followed(self, name: str, changes: Rewritten, arithmetic: Arithmetic | None) -> Matrix | None:
        """A line with some before it written differently; an operation is worked out once for the same operands."""
        lines: dict[str, AnyMatrix] = {}  # those that become other ones
        first = min(self.beliefs.places[changed] for changed in changes)
        for line in self.laid.steps[first : self.beliefs.places[name] + 1]:
            new = changes.get(line.name, line)
            if new is not line or not lines.keys().isdisjoint(operand.name for operand in line.operands):
                operands = [self._value(operand.name, line, lines) for operand in new.operands]
                places = [(o.transposed, o.row, o.column) for o in new.operands]
                result = self.memory.memoize(
                    ("result", arithmetic, *places),
                    (self.memory.intern(new.op), *operands),
                    partial(self._result, new, operands, arithmetic or self.laid.arithmetic),
                )
                if result is None:
                    return None
                lines[line.name] = result
        value = lines.get(name, self.laid.value(name))
        return value if isinstance(value, Matrix) else None

    def _value(self, name: str, line: Step, lines: Mapping[str, AnyMatrix]) -> AnyMatrix | None:
        """What a line rests on, as it became or as it is; None if nothing before it has that name."""
        if name in lines:
            return lines[name]
        places = self.beliefs.places
        there = name in self.laid.givens or places.get(name, len(places)) < places[line.name]
        return self.laid.value(name) if there else None

    def _result(self, step: Step, operands: Sequence[AnyMatrix | None], arithmetic: Arithmetic) -> AnyMatrix | None:
        """What a line becomes; None where it is not defined, or longer than anybody writes."""
        rests_on = [matrix for matrix in operands if matrix is not None]
        result = worked_out(self.laid, step, rests_on, arithmetic) if len(rests_on) == len(operands) else None
        return result if all(map(is_short_enough, result if isinstance(result, Matrix) else ())) else None


def _laid(script: Script, own: Mapping[str, AnyMatrix], until: str | None) -> StudentDerivation:
    """These lines of a script and what follows from them, `until` one."""
    memory = script.memory.of((script.d, *own.values()))

    def worked_out() -> StudentDerivation:
        d = continued(script.d, own, memory, until)
        return StudentDerivation(d, memory, _beliefs(script, d))

    return memory.memoize(("lines", until, *own), (script.d, *own.values()), worked_out)


def _beliefs(script: Script, d: Derivation) -> MisconceptionChanges:
    """What misconceptions do to a script's derivation where matrices have the shapes that they have in `d`."""
    shapes = [step.result.shape for step in d]
    alike = shapes == [step.result.shape for step in script.d]
    memory = script.memory.of([script.d]) if alike else script.memory
    things = (script.d,) if alike else (script.d, memory)
    return memory.memoize(("beliefs", *shapes), things, lambda: MisconceptionChanges(script.d if alike else d, memory))


class Diagnosis(Trace):
    """A trace that finds out what went wrong."""

    def __init__(
        self,
        script: Script,
        policy: Policy,
        excluded: frozenset[tuple[str, str]] = frozenset(),
        as_written: bool = False,
    ) -> None:
        """`excluded` are explanations that later lines speak against, each with the step that it was thought of at.

        Of several explanations, the likeliest is charged; `as_written`, one that is charged to a line that was written.
        """
        self.excluded, self.dismissed, self.misjudged = excluded, set(excluded), False
        self.as_written, self.disagrees = as_written, False
        self._seen: dict[str, Sequence[StudentDerivation]] = {}
        self._loose = False
        self.beliefs = _beliefs(script, script.d)
        self._assumed: set[str] = set()  # steps left out, carried on as somebody with a misconception has them
        self.has_fits = False  # whether a misconception comes near to any line
        super().__init__(script, policy)

    @property
    def without_beliefs(self) -> bool:
        """Whether no misconception explains anything, nor comes near to it."""
        beliefs = (c for event in self.events for c in event.candidates if c.kind == "misconception")
        return not (self.has_fits or self.excluded or self.misshapen or any(beliefs))

    def left_out_with(self, event: Event) -> frozenset[str]:
        """The steps that the step charged is handed on by, where a misconception leaves it out and these with it: β
        with γ.
        """
        id, charged = event.candidates[0].id, event.step
        known = {charged}
        for step in self.script.d:
            part = self.beliefs.parts((step.name,)).get(id)
            copied = part is not None and all(changed.op == COPY for changed in part.changes.values())
            if step.name == charged and not copied:
                break
            if copied and step.operands[0].name in known:
                known.add(step.name)
        return frozenset(known - {charged})

    # -- what is asked of a trace

    def explain(self, step: Step, grid: Grid, wrong: list[Cell]) -> None:
        """First what gives the very entries; where numbers were rounded before, then what comes as near as that may."""
        for loose in (False, True) if self.script.is_rounded_before(step) else (False,):
            self._loose = loose
            if self._continued(step, grid, wrong):
                break
            found = self._explanations(step, grid, wrong)
            if self._explained_by_one(step, wrong, found):
                break
        else:
            self._explained_by_several(step, grid, wrong, found)
        self._loose = False

    def _explanations(self, step: Step, grid: Grid, wrong: list[Cell]) -> Explanations:
        fits = self._fits(step, grid, wrong)
        single = len(wrong) == 1 and len(self._readable(step, grid)) > 1 and step.name not in self.misshapen
        return Explanations(fits, self._slipped(step, grid, wrong) if single or not fits["all"] else [])

    def _explained_by_one(self, step: Step, wrong: list[Cell], found: Explanations) -> bool:
        """Whether one cause explains everything; then it is charged."""
        fits, partly = found.fits["all"], found.fits["some lines"]
        slips = next((slip.candidates for slip in found.slips if len(slip.values) == len(wrong)), [])
        if fits and slips:
            self._record(step, "slip", [*slips, *_named(fits)], wrong, [step.name])
        elif fits or (partly and all(fit.misconception.id in ROUNDING for fit in partly)):
            self._charge(step, wrong, fits or partly)
        elif partly or slips:
            self._charge_in_part(step, wrong, partly, slips)
        else:
            return False
        return True

    def _explained_by_several(self, step: Step, grid: Grid, wrong: list[Cell], found: Explanations) -> None:
        if pattern := self._once("pattern", step, grid, wrong, lambda: self._pattern(step, grid, wrong)):
            self._record(step, "unknown", [Candidate("unknown", "", pattern)], wrong, [step.name])
        elif nearly := found.fits["all but one"]:
            if (fit := self._continued(step, grid, wrong, "all but one")) is None:
                fit = nearly[0]
                self._charge(step, [c for c in wrong if c not in fit.rejected], nearly)
            self._record(step, "slip", [], fit.rejected, [step.name])
        elif found.slips and not self._is_one_belief(step, grid, wrong, found.slips):
            for slip in found.slips:
                self._record(step, "slip", slip.candidates, slip.values, [step.name])
            if left := set(wrong).difference(*(slip.values for slip in found.slips)):
                self._record(step, "unknown", [], sorted(left), [step.name])
        elif len(wrong) > COINCIDENCE and (pairs := self._possible_pairs(step, grid)):
            self._compose(step, wrong, pairs)
        else:
            kind: Kind = "shape" if step.name in self.misshapen else "unknown"
            self._record(step, kind, [], wrong, [step.name])

    def _is_one_belief(self, step: Step, grid: Grid, wrong: Sequence[Cell], slips: Sequence[SlipFit]) -> bool:
        """Whether a line is so wrong that it is likelier to have one cause without a name than these slips in it, which
        leave most of it unexplained, or are many.
        """
        explained = sum(len(slip.values) for slip in slips)
        left = len(wrong) - explained
        throughout = 2 * len(wrong) > len(self._readable(step, grid))
        return throughout and (left >= explained or len(slips) + (left > 0) > COINCIDENCE)

    def name_roundings(self, step: Step, grid: Grid) -> None:
        """Entries that only coarse rounding on the way explains, where it is a known way: 2.7 for e."""
        own = self.verdicts[step.name].items()
        coarse = [cell for cell, verdict in own if verdict.way == "window" and "rounded" in verdict.flags]
        tried = [self._tried(id, step, grid) for id in ROUNDING] if coarse else []
        fits = [fit for fit in tried if fit is not None and fit.charged == step.name]
        if not fits:
            return
        known = (e for e in self.events if e.kind == "rounding" and e.candidates[0].id == fits[0].misconception.id)
        if (event := next(known, None)) is None:
            self._record(step, "rounding", _named(fits), coarse, [step.name])
        else:
            self._add(event, step, coarse, step.name)

    def settle(self, step: Step, grid: Grid) -> None:
        """Explanations of earlier mistakes that this line contradicts are dropped, as long as one is left."""
        self._loose = True
        for event in list(self.events):
            if len(event.candidates) == 1 or event.part == step.name or event.in_part:
                continue
            if kept := [
                c for c in event.candidates if c.kind != "misconception" or not self._speaks_against(c.id, step, grid)
            ]:
                self._keep(event, kept)
        self._loose = False

    # -- mistakes made before, going on

    def _continued(self, step: Step, grid: Grid, wrong: list[Cell], extent: Extent = "all") -> Fit | None:
        """A misconception that was seen before and explains this line as well: then it is the same mistake.

        Beside the line that it was seen in (K after Q), entries are wrong again; after it, they follow.
        """
        for event in self.events:
            extents = ("all", "some lines") if event.in_part and extent == "all" else (extent,)
            beliefs = (c for c in event.candidates if c.kind == "misconception")
            tried = [(c, self._tried(c.id, step, grid, wrong)) for c in beliefs]
            kept = [(candidate, fit) for candidate, fit in tried if fit is not None and fit.extent in extents]
            if not kept:
                continue
            event, fit = self._keep(event, [candidate for candidate, _ in kept]), kept[0][1]
            spoilt = [c for c in wrong if c not in fit.rejected]
            elsewhere = fit.charged != step.name
            after = elsewhere or bool(self.script.depends(step).intersection(event.charged))
            self._add(event, step, spoilt, *[fit.charged] * (elsewhere or not after))
            self._attribute(step, spoilt, fit, event.number, "follows" if after else "wrong")
            if elsewhere:
                self._assume(step, fit)
            return fit
        return None

    def _speaks_against(self, id: str, step: Step, grid: Grid) -> bool:
        """Whether a line is not what somebody with the misconception writes there."""
        fits = self._in_each_world(id, step, grid, ())
        first = next(fits, None)
        return first is not None and not any(fit.extent for fit in chain([first], fits))

    def _keep(self, event: Event, candidates: list[Candidate]) -> Event:
        """Drop the explanations that what was written later speaks against."""
        self.dismissed |= {(event.part, c.id) for c in event.candidates if c not in candidates}
        if event.candidates[0] not in candidates:
            self.misjudged = True
        self.events[event.number] = kept = replace(event, candidates=tuple(candidates))
        return kept

    def _add(self, event: Event, step: Step, cells: Iterable[Cell], *charged: str) -> None:
        """Entries that a mistake made before has spoilt as well, and perhaps a step that it is charged to."""
        entries = (*event.entries, *((step.name, i, j) for i, j in cells))
        self.events[event.number] = replace(event, entries=entries, charged=(*event.charged, *charged))

    # -- misconceptions

    def _fits(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> Mapping[Extent, list[Fit]]:
        """The misconceptions that explain a line, those that other lines do not speak against.

        Of several, the likeliest; then those charged to the line itself before those that need a line left out, then
        the core.
        """

        def order(fit: Fit) -> tuple[bool, int, bool, bool, bool]:
            elsewhere, m = fit.charged != step.name, fit.misconception
            return self.as_written and elsewhere, PRIOR[m.prior], bool(fit.sum_adjusted), elsewhere, not m.core

        possible = self._possible_fits(step, grid, wrong)
        found: dict[Extent, list[Fit]] = {}
        for extent in get_args(Extent):
            fits = sorted((fit for fit in possible if fit.extent == extent), key=order)
            consistent = [fit for fit in fits if self._consistent(fit, step)]
            found[extent] = consistent if extent == "all but one" else consistent or fits
        if self.policy.rounding == "largest-remainder":  # those that give rows exactly so, if there are any
            found["all"] = [f for f in found["all"] if _by_largest_remainder(grid, f.value)] or found["all"]
        return found

    def _possible_fits(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> list[Fit]:
        """The same whatever the lines before say of them."""
        possible = self._once("fits", step, grid, wrong, lambda: self._all_fits(step, grid, wrong))
        self.has_fits |= bool(possible)
        return possible

    def _all_fits(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> list[Fit]:
        ids = (id for id in self._with_a_part(step) if wrong and (step.name, id) not in self.excluded)
        fits = [fit for id in ids if (fit := self._tried(id, step, grid, wrong)) is not None]
        return [
            fit
            for fit in fits
            if fit.extent == "all"
            or (step.name not in self.misshapen and (fit.extent == "all but one" or fit.charged == step.name))
        ]

    def _once(self, what: str, step: Step, grid: Grid, wrong: Sequence[Cell], work: Callable[[], T]) -> T:
        """What is found out about a line from its entries and the lines that somebody looks at before it."""
        left_out = tuple(other.name for other in self.script.left_out(step))
        excluded = frozenset(id for name, id in self.excluded if name == step.name)
        how = self._loose, step.name in self.misshapen, left_out, excluded
        return self.script.memory.memoize((what, *how, *wrong), (step, grid, *self._worlds(step)), work)

    def _tried(self, id: str, step: Step, grid: Grid, wrong: Collection[Cell] = ()) -> Fit | None:
        """What somebody with the misconception writes in a line; None if that explains too little of what is wrong.

        Of two that fit alike, the one before rounding: later lines may go on from that with more places.
        """
        fits = [fit for fit in self._in_each_world(id, step, grid, wrong) if fit.extent]
        return min(reversed(fits), key=lambda fit: (len(fit.rejected), len(fit.sum_adjusted)), default=None)

    def _in_each_world(self, id: str, step: Step, grid: Grid, wrong: Collection[Cell]) -> Iterator[Fit]:
        """The same in each of the worlds in which the misconception changes a line, but not its shape."""
        worlds = self._worlds(step) if id in self._with_a_part(step) else ()
        parts = ((lines, lines.beliefs.parts(self._up_to(step)).get(id)) for lines in worlds)
        fits = (self._fit(misconception(id), lines, part, step, grid, wrong) for lines, part in parts if part)
        return (fit for fit in fits if fit is not None)

    def _fit(
        self, m: Misconception, lines: StudentDerivation, part: Part, step: Step, grid: Grid, wrong: Collection[Cell]
    ) -> Fit | None:
        """How what follows from changes fits what was written; None if it has another shape, or is not defined.

        In decimals alone where floats show that it explains too little.
        """
        fit = partial(Fit, m, lines, part.changes, charged=part.charged)
        if (value := lines.given_by(step, part.changes, "decimal")) is not None:
            if value.shape != grid.shape:
                return None
            far = self._far(step, grid, value, wrong)
            if far and not _extent(far, wrong):
                return fit(value, extent="", rejected=far)
        if (value := lines.given_by(step, part.changes)) is None or value.shape != grid.shape:
            return None
        rejected = [(i, j) for i, j, entry in self._readable(step, grid) if not self._explains(value[i, j], entry)]
        if rejected and self._rounded_to_sum(step, grid, value):
            return fit(value, extent="all", sum_adjusted=rejected)
        return fit(value, extent=_extent(rejected, wrong), rejected=rejected)

    def _far(self, step: Step, grid: Grid, value: Matrix, wrong: Collection[Cell]) -> list[Cell]:
        """The entries that lie farther from a matrix than any rounding takes them; two that are wrong are enough."""

        def far(cells: Iterable[Cell]) -> Iterator[Cell]:
            return ((i, j) for i, j in cells if self._is_far(grid[i, j], near(value.rows[i][j])))

        readable = far((i, j) for i, j, _ in self._readable(step, grid))
        if not wrong:
            return list(islice(readable, 1))
        spoilt = list(islice(far(wrong), 2))
        return spoilt if len(spoilt) == 2 else list(readable)

    def _is_far(self, entry: Entry, x: float) -> bool:
        if x == -inf:
            return isinstance(entry.value, RATIONAL) and entry.value > HIDING
        return isfinite(x) and not self._nearness(entry)(x)

    def _with_a_part(self, step: Step) -> Collection[str]:
        """The misconceptions that change a step, or one that was left out before it, at all."""
        return self.beliefs.parts(self._up_to(step))

    def _up_to(self, step: Step) -> tuple[str, ...]:
        """The steps that were left out before a step, and this one."""
        return (*(other.name for other in self.script.left_out(step)), step.name)

    def _consistent(self, fit: Fit, step: Step) -> bool:
        """Whether the lines before, which it would have spoilt as well, are as somebody who believes it writes them."""
        skipped = {other.name for other in self.script.left_out(step)}
        for earlier in self.script.d:
            if earlier.name == step.name:
                break
            grid = self.script.written.get(earlier.name)
            if grid is None or earlier.name in skipped:
                continue
            if self._speaks_against(fit.misconception.id, earlier, grid):
                return False
        return True

    def _rounded_to_sum(self, step: Step, grid: Grid, value: Matrix) -> bool:
        """Whether what was written are weights that come of the value, rounded so that each row sums to 1."""
        if not isinstance(step.op, Softmax) or self.script.printed.get(step.name):
            return False
        if any(entry.value is None or entry.value is NEGATIVE_INFINITY for _, _, entry in grid.cells()):
            return False
        return _by_largest_remainder(per_token(step.op, grid), per_token(step.op, value))

    def _explains(self, value: Value, entry: Entry) -> bool:
        """Whether an entry may stand for a value that a mistake leads to."""
        if self.accepts(entry, value)[0]:
            return True
        if not self._loose or entry.unit is None or entry.value is None or value is NEGATIVE_INFINITY:
            return False
        if entry.value is NEGATIVE_INFINITY or has_symbols(value):
            return False
        own = near(entry.value)
        return abs(near(value) - own) <= max(LOOSE * near(entry.unit), SAME * max(1.0, abs(own)))

    def _readable(self, step: Step, grid: Grid) -> list[tuple[int, int, Entry]]:
        printed = self.script.printed.get(step.name, frozenset())
        return [(i, j, entry) for i, j, entry in grid.cells() if entry.readable and (i, j) not in printed]

    def _worlds(self, step: Step) -> Sequence[StudentDerivation]:
        """The student's own lines before a step: as they were written, and as they were before they were rounded."""
        if step.name not in self._seen:
            before, until = self._own_lines_before(step), None
            if self.misshapen.isdisjoint(before):  # otherwise there may be something else to look at
                looked_at = self.looked_at(step)
                before, until = [name for name in before if name in looked_at], step.name
            found = [self._lines(before, self.carried, until)]
            if any(self.carried[name] is not self.unrounded[name] for name in before):
                found.append(self._lines(before, self.unrounded, until))
            self._seen[step.name] = found
        return self._seen[step.name]

    def _own_lines_before(self, step: Step) -> list[str]:
        """The lines before a step that the student has, but for those of other tokens for the same role, on which the
        step does not rest.
        """
        before, needed = list[str](), self.script.depends(step)
        for other in self.script.d:
            if other.name == step.name:
                break
            own = self.script.is_known(other.name) or other.name in self._assumed
            rests = other.role != step.role or other.name in needed
            if own and other.name in self.carried and rests:
                before.append(other.name)
        return before

    def looked_at(self, step: Step) -> frozenset[str]:
        """The steps that somebody looks at who works a step out, rightly or not, and those that they come of."""
        before, seen = frozenset(self._own_lines_before(step)), set[str]()
        todo = list(self.beliefs.read(self._up_to(step)))
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += [] if name in before else [source.name for source in self.script.sources(self.script.d[name])]
        return frozenset(seen)

    def _lines(self, names: Sequence[str], world: Mapping[str, AnyMatrix], until: str | None) -> StudentDerivation:
        """These lines in a world; those that are the key's, and rest on nothing else, need not be told."""
        d, own = self.script.d, dict[str, AnyMatrix]()
        for name in names:
            if world[name] is not d.value(name) or not own.keys().isdisjoint(d.before(name)):
                own[name] = world[name]
        return _laid(self.script, own, until if own else None)

    def _charge(self, step: Step, wrong: Sequence[Cell], fits: Sequence[Fit]) -> None:
        """One event for a misconception; what it spoilt before this line makes this line follow.

        It costs where it was made, or in this line where that was in a step that carries no marks (3.9).
        """
        best, number = fits[0], len(self.events)
        self.disagrees |= any((fit.charged == step.name) != (best.charged == step.name) for fit in fits)
        if all(fit.misconception.id in ROUNDING for fit in fits):
            self._record(step, "rounding", _named(fits), wrong, [best.charged])
            self._attribute(step, wrong, best, number, "follows", ("precision",))
            return
        free = best.charged not in self.script.asked and step.name in self.script.asked
        named = best.lines.beliefs.named
        spoilt = frozenset(s.name for s in self.script.left_out(step) if named(s) in best.changes)
        charged = [step.name if free else best.charged]
        self._record(step, "misconception", _named(fits), wrong, charged, spoilt=spoilt)
        before = best.charged != step.name and self.script.gap(step) <= LONGEST_GAP
        self._attribute(step, wrong, best, number, "follows" if before and not free else "wrong")
        if before:
            self._assume(step, best)

    def _charge_in_part(
        self, step: Step, wrong: Sequence[Cell], fits: Sequence[Fit], slips: Sequence[Candidate]
    ) -> None:
        """One event for what is wrong in some rows or columns by one cause: a misconception, or a slip that spoils all.

        Whoever has the other rows right knows how it is done: that is a slip, whatever led to it.
        """
        if len(wrong) > COINCIDENCE and any(slip.id == REPEATED for slip in slips):
            fits = []
        self._record(step, "slip", [*_named(fits), *slips], wrong, [step.name], in_part=bool(fits))
        if fits:
            self._attribute(step, wrong, fits[0], len(self.events) - 1, "wrong")

    def _attribute(
        self, step: Step, cells: Iterable[Cell], fit: Fit, event: int, state: State, flags: tuple[Flag, ...] = ()
    ) -> None:
        """Entries that a misconception explains."""
        for i, j in cells:
            place, value = (step.name, i, j), fit.value[i, j]
            self.meant[place] = value
            if state == "follows" and (i, j) not in fit.sum_adjusted:
                entry = self.script.written[step.name][i, j]
                self.put(Verdict(*place, "follows", entry, value, None, "event", "exact", flags, event))
            else:
                self._due(place, event)

    def _assume(self, step: Step, fit: Fit) -> None:
        """Steps that were left out are carried on as somebody with the misconception has them."""
        before = {name: s for name, s in fit.changes.items() if name != fit.lines.beliefs.named(step)}
        for other in self.script.left_out(step):
            if (value := fit.lines.given_by(other, before)) is not None:
                self.carried[other.name] = self.unrounded[other.name] = value
                self._assumed.add(other.name)

    # -- slips

    def _slipped(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> list[SlipFit]:
        """The slips that explain wrong entries, each entry by one: first what spoils most of them."""
        if step.name in self.misshapen:
            return []
        found = self._once("slipped", step, grid, wrong, lambda: self._possibly_slipped(step, grid, wrong))
        self.meant |= {(step.name, *c): x for slip in found for c, x in slip.values.items()}
        return found

    def _possibly_slipped(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> list[SlipFit]:
        """The same: what stands in another place; one cause for a row, a column or all; and what spoils one entry."""
        entries = {(i, j): entry for i, j, entry in self._readable(step, grid)}
        possibles = self._possible_slips(step, grid)
        left = [c for c in wrong if c in entries and entries[c].value not in (None, NEGATIVE_INFINITY)]
        found = _apart(slip for possible in possibles for slip in self._misplaced(possible, entries, left))
        moved = {c for slip in found for c in slip.values}
        unexplained = len(wrong) - len(left)
        left = [c for c in left if c not in moved]
        throughout = 2 * len(wrong) > len(entries)
        single: dict[Cell, list[list[Slipped]]] = {}
        for c in left:
            single[c] = [self._slips(possible, *c, entries[c]) for possible in possibles]
            unexplained += not any(single[c])
            if throughout and 2 * unexplained > len(wrong):
                return []  # `_is_one_belief`, whatever slips there are in the others
        lines = [[slip] for worlds in single.values() for slips in worlds for slip in slips]
        for possible, world in zip(possibles, zip(*single.values(), strict=True), strict=False):
            lines += self._spoilt(possible, entries, chain(*world))
        ways: dict[tuple[Cell, ...], list[list[Slipped]]] = {}
        for line in lines:
            ways.setdefault(tuple((slip.i, slip.j) for slip in line), []).append(line)
        others = (
            SlipFit({(slip.i, slip.j): slip.value for slip in way[0]}, _candidates([slips[0] for slips in way]))
            for way in ways.values()
        )
        return [*found, *_apart(others)]

    def _possible_slips(self, step: Step, grid: Grid) -> list[PossibleSlips]:
        """The slips that may have been made in a line, in each world in which it has the shape that was written."""
        from symattn.derivation.slips import PossibleSlips

        found = []
        for own in (lines.own for lines in self._worlds(step)):
            if not own[step.name].pinned and own[step.name].result.shape == grid.shape:
                rests_on = [own.value(operand.name) for operand in step.operands]
                made = partial(PossibleSlips, own, step.name)
                found.append(self.script.memory.memoize("slips", (step, *rests_on), made))
        return found

    def _slips(self, possible: PossibleSlips, i: int, j: int, entry: Entry) -> list[Slipped]:
        near_it = self._nearness(entry)
        listed: Sequence[Slipped] = self.script.memory.memoize(
            ("slips_at", i, j), (possible, entry, near_it), lambda: list(possible.at(i, j, near_it, entry.unit))
        )
        excluded = {id for step, id in self.excluded if step == possible.name}
        return [s for s in listed if s.slip.id not in excluded and self._explains(s.value, entry)]

    def _nearness(self, entry: Entry) -> Callable[[float], bool]:
        """Whether a float may be what was written."""
        return self.script.memory.memoize(("near", self._loose), (entry,), partial(_nearness, entry, self._loose))

    def _misplaced(
        self, possible: PossibleSlips, entries: Mapping[Cell, Entry], wrong: Sequence[Cell]
    ) -> Iterator[SlipFit]:
        """Wrong entries that are right in each other's places, or in a line beside."""
        from symattn.derivation.slips import exchanges, repeats

        if len(wrong) < 2:
            return
        right = {(i, j): x for i, row in enumerate(possible.result.rows) for j, x in enumerate(row)}
        floats, shape = {c: near(x) for c, x in right.items()}, possible.result.shape
        near_to = {c: {place for place, x in floats.items() if not self._is_far(e, x)} for c, e in entries.items()}
        misplaced = chain(
            ((*found, "A18") for found in exchanges(*shape)), ((*found, REPEATED) for found in repeats(*shape))
        )
        for places, says, id in misplaced:
            put = {c: source for c, source in places.items() if c in entries}
            if any(source not in near_to[c] for c, source in put.items()):
                continue
            if len(spoilt := {c: right[put[c]] for c in wrong if c in put}) < 2:
                continue
            values = {floats[source] for source in put.values()}
            as_in_a_mask = id == REPEATED and (len(values) == 1 or values == {0, 1})  # which several rows may have
            if not as_in_a_mask and all(self._explains(right[source], entries[c]) for c, source in put.items()):
                yield SlipFit(spoilt, [Candidate("slip", id, says)])

    def _spoilt(
        self, possible: PossibleSlips, entries: Mapping[Cell, Entry], slips: Iterable[Slipped]
    ) -> Iterator[list[Slipped]]:
        """Everything, or the rows and the columns, that one cause has spoilt throughout, with two entries or more.

        A number that was copied wrongly spoils everything that it goes into.
        """
        by_cause: dict[Cause, list[Slipped]] = {}
        for slip in slips:
            by_cause.setdefault(slip.cause, []).append(slip)
        by_cause.pop(None, None)
        for cause, own in by_cause.items():
            lines = [(own, list(entries))]
            if not (isinstance(cause, tuple) and cause[0] == "copied"):
                for k, n in product((0, 1), range(max(possible.result.shape))):
                    lines.append(([s for s in own if (s.i, s.j)[k] == n], [c for c in entries if c[k] == n]))
            for line, cells in lines:
                beside = set(cells).difference((slip.i, slip.j) for slip in line)
                if len(line) > 1 and all(possible.changed(cause, *c) is None for c in beside):
                    yield line

    def _pattern(self, step: Step, grid: Grid, wrong: Sequence[Cell]) -> str:
        """The one rule that gives every entry of a line, in words; "" if there is none."""
        from symattn.derivation.varied import uniform

        entries = {(i, j): entry for i, j, entry in self._readable(step, grid)}
        own = {c: x for c in wrong if c in entries and (x := entries[c].value) is not None}
        if len(own) <= COINCIDENCE or len(own) < len(wrong):
            return ""
        for lines in self._worlds(step):
            line = lines.own[step.name]
            if line.pinned or not isinstance(line.result, Matrix) or line.result.shape != grid.shape:
                continue
            for rule, says in uniform(line.result, own):
                if all(not self._is_far(e, near(rule(*c))) and self._explains(rule(*c), e) for c, e in entries.items()):
                    return says
        return ""

    # -- two misconceptions, one of them in a step that was left out

    def _possible_pairs(self, step: Step, grid: Grid) -> list[Fit]:
        return self._once("pairs", step, grid, (), lambda: self._pairs(step, grid))

    def _pairs(self, step: Step, grid: Grid) -> list[Fit]:
        lines, found = self._worlds(step)[0], list[Fit]()
        name, left_out = lines.beliefs.named(step), {other.name for other in self.script.left_out(step)}
        if name is None or left_out <= self.script.as_blank.keys():  # what was done in what was written stands there
            return []
        listed = [(misconception(id), part) for id, part in lines.beliefs.parts(self._up_to(step)).items()]
        listed.sort(key=lambda x: PRIOR[x[0].prior])
        before = [(m, part) for m, part in listed if name not in part.changes]
        here = [(m, part) for m, part in listed if part.charged == step.name]
        for (first, part), (second, more) in islice(product(before, here), MOST_PAIRS):
            both = Part(part.charged, {**part.changes, **more.changes})
            fit = self._fit(first, lines, both, step, grid, ())
            if fit is not None and fit.extent and not fit.sum_adjusted:
                found.append(replace(fit, also=second))
        return found

    def _compose(self, step: Step, wrong: Sequence[Cell], pairs: Sequence[Fit]) -> None:
        """Two events: one for the step that was left out, one for this one."""
        first = list(dict.fromkeys(pair.misconception.id for pair in pairs))
        second = list(dict.fromkeys(pair.also.id for pair in pairs if pair.also))
        for ids, cells, charged in ((first, (), pairs[0].charged), (second, wrong, step.name)):
            self._record(step, "misconception", [Candidate("misconception", id) for id in ids], cells, [charged])
        self._assume(step, pairs[0])

    # -- keeping record

    def _record(
        self,
        step: Step,
        kind: Kind,
        candidates: Sequence[Candidate],
        cells: Iterable[Cell],
        charged: Sequence[str],
        spoilt: frozenset[str] = frozenset(),
        in_part: bool = False,
    ) -> None:
        number, places = len(self.events), tuple((step.name, i, j) for i, j in cells)
        self.events.append(Event(number, step.name, tuple(charged), kind, tuple(candidates), places, spoilt, in_part))
        for place in places:
            self._due(place, number)

    def _due(self, place: Place, event: int) -> None:
        """Say which event an entry is due to, if it was judged."""
        if (verdict := self.at(place)) is not None:
            self.put(replace(verdict, event=event))


def diagnosed(script: Script, policy: Policy, as_written: bool = False) -> Diagnosis:
    """The diagnosis of a script.  Where a line speaks against what was thought likeliest before, it starts again."""
    trace = Diagnosis(script, policy, as_written=as_written)
    for _ in range(MOST_ATTEMPTS):
        if not trace.misjudged:
            break
        trace = Diagnosis(script, policy, frozenset(trace.dismissed), as_written)
    return trace


def _nearness(entry: Entry, loose: bool) -> Callable[[float], bool]:
    if entry.value is None or has_symbols(entry.value) or (entry.reading and entry.reading.alternatives):
        return lambda x: True
    own = near(entry.value)
    most = near(entry.unit or 0) * (LOOSE if loose else 1) + NEAR * max(1.0, abs(own))
    return lambda x: abs(x - own) <= most


def _named(fits: Iterable[Fit]) -> list[Candidate]:
    return [Candidate("misconception", fit.misconception.id) for fit in fits]


def _apart(slips: Iterable[SlipFit]) -> list[SlipFit]:
    """Slips that explain each entry once, those that explain most of them first."""
    found: list[SlipFit] = []
    for slip in sorted(slips, key=lambda slip: len(slip.values), reverse=True):
        if all(slip.values.keys().isdisjoint(other.values) for other in found):
            found.append(slip)
    return found


def _candidates(slips: Sequence[Slipped]) -> list[Candidate]:
    """The explanations of a wrong entry, one of each kind; the last resort only if there is no other."""
    from symattn.derivation.slips import SLIPS

    likely = [s for s in slips if s.slip.id not in LAST_RESORT] or slips
    by_kind = {s.slip.id: s for s in reversed(likely)}
    return [Candidate("slip", id, by_kind[id].says) for id in SLIPS if id in by_kind]


def _extent(rejected: Collection[Cell], wrong: Collection[Cell]) -> Extent:
    """How much of what is wrong is explained by what some entries are not."""
    explained = set(wrong).difference(rejected)
    if not rejected:
        return "all"
    if len(explained) < 2:
        return ""
    apart = any({c[k] for c in rejected}.isdisjoint(c[k] for c in wrong) for k in (0, 1))
    if len(explained) == len(wrong) and (apart or len(rejected) == 1):
        return "some lines"
    return "all but one" if len(rejected) == 1 else ""


def _by_largest_remainder(grid: Grid, value: Matrix) -> bool:
    """Whether every row that was written is the row of the value, rounded by largest remainders."""
    for written, row in zip(grid.rows, value.rows, strict=True):
        units = {entry.unit for entry in written}
        unit = next(iter(units))
        if len(units) != 1 or unit is None or unit.numerator != 1:
            return False
        try:
            rounded = largest_remainder(row, len(str(unit.denominator)) - 1)
        except InputError:  # a row that does not sum to anything with so many places
            return False
        if any(entry.value != x for entry, x in zip(written, rounded, strict=True)):
            return False
    return True


PRIOR = {"high": 0, "medium": 1, "low": 2}
"""How likely misconceptions are, the likeliest first."""
