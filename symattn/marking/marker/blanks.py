"""Attempting never costs (rules.md 3.12, P5): every line has the marks that it earns best with other lines left blank.

A matrix of which rows or columns are missing is laid where it fits best, the rest of it blank.  Then a line is marked
with everything as it was written, and with lines left blank that it rests on, right ones as well as wrong ones.  What
may be left blank only grows when more is written: so nothing that is written takes a mark from another line.
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
        self._glanced: dict[Left, Awarding] = {}
        self._awarded: dict[Left, Awarding] = {}

    def ways(self, line: Line) -> Iterator[Left]:
        """What may be left blank so that a line earns more, the nearest lines first.

        A line's marks rest on the lines nearest before it, which it is worked out from, and, where it is blank, on the
        nearest after it, which show what was left out: with one of these left blank, on the next.
        """
        steps = self.written.steps_of(line)
        todo: list[Left] = [frozenset()]
        everything = frozenset((name, False) for name in self.doubtful)
        for name in steps & self.doubtful.keys():
            todo += [frozenset({(name, False)}), frozenset({(name, True)}), everything]
        for left in todo:
            if len(todo) > MOST_WAYS:
                return
            if left and self._matters(line, left):
                yield left
            names = {name for name, _ in left}
            for name in dict.fromkeys(other for step in steps for other in self._nearest(step, names)):
                more = left | {(name, True)}
                if name not in steps and more not in todo and self._may_matter(steps, more):
                    todo.append(more)

    def better(self, line: Line, left: Left, earned: int) -> Awarding | None:
        """The marks with that left blank, if the line earns more so."""
        if left not in self._glanced:
            self._glanced[left] = replace(self.written, trace=_Glance(self._without(left), self.trace))
        if self._glanced[left].earned(line) <= earned:
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
        """Whether what a line rests on may be other numbers, or lack a line in which the mistake may be."""
        script = self._without(left)
        before = {name for step in steps for name in script.depends(script.d[step])}
        right = all(self.trace.carried.get(name) is script.d.value(name) for name in before)
        return not right or any(script.gap(script.d[step]) <= LONGEST_GAP for step in steps)

    def _matters(self, line: Line, left: Left) -> bool:
        """Whether a line is left blank itself, or something that is wrong in it would follow from other numbers, or
        from a mistake in what was left out."""
        script, names, steps = self._without(left), {name for name, _ in left}, self.written.steps_of(line)
        if not steps.isdisjoint(names) or not steps <= script.written.keys():
            return True
        glance = _Glance(script, self.trace, walk=False)
        for name in steps:
            step, grid = script.d[name], script.written[name]
            judged = {(i, j): own for (other, i, j), own in self.trace.judged.items() if other == name}
            wrong = [cell for cell, own in judged.items() if not own.accepted]
            if name in self.trace.misshapen:
                wrong = [(i, j) for i, j, entry in grid.cells() if entry.readable]
            if any(glance.carried.get(o.name) is not self.trace.carried.get(o.name) for o in step.operands):
                if self.written.blames(line) or any(own.state == "follows" for own in judged.values()):
                    return True
                follows = glance.follows(step, glance.carried)
                same = follows if follows is not None and follows.shape == grid.shape else None
                if any(
                    grid[c].unit or (same and grid[c].readable and glance.accepts(grid[c], same[c])[0]) for c in wrong
                ):
                    return True
            if wrong and glance.mistaken_before(step, grid, wrong):
                return True
        return False

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
    """What a script is worth by and large: nothing is explained but what rests on lines that were left blank.

    Nothing is asked about what speaks against an explanation.  Without a `walk`, lines are as they were
    carried on in the whole script, and those that were left blank follow from them.
    """

    def __init__(self, script: Script, of: Diagnosis, walk: bool = True) -> None:
        self.blank = {n for n, grid in of.script.written.items() if script.written.get(n) is not grid}
        self.walk, self.of = walk, of
        super().__init__(script, of.policy, key=of.key)

    def _walk(self, step: Step) -> None:
        if self.walk:
            super()._walk(step)
            return
        for own, other in ((self.carried, self.of.carried), (self.unrounded, self.of.unrounded)):
            value = self.follows(step, own) if not self.script.is_known(step.name) else other.get(step.name)
            if value is not None:
                own[step.name] = value

    def explain(self, step: Step, grid: Grid, wrong: list[Cell]) -> None:
        before = {source.name for source in (*self.script.left_out(step), *self.script.sources(step))}
        if self.blank.isdisjoint(before) or self.script.gap(step) > LONGEST_GAP:
            return
        if not self._continued(step, grid, wrong) and (fits := self._fits(step, grid, wrong)[0]):
            self._charge(step, wrong, fits)

    def _parts_in(self, step: Step) -> Mapping[str, Misconception]:
        found = super()._parts_in(step)
        if self.walk:
            return found
        before = {self.key.named(other) for other in self.script.left_out(step)}
        return {id: m for id, m in found.items() if not before.isdisjoint(self.key.rewritten(m))}

    def mistaken_before(self, step: Step, grid: Grid, wrong: list[Cell]) -> bool:
        """Whether a misconception in what was left out before a line explains what is wrong in it."""
        if not 0 < self.script.gap(step) <= LONGEST_GAP:
            return False
        return any(fit.charged != step.name for fit in self._fits(step, grid, wrong)[0])

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

    A line counts as left out only where that earns more than lines after it earn by following from what was written;
    nor is a wrong method mended by entries of it that happen to be right.
    """
    lines, d = ways[0].lines, ways[0].trace.script.d
    steps = {line: ways[0].steps_of(line) for line in lines}

    def known(line: Line, way: Awarding) -> bool:
        script = way.trace.script
        if all(script.written.get(name) == ways[0].trace.script.written.get(name) for name in steps[line]):
            return True
        if ways[0].blames(line) and not all(map(way.trace.accepts_all_of, steps[line])):
            return False
        if _explained(way.trace, steps[line]) < _explained(ways[0].trace, steps[line]):
            return False
        after = (other for other in lines if any(steps[line] & script.depends(d[name]) for name in steps[other]))
        follows = sum(max(0, ways[0].earned(other) - way.earned(other)) for other in after)
        return way.earned(line) - ways[0].earned(line) > follows

    return {line: max((w for w in ways if known(line, w)), key=lambda w: w.earned(line)) for line in lines}


def _together(ways: Sequence[Awarding], best: Mapping[Line, Awarding]) -> Awarded:
    """Every line as in the way that earns it most; what is wrong all the same was one mistake as it was written."""
    written = ways[0]
    way_of = {step: way for line, way in best.items() for step in written.steps_of(line)}
    judged: dict[Place, Judged] = {}
    source: dict[Place, Awarding] = {}
    for step in written.trace.script.d:
        way = way_of.get(step.name, written)
        for place, verdict in way.trace.judged.items():
            own = written.trace.judged.get(place)
            if place[0] != step.name:
                continue
            left_out = own is not None and verdict.state in _NOT_WRITTEN and own.state not in _NOT_WRITTEN
            same = own is not None and own.state == verdict.state and own.event is not None
            if own and left_out:
                own = replace(own, flags=tuple(flag for flag in own.flags if flag != "precision"))
            judged[place], source[place] = (own, written) if own and (left_out or same) else (verdict, way)
    mistakes: list[Mistake] = []
    numbers: dict[tuple[int, int], int] = {}
    for k, way in enumerate(ways):
        for mistake in way.trace.mistakes:
            places = [place for place in mistake.entries if source.get(place, way_of.get(place[0], written)) is way]
            if places or (not mistake.entries and way_of.get(mistake.shown, written) is way):
                numbers[k, mistake.number] = len(mistakes)
                mistakes.append(replace(mistake, number=len(mistakes), entries=places))
    for place, verdict in judged.items():
        if verdict.event is not None:
            number = numbers.get((ways.index(source[place]), verdict.event))
            judged[place] = replace(verdict, event=number)
    given = [mark for line, way in best.items() for mark in way.marks[line][0]]
    notices = [n for way in ways for n in way.human() if way_of.get(written.step_of(n.part), written) is way]
    notices += [notice for line, way in best.items() for notice in way.marks[line][1]]
    notices += _said_of_blanks(ways, best)
    return Awarded(written.trace.script, judged, mistakes, given, notices, written.trace)


_NOT_WRITTEN = ("missing", "implied")


def _said_of_blanks(ways: Sequence[Awarding], best: Mapping[Line, Awarding]) -> Iterator[Notice]:
    """That lines were not used afterwards, where they were taken for blank."""
    script = ways[0].trace.script
    used = [way for way in ways[1:] if any(way is other for other in best.values())]
    for name, grid in script.written.items():
        if any(way.trace.script.written.get(name) != grid for way in used):
            says = message("The mistake here was not carried on, so the line is marked as if it had been left blank.")
            yield Notice(ways[0].part_of(name), "blank", says)


__all__ = ["Awarded", "awarded"]
