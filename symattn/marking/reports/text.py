"""A report put into words and formulas: its lines with a sign at every entry, and one sentence for every mistake.

`Reader` says for whom.  A student is told no right value but one of every mistake, worked out in the student's own
numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from symattn.derivation.ops.attention import Softmax
from symattn.exact import decimal_text, rounded
from symattn.exact.values import RATIONAL
from symattn.formula import NOTHING, Dots, Formula, Marked, MatrixOf, Relation, read_formula
from symattn.formula import Text as FormulaText
from symattn.formula.width import width
from symattn.foundation.languages import capitalised, counted, listed, message
from symattn.marking.attempt import Entry, Grid, Grids, Remark, Shaded, Text, Ticked
from symattn.marking.marker.report import Cell, Flag, Given, Notice, Verdict, Way
from symattn.marking.reports import words
from symattn.marking.reports.mistakes import Mistake
from symattn.marking.reports.parts import PartReport, Reader, Script, places
from symattn.marking.reports.worked import LONGEST, LONGEST_TO_READ, as_read, short
from symattn.page.document import Inlines, Math, Strong, as_text, in_turn, listing, sentence
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    PropertyAnswer,
    RubricAnswer,
    marks_in_words,
    option_letter,
)

WIDEST = 56.0
"""How wide a matrix may be, in em, to be set on a line, if need be in smaller letters; a wider one is told by entry."""

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


class ReportText(Script):
    """A report as it is told to one reader."""

    # -- lines

    @cached_property
    def lines(self) -> tuple[ReportLine, ...]:
        """Every part in the order of the question, then what was written though nobody asked for it."""
        return tuple(map(self._line, dict.fromkeys((*self.parts, *self.report.attempt.more))))

    def _line(self, name: str) -> ReportLine:
        line = self.of(name)
        remarks = [*self._mistakes(line), *self._following(line), *self._left_out(line), *_made_to_sum(line)]
        remarks += [*self._noticed(name), *self._reasons(line)]
        formulas = self._equations(line)
        answer = () if formulas else self._answer(line)
        marks = self._marks_text(self._given(name))
        return ReportLine(name, self.label(name), formulas, answer, marks, in_turn(remarks))

    # -- what was written, with signs

    def _answer(self, line: PartReport) -> Inlines:
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

    def _equations(self, line: PartReport) -> tuple[Formula, ...]:
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
        return self.told_apart(line.part, (Math(line.sign),))

    def _given(self, part: str) -> list[Given]:
        """The marks of the line of the scheme that begins with this part."""
        return [g for g in self.report.marks if g.parts[:1] == (part,) and g.code != "N"]

    def _reasons(self, line: PartReport) -> Iterator[Inlines]:
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

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        return tuple(Mistake(self, event) for event in self.report.events)

    @cached_property
    def first(self) -> Mistake | None:
        """The mistake to look at first: a given number that was misread, else the first one that was found."""
        return min(self.mistakes, key=lambda mistake: (mistake.event.kind != "misread", mistake.number), default=None)

    @cached_property
    def _told(self) -> tuple[Mistake, ...]:
        """The mistakes that are explained: for a student the first ones, since a script that is wrong throughout is not
        mended by a list."""
        first = sorted(self.mistakes, key=lambda mistake: (mistake is not self.first, mistake.number))[:MOST_TOLD]
        return tuple(sorted(first, key=lambda mistake: mistake.number))

    def _mistakes(self, line: PartReport) -> Iterator[Inlines]:
        """The mistakes of a line but for the first of all, which is told where to look first; the teacher has a list of
        them."""
        if not self.for_student:
            return
        said_first = {mistake.says: mistake for mistake in reversed(self._told)}
        alike: dict[Inlines, list[Mistake]] = {}
        for mistake in self._told:
            if mistake.line is line and mistake is not self.first and mistake.says:
                alike.setdefault(mistake.says, []).append(mistake)
        for says, own in alike.items():
            mistakes, before = listing([mistake.at_places for mistake in own]), said_first[says]
            if before not in own:
                yield sentence("{mistakes}: the same as mistake {number}.", mistakes=mistakes, number=before.number)
            else:
                yield sentence("{mistakes}: {explanation}", mistakes=mistakes, explanation=says)
        for mistake in self._told:
            spoilt = (v for v in line.verdicts.values() if v.event == mistake.event.number)
            here = mistake.line is not line and any(part == line.name for part, _, _ in mistake.event.entries)
            if here and not all(verdict.accepted for verdict in spoilt):
                yield sentence("Mistake {number} again.", number=mistake.number)

    @cached_property
    def right_so_far(self) -> Inlines:
        """What is right before the first mistake, in one sentence; nothing if nothing is."""
        first = self.first.line if self.first else None
        if first is None or first.part is None:
            return ()
        earlier = takewhile(lambda name: name != first.name, self.parts)
        before = [name for name in earlier if (states := self.of(name).states) and states <= {"correct", "follows"}]
        if 0 < len(before) <= MOST_LINES:
            return sentence("Right so far: {lines}.", lines=listing([self.short(name) for name in before]))
        if before:
            return as_text(counted("The first line is right.", "The first {n} lines are right.", n=len(before)))
        right, of = sum(v.accepted for v in first.verdicts.values()), len(first.verdicts)
        if first.name not in self.report.own or not 0 < right < of:
            return ()
        line = self.short(first.name)
        return sentence("Right so far: {right} of {of} entries of {line}.", right=right, of=of, line=line)

    # -- what follows, and what else there is to say

    def _following(self, line: PartReport) -> Iterator[Inlines]:
        """What is said of entries: of all of them, or of their places."""
        told = any(event.part == line.name for event in self.report.events)
        found: dict[tuple[str, str], list[Cell]] = {}
        for of_flags in (False, True):
            for cell, verdict in line.verdicts.items():
                way = [verdict.way] * (verdict.state == "follows" and not (told and verdict.way == "event"))
                for what in verdict.flags if of_flags else way:
                    if what in OF_ENTRIES[self.reader]:
                        found.setdefault(OF_ENTRIES[self.reader][what], []).append(cell)
        for (of_all, at_places), cells in found.items():
            lines = self._sources(line)
            if len(cells) == len(line.verdicts):
                yield sentence(of_all, lines=lines)
            else:
                yield sentence(at_places, place=capitalised(places(cells, line.verdicts)), lines=lines)

    def _left_out(self, line: PartReport) -> Iterator[Inlines]:
        """How many right options or cells a student did not mark; which ones would be the key."""
        if not self.for_student or line.states == {"missing"}:
            return
        count = sum(v.state == "wrong" and v.written.blank for v in line.verdicts.values())
        if count and isinstance(line.answer, ChoiceAnswer):
            says = counted("One more option should be ticked.", "{n} more options should be ticked.", n=count)
            yield as_text(says)
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
        for mistake in self._told if self.for_student else self.mistakes:
            if not self.is_line(mistake.line.name):
                yield mistake.in_full
        if self.for_student and (more := len(self.mistakes) - len(self._told)):
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

    def _sources(self, line: PartReport) -> Inlines:
        """The nearest lines that were written before: S′ and V."""
        d, wording = line.derivation, line.wording
        found: dict[str, Inlines] = {}
        to_do = [line.step] if d is not None and line.step and line.step in d else []
        while to_do and d is not None and wording is not None:
            for name in (operand.name for operand in d[to_do.pop(0)].operands):
                if name in d.givens or name in found:
                    continue
                if self.is_written(name):
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


# ------------------------------------------------------------------------------------------------ pieces

_ROUNDED = (
    "Rounded on the way to fewer places than are shown.",
    "{place}: rounded on the way to fewer places than are shown.",
)
OF_ENTRIES: Mapping[Reader, Mapping[Way | Flag, tuple[str, str]]] = {
    "student": {  # of the other ways the sign tells
        "event": ("Right, given the earlier mistake.", "{place}: right, given the earlier mistake."),
        "rounded": _ROUNDED,
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
        "rounded": _ROUNDED,
        "recovered": (
            "Right, although it does not follow from the lines above.",
            "{place}: right, although it does not follow from the lines above.",
        ),
    },
}  # fmt: skip
"""What is said of entries that follow, or have a flag, by reader: of a whole line, and of some places in it.

Of too few places a notice tells once a question, of contradictions their mistake.
"""


def _made_to_sum(line: PartReport) -> Iterator[Inlines]:
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
