"""How a recurrent network's last state depends on its first: a product of one Jacobian for every position.

With states as rows, h_t = f(h_{t−1} W_h + …), so ∂h_t/∂h_{t−1} is W_h with column j times f′ at unit j, and
∂h_T/∂h_0 = J_1 J_2 … J_T.  For a linear network that is W_h to the power T: directions with an eigenvalue below 1
vanish and those above 1 explode (Bengio et al. 1994; Pascanu et al. 2013, section 2).  That is what "not numerically
stable" can mean of a recurrent network: its gradients may vanish or explode, and whether they do is up to W_h and f.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import cast, get_args

from symattn.derivation.derivation import Derivation, row_of
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import number
from symattn.derivation.mechanisms.settings import Settings, Sizes
from symattn.derivation.ops.gradient import InfinityNorm, Slope, Sloped
from symattn.derivation.ops.linear import Hadamard, MatMul
from symattn.errors import InputError, LetterError
from symattn.exact import AnyMatrix, Matrix, Value, sign
from symattn.foundation.dice import pick, whole
from symattn.foundation.languages import message


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """Slopes D, Jacobians J.t, their products G.t = ∂h_t/∂h_0, and the norm of each.

    H are the states h_1, h_2, … of the forward pass.  The slopes of the identity are 1, so that every J_t is W_h and
    the states tell only how many positions there are.
    """
    n, function = sizes["n"], settings.function
    if not isinstance(n, int):
        raise LetterError(f"Gradients go back position by position: n must be a number, not {n}.")
    jacobians = ["W_h"] * n
    if function != "identity":
        if function not in get_args(Sloped):
            known = ", ".join(get_args(Sloped))
            raise InputError(
                f"The slopes of {function} are not known from its values; {known} or identity was expected."
            )
        d = d.then("D", Slope(cast(Sloped, function)), "H")
        jacobians = [f"J.{t}" for t in range(1, n + 1)]
        for t, name in enumerate(jacobians):
            d = d.then(name, Hadamard(), "W_h", row_of("D", t), section=message("position {position}", position=t + 1))
    total = jacobians[0]
    for t, name in enumerate(jacobians, 1):
        if t > 1:
            d = d.then(f"G.{t}", MatMul(), total, name, section=message("up to position {position}", position=t))
            total = f"G.{t}"
        d = d.then(f"norm.{t}", InfinityNorm(), total, section=message("up to position {position}", position=t))
    return d


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Mapping[str, Matrix]:
    """States that f has, with ReLU one 0: a unit that is off; weights without a 0, which would hide mistakes.

    A linear network has its eigenvalues in the diagonal, by turns 1/2 and 2 in size: one way vanishes, one explodes.
    """
    n, width, function = number(sizes, "n"), number(sizes, "d_h"), settings.function
    states, weights = NUMBERS.get(function, NUMBERS["relu"])  # what has no slopes is refused by `derive`
    h = [[pick(rng, states) for _ in range(width)] for _ in range(n)]
    w = [[pick(rng, weights) for _ in range(width)] for _ in range(width)]
    if function == "relu" and width > 1:
        h[whole(rng, 0, n - 1)][whole(rng, 0, width - 1)] = 0
    if function == "identity":
        first = whole(rng, 0, 1)
        w = [[0 if j < i else x for j, x in enumerate(row)] for i, row in enumerate(w)]
        for i in range(width):
            w[i][i] = pick(rng, (-HALF, HALF) if i % 2 == first else (-2, 2))
        if rng.random() < 0.5:
            w = [list(column) for column in zip(*w, strict=True)]
    return {"H": Matrix.of(h), "W_h": Matrix.of(w)}


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
NUMBERS: Mapping[str, tuple[tuple[Value, ...], tuple[Value, ...]]] = {
    "relu": ((1, 2, 3), (-2, -1, -HALF, HALF, 1, 2)),
    "identity": ((1, 2, 3), (-1, 1)),
    "tanh": ((-HALF, 0, HALF), (-2, -1, 1, 2)),
    "sigmoid": ((QUARTER, HALF, 3 * QUARTER), (-8, -4, 4, 8)),
}
"""States that the function has, and weights that go well with its slopes: 3/4 and 1, or 3/16 and 1/4."""


def complaint(d: Derivation) -> str:
    """Weights or norms that do not show what a wrong way would make of them."""
    weights = d.value("W_h")
    if isinstance(weights, Matrix) and weights.shape[0] > 1:
        if weights == weights.T:
            return "W_h is symmetric, which hides the wrong way of the slopes"
        if any(_in_proportion(a, b) for a, b in combinations(weights.rows, 2)):
            return "W_h has rows in proportion, so that its powers have, too"
        if len({sign(x) for x in weights} - {0}) == 1:
            return "W_h has entries of one sign alone, which hides a norm without absolute values"
    norms = [_only(step.result) for step in d if step.stem == "norm"]
    if len(norms) > 1 and sign(norms[-1] - 2 * norms[0]) < 0 < sign(2 * norms[-1] - norms[0]):
        return "the gradients neither vanish nor explode"
    return ""


def _in_proportion(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return all(a[j] * b[k] == a[k] * b[j] for j, k in combinations(range(len(a)), 2))


def _only(matrix: AnyMatrix) -> Value:
    assert isinstance(matrix, Matrix)
    return matrix[0, 0]


MECHANISM = Mechanism(
    name="recurrent_jacobian",
    title="Gradients of a recurrent network through time",
    givens={"H": ("n", "d_h"), "W_h": ("d_h", "d_h")},
    uses=frozenset({"function"}),
    default_sizes={"n": 3, "d_h": 2},
    draw=draw,
    complaint=complaint,
    derive=derive,
)
