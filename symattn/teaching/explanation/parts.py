"""The pieces of papers and keys: givens, conventions, what is asked, what is worked out, checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from symattn.derivation.algebra import Entries
from symattn.derivation.derivation import Step, Style, View
from symattn.derivation.ops import Activation, Hadamard, Mask, MatMul, Round, Scale, Softmax, SumOver
from symattn.derivation.ops.arithmetic import Divide, Exponential, SquareRoot, ToFloat
from symattn.derivation.ops.cache import Append
from symattn.derivation.ops.jacobian import InfinityNorm, Slope
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.normalisation import Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Multiple, Rotate, RotateBack, Sinusoids
from symattn.derivation.ops.positional import Positional
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap, Temperature
from symattn.exact import Matrix, Outline, Value, decide
from symattn.formula import Formula, ListOf, Name, Negative, Number, Power, Relation, Sum
from symattn.foundation.languages import Message, message, sentences
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
from symattn.teaching.explanation.positions import (
    has_sines,
    multiple_convention,
    position_conventions,
    positional_conventions,
    turned_back,
)
from symattn.teaching.explanation.steps import Detail, ask_step, begins_decimals, explain_step, mask_words
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


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
        form = decimals_wanted(problem) if problem.exact and begins_decimals(step, problem.derivation) else ()
        found[step.name] = (*way, *form, *mask_shown(step, wording), *ask_step(step, wording, problem.exact))
    return found


def decimals_wanted(problem: Problem) -> tuple[Block, ...]:
    """Where exact values end in the middle of a question."""
    wanted = message(
        "From here on, give decimals with {places} places, and carry at least two more places than you quote.",
        places=problem.places,
    )
    return (Paragraph((Words(wanted),)),)


def worked(step: Step, wording: Wording, detail: Detail) -> tuple[Block, ...]:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> str:
    """What the student is to do, and in what form answers are wanted."""
    shapes = [isinstance(step.result, Outline) for step in problem.asked_steps]
    if all(shapes):
        return message("Give the shape of each matrix, such as 3×4. A shape is rows × columns.")
    mixed = message("Where a matrix has no boxes, give its shape, such as 3×4. A shape is rows × columns.")
    if problem.exact:
        powers = any(isinstance(step.op, Softmax | FeatureMap | Exponentials | Exponential) for step in problem.steps)
        asked = _EXACT_FORMS[powers, has_sines(problem.derivation)]
    else:
        asked = message(
            "Fill in every box. Show the products. Give decimals with {places} places, and carry at least two more "
            "places than you quote.",
            places=problem.places,
        )
    return sentences(asked, mixed) if any(shapes) else asked


_EXACT_FORMS = {
    (False, False): message(
        "Fill in every box. Show the products. Give exact values: fractions may stand as they are."
    ),
    (True, False): message(
        "Fill in every box. Show the products. Give exact values: fractions, roots and powers of e may stand as they "
        "are."
    ),
    (False, True): message(
        "Fill in every box. Show the products. Give exact values: sines, cosines and fractions may stand as they are."
    ),
    (True, True): message(
        "Fill in every box. Show the products. Give exact values: sines, cosines, fractions, roots and powers of e may "
        "stand as they are."
    ),
}
"""By whether there are powers of e, and sines."""


def mask_shown(step: Step, wording: Wording) -> tuple[Block, ...]:
    if isinstance(step.op, Bias):
        return (Display((Relation((step.op.sign, wording.bias(step.op)), ("=",)),)),)
    if isinstance(step.op, Mask) and step.op.keep:
        return (Display((Relation((Name("mask"), wording.mask(step)), ("=",)),)),)
    return ()


def conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """The part that notes forget: what stands where, the divisor, the softmax, the mask; one line each."""
    rows = problem.derivation.orientation == "rows"
    items: list[Inlines] = [(Words("Tokens are rows." if rows else "Tokens are columns."),)]
    if first := first_product(problem, wording):
        items.append(sentence("Products as in {product}.", product=equation(first, wording)))
    items += gradient_conventions(problem, wording)
    for step in distinct_ops(problem):
        items += convention(step, problem, wording)
    items += head_conventions(problem.derivation, wording)
    if {"X", "Z"} <= problem.derivation.givens.keys():
        x, z = wording.name("X"), wording.name("Z")
        items.append(sentence("{output} is given, and not worked out from {tokens}.", output=z, tokens=x))
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
    return bool({Softmax, Hardmax, OverSum}.intersection(ops)) and Scale not in ops and CrossEntropy not in ops


def without_norm(problem: Problem) -> bool:
    """Whether there are residuals, and none of them is normed."""
    residual = any(_RESIDUAL.fullmatch(step.stem) for step in problem.steps)
    return residual and not any(isinstance(step.op, Standardise | Rescale) for step in problem.steps)


_RESIDUAL = re.compile(r"R\d")


def convention(step: Step, problem: Problem, wording: Wording) -> list[Inlines]:
    """What has to be agreed on before the operation of a step can be worked out, in sentences."""
    items: list[Inlines] = []
    match step.op:
        case Temperature(divisor):
            temperature = Relation((Name("τ"), wording.number(divisor)), ("=",))
            items.append(sentence("Scores are divided by the temperature {temperature}.", temperature=temperature))
        case SoftCap():
            capped = step.op.written(problem.notation.style, Name("s"))
            items.append(sentence("The soft cap makes {capped} of each score {score}.", capped=capped, score=Name("s")))
        case Bias(slope=None):
            items.append((Words("The mask is added to the scores."),))
        case Bias():
            items.append(_slopes(problem, wording))
        case OverSum(along):
            items.append((Words(_BY_SCORES[along]),))
        case Hardmax(along):
            items.append((Words(_LARGEST[along]),))
        case FeatureMap():
            items.append(_feature(step.op))
        case Over(along):
            above, below = map(wording.operand, step.operands)
            items.append(sentence(_DIVIDED[along], above=above, below=below))
        case Variance(of, over):
            items.append(_divided(of, over, step, wording))
        case Standardise(epsilon) | Rescale(epsilon):
            items.append(sentence("ε, which is added under the root, is {epsilon}.", epsilon=wording.number(epsilon)))
        case Activation() if step.op.function:
            items.append(sentence("Entry by entry, {function}.", function=_function(step.op)))
        case Scale():
            symbol = step.op.symbol(problem.notation.style)
            value = wording.number(step.op.divisor)
            shown = symbol if symbol == value else Relation((symbol, value), ("=",))
            items.append(sentence("Scores are divided by {divisor}.", divisor=shown))
        case Mask(_, style):
            items.append((Words(sentences(mask_words(step.op), _MARKED[style])),))
        case Hadamard():
            items.append((Words("⊙ multiplies entry by entry; a single column or row goes with every other one."),))
        case SumOver(over):
            items.append((Words(_ADDED[over]),))
        case Round() | ToFloat():
            items.append((Words(message("{rounding}, and go on with the rounded values.", rounding=step.op.title)),))
        case RotateBack():
            items.append(turned_back())
        case Divide():
            words = "The fraction bar divides entry by entry; a single column or row goes with every other one."
            items.append((Words(words),))
        case Exponential(base):
            written = wording.read("e") if base == "e" else wording.number(base)
            items.append(sentence("exp goes entry by entry, with base {base}.", base=written))
        case SquareRoot():
            items.append((Words("sqrt is the square root of each entry."),))
        case Positional():
            items += positional_conventions(step.op, step.op.written(problem.notation.style))
        case Sinusoids() | Rotate():
            items += position_conventions(step.op)
        case Multiple() if step.op.of:
            items.append(multiple_convention(step, wording))
        case RunningMaximum(along):
            items.append((Words(_GREATEST[along]),))
        case Exponentials(along):
            items.append((Words(_OWN_MAXIMUM[along]),))
        case Accumulate(along):
            items.append((Words(_OWN_NUMBER[along]),))
        case CrossEntropy(along):
            items.append((Words(_LOSS[along]),))
        case Append() if step.stem in ("K_cache", "V_cache"):  # states of a recurrent network are put together, too
            items.append((Words("The key and the value of a new token are kept before its query is asked."),))
        case Slope("relu"):
            items.append((Words("A condition in square brackets is 1 where it is true and 0 where it is false."),))
        case InfinityNorm(along):
            if "W_h" in problem.derivation.givens:
                items.append(_through_time(problem, wording))
            items.append((Words(_NORM[along]),))
        case Softmax(along, base):
            written = wording.read("e") if base == "e" else wording.number(base)
            items.append(sentence(_SOFTMAX[along], base=written))
            if step.op.empty == "zero":
                items.append((Words(_ALL_HIDDEN[along]),))
    return items


Lines = Literal["rows", "columns"]
_BY_SCORES: Mapping[Lines, Message] = {
    "rows": message("A weight is a score over the sum of its row, without any powers."),
    "columns": message("A weight is a score over the sum of its column, without any powers."),
}
_LARGEST: Mapping[Lines, Message] = {
    "rows": message("The largest score of each row gets the weight 1; ties share it."),
    "columns": message("The largest score of each column gets the weight 1; ties share it."),
}
_DIVIDED: Mapping[Lines, str] = {
    "rows": "Each row of {above} is divided by its own entry of {below}.",
    "columns": "Each column of {above} is divided by its own entry of {below}.",
}
_ADDED: Mapping[Lines, Message] = {
    "rows": message("Sum adds up the rows."),
    "columns": message("Sum adds up the columns."),
}
_GREATEST: Mapping[Lines, Message] = {
    "rows": message("max takes the greatest number of each row, of all matrices in it."),
    "columns": message("max takes the greatest number of each column, of all matrices in it."),
}
_OWN_MAXIMUM: Mapping[Lines, Message] = {
    "rows": message("In the exponent, each row has its own entry of the maximum."),
    "columns": message("In the exponent, each column has its own entry of the maximum."),
}
_OWN_NUMBER: Mapping[Lines, Message] = {
    "rows": message("⊙ multiplies each row by its own number."),
    "columns": message("⊙ multiplies each column by its own number."),
}
_LOSS: Mapping[Lines, Message] = {
    "rows": message(
        "The loss of a token is minus the sum of target times ln of probability, over its row; ln has base e, and what "
        "is wanted not at all counts 0."
    ),
    "columns": message(
        "The loss of a token is minus the sum of target times ln of probability, over its column; ln has base e, and "
        "what is wanted not at all counts 0."
    ),
}
_NORM: Mapping[Lines, Message] = {
    "rows": message("The norm is the largest sum of absolute values in a row."),
    "columns": message("The norm is the largest sum of absolute values in a column."),
}
_SOFTMAX: Mapping[Lines, str] = {
    "rows": "Softmax goes along each row, with base {base}.",
    "columns": "Softmax goes along each column, with base {base}.",
}
_ALL_HIDDEN: Mapping[Lines, Message] = {
    "rows": message("Weights of a row in which everything is hidden are 0."),
    "columns": message("Weights of a column in which everything is hidden are 0."),
}
_VARIANCE: Mapping[Lines, str] = {
    "columns": "Each row has its own mean and variance, which divides the sum of the squares by {divisor}.",
    "rows": "Each column has its own mean and variance, which divides the sum of the squares by {divisor}.",
}
_SUM_TO_1: Mapping[Lines, str] = {
    "rows": "Every row of {weights} sums to 1.",
    "columns": "Every column of {weights} sums to 1.",
}


def _slopes(problem: Problem, wording: Wording) -> Inlines:
    """The bias of ALiBi, with the slope of every head."""
    slopes = [step.op.slope for step in problem.steps if isinstance(step.op, Bias) and step.op.slope is not None]
    numbers = ListOf(tuple(map(wording.number, slopes)), "", ",")
    if slopes[1:]:
        return sentence(
            "ALiBi: the bias is minus the slope times how far query and key are apart; the slopes of the heads are "
            "{slopes}.",
            slopes=numbers,
        )
    return sentence(
        "ALiBi: the bias is minus the slope times how far query and key are apart; the slope is {slope}.",
        slope=numbers,
    )


def _feature(op: FeatureMap) -> Inlines:
    """φ for any x."""
    x = Name("x")
    view: View = Entries((1, 1), lambda i, j: x)
    shown = Relation((op.written(Style(), x), op.working(0, 0, view)), ("=",))
    if op.feature != "elu+1":
        return sentence("The feature map is, entry by entry, {feature}.", feature=shown)
    above, below = Sum((x, Number("1"))), Power(Name("e"), x)
    return sentence(
        "The feature map is, entry by entry, {feature}, which is {above} where {argument} is positive, and {below} "
        "elsewhere.",
        feature=shown, above=above, argument=x, below=below,
    )  # fmt: skip


def _divided(of: str, over: Lines, step: Step, wording: Wording) -> Inlines:
    """What a variance divides by."""
    size = wording.derivation.value(step.operands[0].name).shape[1 if over == "columns" else 0]
    shown = wording.size(size) if of == "population" else Sum((wording.size(size), Negative(Number("1"))))
    return sentence(_VARIANCE[over], divisor=shown)


def _function(op: Activation) -> Formula:
    """The function for any x."""
    x = Name("x")
    return Relation((op.written(Style(), x), op.working(0, 0, Entries((1, 1), lambda i, j: x))), ("=",))


def _through_time(problem: Problem, wording: Wording) -> Inlines:
    """What the Jacobians of a recurrent network are, and their products."""
    state, before, first = wording.row("H", "t"), wording.row("H", "t − 1"), wording.name("H_0")
    derivatives: tuple[tuple[str, Formula], ...] = (("J", before), ("G", first))
    shown = [(wording.row(stem, "t"), by) for stem, by in derivatives if any(s.stem == stem for s in problem.steps)]
    said = [
        sentence("{jacobian} is the derivative of {state} by {other}", jacobian=name, state=state, other=by)
        for name, by in shown
    ]
    return sentence("{derivatives}.", derivatives=listing(said, last=""))


_MARKED = {
    "additive": message("In the mask, 0 stands for seen and −∞ for hidden."),
    "multiplicative": message("In the mask, 1 stands for seen and −∞ for hidden."),
    "keep": message("In the mask, 1 stands for seen and 0 for hidden."),
    "block": message("In the mask, 1 stands for hidden and 0 for seen."),
}


def equation(step: Step, wording: Wording) -> Formula:
    return Relation((wording.name(step.name), wording.rule(step)), ("=",))


def distinct_ops(problem: Problem) -> list[Step]:
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
            along: Lines = "rows" if isinstance(step.op, Softmax) and step.op.along == "rows" else "columns"
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
