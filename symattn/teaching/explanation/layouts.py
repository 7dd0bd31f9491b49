"""Other ways to lay out a page: every matrix product as Falk's scheme, or two columns of steps and their working.

Both rearrange finished blocks and are local to this module, and what a question is made from holds no
layout.  Where a layout does not apply, the usual form stands.  The layout flow, all in one picture, is in `flow`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from symattn.derivation.derivation import Operand, Step
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix
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
from symattn.teaching.explanation.steps import box_kind
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.question import MatrixAnswer, Part, Question, StepAnswer

Layout = Literal["matrix", "falk", "columns", "flow"]
LAYOUTS: tuple[Layout, ...] = ("matrix", "falk", "columns", "flow")

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
