"""A block of the encoder from the output of attention on: residual, norm, feed-forward network, residual, norm.

Vaswani et al. 2017, sections 3.1 and 3.3; pre-norm as in Xiong et al. 2020.  Without a feed-forward network it ends
with the norm of the residual.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import first_success, number, numbers
from symattn.derivation.mechanisms.encoder_block import fed_forward, residual, second_half
from symattn.derivation.mechanisms.layer_norm import Grid, normalise, whole_rows_to_norm
from symattn.derivation.mechanisms.settings import NORM, Givens, Settings, Sizes
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.foundation.dice import whole

LAYERS = ("W_1", "W_2")


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    missing = [name for name in LAYERS if name not in d.givens]
    if len(missing) == 1:
        raise InputError(f"A feed-forward network has the weights W_1 and W_2; {missing[0]} is missing.")
    d, source = residual(d, "R1", "X", "Z")
    if settings.norm_place == "post":
        d, source = normalise(d, "N1", source, settings)
    elif missing:
        return normalise(d, "N2", source, settings)[0]
    return d if missing else fed_forward(d, settings, 2, source)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Outputs of attention and inputs whose sums have norms that come out, and a feed-forward network after them.

    The rows of X are independent where there are no more of them than features: then some attention gives Z.
    """
    n, width = numbers(sizes, "n", "d_model")

    def drawn() -> Givens | None:
        sums: Grid = [list(row) for row in whole_rows_to_norm(n, width, settings, rng)]
        z: Grid = [[whole(rng, -3, 3) for _ in range(width)] for _ in range(n)]
        layers = second_half(sums, settings, number(sizes, "d_ff"), rng)
        if layers is None or not all(map(any, z)):
            return None
        x = Matrix([r - y for r, y in zip(*rows, strict=True)] for rows in zip(sums, z, strict=True))
        return {"X": x, "Z": Matrix(z), **layers} if x.sympy().rank() == min(n, width) else None

    return first_success(drawn, "sums whose norms come out")


MECHANISM = Mechanism(
    name="block_after_attention",
    title="Encoder block, after attention",
    givens={"X": ("n", "d_model"), "Z": ("n", "d_model")},
    optional={
        "gamma_1": ("1", "d_model"),
        "beta_1": ("1", "d_model"),
        "W_1": ("d_model", "d_ff"),
        "b_1": ("1", "d_ff"),
        "W_2": ("d_ff", "d_model"),
        "b_2": ("1", "d_model"),
        "gamma_2": ("1", "d_model"),
        "beta_2": ("1", "d_model"),
    },
    usual=("W_1", "b_1", "W_2", "b_2"),
    uses=NORM | {"function"},
    default_sizes={"n": 2, "d_model": 4, "d_ff": 2},
    derive=derive,
    draw=draw,
)
