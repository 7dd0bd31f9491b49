"""A recurrent network, unrolled: Elman 1990, "Finding Structure in Time", as in Goodfellow et al. 2016, section 10.2.

    h_t = f(x_t W_x + h_{t−1} W_h + b),   y_t = h_t W_y + c

The products with the inputs wait for nothing and are one product of matrices; everything else goes position by
position, since each state needs the one before it.

f is ReLU (Le et al. 2015) unless a problem says otherwise.  Elman's own is a sigmoid and most textbooks have tanh, but
only ReLU and the identity keep the states of a network with whole weights whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from random import Random

from symattn.derivation.derivation import Derivation, Operand, row_of
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import numbers
from symattn.derivation.mechanisms.settings import Settings, Sizes
from symattn.derivation.mechanisms.steps import affine
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Add, Append, MatMul
from symattn.errors import InputError, LetterError
from symattn.exact import Matrix
from symattn.foundation.dice import pick
from symattn.foundation.languages import message


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """States H.1, H.2, … and all of them as H; outputs Y where there is W_y.  Without H_0 the start is 0."""
    n = sizes["n"]
    if not isinstance(n, int):
        raise LetterError(f"A recurrent network is unrolled position by position: n must be a number, not {n}.")
    if "c" in d.givens and "W_y" not in d.givens:
        raise InputError("The bias c belongs to the outputs, which need W_y; only c is given.")
    if settings.by == "matrix":
        d = affine(d, "H_x", "X", "W_x", "b")
    for t in range(1, n + 1):
        d = _position(d, settings, t)
    d = d.then("H", Append(), *(f"H.{t}" for t in range(1, n + 1)))
    return affine(d, "Y", "H", "W_y", "c") if "W_y" in d.givens else d


def _position(d: Derivation, settings: Settings, t: int) -> Derivation:
    """h_t from x_t and h_{t−1}."""
    section, function = message("position {position}", position=t), settings.function
    if settings.by == "token":
        d = affine(d, f"H_x.{t}", row_of("X", t - 1), "W_x", "b", section=section)
        total = Operand(f"H_x.{t}")
    else:
        total = row_of("H_x", t - 1)
    before = f"H.{t - 1}" if t > 1 else "H_0"
    if before in d:
        d = d.then(f"H_h.{t}", MatMul(), before, "W_h", section=section)
        name = f"H.{t}" if function == "identity" else f"H_linear.{t}"
        d = d.then(name, Add(), total, f"H_h.{t}", section=section)
        total = Operand(name)
    return d if f"H.{t}" in d else d.then(f"H.{t}", Activation(function), total, section=section)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Mapping[str, Matrix]:
    """Small whole numbers, the inputs a little larger than the weights, which every position multiplies by again."""
    n, d, width = numbers(sizes, "n", "d_model", "d_h")
    shapes = {"X": (n, d, INPUTS), "W_x": (d, width, WEIGHTS), "W_h": (width, width, WEIGHTS)}
    return {
        name: Matrix.of([pick(rng, entries) for _ in range(columns)] for _ in range(rows))
        for name, (rows, columns, entries) in shapes.items()
    }


INPUTS, WEIGHTS = (-2, -1, -1, 0, 0, 1, 1, 2, 3), (-1, -1, 0, 1, 1, 2)


def complaint(d: Derivation) -> str:
    """States that say nothing, or a function that does nothing."""
    states = [step.result for step in d if step.role == "H" and step.token]
    if any(isinstance(state, Matrix) and all(x == 0 for x in state) for state in states):
        return "a state is 0"
    if any(a == b for a, b in pairwise(states)):
        return "two states that follow one another are equal"
    functions = [step for step in d if isinstance(step.op, Activation) and step.op.name == "relu"]
    before = [d.operand(operand) for step in functions[:-1] for operand in step.operands]
    if before and not any(isinstance(m, Matrix) and any(map(_negative, m)) for m in before):
        return "nothing is negative before the function, at a position that another one follows"
    weights = d.value("W_h")
    if isinstance(weights, Matrix) and weights.shape[0] > 1 and weights == weights.T:
        return "W_h is symmetric, which hides a transposition"
    return ""


def _negative(x: object) -> bool:
    return isinstance(x, int | Fraction) and x < 0


MECHANISM = Mechanism(
    name="recurrent_network",
    title="Recurrent network, unrolled",
    givens={"X": ("n", "d_model"), "W_x": ("d_model", "d_h"), "W_h": ("d_h", "d_h")},
    optional={"b": ("1", "d_h"), "H_0": ("1", "d_h"), "W_y": ("d_h", "d_out"), "c": ("1", "d_out")},
    uses=frozenset({"function", "by"}),
    default_sizes={"n": 3, "d_model": 3, "d_h": 2},
    draw=draw,
    complaint=complaint,
    derive=derive,
)
