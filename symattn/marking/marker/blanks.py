"""Attempting never costs (rules.md 3.12, P5): every line has the marks that it earns best with other lines left blank.

A matrix of which rows or columns are missing is laid where it fits best, the rest of it blank.  Then a line is marked
with everything as it was written, and with lines left blank that it rests on, right ones as well as wrong ones.  What
may be left blank only grows when more is written: so nothing that is written takes a mark from another line, but for a
right line that shows that a wrong method, which was counted there, was used after it.  Mistakes are those of the
script as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from symattn.derivation.derivation import Step
from symattn.derivation.misconceptions import Misconception
from symattn.foundation.languages import message
from symattn.marking.attempt import BLANK, Entry, Grid
from symattn.marking.marker.answers import short_of
from symattn.marking.marker.award import Awarding
from symattn.marking.marker.diagnosis import LONGEST_GAP, Diagnosis
from symattn.marking.marker.report import Given, Notice
from symattn.marking.marker.scheme import Line
from symattn.marking.marker.script import Cell, Script, values_of
from symattn.marking.marker.trace import Judged, Mistake, Place, Trace
from symattn.teaching.question import total

MOST_WAYS = 40
"""Ways of leaving lines blank that are looked at for one line."""

Award = Callable[[Script], Awarding]


@dataclass(frozen=True)
class Awarded:
    """A script as it was written, with verdicts, mistakes and marks; events are numbered in the order of `mistakes`."""

    script: Script
    judged: dict[Place, Judged]
    mistakes: list[Mistake]
    given: list[Given]
    notices: list[Notice]
    trace: Trace


def awarded(script: Script, award: Award) -> Awarded:
    """The marks of a script, of every line the best that it earns."""
    written = award(script)
    while (padded := _padded(written.trace)) is not written.trace.script:
        written = award(padded)
    ways = _with_blanks(written, award)
    found = _together(ways, _best(ways))
    found.given.extend(written.answer_alone(sum(mark.given for mark in found.given)))
    found.notices.extend(_said_of_shapes(written, script))
    return found


# ------------------------------------------------------------------------------------------------ parts of a matrix


def _padded(trace: Trace) -> Script:
    """The script with every matrix of which rows or columns are missing laid where it fits best, the rest blank.

    One whose shape a misconception explains, and what follows from it, stay as they are.
    """
    script, written = trace.script, dict(trace.script.written)
    beliefs = (m for m in trace.mistakes if m.kind == "misconception" and m.shown in trace.misshapen)
    meant = {name for m in beliefs for name in (m.shown, *(step for step, _, _ in m.entries))}
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

Left = frozenset[tuple[str, bool]]
"""What is left blank: lines, each whole (True) or only where it is in doubt."""


def _with_blanks(written: Awarding, award: Award) -> list[Awarding]:
    """The script as it was written, and in every way in which a line earns more with others, or itself, left blank."""
    ways, search = [written], _Search(written, award)
    for line in written.lines:
        for left in search.ways(line):
            earned = _best(ways)[line].earned(line)
            if earned == total(line.marks):
                break
            if (way := search.better(line, left, earned)) is not None:
                ways.append(way)
    return ways


class _Search:
    """Looks for ways of leaving lines blank in which a line earns more."""

    def __init__(self, written: Awarding, award: Award) -> None:
        self.written, self.trace, self.script, self.award = written, written.trace, written.trace.script, award
        self.doubtful = _doubtful(self.trace)
        self._awarded: dict[Left, Awarding] = {}

    def ways(self, line: Line) -> Iterator[Left]:
        """What may be left blank so that a line earns more, the nearest lines first.

        A line's marks rest on the lines nearest before it, which it is worked out from, and, where it is blank, on the
        nearest after it, which show what was left out: with one of these left blank, on the next.
        """
        steps = self.written.steps_of(line)
        todo: list[Left] = [frozenset()]
        everything = frozenset((name, self._is_whole(name)) for name in self.doubtful)
        for name in (name for name in self.doubtful if name in steps):
            own = (frozenset({(name, whole)}) for whole in {self._is_whole(name), True})
            todo += [left for left in dict.fromkeys((*own, everything)) if self._may_matter(steps, left)]
        for left in todo:
            if len(todo) > MOST_WAYS:
                return
            if left:
                yield left
            names = {name for name, _ in left}
            for name in dict.fromkeys(other for step in sorted(steps) for other in self._nearest(step, names)):
                more = left | {(name, True)}
                if name not in steps and more not in todo and self._may_matter(steps, more):
                    todo.append(more)

    def _is_whole(self, name: str) -> bool:
        """Whether all of a line is in doubt."""
        return len(self.doubtful[name]) == sum(1 for _ in self.script.written[name].cells())

    def better(self, line: Line, left: Left, earned: int) -> Awarding | None:
        """The marks with that left blank, if the line earns more so."""
        glance = _Glance(self._without(left), self.trace, self.written.steps_of(line))
        if replace(self.written, trace=glance).earned(line) <= earned:
            return None
        if left not in self._awarded:
            self._awarded[left] = self.award(self._without(left))
        return self._awarded[left] if self._awarded[left].earned(line) > earned else None

    # -- what a line rests on

    def _nearest(self, name: str, left: set[str]) -> Iterator[str]:
        """The lines written nearest before a step; where that is blank, those after it that are not all right."""
        yield from self._before(name, left)
        if name in left or name not in self.script.written:
            yield from (after for after in self._after(name, left) if not self.trace.accepts_all_of(after))

    def _before(self, name: str, left: set[str]) -> Iterator[str]:
        for source in self.script.sources(self.script.d[name]):
            if source.name in self.script.written and source.name not in left:
                yield source.name
            else:
                yield from self._before(source.name, left)

    def _after(self, name: str, left: set[str]) -> Iterator[str]:
        for step in self.script.d:
            if any(operand.name == name for operand in step.operands):
                if step.name in self.script.written and step.name not in left:
                    yield step.name
                else:
                    yield from self._after(step.name, left)

    def _may_matter(self, steps: set[str], left: Left) -> bool:
        """Whether what a line rests on may be other numbers, or lack a line in which the mistake may be; of a line that
        is blank itself, whether the next lines are near enough to show what was left out.
        """
        script, names = self._without(left), {name for name, _ in left}
        if blank := [name for name in steps if name in names or name not in script.written]:
            after = (other for name in blank for other in self._after(name, names))
            return all(script.gap(script.d[other]) <= LONGEST_GAP for other in after)
        before = {name for step in steps for name in script.depends(script.d[step])}
        right = all(self.trace.carried.get(name) is script.d.value(name) for name in before)
        return not right or any(script.gap(script.d[step]) <= LONGEST_GAP for step in steps)

    def _without(self, left: Left) -> Script:
        """The script with that left blank."""
        written = dict(self.script.written)
        for name, whole in left:
            if whole or name in self.trace.misshapen:
                written[name] = Grid.blank(*values_of(self.script.d[name].result).shape)
                continue
            for _, i, j in self.doubtful[name]:
                written[name] = written[name].put(i, j, BLANK)
        for name, _ in left:
            if written[name].empty and name not in self.script.printed:
                del written[name]
        return replace(self.script, written=written)


def _doubtful(trace: Trace) -> dict[str, list[Place]]:
    """The entries of lines that are wrong, missing, or right although they do not follow, and not carried on.

    What comes of a wrong method that was carried on anywhere is not in doubt, nor is a line that nothing rests on.
    """
    used = {operand.name for step in trace.script.d for operand in step.operands}
    methods = [m for m in trace.mistakes if m.kind == "misconception"]
    known = {m.number for m in methods if any(p[0] not in trace.misshapen and trace.carried_on(p) for p in m.entries)}
    states = ("wrong", "unreadable", *_NOT_WRITTEN)
    doubtful: dict[str, list[Place]] = {}
    for place, judged in trace.judged.items():
        if place[0] not in used or place[0] not in trace.script.written:
            continue
        in_doubt = (judged.state in states or "recovered" in judged.flags) and judged.event not in known
        if place[0] in trace.misshapen or (in_doubt and not trace.carried_on(place)):
            doubtful.setdefault(place[0], []).append(place)
    return doubtful


class _Glance(Diagnosis):
    """What some steps are worth with lines left blank: they are judged, and the next lines after those that are blank.

    All other lines are as they were carried on.  What is wrong in a step follows if it comes of a mistake in a line
    that was left blank before it; nothing is asked about what speaks against that.
    """

    def __init__(self, script: Script, of: Diagnosis, steps: set[str]) -> None:
        self.of, self.steps, self.judging = of, steps, set(steps)
        self.open = {n for n in steps if n not in script.written or script.written[n] is not of.script.written.get(n)}
        super().__init__(script, of.policy, key=of.key)

    def _walk(self, step: Step) -> None:
        if step.name in self.steps or any(operand.name in self.open for operand in step.operands):
            self.judging.add(step.name)
            self.open.update({step.name} - self.script.written.keys())
            super()._walk(step)
            return
        if step.name in self.of.misshapen and self.script.is_written(step.name):
            self.misshapen.add(step.name)
        for own, other in ((self.carried, self.of.carried), (self.unrounded, self.of.unrounded)):
            value = other.get(step.name) if self.script.is_known(step.name) else self.follows(step, own)
            if value is not None:
                own[step.name] = value

    def right_somewhere(self) -> set[str]:
        return super().right_somewhere() | (self.of.right_somewhere() - self.judging)

    def explain(self, step: Step, grid: Grid, wrong: list[Cell]) -> None:
        if self.script.gap(step) <= LONGEST_GAP and (fits := self._fits(step, grid, wrong)[0]):
            self._charge(step, wrong, fits)

    def _parts_in(self, step: Step) -> Mapping[str, Misconception]:
        if step.name not in self.steps:
            return super()._parts_in(step)
        return self.key.changing(frozenset(map(self.key.named, self.script.left_out(step))))

    def _hopeless(self, id: str, step: Step, grid: Grid, wrong: Collection[Cell] | None = None) -> bool:
        return super()._hopeless(id, step, grid)  # what explains a part alone is not asked for

    def name_roundings(self, step: Step, grid: Grid) -> None:
        pass

    def settle(self, step: Step, grid: Grid) -> None:
        pass


def _explained(trace: Trace, but: Collection[str]) -> int:
    """How many entries of all steps but these are accepted, or come of a wrong method that is known."""
    known = {m.number for m in trace.mistakes if m.kind == "misconception"}
    others = (judged for (step, _, _), judged in trace.judged.items() if step not in but)
    return sum(1 for judged in others if judged.accepted or judged.event in known)


# ------------------------------------------------------------------------------------------------ the best of all


def _best(ways: Sequence[Awarding]) -> Mapping[Line, Awarding]:
    """The way that every line is marked in; as it was written where that earns as much.

    A line counts as left out only where that earns more than lines after it earn by following from what was written.  A
    wrong method is not mended by entries of it that happen to be right, nor by blaming a line that is right.
    """
    written, lines, script = ways[0], ways[0].lines, ways[0].trace.script
    steps = {line: written.steps_of(line) for line in lines}

    def counts(line: Line, way: Awarding) -> bool:
        if way is written:
            return True
        if written.blames(line) and (
            not all(map(way.trace.accepts_all_of, steps[line])) or _is_shifted(steps[line], written.trace, way.trace)
        ):
            return False
        if all(way.trace.script.written.get(name) == script.written.get(name) for name in steps[line]):
            return True
        if _explained(way.trace, steps[line]) < _explained(written.trace, steps[line]):
            return False
        after = (other for other in lines if any(steps[line] & script.depends(script.d[name]) for name in steps[other]))
        follows = sum(max(0, written.earned(other) - way.earned(other)) for other in after)
        return way.earned(line) - written.earned(line) > follows

    return {line: max((w for w in ways if counts(line, w)), key=lambda w: w.earned(line)) for line in lines}


def _is_shifted(steps: Collection[str], written: Trace, other: Trace) -> bool:
    """Whether what is wrong in some steps is blamed on a line that is right as it was written."""
    events = {judged.event for (step, _, _), judged in other.judged.items() if step in steps}
    first = {mistake.charged[0] for mistake in other.mistakes if mistake.number in events}
    return any(step in written.script.written and written.accepts_all_of(step) for step in first)


def _together(ways: Sequence[Awarding], best: Mapping[Line, Awarding]) -> Awarded:
    """Every line with the marks of the way that earns it most, and the mistakes of the script as it was written.

    What is accepted in the way that its line is marked in is no mistake, if wrong lines alone are left out there; a
    misconception that was seen stays one.
    """
    written = ways[0]
    way_of = {step: way for line, way in best.items() for step in written.steps_of(line)}
    named = {mistake.number for mistake in written.trace.mistakes if mistake.kind == "misconception"}
    acquitting = [way for way in ways[1:] if not _left_out(written, way, right=True)]
    judged = dict(written.trace.judged)
    for place, own in judged.items():
        if (way := way_of.get(place[0], written)) in acquitting:
            judged[place] = _acquitted(own, way.trace.judged.get(place, own), own.event if own.event in named else None)
    mistakes: list[Mistake] = []
    numbers: dict[int | None, int] = {}
    for mistake in written.trace.mistakes:
        places = [place for place in mistake.entries if place not in judged or judged[place].event == mistake.number]
        if places or not mistake.entries:
            numbers[mistake.number] = len(mistakes)
            mistakes.append(replace(mistake, number=len(mistakes), entries=places))
    judged = {place: replace(own, event=numbers.get(own.event)) for place, own in judged.items()}
    given = [mark for line, way in best.items() for mark in way.marks[line][0]]
    notices = [n for way in ways for n in way.human() if way_of.get(written.step_of(n.part), written) is way]
    notices += [notice for line, way in best.items() for notice in way.marks[line][1]]
    notices += _said_of_blanks(ways, best)
    return Awarded(written.trace.script, judged, mistakes, given, notices, written.trace)


_NOT_WRITTEN = ("missing", "implied")


def _acquitted(own: Judged, other: Judged, event: int | None) -> Judged:
    """The verdict on an entry whose line is marked in another way, due to `event` if it is due to anything still."""
    if other.state in ("correct", "follows") or (other.accepted and own.state in _NOT_WRITTEN):
        return replace(other, event=event)
    return replace(own, flags=tuple(flag for flag in own.flags if flag != "precision"))


def _left_out(written: Awarding, way: Awarding, right: bool) -> list[str]:
    """The parts of lines that are left out in a way: those that are right as they were written, or the others."""
    before, after = written.trace.script.written, way.trace.script.written
    lines = (n for n in before if after.get(n) != before[n] and written.trace.accepts_all_of(n) is right)
    return [written.part_of(name) for name in lines]


def _said_of_blanks(ways: Sequence[Awarding], best: Mapping[Line, Awarding]) -> Iterator[Notice]:
    """Which lines were taken for blank: wrong ones are told so, and right ones where they were not gone on with."""
    written = ways[0]
    for part in dict.fromkeys(part for way in best.values() for part in _left_out(written, way, right=False)):
        says = message("The mistake here was not carried on, so the line is marked as if it had been left blank.")
        yield Notice(part, "blank", says)
    for line, way in best.items():
        if parts := _left_out(written, way, right=True):
            says = message(
                "Marked as if {lines} had been left blank: this was not worked out from what stands there.",
                lines=", ".join(parts),
            )
            yield Notice(line.parts[0], "blank", says)


__all__ = ["Awarded", "awarded"]
