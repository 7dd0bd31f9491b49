"""The pieces of papers and keys: givens, what is asked, some of it done, what is worked out, marks, checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

from symattn.derivation.derivation import Derivation, Index, Operand, Step, View
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.ops import MatMul, Softmax
from symattn.derivation.ops.turning import turned
from symattn.derivation.sizes import Axis
from symattn.errors import SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Outline, decide, has_symbols
from symattn.exact.sums import total
from symattn.formula import Formula, Relation, equal
from symattn.formula.width import wrapped
from symattn.foundation.languages import message, sentences
from symattn.page.document import (
    ONLY_MARKS,
    AnswerGrid,
    AnswerSpace,
    Block,
    Blocks,
    Display,
    Falk,
    Inlines,
    Paragraph,
    Together,
    WorkingSpace,
    all_blocks,
    as_text,
    paragraph,
    sentence,
    with_blocks_inside,
)
from symattn.page.notation import Notation
from symattn.teaching.explanation.layouts import Printed
from symattn.teaching.explanation.steps import Detail, ask_step, begins_decimals, entries, explain_step
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.problem import Problem
from symattn.teaching.question import EntriesAnswer, Marks, MatrixAnswer, Part, Question, StepAnswer, marks_text


def wording_of(problem: Problem) -> Wording:
    return Wording(problem.derivation, problem.notation)


def introduction(problem: Problem) -> list[Block]:
    return [paragraph(text) for text in problem.introduction]


def givens(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> Together:
    """The matrices one starts from, or only some of them, next to one another as far as a line goes."""
    wanted = {name: m for name, m in problem.derivation.givens.items() if not only or name in only}
    formulas: list[Formula] = [given_as_equation(name, matrix, wording) for name, matrix in wanted.items()]
    return Together((Display(wrapped(formulas, LINE)),))


def given_as_equation(name: str, matrix: AnyMatrix, wording: Wording) -> Relation:
    """X = its numbers, or its named entries."""
    return equal(wording.shaped(wording.name(name), matrix), wording.values(matrix, name))


def asked(problem: Problem, wording: Wording) -> dict[str, tuple[Block, ...]]:
    """For each step asked: the lines that lead to it without being asked, its rule, space for working, its boxes."""
    blocks: dict[str, tuple[Block, ...]] = {}
    for name, way in leading_to(problem).items():
        step = problem[name]
        rules = [rule for one in way for rule in (*_mask_of(one, wording), wording.equation(one))]
        display = (Display(wrapped(rules, LINE)),) if rules else ()
        decimals = any(begins_decimals(one, problem.derivation) for one in (*way, step))
        form = decimals_wanted(problem) if problem.exact and decimals else ()
        blocks[name] = (*display, *form, *mask_shown(step, wording), *ask_step(step, wording, problem.exact, way))
    return blocks


def leading_to(problem: Problem) -> dict[str, list[Step]]:
    """For each step asked, by its name, those before it that are used and not asked: S' = S/√d_k."""
    used = frozenset[str]().union(*(problem.derivation.before(step.name) for step in problem.asked_steps))
    ways: dict[str, list[Step]] = {}
    way: list[Step] = []
    for step in problem.steps:
        if step in problem.asked_steps:
            ways[step.name], way = way, []
        elif step.name in used:
            way.append(step)
    return ways


def decimals_wanted(problem: Problem) -> tuple[Block, ...]:
    """Where exact values end in the middle of a question."""
    wanted = message(
        "From here on, give decimals with {places} places, and carry at least two more places than you quote.",
        places=problem.places,
    )
    return (Paragraph(as_text(wanted), typed=()),)


def worked(step: Step, wording: Wording, detail: Detail) -> tuple[Block, ...]:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> Paragraph:
    """What the student is to do, and in what form answers are wanted on paper."""
    shapes = [isinstance(step.result, Outline) for step in problem.asked_steps]
    if all(shapes):
        return paragraph(message("Give the shape of each matrix, such as 3×4. A shape is rows × columns."))
    mixed = message("Where a matrix has no boxes, give its shape, such as 3×4. A shape is rows × columns.")
    asked: str
    typed: str = message("Fill in every box.")
    if _whole_numbers(problem):
        asked = message("Fill in every box. Show the products.")
    elif problem.exact:
        powers = any(step.op.brings == "powers" for step in problem.steps)
        sines = any(step.op.brings == "sines" for step in problem.derivation)
        asked = _EXACT_FORMS[powers, sines]
    else:
        asked = message(
            "Fill in every box. Show the products. Give decimals with {places} places, and carry at least two more "
            "places than you quote.",
            places=problem.places,
        )
    if any(shapes):
        asked, typed = sentences(asked, mixed), sentences(typed, mixed)
    return Paragraph(as_text(asked), typed=as_text(typed))


def _whole_numbers(problem: Problem) -> bool:
    """Whether nothing but whole numbers, and −∞, is asked for, and so no form need be said."""
    asked = (step.result for step in problem.asked_steps if isinstance(step.result, Matrix))
    return all(isinstance(entry, int) or entry is NEGATIVE_INFINITY for result in asked for entry in result)


_EXACT_FORMS = {
    (False, False): message("Fill in every box. Show the products. Give exact values: leave answers as fractions."),
    (True, False): message(
        "Fill in every box. Show the products. Give exact values: leave answers as fractions, roots and powers of e."
    ),
    (False, True): message(
        "Fill in every box. Show the products. Give exact values: leave answers as sines, cosines and fractions."
    ),
    (True, True): message(
        "Fill in every box. Show the products. Give exact values: leave answers as sines, cosines, "
        "fractions, roots and powers of e."
    ),
}
"""By whether there are powers of e, and sines."""


def mask_shown(step: Step, wording: Wording) -> tuple[Block, ...]:
    return tuple(Display((mask,)) for mask in _mask_of(step, wording))


def _mask_of(step: Step, wording: Wording) -> list[Formula]:
    """The matrix that the operation has of its own, as an equation."""
    own = step.op.own_matrix(wording.style)
    return [Relation(own, ("=",))] if own else []


_SUM_TO_1: Mapping[Axis, str] = {
    "rows": "Every row of {weights} sums to 1.",
    "columns": "Every column of {weights} sums to 1.",
}


def checks(problem: Problem, wording: Wording) -> list[Inlines]:
    """Identities that a marker can check at a glance, each of them verified here."""
    lines: list[Inlines] = []
    by_token = []
    for step in problem.steps:
        if isinstance(step.op, Softmax) and step.token is not None:
            by_token.append(_sums_to_1(step))
        elif isinstance(step.op, Softmax) and _sums_to_1(step):
            lines.append(sentence(_SUM_TO_1[step.op.along], weights=wording.name(step.name)))
    if by_token and all(by_token):
        lines.append(as_text("The weights of every token sum to 1."))
    for step in problem.steps:
        if isinstance(step.op, MatMul) and step.name in ("Q", "K", "V"):
            lines += _column_sums(step, wording)
    return [*lines, *agreement(problem, wording)]


def _column_sums(step: Step, wording: Wording) -> list[Inlines]:
    """Those of a product are those of its left factor times the right one."""
    a, b = step.operands
    left, right = (operand.of(wording.derivation.value(operand.name)) for operand in (a, b))
    if not (isinstance(left, Matrix) and isinstance(right, Matrix) and isinstance(step.result, Matrix)):
        return []
    sums, whole = (Matrix.of([[total(column) for column in matrix.T.rows]]) for matrix in (left, step.result))
    if MatMul().apply(sums, right) != whole:
        return []
    return [
        sentence(
            "Column sums of {product}: {sums} = column sums of {left} times {right}.",
            product=wording.name(step.name),
            sums=wording.values(whole),
            left=wording.operand(a),
            right=wording.operand(b),
        )
    ]


def _sums_to_1(step: Step) -> bool:
    """Whether what a softmax gave sums to 1 along its lines: decided, not assumed."""
    if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
        return False
    lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
    return all(decide(total(line), 1).equal for line in lines)


def agreement(problem: Problem, wording: Wording) -> list[Inlines]:
    """The weights of the usual way, and that they give the same output: decided exactly, entry by entry.

    Nothing where the mechanism is the usual way, where it does not reach its end, or where there are no numbers.
    """
    chosen, d = mechanisms().get(problem.mechanism), problem.derivation
    if chosen is None or chosen.other_way is None or "Z" not in d:
        return []
    if any(not isinstance(m, Matrix) or any(map(has_symbols, m)) for m in d.givens.values()):
        return []
    usual = chosen.other_way(d) if d.orientation == "rows" else turned(chosen.other_way(turned(d)))
    output, again = d.value("Z"), usual.value("Z")
    assert isinstance(output, Matrix) and isinstance(again, Matrix)
    same = [decide(x, y).equal for x, y in zip(output, again, strict=True)]
    if False in same:
        raise SelfCheckError(f"{problem.title} gives another output than attention worked out at once.")
    if None in same:
        return []  # nothing is said that is not proved
    own = Wording(usual, problem.notation)
    weights = equal(own.name("A"), own.values(usual["A"].result))
    both = equal(own.rule(usual["Z"]), wording.name("Z"))
    return [
        sentence("All weights at once: {weights}, and exactly {output}.", weights=weights, output=both),
        *_saved(d),
    ]


def _saved(d: Derivation) -> list[Inlines]:
    """How many keys a cache keeps from being worked out again: t of them for every token t."""
    n = sum(step.role == "K_cache" for step in d)
    if n < 2:
        return []
    words = message(
        "With the cache, {keys} keys and {keys} values are worked out; without it, {afresh} of each.",
        keys=n, afresh=n * (n + 1) // 2,
    )  # fmt: skip
    return [as_text(words)]


# ------------------------------------------------------------- what may stand in the place of a question's part

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
        shown = {other.step: other.shown for other in self.boxes.values() if other.derivation is boxes.derivation}
        knowing = _Knowing(boxes.derivation, self.question.notation, shown, self.printed)
        return entries(step, knowing, Detail(boxes.first, self.question.places))


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
