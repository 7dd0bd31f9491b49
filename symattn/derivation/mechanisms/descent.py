"""Gradients by their names, and the step of gradient descent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symattn.derivation.derivation import Derivation, Step, StepName
from symattn.errors import InputError
from symattn.exact import Value
from symattn.foundation.languages import message


def gradient(name: str) -> str:
    """What the gradient with respect to a matrix is called: dS'_2 for S'_2."""
    return f"d{name}"


GRADIENTS = message("gradients")
"""Under what the steps of the way back stand."""


def is_gradient(step: Step) -> bool:
    """Whether it is a step of the way back."""
    return step.section.partition(",")[0] == GRADIENTS


LEARNED = re.compile(r"(?:W|b|c|gamma|beta)(?:_\w+)?")
"""What a model learns: weights, biases, and γ and β of norms."""


def descended(d: Derivation, rate: Value, names: Sequence[str] = ()) -> Derivation:
    """The derivation with a step W^new for each of `names`, else for every parameter W that has a gradient dW.

    Where no parameter has one, as in attention of Q, K and V, whatever is given and has one takes the step.
    `InputError` where there is none.
    """
    from symattn.derivation.ops.gradient import Descent  # here, since few derivations need it

    fixed = {name for name, _ in d.taken}
    moved = [name for name in d.givens if f"d{name}" in {step.name for step in d} and name not in fixed]
    learned = [name for name in moved if LEARNED.fullmatch(StepName.of(name).stem)] or moved
    if not learned:
        raise InputError("A learning rate is given, and nothing that is given has a gradient; leave it out.")
    for name in names or learned:
        d = d.then(after_descent(name), Descent(rate), name, f"d{name}", section=message("gradient descent"))
    return d


def after_descent(name: str) -> str:
    """What a parameter is called after the step: W_Q^new; W_Q^self_new in a layer."""
    return f"{name}_new" if StepName.of(name).place else f"{name}^new"
