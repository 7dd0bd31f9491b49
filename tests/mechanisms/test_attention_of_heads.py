"""Attention from Q, K and V with several heads and with keys and values of earlier tokens, there and back: PyTorch."""

from __future__ import annotations

from random import Random

from symattn.api import derive
from symattn.exact import Outline


def test_a_cache_is_what_all_tokens_at_once_give():
    """Two tokens after three, against the last two rows of five under a causal mask."""
    rng = Random(5)
    Q, K, V = ([[rng.randint(-2, 2) for _ in range(4)] for _ in range(5)] for _ in range(3))
    whole = derive("attention", Q=Q, K=K, V=V, heads=2, mask="causal")["C"].result
    parts = derive("attention", Q=Q[3:], K=K[3:], V=V[3:], K_past=K[:3], V_past=V[:3], heads=2, mask="causal")
    assert parts["C"].result.rows == whole.rows[3:]


def test_as_many_heads_as_large_models_have():
    """GPT-3 has 96 heads of width 128 (Brown et al. 2020, table 2.1)."""
    d = derive("attention", symbolic=True, sizes={"n": "n", "m": "n", "d_k": 128, "d_v": 128}, heads=96)
    assert d["C"].result == Outline(("n", 96 * 128))
