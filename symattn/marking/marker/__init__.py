"""Marking: what a student wrote, checked exactly, with follow-through and a diagnosis (rules.md 3).

The parts that belong to one derivation are marked together, read as a script, followed and diagnosed; every other part
by itself.  What is in doubt is held back until a person has seen it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from symattn.derivation.derivation import Derivation, turned
from symattn.derivation.misconceptions import misconception
from symattn.exact import Matrix, indices, values_of
from symattn.foundation.languages import Message, message, sentences
from symattn.marking.attempt import Attempt, Doubt, Grid, Remark, Said, Unreadable, cannot_be_read
from symattn.marking.marker.answers import mark_answer, plain_number, rows_text, unread
from symattn.marking.marker.award import Awarding, part_of
from symattn.marking.marker.blanks import Awarded, awarded
from symattn.marking.marker.diagnosis import PRIOR, Diagnosis, diagnosed
from symattn.marking.marker.policy import POLICIES, Policy, Scheme, SchemeLine, lines_of
from symattn.marking.marker.readings import (
    ScriptReading,
    likeliest,
    misplaced,
    under_own_masks,
    understood,
)
from symattn.marking.marker.report import OF_PLACES, Candidate, Cell, Event, Given, Notice, Report, Verdict, Why
from symattn.marking.marker.script import (
    Memory,
    Script,
    in_percent,
    key_of,
    precision_of,
    with_precision,
    with_words_read,
)
from symattn.marking.marker.trace import Trace, continued
from symattn.teaching.question import EntriesAnswer, Part, Question, asked_step

TO_BE_READ, NO_WORKING = Why("to be read"), Why("no working")
"""Why marks are pending, and why those that are may be."""


def mark(
    question: Question, attempt: Attempt, policy: Policy = POLICIES["ecf"], scheme: Scheme | None = None
) -> Report:
    """Mark one attempt at one question.

    Lines of a derivation are followed from the student's own; every other answer is marked on its own.  The policy's
    settings may be changed by a teacher's scheme; `InputError` if the scheme names parts that the question has not.
    """
    if scheme is not None:
        policy = scheme.over(policy)
    attempt, lines, held = with_words_read(question, attempt), lines_of(question, scheme), dict[str, Doubt]()
    report = _as_read(question, attempt, policy, lines, held)
    while more := _doubted(report, held):  # without these, others may not be right any more
        attempt, held = _without(attempt, report, more), held | more
        report = _as_read(question, attempt, policy, lines, held)
    return report


# ------------------------------------------------------------------------------------------------ answers in doubt


def _doubted(report: Report, held: Collection[str]) -> dict[str, Doubt]:
    """The answers in doubt that are not right as they were read, and are not held back yet or are, because they lacked
    something, and have become wrong without others.

    They wait until a person sees them: nothing is said of what is wrong in them, and what they may change waits, too.
    """
    return {
        name: doubt
        for name, doubt in report.attempt.doubts.items()
        if not _stands(report, name, doubt) and (name not in held or _is_wrong(report, name))
    }


def _is_wrong(report: Report, name: str) -> bool:
    """Whether an entry of an answer is wrong as it was read; of what cannot be read, none is."""
    said = report.attempt.answers.get(name)
    return not isinstance(said, Unreadable) and any(verdict.state == "wrong" for verdict in report.of(name).values())


def _stands(report: Report, name: str, doubt: Doubt) -> bool:
    """Whether an answer is right as it was read, or has its shape because of a misconception that leads to all of it,
    or lacks only what later lines imply; a line that was not asked for stands where nothing was lost.  A blank is in
    doubt only where they imply it.
    """
    verdicts = report.of(name).values()
    if doubt.of_blank:
        return any(verdict.state != "implied" for verdict in verdicts)
    if not verdicts:
        return report.total == report.available
    explained = {e.number for e in report.events if doubt.of_shape and e.kind == "misconception"}
    stands = ("correct", "follows", "implied") if doubt.of_shape else ("correct", "follows")
    return all(v.state in stands or v.event in explained for v in verdicts)


def _without(attempt: Attempt, report: Report, held: Mapping[str, Doubt]) -> Attempt:
    """The attempt without what may be wrong only as it was read, and without its remarks."""
    answers = dict(attempt.answers)
    for name in held.keys() & answers.keys():
        said = answers[name]
        if _is_wrong(report, name):
            answers[name] = Unreadable(rows_text(said) if isinstance(said, Grid) else "", held[name].says)
    more = {step: grid for step, grid in attempt.more.items() if step not in held}
    told = {doubt.remark for doubt in held.values()}
    remarks = [remark for remark in attempt.remarks if remark.says not in told]
    remarks += [Remark(step, held[step].says) for step in attempt.more if step in held]
    return replace(attempt, answers=answers, more=more, remarks=tuple(remarks))


# ------------------------------------------------------------------------------------------------ all parts


def _as_read(
    question: Question,
    attempt: Attempt,
    policy: Policy,
    lines: tuple[SchemeLine, ...],
    held: Mapping[str, Doubt],
) -> Report:
    """Every part marked, what was said of the whole attempt, and which marks wait for a person."""
    derivations = _derivations(question, attempt, held)
    pieces = {line: _pieces(line, [own.steps for own in derivations]) for line in lines}
    alone = tuple(piece for found in pieces.values() for piece in found)
    report = Report(question, attempt, policy, (), (), ())
    for own in derivations:
        own.attempt = report.attempt
        report = _joined(report, own.marked(policy, alone, len(report.events)))
    for part in question.parts:
        if not any(part.name in own.steps for own in derivations):
            asked = replace(part, marks=next(line.marks for line in alone if part.name in line.parts))
            said = attempt.answers.get(part.name)
            report = _joined(report, mark_answer(asked, said, question, policy, len(report.events), report.attempt))
    marks = tuple(_of_lines(pieces, report.marks)) if policy.marks else ()
    short = {notice.part for notice in report.notices if notice.kind == "blank"}
    laid_out = replace(report.attempt, answers=_as_laid_out(report, short), remarks=tuple(_left_to_say(report)))
    report = replace(report, attempt=laid_out, marks=marks, notices=tuple(_notices(report, held)))
    return replace(report, marks=tuple(_with_what_is_pending(report, held, short)))


def _notices(report: Report, held: Mapping[str, Doubt]) -> Iterator[Notice]:
    """Everything that has to be said, of answers that are held back only why."""
    notices = [n for n in (*report.notices, *_precision(report)) if n.kind != "blank" or n.part not in held]
    shown = {notice.part for notice in notices if notice.says in {doubt.says for doubt in held.values()}}
    for part in report.question.parts:
        if part.name in held and part.name not in shown:
            notices.append(Notice(part.name, "reading", held[part.name].says))
    for notice in notices:
        yield notice if report.policy.marks else replace(notice, marks=0)


def _derivations(question: Question, attempt: Attempt, held: Collection[str] = ()) -> list[DerivationAnswers]:
    """The parts of a question by the derivation that they belong to; a step asked for again stands for itself."""
    found: dict[tuple[int, int], DerivationAnswers] = {}
    for part in question.parts:
        if (asked := where(question, part)) is None:
            continue
        d, step = asked
        times = sum(step in own.steps.values() for (of, _), own in found.items() if of == id(d))
        own = found.setdefault((id(d), times), DerivationAnswers(question, attempt, d, held=held))
        own.steps[part.name] = step
        if isinstance(part.answer, EntriesAnswer):
            own.blanks[step] = part.answer.cells
    return list(found.values())


def _joined(report: Report, other: Report) -> Report:
    return replace(
        other,
        verdicts=(*report.verdicts, *other.verdicts),
        events=(*report.events, *other.events),
        marks=(*report.marks, *other.marks),
        notices=(*report.notices, *other.notices),
        own={**report.own, **other.own},
    )


def _pieces(line: SchemeLine, derivations: Sequence[Collection[str]]) -> list[SchemeLine]:
    """A line as what is marked at once: its parts in each derivation, and every other part for itself.

    Each piece of several has the one mark, which in the end needs all of them.
    """
    runs = [tuple(part for part in line.parts if part in own) for own in derivations]
    inside = {part for run in runs for part in run}
    runs += [(part,) for part in line.parts if part not in inside]
    return [replace(line, parts=run) for run in runs if run] if line.parts not in runs else [line]


def _of_lines(pieces: Mapping[SchemeLine, Sequence[SchemeLine]], marks: Sequence[Given]) -> Iterator[Given]:
    """The marks line by line, those of the pieces of a line as one: given if all pieces have it."""
    joined = {piece.parts: line for line, found in pieces.items() if len(found) > 1 for piece in found}
    told: dict[SchemeLine, list[Given]] = {}
    for given in marks:
        if given.code != "N" and given.parts in joined:
            told.setdefault(joined[given.parts], []).append(given)
        elif given.code != "N" or not any(set(given.parts) & set(parts) for parts in joined):
            yield given  # a final answer alone earns nothing where it shares its mark with other answers
    for line, found in told.items():
        lost = [given for given in found if given.given < given.of]
        worst = next((given for given in lost if not given.pending), lost[0] if lost else found[0])
        yield replace(worst, parts=line.parts)


# ------------------------------------------------------------------------------------------------ one derivation


def where(question: Question, part: Part) -> tuple[Derivation, str] | None:
    """The derivation and the step that a part asks for; None if it asks for something else, or has no numbers."""
    if (asked := asked_step(question, part)) is None:
        return None
    d, step = asked
    return asked if any(s.name == step and isinstance(s.result, Matrix) for s in d) else None


@dataclass
class DerivationAnswers:
    """The parts of a question that belong to one derivation, each with its step, and what was written for them."""

    question: Question
    attempt: Attempt
    d: Derivation
    steps: dict[str, str] = field(default_factory=dict)
    blanks: dict[str, tuple[Cell, ...]] = field(default_factory=dict)
    held: Collection[str] = ()

    @property
    def upright(self) -> bool:
        return self.d.orientation == "rows"

    def _upright(self, grid: Grid) -> Grid:
        """A grid of the sheet with tokens as rows, and back."""
        return grid if self.upright else grid.T

    def script(self) -> Script:
        """What was written, with tokens as rows."""
        d, memory = key_of(self.d)
        said = [(step, self.attempt.answers.get(part)) for part, step in self.steps.items()]
        more = [(step, grid) for step, grid in self.attempt.more.items() if step in d and step not in d.givens]
        written: dict[str, Grid] = {}
        for step, grid in (*said, *more):
            if isinstance(grid, Grid) and not grid.empty and grid.rows[0]:
                written.setdefault(step, self._upright(grid))
        printed: dict[str, frozenset[Cell]] = {}
        if self.blanks:  # what has boxes and is not blank was printed
            assert self.question.problem is not None
            boxed = {step.name for step in self.question.problem.asked_steps}.union(self.blanks)
            for line in (line for line in d if line.name in boxed):
                shape = values_of(line.result).shape
                blank = {c if self.upright else c[::-1] for c in self.blanks.get(line.name, ())}
                printed[line.name] = frozenset(indices(shape)) - blank
                if not blank:
                    written[line.name] = Grid.blank(*shape)
        return Script(
            d,
            in_percent(d, with_precision(written)),
            frozenset(self.steps.values()),
            printed,
            *precision_of(self.question),
            stated=frozenset(step for part, step in self.steps.items() if self._shape_stated(part) == "right"),
            in_doubt=frozenset(self._in_doubt()),
            memory=Memory(memory),
        )

    def _in_doubt(self) -> Iterator[str]:
        """The steps to which something was written that a person has to read."""
        for part, step in self.steps.items():
            said = self.attempt.answers.get(part)
            entries = said.cells() if isinstance(said, Grid) else ()
            if part in self.held or any(entry.complaint for _, _, entry in entries):
                yield step

    def _shape_stated(self, part: str) -> Literal["right", "wrong", ""]:
        """Whether the shape that was stated is that of the matrix, as it lies on the sheet; "" if it is that of what
        was written, which is marked for itself.
        """
        stated, said = self.attempt.shapes.get(part), self.attempt.answers.get(part)
        if stated == values_of(self.d[self.steps[part]].result).shape:
            return "right"
        return "wrong" if stated and not (isinstance(said, Grid) and said.shape == stated) else ""

    def marked(self, policy: Policy, lines: tuple[SchemeLine, ...], first_event: int) -> Report:
        """The verdicts, events and marks of these parts.

        Matrices in each other's boxes are marked as what they are if all is right then, or more of it, and no
        misconception explains them where they stand.
        """
        script = self.script()
        as_it_stands = self._as_it_stands(script, policy, lines, first_event)
        moves = {} if _is_right(as_it_stands) else misplaced(script, policy)
        if not moves:
            return as_it_stands
        other = self._moved(moves)
        moved = other._as_it_stands(other.script(), policy, lines, first_event)
        if not _is_right(moved):  # otherwise what comes after them shows that they were used as what they are
            beliefs = {event.number for event in as_it_stands.events if event.kind == "misconception"}
            wrong = [v for v in as_it_stands.verdicts if self.steps.get(v.part) in moves and v.state == "wrong"]
            is_explained = all(verdict.event in beliefs for verdict in wrong)
            if is_explained or _earned(moved) <= _earned(as_it_stands):
                return as_it_stands
        parts = {step: part for part, step in self.steps.items()}
        pairs = ", ".join(f"{parts[step]} → {parts[target]}" for step, target in moves.items())
        says = message(
            "Some matrices are in each other's boxes; each was marked as the matrix that it is ({pairs}).", pairs=pairs
        )
        return replace(moved, notices=(Notice("", "reading", says), *moved.notices))

    def _moved(self, moves: Mapping[str, str]) -> DerivationAnswers:
        """The same with matrices in the boxes of the steps that they belong to, where they are not in doubt."""
        parts, answers = {step: part for part, step in self.steps.items()}, self.attempt.answers
        kept = {part: said for part, said in answers.items() if self.steps.get(part) not in moves}
        moved = {parts[target]: answers[parts[step]] for step, target in moves.items()}
        doubts = {name: d for name, d in self.attempt.doubts.items() if name not in moved and name in answers}
        return replace(self, attempt=replace(self.attempt, answers={**kept, **moved}, doubts=doubts))

    def _as_it_stands(self, script: Script, policy: Policy, lines: tuple[SchemeLine, ...], first_event: int) -> Report:
        own_masks = list(under_own_masks(script, self.question, self.attempt))
        masked = likeliest(Trace(script, policy), own_masks) if own_masks else None
        diagnosis, meant = understood(masked.script if masked else script, policy)
        own = tuple(line for line in lines if line.parts[0] in self.steps)
        found = awarded(diagnosis, lambda one: self._awarding(one, own))
        notices = list(found.notices)
        transposed = any(reading.kind == "layout" for reading in meant)
        events = [self._event(found, event, first_event, transposed) for event in found.events]
        for reading in meant:
            if reading.given:
                number = first_event + len(events)
                event, notice = self._misread(reading, number, policy)
                events.append(event)
                notices.append(notice)
            else:
                notices.append(Notice("", "layout" if reading.kind == "layout" else "method", reading.says))
        verdicts = tuple(self._verdicts(found, script, transposed, first_event))
        notices += self._in_percent(script)
        notices += self._unread()
        notices += self._of_shapes()
        notices += self._read_in_several_ways(diagnosis)
        followed = dict.fromkeys(self.steps, self._own(diagnosis, transposed)) if found.events else {}
        given = tuple(map(self._as_it_lies, found.given))
        report = Report(self.question, self.attempt, policy, verdicts, tuple(events), given, tuple(notices))
        return replace(report, own=followed)

    def _as_it_lies(self, given: Given) -> Given:
        """Marks for whole tokens, which are columns of the sheet where they are rows of the script."""
        if self.upright or given.why is None or given.why.reason != "rows":
            return given
        return replace(given, why=replace(given.why, reason="columns"))

    def _of_shapes(self) -> Iterator[Notice]:
        for part in self.question.parts:
            if part.shape_counts and part.name in self.steps and self._shape_stated(part.name) == "wrong":
                rows, columns = self.attempt.shapes[part.name]
                says = message("The shape is not {shape}: a shape is rows × columns.", shape=f"{rows}×{columns}")
                yield Notice(part.name, "reading", says)

    def _own(self, trace: Trace, transposed: bool) -> Derivation:
        """What was written and what follows from it, as it lies on the student's page."""
        lines = {name: trace.carried[name] for name in trace.script.written if name in trace.carried}
        own = continued(trace.script.d, lines)
        return turned(own) if (not self.upright) != transposed else own

    def _awarding(self, trace: Diagnosis, lines: tuple[SchemeLine, ...]) -> Awarding:
        """The marks of a script.

        Where a mistake may be in a line that was left out or in one that was written, the milder view is taken.
        """
        found = Awarding(trace, trace.policy, lines, self.steps, self.attempt.methods, self.question.intended)
        if trace.disagrees:
            other = replace(found, trace=diagnosed(trace.script, trace.policy, as_written=True))
            return max(found, other, key=lambda one: sum(map(one.earned, lines)))
        return found

    def _place(self, found: Awarded, step: str, i: int, j: int, transposed: bool) -> Cell:
        """Where an entry stands on the student's page."""
        turn = (not self.upright) != (transposed and step in found.script.written)
        return (j, i) if turn else (i, j)

    def _verdicts(self, found: Awarded, script: Script, transposed: bool, first: int) -> Iterator[Verdict]:
        for verdict in found.verdicts:
            step, i, j = verdict.place
            right = values_of(script.d[step].result)
            row, column = self._place(found, step, i, j, transposed)
            yield replace(
                verdict,
                part=part_of(self.steps, step),
                i=row,
                j=column,
                right=right[i, j] if i < right.shape[0] and j < right.shape[1] else None,  # of another shape
                event=None if verdict.event is None else first + verdict.event,
            )

    def _event(self, found: Awarded, event: Event, first: int, transposed: bool) -> Event:
        entries = tuple(
            (part_of(self.steps, step), *self._place(found, step, i, j, transposed)) for step, i, j in event.entries
        )
        candidates = tuple(sorted(event.candidates, key=_likelihood))
        if event.in_part:
            says = _only_in([(i, j) for _, i, j in entries])
            candidates = tuple(replace(c, says=says) if c.kind == "misconception" else c for c in event.candidates)
        part = part_of(self.steps, event.part)
        return replace(event, number=first + event.number, part=part, candidates=candidates, entries=entries)

    def _misread(self, reading: ScriptReading, number: int, policy: Policy) -> tuple[Event, Notice]:
        """One given number misread: one event, one penalty, and everything else marked on what was read."""
        assert reading.given is not None
        name, i, j, right, value = reading.given
        if not self.upright:
            i, j = j, i
        says = message(
            "Entry ({row}, {column}) of {matrix} is {right}, but {read} was used.",
            row=i + 1, column=j + 1, matrix=name, right=plain_number(right), read=plain_number(value),
        )  # fmt: skip
        besides = message("A given number was misread; everything else is marked with the number that was used.")
        shown = next(part for part, step in self.steps.items() if step in reading.decisive)
        event = Event(number, shown, (name,), "misread", (Candidate("misread", "A14", says, sentence=True),))
        return event, Notice("", "misread", sentences(says, besides), policy.misread, number, besides)

    def _read_in_several_ways(self, trace: Trace) -> Iterator[Notice]:
        """Which reading was taken; where none is right, a person has to look."""
        said = (one for one in self.attempt.answers.values() if isinstance(one, Grid))
        twofold = {entry.text: entry.readings for grid in said for _, _, entry in grid.cells()}
        for step, grid in trace.script.written.items():
            for i, j, entry in grid.cells():
                if len(ways := twofold.get(entry.text, ())) < 2:
                    continue
                verdict = trace.at((step, i, j))
                if verdict is not None and verdict.state == "wrong":
                    says = message(
                        "{text} was read as {number}; it may also mean {other}, and a person has to look.",
                        text=entry.text, number=ways[0].echo, other=ways[1].echo,
                    )  # fmt: skip
                    yield Notice(part_of(self.steps, step), "human", says)
                elif entry.echo != ways[0].echo:
                    says = message("{text} was read as {number}.", text=entry.text, number=entry.echo)
                    yield Notice(part_of(self.steps, step), "reading", says)

    def _in_percent(self, script: Script) -> Iterator[Notice]:
        """Where numbers were read as percentages that have no sign of it."""
        for part, step in self.steps.items():
            said, grid = self.attempt.answers.get(part), script.written.get(step)
            if isinstance(said, Grid) and grid is not None:
                pairs = zip(said.cells(), self._upright(grid).cells(), strict=True)
                if any(typed.value is not read.value for (*_, typed), (*_, read) in pairs):
                    yield Notice(part, "reading", message("These weights were read as percentages."))

    def _unread(self) -> Iterator[Notice]:
        for part in self.steps:
            said: Said | None = self.attempt.answers.get(part)
            if isinstance(said, Unreadable):
                yield Notice(part, "reading", said.complaint)
            elif said is not None and not isinstance(said, Grid):
                yield Notice(part, "reading", message("A matrix was expected here."))
            elif isinstance(said, Grid):
                yield from (Notice(part, "reading", says) for says in unread(said.cells()))


def _is_right(report: Report) -> bool:
    return not report.events and report.total == report.available


def _earned(report: Report) -> tuple[int, int]:
    """How good a report is for the student: by marks, then by the number of mistakes."""
    return report.total, -len(report.events)


def _only_in(cells: Sequence[Cell]) -> Message:
    """Where alone something was done otherwise."""
    rows, columns = ({c[k] for c in cells} for k in (0, 1))
    if len(rows) == 1:
        return message("in row {row} only", row=rows.pop() + 1)
    if len(columns) == 1:
        return message("in column {column} only", column=columns.pop() + 1)
    return message("not in all rows and columns")


def _likelihood(candidate: Candidate) -> int:
    """The likeliest misconception first, and slips as they were found, before them."""
    return PRIOR[misconception(candidate.id).prior] if candidate.kind == "misconception" else -1


# ------------------------------------------------------------------------------------------------ what is pending


def _with_what_is_pending(report: Report, held: Mapping[str, Doubt], short: Collection[str]) -> Iterator[Given]:
    """The marks in the order of the parts; those not given are pending where something has to be read first.

    So are those for a line that later ones imply, where numbers that could not be read may be that line.
    """
    order, unread = [part.name for part in report.question.parts], _Unread(report, held, short)
    for given in sorted(report.marks, key=lambda given: (given.code == "N", order.index(given.parts[0]))):
        if not unread.blanks.isdisjoint(given.parts):
            given = replace(given, given=0)
        pending = given.given < given.of and (unread.holds(given) or (not given.pending and unread.is_under(given)))
        yield replace(given, why=TO_BE_READ, pending=True) if pending else given


@dataclass(frozen=True)
class _Unread:
    """What a person has to read before a report's marks are final.

    An answer that is none as it was read or is `short` of something, the method of one that is no line, working that
    may be there, or a line that may change what comes after it or what it implies.
    """

    report: Report
    held: Mapping[str, Doubt]
    short: Collection[str]

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        return {part.name: part for part in self.report.question.parts}

    @cached_property
    def lines(self) -> Mapping[str, tuple[Derivation, str]]:
        """The line of a derivation that each part asks for, if it asks for one."""
        return {name: asked for name, part in self.parts.items() if (asked := where(self.report.question, part))}

    @cached_property
    def illegible(self) -> Mapping[str, bool]:
        """The parts with entries that cannot be read, and whether others of theirs are wrong."""
        states = {name: {verdict.state for verdict in self.report.of(name).values()} for name in self.parts}
        return {name: "wrong" in own for name, own in states.items() if "unreadable" in own}

    @cached_property
    def left_out(self) -> frozenset[str]:
        return frozenset(name for name in self.parts if self.report.attempt.answers.get(name) is None)

    @cached_property
    def blanks(self) -> frozenset[str]:
        """The parts without an answer that may have been given all the same."""
        return frozenset(name for name, doubt in self.held.items() if doubt.of_blank)

    @cached_property
    def names(self) -> frozenset[str]:
        """The parts for which there is something to be read, also those that one of two answers may be meant for."""
        parts = self.parts
        doubts = self.report.attempt.doubts
        twice = {type(parts[name].answer) for name, doubt in doubts.items() if doubt.of_two and name in parts}
        meant_for = (name for name in self.left_out if type(parts[name].answer) in twice)
        return frozenset(self.report.attempt.unread).union(self.held, self.illegible, meant_for)

    @cached_property
    def wanting(self) -> frozenset[str]:
        """The parts that have no answer yet, or less than all of it."""
        illegible = (name for name, is_wrong in self.illegible.items() if not is_wrong)
        no_answers = (name for name, said in self.report.attempt.answers.items() if cannot_be_read(said))
        return self.left_out.union(self.held, self.short, illegible, no_answers)

    def holds(self, given: Given) -> bool:
        """Whether marks wait for what has to be read of their own parts, or for working."""
        waiting = self.names & self.wanting
        if given.code == "M":
            waiting |= self.names - self.lines.keys()
        return not waiting.isdisjoint(given.parts) or (bool(self.names) and given.why == NO_WORKING)

    @cached_property
    def unread_lines(self) -> list[tuple[Derivation, str]]:
        """The lines whose marks wait, and those that were not asked for and are held back."""
        waiting = [given for given in self.report.marks if given.given < given.of and self.holds(given)]
        found = [self.lines[part] for given in waiting for part in given.parts if part in self.lines]
        if (problem := self.report.question.problem) is not None:
            d = problem.derivation
            found += [(d, step) for step in self.held if step not in self.lines and step in d]
        return found

    def is_under(self, given: Given) -> bool:
        """Whether a line of the marks comes after an unread one, or was left out and may be implied by it."""
        return any(map(self._may_change, given.parts))

    def _may_change(self, part: str) -> bool:
        if part not in self.lines:
            return False
        d, own = self.lines[part]
        steps = [step for other, step in self.unread_lines if other is d]
        return any(step in d.before(own) or (part in self.left_out and own in d.before(step)) for step in steps)


# ------------------------------------------------------------------------------------------------ what else is said


def _as_laid_out(report: Report, short: Collection[str]) -> Mapping[str, Said]:
    """The answers, with every matrix that is `short` of rows or columns as it was marked: the rest of it blank."""
    answers = dict(report.attempt.answers)
    for part in short:
        said, cells = answers.get(part), report.of(part)
        rows, columns = (1 + max((cell[k] for cell in cells), default=-1) for k in (0, 1))
        if isinstance(said, Grid) and said.shape != (rows, columns) and said.fits_in((rows, columns)):
            laid = Grid.blank(rows, columns)
            for (i, j), verdict in cells.items():
                laid = laid.put(i, j, verdict.written)
            answers[part] = laid
    return answers


def _left_to_say(report: Report) -> Iterator[Remark]:
    """What was remarked in reading, but for complaints about an answer that a notice with its place tells."""
    parts = {part.name for part in report.question.parts}
    told = {notice.says for notice in report.notices}
    told |= {str(n.says.values.get("complaint")) for n in report.notices if isinstance(n.says, Message)}
    for remark in report.attempt.remarks:
        if remark.says not in told or remark.where.partition("[")[0] not in parts:
            yield remark


def _precision(report: Report) -> Iterator[Notice]:
    """At most one mark a question for everything that was rounded too early or to too few places (3.5)."""
    rounded = [v for v in report.verdicts if not OF_PLACES.isdisjoint(v.flags)]
    if rounded:
        exact, places = precision_of(report.question)
        if all("precision" not in v.flags for v in rounded):
            says = message("Numerically right, but rounded on the way to fewer places than are shown.")
        elif exact:
            says = message("Numerically right, but the question asks for exact values.")
        else:
            says = message("Numerically right, but the question asks for {places} places.", places=places)
        yield Notice(rounded[0].part, "precision", says, report.policy.precision)
