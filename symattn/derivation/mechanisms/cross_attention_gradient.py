"""Cross-attention there and back: the gradients with respect to both sequences and to the weights.

E, the output of the encoder, gets a gradient from the keys and one from the values, by which the encoder is trained.
"""

from __future__ import annotations

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import cross_attention
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES, output_with_gradient
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing_gradients import there_and_back
from symattn.derivation.mechanisms.settings import DESCENT, HEADS, Settings, Sizes


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    d = cross_attention.derive(d, settings, sizes)
    return backward(d, output_with_gradient(d))


MECHANISM = Mechanism(
    name="cross_attention_gradient",
    title="Cross-attention and its gradients",
    givens=cross_attention.MECHANISM.givens,
    optional={**cross_attention.MECHANISM.optional, "dZ": ("n", "d_v"), "dC": ("n", "h*d_v"), "dO": ("n", "d_out")},
    usual=("dZ",),
    drawn={"base": 2},  # rational weights, so that the only factor that is no fraction is ln 2
    uses=(CHANGED_SCORES - {"bias"}) | HEADS | DESCENT,  # ALiBi counts how far tokens of one sequence are apart
    default_sizes={"n": 2, "m": 3, "d_model": 2, "d_source": 2, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=there_and_back(cross_attention.draw, cross_attention.derive, "gradients that come out", 50),
)
