"""What has to be said about gradients: what dZ stands for, what is taken as it is, and slopes where there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symattn.derivation.derivation import Taken
from symattn.derivation.ops import ActivationGradient
from symattn.formula import Formula, Fraction, Name, Product, Relation
from symattn.page.document import Inlines, Math, Words, listing, sentence
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


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
    return sentence("Gradients are those of the loss {loss}, as in {derivative}.", loss=loss, derivative=shown)


def _given(problem: Problem, wording: Wording) -> list[Inlines]:
    """Of results of the forward pass that are given, what they are beside what the other givens lead to."""
    found: dict[Taken, list[str]] = {}
    for name, taken in problem.derivation.taken:
        found.setdefault(taken, []).append(name)
    return [_as_taken(taken, names, wording) for taken, names in found.items()]


def _as_taken(taken: Taken, names: Sequence[str], wording: Wording) -> Inlines:
    matrices = listing([(Math(wording.name(name)),) for name in names], last="")
    one, several = _TAKEN.get(taken, _ROUNDED)
    return sentence(several if names[1:] else one, matrices=matrices, places=taken)


_TAKEN: Mapping[Taken, tuple[str, str]] = {
    "result": (
        "{matrices} comes from the forward pass: take it as given, and do not work it out.",
        "{matrices} come from the forward pass: take them as given, and do not work them out.",
    ),
    "other": (
        "Take {matrices} as given: the other givens do not lead to it.",
        "Take {matrices} as given: the other givens do not lead to them.",
    ),
    1: (
        "{matrices} comes from the forward pass, rounded to tenths; take it as given.",
        "{matrices} come from the forward pass, rounded to tenths; take them as given.",
    ),
}
_ROUNDED = (
    "{matrices} comes from the forward pass, rounded to {places} decimal places; take it as given.",
    "{matrices} come from the forward pass, rounded to {places} decimal places; take them as given.",
)


def _slopes(problem: Problem) -> list[Inlines]:
    relu = any(isinstance(step.op, ActivationGradient) and step.op.name == "relu" for step in problem.steps)
    return [(Words("The slope of ReLU is 1 where its argument is positive, and 0 elsewhere."),)] if relu else []
