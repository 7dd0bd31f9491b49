"""A sheet that somebody filled in, marked: verdicts, what is told of them, hints, and the step that went wrong anew.

What is typed on the page comes as the page itself, as it would be saved and handed in, and is read by whoever reads
such files for `symattn check`: so both say the same.  `session` loads this module when something is to be marked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from symattn.derivation.algebra import Entries, Index
from symattn.derivation.derivation import Derivation, Operand, Step
from symattn.derivation.ops.linear import MatMul
from symattn.errors import SymattnError
from symattn.exact import Matrix
from symattn.formula import Formula, Fraction, Product, Relation, Sum
from symattn.marking.attempt import Grid
from symattn.marking.grading.checking import Marking, checked
from symattn.marking.grading.source import of_question
from symattn.marking.marker.answers import unread
from symattn.marking.marker.policy import Terms, policy
from symattn.marking.marker.report import Report
from symattn.marking.reports import exercise_sheet
from symattn.marking.reports import words as report_words
from symattn.marking.reports.text import ReportText
from symattn.marking.reports.worked import StudentWork, as_read, shortened
from symattn.marking.submissions.webpage import as_markdown
from symattn.page.document import Block, Display, Inlines, Math, Paragraph, paragraph, sentence
from symattn.practice import words
from symattn.practice.shown import Reader, Said
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import CellsAnswer, ChoiceAnswer, Part, StepAnswer, asked_step
from symattn.teaching.sheets import Sheet

TICKED = ChoiceAnswer | CellsAnswer
"""Where nothing is ticked or shaded nothing is told: that would be the key."""


@dataclass(frozen=True)
class Marked:
    """A sheet, its page as somebody filled it in, and who reads what is said of it."""

    sheet: Sheet
    page: str
    reader: Reader

    def mark(self) -> Said:
        """The whole sheet marked: a verdict for every entry, every mistake, and the report that a student reads."""
        _, *blocks = self._marking.document("student").blocks  # the page itself says what is marked, and the score
        return {**self._verdicts, "html": self.reader.blocks(blocks)}

    def check(self, part: int) -> Said:
        """One part of it, from 1: what is told about that alone."""
        blocks = _told(ReportText(self._report, "student", alone=True), self._name(part))
        return {**self._verdicts, "html": self.reader.blocks(blocks)}

    def hint(self, part: int, row: int, column: int, level: int) -> Said:
        """A hint for an entry, each level saying more than the one before, in the student's own numbers."""
        blocks, most = hint(self._report, self._report.question.parts[part - 1], (row - 1, column - 1), level)
        return {"level": min(level, most), "of": most, "html": self.reader.blocks(blocks)}

    def reading(self, part: int, row: int, column: int) -> Said:
        """An entry as it was read, as the HTML of a formula, else why it could not be; nothing of a blank one."""
        verdict = self._report.of(self._name(part)).get((row - 1, column - 1))
        if verdict is None or verdict.written.blank:
            return {"html": "", "says": ""}
        if not verdict.written.readable:
            return {"html": "", "says": verdict.written.complaint}
        return {"html": self.reader.blocks((paragraph(as_read(verdict.written)),)), "says": ""}

    def exercise(self, number: int) -> Sheet | None:
        """A sheet with the step that went wrong in a part, or first of all (0), with new numbers."""
        report = self._report
        if number:
            name = self._name(number)
            report = replace(report, events=tuple(event for event in report.events if event.part == name))
        return exercise_sheet([report])

    def attempt(self) -> Said:
        """What was written as a Markdown file, for `symattn check` and `grade`; its recipe is in it."""
        recipe = f"recipe: {json.dumps(self.sheet.command)}\n" if self.sheet.command else ""
        text = _HEAD_OF_TABLE.sub(lambda row: row[0] + "|---" * (row[0].count("|") - 1) + "|\n", self._file(recipe))
        return {"name": f"{self.sheet.name}.md", "text": text}

    # -- helpers

    def _file(self, more: str = "") -> str:
        return f"---\nlang: {self.reader.language}\nsheet: {self.sheet.name}\n{more}---\n{_markdown(self.page)}\n"

    def _name(self, number: int) -> str:
        return self.sheet.question.parts[number - 1].name

    @cached_property
    def _marking(self) -> Marking:
        marking = checked(of_question(self.sheet.question, self.sheet.name), self._file(), Terms(policy("ecf")))
        return replace(marking, look=self.reader.look, alone=True)

    @property
    def _report(self) -> Report:
        return self._marking.reports[0]

    @property
    def _verdicts(self) -> Said:
        report = self._report
        numbers = {part.name: k for k, part in enumerate(report.question.parts, 1)}
        ticked = {part.name for part in report.question.parts if isinstance(part.answer, TICKED)}
        return {
            "total": report.total,
            "of": report.available,
            "pending": report.pending,
            "entries": [
                {
                    "part": numbers[v.part],
                    "row": v.i + 1,
                    "column": v.j + 1,
                    "state": v.state,
                    "sign": report_words.SIGNS[v.state][0],
                    "says": self.reader.said(report_words.SIGNS[v.state][1]),
                }
                for v in report.verdicts
                if v.part in numbers and not (v.part in ticked and v.written.blank)
            ],
            "events": [
                {
                    "part": numbers.get(event.part, 0),
                    "kind": event.kind,
                    "candidates": [candidate.id for candidate in event.candidates],
                }
                for event in report.events
            ],
        }


_OTHER_HEADING = re.compile(r"<(h[1-6])(?![^>]*\bdata-part)[^>]*>.*?</\1>", re.DOTALL)
_HEADING = re.compile(r"<(h[1-6])\b[^>]*>.*?</\1>", re.DOTALL)
_HEAD_OF_TABLE = re.compile(r"(?<=\n\n)\|.*\|\n")
_FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)


def _markdown(page: str) -> str:
    """A filled-in page as the Markdown that it is read as, without a head.

    Of headings, the numbers and words of parts are enough: with formulas they would have to be compared with the sheet.
    """
    page = _HEADING.sub(lambda heading: _FORMULA.sub("", heading[0]), _OTHER_HEADING.sub("", page))
    text = as_markdown(f"<html><body>{page}</body></html>")
    return text.split("\n---\n", 1)[1] if text.startswith("---\n") else text


def _told(told: ReportText, part: str) -> Iterator[Block]:
    """What is to be said about one part: its mistakes, or that there is none."""
    here = [mistake for mistake in told.mistakes if mistake.line.name == part]
    places = not isinstance(told.of(part).answer, TICKED)
    said = [mistake.in_full if places else mistake.says for mistake in here]
    yield from map(Paragraph, filter(None, said))
    verdicts = told.report.of(part).values()
    if any(said):  # else the remarks on the line say it
        for says in unread((v.i, v.j, v.written) for v in verdicts):
            yield paragraph(says)
        return
    states = {verdict.state for verdict in verdicts}
    remarks: Inlines = next((line.remarks for line in told.lines if line.part == part), ())
    if remarks:
        yield Paragraph(remarks)
    if states and all(verdict.accepted for verdict in verdicts):
        yield paragraph(words.RIGHT)
    elif "missing" in states and "wrong" not in states:
        yield paragraph(words.BOXES_EMPTY if states == {"missing"} else words.RIGHT_SO_FAR)
    elif not remarks:
        yield paragraph(report_words.NOT_RIGHT if "wrong" in states else report_words.LOOK_AGAIN)


# ------------------------------------------------------------------------------------------------ hints
# For one entry of a step: what to multiply, the first product, the whole of it; then the worked line.  They are in the
# student's own numbers: whatever was written in the lines before is gone on with.

Cell = tuple[int, int]


def hint(report: Report, part: Part, cell: Cell, level: int) -> tuple[list[Block], int]:
    """What is told of an entry (from 0) at a level, from 1: everything up to it; and how many levels there are."""
    told = ReportText(report, "student")
    asked, named = asked_step(report.question, part), told.of(part.name).wording
    d = report.own.get(part.name, asked[0] if asked else None)
    step = next((line for line in d if asked and line.name == asked[1]), None) if d else None
    if d is None or named is None or step is None or not _within(step, cell):
        return [paragraph(words.NO_HINT)], 1  # no step, or a given that is to be found backwards
    blocks = list(_hint(told, d, step, Wording(d, named.notation), cell))
    levels = sorted({number for number, _ in blocks})
    reached = levels[min(level, len(levels)) - 1]
    return [block for number, block in blocks if number <= reached], len(levels)


def _within(step: Step, cell: Cell) -> bool:
    rows, columns = step.result.shape
    return isinstance(step.result, Matrix) and 0 <= cell[0] < int(rows) and 0 <= cell[1] < int(columns)


def _hint(told: ReportText, d: Derivation, step: Step, wording: Wording, cell: Cell) -> Iterator[tuple[int, Block]]:
    """Blocks with the level from which they are told; there may be none for a level."""
    entry = wording.entry(step.name, *cell)
    try:
        by_name = step.op.working(*cell, *(_names(operand, d, wording) for operand in step.operands))
        working = wording.working(step, *cell)
    except (SymattnError, TypeError):  # a rule that cannot be read in formulas here
        yield 1, paragraph(words.NO_HINT)
        return
    yield 1, _what(step, wording, cell)
    yield 1, Display((Relation((entry, shortened(by_name)), ("=",)),))
    if empty := _empty(told, step):
        yield (
            2,
            Paragraph(
                sentence("Fill in {matrix} first: this entry is worked out from it.", matrix=wording.name(empty))
            ),
        )
        return
    if first := _first(step, working, d, wording, cell):
        yield 2, Paragraph(first)
    yield 3, Display((Relation((entry, shortened(working)), ("=",)),))
    problem = told.report.question.problem
    own = StudentWork(d, {}, wording, *((problem.places, problem.exact) if problem else (4, True)))
    for j in range(int(step.result.shape[1])):
        if (worked := own.worked(step, (cell[0], j))) is not None:
            yield 4, Display((Relation((wording.entry(step.name, cell[0], j), worked), ("=",)),))


def _what(step: Step, wording: Wording, cell: Cell) -> Block:
    """Which row is multiplied by which column; of other operations, the rule in names says it."""
    if not isinstance(step.op, MatMul):
        return paragraph(words.RULE)
    left, right = step.operands
    row, column = (
        sentence("row {row} of {matrix}", row=cell[0] + 1, matrix=wording.operand(left)),
        sentence("column {column} of {matrix}", column=cell[1] + 1, matrix=wording.operand(right)),
    )
    return Paragraph(
        sentence("Multiply {row} by {column}, number by number, and add up the products.", row=row, column=column)
    )


def _names(operand: Operand, d: Derivation, wording: Wording) -> Entries[Formula]:
    """The entries of an operand by name."""
    matrix = d.operand(operand)

    def named(i: Index, j: Index) -> Formula:
        return wording.entry(operand.name, *operand.place(i, j))

    return Entries(matrix.shape, named, first=wording.notation.first_index)


def _empty(told: ReportText, step: Step) -> str:
    """A line that the step is made of, which was asked for and is still empty; "" if there is none."""
    asked = {part.answer.step: part.name for part in told.report.question.parts if isinstance(part.answer, StepAnswer)}
    for operand in step.operands:
        said = told.of(asked[operand.name]).said if operand.name in asked else Grid(())
        if said is None or (operand.name in asked and isinstance(said, Grid) and said.empty):
            return operand.name
    return ""


def _first(step: Step, working: Formula, d: Derivation, wording: Wording, cell: Cell) -> Inlines:
    """The first product with what it comes to; of a sum the first term, of a fraction what stands below."""
    match working:
        case Sum((first, *_)):
            shown: Formula = first
            if isinstance(step.op, MatMul):
                left, right = d.operands(step)
                if isinstance(left, Matrix) and isinstance(right, Matrix):
                    shown = Relation((first, wording.number(left[cell[0], 0] * right[0, cell[1]])), ("=",))
            if isinstance(first, Product):
                return sentence("The first product is {formula}.", formula=Math(shown))
            return sentence("The first term is {formula}.", formula=Math(shown))
        case Fraction(_, below):
            return sentence("Begin with the denominator: {formula}.", formula=Math(shortened(below)))
    return ()
