"""Self-attention of tokens that know where they stand: X = E + P (Vaswani et al. 2017, section 3.5), then Q, K, V.

With rotary positions nothing is added: Q, K and V are projected from E, and queries and keys are turned (Su et al.
2021, section 3.2).

Random worksheets turn by 90° from one position to the next unless a wavelength or angles are stated, so that sines and
cosines are 0, 1 and −1.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import attention_weights, first_success
from symattn.derivation.mechanisms.positional_encoding import embedded, embeddings, positioned
from symattn.derivation.mechanisms.rotary_attention import ROTATIONS, rotated
from symattn.derivation.mechanisms.settings import POSITIONS, SCORES, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import BIASES, PROJECTIONS, attend, project
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.exact.rounding import approximate


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    turns = settings.position in ROTATIONS
    if turns and "P" in d.givens:
        raise InputError(f"position is {settings.position!r}, and P is given; P is added for learned positions alone.")
    d, source = _inputs(d, settings, sizes)
    for role in settings.order:
        d = project(d, role, settings, source)
    if not turns:
        return attend(d, settings, sizes)
    return attend(rotated(d, settings, sizes), settings, sizes, operands=("R_Q", "R_K", "V"))


def _inputs(d: Derivation, settings: Settings, sizes: Sizes) -> tuple[Derivation, str]:
    """What is projected, by name: X with positions, or the embeddings alone."""
    if settings.position in ROTATIONS:
        return embedded(d, settings, sizes)
    return positioned(d, settings, sizes), "X"


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Embeddings, and weights that suit what they are with their positions, in whole numbers."""

    def givens() -> Givens | None:
        drawn = embeddings(settings, sizes, 1, rng)
        made, source = _inputs(Derivation(drawn), settings, sizes)
        x = made.value(source)
        assert isinstance(x, Matrix)
        rows = [[round(approximate(entry)) for entry in row] for row in x.rows]
        weights = attention_weights(rows, rows, settings, {**sizes, "d_out": sizes["d_v"]}, rng)
        return weights and {**drawn, **{name: weights[name] for name in ("W_Q", "W_K", "W_V")}}

    return first_success(givens, "weights that are neither uniform nor saturated")


MECHANISM = Mechanism(
    name="positional_self_attention",
    title="Self-attention with positions",
    givens={"E": ("n", "d_model"), **PROJECTIONS},
    optional={"P": ("n", "d_model"), **BIASES},
    defaults={"position": "sinusoidal", "arithmetic": "auto"},  # sines and cosines are soon too long to be exact
    drawn={"angles": "90", "arithmetic": "exact"},  # sines and cosines are 0, 1 and −1
    uses=SCORES | POSITIONS,
    default_sizes={"n": 3, "d_model": 4, "d_k": 4, "d_v": 2},
    draw=draw,
    derive=derive,
)
