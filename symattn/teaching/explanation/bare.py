"""The conventions box in formulas and a word or two: the least that still says how everything is worked out."""

from __future__ import annotations

from symattn.page.document import Inlines, Math, Words
from symattn.teaching.explanation.gradients import gradient_conventions
from symattn.teaching.explanation.heads import head_conventions
from symattn.teaching.explanation.parts import agreed, first_product, unscaled
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


def bare_conventions(problem: Problem, wording: Wording) -> tuple[Inlines, ...]:
    """One line each; what has no shorter form is said as in the full box."""
    items: list[Inlines] = [(Words(TOKENS[problem.derivation.orientation]),)]
    if first := first_product(problem, wording):
        items.append((Math(wording.equation(first)),))
    items += gradient_conventions(problem, wording)
    items += agreed(problem, wording, brief=True)
    items += head_conventions(problem.derivation, wording)
    if unscaled(problem):
        items.append((Words("No scaling"),))
    return tuple(items)


TOKENS = {"rows": "Tokens: rows", "columns": "Tokens: columns"}
