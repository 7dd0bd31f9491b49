"""Linear attention: a feature map in place of the softmax, so that keys meet values first (Katharopoulos et al. 2020).

Z_i = φ(q_i) Σ_j φ(k_j)ᵀ v_j / (φ(q_i) Σ_j φ(k_j)ᵀ), their equation 5: the sums over j are the same for every query.  It
is φ(Q) φ(K)ᵀ, every row over its sum, times V, worked out from right to left and without any n × m matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from symattn.derivation.derivation import Derivation, row_of, transposed
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import dull, first_success, numbers
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, Section, scale_op
from symattn.derivation.ops.linear import Add, MatMul, Slice, Stack, SumOver
from symattn.derivation.ops.scores import FeatureMap, Over
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.foundation.dice import picks, whole


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    if scale_op(settings.scale, sizes):
        raise InputError(f"The scale is {settings.scale!r}, but linear attention has no scores that could be divided.")
    d = d.then("phi_Q", FeatureMap(settings.feature), "Q")  # n × d_k
    d = d.then("phi_K", FeatureMap(settings.feature), "K")  # m × d_k
    mask = masks(settings.mask)
    if mask is None:
        return _all_at_once(d)
    n, m = sizes["n"], sizes["m"]
    if mask != masks("causal") or n != m or not isinstance(n, int):
        raise InputError(
            f"The mask is {settings.mask!r} with {n} queries and {m} keys; linear attention is worked out without a "
            "mask, or causal with as many queries as keys."
        )
    return _token_by_token(d, n)


def _all_at_once(d: Derivation) -> Derivation:
    d = d.then("KV", MatMul(), transposed("phi_K"), "V")  # d_k × d_v
    d = d.then("k_sum", SumOver("rows"), "phi_K")  # 1 × d_k
    d = d.then("above", MatMul(), "phi_Q", "KV")  # n × d_v
    d = d.then("below", MatMul(), "phi_Q", transposed("k_sum"))  # n × 1
    return d.then("Z", Over(), "above", "below")


def _token_by_token(d: Derivation, n: int) -> Derivation:
    """Causal: what keys and values have added up to is the state of a recurrent network (their section 3.3)."""
    for t in range(n):
        lines, before = Section(d, Scope(token=t + 1)), Scope(token=t)
        key, value, query = transposed("phi_K", t), row_of("V", t), row_of("phi_Q", t)
        if t == 0:
            state = lines.add("state", MatMul(), key, value)  # d_k × d_v
            keys = lines.add("k_state", Slice(0, 1, of="rows"), "phi_K")  # 1 × d_k
        else:
            state = lines.add("state", Add(), before("state"), lines.add("outer", MatMul(), key, value))
            keys = lines.add("k_state", Add(), before("k_state"), row_of("phi_K", t))
        above = lines.add("above", MatMul(), query, state)  # 1 × d_v
        below = lines.add("below", MatMul(), query, transposed(keys))  # 1 × 1
        lines.add("Z", Over(), above, below)
        d = lines.d
    return d.then("Z", Stack(), *(f"Z.{t + 1}" for t in range(n)))


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Small whole numbers; with elu + 1 a single negative one, in Q, so that one token's output has powers of e."""
    n, m, d_k, d_v = numbers(sizes, "n", "m", "d_k", "d_v")
    positive, many = settings.feature == "elu+1", m > FEW  # whose sums grow
    most = (0, 1) if many else (0, 1, 2)
    q, k = (_drawn(size, d_k, most if positive else (-1, *most), rng) for size in (n, m))
    if positive:
        q[whole(rng, 0, n - 1)][whole(rng, 0, d_k - 1)] = -1
    return {
        "Q": Matrix(q),
        "K": Matrix(k),
        "V": Matrix(_drawn(m, d_v, (-1, 0, 1, 2) if many else (-2, -1, 0, 1, 2, 3), rng)),
    }


FEW = 3
"""Keys whose sums stay small."""


def _drawn(rows: int, columns: int, numbers: Sequence[int], rng: Random) -> list[list[int]]:
    def drawn() -> list[list[int]] | None:
        found = [picks(rng, numbers, columns) for _ in range(rows)]
        return None if dull(found) else found

    return first_success(drawn, f"{rows}×{columns} numbers that differ")


MECHANISM = Mechanism(
    name="linear_attention",
    title="Linear attention",
    givens={"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")},
    defaults={"scale": "none"},
    uses=frozenset({"feature"}),
    default_sizes={"n": 3, "m": 3, "d_k": 2, "d_v": 2},
    derive=derive,
    draw=draw,
)
