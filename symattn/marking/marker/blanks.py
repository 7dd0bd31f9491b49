"""Attempting costs a mark at most (rules.md 3.12, P5): what is wrong counts as if it had been left blank where that
earns more, but for one mark of the line, which is never right.

A matrix of which rows or columns are missing is laid where it fits best, the rest of it blank.  Then a script is marked
as it was written, and with lines left out of which something is wrong; every line has the marks of the way that earns
it most.  A way that finds the mistake in another line counts throughout, or not at all, for a mistake has to cost
something; so does one with a right line left out that nothing after it was worked out from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product

from symattn.derivation.derivation import Step
from symattn.exact import values_of
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.answers import short_of
from symattn.marking.marker.award import Awarding
from symattn.marking.marker.report import OF_PLACES, Event, Given, Notice, Verdict
from symattn.marking.marker.scheme import SchemeLine
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace
from symattn.teaching.question import total

MOST_WAYS = 4
"""Ways of leaving lines out that are marked in full, all doubtful lines first and then those that let most entries be
accepted, of equals the longest.  Each line alone is left out besides; and of right lines as many, those first after
which most is lost."""

MOST_TOGETHER = 5
"""Of more doubtful lines than these, all are left out together, and each alone that lets more entries be accepted."""

Award = Callable[[Script], Awarding]

Run = tuple[str, ...]
"""Lines that are left out together."""


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
    """The marks of a script: of every line the best that it earns, or those of one way throughout, if they are more."""
    written = award(script)
    while (padded := _padded(written.trace)) is not written.trace.script:
        written = award(padded)
    wrong = _wrong_steps(written.trace)

    def award_again(other: Script) -> Awarding:
        return replace(award(other), wrong=wrong & other.as_blank)

    ways = _with_blanks(written, award_again)
    others = [*ways[1:], *_with_one_correct_line_removed(written, award_again)]
    throughout = [way for way in others if way.total > written.total]
    found = max(
        (
            _together(ways, _best(ways)),
            *(_together([written, way], dict.fromkeys(written.lines, way)) for way in throughout),
        ),
        key=lambda one: sum(mark.given for mark in one.given),
    )
    found.given.extend(written.answer_alone(sum(mark.given for mark in found.given)))
    found.notices.extend(_said_of_shapes(written, script))
    return found


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


def _with_blanks(written: Awarding, award: Award) -> list[Awarding]:
    """The script as it was written, and with doubtful lines left out in the ways that may earn more."""
    ways = [written]
    for _, run, script in _likeliest_left_out(written.trace):
        best = _best(ways)
        if all(best[line].earned(line) == total(line.marks) for line in written.lines):
            break
        way = award(script)
        if _explained(way.trace, run) >= _explained(written.trace, run):
            ways.append(way)
    return ways


def _likeliest_left_out(trace: Trace) -> list[tuple[int, Run, Script]]:
    """The script with doubtful lines left out, whole or only what is wrong in them: the likeliest ways, and then each
    line alone; each with the number of entries that are accepted then, by and large.
    """
    doubtful = _doubtful(trace)
    if len(doubtful) <= MOST_TOGETHER:
        runs = [run for k in range(1, len(doubtful) + 1) for run in combinations(doubtful, k)]
    else:
        runs = [tuple(doubtful), *((name,) for name in doubtful)]
    found: list[tuple[int, Run, Script]] = []
    wrong = {name: [v for v in verdicts if "recovered" not in v.flags] for name, verdicts in doubtful.items()}
    for run, (verdicts, whole) in product(runs, ((doubtful, False), (doubtful, True), (wrong, False))):
        if verdicts is wrong and len(run) > 1:
            continue
        script = _without(trace, {name: verdicts[name] for name in run}, whole)
        if script != trace.script and all(script != other for _, _, other in found):
            found.append((_accepted(_Rough(script, trace.policy)), run, script))
    found.sort(key=lambda one: (len(one[1]) == len(doubtful), one[0], len(one[1])), reverse=True)
    few = _accepted(trace)
    alone = [
        one for one in found[MOST_WAYS:] if len(run := one[1]) == 1 and (one[0] > few or not one[2].is_known(*run))
    ]
    return [*found[:MOST_WAYS], *alone]


def _with_one_correct_line_removed(written: Awarding, award: Award) -> Iterator[Awarding]:
    """The script with one right line left out, before a line that nothing explains: perhaps it was not worked out from
    what stands there, but from what it would have been after another mistake.  Doubtful lines between them go with it.
    """
    trace, script = written.trace, written.trace.script
    unrecognised = (event for event in trace.events if event.kind == "unknown" and not event.candidates)
    spoilt = Counter(step for event in unrecognised for step, _, _ in event.entries)
    unknown = [step for step, count in spoilt.items() if 2 * count >= len(trace.verdicts[step])]
    doubtful = _doubtful(trace) if unknown else {}

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
            between = (line for line in passed & doubtful.keys() if name in script.depends(script.d[line]))
            yield name, frozenset(between)

    lost: dict[tuple[str, frozenset[str]], int] = {}
    for name, between in dict.fromkeys(found for step in unknown for found in before(step)):
        own = sum(written.earned(line) for line in written.lines if written.steps_of(line) == {name})
        if name not in script.printed and trace.accepts_all_of(name) and (more := lost_after(name) - own) > 0:
            lost[name, between] = more
    for name, between in sorted(lost, key=lost.__getitem__, reverse=True)[:MOST_WAYS]:
        yield award(script.with_blank(dict.fromkeys({name, *between})))


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


class _Rough(Trace):
    """What a script is worth by and large: nothing is asked about roundings that nobody wrote down."""

    def explained_by_intermediate_rounding(self, step: Step, i: int, j: int, entry: Entry) -> bool:
        return False


def _accepted(trace: Trace) -> int:
    """How many entries are accepted."""
    return sum(verdict.accepted for verdict in trace.every_verdict)


def _explained(trace: Trace, but: Sequence[str]) -> int:
    """How many entries that were written are accepted, or come of a wrong method that is known, but in these steps."""
    known = {event.number for event in trace.events if event.kind == "misconception"}
    others = (v for v in trace.every_verdict if v.part not in but and v.state not in _NOT_WRITTEN)
    return sum(verdict.accepted or verdict.event in known for verdict in others)


# ------------------------------------------------------------------------------------------------ the best of all


def _best(ways: Sequence[Awarding]) -> Mapping[SchemeLine, Awarding]:
    """The way that every line is marked in; as it was written where that earns as much.

    Ways that find a wrong method in another line are none of them: they count throughout.  A line that was left out
    is not known by lines after it for which following from what was written earns more; nor is a wrong method mended by
    entries of it that happen to be right.
    """
    lines, d = ways[0].lines, ways[0].trace.script.d
    steps = {line: ways[0].steps_of(line) for line in lines}
    blamed = {line for line in lines if ways[0].blames(line)}
    ways = [way for way in ways if blamed.issuperset(line for line in lines if way.blames(line))]

    def known(line: SchemeLine, way: Awarding) -> bool:
        script = way.trace.script
        if all(script.written.get(name) == ways[0].trace.script.written.get(name) for name in steps[line]):
            return True
        if ways[0].blames(line) and not all(map(way.trace.accepts_all_of, steps[line])):
            return False
        after = (other for other in lines if any(steps[line] & script.depends(d[name]) for name in steps[other]))
        return all(way.earned(other) >= ways[0].earned(other) for other in after)

    return {line: max((w for w in ways if known(line, w)), key=lambda w: w.earned(line)) for line in lines}


def _together(ways: Sequence[Awarding], best: Mapping[SchemeLine, Awarding]) -> Awarded:
    """Every line as in the way that earns it most; what is wrong all the same was one mistake as it was written."""
    written = ways[0]
    way_of = {step: way for line, way in best.items() for step in written.steps_of(line)}
    mixed = len(set(map(id, best.values()))) > 1
    found: list[tuple[Verdict, Awarding]] = []
    for name in written.trace.verdicts:
        way = way_of.get(name, written)
        for verdict in way.trace.verdicts[name].values():
            own = written.trace.at(verdict.place)
            left_out = own is not None and verdict.state in _NOT_WRITTEN and own.state not in _NOT_WRITTEN
            same = mixed and own is not None and own.state == verdict.state and own.event is not None
            if own and left_out:  # what counts as blank claims no places
                own = replace(own, flags=tuple(flag for flag in own.flags if flag not in OF_PLACES))
            found.append((own, written) if own and (left_out or same) else (verdict, way))
    source = {verdict.place: way for verdict, way in found}
    events: list[Event] = []
    numbers: dict[tuple[int, int], int] = {}
    for k, way in enumerate(ways):
        for event in way.trace.events:
            places = tuple(place for place in event.entries if source.get(place, way_of.get(place[0], written)) is way)
            if places or (not event.entries and way_of.get(event.part, written) is way):
                elsewhere = (events[number] for (other, _), number in numbers.items() if other != k)
                twin = next((one for one in elsewhere if _is_same_misconception(one, event)), None)
                if twin is not None:
                    events[twin.number] = replace(twin, entries=(*twin.entries, *places))
                else:
                    events.append(replace(event, number=len(events), entries=places))
                numbers[k, event.number] = twin.number if twin else len(events) - 1
    verdicts = [
        verdict if verdict.event is None else replace(verdict, event=numbers.get((ways.index(way), verdict.event)))
        for verdict, way in found
    ]
    given = [mark for line, way in best.items() for mark in way.marks[line][0]]
    notices = [n for way in ways for n in way.human() if way_of.get(written.step_of(n.part), written) is way]
    notices += [notice for line, way in best.items() for notice in way.marks[line][1]]
    notices += _said_of_blanks(ways, best)
    return Awarded(written.trace.script, verdicts, events, given, notices, written.trace)


def _is_same_misconception(one: Event, other: Event) -> bool:
    """Whether what two ways find is one mistake, of which each has a part."""
    return one.kind == other.kind == "misconception" and set(one.ids) == set(other.ids)


_NOT_WRITTEN = ("missing", "implied")


def _said_of_blanks(ways: Sequence[Awarding], best: Mapping[SchemeLine, Awarding]) -> Iterator[Notice]:
    """That lines were not used afterwards, where they were taken for blank."""
    script = ways[0].trace.script
    used = [way for way in ways[1:] if any(way is other for other in best.values())]
    for name, grid in script.written.items():
        if any(way.trace.script.written.get(name) != grid for way in used):
            says = message(
                "The mistake here was not carried forward: it costs one mark, and what comes next shows the rest."
            )
            if ways[0].trace.accepts_all_of(name):
                says = message(
                    "What comes next was not worked out from this line, so the line is marked as if it had been left "
                    "blank."
                )
            yield Notice(ways[0].part_of(name), "blank", says)
