"""Attention with Q, K and V given; there may be more or fewer keys than queries, and several heads.

The heads of Q, K and V stand side by side, and their outputs in C; with fewer heads of keys and values, groups of query
heads share them.  K_past and V_past are keys and values of earlier tokens, kept from before: they stand above the new
ones in K_cache and V_cache (Shazeer 2019, section 2.4).

B, if it is given, is added to the scaled scores: a bias for every query and key, such as one that depends on their
distance alone (Raffel et al. 2020, section 2.1).  With past keys it has a column for each of them, before the others.
"""

from __future__ import annotations

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.multi_head_attention import combine, each_head
from symattn.derivation.mechanisms.settings import BY_TOKEN, HEADS, SCORES, Settings, Sizes
from symattn.derivation.mechanisms.steps import attend
from symattn.derivation.ops.linear import Append
from symattn.errors import InputError

GIVENS = {"Q": ("n", "h*d_k"), "K": ("m", "g*d_k"), "V": ("m", "g*d_v")}
OPTIONAL = {
    "K_past": ("m_past", "g*d_k"),
    "V_past": ("m_past", "g*d_v"),
    "B": ("n", "m_past+m"),
    "B_{head}": ("n", "m_past+m"),
}


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    if settings.by == "token" and (settings.heads > 1 or "m_past" in sizes):
        raise InputError("With heads or past keys, attention goes matrix by matrix (by = 'matrix').")
    keys, values = "K", "V"
    if "m_past" in sizes:
        d, keys, values, sizes = _with_past(d, sizes)
    if settings.heads == 1:
        return attend(d, settings, sizes, operands=("Q", keys, values))
    return combine(each_head(d, settings, sizes, keys=keys, values=values), settings)


def _with_past(d: Derivation, sizes: Sizes) -> tuple[Derivation, str, str, Sizes]:
    """K_cache and V_cache: what is kept from before, then the new keys and values."""
    if missing := [name for name in ("K_past", "V_past") if name not in d.givens]:
        raise InputError(f"{missing[0]} is missing: keys and values of earlier tokens are kept together.")
    for role in "KV":
        d = d.then(f"{role}_cache", Append(), f"{role}_past", role)  # (m_past + m) × d
    return d, "K_cache", "V_cache", {**sizes, "m": d.last.result.shape[0]}


MECHANISM = Mechanism(
    name="attention",
    title="Scaled dot-product attention",
    givens=GIVENS,
    optional=OPTIONAL,
    uses=SCORES | BY_TOKEN | HEADS,
    is_attention=True,
    derive=derive,
)
