"""Other ways to lay out a page: products as Falk's schemes, two columns of steps and their working, first rows worked.

All rearrange finished blocks and are local to this module; what a question is made from holds no layout.  Where a
layout does not apply, the usual form stands.  The layout flow, all in one picture, is in `flow`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import Derivation, Operand, Step, View
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix, indices
from symattn.formula import NOTHING, Blank, Formula, MatrixOf, Relation, Row, equal, is_tall
from symattn.formula.width import fold, width
from symattn.page.document import (
    AnswerGrid,
    Block,
    Blocks,
    Columns,
    Display,
    Entries,
    Falk,
    Inlines,
    Math,
    Paragraph,
    Sentence,
    Strong,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
    as_text,
    sentence,
    spans,
    with_blocks_inside,
)
from symattn.page.notation import Notation
from symattn.teaching.explanation.steps import Detail, box_kind, entries
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.question import EntriesAnswer, MatrixAnswer, Part, Question, StepAnswer

# ------------------------------------------------------------------------------------------------ Falk's scheme


@dataclass(frozen=True)
class Schemes:
    """Falk's scheme of every matrix product of one derivation; `exact` says which boxes answers need."""

    wording: Wording
    exact: bool = True

    def asked(self, blocks: Blocks, printed: Printed) -> Blocks:
        """The boxes of every product in its scheme.

        A factor shows its numbers only where they are `printed` already; any other has boxes to copy them into, or,
        where these would be too large, the names of its entries.
        """
        products = {step.name: step for step in self._products()}

        def placed(block: Block) -> Block:
            if isinstance(block, AnswerGrid) and (step := products.get(block.step)):
                left, above = (self._copied(operand, printed) for operand in step.operands)
                return Falk(left, above, block, self._names(step))
            if isinstance(block, Falk):
                return block
            return with_blocks_inside(block, lambda inside: tuple(map(placed, inside)))

        return tuple(map(placed, blocks))

    def shown(self, blocks: Blocks) -> Blocks:
        """Every product that is worked out among the blocks in its scheme, with its factors' numbers."""
        for step in self._products():
            blocks = self._shown(step, blocks)
        return blocks

    def _shown(self, step: Step, blocks: Blocks) -> Blocks:
        """The scheme after the rule, in place of the factors, and of the values; else where the values are."""
        w, whole = self.wording, Operand(step.name)
        roles = {block.role for block in blocks if isinstance(block, Display) and block.step == step.name}
        if not roles & {"rule", "values"}:
            return blocks
        rule = equal(w.shaped(w.name(step.name), step.result), w.rule(step, shapes=True))
        guard = w.guard(step)
        left, above = (self._numbers(operand, guard) for operand in step.operands)
        product = self._by_name(whole) if w.derivation.staged else self._numbers(whole)
        if width(left) + width(product) > LINE:
            return blocks
        scheme = Falk(left, above, product, self._names(step))
        shown: list[Block] = []
        for block in blocks:
            match block:
                case Display(lead=lead, step=step.name, role="rule"):
                    shown.append(Together((Display(fold(rule, LINE), lead), scheme)))
                case Display(lines, step=step.name, role="values"):
                    shown += [scheme] * ("rule" not in roles)
                    match lines:
                        case (Row((_, decimals)),):
                            shown.append(Display((decimals,)))
                case _:
                    shown.append(block)
        return tuple(shown)

    def _products(self) -> Iterator[Step]:
        """The products of matrices whose sizes are known."""
        for step in self.wording.derivation:
            if isinstance(step.op, MatMul) and isinstance(step.result, Matrix):
                yield step

    def _names(self, step: Step) -> tuple[Formula, ...]:
        d = self.wording.derivation
        return tuple(
            self.wording.shaped(self.wording.operand(operand), d.operand(operand)) for operand in step.operands
        )

    def _numbers(self, operand: Operand, guard: int = 0) -> MatrixOf:
        w = self.wording
        matrix = operand.of(w.derivation.seen(operand.name))
        assert isinstance(matrix, Matrix)
        return self._grid(tuple(w.number(x, guard) for x in row) for row in matrix.rows)

    def _copied(self, operand: Operand, printed: Printed) -> MatrixOf:
        """A factor as it stands on a worksheet."""
        w, name = self.wording, operand.name
        if printed.has(name, w):
            return self._numbers(operand)
        matrix = operand.of(w.derivation.value(name))
        assert isinstance(matrix, Matrix)
        rows, columns = matrix.shape
        step = next((step for step in w.derivation if step.name == name), None)
        kind = box_kind(step, self.exact) if step else "integer"
        if kind in ("fraction", "exponential"):
            return self._by_name(operand)
        return self._grid([(Blank(kind),) * columns] * rows)

    def _by_name(self, operand: Operand) -> MatrixOf:
        """The names of an operand's entries, as they are called in the matrix that it is taken from."""
        matrix = self.wording.derivation.operand(operand)
        assert isinstance(matrix, Matrix)
        rows, columns = matrix.shape
        return self._grid(
            tuple(self.wording.entry(operand.name, *operand.place(i, j)) for j in range(columns)) for i in range(rows)
        )

    def _grid(self, cells: Iterable[tuple[Formula, ...]]) -> MatrixOf:
        return MatrixOf(tuple(cells), self.wording.notation.bracket)


class Printed:
    """The equations that stand on a page, each found by its left side."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self._right: dict[Formula, list[Formula]] = {}
        self.add(blocks)

    def add(self, blocks: Iterable[Block]) -> None:
        for formula in formulas_among(blocks):
            match formula:
                case Relation((left, right), ("=",)):
                    self._right.setdefault(left, []).append(right)

    def has(self, name: str, wording: Wording) -> bool:
        """Whether a matrix is printed: by its name with its shape, or without."""
        matrix, plain = wording.derivation.value(name), wording.name(name)
        rights = [x for left in (plain, wording.shaped(plain, matrix)) for x in self._right.get(left, ())]
        return bool(rights) and wording.values(matrix, name) in rights


def formulas_among(blocks: Iterable[Block]) -> Iterator[Formula]:
    """The formulas that stand among the blocks."""
    for block in all_blocks(blocks):
        for line in block.lines if isinstance(block, Display) else ():
            yield from line.items if isinstance(line, Row) else (line,)


def in_schemes(question: Question) -> Question:
    """The question with every matrix product that it asks for, or works out, as Falk's scheme."""
    printed = Printed(question.given)
    parts: list[Part] = []
    for part in question.parts:
        printed.add(part.ask)
        if schemes := _schemes(question, part):
            ask, key = schemes.asked(part.ask, printed), schemes.shown(part.key)
            part = replace(part, ask=ask, key=key)
        parts.append(part)
    return replace(question, parts=tuple(parts))


def _schemes(question: Question, part: Part) -> Schemes | None:
    """Of the derivation that a part is about, in the notation of its question."""
    own = part.answer.derivation if isinstance(part.answer, MatrixAnswer) else None
    derivation = own or (question.problem.derivation if question.problem else None)
    return Schemes(Wording(derivation, question.notation), question.exact) if derivation else None


# ------------------------------------------------------------------------------------------------ two columns

STEP: tuple[Inlines, Inlines] = (as_text("Step"), as_text("Working"))
QUESTION: tuple[Inlines, Inlines] = (as_text("Question"), as_text("Working and answer"))

NARROW = 15.0
"""How wide a formula in the left one of two columns may be, in em."""


HEADING = 24.0
"""The same in a heading, with words before it and marks at the margin."""


def titled(title: Inlines) -> Paragraph:
    """A title that is no heading, for the left column."""
    return Paragraph(tuple(Strong(part.text) if isinstance(part, Words) else part for part in spans(title)))


def with_rule_apart(blocks: Blocks) -> tuple[Blocks, Blocks]:
    """A step that is worked out: its rule, if the left column has room for it, and what is worked out."""
    for k, block in enumerate(blocks):
        match block:
            case Display((Relation((name, _), ("=",)) as rule, *more), lead) if width(rule) <= NARROW:
                match more:
                    case [Relation((first, *parts), signs), *others] if first == NOTHING:
                        more = [Relation((name, *parts), signs), *others]
                rest = (Display(tuple(more), lead),) if more else ()
                return (Display((rule,)),), (*blocks[:k], *rest, *blocks[k + 1 :])
    return (), blocks


def headed(part: Part) -> Part:
    """The part with its rule in its heading, "Scores S = QKᵀ", where a line has room for it, and no more below."""
    for k, block in enumerate(part.ask):
        match block:
            case Display((Relation((name, _), ("=",)) as rule,), (), step, "rule") if _short(rule):
                title, key = _with_rule(part.title, name, rule), _below_rule(part.key, step)
                return replace(part, title=title, ask=(*part.ask[:k], *part.ask[k + 1 :]), key=key)
    return replace(part, key=_on_one_line(part.key))


def _below_rule(key: Blocks, step: str) -> Blocks:
    """A step worked out below its rule: its factors, with the result on the same line if that is wide enough."""
    match key:
        case (Display((Relation((name, _), ("=",)), *more), (), name_of_step, "rule") as shown, *rest) if (
            name_of_step == step
        ):
            pass
        case (first, *rest):  # a mask, or a remark
            return (first, *_below_rule(tuple(rest), step))
        case _:
            return key
    match more:
        case [Relation((nothing, factors), signs)] if nothing == NOTHING:
            return _with_result(replace(shown, lines=(Relation((name, factors), signs),)), rest)
    return tuple(rest) or key


def _with_result(shown: Display, rest: Sequence[Block]) -> Blocks:
    """One line, and the result of the step that is worked out below it on the same line, if that is wide enough."""
    (line,) = shown.lines
    match rest:
        case [Entries() as entries, Display((values,), (), step), *others] if step == shown.step:
            pass
        case _:
            return (shown, *rest)
    match line, values:
        case Relation(parts, signs), Relation((_, result), (sign,)):
            whole = Relation((*parts, result), (*signs, sign))
        case Relation(parts, signs), Row((Relation((_, result), (sign,)), Relation((_, decimals), (other,)))):
            whole = Relation((*parts, result, decimals), (*signs, sign, other))
        case _:
            return (shown, *rest)
    return (replace(shown, lines=(whole,)), entries, *others) if width(whole) <= LINE else (shown, *rest)


def _on_one_line(key: Blocks) -> Blocks:
    """A step worked out with its rule, its factors and its result on one line, if that is wide enough."""
    match key:
        case (
            Display((Relation(rule, ("=",)), Relation((nothing, factors), signs)), (), role="rule") as shown,
            *rest,
        ) if nothing == NOTHING:
            line = Relation((*rule, factors), ("=", *signs))
            if width(line) <= LINE:
                return _with_result(replace(shown, lines=(line,)), rest)
    return key


def _short(rule: Formula) -> bool:
    return width(rule) <= HEADING and not is_tall(rule)


def _with_rule(title: Inlines, name: Formula, rule: Formula) -> Inlines:
    match title:
        case (Sentence(places=((*others, (place, (Math(last),))))) as said,) if last == name:
            return (replace(said, places=(*others, (place, as_text(rule)))),)
    return sentence("{matrix} {name}", matrix=title, name=rule)


def question_apart(part: Part) -> tuple[Blocks, Blocks] | None:
    """What is asked, and where the answer goes, for the two columns; none for a part that is no matrix to work out."""
    room = next((k for k, block in enumerate(part.ask) if isinstance(block, AnswerGrid | WorkingSpace | Falk)), None)
    said = Display | Paragraph if isinstance(part.answer, StepAnswer) else Display  # which shape is to be given
    if room is None or not all(isinstance(block, said) for block in part.ask[:room]):
        return None
    if any(width(line) > NARROW for line in formulas_among(part.ask[:room])):
        return None
    sentences = tuple(block for block in part.ask[:room] if isinstance(block, Paragraph))
    return tuple(block for block in part.ask[:room] if block not in sentences), (*sentences, *part.ask[room:])


def joined(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, columns that follow one another under the same heads as one."""
    joined: list[Block] = []
    for block in blocks:
        match joined[-1:], block:
            case [Columns(heads, rows)], Columns(same, more) if heads == same:
                joined[-1] = Columns(heads, (*rows, *more))
            case _:
                joined.append(block)
    return joined


# ------------------------------------------------------------------------------------------------ partly worked

Cell = tuple[int, int]


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
        empty = [cell for cell in indices((self.grid.rows, self.grid.columns)) if cell not in dict(self.grid.filled)]
        axis = 1 if self.derivation.orientation == "columns" else 0
        line = [cell for cell in empty if cell[axis] == min(cell[axis] for cell in empty)]
        return tuple(line if len(line) < len(empty) else line[: len(line) // 2])

    @cached_property
    def shown(self) -> frozenset[Cell]:
        """The entries that stand in their boxes when the first are done."""
        return frozenset((*self.first, *dict(self.grid.filled)))

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
