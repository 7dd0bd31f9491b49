"""A report put into words and formulas: its lines with a sign at every entry, and one sentence for every mistake.

`Reader` says for whom.  A student is told no right value but one of every mistake, worked out in the student's own
numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Literal

from symattn.derivation.derivation import Derivation, Op
from symattn.derivation.misconceptions import COUNTING, SLIPS, WrongDerivation, misconceptions, whole
from symattn.derivation.ops import Softmax
from symattn.exact import NEGATIVE_INFINITY, decide, decimal_text, rounded
from symattn.exact.values import RATIONAL
from symattn.formula import NOTHING, Dots, Formula, Marked, MatrixOf, Relation, read_formula
from symattn.formula import Text as FormulaText
from symattn.formula.width import width
from symattn.foundation.languages import capitalised, counted, listed, message, sentences
from symattn.marking.attempt import Entry, Grid, Grids, Remark, Shaded, Shaped, Text, Ticked
from symattn.marking.marker.diagnosis import LAST_RESORT
from symattn.marking.marker.report import Candidate, Cell, Event, Flag, Given, Notice, Report, State, Verdict, Way
from symattn.marking.marker.script import precision_of
from symattn.marking.reports import words
from symattn.marking.reports.worked import LONGEST, LONGEST_TO_READ, StudentWork, as_read, short
from symattn.page.document import Inlines, Math, Quoted, Strong, as_text, begun, in_turn, listing, sentence
from symattn.teaching.explanation.wording import Wording, in_signs, step_in_signs
from symattn.teaching.problems.derived import feedback
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
    asked_step,
    marks_in_words,
    option_letter,
)

Reader = Literal["student", "teacher"]

WIDEST = 56.0
"""How wide a matrix may be, in em, to be set on a line, if need be in smaller letters; a wider one is told by entry."""

MOST_PLACES = 4
"""Entries that are told one by one; of more, so many and how many others."""

MOST_FITS = 2
"""Explanations of one mistake that are told to a student."""

MOST_TOLD = 6
"""Mistakes that a student is told; of more, how many they are.  Each has its number at the entries, in any case."""

MOST_LINES = 8
"""Lines that are named one by one; of more, how many they are."""


@dataclass(frozen=True)
class ReportLine:
    """One line of a script: what it is called, what was written, and what there is to say.

    `formulas` are equations on lines of their own, for the lines of a derivation: one, or one for every entry.
    `answer` is anything else, in a line of text, with the marks for it.
    """

    part: str
    label: Inlines
    formulas: tuple[Formula, ...]
    answer: Inlines
    marks: str
    remarks: Inlines


class LineReport:
    """What a report has of one part of the question, or of a matrix that was written though it was not asked for.

    `derivation` is the one that the part belongs to, and `step` what is asked of it, None where that is no step;
    `wording` has its names, and `whole` those of the same derivation matrix by matrix, as misconceptions are told.
    """

    def __init__(self, told: ReportText, name: str, verdicts: Mapping[Cell, Verdict]) -> None:
        report = told.report
        self._told, self._report = told, report
        self.name, self.verdicts = name, verdicts
        self.part = next((part for part in report.question.parts if part.name == name), None)
        self.answer = self.part.answer if self.part else None
        self.said = report.attempt.answers.get(name) or report.attempt.more.get(name)
        self.grid = self.said if isinstance(self.said, Grid) and not self.said.empty else None
        problem = report.question.problem
        self.derivation, self.step = problem.derivation if problem else None, None if self.part else name or None
        if self.part and (asked := asked_step(report.question, self.part)):
            self.derivation, self.step = asked

    @property
    def wording(self) -> Wording | None:
        return self._told.wording(self.derivation) if self.derivation else None

    @property
    def whole(self) -> Wording | None:
        return self._told.wording(self.derivation, together=True) if self.derivation else None

    @property
    def sign(self) -> Formula | None:
        """The name of its step; None if it is no step of a derivation."""
        return self.wording.name(self.step) if self.wording and self.step else None

    @property
    def op(self) -> Op | None:
        """The operation of its step."""
        d, step = self.derivation, self.step
        return d[step].op if d is not None and step is not None and step in d else None

    @property
    def states(self) -> set[State]:
        return {verdict.state for verdict in self.verdicts.values()}

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of what is asked for."""
        return max((i for i, _ in self.verdicts), default=-1) + 1, max((j for _, j in self.verdicts), default=-1) + 1

    def written(self, verdict: Verdict) -> Formula:
        """What a verdict is of, as it was read; a shape that there is not, in the words of the page."""
        if self.said == Shaped(None):
            return FormulaText(words.UNDEFINED)
        return NOTHING if verdict.written.blank else as_read(verdict.written)

    @cached_property
    def own(self) -> StudentWork | None:
        """The student's own lines in its derivation; None if nothing went wrong in it."""
        d, own = self._report.own.get(self.name), self._report.own
        if d is None or self.wording is None:
            return None
        lines = {name: grid for name, grid in self._report.attempt.more.items() if name in d and not grid.empty}
        for line in map(self._told.of, self._told.parts):
            if own.get(line.name) is d and line.step and line.grid:
                lines[line.step] = line.grid
        exact, places = precision_of(self._report.question)
        return StudentWork(d, lines, Wording(d, self.wording.notation), places, exact)

    @property
    def work(self) -> tuple[StudentWork, str] | None:
        """The student's own lines and the step among them; None if it is none of them."""
        return (self.own, self.step) if self.own is not None and self.step and self.step in self.own else None


@dataclass(frozen=True)
class ReportText:
    """A report as it is told to one reader; `alone`: to somebody whose work nobody else will look at."""

    report: Report
    reader: Reader
    of_exam: bool = False
    alone: bool = False
    _wordings: dict[tuple[int, bool], Wording] = field(default_factory=dict, compare=False, repr=False)
    _lines: dict[str, LineReport] = field(default_factory=dict, compare=False, repr=False)

    @property
    def for_student(self) -> bool:
        return self.reader == "student"

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of the question."""
        return tuple(part.name for part in self.report.question.parts)

    def of(self, name: str) -> LineReport:
        """What the report has of a part, or of a matrix that was not asked for."""
        if name not in self._lines:
            self._lines[name] = LineReport(self, name, self._verdicts.get(name, {}))
        return self._lines[name]

    @cached_property
    def _verdicts(self) -> dict[str, dict[Cell, Verdict]]:
        found: dict[str, dict[Cell, Verdict]] = {}
        for verdict in self.report.verdicts:
            found.setdefault(verdict.part, {})[verdict.i, verdict.j] = verdict
        return found

    def wording(self, d: Derivation, together: bool = False) -> Wording:
        """The words for a derivation: as it is, or matrix by matrix."""
        key = id(d), together
        if key not in self._wordings:
            self._wordings[key] = Wording(whole(d) if together else d, self.report.question.notation)
        return self._wordings[key]

    # -- lines

    @cached_property
    def lines(self) -> tuple[ReportLine, ...]:
        """Every part in the order of the question, then what was written though nobody asked for it."""
        return tuple(map(self._line, dict.fromkeys((*self.parts, *self.report.attempt.more))))

    def _line(self, name: str) -> ReportLine:
        line = self.of(name)
        remarks = [*self._mistakes(line), *self._following(line), *_made_to_sum(line), *self._noticed(name)]
        remarks += self._reasons(line)
        formulas = self._equations(line)
        answer = () if formulas else self._answer(line)
        marks = self._marks_text(self._given(name))
        return ReportLine(name, self.label(name), formulas, answer, marks, in_turn(remarks))

    def label(self, name: str) -> Inlines:
        """What a part is called on the page."""
        part = self.of(name).part
        return self._told_apart(part, part.title) if part else self.named(name)

    def _told_apart(self, part: Part, called: Inlines) -> Inlines:
        """What a part is called; where several are, with what stands before it: its number, on a paper its letter."""
        if sum(other.title == part.title for other in self.report.question.parts) == 1:
            return called
        before = part.name if self.of_exam else str(self.parts.index(part.name) + 1)
        return sentence("{title} ({part})", title=called, part=Quoted(before))

    # -- what was written, with signs

    def _answer(self, line: LineReport) -> Inlines:
        verdicts, answer = line.verdicts, line.answer
        match line.said:
            case Grid() if line.grid:
                return as_text(self._matrix(line.grid, verdicts))
            case Grids(grids):
                known = answer.model if isinstance(answer, PropertyAnswer) else ()
                verdict = verdicts.get((0, 0))
                sign = (Math(self._marked(NOTHING, verdict)),) if verdict else ()
                return in_turn([*(_named(name, grid, name in known) for name, grid in grids.items()), sign])
            case Entry() as entry if not entry.blank:
                return (Math(self._marked(as_read(entry), verdicts.get((0, 0)))),)
            case Ticked() if isinstance(answer, ChoiceAnswer) and answer.several:
                return self._options(verdicts)
            case Shaded(cells) if isinstance(answer, CellsAnswer) and verdicts:
                return self._cells(answer, cells, verdicts)
            case Text(text, points) if isinstance(answer, RubricAnswer) and text.strip():
                unread = Math(Marked(NOTHING, *(words.UNMARKED if self.alone else words.UNREAD)))
                shown = short(text, LONGEST if self.for_student else LONGEST_TO_READ)
                return in_turn([sentence("“{text}”", text=shown), () if points is not None else (unread,)])
        if not verdicts:
            return (Math(Marked(NOTHING, *words.SIGNS["missing"])),)
        first = verdicts[min(verdicts)]
        return (Math(self._marked(line.written(first), first)),)

    def _equations(self, line: LineReport) -> tuple[Formula, ...]:
        """name = what was written; nothing where the line is no matrix."""
        if line.step is None or not isinstance(line.said, Grid | None):
            return ()
        if line.grid is None:
            shown: Formula = Marked(NOTHING, *words.SIGNS["implied" if line.states == {"implied"} else "missing"])
        else:
            shown = self._matrix(line.grid, line.verdicts)
            if line.wording and width(shown) > WIDEST:
                return tuple(
                    Relation(
                        (line.wording.entry(line.step, i, j), self._marked(as_read(entry), line.verdicts.get((i, j)))),
                        ("=",),
                    )
                    for i, j, entry in line.grid.cells()
                )
        return (Relation((line.sign, shown), ("=",)) if line.sign else shown,)

    def _matrix(self, grid: Grid, verdicts: Mapping[Cell, Verdict]) -> Formula:
        rows = tuple(
            tuple(self._marked(as_read(entry), verdicts.get((i, j))) for j, entry in enumerate(row))
            for i, row in enumerate(grid.rows)
        )
        return rows[0][0] if grid.shape == (1, 1) else MatrixOf(rows)

    def _options(self, verdicts: Mapping[Cell, Verdict]) -> Inlines:
        """The options that were ticked; for the teacher those as well that should have been."""
        shown = [(v, v.written.text) for v in verdicts.values() if not v.written.blank]
        if not self.for_student:
            left = (v for v in verdicts.values() if v.written.blank and v.state == "wrong")
            shown += [(v, f"({option_letter(v.i)})") for v in left]
        return listing([(Math(self._marked(FormulaText(text), v)),) for v, text in shown], "") or as_text(words.NOTHING)

    def _cells(self, answer: CellsAnswer, shaded: Collection[Cell], verdicts: Mapping[Cell, Verdict]) -> Inlines:
        def cell(place: Cell) -> Formula:
            if place in shaded:
                return self._marked(FormulaText(words.SHADED), verdicts.get(place))
            missing = place in verdicts and verdicts[place].state == "wrong" and not self.for_student
            return self._marked(Dots("cell"), verdicts[place]) if missing else Dots("cell")

        rows, columns = answer.shape
        return (Math(MatrixOf(tuple(tuple(cell((i, j)) for j in range(columns)) for i in range(rows)))),)

    def _marked(self, body: Formula, verdict: Verdict | None) -> Formula:
        """A formula with the sign of its verdict; an entry that is printed in the question has none."""
        if verdict is None:
            return Dots("cell") if body == FormulaText("") else body
        sign, says = words.SIGNS[verdict.state]
        if verdict.state == "wrong" and verdict.event is not None:
            number = verdict.event + 1
            sign, says = sign + _lowered(number), message("wrong, mistake {number}", number=number)
        return Marked(body, sign, says)

    # -- marks

    def marks(self) -> Iterator[tuple[Inlines, str]]:
        """The marks of every line of the scheme that is a line of a derivation, with its name; then what is added and
        taken off, so that all of it adds up to the total."""
        of_steps: dict[tuple[str, ...], list[Given]] = {}
        for given in self.report.marks:
            if given.code != "N" and self.of(given.parts[0]).step is not None:
                of_steps.setdefault(given.parts, []).append(given)
        for parts, line in of_steps.items():
            yield self._name_of(parts), self._marks_text(line)
        if of_steps:
            alone = (given.given for given in self.report.marks if given.code == "N" and given.given)
            yield from ((as_text(words.ANSWER_ALONE), f"+{marks}") for marks in alone)
            for notice in self.report.notices:
                if notice.marks:
                    yield as_text(words.TAKEN_OFF.get(notice.kind, words.DEDUCTION)), f"−{notice.marks}"

    def _marks_text(self, given: Sequence[Given]) -> str:
        """The marks by code, for a teacher; for a student, how many of how many."""
        return plain_marks(given) if self.for_student else marks_text(given)

    def _name_of(self, parts: tuple[str, ...]) -> Inlines:
        """What a line of the scheme is called: where a step is asked token by token, as the step is."""
        if len({part.partition(".")[0] for part in parts}) > 1:
            return listing([self._name_of((part,)) for part in parts])
        line = self.of(parts[0])
        if line.part is None or line.sign is None or line.step is None or line.wording is None:
            return self.label(parts[0])
        if len(parts) > 1:
            return (Math(line.wording.name(line.step.partition(".")[0])),)
        return self._told_apart(line.part, (Math(line.sign),))

    def _given(self, part: str) -> list[Given]:
        """The marks of the line of the scheme that begins with this part."""
        return [g for g in self.report.marks if g.parts[:1] == (part,) and g.code != "N"]

    def _reasons(self, line: LineReport) -> Iterator[Inlines]:
        """Why marks were not given, where the signs do not say it already; for the teacher."""
        if self.for_student:
            return
        missing, single = line.states <= {"missing"}, len(line.verdicts) == 1
        codes: dict[str, dict[str, None]] = {}
        for given in self._given(line.name):
            why = given.why
            if why is None or given.given >= given.of or why.reason == "no working":  # this is told once, in the notes
                continue
            by_sign = missing and (why.reason != "wrong method" or why.withheld)
            if not (by_sign or (single and (why.counts or given.pending))):
                codes.setdefault(words.why(why), {})[given.code] = None
        if codes:
            reasons = (
                message("{codes}: {reason}", codes=listed([*lost]), reason=reason) for reason, lost in codes.items()
            )
            yield sentence("{reasons}.", reasons=words.parted(reasons))

    # -- mistakes

    def is_line(self, part: str) -> bool:
        """Whether a part is among the lines, so that a mistake in it is told with it."""
        return part in self.parts or part in self.report.attempt.more

    @cached_property
    def first(self) -> Event | None:
        """The mistake to look at first: a given number that was misread, else the first one that was found."""
        return min(self.report.events, key=lambda event: (event.kind != "misread", event.number), default=None)

    @cached_property
    def _told(self) -> tuple[Event, ...]:
        """The mistakes that are explained: for a student the first ones, since a script that is wrong throughout is not
        mended by a list."""
        events = sorted(self.report.events, key=lambda event: (event is not self.first, event.number))
        return tuple(sorted(events[:MOST_TOLD], key=lambda event: event.number))

    @cached_property
    def _said_before(self) -> dict[Inlines, Event]:
        """What is said of mistakes, with the first of which it is said."""
        return {self.says(event): event for event in reversed(self._told)}

    def _mistakes(self, line: LineReport) -> Iterator[Inlines]:
        """The mistakes of a line but for the first of all, which is told where to look first; the teacher has a list of
        them."""
        if not self.for_student:
            return
        alike: dict[Inlines, list[Event]] = {}
        for event in self._told:
            if event.part == line.name and event is not self.first and (says := self.says(event)):
                alike.setdefault(says, []).append(event)
        for says, events in alike.items():
            mistakes, before = listing([*map(self._at_places, events)]), self._said_before[says]
            if before not in events:
                yield sentence("{mistakes}: the same as mistake {number}.", mistakes=mistakes, number=before.number + 1)
            else:
                yield sentence("{mistakes}: {explanation}", mistakes=mistakes, explanation=says)
        for event in self._told:
            spoilt = (v for v in line.verdicts.values() if v.event == event.number)
            here = event.part != line.name and any(name == line.name for name, _, _ in event.entries)
            if here and not all(verdict.accepted for verdict in spoilt):
                yield sentence("Mistake {number} again.", number=event.number + 1)

    def mistake(self, event: Event) -> Inlines:
        """One mistake: number, place, what it was in the student's own numbers, and what to do about it."""
        return explained(self._at_places(event), self.says(event))

    def _at_places(self, event: Event) -> Inlines:
        """Mistake 2 (row 1, column 3)."""
        number, where = Strong(words.mistake(event.number + 1)), self.seen_at(event)
        return sentence("{mistake} ({place})", mistake=number, place=where) if where else (number,)

    def seen_at(self, event: Event) -> str:
        """Where a mistake is seen in its line; "" where the whole line has another shape."""
        return "" if event.kind == "shape" else self.where(event.part, _cells_in(event))

    def says(self, event: Event, begun: bool = False) -> Inlines:
        """What a mistake was, and what to do about it; `begun`, where its place has been told."""
        way_here: Inlines = ()
        if step := self.left_out(event):
            way_here = sentence("It was made on the way here, in {step}, which was not written down.", step=step)
        if not self.for_student or event.kind == "misread":
            return in_turn([way_here, self.explained(event)])
        shown = self._shapes(event) or in_turn([self._worked(event), *self._sums(event)])
        return in_turn([() if begun else way_here, shown, self.explained(event, bool(shown))])

    def where(self, part: str, cells: Collection[Cell]) -> str:
        """Places of a part in words; "" where there are none, or it is one thing."""
        line = self.of(part)
        if isinstance(line.answer, ChoiceAnswer):  # those left out are the key
            ticked = [i for i, _ in cells if not (self.for_student and line.verdicts[i, 0].written.blank)]
            letters = [*map(option_letter, ticked)] if len(line.verdicts) > 1 else []
            if len(letters) > 1:
                return message("options {letters}", letters=listed(letters))
            return message("option {letter}", letter=letters[0]) if letters else ""
        everything = {*line.verdicts, *cells}
        return places(cells, everything) if cells and len(everything) > 1 else ""

    def left_out(self, event: Event) -> Inlines:
        """The name of the step that a mistake was made in, where that was not written; else nothing."""
        here = self.of(event.part).step
        if here is None or event.kind == "misread" or event.step == here or self._is_written(event.step):
            return ()
        return self.named(event.step)

    def explained(self, event: Event, shown: bool = False) -> Inlines:
        """What it was: its names, all of them where several fit, and what to do about it.

        `shown` says that the student has been shown what is right in one place.
        """
        told = [pair for pair in dict.fromkeys(self._candidate(event, c) for c in event.candidates) if pair != ((), ())]
        against = self._against_option(event) if self.for_student else ()
        if not told:
            return against or as_text(self._unexplained(event, shown))
        if self.for_student:
            if slips := self._slips(event):
                return slips
            told = told[:MOST_FITS]
        if len(told) == 1:
            [(name, says)] = told
            return sentence("{name}. {advice}", name=name, advice=says or against) if name else says or against
        advice = [
            sentence("{name}: {advice}", name=name, advice=says) if name and says else says for name, says in told
        ]
        first, *others = [sentence("“{name}”", name=name) for name, _ in told if name] or [()]
        if not others:
            return in_turn(advice)
        if self.for_student:
            fits = sentence("This looks like {first}, or perhaps {others}.", first=first, others=listing(others, "or"))
        else:
            fits = sentence(
                "This fits {first}, and also {others}; they cannot be told apart here.",
                first=first, others=listing(others),
            )  # fmt: skip
        return in_turn([fits, *advice])

    def _candidate(self, event: Event, candidate: Candidate) -> tuple[Inlines, Inlines]:
        """An explanation: its name, and what to do; neither where that would give a student the key."""
        line, id = self.of(event.part), candidate.id
        says = as_text(_sentence(candidate)) if candidate.says else ()
        if known := misconceptions().get(id):
            lies = self.report.question.orientation
            called = known.called(lies)
            name = begun(line.whole.in_signs(called) if line.whole else in_signs(called, orientation=lies))
            if not says and line.whole:  # of a mistake in one row alone, this would be untrue of the whole matrix
                says = feedback(WrongDerivation(known, line.whole.derivation, None), line.whole)
        elif id in SLIPS and candidate.kind != "misread":
            advice = self._advice(event, candidate)
            if self.for_student:  # the name of a slip is the examiner's
                return (), advice
            name, says = begun(as_text(SLIPS[id].name)), says or advice
        elif self.for_student and candidate.kind != "misread" and _gives_away(candidate, line.answer):
            return (), ()
        else:
            counted = COUNTING.get(id)
            if self.for_student and counted is not None and candidate.says == counted.name:
                says = as_text(sentences(_sentence(candidate), message(counted.feedback)))
            return (), says
        return (name if self.for_student else sentence("{code} – {name}", code=id, name=name)), says

    def _slips(self, event: Event) -> Inlines:
        """How a slip was made in the student's own lines, in one or two ways; nothing where it was no such slip."""
        candidates, own = event.candidates[:MOST_FITS], self.report.own.get(event.part)
        if own is None or any(c.kind != "slip" or not c.says for c in candidates):
            return ()
        rows = own.orientation == "rows"  # else what is a row there is a column here
        ways = (
            [] if candidates[0].id in LAST_RESORT else [c.says if rows else self._turned(event, c) for c in candidates]
        )
        match [*filter(None, ways)]:
            case [slip]:
                return sentence("It looks as if {slip}.", slip=slip)
            case [slip, other, *_]:
                return sentence("It looks as if {slip}, or as if {other}.", slip=slip, other=other)
        return self._advice(event, candidates[0])

    def _advice(self, event: Event, candidate: Candidate) -> Inlines:
        """What to do about a slip, in the words of its step: a softmax adds up powers."""
        return as_text(SLIPS[candidate.id].advice(self.of(event.part).op))

    def _turned(self, event: Event, candidate: Candidate) -> str:
        """How a slip was made, in the rows and columns of a page that has tokens as columns."""
        line, (_, i, j) = self.of(event.part), event.entries[0]
        own, here = line.own, line.step
        if own is None or here is None or (entry := own.entry(here, i, j)) is None or entry.value is None:
            return ""
        made = (s for s in own.slips(here, i, j) if s.slip.id == candidate.id)
        return next((s.says for s in made if decide(s.value, entry.value).equal is True), "")

    def _against_option(self, event: Event) -> Inlines:
        """What the key says against a wrong option."""
        line = self.of(event.part)
        answer, said = line.answer, line.said
        if not isinstance(answer, ChoiceAnswer) or not isinstance(said, Ticked):
            return ()
        wrong = [k for k, option in enumerate(answer.options) if k in said.options and not option.right]
        told = [k for k in wrong if not answer.several or (line.name, k, 0) in event.entries]
        return begun(answer.options[told[0]].why) if len(told) == 1 else ()

    def _unexplained(self, event: Event, shown: bool = False) -> str:
        """What to do about a mistake of which the cause is not known; a teacher knows what to do."""
        line = self.of(event.part)
        if shown or not self.for_student:
            return ""
        if event.kind == "shape":
            return words.OTHER_SHAPE
        counts = line.part is not None and any(mark.follows in ("sum", "quotient") for mark in line.part.marks)
        if not isinstance(line.answer, MatrixAnswer) or counts:
            if advice := ADVICE_ONCE.get(type(line.answer)):
                earlier = (e for e in self.report.events if e.number < event.number and not e.candidates)
                before = any(isinstance(self.of(e.part).answer, type(line.answer)) for e in earlier)
                return words.AGAIN if before else advice
            if advice := ADVICE.get(type(line.answer)):
                return advice
        if event.kind != "answer":
            return words.AT_ONE_ENTRY if event.kind == "slip" else words.WRONG
        several = isinstance(line.answer, ChoiceAnswer) and line.answer.several and isinstance(line.said, Ticked)
        if several and all(line.verdicts[i, j].written.blank for _, i, j in event.entries):
            return ""  # how many right options were not ticked is said of the line
        return words.NOT_RIGHT

    # -- in the student's own numbers

    def _worked(self, event: Event) -> Inlines:
        """The first entry that a mistake spoilt, as it comes of the lines before; one of a step left out."""
        line, cells = self.of(event.part), _cells_in(event)
        if line.work is None:
            return ()
        own, here = line.work
        if self.left_out(event) and event.step in own:
            return own.example(event.step, cells[0][0] if cells else 0)
        wrong = [c for c in cells if c in line.verdicts and line.verdicts[c].state == "wrong"]
        telling = sorted(wrong, key=lambda c: own.value(own.derivation[here], c) in (None, NEGATIVE_INFINITY, 0, 1))
        told = (own.told(here, c, self.where(event.part, [c]) if len(cells) > 1 else "") for c in telling)
        return next(filter(None, told), ())

    def _sums(self, event: Event) -> Iterator[Inlines]:
        """Rows of weights that do not sum to 1, among those that a mistake spoilt and none before it did."""
        if (work := self.of(event.part).work) is not None:
            own, here = work
            before = [e for e in self.report.events if e.part == event.part and e.number < event.number]
            known = {says for e in before for says in own.sums(here, _cells_in(e))}
            yield from (says for says in own.sums(here, _cells_in(event)) if says not in known)

    def _shapes(self, event: Event) -> Inlines:
        """Both shapes, where a matrix has another than it must have."""
        line = self.of(event.part)
        if event.kind != "shape" or line.work is None or not isinstance(line.said, Grid):
            return ()
        own, here = line.work
        return own.shapes(here, line.shape)

    @cached_property
    def right_so_far(self) -> Inlines:
        """What is right before the first mistake, in one sentence; nothing if nothing is."""
        first = self.first
        if first is None or first.part not in self.parts:
            return ()
        earlier = takewhile(lambda name: name != first.part, self.parts)
        before = [name for name in earlier if (states := self.of(name).states) and states <= {"correct", "follows"}]
        if 0 < len(before) <= MOST_LINES:
            return sentence("Right so far: {lines}.", lines=listing([self.short(name) for name in before]))
        if before:
            return as_text(counted("The first line is right.", "The first {n} lines are right.", n=len(before)))
        verdicts = self.of(first.part).verdicts.values()
        right = sum(v.accepted for v in verdicts)
        if first.part not in self.report.own or not 0 < right < len(verdicts):
            return ()
        line = self.short(first.part)
        return sentence("Right so far: {right} of {of} entries of {line}.", right=right, of=len(verdicts), line=line)

    # -- what follows, and what else there is to say

    def _following(self, line: LineReport) -> Iterator[Inlines]:
        said = CONSISTENT[self.reader]
        ways: dict[tuple[str, str], list[Cell]] = {}
        flags: dict[Flag, list[Cell]] = {}
        for cell, verdict in line.verdicts.items():
            if verdict.state == "follows" and verdict.way in said:  # of the others a student is told by the sign
                ways.setdefault(said[verdict.way], []).append(cell)
            for flag in verdict.flags:
                if flag in words.FLAGS and not (flag == "recovered" and self.for_student):
                    flags.setdefault(flag, []).append(cell)
        if any(event.part == line.name for event in self.report.events):
            ways.pop(said["event"], None)  # it has been told
        for (of_all, at_places), cells in ways.items():
            where, lines = _at(cells, line.verdicts), self._sources(line)
            yield sentence(at_places, place=where, lines=lines) if where else sentence(of_all, lines=lines)
        for flag, cells in flags.items():
            if where := _at(cells, line.verdicts):
                yield sentence("{place}: {remark}.", place=where, remark=words.FLAGS[flag])
            else:
                yield sentence("{remark}.", remark=capitalised(words.FLAGS[flag]))
        if self.for_student and line.states != {"missing"}:  # which ones are left out would be the key
            count = sum(v.state == "wrong" and v.written.blank for v in line.verdicts.values())
            if count and isinstance(line.answer, ChoiceAnswer):
                yield as_text(
                    counted("One more option should be ticked.", "{n} more options should be ticked.", n=count)
                )
            elif count and isinstance(line.answer, CellsAnswer):
                yield as_text(counted("One more cell must be shaded.", "{n} more cells must be shaded.", n=count))

    def _noticed(self, part: str) -> Iterator[Inlines]:
        """Notices about a part; a student is spared what only a person can decide, and places that cost nothing."""
        told: dict[str, None] = {}
        for notice in self.report.notices:
            costs_nothing = notice.kind == "precision" and not notice.marks
            if notice.part == part and not (self.for_student and costs_nothing):
                told |= dict.fromkeys(_left_to_say(notice, self._instead(notice)))
        yield from map(as_text, told)

    def _instead(self, notice: Notice) -> str:
        """What a student is told in place of a notice that asks for somebody's judgement; "" for the notice itself."""
        of_person = notice.kind == "human"
        if not self.for_student:
            return ""
        if not self.alone:
            return words.FOR_A_PERSON if of_person else ""
        if notice.kind == "method" and notice.part:
            return words.METHOD
        if notice.part in self.report.question.parts_in_words:
            return words.IN_WORDS if of_person else ""
        doubts = (doubt.says for doubt in self.report.attempt.doubts.values())
        return words.LOOK_AGAIN if of_person or notice.says in doubts else ""

    def notes(self) -> Iterator[Inlines]:
        """What belongs to no line: notices about the whole question, mistakes without a line, remarks on the file."""
        for event in self._told if self.for_student else self.report.events:
            if not self.is_line(event.part):
                yield self.mistake(event)
        if self.for_student and (more := len(self.report.events) - len(self._told)):
            says = counted(
                "There is one more mistake, which is marked above. Correct these first.",
                "There are {n} more mistakes, which are marked above. Correct these first.",
                n=more,
            )
            yield as_text(says)
        for notice in self.report.notices:
            if not self.is_line(notice.part):
                yield from map(as_text, _left_to_say(notice, self._instead(notice) if self.alone else ""))
        if any(given.why and given.why.reason == "no working" for given in self.report.marks):
            yield as_text(words.WITHOUT_WORKING)
        for given in self.report.marks:
            if given.code == "N":
                code = marks_in_words(given.given) if self.for_student else f"N{given.given}"
                yield sentence("{mark}: {reason}.", mark=Strong(code), reason=words.why(given.why))
        yield from map(self._remarked, self.report.attempt.remarks)

    def _remarked(self, remark: Remark) -> Inlines:
        """What was noticed in reading, with its place as it is called on the sheet: σ², row 2, column 1."""
        part, bracket, place = remark.where.partition("[")
        said = self.of(part).said
        if part not in self.parts or (bracket and not isinstance(said, Grid)):
            return remarked(remark)
        where = ""
        if isinstance(said, Grid) and bracket and said.shape != (1, 1):
            i, _, j = place.rstrip("]").partition(",")
            where = places([(int(i) - 1, int(j) - 1)], [cell[:2] for cell in said.cells()])
        return sentence("{place}: {remark}", place=self.place(part, where), remark=remark.says)

    # -- names

    def short(self, part: str) -> Inlines:
        """A part by its sign where it is a matrix, else as it is called."""
        line = self.of(part)
        alone = sum(self.of(other).step == line.step for other in self.parts) == 1
        return (Math(line.sign),) if line.sign and alone else self.label(part)

    def place(self, part: str, where: str) -> Inlines:
        """A part as it is called on the sheet, and perhaps a place in it."""
        return sentence("{part}, {place}", part=self.short(part), place=where) if where else self.short(part)

    def named(self, step: str) -> Inlines:
        """A step or a given matrix as it is called on the sheet."""
        wordings = (self.of(name).wording for name in self.parts)
        known = (w for w in wordings if w and (step in w.derivation or step in w.derivation.givens))
        return next(((Math(w.name(step)),) for w in known), None) or step_in_signs(step)

    def _is_written(self, step: str) -> bool:
        lines = map(self.of, (*self.parts, *self.report.attempt.more))
        return any(line.step == step and line.grid for line in lines)

    def _sources(self, line: LineReport) -> Inlines:
        """The nearest lines that were written before: S′ and V."""
        d, wording = line.derivation, line.wording
        found: dict[str, Inlines] = {}
        to_do = [line.step] if d is not None and line.step and line.step in d else []
        while to_do and d is not None and wording is not None:
            for name in (operand.name for operand in d[to_do.pop(0)].operands):
                if name in d.givens or name in found:
                    continue
                if self._is_written(name):
                    found[name] = (Math(wording.name(name)),)
                else:
                    to_do.append(name)
        return listing([*found.values()]) or as_text(words.LINES_BEFORE)


# ------------------------------------------------------------------------------------------------ marks and places


def remarked(remark: Remark) -> Inlines:
    """Where something was noticed in what was handed in, and what."""
    if not remark.where:
        return as_text(remark.says)
    return sentence("{place}: {remark}", place=short(remark.where), remark=remark.says)


def marks_text(given: Sequence[Given]) -> str:
    """B1 M1 A2/3: the code and the marks, where not all were given with how many there are; ? for what is pending."""
    return " ".join(_mark(g) for g in given)


def plain_marks(given: Sequence[Given]) -> str:
    """2/3: how many marks of how many; ? for what is pending."""
    if not given:
        return ""
    got, of = sum(g.given for g in given), sum(g.of for g in given)
    if any(g.pending for g in given):
        return f"{got}+?/{of}" if got else f"?/{of}"
    return f"{got}/{of}"


def _mark(given: Given) -> str:
    if given.pending:
        return f"{given.code}?/{given.of}"
    return f"{given.code}{given.given}" + (f"/{given.of}" if given.given != given.of else "")


def places(cells: Collection[Cell], everything: Collection[Cell]) -> str:
    """Places in words, from 1, as short as they can be said: whole rows, whole columns, or one by one.

    >>> grid = [(i, j) for i in range(2) for j in range(3)]
    >>> places([(1, 2)], grid), places([(0, 0), (0, 1), (0, 2)], grid), places([(0, 1), (1, 1)], grid)
    ('row 2, column 3', 'row 1', 'column 2')
    """
    chosen = sorted(set(cells))
    if len(chosen) == len(set(everything)) > 1:
        return words.EVERY_ENTRY
    for axis, name in ((0, words.rows), (1, words.columns)):
        lines = sorted({cell[axis] for cell in chosen})
        if len(chosen) == sum(1 for cell in set(everything) if cell[axis] in lines):
            return name([line + 1 for line in lines])
    if len(chosen) == 1:
        [(i, j)] = chosen
        return message("row {row}, column {column}", row=i + 1, column=j + 1)
    shown = chosen if len(chosen) <= MOST_PLACES + 1 else chosen[:MOST_PLACES]
    named = [f"({i + 1},\N{NO-BREAK SPACE}{j + 1})" for i, j in shown]
    if more := len(chosen) - len(shown):
        named.append(message("{count} more", count=more))
    return message("entries {places}", places=listed(named))


# ------------------------------------------------------------------------------------------------ pieces

CONSISTENT: Mapping[Reader, Mapping[Way, tuple[str, str]]] = {
    "student": {
        "event": ("Right, given the earlier mistake.", "{place}: right, given the earlier mistake."),
    },
    "teacher": {
        "written": ("Consistent with the student's {lines}.", "{place}: consistent with the student's {lines}."),
        "unrounded": (
            "Consistent with the student's {lines} before rounding.",
            "{place}: consistent with the student's {lines} before rounding.",
        ),
        "window": (
            "Consistent with the student's {lines}, allowing for rounding.",
            "{place}: consistent with the student's {lines}, allowing for rounding.",
        ),
        "event": (
            "Consistent with the earlier mistake.",
            "{place}: consistent with the earlier mistake.",
        ),
    },
}  # fmt: skip
"""What is said of entries that follow from others, by reader: of a whole line, and of some places in it."""


ADVICE_ONCE: Mapping[type, str] = {ShapeAnswer: words.SHAPES, CellsAnswer: words.CELLS, MatrixAnswer: words.COUNT}
"""What to do about a wrong answer of a kind, the first time; matrices are those in which things are counted."""

ADVICE: Mapping[type, str] = {OrderAnswer: words.NEIGHBOURS, WordAnswer: words.LINES}


def _made_to_sum(line: LineReport) -> Iterator[Inlines]:
    """Weights of which one was rounded up or down so that all of them sum to 1, as nobody asked."""
    if not line.grid or not isinstance(line.op, Softmax):
        return
    across = line.op.along == "rows"
    for (i, j), verdict in line.verdicts.items():
        own, value = verdict.written, verdict.compared
        places = own.reading.places if own.reading else None
        if verdict.way != "window" or places is None or value is None or not isinstance(own.value, RATIONAL):
            continue
        values = [entry.value for entry in (line.grid.rows[i] if across else line.grid.T.rows[j])]
        nearest = rounded(value, places)
        if sum(x for x in values if isinstance(x, RATIONAL)) == 1 and abs(own.value - nearest) == own.unit:
            where = words.rows([i + 1]) if across else words.columns([j + 1])
            yield sentence(
                "{line}: rounded so that it sums to 1; to the nearest, {written} would be {nearest}.",
                line=capitalised(where), written=own.text, nearest=decimal_text(nearest, places),
            )  # fmt: skip


def _named(name: str, grid: Grid, known: bool) -> Inlines:
    """A matrix of the student's own choice, by its name."""
    cells = tuple(tuple(map(as_read, row)) for row in grid.rows)
    shown = read_formula(name) if known else FormulaText(short(name))
    return (Math(Relation((shown, MatrixOf(cells)), ("=",))),)


def _at(cells: Collection[Cell], verdicts: Collection[Cell]) -> str:
    """The places that a remark is about, "" where it is about all of them."""
    return "" if len(cells) == len(verdicts) else capitalised(places(cells, verdicts))


def _gives_away(candidate: Candidate, answer: Answer | None) -> bool:
    """Whether an explanation would tell a student what is right: that two rows are exchanged, what shape it is."""
    return candidate.kind in ("slip", "shape") or isinstance(answer, ShapeAnswer | OrderAnswer | CellsAnswer)


def explained(mistake: Inlines, explanation: Inlines) -> Inlines:
    """A mistake and what it was, if that is known."""
    if not explanation:
        return sentence("{remark}.", remark=mistake)
    return sentence("{mistake}: {explanation}", mistake=mistake, explanation=explanation)


def _cells_in(event: Event) -> list[Cell]:
    """The entries that a mistake spoilt in the line where it is seen."""
    return [(i, j) for part, i, j in event.entries if part == event.part]


def _sentence(candidate: Candidate) -> str:
    """An explanation as a whole sentence."""
    if candidate.sentence:
        return candidate.says
    return message("{remark}.", remark=capitalised(candidate.says))


def _left_to_say(notice: Notice, instead: str = "") -> Iterator[str]:
    """What a notice says, or what is said instead, and the marks it costs; less what its event has said already."""
    says = instead or (notice.says if notice.event is None else notice.besides)
    if notice.marks:
        yield message("−{marks}: {reason}", marks=notice.marks, reason=says)
    elif says:
        yield says


def _lowered(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
