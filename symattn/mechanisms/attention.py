"""Attention with Q, K and V given; there may be more or fewer keys than queries."""

from symattn.mechanisms.base import SCORES, Mechanism, attend

MECHANISM = Mechanism(
    name="attention",
    title="Scaled dot-product attention",
    givens={"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")},
    uses=SCORES,
    turns=False,
    relabels=True,
    derive=attend,
)
