"""Marks for the lines of a derivation: method, accuracy, vetoes, no working (rules.md 3.4, 3.5, 3.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Literal

from symattn.derivation.derivation import Step
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.errors import UndecidedError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Value, compare, decide, has_symbols, values_of
from symattn.exact.values import RATIONAL
from symattn.foundation.languages import Message, message, sentences
from symattn.marking.attempt import Entry
from symattn.marking.marker.answers import PROVED, accuracy, undecided
from symattn.marking.marker.diagnosis import LAST_RESORT, LONGEST_GAP, Diagnosis
from symattn.marking.marker.policy import Policy, SchemeLine
from symattn.marking.marker.report import Event, Given, Notice, Verdict, Why
from symattn.marking.marker.script import Script, per_token
from symattn.marking.marker.trace import Trace
from symattn.teaching.fairness.features import product_counts
from symattn.teaching.question import Mark, total

DIMINISHED = 0.6
"""A path that follows from mistakes and has less than this share of the load of the right one is easier (3.5)."""

Triviality = Literal["", "one-hot", "uniform", "zeros"]
"""How a row of weights needs no arithmetic."""

TRUSTED = (*PROVED, "window", "a later line")
"""What shows that an entry is right: proofs, or why it is accepted though it equals nothing; of anything else a person
is told."""


@dataclass(frozen=True)
class Awarding:
    """The marks of the lines that belong to one derivation.

    `lines` have their parts; `steps` is the step of every part; `ticked` are the parts whose method a person ticked.
    `intended`: whether the numbers were chosen to be as hard as they are, as those of somebody's own problem are not.
    `wrong` are steps that count as blank because something wrong was written there: later lines may show their method,
    but never earn them all of their marks.
    """

    trace: Diagnosis
    policy: Policy
    lines: tuple[SchemeLine, ...]
    steps: dict[str, str]
    ticked: frozenset[str]
    intended: bool = True
    wrong: frozenset[str] = frozenset()

    @cached_property
    def marks(self) -> Mapping[SchemeLine, tuple[list[Given], list[Notice]]]:
        """What every line earns, and what has to be said about it."""
        return {line: (self._none(line), []) if self.without_working else self._line(line) for line in self.lines}

    def earned(self, line: SchemeLine) -> int:
        """The marks of a line."""
        return sum(given.given for given in self.marks[line][0])

    @cached_property
    def total(self) -> int:
        """The marks of all lines."""
        return sum(map(self.earned, self.lines))

    def steps_of(self, line: SchemeLine) -> set[str]:
        return {self.steps[part] for part in line.parts}

    def part_of(self, step: str) -> str:
        return part_of(self.steps, step)

    # -- one line

    def _line(self, line: SchemeLine) -> tuple[list[Given], list[Notice]]:
        rows, notices = self._rows(line), list[Notice]()
        method, why = self._method(line)
        needs_method = any(mark.code == "M" for mark in line.marks) and not self.policy.independent_accuracy
        found: list[Given] = []
        for mark in line.marks:
            if mark.code == "M":
                number, counted = mark.number if method else 0, why
            elif mark.code == "B":
                number, counted = self._independent(line, mark, rows)
            elif self._blamed(line) is not None:
                number, counted = 0, Why("wrong method")
            elif needs_method and not method:
                number, counted = 0, Why("no method")
            else:
                earned, counted = accuracy(mark, [[self._counts(v, line) for v in row] for row in rows])
                number, said = self._vetoed(line, mark, earned, rows)
                counted = replace(counted, withheld=number != earned)
                notices += said
            found.append(Given(line.parts, mark.code, number, mark.number, counted))
        return (_one_less(found) if self.wrong & self.steps_of(line) else found), notices

    def _rows(self, line: SchemeLine) -> list[list[Verdict]]:
        """The entries of a line, those of each token together."""
        rows: list[list[Verdict]] = []
        for part in line.parts:
            step, by_row = self.trace.script.d[self.steps[part]], dict[int, list[Verdict]]()
            for verdict in self.trace.verdicts[step.name].values():
                by_row.setdefault(0 if step.token else verdict.i, []).append(verdict)
            rows += by_row.values()
        return rows

    def _verdicts(self, line: SchemeLine) -> list[Verdict]:
        """The entries of a line."""
        return [verdict for row in self._rows(line) for verdict in row]

    def before(self, line: SchemeLine) -> frozenset[str]:
        """The steps that a line rests on, directly or not."""
        script = self.trace.script
        return frozenset[str]().union(*(script.depends(script.d[name]) for name in self.steps_of(line)))

    def _counts(self, verdict: Verdict, line: SchemeLine) -> bool:
        """Whether an entry earns accuracy."""
        follows = verdict.state == "follows" and self._may_follow(line)
        if line.follow == "hence":
            return follows or (verdict.state == "correct" and "recovered" not in verdict.flags)
        if verdict.state == "implied":  # it is worth what it would be if it were written
            worth = verdict.way == "key" or (line.follow == "ft" and self._may_follow(line))
            return self.policy.implied_accuracy and not line.seen and worth
        return verdict.state == "correct" or (follows and line.follow == "ft")

    def _may_follow(self, line: SchemeLine) -> bool:
        match self.policy.follow_through:
            case "everywhere":
                return True
            case "between parts":
                return not self._mistakes_inside(line)
            case "flagged":
                return line.flagged
            case "never":
                return False

    def _mistakes_inside(self, line: SchemeLine) -> bool:
        """Whether a line rests on a mistake that was made in the same part of the question."""
        same = set[str]().union(*(self.steps_of(other) for other in self.lines if other.group == line.group))
        inside = same & self.before(line)
        return any(name in inside for event in self.trace.events for name in event.charged)

    def _method(self, line: SchemeLine) -> tuple[bool, Why]:
        if any(part in self.ticked for part in line.parts):
            return True, Why("method seen")
        zeros = self._zeros(line)
        if zeros and self.policy.shows_method(sum(zeros), len(zeros)):
            return True, Why("entries", sum(zeros), len(zeros))
        if self._blamed(line) is not None:
            return False, Why("wrong method")
        if self._repeated(line):
            return (True, Why("lost already")) if self.policy.repeat_penalty == "once" else (False, Why("wrong method"))
        shown: list[bool] = []
        for step in self.steps_of(line):
            counted = {"correct"}
            if not (self.policy.follow_through == "never" or line.follow == "cao" or self.trace.rests_on_zeros(step)):
                counted |= {"follows"} if line.seen else {"follows", "implied"}
            shown += [verdict.state in counted for verdict in self.trace.verdicts[step].values()]
        seen = self.policy.shows_method(sum(shown), len(shown))
        seen = seen or (self.policy.follow_through != "never" and self._one_slip(line))
        return seen, Why("entries", sum(shown), len(shown))

    def _one_slip(self, line: SchemeLine) -> bool:
        """Whether one slip that has a name is all that is wrong: then the method is known, however much it spoilt."""
        numbers = {verdict.event for verdict in self._verdicts(line) if not verdict.accepted}
        if len(numbers) != 1 or (number := numbers.pop()) is None:
            return False
        event = self.trace.events[number]
        likeliest = event.candidates[:1]
        return event.kind == "slip" and any(c.kind == "slip" and c.id not in LAST_RESORT for c in likeliest)

    def _zeros(self, line: SchemeLine) -> list[bool]:
        """Of entries that are to be 0, where the method is to make them so: whether each one is."""
        if not any(mark.rule == "hidden" for mark in line.marks):
            return []
        d = self.trace.script.d
        verdicts = ((values_of(d[v.part].result)[v.i, v.j], v) for v in self._verdicts(line))
        return [verdict.state == "correct" for right, verdict in verdicts if right == 0]

    def _blamed(self, line: SchemeLine) -> Event | None:
        """The misconception that is charged to this line first of all, or leaves it out with the one charged."""
        own = self.steps_of(line)
        beliefs = (event for event in self.trace.events if event.kind == "misconception")
        return next((e for e in beliefs if e.step in own or own & self.trace.left_out_with(e)), None)

    def _repeated(self, line: SchemeLine) -> bool:
        own = self.steps_of(line)
        return any(e.kind == "misconception" and own.intersection(e.charged[1:]) for e in self.trace.events)

    def _independent(self, line: SchemeLine, mark: Mark, rows: Sequence[Sequence[Verdict]]) -> tuple[int, Why]:
        """B marks: for shapes, the right one stated, or a matrix that has it, if of several entries two are there; for
        anything else, right entries.
        """
        if mark.rule != "shapes":
            return accuracy(mark, [[self._counts(v, line) for v in row] for row in rows])
        own, there = self.steps_of(line), [verdict.state != "missing" for row in rows for verdict in row]
        shaped = own & self.trace.script.stated or (sum(there) >= min(2, len(there)) and not own & self.trace.misshapen)
        return mark.number if shaped else 0, Why("shapes")

    # -- vetoes

    def _vetoed(
        self, line: SchemeLine, mark: Mark, number: int, rows: Sequence[Sequence[Verdict]]
    ) -> tuple[int, list[Notice]]:
        """Accuracy that is withheld from what follows: impossible values, and a path that became easier.

        What equals the key was not made easier by anything and keeps its marks.
        """
        notices: list[Notice] = []
        known = [verdict for row in rows for verdict in row if verdict.state in ("follows", "implied")]
        if all(map(_is_right, known)) or not self._rests_on_a_mistake(line):
            return number, notices
        impossible = next((part for part in line.parts if self._inappropriate(self.steps[part])), None)
        if number == mark.number and impossible:
            number = mark.number - 1
            says = message("Weights of a token must lie between 0 and 1 and sum to 1.")
            notices.append(Notice(impossible, "veto", says))
        if (easier := self._easier(line)) is None:
            return number, notices
        equal, _ = accuracy(mark, [[self._is_near_key(v) and self._counts(v, line) for v in row] for row in rows])
        if number > (most := max(equal, mark.number // 2)):
            number = most
            notices.append(Notice(self._first_that_follows(line), "veto", sentences(easier, _HALF)))
        return number, notices

    def _is_near_key(self, verdict: Verdict) -> bool:
        """Whether an entry equals the key, or was accepted and does so but for rounding."""
        step, grid = self.trace.script.d[verdict.part], self.trace.script.written.get(verdict.part)
        right = values_of(step.result)
        beside_the_key = verdict.compared is not None and (grid is None or grid.shape == right.shape)
        return _is_right(verdict) or (
            verdict.accepted
            and beside_the_key
            and _is_close(verdict.compared, right[verdict.i, verdict.j], self._slack(step))
        )

    def _first_that_follows(self, line: SchemeLine) -> str:
        """The part of a line in which something follows from a mistake and does not equal the key."""
        following = {v.part for v in self._verdicts(line) if v.state in ("follows", "implied") and not _is_right(v)}
        return next((part for part in line.parts if self.steps[part] in following), line.parts[0])

    def _rests_on_a_mistake(self, line: SchemeLine) -> bool:
        """Whether a mistake was made in a line or before it: rounding alone makes nothing impossible or easier."""
        steps = self.before(line) | self.steps_of(line)
        events = (event for event in self.trace.events if event.kind != "rounding")
        return any(steps.intersection((event.part, *event.charged)) for event in events)

    def _inappropriate(self, name: str) -> bool:
        """Whether a row of weights that was written is none: an entry outside [0, 1], or another sum than 1."""
        step = self.trace.script.d[name]
        grid = self.trace.script.written.get(name)
        if not isinstance(step.op, Softmax) or grid is None or grid.shape != step.result.shape:
            return False
        weights = per_token(step.op, values_of(self.trace.carried[name]))
        return any(map(_no_weights, weights.rows, per_token(step.op, grid).rows))

    def _easier(self, line: SchemeLine) -> Message | None:
        """That what follows from the mistakes is easier than the question, and why; None if it is not.

        Only numbers that were chosen for a question are meant to be as hard as they are; zeros never need any working.
        """
        steps = self.before(line) | self.steps_of(line)  # as they were before rounding, which makes nothing easier
        if any(map(self.trace.collapsed_to_zero, steps)):
            return _ZERO
        if not self.intended:
            return None
        for role in dict.fromkeys(step.role for step in self.trace.script.d if step.name in steps):
            if trivial := self._trivial_weights(role):
                return _TRIVIAL[trivial.pop() if len(trivial) == 1 else "zeros"]
        load, other_load = self._loads(steps)
        if other_load < DIMINISHED * load:
            return _LESS
        return None

    def _trivial_weights(self, role: str) -> set[Triviality]:
        """How weights became trivial, where less than `DIMINISHED` of the powers of all tokens are left to work out.

        A row that a rounding apart equals the key's is as it was meant to be.
        """
        meant, left, found = 0, 0, set[Triviality]()
        for step in self.trace.script.d:
            own = self.trace.unrounded.get(step.name)
            if step.role != role or not isinstance(step.op, Softmax) or own is None:
                continue
            right, seen = (per_token(step.op, values_of(matrix)) for matrix in (step.result, own))
            slack = self._slack(step)
            if right.shape != seen.shape:
                return set()
            for key, row in zip(right.rows, seen.rows, strict=True):
                powers = 0 if _trivial(key, key) else len(_seen(key))
                meant += powers
                if all(_is_close(x, y, slack) for x, y in zip(row, key, strict=True)):
                    left += powers
                elif not (trivial := _trivial(row, key)):
                    left += len(_seen(row))
                elif powers:
                    found.add(trivial)
        return found if left < DIMINISHED * meant else set()

    def _slack(self, step: Step) -> Fraction:
        """How far the values of a step may be from the key's for no other reason than that numbers were rounded."""
        script = self.trace.script
        names = {step.name, *script.depends(step)}
        written = (
            entry.unit for name in names if name in script.written for _, _, entry in script.written[name].cells()
        )
        return self.policy.widest_window * max((unit for unit in written if unit), default=Fraction(0)) / 2

    def _loads(self, steps: frozenset[str]) -> tuple[float, float]:
        """The loads of the products after the first mistake: of the question, and of what follows from the script."""
        first = next((event.step for event in self.trace.events), None)
        load = other_load = 0.0
        after = False
        for step in self.trace.script.d:
            if after and step.name in steps and isinstance(step.op, MatMul):
                right, own = (_load(step, lines) for lines in (self.trace.script.d.value, self.trace.unrounded.get))
                if right is not None and own is not None:
                    load, other_load = load + right, other_load + own
            after = after or step.name == first
        return load, other_load

    # -- what was left out

    @cached_property
    def without_working(self) -> bool:
        """Whether there is a final answer and nothing of the way to it."""
        return has_no_working(self.trace.script)

    def answer_alone(self, earned: int) -> list[Given]:
        """What a right final answer earns beyond its way: together a share of all the marks (3.9).

        Right is what would be accepted with nothing before it: within its window, whatever its last digit.
        """
        whole = sum(total(line.marks) for line in self.lines)
        share = floor(self.policy.no_working * whole + Fraction(1, 2))
        if self.policy.no_working < 1:  # a share of one mark is not rounded to all of it
            share = min(share, whole - 1)
        if share <= earned:
            return []
        script, final = self.trace.script, self.trace.script.final
        alone = replace(script, written={final: script.written[final]} if final in script.written else {})
        if not has_no_working(alone) or not Trace(alone, self.policy).accepts_all_of(final):
            return []
        why = Why("answer alone" if self.without_working else "right answer")
        parts = tuple(part for line in self.lines for part in line.parts)
        return [Given(parts, "N", share - earned, 0, why)]

    def _none(self, line: SchemeLine) -> list[Given]:
        return [Given(line.parts, mark.code, 0, mark.number, Why("no working")) for mark in line.marks]

    def human(self) -> Iterator[Notice]:
        """What a person has to look at."""
        script = self.trace.script
        for step in script.d:
            if step.name in script.written and script.gap(step) > LONGEST_GAP:
                says = message("More than two steps were left out before this one; only the answer itself was marked.")
                yield Notice(self.part_of(step.name), "human", says)
        for verdict in self.trace.every_verdict:
            proof = verdict.proof
            if verdict.accepted and proof not in TRUSTED:
                says = message(
                    "Entry ({row}, {column}) is {proof}.", row=verdict.i + 1, column=verdict.j + 1, proof=proof
                )
                yield Notice(self.part_of(verdict.part), "human", says)
            elif verdict.state == "wrong" and proof == "undecided":
                says = undecided(verdict.i, verdict.j, message("undecided"))
                yield Notice(self.part_of(verdict.part), "human", says)


def _load(step: Step, lines: Callable[[str], AnyMatrix | None]) -> float | None:
    """The load of a product of lines; None if they are not rational, or do not fit."""
    factors = []
    for operand in step.operands:
        known = lines(operand.name)
        if not isinstance(known, Matrix) or not all(isinstance(x, RATIONAL) for x in known):
            return None
        try:
            factors.append(values_of(operand.of(known)))
        except IndexError:  # a token has no row in what was written
            return None
    a, b = factors
    return product_counts(a, b).load if a.shape[1] == b.shape[0] else None


def has_no_working(script: Script) -> bool:
    """Whether there is a final answer and nothing of the way to it."""
    asked = script.asked & script.written.keys()
    return asked == {script.final} and script.gap(script.d[script.final]) > LONGEST_GAP


def _one_less(found: list[Given]) -> list[Given]:
    """The marks of a line in which something is wrong: not all of those for accuracy, or of all if there are none."""
    own = [given for given in found if given.code == "A"] or found
    if any(given.given < given.of for given in own):
        return found
    less = replace(own[-1], given=own[-1].given - 1, why=Why("not carried forward"))
    return [less if given is own[-1] else given for given in found]


def _is_right(verdict: Verdict) -> bool:
    """Whether an entry equals the key, or was not written and would."""
    return verdict.state == "correct" or (verdict.state == "implied" and verdict.way == "key")


def part_of(steps: Mapping[str, str], step: str) -> str:
    """The part that asks for a step, of steps by part; the step's own name if none does."""
    return next((part for part, own in steps.items() if own == step), step)


def _no_weights(row: Sequence[Value], written: Sequence[Entry]) -> bool:
    """Whether numbers cannot be a token's weights; what has symbols has no size, and only its sum is compared."""
    if any(x is NEGATIVE_INFINITY for x in row):
        return True
    whole: Value = sum(row[1:], row[0])
    if any(map(has_symbols, row)):
        return decide(whole, 1).equal is False
    slack = len(row) * max((entry.unit or Fraction(0) for entry in written), default=Fraction(0)) / 2
    try:
        outside = any(compare(x, 0) < 0 or compare(x, 1) > 0 for x in row)
        return outside or compare(whole, 1 - slack) < 0 or compare(whole, 1 + slack) > 0
    except UndecidedError:  # so near to 0 or 1 that nothing is held against it
        return False


def _is_close(x: Value, y: Value, slack: Fraction) -> bool:
    """Whether two numbers are at most so far apart."""
    if NEGATIVE_INFINITY in (x, y) or has_symbols(x) or has_symbols(y):
        return decide(x, y).equal is True
    try:
        return compare(x - y, slack) <= 0 and compare(x - y, -slack) >= 0
    except UndecidedError:  # nothing tells them apart
        return True


def _trivial(row: Sequence[Value], right: Sequence[Value]) -> Triviality:
    """Whether weights need no arithmetic: all on one token, or all alike among those seen, or among some of them."""
    if any(x is NEGATIVE_INFINITY for x in row):
        return ""
    seen = _seen(row)
    if len(seen) == 1 and decide(seen[0], 1).equal is True and len(row) > 1:
        return "one-hot"
    if len(seen) > 1 and all(decide(x, seen[0]).equal is True for x in seen[1:]):
        return "uniform" if len(seen) == len(_seen(right)) else "zeros"
    return ""


def _seen(row: Sequence[Value]) -> list[Value]:
    return [x for x in row if decide(x, 0).equal is not True]


_ZERO = message("A matrix became 0, so that nothing is left to work out.")
_LESS = message("Easier than intended: there is less to work out.")
_TRIVIAL = {
    "one-hot": message("Easier than intended: weights became one-hot."),
    "uniform": message("Easier than intended: weights became uniform."),
    "zeros": message("Easier than intended: some weights became 0 and the rest equal."),
}
_HALF = message("What follows from it earns at most half of the accuracy marks, rounded down.")
