"""Hints for one entry of a step: what to multiply, the first product, the whole of it; then the worked line.

They are in the student's own numbers: whatever was written in the lines before is gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator

from symattn.derivation.algebra import Entries
from symattn.derivation.derivation import Derivation, Index, Operand, Step
from symattn.derivation.ops import MatMul
from symattn.errors import SymattnError
from symattn.exact import Matrix
from symattn.formula import Formula, Fraction, Product, Relation, Sum
from symattn.marking.attempt import Grid
from symattn.marking.marker.report import Report
from symattn.marking.reports.text import ReportText
from symattn.marking.reports.worked import StudentWork, shortened
from symattn.page.document import Block, Display, Inlines, Math, Paragraph, paragraph, sentence
from symattn.practice import words
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import Part, StepAnswer, asked_step

Cell = tuple[int, int]


def hint(report: Report, part: Part, cell: Cell, level: int) -> tuple[list[Block], int]:
    """What is told of an entry (from 0) at a level, from 1: everything up to it; and how many levels there are."""
    told = ReportText(report, "student")
    asked, named = asked_step(report.question, part), told.wording(part.name)
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
    matrix = operand.of(d.value(operand.name))

    def named(i: Index, j: Index) -> Formula:
        return wording.entry(operand.name, *operand.place(i, j))

    return Entries(matrix.shape, named, first=wording.notation.first_index)


def _empty(told: ReportText, step: Step) -> str:
    """A line that the step is made of, which was asked for and is still empty; "" if there is none."""
    asked = {part.answer.step: part.name for part in told.report.question.parts if isinstance(part.answer, StepAnswer)}
    for operand in step.operands:
        said = told.said(asked[operand.name]) if operand.name in asked else Grid(())
        if said is None or (operand.name in asked and isinstance(said, Grid) and said.empty):
            return operand.name
    return ""


def _first(step: Step, working: Formula, d: Derivation, wording: Wording, cell: Cell) -> Inlines:
    """The first product with what it comes to; of a sum the first term, of a fraction what stands below."""
    match working:
        case Sum((first, *_)):
            shown: Formula = first
            if isinstance(step.op, MatMul):
                left, right = (operand.of(d.value(operand.name)) for operand in step.operands)
                if isinstance(left, Matrix) and isinstance(right, Matrix):
                    shown = Relation((first, wording.number(left[cell[0], 0] * right[0, cell[1]])), ("=",))
            if isinstance(first, Product):
                return sentence("The first product is {formula}.", formula=Math(shown))
            return sentence("The first term is {formula}.", formula=Math(shown))
        case Fraction(_, below):
            return sentence("Begin with the denominator: {formula}.", formula=Math(shortened(below)))
    return ()
