"""The pieces of papers and keys: givens, conventions, what is asked, what is worked out, checks."""

from __future__ import annotations

import re

from symattn.algebra import Entries
from symattn.derivation import Step, Style, View
from symattn.document import (
    Block,
    Display,
    Inlines,
    Math,
    Paragraph,
    Together,
    Words,
)
from symattn.exact import Matrix, Outline, Value, decide
from symattn.explanation.agreement import agreement
from symattn.explanation.gradients import gradient_conventions
from symattn.explanation.heads import head_conventions
from symattn.explanation.page import rows_of
from symattn.explanation.positions import has_sines, multiple_convention, position_conventions, turned_back
from symattn.explanation.steps import Detail, ask_step, begins_decimals, explain_step, mask_words
from symattn.explanation.wording import Wording
from symattn.formula import Formula, ListOf, Name, Negative, Number, Power, Relation, Sum
from symattn.ops import Activation, Hadamard, Mask, MatMul, Round, Scale, Softmax, SumOver
from symattn.ops.cache import Append
from symattn.ops.jacobian import InfinityNorm, Slope
from symattn.ops.loss import CrossEntropy
from symattn.ops.normalisation import Rescale, Standardise, Variance
from symattn.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.ops.position import Multiple, Rotate, RotateBack, Sinusoids
from symattn.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap, Temperature
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
        form = decimals_wanted(problem) if problem.exact and begins_decimals(step, problem.derivation) else ()
        found[step.name] = (*way, *form, *mask_shown(step, wording), *ask_step(step, wording, problem.exact))
    return found


def decimals_wanted(problem: Problem) -> tuple[Block, ...]:
    """Where exact values end in the middle of a question."""
    wanted = (
        f"From here on, give decimals with {problem.places} places, and carry at least two more places than you quote."
    )
    return (Paragraph((Words(wanted),)),)


def worked(step: Step, wording: Wording, detail: Detail) -> tuple[Block, ...]:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> str:
    """What the student is to do, and in what form answers are wanted."""
    shapes = [isinstance(step.result, Outline) for step in problem.asked_steps]
    if all(shapes):
        return f"Give the shape of each matrix, {SHAPE}"
    mixed = f" Where a matrix has no boxes, give its shape, {SHAPE}" if any(shapes) else ""
    if problem.exact:
        powers = any(isinstance(step.op, Softmax | FeatureMap | Exponentials) for step in problem.steps)
        forms = "fractions, roots and powers of e" if powers else "fractions"
        if has_sines(problem.derivation):
            forms = f"sines, cosines, {forms}" if powers else "sines, cosines and fractions"
        return f"Fill in every box. Show the products. Give exact values: {forms} may stand as they are.{mixed}"
    return (
        f"Fill in every box. Show the products. Give decimals with {problem.places} places, and carry at least two "
        f"more places than you quote.{mixed}"
    )


SHAPE = "such as 3×4. A shape is rows × columns."


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
        items.append((Words("Products as in "), Math(equation(first, wording)), Words(".")))
    items += gradient_conventions(problem, wording)
    for step in distinct_ops(problem):
        items += convention(step, problem, wording)
    items += head_conventions(problem.derivation, wording)
    if {"X", "Z"} <= problem.derivation.givens.keys():
        x, z = wording.name("X"), wording.name("Z")
        items.append((Math(z), Words(" is given, and not worked out from "), Math(x), Words(".")))
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
            items.append(_said("Scores are divided by the temperature ", temperature))
        case SoftCap():
            capped = step.op.written(problem.notation.style, Name("s"))
            items.append((*_said("The soft cap makes ", capped, " of each score "), *_said("", Name("s"))))
        case Bias(slope=None):
            items.append((Words("The mask is added to the scores."),))
        case Bias():
            items.append(_slopes(problem, wording))
        case OverSum(along):
            items.append((Words(f"A weight is a score over the sum of its {along[:-1]}, without any powers."),))
        case Hardmax(along):
            items.append((Words(f"The largest score of each {along[:-1]} gets the weight 1; ties share it."),))
        case FeatureMap():
            items.append(_feature(step.op))
        case Over(along):
            above, below = map(wording.operand, step.operands)
            divided = _said(f"Each {along[:-1]} of ", above, " is divided by its own entry of ")
            items.append((*divided, *_said("", below)))
        case Variance(of, over):
            items.append(_divided(of, over, step, wording))
        case Standardise(epsilon) | Rescale(epsilon):
            items.append(_said("ε, which is added under the root, is ", wording.number(epsilon)))
        case Activation() if step.op.function:
            items.append(_said("Entry by entry, ", _function(step.op)))
        case Scale():
            symbol = step.op.symbol(problem.notation.style)
            value = wording.number(step.op.divisor)
            shown = symbol if symbol == value else Relation((symbol, value), ("=",))
            items.append((Words("Scores are divided by "), Math(shown), Words(".")))
        case Mask(_, style):
            items.append((Words(f"{mask_words(step.op)} {_MARKED[style]}"),))
        case Hadamard():
            items.append((Words("⊙ multiplies entry by entry; a single column or row goes with every other one."),))
        case SumOver(over):
            items.append((Words(f"Sum adds up the {over}."),))
        case Round():
            items.append((Words(f"{step.op.title}, and go on with the rounded values."),))
        case RotateBack():
            items.append(turned_back())
        case Sinusoids() | Rotate():
            items += position_conventions(step.op)
        case Multiple() if step.op.of:
            items.append(multiple_convention(step, wording))
        case RunningMaximum(along):
            items.append((Words(f"max takes the greatest number of each {along[:-1]}, of all matrices in it."),))
        case Exponentials(along):
            items.append((Words(f"In the exponent, each {along[:-1]} has its own entry of the maximum."),))
        case Accumulate(along):
            items.append((Words(f"⊙ multiplies each {along[:-1]} by its own number."),))
        case CrossEntropy(along):
            words = f"The loss of a token is minus the sum of target times ln of probability, over its {along[:-1]}"
            items.append((Words(f"{words}; ln has base e, and what is wanted not at all counts 0."),))
        case Append() if step.stem in ("K_cache", "V_cache"):  # states of a recurrent network are put together, too
            items.append((Words("The key and the value of a new token are kept before its query is asked."),))
        case Slope("relu"):
            items.append((Words("A condition in square brackets is 1 where it is true and 0 where it is false."),))
        case InfinityNorm(along):
            if "W_h" in problem.derivation.givens:
                items.append(_through_time(problem, wording))
            items.append((Words(f"The norm is the largest sum of absolute values in a {along[:-1]}."),))
        case Softmax(along, base):
            words = f"Softmax goes along each {along[:-1]}, with base "
            written = wording.read("e") if base == "e" else wording.number(base)
            items.append((Words(words), Math(written), Words(".")))
            if step.op.empty == "zero":
                items.append((Words(f"Weights of a {along[:-1]} in which everything is hidden are 0."),))
    return items


def _slopes(problem: Problem, wording: Wording) -> Inlines:
    """The bias of ALiBi, with the slope of every head."""
    slopes = [step.op.slope for step in problem.steps if isinstance(step.op, Bias) and step.op.slope is not None]
    numbers = ListOf(tuple(map(wording.number, slopes)), "", ",")
    words = "ALiBi: the bias is minus the slope times how far query and key are apart; "
    return _said(words + ("the slopes of the heads are " if slopes[1:] else "the slope is "), numbers)


def _feature(op: FeatureMap) -> Inlines:
    """φ for any x."""
    x = Name("x")
    view: View = Entries((1, 1), lambda i, j: x)
    shown = Relation((op.written(Style(), x), op.working(0, 0, view)), ("=",))
    words = "The feature map is, entry by entry, "
    if op.feature != "elu+1":
        return _said(words, shown)
    above, below = Sum((x, Number("1"))), Power(Name("e"), x)
    return (
        *_said(words, shown, ", which is "),
        *_said("", above, " where "),
        *_said("", x, " is positive, and "),
        *_said("", below, " elsewhere."),
    )


def _divided(of: str, over: str, step: Step, wording: Wording) -> Inlines:
    """What a variance divides by."""
    size = wording.derivation.value(step.operands[0].name).shape[1 if over == "columns" else 0]
    shown = wording.size(size) if of == "population" else Sum((wording.size(size), Negative(Number("1"))))
    line = "row" if over == "columns" else "column"
    return _said(f"Each {line} has its own mean and variance, which divides the sum of the squares by ", shown)


def _function(op: Activation) -> Formula:
    """The function for any x."""
    x = Name("x")
    return Relation((op.written(Style(), x), op.working(0, 0, Entries((1, 1), lambda i, j: x))), ("=",))


def _said(words: str, formula: Formula, after: str = ".") -> Inlines:
    return (Words(words), Math(formula), Words(after))


def _through_time(problem: Problem, wording: Wording) -> Inlines:
    """What the Jacobians of a recurrent network are, and their products."""
    state, before, first = wording.row("H", "t"), wording.row("H", "t − 1"), wording.name("H_0")
    derivatives: tuple[tuple[str, Formula], ...] = (("J", before), ("G", first))
    shown = [(wording.row(stem, "t"), by) for stem, by in derivatives if any(s.stem == stem for s in problem.steps)]
    said: list[Words | Math] = []
    for name, by in shown:
        said += [Words(", " if said else ""), Math(name), Words(" is the derivative of "), Math(state)]
        said += [Words(" by "), Math(by)]
    return (*said, Words("."))


_MARKED = {
    "additive": "In the mask, 0 stands for seen and −∞ for hidden.",
    "multiplicative": "In the mask, 1 stands for seen and −∞ for hidden.",
    "keep": "In the mask, 1 stands for seen and 0 for hidden.",
    "block": "In the mask, 1 stands for hidden and 0 for seen.",
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
