"""A report put into words and formulas: its lines with a sign at every entry, and one sentence for every mistake.

`Reader` says for whom.  A student is told no right value but one of every mistake, worked out in the student's own
numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from symattn.marking.attempt import Entry, Grid, Grids, Remark, Said, Shaded, Shaped, Text, Ticked
from symattn.marking.marker.diagnosis import LAST_RESORT
from symattn.marking.marker.report import Candidate, Cell, Event, Flag, Given, Notice, Report, Verdict, Way
from symattn.marking.marker.script import precision_of
from symattn.marking.reports import words
from symattn.marking.reports.worked import LONGEST, LONGEST_TO_READ, StudentWork, as_read, short
from symattn.page.document import Inlines, Math, Quoted, Strong, Words, as_text, begun, in_turn, listing, sentence
from symattn.teaching.explanation.wording import Wording, in_signs, step_in_signs
from symattn.teaching.problems.derived import feedback
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
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


@dataclass(frozen=True)
class ReportText:
    """A report as it is told to one reader; `alone`: to somebody whose work nobody else will look at."""

    report: Report
    reader: Reader
    of_exam: bool = False
    alone: bool = False
    _wordings: dict[int, Wording] = field(default_factory=dict, compare=False, repr=False)
    _owns: dict[str, StudentWork] = field(default_factory=dict, compare=False, repr=False)

    # -- lines

    @cached_property
    def lines(self) -> tuple[ReportLine, ...]:
        """Every part in the order of the question, then what was written though nobody asked for it."""
        more = (name for name in self.report.attempt.more if name not in self._parts)
        return tuple(map(self._line, (*self._parts, *more)))

    def _line(self, part: str) -> ReportLine:
        student = self.reader == "student"  # the teacher has a list of mistakes
        remarks = [*(self._mistakes(part) if student else ()), *self._following(part), *self._made_to_sum(part)]
        remarks += self._noticed(part)
        remarks += () if student else self._reasons(part)
        said, verdicts = self.said(part), self._verdicts(part)
        formulas: tuple[Formula, ...] = ()
        if self.step(part) is not None:
            formulas = self._equations(part, said, verdicts)
        answer = () if formulas else self._answer(part)
        return ReportLine(
            part, self.label(part), formulas, answer, self._marks_text(self._given(part)), in_turn(remarks)
        )

    def label(self, part: str) -> Inlines:
        """What a part is called on the page."""
        if part not in self._parts:
            return self.named(part)
        return self._told_apart(part, self._parts[part].title)

    def _told_apart(self, part: str, called: Inlines) -> Inlines:
        """What a part is called; where several are, with what stands before it: its number, on a paper its letter."""
        titles = [one.title for one in self._parts.values()]
        if titles.count(self._parts[part].title) == 1:
            return called
        before = part if self.of_exam else str([*self._parts].index(part) + 1)
        return sentence("{title} ({part})", title=called, part=Quoted(before))

    def asked(self, part: str) -> Answer | None:
        """What is asked for in a part; none for a line that nobody asked for."""
        return self._parts[part].answer if part in self._parts else None

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return {part.name: part for part in self.report.question.parts}

    def said(self, part: str) -> Said | None:
        return self.report.attempt.answers.get(part) or self.report.attempt.more.get(part)

    # -- what was written, with signs

    def _answer(self, part: str) -> Inlines:
        verdicts, said = self._verdicts(part), self.said(part)
        answer = self.asked(part)
        match said:
            case Grid() if not said.empty:
                return as_text(self._matrix(said, verdicts))
            case Grids():
                known = answer.model if isinstance(answer, PropertyAnswer) else ()
                named = (self._named(name, grid, name in known) for name, grid in said.grids.items())
                return in_turn([*named, self._sign(verdicts.get((0, 0)))])
            case Entry() if not said.blank:
                return (Math(self._marked(as_read(said), verdicts.get((0, 0)))),)
            case Ticked() if isinstance(answer, ChoiceAnswer) and answer.several:
                return self._options(verdicts)
            case Shaded() if isinstance(answer, CellsAnswer) and verdicts:
                return self._cells(answer, said, verdicts)
            case Text(text) if isinstance(answer, RubricAnswer) and text.strip():
                unread = Math(Marked(NOTHING, *(words.UNMARKED if self.alone else words.UNREAD)))
                sign = () if said.points is not None else (unread,)
                shown = short(text, LONGEST if self.reader == "student" else LONGEST_TO_READ)
                return in_turn([sentence("“{text}”", text=shown), sign])
            case _ if not verdicts:
                return (Math(Marked(NOTHING, *words.SIGNS["missing"])),)
            case _:
                first = verdicts[min(verdicts)]
                return (Math(self._marked(self.written(first), first)),)

    def written(self, verdict: Verdict) -> Formula:
        """What a verdict is of, as it was read; a shape that there is not, in the words of the page."""
        match self.said(verdict.part):
            case Shaped(None):
                return FormulaText(words.UNDEFINED)
            case _ if verdict.written.blank:
                return NOTHING
            case _:
                return as_read(verdict.written)

    def _verdicts(self, part: str) -> dict[Cell, Verdict]:
        return self._by_part.get(part, {})

    @cached_property
    def _by_part(self) -> dict[str, dict[Cell, Verdict]]:
        found: dict[str, dict[Cell, Verdict]] = {}
        for verdict in self.report.verdicts:
            found.setdefault(verdict.part, {})[verdict.i, verdict.j] = verdict
        return found

    def _equations(self, part: str, said: Said | None, verdicts: dict[Cell, Verdict]) -> tuple[Formula, ...]:
        """name = what was written; nothing where the line is no matrix."""
        wording, step = self.wording(part), self.step(part)
        name = wording.name(step) if wording and step else NOTHING
        if isinstance(said, Grid) and not said.empty:
            shown = self._matrix(said, verdicts)
            if width(shown) > WIDEST and wording and step:
                entries = ((wording.entry(step, i, j), entry, verdicts.get((i, j))) for i, j, entry in said.cells())
                return tuple(Relation((own, self._marked(as_read(e), v)), ("=",)) for own, e, v in entries)
        elif said is None or isinstance(said, Grid):
            states = {verdict.state for verdict in verdicts.values()}
            shown = Marked(NOTHING, *words.SIGNS["implied" if states == {"implied"} else "missing"])
        else:
            return ()
        return (Relation((name, shown), ("=",)) if name != NOTHING else shown,)

    def _matrix(self, grid: Grid, verdicts: dict[Cell, Verdict]) -> Formula:
        rows = tuple(
            tuple(self._marked(as_read(entry), verdicts.get((i, j))) for j, entry in enumerate(row))
            for i, row in enumerate(grid.rows)
        )
        return rows[0][0] if grid.shape == (1, 1) else MatrixOf(rows)

    def _named(self, name: str, grid: Grid, known: bool) -> Inlines:
        cells = tuple(tuple(map(as_read, row)) for row in grid.rows)
        shown = read_formula(name) if known else FormulaText(short(name))
        return (Math(Relation((shown, MatrixOf(cells)), ("=",))),)

    def _options(self, verdicts: dict[Cell, Verdict]) -> Inlines:
        """The options that were ticked; for the teacher those as well that should have been."""
        ticked = [(v, v.written.text) for v in verdicts.values() if not v.written.blank]
        left = [(v, f"({option_letter(v.i)})") for v in verdicts.values() if v.written.blank and v.state == "wrong"]
        shown = ticked + (left if self.reader == "teacher" else [])
        return listing([(Math(self._marked(FormulaText(text), v)),) for v, text in shown], "") or (
            Words(words.NOTHING),
        )

    def _cells(self, answer: CellsAnswer, said: Shaded, verdicts: dict[Cell, Verdict]) -> Inlines:
        def cell(place: Cell) -> Formula:
            if place in said.cells:
                return self._marked(FormulaText(words.SHADED), verdicts.get(place))
            missing = place in verdicts and verdicts[place].state == "wrong" and self.reader == "teacher"
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

    def _sign(self, verdict: Verdict | None) -> Inlines:
        return (Math(self._marked(NOTHING, verdict)),) if verdict else ()

    # -- marks

    def marks(self) -> Iterator[tuple[Inlines, str]]:
        """The marks of every line of the scheme that is a line of a derivation, with its name; then what is added and
        taken off, so that all of it adds up to the total."""
        lines = (g.parts for g in self.report.marks if g.code != "N" and self.step(g.parts[0]) is not None)
        lines_of_a_derivation = dict.fromkeys(lines)
        for parts in lines_of_a_derivation:
            given = [g for g in self.report.marks if g.parts == parts and g.code != "N"]
            yield self._name_of(parts), self._marks_text(given)
        if not lines_of_a_derivation:
            return
        for one in self.report.marks:
            if one.code == "N" and one.given:
                yield as_text(words.ANSWER_ALONE), f"+{one.given}"
        for notice in self.report.notices:
            if notice.marks:
                yield as_text(words.TAKEN_OFF.get(notice.kind, words.DEDUCTION)), f"−{notice.marks}"

    def _marks_text(self, given: Sequence[Given]) -> str:
        """The marks by code, for a teacher; for a student, how many of how many."""
        return marks_text(given) if self.reader == "teacher" else plain_marks(given)

    def _name_of(self, parts: tuple[str, ...]) -> Inlines:
        """What a line of the scheme is called: where a step is asked token by token, as the step is."""
        if len({part.partition(".")[0] for part in parts}) > 1:
            return listing([self._name_of((part,)) for part in parts])
        wording, step = self.wording(parts[0]), self.step(parts[0])
        if wording is None or step is None:
            return self.label(parts[0])
        if len(parts) > 1:
            return (Math(wording.name(step.partition(".")[0])),)
        return self._told_apart(parts[0], (Math(wording.name(step)),))

    def _given(self, part: str) -> list[Given]:
        """The marks of the line of the scheme that begins with this part."""
        return [g for g in self.report.marks if g.parts[:1] == (part,) and g.code != "N"]

    def _reasons(self, part: str) -> Iterator[Inlines]:
        """Why marks were not given, where the signs do not say it already."""
        verdicts = self._verdicts(part).values()
        missing, single = all(verdict.state == "missing" for verdict in verdicts), len(verdicts) == 1
        codes: dict[str, list[str]] = {}
        for given in self._given(part):
            why = given.why
            if why is None or given.given >= given.of or why.reason == "no working":  # this is told once, in the notes
                continue
            empty = missing and (why.reason != "wrong method" or why.withheld)
            if not empty and not (single and (why.counts or given.pending)):
                lost = codes.setdefault(words.why(why), [])
                lost += [given.code] * (given.code not in lost)
        if codes:
            first, *others = (
                message("{codes}: {reason}", codes=listed(known), reason=reason) for reason, known in codes.items()
            )
            for other in others:
                first = message("{reasons}; {reason}", reasons=first, reason=other)
            yield sentence("{reasons}.", reasons=first)

    # -- mistakes

    def is_line(self, part: str) -> bool:
        """Whether a part is among the lines, so that a mistake in it is told with it."""
        return part in self._parts or part in self.report.attempt.more

    @cached_property
    def first(self) -> Event | None:
        """The mistake to look at first: a given number that was misread, else the first one that was found."""
        misread = (event for event in self.report.events if event.kind == "misread")
        return next(misread, min(self.report.events, key=lambda event: event.number, default=None))

    @cached_property
    def _told(self) -> tuple[Event, ...]:
        """The mistakes that are explained: for a student the first ones, since a script that is wrong throughout is not
        mended by a list."""
        events = sorted(self.report.events, key=lambda event: (event is not self.first, event.number))
        return tuple(sorted(events[:MOST_TOLD], key=lambda event: event.number))

    @cached_property
    def _said_before(self) -> dict[Inlines, Event]:
        """What is said of mistakes, with the first of which it is said."""
        found: dict[Inlines, Event] = {}
        for event in self._told:
            found.setdefault(self.says(event), event)
        return found

    def _mistakes(self, part: str) -> Iterator[Inlines]:
        """The mistakes of a line but for the first of all, which is told where to look first."""
        here = [e for e in self._told if e.part == part and not (e is self.first and self.is_line(part))]
        alike: dict[Inlines, list[Event]] = {}
        for event in here:
            if says := self.says(event):
                alike.setdefault(says, []).append(event)
        for says, events in alike.items():
            mistakes, before = listing(list(map(self._at_places, events))), self._said_before[says]
            if before not in events:
                yield sentence("{mistakes}: the same as mistake {number}.", mistakes=mistakes, number=before.number + 1)
            else:
                yield sentence("{mistakes}: {explanation}", mistakes=mistakes, explanation=says)
        for event in self._told:
            if event.part == part:
                continue
            if any(name == part for name, _, _ in event.entries) and not self._follows(part, event):
                yield sentence("Mistake {number} again.", number=event.number + 1)

    def _follows(self, part: str, event: Event) -> bool:
        """Whether what a mistake spoilt in a part was accepted, as what follows from it."""
        spoilt = (v for v in self._verdicts(part).values() if v.event == event.number)
        return all(verdict.accepted for verdict in spoilt)

    def mistake(self, event: Event) -> Inlines:
        """One mistake: number, place, what it was in the student's own numbers, and what to do about it."""
        return explained(self._at_places(event), self.says(event))

    def _at_places(self, event: Event) -> Inlines:
        """Mistake 2 (row 1, column 3)."""
        number, where = Strong(words.mistake(event.number + 1)), self.seen_at(event)
        return sentence("{mistake} ({place})", mistake=number, place=where) if where else (number,)

    def seen_at(self, event: Event) -> str:
        """Where a mistake is seen in its line; "" where the whole line has another shape."""
        if event.kind == "shape":
            return ""
        return self.where(event.part, _cells_in(event))

    def says(self, event: Event, begun: bool = False) -> Inlines:
        """What a mistake was, and what to do about it; `begun`, where its place has been told."""
        if self.reader == "teacher" or event.kind == "misread":
            return in_turn([self._way_here(event), self.explained(event)])
        shown = self._shapes(event) or in_turn([self._worked(event), *self._sums(event)])
        return in_turn([() if begun else self._way_here(event), shown, self.explained(event, bool(shown))])

    def where(self, part: str, cells: Collection[Cell]) -> str:
        """Places of a part in words; "" where there are none, or it is one thing."""
        if isinstance(self.asked(part), ChoiceAnswer):  # those left out are the key
            ticked = [i for i, _ in cells if self.reader == "teacher" or not self._verdicts(part)[i, 0].written.blank]
            if not ticked or len(self._verdicts(part)) < 2:
                return ""
            first, *others = map(option_letter, ticked)
            return (
                message("options {letters}", letters=listed([first, *others]))
                if others
                else message("option {letter}", letter=first)
            )
        everything = {*self._verdicts(part), *cells}
        return places(cells, everything) if cells and len(everything) > 1 else ""

    def left_out(self, event: Event) -> Inlines:
        """The name of the step that a mistake was made in, where that was not written; else nothing."""
        here = self.step(event.part)
        if here is None or event.kind == "misread" or event.step == here or self._is_written(event.step):
            return ()
        return self.named(event.step)

    def _way_here(self, event: Event) -> Inlines:
        step = self.left_out(event)
        return (
            sentence("It was made on the way here, in {step}, which was not written down.", step=step) if step else ()
        )

    def explained(self, event: Event, shown: bool = False) -> Inlines:
        """What it was: its names, all of them where several fit, and what to do about it.

        `shown` says that the student has been shown what is right in one place.
        """
        if not event.candidates or not (told := self._candidates(event)):
            if self.reader == "student" and (why := self._against_option(event)):
                return why
            return as_text(self._unexplained(event, shown))
        if self.reader == "student":
            if slips := self._slips(event):
                return slips
            told = told[:MOST_FITS]
        names = [sentence("“{name}”", name=name) for name, _ in told if name]
        if len(told) == 1:
            [(name, says)] = told
            says = says or (self._against_option(event) if self.reader == "student" else ())
            return sentence("{name}. {advice}", name=name, advice=says) if name else says
        return in_turn([self._told_together(names), *(_advice(name, says) for name, says in told)])

    def _told_together(self, names: Sequence[Inlines]) -> Inlines:
        """Explanations that cannot be told apart; nothing of a single one."""
        if len(names) < 2:
            return ()
        first, *others = names
        if self.reader == "student":
            return sentence("This looks like {first}, or perhaps {others}.", first=first, others=listing(others, "or"))
        return sentence(
            "This fits {first}, and also {others}; they cannot be told apart here.", first=first, others=listing(others)
        )

    def _candidates(self, event: Event) -> list[tuple[Inlines, Inlines]]:
        """The explanations that may be told: each a name, and what to do."""
        found = [self._candidate(event, candidate) for candidate in event.candidates]
        return [pair for pair in dict.fromkeys(found) if pair != ((), ())]

    def _candidate(self, event: Event, candidate: Candidate) -> tuple[Inlines, Inlines]:
        known, slip = misconceptions().get(candidate.id), SLIPS.get(candidate.id)
        name: Inlines = ()
        says: Inlines = ()
        if known is not None:
            wording = self._wording(event.part)
            lies = self.report.question.orientation
            called = known.called(lies)
            name = begun(wording.in_signs(called) if wording else in_signs(called, orientation=lies))
            # Of a mistake in one row alone, what is said of whole matrices would be untrue.
            says = as_text(_sentence(candidate)) if candidate.says else self._feedback(event, candidate.id)
        elif slip is not None and candidate.kind != "misread":
            named = self.reader == "teacher"  # the name of a slip is the examiner's
            name, says = begun(as_text(slip.name)) if named else (), self._advice(event, candidate)
        elif candidate.kind == "misread" or not self._gives_away(event, candidate):
            says = as_text(_sentence(candidate))
            counted = COUNTING.get(candidate.id)
            if self.reader == "student" and counted is not None and candidate.says == counted.name:
                says = as_text(sentences(_sentence(candidate), message(counted.feedback)))
        if self.reader == "teacher" and name:
            how = as_text(_sentence(candidate)) if candidate.says else says
            return sentence("{code} – {name}", code=candidate.id, name=name), how
        return name, says

    def _slips(self, event: Event) -> Inlines:
        """How a slip was made in the student's own lines, in one or two ways; nothing where it was no such slip."""
        candidates = event.candidates[:MOST_FITS]
        if event.part not in self.report.own or any(c.kind != "slip" or not c.says for c in candidates):
            return ()
        if candidates[0].id in LAST_RESORT:
            return self._advice(event, candidates[0])
        if self.report.own[event.part].orientation == "rows":
            says = [c.says for c in candidates]
        else:  # what is a row there is a column here
            says = [slip for c in candidates if (slip := self._turned(event, c))]
        if not says:
            return self._advice(event, candidates[0])
        if len(says) == 1:
            return sentence("It looks as if {slip}.", slip=says[0])
        return sentence("It looks as if {slip}, or as if {other}.", slip=says[0], other=says[1])

    def _advice(self, event: Event, candidate: Candidate) -> Inlines:
        """What to do about a slip, in the words of its step: a softmax adds up powers."""
        return as_text(SLIPS[candidate.id].advice(self._op(event.part)))

    def _turned(self, event: Event, candidate: Candidate) -> str:
        """How a slip was made, in the rows and columns of a page that has tokens as columns."""
        own, here, (_, i, j) = self.own(event.part), self.step(event.part), event.entries[0]
        if own is None or here is None or (entry := own.entry(here, i, j)) is None or entry.value is None:
            return ""
        made = (s for s in own.slips(here, i, j) if s.slip.id == candidate.id)
        return next((s.says for s in made if decide(s.value, entry.value).equal is True), "")

    def _gives_away(self, event: Event, candidate: Candidate) -> bool:
        """Whether an explanation would tell a student what is right: that two rows are exchanged, what shape it is."""
        answer = self.asked(event.part)
        return self.reader == "student" and (
            candidate.kind in ("slip", "shape") or isinstance(answer, ShapeAnswer | OrderAnswer | CellsAnswer)
        )

    def _against_option(self, event: Event) -> Inlines:
        """What the key says against a wrong option."""
        answer, said = self.asked(event.part), self.said(event.part)
        if not isinstance(answer, ChoiceAnswer) or not isinstance(said, Ticked):
            return ()
        wrong = sorted(said.options - answer.right)
        told = [k for k in wrong if (event.part, k, 0) in event.entries] if answer.several else wrong
        return begun(answer.options[told[0]].why) if len(told) == 1 else ()

    def _unexplained(self, event: Event, shown: bool = False) -> str:
        """What to do about a mistake of which the cause is not known; a teacher knows what to do."""
        if self.reader == "teacher":
            return ""
        match event.kind, self.asked(event.part):
            case "shape", _:
                return "" if shown else words.OTHER_SHAPE
            case _, _ if shown:
                return ""
            case _, ShapeAnswer():
                return words.AGAIN if self._came_before(event) else words.SHAPES
            case _, CellsAnswer():
                return words.AGAIN if self._came_before(event) else words.CELLS
            case _, MatrixAnswer() if self._counted(event.part):
                return words.AGAIN if self._came_before(event) else words.COUNT
            case _, OrderAnswer():
                return words.NEIGHBOURS
            case _, WordAnswer():
                return words.LINES
            case "answer", _:
                return "" if self._left_open(event) else words.NOT_RIGHT
            case "slip", _:
                return words.AT_ONE_ENTRY
            case _:
                return words.WRONG

    def _left_open(self, event: Event) -> bool:
        """Whether a mistake is a right option that was not ticked; how many there are is said of the line."""
        answer, said = self.asked(event.part), self.said(event.part)
        several = isinstance(answer, ChoiceAnswer) and answer.several and isinstance(said, Ticked)
        return several and all(self._verdicts(part)[i, j].written.blank for part, i, j in event.entries)

    def _counted(self, part: str) -> bool:
        """Whether things are counted in a part, and added up or multiplied."""
        return any(mark.follows in ("sum", "quotient") for mark in self._parts[part].marks)

    def _came_before(self, event: Event) -> bool:
        """Whether an earlier mistake in an answer of this kind was not explained either, and advice given there."""
        kind = type(self.asked(event.part))
        before = (e for e in self.report.events if e.number < event.number and not e.candidates)
        return any(isinstance(self.asked(e.part), kind) for e in before)

    # -- in the student's own numbers

    def own(self, part: str) -> StudentWork | None:
        """The student's own lines in the derivation of a part; none if nothing went wrong in it."""
        d, wording = self.report.own.get(part), self.wording(part)
        if d is None or wording is None:
            return None
        if part not in self._owns:
            lines = {step: said for name in self._parts if self.report.own.get(name) is d and (step := self.step(name))
                     and isinstance(said := self.said(name), Grid) and not said.empty}  # fmt: skip
            more = {name: said for name, said in self.report.attempt.more.items() if name in d and not said.empty}
            exact, places = precision_of(self.report.question)
            self._owns[part] = StudentWork(d, {**more, **lines}, Wording(d, wording.notation), places, exact)
        return self._owns[part]

    def _work(self, event: Event) -> tuple[StudentWork, str] | None:
        """The student's own lines, and the step among them in which a mistake is seen; None if it is none of them."""
        own, here = self.own(event.part), self.step(event.part)
        return (own, here) if own is not None and here is not None and here in own else None

    def _worked(self, event: Event) -> Inlines:
        """The first entry that a mistake spoilt, as it comes of the lines before; one of a step left out."""
        if (work := self._work(event)) is None:
            return ()
        (own, here), cells = work, _cells_in(event)
        if self.left_out(event) and event.step in own:
            return own.example(event.step, cells[0][0] if cells else 0)
        verdicts = self._verdicts(event.part)
        wrong = [c for c in cells if c in verdicts and verdicts[c].state == "wrong"]
        telling = sorted(wrong, key=lambda c: own.value(own.derivation[here], c) in (None, NEGATIVE_INFINITY, 0, 1))
        return next(
            (
                told
                for cell in telling
                if (told := own.told(here, cell, self.where(event.part, [cell]) if len(cells) > 1 else ""))
            ),
            (),
        )

    def _sums(self, event: Event) -> Iterator[Inlines]:
        """Rows of weights that do not sum to 1, among those that a mistake spoilt and none before it did."""
        if (work := self._work(event)) is None:
            return
        own, here = work
        before = [e for e in self.report.events if e.part == event.part and e.number < event.number]
        known = {says for e in before for says in own.sums(here, _cells_in(e))}
        yield from (says for says in own.sums(here, _cells_in(event)) if says not in known)

    def _shapes(self, event: Event) -> Inlines:
        """Both shapes, where a matrix has another than it must have."""
        work = self._work(event)
        if event.kind != "shape" or work is None or not isinstance(self.said(event.part), Grid):
            return ()
        own, here = work
        return own.shapes(here, self._shape(event.part))

    def _shape(self, part: str) -> tuple[int, int]:
        """The shape of what is asked for in a part."""
        cells = list(self._verdicts(part))
        return max((i for i, _ in cells), default=-1) + 1, max((j for _, j in cells), default=-1) + 1

    @cached_property
    def right_so_far(self) -> Inlines:
        """What is right before the first mistake, in one sentence; nothing if nothing is."""
        first = self.first
        if first is None or first.part not in self._parts:
            return ()
        states = {name: {v.state for v in self._verdicts(name).values()} for name in self._parts}
        earlier = takewhile(lambda name: name != first.part, self._parts)
        before = [name for name in earlier if states[name] and states[name] <= {"correct", "follows"}]
        if 0 < len(before) <= MOST_LINES:
            return sentence("Right so far: {lines}.", lines=listing([self.short(name) for name in before]))
        if before:
            return as_text(counted("The first line is right.", "The first {n} lines are right.", n=len(before)))
        verdicts = self._verdicts(first.part).values()
        right = sum(1 for v in verdicts if v.accepted)
        if first.part not in self.report.own or not 0 < right < len(verdicts):
            return ()
        line = self.short(first.part)
        return sentence("Right so far: {right} of {of} entries of {line}.", right=right, of=len(verdicts), line=line)

    def short(self, part: str) -> Inlines:
        """A part by its sign where it is a matrix, else as it is called."""
        wording, step = self.wording(part), self.step(part)
        alone = sum(self.step(other) == step for other in self._parts) == 1
        return (Math(wording.name(step)),) if wording and step and alone else self.label(part)

    def place(self, part: str, where: str) -> Inlines:
        """A part as it is called on the sheet, and perhaps a place in it."""
        return sentence("{part}, {place}", part=self.short(part), place=where) if where else self.short(part)

    def _feedback(self, event: Event, id: str) -> Inlines:
        """What to tell somebody with a misconception, in the signs of the question where it has a derivation."""
        wording = self._wording(event.part)
        if wording is None:
            return ()
        return feedback(WrongDerivation(misconceptions()[id], wording.derivation, None), wording)

    # -- what follows, and what else there is to say

    def _following(self, part: str) -> Iterator[Inlines]:
        verdicts, said = self._verdicts(part), CONSISTENT[self.reader]
        ways: dict[tuple[str, str], list[Cell]] = {}
        flags: dict[Flag, list[Cell]] = {}
        for cell, verdict in verdicts.items():
            if verdict.state == "follows" and verdict.way in said:  # of the others a student is told by the sign
                ways.setdefault(said[verdict.way], []).append(cell)
            for flag in verdict.flags:
                if flag in words.FLAGS and not (flag == "recovered" and self.reader == "student"):
                    flags.setdefault(flag, []).append(cell)
        if any(event.part == part for event in self.report.events):
            ways.pop(said["event"], None)  # it has been told
        for (of_all, at_places), cells in ways.items():
            where, lines = self._at(cells, verdicts), self._sources(part)
            yield sentence(at_places, place=where, lines=lines) if where else sentence(of_all, lines=lines)
        for flag, cells in flags.items():
            if where := self._at(cells, verdicts):
                yield sentence("{place}: {remark}.", place=where, remark=words.FLAGS[flag])
            else:
                yield sentence("{remark}.", remark=capitalised(words.FLAGS[flag]))
        states = {verdict.state for verdict in verdicts.values()}
        answer = self.asked(part)
        if self.reader == "student" and isinstance(answer, ChoiceAnswer | CellsAnswer) and states != {"missing"}:
            yield from self._left_out(answer, verdicts.values())

    def _made_to_sum(self, part: str) -> Iterator[Inlines]:
        """Weights of which one was rounded up or down so that all of them sum to 1, as nobody asked."""
        said, op = self.said(part), self._op(part)
        if not isinstance(said, Grid) or not isinstance(op, Softmax):
            return
        across = op.along == "rows"
        for (i, j), verdict in self._verdicts(part).items():
            own, value = verdict.written, verdict.compared
            places = own.reading.places if own.reading else None
            if verdict.way != "window" or places is None or value is None or not isinstance(own.value, RATIONAL):
                continue
            line = [entry.value for entry in (said.rows[i] if across else said.T.rows[j])]
            nearest = rounded(value, places)
            if sum(x for x in line if isinstance(x, RATIONAL)) == 1 and abs(own.value - nearest) == own.unit:
                where = words.rows([i + 1]) if across else words.columns([j + 1])
                yield sentence(
                    "{line}: rounded so that it sums to 1; to the nearest, {written} would be {nearest}.",
                    line=capitalised(where), written=own.text, nearest=decimal_text(nearest, places),
                )  # fmt: skip

    def _left_out(self, answer: ChoiceAnswer | CellsAnswer, verdicts: Iterable[Verdict]) -> Iterator[Inlines]:
        """How many right options or cells were not marked; which ones would be the key."""
        count = sum(1 for v in verdicts if v.state == "wrong" and v.written.blank)
        if count and isinstance(answer, ChoiceAnswer):
            says = counted("One more option should be ticked.", "{n} more options should be ticked.", n=count)
            yield as_text(says)
        elif count:
            yield as_text(counted("One more cell must be shaded.", "{n} more cells must be shaded.", n=count))

    def _at(self, cells: list[Cell], verdicts: Collection[Cell]) -> str:
        """The places that a remark is about, "" where it is about all of them."""
        return "" if len(cells) == len(verdicts) else capitalised(places(cells, verdicts))

    def _noticed(self, part: str) -> Iterator[Inlines]:
        """Notices about a part; a student is spared what only a person can decide, and places that cost nothing."""
        told: list[str] = []
        for notice in self.report.notices:
            costs_nothing = notice.kind == "precision" and not notice.marks
            if notice.part == part and not (self.reader == "student" and costs_nothing):
                told += _left_to_say(notice, self._instead(notice))
        yield from (as_text(says) for says in dict.fromkeys(told))

    def _instead(self, notice: Notice) -> str:
        """What a student is told in place of a notice that asks for somebody's judgement; "" for the notice itself."""
        if self.reader == "teacher":
            return ""
        if self.alone:
            if notice.kind == "method" and notice.part:
                return words.METHOD
            if notice.part in self.report.question.parts_in_words:
                return words.IN_WORDS if notice.kind == "human" else ""
            doubts = (doubt.says for doubt in self.report.attempt.doubts.values())
            return words.LOOK_AGAIN if notice.kind == "human" or notice.says in doubts else ""
        return words.FOR_A_PERSON if notice.kind == "human" else ""

    def notes(self) -> Iterator[Inlines]:
        """What belongs to no line: notices about the whole question, mistakes without a line, remarks on the file."""
        known = {line.part for line in self.lines}
        for event in self.report.events if self.reader == "teacher" else self._told:
            if event.part not in known:
                yield self.mistake(event)
        if self.reader == "student" and (more := len(self.report.events) - len(self._told)):
            says = counted(
                "There is one more mistake, which is marked above. Correct these first.",
                "There are {n} more mistakes, which are marked above. Correct these first.",
                n=more,
            )
            yield as_text(says)
        for notice in self.report.notices:
            if notice.part not in known:
                instead = self._instead(notice) if self.alone else ""
                yield from (as_text(says) for says in _left_to_say(notice, instead))
        if any(given.why and given.why.reason == "no working" for given in self.report.marks):
            yield as_text(words.WITHOUT_WORKING)
        for given in self.report.marks:
            if given.code == "N":
                code = f"N{given.given}" if self.reader == "teacher" else marks_in_words(given.given)
                yield sentence("{mark}: {reason}.", mark=Strong(code), reason=words.why(given.why))
        yield from map(self._remarked, self.report.attempt.remarks)

    def _remarked(self, remark: Remark) -> Inlines:
        """What was noticed in reading, with its place as it is called on the sheet: σ², row 2, column 1."""
        part, bracket, place = remark.where.partition("[")
        said = self.said(part)
        if part not in self._parts or (bracket and not isinstance(said, Grid)):
            return remarked(remark)
        where = ""
        if isinstance(said, Grid) and bracket and said.shape != (1, 1):
            i, _, j = place.rstrip("]").partition(",")
            where = places([(int(i) - 1, int(j) - 1)], [cell[:2] for cell in said.cells()])
        return sentence("{place}: {remark}", place=self.place(part, where), remark=remark.says)

    # -- names

    def step(self, part: str) -> str | None:
        """The step of a derivation that a part asks for."""
        if part not in self._parts:
            return part or None
        match self._parts[part].answer:
            case StepAnswer(step) | EntriesAnswer(step):
                return step
            case MatrixAnswer(derivation=Derivation(), step=step):
                return step
            case _:
                return None

    def derivation(self, part: str) -> Derivation | None:
        """The derivation that a part belongs to."""
        answer = self.asked(part)
        if isinstance(answer, MatrixAnswer) and answer.derivation is not None:
            return answer.derivation
        return self.report.question.problem.derivation if self.report.question.problem else None

    def _op(self, part: str) -> Op | None:
        """The operation of the step that a part asks for."""
        d, step = self.derivation(part), self.step(part)
        return d[step].op if d is not None and step is not None and step in d else None

    def _wording(self, part: str, together: bool = True) -> Wording | None:
        """The words for a part's derivation: matrix by matrix, as misconceptions are told, or as it is."""
        d = self.derivation(part)
        if d is None:
            return None
        key = 2 * id(d) + together
        if key not in self._wordings:
            self._wordings[key] = Wording(whole(d) if together else d, self.report.question.notation)
        return self._wordings[key]

    def wording(self, part: str) -> Wording | None:
        """The words for a part's derivation as it is."""
        return self._wording(part, together=False)

    def named(self, step: str) -> Inlines:
        """A step or a given matrix as it is called on the sheet."""
        known = next(
            (w for w in map(self.wording, self._parts) if w and (step in w.derivation or step in w.derivation.givens)),
            None,
        )
        return (Math(known.name(step)),) if known else step_in_signs(step)

    def _is_written(self, step: str) -> bool:
        return any(
            self.step(part) == step and isinstance(said := self.said(part), Grid) and not said.empty
            for part in (*self._parts, *self.report.attempt.more)
        )

    def _sources(self, part: str) -> Inlines:
        """The nearest lines that were written before: S′ and V."""
        d, step, wording = self.derivation(part), self.step(part), self.wording(part)
        if d is None or step is None or wording is None or step not in d:
            return as_text(words.LINES_BEFORE)
        found: list[str] = []
        to_do = [step]
        while to_do:
            for operand in d[to_do.pop(0)].operands:
                if operand.name in d.givens or operand.name in found:
                    continue
                (found if self._is_written(operand.name) else to_do).append(operand.name)
        return listing([(Math(wording.name(name)),) for name in dict.fromkeys(found)]) or as_text(words.LINES_BEFORE)


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


def explained(mistake: Inlines, explanation: Inlines) -> Inlines:
    """A mistake and what it was, if that is known."""
    if not explanation:
        return sentence("{remark}.", remark=mistake)
    return sentence("{mistake}: {explanation}", mistake=mistake, explanation=explanation)


def _cells_in(event: Event) -> list[Cell]:
    """The entries that a mistake spoilt in the line where it is seen."""
    return [(i, j) for part, i, j in event.entries if part == event.part]


def _advice(name: Inlines, says: Inlines) -> Inlines:
    """What to do about one of several explanations."""
    return sentence("{name}: {advice}", name=name, advice=says) if name and says else says


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
