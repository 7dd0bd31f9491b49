"""Layer norm there and back, in one line through the mean and the variance: what is written on paper.

With γ and β it is N = γ ⊙ N̂ + β, and their gradients are sums over the tokens (Ba, Kiros and Hinton 2016, section 3).
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import layer_norm, rms_norm
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import MOST_TRIES, first_success
from symattn.derivation.mechanisms.layer_norm import normalise, normed
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.exact import Matrix
from symattn.exact.values import Rational
from symattn.foundation.dice import whole


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return backward(normalise(d, "N", "X", settings)[0], "N")


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Inputs whose norm comes out, and gradients for which both means of every row are whole."""
    forward = layer_norm if settings.norm == "layer" else rms_norm
    given = dict(forward.draw(settings, sizes, rng))
    gamma = given["gamma"].rows[0] if "gamma" in given else ()
    rows = []
    for row in given["X"].rows:
        standardised = normed(row, settings) or []

        def drawn(n: list[Rational] = standardised) -> list[int] | None:
            gradient = [whole(rng, -3, 3) for _ in n]
            g = list(map(mul, gradient, gamma)) if gamma else gradient
            means = Fraction(sum(g), len(g)), Fraction(sum(map(mul, g, n)), len(g))
            return gradient if all(mean.denominator == 1 for mean in means) and len(set(g)) > 2 else None

        rows.append(first_success(drawn, "gradients whose means are whole", MOST_TRIES))
    return {**given, "dN": Matrix(rows)}


MECHANISM = Mechanism(
    name="layer_norm_gradient",
    title="Layer norm and its gradients",
    givens={"X": ("n", "d_model"), "dN": ("n", "d_model")},
    optional=layer_norm.MECHANISM.optional,
    usual=layer_norm.MECHANISM.usual,
    uses=frozenset({"norm", "epsilon", "variance"}) | DESCENT,
    default_sizes={"n": 2, "d_model": 4},
    derive=derive,
    draw=draw,
)
