"""Self-attention of tokens that know where they stand: X = E + P (Vaswani et al. 2017, section 3.5), then Q, K, V.

Random worksheets turn by 90° from one position to the next unless a wavelength or angles are stated, so that sines and
cosines are 0, 1 and −1.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import POSITIONS, SCORES, Mechanism, Settings, attend, project
from symattn.derivation.mechanisms.drawing import attention_weights, found
from symattn.derivation.mechanisms.positional_encoding import embeddings, positioned
from symattn.exact import Matrix, Size
from symattn.exact.approximate import approximate


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    d = positioned(d, settings, sizes)
    for role in settings.order:
        d = project(d, role, settings)
    return attend(d, settings, sizes)


def draw(settings: Settings, sizes: Mapping[str, Size], rng: random.Random) -> dict[str, Matrix]:
    """Embeddings, and weights that suit what they are with their positions, in whole numbers."""

    def givens() -> dict[str, Matrix] | None:
        drawn = embeddings(settings, sizes, 1, rng)
        x = positioned(Derivation(drawn), settings, sizes).value("X")
        assert isinstance(x, Matrix)
        rows = [[round(approximate(entry)) for entry in row] for row in x.rows]
        weights = attention_weights(rows, rows, settings, {**sizes, "d_out": sizes["d_v"]}, rng)
        return weights and {**drawn, **{name: weights[name] for name in ("W_Q", "W_K", "W_V")}}

    return found(givens, "weights that are neither uniform nor saturated")


MECHANISM = Mechanism(
    name="positional_self_attention",
    title="Self-attention with positions",
    givens={
        "E": ("n", "d_model"),
        "W_Q": ("d_model", "d_k"),
        "W_K": ("d_model", "d_k"),
        "W_V": ("d_model", "d_v"),
    },
    optional={"P": ("n", "d_model"), "b_Q": ("1", "d_k"), "b_K": ("1", "d_k"), "b_V": ("1", "d_v")},
    defaults={"position": "sinusoidal", "arithmetic": "auto"},  # sines and cosines are soon too long to be exact
    drawn={"angles": "90", "arithmetic": "exact"},  # sines and cosines are 0, 1 and −1
    uses=SCORES | POSITIONS,
    default_sizes={"n": 3, "d_model": 4, "d_k": 4, "d_v": 2},
    draw=draw,
    derive=derive,
)
