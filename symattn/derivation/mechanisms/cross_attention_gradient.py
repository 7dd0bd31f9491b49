"""Cross-attention there and back: the gradients with respect to both sequences and to the weights.

E, the output of the encoder, gets a gradient from the keys and one from the values, by which the encoder is trained.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import cross_attention
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES, output_with_gradient
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.descent import gradient
from symattn.derivation.mechanisms.drawing import first_success, tried
from symattn.derivation.mechanisms.drawing_gradients import upstream
from symattn.derivation.mechanisms.multi_head_attention import output_and_biases
from symattn.derivation.mechanisms.settings import DESCENT, HEADS, Settings
from symattn.exact import Matrix, Size


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    d = cross_attention.derive(d, settings, sizes)
    return backward(d, output_with_gradient(d))


def draw(settings: Settings, sizes: Mapping[str, Size], rng: random.Random) -> dict[str, Matrix]:
    def drawn() -> dict[str, Matrix] | None:
        given = cross_attention.draw(settings, sizes, rng)
        forward = tried(cross_attention.derive(Derivation(given, arithmetic=settings.arithmetic), settings, sizes), rng)
        back = upstream(forward, rng)
        return None if back is None else {**given, gradient(forward.last.name): back}

    return first_success(drawn, "gradients that come out", DRAWS)


DRAWS = 50

MECHANISM = Mechanism(
    name="cross_attention_gradient",
    title="Cross-attention and its gradients",
    givens=cross_attention.MECHANISM.givens,
    optional={
        **output_and_biases("d_out"),
        "B": ("n", "m"),
        "B_{head}": ("n", "m"),
        "dZ": ("n", "d_v"),
        "dC": ("n", "h*d_v"),
        "dO": ("n", "d_out"),
    },
    usual=("dZ",),
    drawn={"base": 2},  # rational weights, so that the only factor that is no fraction is ln 2
    uses=(CHANGED_SCORES - {"bias"}) | HEADS | DESCENT,  # ALiBi counts how far tokens of one sequence are apart
    default_sizes={"n": 2, "m": 3, "d_model": 2, "d_source": 2, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
