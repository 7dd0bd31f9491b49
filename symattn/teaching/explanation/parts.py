"""The pieces of papers and keys: givens, conventions, what is asked, what is worked out, checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from symattn.derivation.derivation import Op, Step
from symattn.derivation.ops import MatMul, Scale, Softmax
from symattn.derivation.ops.attention import Along
from symattn.derivation.ops.jacobian import InfinityNorm
from symattn.derivation.ops.loss import CrossEntropy
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Outline, Value, decide
from symattn.formula import Formula, Relation
from symattn.foundation.languages import message, sentences
from symattn.page.document import (
    Block,
    Display,
    Inlines,
    Paragraph,
    Together,
    Words,
    listing,
    sentence,
)
from symattn.teaching.explanation.agreement import agreement
from symattn.teaching.explanation.gradients import gradient_conventions
from symattn.teaching.explanation.heads import head_conventions
from symattn.teaching.explanation.page import rows_of
from symattn.teaching.explanation.steps import Detail, ask_step, begins_decimals, explain_step
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


def wording_of(problem: Problem) -> Wording:
    return Wording(problem.derivation, problem.notation)


def introduction(problem: Problem) -> list[Block]:
    return [Paragraph((Words(text),)) for text in problem.introduction]


def givens(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> Together:
    """The matrices one starts from, or only some of them, next to one another as far as a line goes."""
    wanted = {name: m for name, m in problem.derivation.givens.items() if not only or name in only}
    formulas: list[Formula] = [given_as_equation(name, matrix, wording) for name, matrix in wanted.items()]
    return Together((Display(tuple(rows_of(formulas))),))


def given_as_equation(name: str, matrix: AnyMatrix, wording: Wording) -> Relation:
    """X = its numbers, or its named entries."""
    return Relation((wording.shaped(wording.name(name), matrix), wording.values(matrix, name)), ("=",))


def asked(problem: Problem, wording: Wording) -> dict[str, tuple[Block, ...]]:
    """For each step asked: the lines that lead to it without being asked, its rule, space for working, its boxes."""
    found: dict[str, tuple[Block, ...]] = {}
    on_the_way: list[Formula] = []  # what is not asked but used: S' = S/√d_k
    for step in problem.steps:
        if step not in problem.asked_steps:
            on_the_way.append(wording.equation(step))
            continue
        way = [Display(tuple(rows_of(on_the_way)))] if on_the_way else []
        on_the_way = []
        form = decimals_wanted(problem) if problem.exact and begins_decimals(step, problem.derivation) else ()
        found[step.name] = (*way, *form, *mask_shown(step, wording), *ask_step(step, wording, problem.exact))
    return found


def decimals_wanted(problem: Problem) -> tuple[Block, ...]:
    """Where exact values end in the middle of a question."""
    wanted = message(
        "From here on, give decimals with {places} places, and carry at least two more places than you quote.",
        places=problem.places,
    )
    return (Paragraph((Words(wanted),), typed=()),)


def worked(step: Step, wording: Wording, detail: Detail) -> tuple[Block, ...]:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> Paragraph:
    """What the student is to do, and in what form answers are wanted on paper."""
    shapes = [isinstance(step.result, Outline) for step in problem.asked_steps]
    if all(shapes):
        return Paragraph((Words(message("Give the shape of each matrix, such as 3×4. A shape is rows × columns.")),))
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
    return Paragraph((Words(asked),), typed=(Words(typed),))


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
    own = step.op.own_matrix(wording.style)
    return (Display((Relation(own, ("=",)),)),) if own else ()


def conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """The part that notes forget: what stands where, the divisor, the softmax, the mask; one line each."""
    rows = problem.derivation.orientation == "rows"
    items: list[Inlines] = [(Words("Tokens are rows." if rows else "Tokens are columns."),)]
    if first := first_product(problem, wording):
        items.append(sentence("Products are written as in {product}.", product=wording.equation(first)))
    items += gradient_conventions(problem, wording)
    items += agreed(problem, wording)
    items += head_conventions(problem.derivation, wording)
    if {"X", "Z"} <= problem.derivation.givens.keys():
        x, z = wording.name("X"), wording.name("Z")
        items.append(sentence("{output} is given; it is not worked out from {tokens}.", output=z, tokens=x))
    if unscaled(problem):
        items.append((Words("Scores are not scaled."),))
    if without_norm(problem):
        items.append((Words("There is no norm."),))
    return tuple(items)


def first_product(problem: Problem, wording: Wording) -> Step | None:
    """A product to show which factor stands on which side."""
    products = (s for s in problem.steps if isinstance(s.op, MatMul))
    return next((s for s in products if wording.name(s.name) != wording.rule(s)), None)


def unscaled(problem: Problem) -> bool:
    """Whether there are weights, and their scores are not scaled."""
    ops = [type(s.op) for s in problem.steps]
    return any(s.op.weighs for s in problem.steps) and Scale not in ops and CrossEntropy not in ops


def without_norm(problem: Problem) -> bool:
    """Whether there are residuals, and none of them is normed."""
    residual = any(_RESIDUAL.fullmatch(step.stem) for step in problem.steps)
    return residual and not any(step.op.norms for step in problem.steps)


_RESIDUAL = re.compile(r"R\d")


def agreed(problem: Problem, wording: Wording, *, brief: bool = False) -> Iterator[Inlines]:
    """What has to be agreed on before the operations can be worked out, each once: by token they come again and again.

    `brief`: in formulas and a word or two.
    """
    for steps in alike(problem):
        op = steps[0].op
        if isinstance(op, InfinityNorm) and "W_h" in problem.derivation.givens:
            yield _through_time(problem, wording)
        for one in op.in_brief(steps, wording) if brief else op.conventions(steps, wording):
            yield sentence(one.sentence, **one.places) if one.places else (Words(one.sentence),)


def alike(problem: Problem) -> Iterable[Sequence[Step]]:
    """The steps with an operation of one class together, in the order in which the first of each come."""
    groups: dict[type[Op], list[Step]] = {}
    for step in problem.steps:
        groups.setdefault(type(step.op), []).append(step)
    return groups.values()


def _through_time(problem: Problem, wording: Wording) -> Inlines:
    """What the Jacobians of a recurrent network are, and their products."""
    state, before, first = wording.row("H", "t"), wording.row("H", "t − 1"), wording.name("H_0")
    derivatives: tuple[tuple[str, Formula], ...] = (("J", before), ("G", first))
    shown = [(wording.row(stem, "t"), by) for stem, by in derivatives if any(s.stem == stem for s in problem.steps)]
    said = [
        sentence(
            "{jacobian} is the derivative of {state} with respect to {other}", jacobian=name, state=state, other=by
        )
        for name, by in shown
    ]
    return sentence("{derivatives}.", derivatives=listing(said, last=""))


_SUM_TO_1: Mapping[Along, str] = {
    "rows": "Every row of {weights} sums to 1.",
    "columns": "Every column of {weights} sums to 1.",
}


def checks(problem: Problem, wording: Wording) -> list[Inlines]:
    """Identities that a marker can check at a glance, each of them verified here."""
    found: list[Inlines] = []
    softmaxes = [step for step in problem.steps if isinstance(step.op, Softmax)]
    for step in softmaxes:
        if step.token is None and _sums_to_1(step):
            along: Along = "rows" if isinstance(step.op, Softmax) and step.op.along == "rows" else "columns"
            found.append(sentence(_SUM_TO_1[along], weights=wording.name(step.name)))
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
                    found.append(
                        sentence(
                            "Column sums of {product}: {sums} = column sums of {left} times {right}.",
                            product=wording.name(step.name),
                            sums=wording.values(total),
                            left=wording.operand(a),
                            right=wording.operand(b),
                        )
                    )
    return [*found, *agreement(problem, wording)]


def _sums_to_1(step: Step) -> bool:
    """Whether what a softmax gave sums to 1 along its lines: decided, not assumed."""
    if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
        return False
    lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
    return all(decide(_total(line), 1).equal for line in lines)


def _total(values: tuple[Value, ...]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total
