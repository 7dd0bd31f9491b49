"""The conventions box in formulas and a word or two: the least that still says how everything is worked out."""

from __future__ import annotations

from symattn.derivation import Step
from symattn.document import Inlines, Math, Words
from symattn.explanation.gradients import gradient_conventions
from symattn.explanation.heads import head_conventions
from symattn.explanation.parts import convention, distinct_ops, equation, first_product, unscaled
from symattn.explanation.wording import Wording
from symattn.formula import Name, Relation
from symattn.ops import Hadamard, Mask, Round, Scale, Softmax, SumOver, ToFloat
from symattn.ops.normalisation import Rescale, Standardise
from symattn.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.ops.scores import Hardmax, OverSum, Temperature
from symattn.problem import Problem


def bare_conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """One line each; what has no shorter form is said as in the full box."""
    items: list[Inlines] = [(Words(f"Tokens: {problem.derivation.orientation}"),)]
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
            return (Math(equation(step, wording)), Words(", "), Math(Relation((symbol, value), ("=",))))
        case Softmax(along, base):
            power = wording.read("e") if base == "e" else wording.number(base)
            blind = "; 0 where all is hidden" if step.op.empty == "zero" else ""
            return (Words(f"Softmax by {along}, base "), Math(power), *((Words(blind),) if blind else ()))
        case Mask(keep, style) if keep and len(keep) == len(keep[0]):
            return (Words(f"Mask: {_HIDES.get(step.op.kind, 'as given')}; {_SIGNS[style]}"),)
        case OverSum(along):
            return (Words(f"Weights: score over sum, by {along}"),)
        case Hardmax(along):
            return (Words(f"Hardmax by {along}, ties share"),)
        case Standardise(epsilon) | Rescale(epsilon):
            return (Math(Relation((Name("ε"), wording.number(epsilon)), ("=",))), Words(" under the root"))
        case Hadamard() | Accumulate():
            return (Words("⊙: entry by entry, a single line with every other"),)
        case RunningMaximum(along):
            return (Words(f"max by {along}"),)
        case Exponentials(along):
            return (Words(f"Exponent: minus the maximum of its {along[:-1]}"),)
        case SumOver(over):
            return (Words(f"Sum over {over}"),)
        case Round() | ToFloat():
            return (Words(f"{step.op.title}, go on rounded"),)
        case _:
            return ()


_HIDES = {
    "causal": "causal, later tokens hidden",
    "causal:top-left": "query i sees keys 1 to i",
    "past": "earlier tokens alone seen",
    "padding": "padding hidden",
}

_SIGNS = {
    "additive": "0 seen, −∞ hidden",
    "multiplicative": "1 seen, −∞ hidden",
    "keep": "1 seen, 0 hidden",
    "block": "1 hidden, 0 seen",
}
