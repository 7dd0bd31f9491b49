"""Attention with Q, K and V given; there may be more or fewer keys than queries.

B, if it is given, is added to the scaled scores: a bias for every query and key, such as one that depends on their
distance alone (Raffel et al. 2020, section 2.1).
"""

from symattn.mechanisms.base import BY_TOKEN, SCORES, Mechanism, attend

MECHANISM = Mechanism(
    name="attention",
    title="Scaled dot-product attention",
    givens={"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")},
    optional={"B": ("n", "m")},
    uses=SCORES | BY_TOKEN,
    turns=False,
    relabels=True,
    derive=attend,
)
