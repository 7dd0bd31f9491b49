"""Whole documents: a derivation to read, a worksheet to fill in, and its answer key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symattn.derivation import Step
from symattn.document import (
    Block,
    Box,
    Display,
    Document,
    Heading,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Together,
    Words,
)
from symattn.exact import Matrix, Outline, Value
from symattn.explanation.page import page, rows_of
from symattn.explanation.steps import MASKS, Detail, ask_step, explain_step, step_title
from symattn.explanation.wording import Wording
from symattn.formula import Formula, Relation
from symattn.ops import Hadamard, Mask, MatMul, Round, Scale, Softmax, SumOver
from symattn.problem import Problem


def derivation_document(problem: Problem, detail: Detail | None = None) -> Document:
    """The derivation worked out, in its notation, with the errata of a note listed."""
    blocks = _introduction(problem)
    blocks += page(problem, detail or Detail(places=problem.notation.decimals))
    return Document(problem.title, tuple(blocks), sheet=problem.sheet, recipe=problem.recipe)


def worksheet_document(problem: Problem) -> Document:
    """What the student gets: conventions, givens, and boxes for every step asked."""
    wording = _wording(problem)
    blocks: list[Block] = [
        *_introduction(problem),
        Paragraph((Words(_instructions(problem)),)),
        _conventions(problem, wording),
        Heading((Words("Given"),), 1),
        Together((_givens(problem, wording),)),
    ]
    on_the_way: list[Formula] = []  # what is not asked but used: S' = S/√d_k
    for step in problem.steps:
        if problem.asked and step.name not in problem.asked:
            on_the_way.append(_equation(step, wording))
            continue
        way = [Display(tuple(rows_of(on_the_way)))] if on_the_way else []
        on_the_way = []
        asked = ask_step(step, wording, problem.exact)
        blocks.append(Together((_numbered(step, problem, wording), *way, *_mask_shown(step, wording), *asked)))
    return Document(
        problem.title,
        tuple(blocks),
        fields=("Name", "Student ID", "Date"),
        sheet=problem.sheet,
        recipe=problem.recipe,
    )


def key_document(problem: Problem, detail: Detail | None = None) -> Document:
    """The answer key: every product, every entry, exact values and decimals, and checks that can be done by eye."""
    wording = _wording(problem)
    detail = detail or Detail(places=problem.places)
    blocks: list[Block] = [
        _conventions(problem, wording),
        Heading((Words("Given"),), 1),
        Together((_givens(problem, wording),)),
    ]
    for step in problem.steps:
        first, *rest = [*_mask_shown(step, wording), *explain_step(step, wording, detail)]
        blocks += [Together((_numbered(step, problem, wording), first)), *rest]
    if checks := _checks(problem, wording):
        blocks += [Heading((Words("Checks"),), 1), ItemList(tuple(checks))]
    return Document(problem.title, tuple(blocks), subtitle="Answer key", sheet=problem.sheet, recipe=problem.recipe)


def booklet(documents: Sequence[Document]) -> Document:
    """Several documents in one, each on a new page under a heading of its own."""
    blocks: list[Block] = []
    for document in documents:
        if blocks:
            blocks.append(PageBreak())
        blocks.append(Heading((Words(f"{document.subtitle or 'Worksheet'} {document.sheet}"),), 1))
        if document.fields:
            blocks.append(
                Paragraph((Words("   ".join(f"{field}: ______________________" for field in document.fields)),))
            )
        blocks += [_lowered(block) for block in document.blocks]
    first = documents[0]
    recipe = first.recipe.partition(" (sheet")[0]
    return Document(first.title, tuple(blocks), subtitle=first.subtitle, recipe=recipe, language=first.language)


def _lowered(block: Block) -> Block:
    """The block with its headings one level lower."""
    if isinstance(block, Heading):
        return replace(block, level=block.level + 1)
    if isinstance(block, Together | Box):
        return replace(block, blocks=tuple(map(_lowered, block.blocks)))
    return block


def _introduction(problem: Problem) -> list[Block]:
    return [Paragraph((Words(text),)) for text in problem.introduction]


def _numbered(step: Step, problem: Problem, wording: Wording) -> Heading:
    """The step's heading; steps that are asked have the same number on the worksheet and in the key."""
    title = step_title(step, wording)
    asked = [s.name for s in problem.asked_steps]
    return Heading((Words(f"{asked.index(step.name) + 1}. "), *title) if step.name in asked else title, 1)


def _wording(problem: Problem) -> Wording:
    return Wording(problem.derivation, problem.notation)


def _givens(problem: Problem, wording: Wording) -> Display:
    formulas: list[Formula] = []
    for name, matrix in problem.derivation.givens.items():
        shaped = wording.shaped(wording.name(name), matrix)
        formulas.append(Relation((shaped, wording.values(matrix, name)), ("=",)))
    return Display(tuple(rows_of(formulas)))


def _instructions(problem: Problem) -> str:
    if problem.exact:
        powers = any(isinstance(step.op, Softmax) for step in problem.steps)
        forms = "fractions, roots and powers of e" if powers else "fractions"
        return f"Fill in every box. Show the products. Give exact values: {forms} may stand as they are."
    return (
        f"Fill in every box. Show the products. Give decimals with {problem.places} places, and carry at least two "
        "more places than you quote."
    )


def _mask_shown(step: Step, wording: Wording) -> list[Block]:
    if isinstance(step.op, Mask) and step.op.keep:
        from symattn.formula import Name

        return [Display((Relation((Name("mask"), wording.mask(step)), ("=",)),))]
    return []


def _conventions(problem: Problem, wording: Wording) -> Box:
    """The part that notes forget: what stands where, the divisor, the softmax, the mask."""
    rows = problem.derivation.orientation == "rows"
    items: list[Inlines] = [
        (Words("Tokens are rows." if rows else "Tokens are columns."),),
    ]
    products = (s for s in problem.steps if isinstance(s.op, MatMul))
    first = next((s for s in products if wording.name(s.name) != wording.rule(s)), None)
    if first:
        items.append((Words("Products as in "), Math(_equation(first, wording)), Words(".")))
    for op in _distinct_ops(problem):
        if isinstance(op.op, Scale):
            symbol = op.op.symbol(problem.notation.style)
            value = wording.number(op.op.divisor)
            shown = symbol if symbol == value else Relation((symbol, value), ("=",))
            items.append((Words("Scores are divided by "), Math(shown), Words(".")))
        elif isinstance(op.op, Mask):
            items.append((Words(MASKS.get(op.op.kind, MASKS["custom"])),))
        elif isinstance(op.op, Hadamard):
            items.append((Words("⊙ multiplies entry by entry; a single column or row goes with every other one."),))
        elif isinstance(op.op, SumOver):
            items.append((Words(f"Sum adds up the {op.op.over}."),))
        elif isinstance(op.op, Round):
            items.append((Words(f"{op.op.title}, and go on with the rounded values."),))
        elif isinstance(op.op, Softmax):
            base = "e" if op.op.base == "e" else None
            words = f"Softmax goes along each {'row' if op.op.along == 'rows' else 'column'}, with base "
            items.append((Words(words), Math(wording.read("e") if base else wording.number(op.op.base)), Words(".")))
    if not any(isinstance(s.op, Scale) for s in problem.steps) and any(
        isinstance(s.op, Softmax) for s in problem.steps
    ):
        items.append((Words("Scores are not scaled."),))
    return Box("Conventions", (ItemList(tuple(items)),))


def _equation(step: Step, wording: Wording) -> Formula:
    return Relation((wording.name(step.name), wording.rule(step)), ("=",))


def _distinct_ops(problem: Problem) -> list[Step]:
    """One step for every operation, in order: token by token the same one comes again and again."""
    seen: list[Step] = []
    for step in problem.steps:
        if all(type(step.op) is not type(other.op) for other in seen):
            seen.append(step)
    return seen


def _checks(problem: Problem, wording: Wording) -> list[Inlines]:
    """Identities that a marker can check at a glance, each of them verified here."""
    checks: list[Inlines] = []
    softmaxes = [step for step in problem.steps if isinstance(step.op, Softmax)]
    for step in softmaxes:
        if step.token is None and _sums_to_1(step):
            line = "row" if isinstance(step.op, Softmax) and step.op.along == "rows" else "column"
            checks.append((Words(f"Every {line} of "), Math(wording.name(step.name)), Words(" sums to 1.")))
    by_token = [step for step in softmaxes if step.token is not None]
    if by_token and all(map(_sums_to_1, by_token)):
        checks.append((Words("The weights of every token sum to 1."),))
    for step in problem.steps:
        if isinstance(step.op, MatMul) and step.name in ("Q", "K", "V") and not isinstance(step.result, Outline):
            a, b = step.operands
            left, right = (o.of(problem.derivation.value(o.name)) for o in (a, b))
            if isinstance(left, Matrix) and isinstance(right, Matrix):
                sums = Matrix.of([[_total(column) for column in left.T.rows]])
                total = Matrix.of([[_total(column) for column in step.result.T.rows]])
                if MatMul().apply(sums, right) == total:
                    name = Math(wording.name(step.name))
                    checks.append(
                        (
                            Words("Column sums of "),
                            name,
                            Words(": "),
                            Math(wording.values(total)),
                            Words(" = column sums of "),
                            Math(wording.operand(a)),
                            Words(" times "),
                            Math(wording.operand(b)),
                            Words("."),
                        )
                    )
    return checks


def _sums_to_1(step: Step) -> bool:
    """Whether what a softmax gave sums to 1 along its lines: decided, not assumed."""
    if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
        return False
    lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
    return all(_total(line) == 1 for line in lines)


def _total(values: tuple[Value, ...]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


__all__ = ["booklet", "derivation_document", "key_document", "worksheet_document"]
