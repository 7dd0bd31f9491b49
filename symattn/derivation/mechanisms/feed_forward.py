"""The feed-forward network after attention, each token for itself: Vaswani et al. 2017, section 3.3, equation 2."""

from __future__ import annotations

from operator import mul
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import first, numbers, plus, product
from symattn.derivation.mechanisms.layer_norm import Grid, differ
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import affine, layer_words
from symattn.exact import Matrix, Rational
from symattn.foundation.dice import pick, spend, whole


def feed_forward(d: Derivation, settings: Settings, source: str, place: str = "") -> Derivation:
    """F = function(source W_1 + b_1) W_2 + b_2, with the biases that are given; the last step is F."""
    at, section = f"^{place}" if place else "", layer_words(place)
    d = affine(d, f"H{at}", source, f"W_1{at}", f"b_1{at}", settings.function, section)  # n × d_ff
    return affine(d, f"F{at}", f"H{at}", f"W_2{at}", f"b_2{at}", section=section)


# ------------------------------------------------------------------------------------------------ random weights


WEIGHTS = (-1, -1, 0, 0, 0, 1, 1, 1, 2)
BIASES = (-2, -1, 0, 1, 2)


def drawn_hidden(
    rows: Grid, d_ff: int, settings: Settings, rng: Random, kinks: bool = True
) -> tuple[Givens, Grid] | None:
    """W_1 and b_1, and the hidden rows that they make with ReLU; None if ReLU clips nothing or everything.

    They teach where ReLU cuts something off and leaves something for every token and in every unit, and where the bias
    turns a sign, so that adding it after ReLU is seen.  Without `kinks`, nothing is 0 before ReLU.
    """
    clips = settings.function == "relu"

    def unit() -> list[Rational] | None:
        """The weights of one, and its bias."""
        spend(rng, len(rows) * len(rows[0]))
        *column, own = (*(pick(rng, WEIGHTS) for _ in rows[0]), pick(rng, BIASES))
        linear = [sum(map(mul, row, column)) + own for row in rows]
        counts = any(x > 0 for x in linear) and (kinks or all(linear))
        return [*column, own] if counts or not clips else None

    units = [found for _ in range(d_ff) if (found := first(unit, UNITS))]
    if len(units) < d_ff:
        return None
    *weights, bias = (list(row) for row in zip(*units, strict=True))
    if not differ(weights):
        return None
    products = product(rows, weights)
    linear = plus(products, [bias] * len(rows))
    hidden: Grid = [[max(x, 0) for x in row] for row in linear]
    cut = any(x < 0 for row in linear for x in row)
    turned = any(x * y < 0 for pair in zip(products, linear, strict=True) for x, y in zip(*pair, strict=True))
    if clips and not (cut and turned and all(map(any, hidden))):
        return None
    return {"W_1": Matrix(weights), "b_1": Matrix([bias])}, hidden


UNITS = 50
"""Draws of a hidden unit until all are drawn again."""


def draw(settings: Settings, sizes: Sizes, rng: Random, kinks: bool = True) -> Givens:
    """Inputs and both layers; of many features the inputs are smaller, for their sums grow."""
    n, d, d_ff, d_out = numbers(sizes, "n", "d_model", "d_ff", "d_out")
    least, most = (-2, 3) if d <= FEW else (-1, 2)
    while True:
        x: Grid = [[whole(rng, least, most) for _ in range(d)] for _ in range(n)]
        w_2: Grid = [[pick(rng, WEIGHTS) for _ in range(d_out)] for _ in range(d_ff)]
        b_2 = [[pick(rng, BIASES) for _ in range(d_out)]]
        if differ(w_2) and any(b_2[0]) and (layers := drawn_hidden(x, d_ff, settings, rng, kinks)):
            return {"X": Matrix(x), **layers[0], "W_2": Matrix(w_2), "b_2": Matrix(b_2)}


FEW = 4


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return feed_forward(d, settings, "X")


MECHANISM = Mechanism(
    name="feed_forward",
    title="Feed-forward network",
    givens={"X": ("n", "d_model"), "W_1": ("d_model", "d_ff"), "W_2": ("d_ff", "d_out")},
    optional={"b_1": ("1", "d_ff"), "b_2": ("1", "d_out")},
    usual=("b_1", "b_2"),
    uses=frozenset({"function"}),
    default_sizes={"n": 3, "d_model": 2, "d_ff": 3, "d_out": 2},
    draw=draw,
    derive=derive,
)
