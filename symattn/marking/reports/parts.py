"""The parts of a marked script, each with what was asked, what was written and how it was judged, and their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from symattn.derivation.derivation import Derivation, Op
from symattn.derivation.matrixwise import matrixwise
from symattn.formula import NOTHING, Formula
from symattn.formula import Text as FormulaText
from symattn.foundation.languages import listed, message
from symattn.marking.attempt import Grid, Shaped
from symattn.marking.marker.report import Cell, Report, State, Verdict
from symattn.marking.marker.script import precision_of
from symattn.marking.reports import words
from symattn.marking.reports.worked import StudentWork, as_read
from symattn.page.document import Inlines, Math, Quoted, sentence
from symattn.teaching.explanation.wording import Wording, step_in_signs
from symattn.teaching.question import ChoiceAnswer, Part, asked_step, option_letter

Reader = Literal["student", "teacher"]

MOST_PLACES = 4
"""Entries that are told one by one; of more, so many and how many others."""


class PartReport:
    """What a report has of one part of the question, or of a matrix that was written though it was not asked for.

    `derivation` is the one that the part belongs to, and `step` what is asked of it, None where that is no step;
    `wording` has its names, and `whole` those of the same derivation matrix by matrix, as misconceptions are told.
    """

    def __init__(self, script: Script, name: str, verdicts: Mapping[Cell, Verdict]) -> None:
        report = script.report
        self._script, self._report = script, report
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
        return self._script.wording(self.derivation) if self.derivation else None

    @property
    def whole(self) -> Wording | None:
        return self._script.wording(self.derivation, together=True) if self.derivation else None

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
        for line in map(self._script.of, self._script.parts):
            if own.get(line.name) is d and line.step and line.grid:
                lines[line.step] = line.grid
        exact, places = precision_of(self._report.question)
        return StudentWork(d, lines, Wording(d, self.wording.notation), places, exact)

    @property
    def work(self) -> tuple[StudentWork, str] | None:
        """The student's own lines and the step among them; None if it is none of them."""
        return (self.own, self.step) if self.own is not None and self.step and self.step in self.own else None


@dataclass(frozen=True)
class Script:
    """A marked script as it is told to one reader; `alone`: to somebody whose work nobody else will look at."""

    report: Report
    reader: Reader
    of_exam: bool = False
    alone: bool = False
    _wordings: dict[tuple[int, bool], Wording] = field(default_factory=dict, compare=False, repr=False)
    _lines: dict[str, PartReport] = field(default_factory=dict, compare=False, repr=False)

    @property
    def for_student(self) -> bool:
        return self.reader == "student"

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of the question."""
        return tuple(part.name for part in self.report.question.parts)

    def of(self, name: str) -> PartReport:
        """What the report has of a part, or of a matrix that was not asked for."""
        if name not in self._lines:
            self._lines[name] = PartReport(self, name, self._verdicts.get(name, {}))
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
            self._wordings[key] = Wording(matrixwise(d) if together else d, self.report.question.notation)
        return self._wordings[key]

    def is_line(self, part: str) -> bool:
        """Whether a part is among the lines, so that a mistake in it is told with it."""
        return part in self.parts or part in self.report.attempt.more

    # -- names

    def label(self, name: str) -> Inlines:
        """What a part is called on the page."""
        part = self.of(name).part
        return self.told_apart(part, part.title) if part else self.named(name)

    def told_apart(self, part: Part, called: Inlines) -> Inlines:
        """What a part is called; where several are, with what stands before it: its number, on a paper its letter."""
        if sum(other.title == part.title for other in self.report.question.parts) == 1:
            return called
        before = part.name if self.of_exam else str(self.parts.index(part.name) + 1)
        return sentence("{title} ({part})", title=called, part=Quoted(before))

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

    def is_written(self, step: str) -> bool:
        lines = map(self.of, (*self.parts, *self.report.attempt.more))
        return any(line.step == step and line.grid for line in lines)

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
