"""The pieces of papers and keys: givens, conventions, what is asked, what is worked out, checks."""

from __future__ import annotations

from symattn.derivation import Step
from symattn.document import (
    Block,
    Display,
    Inlines,
    Math,
    Paragraph,
    Together,
    Words,
)
from symattn.exact import Matrix, Outline, Value
from symattn.explanation.page import rows_of
from symattn.explanation.steps import MASKS, Detail, ask_step, explain_step
from symattn.explanation.wording import Wording
from symattn.formula import Formula, Name, Relation
from symattn.ops import Hadamard, Mask, MatMul, Round, Scale, Softmax, SumOver
from symattn.problem import Problem


def wording_of(problem: Problem) -> Wording:
    return Wording(problem.derivation, problem.notation)


def introduction(problem: Problem) -> list[Block]:
    return [Paragraph((Words(text),)) for text in problem.introduction]


def givens(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> Together:
    """The matrices one starts from, or only some of them, next to one another as far as a line goes."""
    formulas: list[Formula] = []
    for name, matrix in problem.derivation.givens.items():
        if not only or name in only:
            shaped = wording.shaped(wording.name(name), matrix)
            formulas.append(Relation((shaped, wording.values(matrix, name)), ("=",)))
    return Together((Display(tuple(rows_of(formulas))),))


def asked(problem: Problem, wording: Wording) -> dict[str, tuple[Block, ...]]:
    """For each step asked: the lines that lead to it without being asked, its rule, space for working, its boxes."""
    found: dict[str, tuple[Block, ...]] = {}
    on_the_way: list[Formula] = []  # what is not asked but used: S' = S/√d_k
    for step in problem.steps:
        if step not in problem.asked_steps:
            on_the_way.append(equation(step, wording))
            continue
        way = [Display(tuple(rows_of(on_the_way)))] if on_the_way else []
        on_the_way = []
        found[step.name] = (*way, *mask_shown(step, wording), *ask_step(step, wording, problem.exact))
    return found


def worked(step: Step, wording: Wording, detail: Detail) -> tuple[Block, ...]:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> str:
    """What the student is to do, and in what form answers are wanted."""
    if problem.exact:
        powers = any(isinstance(step.op, Softmax) for step in problem.steps)
        forms = "fractions, roots and powers of e" if powers else "fractions"
        return f"Fill in every box. Show the products. Give exact values: {forms} may stand as they are."
    return (
        f"Fill in every box. Show the products. Give decimals with {problem.places} places, and carry at least two "
        "more places than you quote."
    )


def mask_shown(step: Step, wording: Wording) -> tuple[Block, ...]:
    if isinstance(step.op, Mask) and step.op.keep:
        return (Display((Relation((Name("mask"), wording.mask(step)), ("=",)),)),)
    return ()


def conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """The part that notes forget: what stands where, the divisor, the softmax, the mask; one line each."""
    rows = problem.derivation.orientation == "rows"
    items: list[Inlines] = [(Words("Tokens are rows." if rows else "Tokens are columns."),)]
    products = (s for s in problem.steps if isinstance(s.op, MatMul))
    first = next((s for s in products if wording.name(s.name) != wording.rule(s)), None)
    if first:
        items.append((Words("Products as in "), Math(equation(first, wording)), Words(".")))
    for step in _distinct_ops(problem):
        match step.op:
            case Scale():
                symbol = step.op.symbol(problem.notation.style)
                value = wording.number(step.op.divisor)
                shown = symbol if symbol == value else Relation((symbol, value), ("=",))
                items.append((Words("Scores are divided by "), Math(shown), Words(".")))
            case Mask(_, style, kind):
                items.append((Words(f"{MASKS.get(kind, MASKS['custom'])} {_MARKED[style]}"),))
            case Hadamard():
                items.append((Words("⊙ multiplies entry by entry; a single column or row goes with every other one."),))
            case SumOver(over):
                items.append((Words(f"Sum adds up the {over}."),))
            case Round():
                items.append((Words(f"{step.op.title}, and go on with the rounded values."),))
            case Softmax(along, base):
                words = f"Softmax goes along each {along[:-1]}, with base "
                written = wording.read("e") if base == "e" else wording.number(base)
                items.append((Words(words), Math(written), Words(".")))
    ops = [type(s.op) for s in problem.steps]
    if Softmax in ops and Scale not in ops:
        items.append((Words("Scores are not scaled."),))
    return tuple(items)


_MARKED = {
    "additive": "In the mask, 0 stands for seen and −∞ for hidden.",
    "multiplicative": "In the mask, 1 stands for seen and −∞ for hidden.",
    "keep": "In the mask, 1 stands for seen and 0 for hidden.",
    "block": "In the mask, 1 stands for hidden and 0 for seen.",
}


def equation(step: Step, wording: Wording) -> Formula:
    return Relation((wording.name(step.name), wording.rule(step)), ("=",))


def _distinct_ops(problem: Problem) -> list[Step]:
    """One step for every operation, in order: token by token the same one comes again and again."""
    seen: list[Step] = []
    for step in problem.steps:
        if all(type(step.op) is not type(other.op) for other in seen):
            seen.append(step)
    return seen


def checks(problem: Problem, wording: Wording) -> list[Inlines]:
    """Identities that a marker can check at a glance, each of them verified here."""
    found: list[Inlines] = []
    softmaxes = [step for step in problem.steps if isinstance(step.op, Softmax)]
    for step in softmaxes:
        if step.token is None and _sums_to_1(step):
            line = "row" if isinstance(step.op, Softmax) and step.op.along == "rows" else "column"
            found.append((Words(f"Every {line} of "), Math(wording.name(step.name)), Words(" sums to 1.")))
    by_token = [step for step in softmaxes if step.token is not None]
    if by_token and all(map(_sums_to_1, by_token)):
        found.append((Words("The weights of every token sum to 1."),))
    for step in problem.steps:
        if isinstance(step.op, MatMul) and step.name in ("Q", "K", "V") and not isinstance(step.result, Outline):
            a, b = step.operands
            left, right = (o.of(problem.derivation.value(o.name)) for o in (a, b))
            if isinstance(left, Matrix) and isinstance(right, Matrix):
                sums = Matrix.of([[_total(column) for column in left.T.rows]])
                total = Matrix.of([[_total(column) for column in step.result.T.rows]])
                if MatMul().apply(sums, right) == total:
                    name = Math(wording.name(step.name))
                    found.append(
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
    return found


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
