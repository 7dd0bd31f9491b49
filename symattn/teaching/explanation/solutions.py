"""What may stand in the place of a question's part: the part itself, some of it done, its solution, its marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

from symattn.derivation.derivation import Derivation, Index, Operand, View
from symattn.exact import Matrix
from symattn.formula import Formula
from symattn.foundation.languages import message
from symattn.page.document import (
    ONLY_MARKS,
    AnswerGrid,
    AnswerSpace,
    Block,
    Blocks,
    Falk,
    Inlines,
    Paragraph,
    WorkingSpace,
    all_blocks,
    sentence,
    with_blocks_inside,
)
from symattn.page.notation import Notation
from symattn.teaching.explanation.layouts import Printed
from symattn.teaching.explanation.steps import Detail, entries
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import EntriesAnswer, Marks, MatrixAnswer, Part, Question, StepAnswer, marks_text

Cell = tuple[int, int]


def marking(part: Part) -> Blocks:
    """What only a marker needs, with the codes of the marks, and what each is for where it has to be said."""
    if not part.marks:
        return part.marking
    return (
        *part.marking,
        Paragraph(explained(part.marks) or ONLY_MARKS, marks_text(part.marks), in_short(part.marks)),
    )


def in_short(marks: Marks) -> str:
    """M1 A2 (one for each row)."""
    said = ""
    for mark in marks:
        code = message("{mark} ({purpose})", mark=str(mark), purpose=mark.what) if mark.what else str(mark)
        said = message("{marks} {mark}", marks=said, mark=code) if said else code
    return said


def explained(marks: Marks) -> Inlines:
    """What each mark is for, where it has to be said; empty if it is said of none."""
    told: Inlines = ()
    for mark in marks:
        if mark.what:
            own = sentence("{mark}: {purpose}", mark=str(mark), purpose=mark.what)
            told = sentence("{marks}; {mark}", marks=told, mark=own) if told else own
    return sentence("{marks}.", marks=told) if told else ()


def with_answer_space(asked: Blocks) -> Blocks:
    """What is asked, its space for working round its boxes."""
    boxes = [block for block in asked if isinstance(block, AnswerGrid | Falk)]
    space = [block for block in asked if isinstance(block, WorkingSpace) and not block.ruled]
    if len(boxes) != 1 or len(space) != 1:
        return asked
    return tuple(AnswerSpace(block, *space) if block in boxes else block for block in asked if block not in space)


class PartialSolution:
    """A question some of which is done: of every matrix of boxes the first row, or the first token's, with its working.

    Nothing else is given away: in the working, whatever is still to be found stands by name.
    """

    def __init__(self, question: Question) -> None:
        self.question = question

    @cached_property
    def boxes(self) -> dict[str, _Boxes]:
        """By the part that asks for them."""
        return {part.name: boxes for part in self.question.parts if (boxes := _boxes(self.question, part))}

    @cached_property
    def printed(self) -> Printed:
        return Printed([*self.question.given, *(block for part in self.question.parts for block in part.ask)])

    def partly(self, part: Part) -> Blocks:
        """As it was asked, where the answer is no matrix of boxes, or has a single one."""
        boxes = self.boxes.get(part.name)
        if boxes is None or not boxes.first:
            return part.ask
        done = replace(boxes.grid, filled=(*boxes.grid.filled, *((cell, boxes.printed(cell)) for cell in boxes.first)))

        def put(blocks: Blocks) -> Blocks:
            return tuple(done if block == boxes.grid else with_blocks_inside(block, put) for block in blocks)

        room = next(
            k for k, block in enumerate(part.ask) if isinstance(block, WorkingSpace) or put((block,)) != (block,)
        )
        return (*part.ask[:room], *self._working(boxes), *put(part.ask[room:]))

    def _working(self, boxes: _Boxes) -> list[Block]:
        """How the entries that are given come about, where they are a step's."""
        step = next((step for step in boxes.derivation if step.name == boxes.step), None)
        if step is None or step.result != boxes.matrix:
            return []
        return entries(step, self._knowing(boxes), Detail(boxes.first, self.question.places))

    def _knowing(self, boxes: _Boxes) -> _Knowing:
        """The words for a derivation of which the entries that stand on the paper are known."""
        if (knowing := self._words.get(id(boxes.derivation))) is None:
            shown = {other.step: other.shown for other in self.boxes.values() if other.derivation is boxes.derivation}
            knowing = self._words[id(boxes.derivation)] = _Knowing(
                boxes.derivation, self.question.notation, shown, self.printed
            )
        return knowing

    @cached_property
    def _words(self) -> dict[int, _Knowing]:
        """By the identity of the derivation, which the question keeps: it is the same for all parts but a few."""
        return {}


@dataclass(frozen=True)
class _Boxes:
    """The boxes of a part of a question, and what belongs in them."""

    question: Question
    grid: AnswerGrid
    matrix: Matrix
    derivation: Derivation
    step: str

    @cached_property
    def first(self) -> tuple[Cell, ...]:
        """The empty boxes of the first row that has any (of the first token); half of them, if there are no others."""
        empty = [cell for cell in self._cells if cell not in dict(self.grid.filled)]
        axis = 1 if self.derivation.orientation == "columns" else 0
        line = [cell for cell in empty if cell[axis] == min(cell[axis] for cell in empty)]
        return tuple(line if len(line) < len(empty) else line[: len(line) // 2])

    @cached_property
    def shown(self) -> frozenset[Cell]:
        """The entries that stand in their boxes when the first are done."""
        return frozenset((*self.first, *dict(self.grid.filled)))

    @property
    def _cells(self) -> list[Cell]:
        return [(i, j) for i in range(self.grid.rows) for j in range(self.grid.columns)]

    def printed(self, cell: Cell) -> Formula:
        return self._wording.number(self.matrix[cell])

    @cached_property
    def _wording(self) -> Wording:
        whole = self.question.exact or all(isinstance(x, int) for x in self.matrix)
        return Wording(self.derivation, self.question.notation, None if whole else self.question.places)


def _boxes(question: Question, part: Part) -> _Boxes | None:
    """Those of a part that is answered by a matrix of numbers; None if there is no grid for it."""
    derivation, step = question.problem.derivation if question.problem else Derivation({}), ""
    match part.answer:
        case StepAnswer(step) | EntriesAnswer(step, _):
            matrix = derivation.value(step)
        case MatrixAnswer(value, own, step):
            matrix, derivation = value, own or derivation
        case _:
            return None
    if not isinstance(matrix, Matrix):
        return None
    for grid in all_blocks(part.ask):
        if isinstance(grid, AnswerGrid) and not grid.shade and grid.step in ("", step):
            return _Boxes(question, grid, matrix, derivation, step)
    return None


class _Knowing(Wording):
    """The words for a derivation of which not everything is known: working has the names of other entries."""

    def __init__(
        self, derivation: Derivation, notation: Notation, shown: Mapping[str, frozenset[Cell]], printed: Printed
    ) -> None:
        """Known are the entries `shown` in their boxes, by step, and whatever matrix is `printed`."""
        super().__init__(derivation, notation)
        self.shown = shown
        self.printed = cache(lambda name: printed.has(name, self))

    def known(self, name: str, cell: Cell) -> bool:
        return cell in self.shown.get(name, ()) or self.printed(name)

    def view(self, operand: Operand, by_name: bool = False, guard: int = 0) -> View:
        view = super().view(operand, by_name, guard)

        def entry(i: Index, j: Index) -> Formula:
            row, column = operand.place(i, j)
            if isinstance(row, int) and isinstance(column, int) and not self.known(operand.name, (row, column)):
                return self.entry(operand.name, row, column)
            return view.entry(i, j)

        return replace(view, entry=entry)
