"""The Jacobian of the softmax for one row of weights, J = diag(a) − aᵀa, and a gradient taken back through it.

Of the softmax only its weights a are needed; fractions make everything fractions.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import MOST_TRIES, first_success, number
from symattn.derivation.mechanisms.drawing_gradients import DENOMINATORS, telling_row, upstream_row
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.ops.attention import SoftmaxJacobian
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix
from symattn.foundation.dice import pick


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """J (m×m), and ds = da J (1×m) where the gradient da with respect to the weights is given."""
    d = d.then("J_softmax", SoftmaxJacobian(), "a")
    return d.then("ds", MatMul(), "da", "J_softmax") if "da" in d.givens else d


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    m = number(sizes, "m")

    def drawn() -> Givens | None:
        gradient = upstream_row(m, rng)
        weights = telling_row(gradient, (True,) * m, max(m + 1, pick(rng, DENOMINATORS[:3])), rng)
        return {"a": Matrix([weights]), "da": Matrix([gradient])} if weights else None

    return first_success(drawn, "weights and a gradient that come out", MOST_TRIES)


MECHANISM = Mechanism(
    name="softmax_jacobian",
    title="The Jacobian of the softmax",
    givens={"a": ("1", "m")},
    optional={"da": ("1", "m")},
    usual=("da",),
    default_sizes={"m": 3},
    derive=derive,
    draw=draw,
)
