"""Attempting costs a mark at most (rules.md 3.12, P5): what is wrong counts as if it had been left blank where that
earns more, but for one mark of the line, which is never right.

A matrix of which rows or columns are missing is laid where it fits best, the rest of it blank.  Then a script is marked
as it was written, and with more and more lines counted as blank of which something is wrong and nothing was worked out:
it has the marks of the way that earns it most.  So has one with a right line counted as blank before what nothing else
explains, for a mistake has to cost something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from symattn.derivation.derivation import Step
from symattn.exact import values_of
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.answers import short_of
from symattn.marking.marker.award import Awarding
from symattn.marking.marker.report import OF_PLACES, Event, Given, Notice, Verdict
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace
from symattn.teaching.question import total

MOST_WAYS = 40
"""Ways of counting lines as blank that are marked; one that earns more is gone on from, the best first."""

MOST_RIGHT = 4
"""Right lines that are left out, each alone: those first after which most is lost."""

Award = Callable[[Script], Awarding]


@dataclass(frozen=True)
class Awarded:
    """A script as it was written, with verdicts, events and marks."""

    script: Script
    verdicts: list[Verdict]
    events: list[Event]
    given: list[Given]
    notices: list[Notice]
    trace: Trace


def awarded(script: Script, award: Award) -> Awarded:
    """The marks of a script as it was written, or with those lines counted as blank with which it earns most."""
    written = award(script)
    while (padded := _padded(written.trace)) is not written.trace.script:
        written = award(padded)
    wrong = _wrong_steps(written.trace)
    best, promising, tried = written, [written], [written.trace.script]
    while promising and best.total < sum(total(line.marks) for line in written.lines):
        way = promising.pop(max(range(len(promising)), key=lambda k: promising[k].total))
        for other in _with_more_blank(way):
            if other not in tried and len(tried) < MOST_WAYS:
                tried.append(other)
                found = replace(award(other), wrong=wrong & other.as_blank)
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
    trace, script = written.trace, written.trace.script
    unrecognised = (event for event in trace.events if event.kind == "unknown" and not event.candidates)
    spoilt = Counter(step for event in unrecognised for step, _, _ in event.entries)
    unknown = [step for step, count in spoilt.items() if 2 * count >= len(trace.verdicts[step])]

    def lost_after(name: str) -> int:
        after = (
            line for line in written.lines if any(name in script.depends(script.d[n]) for n in written.steps_of(line))
        )
        return sum(total(line.marks) - written.earned(line) for line in after)

    def before(step: str) -> Iterator[tuple[str, frozenset[str]]]:
        """The nearest lines that a line rests on, each with the doubtful ones between them."""
        nearest, passed, todo = dict[str, None](), set[str](), [step]
        while todo:
            for source in script.sources(script.d[todo.pop(0)]):
                if source.name in script.written and source.name not in doubtful:
                    nearest[source.name] = None
                elif source.name not in passed:
                    passed.add(source.name)
                    todo.append(source.name)
        for name in nearest:
            yield (
                name,
                frozenset(line for line in passed if line in doubtful and name in script.depends(script.d[line])),
            )

    lost: dict[tuple[str, frozenset[str]], int] = {}
    for name, between in dict.fromkeys(found for step in unknown for found in before(step)):
        own = sum(written.earned(line) for line in written.lines if written.steps_of(line) == {name})
        if name not in script.printed and trace.accepts_all_of(name) and (more := lost_after(name) - own) > 0:
            lost[name, between] = more
    for name, between in sorted(lost, key=lost.__getitem__, reverse=True)[:MOST_RIGHT]:
        yield script.with_blank(dict.fromkeys({name, *between}))


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
    """What was written, with the marks of a way of counting lines as blank: these keep their verdicts and mistakes."""
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
    for of in (written, way) if way is not written else (written,):
        for event in of.trace.events:
            places = tuple(place for place in event.entries if source.get(place, way) is of)
            if not places and (event.entries or of is written is not way):
                continue
            twin = (
                next((one for one in events if _is_same_misconception(one, event)), None) if of is not written else None
            )
            if twin is None:
                events.append(replace(event, number=len(events), entries=places))
            else:
                events[twin.number] = replace(twin, entries=(*twin.entries, *places))
            numbers[id(of), event.number] = twin.number if twin else len(events) - 1
    verdicts = [replace(verdict, event=numbers.get((id(of), verdict.event))) for verdict, of in found]
    given = [mark for line in way.lines for mark in way.marks[line][0]]
    notices = [*way.human(), *(notice for line in way.lines for notice in way.marks[line][1])]
    notices += _said_of_blanks(written, way.trace.script)
    return Awarded(written.trace.script, verdicts, events, given, notices, written.trace)


def _is_same_misconception(one: Event, other: Event) -> bool:
    """Whether what was found twice is one mistake, of which each has a part."""
    return one.kind == other.kind == "misconception" and set(one.ids) == set(other.ids)


_NOT_WRITTEN = ("missing", "implied")


def _said_of_blanks(written: Awarding, script: Script) -> Iterator[Notice]:
    """That lines were not used afterwards, where they were taken for blank."""
    for name in written.trace.script.written:
        if name in script.as_blank:
            says = message(
                "The mistake here was not carried forward: it costs one mark, and what comes next shows the rest."
            )
            if written.trace.accepts_all_of(name):
                says = message(
                    "What comes next was not worked out from this line, so the line is marked as if it had been left "
                    "blank."
                )
            yield Notice(written.part_of(name), "blank", says)
