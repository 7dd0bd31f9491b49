"""What has to be said about gradients: what dZ stands for, what is taken as it is, and slopes where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.derivation import Called
from symattn.document import Inlines, Math, Words
from symattn.explanation.wording import Wording
from symattn.formula import Formula, Fraction, Name, Product, Relation
from symattn.ops.gradient import ActivationGradient
from symattn.problem import Problem


def gradient_conventions(problem: Problem, wording: Wording) -> list[Inlines]:
    """One line each; none where nothing is a gradient."""
    d = problem.derivation
    names = [name for name in (*d.givens, *(step.name for step in d)) if wording.differentiated(name)]
    if not names:
        return []
    return [_meaning(names, wording), *_given(problem, wording), *_slopes(problem)]


def _meaning(gradients: Sequence[str], wording: Wording) -> Inlines:
    """dZ = ∂L/∂Z; the loss is J where L is something else, such as logits."""
    d = wording.derivation
    matrices = (*d.givens, *(step.name for step in d), *map(wording.differentiated, gradients))
    loss: Formula = Name("J") if Name("L") in map(wording.name, matrices) else Name("L")
    if "mean_loss" in d:
        loss = wording.name("mean_loss")
    first = gradients[0]
    derivative = Fraction(Product((Name("∂"), loss)), Product((Name("∂"), wording.name(first[1:]))))
    shown = Relation((wording.name(first), derivative), ("=",))
    return (Words("Gradients are those of the loss "), Math(loss), Words(", as in "), Math(shown), Words("."))


def _given(problem: Problem, wording: Wording) -> list[Inlines]:
    """Results of the forward pass that are given, beside what they might be worked out from."""
    d = problem.derivation
    names = [name for name in d.givens if Called.of(name).stem == "A" or name == "probabilities"]
    if not names or not ("Q" in d or "W_Q" in d or "W_U" in d):
        return []
    listed: list[Words | Math] = [Math(wording.name(names[0]))]
    for name in names[1:]:
        listed += [Words(", "), Math(wording.name(name))]
    are = "are those" if names[1:] else "is that"
    return [(*listed, Words(f" {are} of the forward pass, to be taken as given and not worked out."))]


def _slopes(problem: Problem) -> list[Inlines]:
    relu = any(isinstance(step.op, ActivationGradient) and step.op.name == "relu" for step in problem.steps)
    return [(Words("The slope of ReLU is 1 where its argument is positive, and 0 elsewhere."),)] if relu else []
