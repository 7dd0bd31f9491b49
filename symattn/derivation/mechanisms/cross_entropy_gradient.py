"""Cross-entropy of a softmax and its gradient: logits L = N W_U, P = softmax(L), dL = (P − T)/n.

The targets T are one-hot, or any distribution; the loss is the mean over the tokens.  With the probabilities P of the
forward pass given, it is gone back from them, and all numbers stay fractions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import language_model
from symattn.derivation.mechanisms.backward import backward, with_given
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.descent import GRADIENTS, gradient
from symattn.derivation.mechanisms.drawing import Rows, dull, entries, first, first_success, numbers, transposed, tried
from symattn.derivation.mechanisms.drawing_gradients import can_be_rounded, full, one_hot, rounded
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.derivation.ops.words import CrossEntropyGradient
from symattn.errors import InputError, LetterError
from symattn.exact import AnyMatrix, Matrix, in_numbers


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    n = sizes["n"]
    if not isinstance(n, int):
        raise LetterError(f"The loss is a mean over the tokens: n must be a number, not {n}.")
    if settings.base != "e":
        raise InputError(f"The base is {settings.base}, but (P − T)/n is the gradient for a softmax with base e alone.")
    _check_targets(d.givens["T"])

    def run(d: Derivation) -> Derivation:
        d = language_model.derive(d, settings, sizes)
        d = d.then(gradient("L"), CrossEntropyGradient(n), "probabilities", "T", section=GRADIENTS)
        return backward(d, "L")

    return with_given(d, ("probabilities",), run) if "probabilities" in d.givens else run(d)


def _check_targets(targets: AnyMatrix) -> None:
    """`InputError` for a row that does not sum to 1, of which P − T is not the gradient."""
    rows = targets.rows if in_numbers(targets) else ()
    for i, row in enumerate(rows, 1):
        if (total := reduce(add, row)) != 1:
            raise InputError(f"Row {i} of the targets T sums to {total}; 1 was expected.")


ROWS = 100
"""Draws of an input until other weights are drawn."""


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Probabilities in tenths: with the n of the mean, the denominators stay small."""
    n, d_model, vocabulary = numbers(sizes, "n", "d_model", "d_vocab")

    def row(weights: Rows) -> list[int] | None:
        (drawn,) = entries(1, d_model, rng)
        alone = replace(settings, scale="none")
        return drawn if can_be_rounded([drawn], transposed(weights), full(1, vocabulary), alone, sizes, rng) else None

    def drawn() -> Givens | None:
        weights = entries(d_model, vocabulary, rng)
        found = [first(lambda: row(weights), ROWS) for _ in range(n)]
        inputs = [row for row in found if row]
        if len(inputs) < n or dull(inputs):
            return None
        given = {"N": Matrix(inputs), "W_U": Matrix(weights)}
        forward = tried(language_model.derive(Derivation(given), settings, sizes), rng)
        if (rows := rounded(forward.value("probabilities"), full(n, vocabulary))) is None:
            return None
        return {**given, "probabilities": Matrix(rows), "T": one_hot(n, vocabulary, rng)}

    return first_success(drawn, "probabilities that differ", 1000)


MECHANISM = Mechanism(
    name="cross_entropy_gradient",
    title="Cross-entropy and its gradients",
    givens={"N": ("n", "d_model"), "W_U": ("d_model", "d_vocab"), "T": ("n", "d_vocab")},
    optional={"probabilities": ("n", "d_vocab"), "b_U": ("1", "d_vocab")},
    usual=("probabilities",),
    uses=DESCENT,
    default_sizes={"n": 3, "d_model": 2, "d_vocab": 3},
    derive=derive,
    draw=draw,
)
