"""Cross-attention: queries from one sequence, keys and values from another one (Vaswani et al. 2017, section 3.2.3).

E is what the queries look at, the encoder's output; it may be longer or shorter than X, and of another width.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import attention_weights, entries, first_success, number
from symattn.derivation.mechanisms.multi_head_attention import heads, output_and_biases, projections
from symattn.derivation.mechanisms.settings import HEADS, SCORES, Givens, Settings, Sizes
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return heads(d, settings, sizes, memory="E")


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Two sequences, and weights that leave no row of attention uniform or saturated; no W_O."""

    def drawn() -> Givens | None:
        x = entries(number(sizes, "n"), number(sizes, "d_model"), rng)
        e = entries(number(sizes, "m"), number(sizes, "d_source"), rng)
        weights = attention_weights(x, e, settings, {**sizes, "d_out": 1}, rng)
        if weights is None:
            return None
        return {"X": Matrix(x), "E": Matrix(e), **{name: weights[name] for name in ("W_Q", "W_K", "W_V")}}

    return first_success(drawn, "weights that are worth setting")


MECHANISM = Mechanism(
    name="cross_attention",
    title="Cross-attention",
    givens={
        "X": ("n", "d_model"),
        "E": ("m", "d_source"),
        **projections("d_source"),
    },
    optional={
        **output_and_biases("d_out"),
        "B": ("n", "m"),
        "B_{head}": ("n", "m"),
    },
    uses=(SCORES - {"bias"}) | HEADS,  # ALiBi counts how far tokens of one sequence are apart
    default_sizes={"n": 2, "m": 3, "d_model": 3, "d_source": 4, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
