"""Self-attention in which no token sees a later one: Vaswani et al. 2017, section 3.2.3."""

from dataclasses import replace

from symattn.derivation.mechanisms.self_attention import MECHANISM as SELF_ATTENTION

MECHANISM = replace(
    SELF_ATTENTION, name="causal_self_attention", title="Causal self-attention", defaults={"mask": "causal"}
)
