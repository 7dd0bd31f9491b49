"""The conventions box in formulas and a word or two: the least that still says how everything is worked out."""

from __future__ import annotations

from symattn.derivation.derivation import Step
from symattn.derivation.ops import Hadamard, Mask, Round, Scale, Softmax, SumOver, ToFloat
from symattn.derivation.ops.normalisation import Rescale, Standardise
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.scores import Hardmax, OverSum, Temperature
from symattn.formula import Name, Relation
from symattn.foundation.languages import message
from symattn.page.document import Inlines, Math, Words, sentence
from symattn.teaching.explanation.gradients import gradient_conventions
from symattn.teaching.explanation.heads import head_conventions
from symattn.teaching.explanation.parts import convention, distinct_ops, equation, first_product, unscaled
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


def bare_conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """One line each; what has no shorter form is said as in the full box."""
    items: list[Inlines] = [(Words(_TOKENS[problem.derivation.orientation]),)]
    if first := first_product(problem, wording):
        items.append((Math(equation(first, wording)),))
    items += gradient_conventions(problem, wording)
    for step in distinct_ops(problem):
        short = _short(step, problem, wording)
        items += [short] if short else convention(step, problem, wording)
    items += head_conventions(problem.derivation, wording)
    if unscaled(problem):
        items.append((Words("No scaling"),))
    return tuple(items)


def _short(step: Step, problem: Problem, wording: Wording) -> Inlines:
    match step.op:
        case Temperature(divisor):
            return (Math(Relation((Name("τ"), wording.number(divisor)), ("=",))),)
        case Scale(divisor):
            symbol, value = step.op.symbol(problem.notation.style), wording.number(divisor)
            if symbol == value:
                return (Math(equation(step, wording)),)
            rule, divisor = Math(equation(step, wording)), Math(Relation((symbol, value), ("=",)))
            return (rule, Words(", "), divisor)
        case Softmax(along, base):
            power = wording.read("e") if base == "e" else wording.number(base)
            plain, with_zeros = _SOFTMAX[along]
            return sentence(with_zeros if step.op.empty == "zero" else plain, base=power)
        case Mask(keep, style) if keep and len(keep) == len(keep[0]):
            hidden = _HIDES.get(step.op.kind, message("as given"))
            return (Words(message("Mask: {hidden}; {signs}", hidden=hidden, signs=_SIGNS[style])),)
        case OverSum(along):
            return (Words(_OVER_SUM[along]),)
        case Hardmax(along):
            return (Words(_HARDMAX[along]),)
        case Standardise(epsilon) | Rescale(epsilon):
            return sentence("{epsilon} under the root", epsilon=Relation((Name("ε"), wording.number(epsilon)), ("=",)))
        case Hadamard() | Accumulate():
            return (Words("⊙: entry by entry, a single line with every other"),)
        case RunningMaximum(along):
            return (Words(_MAXIMUM[along]),)
        case Exponentials(along):
            return (Words(_EXPONENT[along]),)
        case SumOver(over):
            return (Words(_SUM[over]),)
        case Round() | ToFloat():
            return (Words(message("{rounding}, go on rounded", rounding=step.op.title)),)
        case _:
            return ()


_TOKENS = {"rows": "Tokens: rows", "columns": "Tokens: columns"}
_SOFTMAX = {
    "rows": ("Softmax by rows, base {base}", "Softmax by rows, base {base}; 0 where all is hidden"),
    "columns": ("Softmax by columns, base {base}", "Softmax by columns, base {base}; 0 where all is hidden"),
}
_OVER_SUM = {
    "rows": "Weights: score over sum, by rows",
    "columns": "Weights: score over sum, by columns",
}
_HARDMAX = {"rows": "Hardmax by rows, ties share", "columns": "Hardmax by columns, ties share"}
_MAXIMUM = {"rows": "max by rows", "columns": "max by columns"}
_EXPONENT = {
    "rows": "Exponent: minus the maximum of its row",
    "columns": "Exponent: minus the maximum of its column",
}
_SUM = {"rows": "Sum over rows", "columns": "Sum over columns"}

_HIDES = {
    "causal": message("causal, later tokens hidden"),
    "causal:top-left": message("query i sees keys 1 to i"),
    "past": message("earlier tokens alone seen"),
    "padding": message("padding hidden"),
}

_SIGNS = {
    "additive": message("0 seen, −∞ hidden"),
    "multiplicative": message("1 seen, −∞ hidden"),
    "keep": message("1 seen, 0 hidden"),
    "block": message("1 hidden, 0 seen"),
}
