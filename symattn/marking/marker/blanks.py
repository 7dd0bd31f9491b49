"""Which lines of a script count as blank: attempting costs a mark at most (rules.md 3.12, P5).

What is wrong counts as if it had been left blank where that earns more, but for one mark of the line, which is never
right.  A matrix of which rows or columns are missing is laid where it fits best, the rest of it blank.  Then a script
is marked as it was written, and with more and more lines counted as blank of which something is wrong and nothing was
worked out: it has the marks of the way that earns it most.  So has one with a right line counted as blank before what
nothing else explains, for a mistake has to cost something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from symattn.derivation.derivation import Step
from symattn.exact import values_of
from symattn.exact.rounding import near
from symattn.exact.values import RATIONAL
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.answers import short_of
from symattn.marking.marker.award import Awarding, has_no_working
from symattn.marking.marker.diagnosis import Diagnosis, diagnosed
from symattn.marking.marker.report import OF_PLACES, Cell, Event, Given, Notice, Verdict
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import HIDING, Trace
from symattn.teaching.question import total

MOST_WAYS = 40
"""Ways of counting lines as blank that are marked; one that earns more is gone on from, the best first."""

MOST_RIGHT = 4
"""Right lines that are left out, each alone: those first after which most is lost."""

Award = Callable[[Diagnosis], Awarding]
"""The marks of a script that was diagnosed."""


@dataclass(frozen=True)
class Awarded:
    """A script as it was written, with verdicts, events and marks."""

    script: Script
    verdicts: list[Verdict]
    events: list[Event]
    given: list[Given]
    notices: list[Notice]
    trace: Trace


def awarded(diagnosis: Diagnosis, award: Award) -> Awarded:
    """The marks of a script as it was written, or with those lines counted as blank with which it earns most."""
    script, policy, written = diagnosis.script, diagnosis.policy, award(diagnosis)
    while (padded := _padded(written.trace)) is not written.trace.script:
        written = award(diagnosed(padded, policy))
    wrong = _wrong_steps(written.trace)

    def with_blank(other: Diagnosis) -> Awarding:
        return replace(award(other), wrong=wrong & other.script.as_blank.keys())

    best, promising, tried = written, [written], [written.trace.script]
    while promising and best.total < sum(total(line.marks) for line in written.lines):
        way = promising.pop(max(range(len(promising)), key=lambda k: promising[k].total))
        for other in _with_more_blank(way):
            if other in tried or len(tried) >= MOST_WAYS:
                continue
            tried.append(other)
            if has_no_working(other):  # and earns nothing but by its last line
                continue
            recount = recounted(other, way.trace)
            if recount is not None and with_blank(recount).total <= way.total:
                continue
            found = with_blank(diagnosed(other, policy))
            if found.total > way.total and _explained(found, other) >= _explained(way, other):
                promising.append(found)
        best = max((best, *promising), key=lambda way: way.total)
    marked = _as_written(written, best)
    marked.given.extend(written.answer_alone(sum(mark.given for mark in marked.given)))
    marked.notices.extend(_said_of_shapes(written, script))
    return marked


def _wrong_steps(trace: Trace) -> frozenset[str]:
    """The steps in which something wrong was written, and not only rounded too much."""
    wrong = (verdict for verdict in trace.every_verdict if verdict.state == "wrong")
    events = ((verdict.part, trace.of_event(verdict)) for verdict in wrong)
    return frozenset(step for step, event in events if event is None or event.kind != "rounding")


# ------------------------------------------------------------------------------------------------ judged anew


class Recount(Diagnosis):
    """A script with more lines blank, beside the diagnosis of one in which no misconception was found.

    Lines that somebody works out from the same lines as before are as they were.  In the others no cause is looked for,
    but for one that may change marks: where there may be one, the recount is `hopeless`.
    """

    def __init__(self, script: Script, before: Diagnosis) -> None:
        self.before = before
        self._is_rounded = any(
            e.unit is not None for grid in before.script.written.values() for _, _, e in grid.cells()
        )
        self._changed = {name for name, grid in before.script.written.items() if script.written.get(name) is not grid}
        super().__init__(script, before.policy)

    def _walk(self, step: Step) -> None:
        if not self._is_judged_anew(step):
            self._take_over(step)
            return
        super()._walk(step)
        worlds = (self.carried, self.before.carried), (self.unrounded, self.before.unrounded)
        if any(now.get(step.name) is not earlier.get(step.name) for now, earlier in worlds):
            self._changed.add(step.name)
        self.hopeless |= bool(self.misshapen) or any(event.kind == "rounding" for event in self.events)

    def _is_judged_anew(self, step: Step) -> bool:
        """Whether a line may be judged otherwise than before: what was rounded may be so by any line before it."""
        if step.name not in self.script.written or step.name in self._changed:
            return True
        if any(verdict.state == "implied" for verdict in self.before.verdicts[step.name].values()):
            return True
        looked_at = self.looked_at(step) | (self.script.depends(step) if self._is_rounded else frozenset())
        return not looked_at.isdisjoint(self._changed)

    def _take_over(self, step: Step) -> None:
        numbers = dict[int | None, int]()
        for event in (event for event in self.before.events if event.part == step.name):
            numbers[event.number] = len(self.events)
            self.events.append(replace(event, number=len(self.events)))
        for verdict in self.before.verdicts[step.name].values():
            self.put(replace(verdict, event=numbers.get(verdict.event)))
        self.carried[step.name] = self.before.carried[step.name]
        self.unrounded[step.name] = self.before.unrounded[step.name]

    def explain(self, step: Step, grid: Grid, wrong: list[Cell]) -> None:
        for loose in (False, True) if self.script.is_rounded_before(step) else (False,):
            self._loose = loose
            self.hopeless |= bool(self._possible_fits(step, grid, wrong)) or self._may_be_one_slip(step, grid, wrong)
        self.hopeless |= bool(self._possible_pairs(step, grid))
        self._loose = False
        self._record(step, "unknown", [], wrong, [step.name])

    def _may_be_one_slip(self, step: Step, grid: Grid, wrong: list[Cell]) -> bool:
        """Whether one slip may explain all that is wrong in a line: then its method is known.

        Where later lines may go on from what was meant, slips are looked for as ever.
        """
        if self._is_rounded or any(_hides(entry) for _, _, entry in grid.cells()):
            return any(len(slip.values) == len(wrong) for slip in self._slipped(step, grid, wrong))
        possibles = self._possible_slips(step, grid)

        def slipped(i: int, j: int) -> bool:
            elsewhere = (near(x) for possible in possibles for x in possible.result)
            return any(not self._is_far(grid[i, j], x) for x in elsewhere) or any(
                self._slips(possible, i, j, grid[i, j]) for possible in possibles
            )

        return all(slipped(i, j) for i, j in wrong)


def recounted(script: Script, before: Diagnosis) -> Recount | None:
    """The script with more lines blank, if it has the marks of its recount for certain."""
    recount = Recount(script, before) if before.without_beliefs else None
    return None if recount is None or recount.hopeless else recount


def _hides(entry: Entry) -> bool:
    return isinstance(entry.value, RATIONAL) and entry.value <= HIDING


# ------------------------------------------------------------------------------------------------ parts of a matrix


def _padded(trace: Trace) -> Script:
    """The script with every matrix of which rows or columns are missing laid where it fits best, the rest blank.

    One whose shape a misconception explains, and what follows from it, stay as they are.
    """
    script, written = trace.script, dict(trace.script.written)
    beliefs = (e for e in trace.events if e.kind == "misconception" and e.part in trace.misshapen)
    meant = {name for e in beliefs for name in (e.part, *(step for step, _, _ in e.entries))}
    for step in script.d:
        grid = script.written.get(step.name)
        if grid is None or not meant.isdisjoint({step.name, *script.depends(step)}):
            continue
        if grid.shape != step.result.shape and grid.fits_in(values_of(step.result).shape):
            written[step.name] = grid.laid_in(values_of(step.result).shape, partial(_stands_for, trace, step))
    changed = any(written[name] is not grid for name, grid in script.written.items())
    return replace(script, written=written) if changed else script


def _stands_for(trace: Trace, step: Step, entry: Entry, i: int, j: int) -> bool:
    """Whether an entry may be the one at (i, j), in the key or after the lines before it."""
    follows = trace.follows(step, trace.carried)
    known = [values_of(step.result), *([follows] if follows and follows.shape == step.result.shape else [])]
    return entry.readable and any(trace.accepts(entry, matrix[i, j])[0] for matrix in known)


def _said_of_shapes(awarding: Awarding, script: Script) -> Iterator[Notice]:
    for name, grid in awarding.trace.script.written.items():
        if script.written[name].shape != grid.shape:
            yield Notice(awarding.part_of(name), "blank", short_of(script.written[name].shape, grid.shape))


# ------------------------------------------------------------------------------------------------ lines left out


def _with_more_blank(written: Awarding) -> Iterator[Script]:
    """The script with doubtful lines left out, all of them and then each alone, whole or only what is wrong in them;
    and with one right line left out.
    """
    trace, doubtful = written.trace, _doubtful(written.trace)
    for run in ([*doubtful], *([name] for name in doubtful)):
        for whole in (True, False):
            yield _without(trace, {name: doubtful[name] for name in run}, whole)
    yield from _with_one_correct_line_removed(written, doubtful)


def _with_one_correct_line_removed(written: Awarding, doubtful: Collection[str]) -> Iterator[Script]:
    """The script with one right line left out, before a line that nothing explains: perhaps it was not worked out from
    what stands there, but from what it would have been after another mistake.  Doubtful lines between them go with it.
    """
    trace, script, doubtful_lines = written.trace, written.trace.script, frozenset(doubtful)
    unrecognised = (event for event in trace.events if event.kind == "unknown" and not event.candidates)
    spoilt = Counter(step for event in unrecognised for step, _, _ in event.entries)
    unknown = [step for step, count in spoilt.items() if 2 * count >= len(trace.verdicts[step])]

    def lost_by(name: str) -> int:
        """Marks of the lines after it that were lost, beyond those that it has."""
        own = sum(written.earned(line) for line in written.lines if written.steps_of(line) == {name})
        after = (line for line in written.lines if name in written.before(line))
        return sum(total(line.marks) - written.earned(line) for line in after) - own

    without = script.with_blank(dict.fromkeys(doubtful))
    lost: dict[tuple[str, frozenset[str]], int] = {}
    for step in map(script.d.__getitem__, unknown):
        between = without.left_out(step)
        for name in (source.name for one in (step, *between) for source in script.sources(one)):
            if name in without.written and name not in script.printed and trace.accepts_all_of(name):
                with_it = (line.name for line in between if name in script.depends(line))
                lost[name, doubtful_lines.intersection(with_it)] = lost_by(name)
    for name, more in sorted(lost, key=lost.__getitem__, reverse=True)[:MOST_RIGHT]:
        if lost[name, more] > 0:
            yield script.with_blank(dict.fromkeys({name, *more}))


def _explained(way: Awarding, blank: Script) -> int:
    """How many entries that were written are accepted, or come of a wrong method that is known, but in blank lines."""
    known = {event.number for event in way.trace.events if event.kind == "misconception"}
    others = (v for v in way.trace.every_verdict if v.part not in blank.as_blank and v.state not in _NOT_WRITTEN)
    return sum(verdict.accepted or verdict.event in known for verdict in others)


def _doubtful(trace: Trace) -> dict[str, list[Verdict]]:
    """The entries of lines that are wrong, missing, or right although they do not follow, and not carried on.

    What comes of a wrong method that was carried on anywhere is not in doubt; nor is the last line, from which nothing
    is worked out, nor one that a person has to read first, unless something in it is wrong whatever the rest says.
    """
    methods = [event for event in trace.events if event.kind == "misconception"]
    used = {e.number for e in methods if any(p[0] not in trace.misshapen and trace.carried_on(p) for p in e.entries)}
    wrong_lines = {verdict.part for verdict in trace.every_verdict if verdict.state == "wrong"}
    script = trace.script
    gone_on_with = {operand.name for step in script.d for operand in step.operands}
    lines = (script.written.keys() & gone_on_with) - (script.in_doubt - wrong_lines)
    states = ("wrong", "unreadable", *_NOT_WRITTEN)
    doubtful: dict[str, list[Verdict]] = {}
    for verdict in (verdict for verdict in trace.every_verdict if verdict.part in lines):
        in_doubt = (verdict.state in states or "recovered" in verdict.flags) and verdict.event not in used
        if verdict.part in trace.misshapen or (in_doubt and not trace.carried_on(verdict.place, seen_to_be=True)):
            doubtful.setdefault(verdict.part, []).append(verdict)
    return doubtful


def _without(trace: Trace, doubtful: Mapping[str, Sequence[Verdict]], whole: bool) -> Script:
    """The script with these entries left blank, or with the whole lines left out."""
    left = dict[str, Grid | None]()
    for name, verdicts in doubtful.items():
        grid = trace.script.written[name]
        for verdict in verdicts:
            grid = grid.put(verdict.i, verdict.j, BLANK) if name not in trace.misshapen else grid
        left[name] = None if whole or name in trace.misshapen or grid.empty else grid
    script = trace.script.with_blank(left)
    return replace(script, in_doubt=script.in_doubt - doubtful.keys())


# ------------------------------------------------------------------------------------------------ both together


def _as_written(written: Awarding, way: Awarding) -> Awarded:
    """What was written, with the marks of a way of counting lines as blank."""
    verdicts, events = [*way.trace.every_verdict], way.trace.events
    if way is not written:
        verdicts, events = _joined(written, way)
    given = [mark for line in way.lines for mark in way.marks[line][0]]
    notices = [*way.human(), *(notice for line in way.lines for notice in way.marks[line][1])]
    notices += _said_of_blanks(written, way)
    return Awarded(written.trace.script, verdicts, events, given, notices, written.trace)


def _joined(written: Awarding, way: Awarding) -> tuple[list[Verdict], list[Event]]:
    """The verdicts and mistakes of a way, but in lines that count as blank those of what was written."""
    found: list[tuple[Verdict, Awarding]] = []
    for verdict in way.trace.every_verdict:
        own = written.trace.at(verdict.place)
        if own and verdict.state in _NOT_WRITTEN and own.state not in _NOT_WRITTEN:  # and claims no places
            own = replace(own, flags=tuple(flag for flag in own.flags if flag not in OF_PLACES))
            found.append((own, written))
        else:
            found.append((verdict, way))
    source = {verdict.place: of for verdict, of in found}
    events: list[Event] = []
    numbers: dict[tuple[int, int | None], int] = {}
    for of in (written, way):
        for event in of.trace.events:
            places = tuple(place for place in event.entries if source.get(place, way) is of)
            if not places and (event.entries or of is written):
                continue
            twin = next((one for one in events if of is way and _is_same_mistake(one, event)), None)
            number = numbers[id(of), event.number] = twin.number if twin else len(events)
            known = replace(event, number=number, entries=()) if twin is None else twin
            events[number : number + 1] = [replace(known, entries=(*known.entries, *places))]
    return [replace(verdict, event=numbers.get((id(of), verdict.event))) for verdict, of in found], events


def _is_same_mistake(one: Event, other: Event) -> bool:
    """Whether what was found twice is one mistake, of which each has a part."""
    if one.kind == other.kind == "misconception":
        return set(one.ids) == set(other.ids)
    return one.kind == other.kind == "unknown" and (one.part, one.candidates) == (other.part, other.candidates)


_NOT_WRITTEN = ("missing", "implied")


def _said_of_blanks(written: Awarding, way: Awarding) -> Iterator[Notice]:
    """That lines were taken for blank and not used afterwards; of one that is right, only where that costs a mark."""
    blank = [name for name in written.trace.script.written if name in way.trace.script.as_blank]
    short = {name for line in way.lines if way.earned(line) < total(line.marks) for name in way.steps_of(line)}
    for name in blank:
        if not written.trace.accepts_all_of(name):
            says = message(
                "The mistake here was not carried forward: it costs one mark, and what comes next shows the rest."
            )
        elif name in short:
            says = message(
                "What comes next was not worked out from this line, so the line is marked as if it had been left blank."
            )
        else:
            continue
        yield Notice(written.part_of(name), "blank", says)
