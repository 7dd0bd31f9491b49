"""Attention with rotary positions there and back: the gradients of R_Q and R_K are turned back by the same angles.

Su et al. 2021 (RoFormer), section 3.2: a rotation's transpose is its inverse, so that lengths of gradients stay.
"""

from __future__ import annotations

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import rotary_attention
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing_gradients import there_and_back
from symattn.derivation.mechanisms.settings import DESCENT, ROTARY, Settings, Sizes


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return backward(rotary_attention.derive(d, settings, sizes), "Z")


MECHANISM = Mechanism(
    name="rotary_attention_gradient",
    title="Attention with rotary position embeddings and its gradients",
    givens={"Q": ("n", "d_k"), "K": ("n", "d_k"), "V": ("n", "d_v"), "dZ": ("n", "d_v")},
    optional={"B": ("n", "n")},
    defaults=rotary_attention.MECHANISM.defaults,
    drawn={**rotary_attention.MECHANISM.drawn, "base": 2},  # rational weights: the only factor that is none is ln 2
    uses=ROTARY | CHANGED_SCORES | DESCENT,
    default_sizes={"n": 2, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=there_and_back(rotary_attention.draw, rotary_attention.derive, "gradients that come out", 50),
)
